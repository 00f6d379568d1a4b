"""`used/2` and `used/1` on dialogues with gold links: features as shipped, fits that never saw what they score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import real_rows

from slowwave.flows.publish.word_vectors import word_vectors
from slowwave.transforms.evidence.used.coefficients import COEFFICIENTS
from slowwave.transforms.evidence.used.params import UsedParams
from slowwave.transforms.evidence.used.reference import memory_candidates

LABELS = {"answers": "evidence", "turns": "source_turn"}
# Answers to questions are fewer than turns.
WEIGHTS = {"answers": 3.0, "turns": 1.0}
_RIDGE, _STEPS = 3.0, 12
_FEW_MEMORIES, _SEED = 6, 5


@dataclass(frozen=True)
class Scored:
    """Answers of one conversation: their candidates, features, gold links and which are deliberately wrong."""

    memory: Any
    features: Any
    gold: Any
    is_wrong: Any
    sizes: Any  # characters of each memory

    @property
    def candidate_gold(self) -> Any:
        """Whether each candidate is linked."""
        return np.take_along_axis(self.gold, np.maximum(self.memory, 0), axis=1) & (self.memory >= 0)

    def cases(self) -> tuple[Any, Any]:
        """Features and gold of the candidates of answers that are not deliberately wrong."""
        chosen = (self.memory >= 0) & ~self.is_wrong[:, None]
        return self.features[chosen], self.candidate_gold[chosen]

    def scores(self, coefficients: Any) -> Any:
        """Log-odds, answers x memories; -100 where not compared."""
        count = self.gold.shape[1]
        out = np.full((len(self.gold), count + 1), -100.0)
        place = np.where(self.memory >= 0, self.memory, count)
        np.put_along_axis(out, place, self.features @ coefficients[1:] + coefficients[0], axis=1)
        return out[:, :count]


@dataclass(frozen=True)
class Joined:
    """Observations that followed each other in a session, or any, are one memory, from so many characters on.

    `share`: of the memories so many begin with an observation that is joined with others; the rest stand alone.
    """

    characters: int
    of_one_session: bool = True
    share: float = 1.0
    separator: str = " "

    def of(self, memories: pl.DataFrame) -> list[tuple[str, list[str]]]:
        """Text of each memory, and the observations in it. `memories`: id, content, in order of appearance."""
        chance = np.random.default_rng(_SEED)
        rows = memories.select("id", "content", pl.col("id").str.extract(r"-o-(\d+)-").alias("session")).rows()
        if not self.of_one_session:
            rows = [(*rows[at][:2], "") for at in chance.permutation(len(rows))]
        found: list[tuple[str, list[str]]] = []
        texts, ids, session_before = [], [], None
        for id_, content, session in rows:
            if texts and session != session_before:
                found.append((self.separator.join(texts), ids))
                texts, ids = [], []
            session_before = session
            texts, ids = [*texts, content], [*ids, id_]
            is_alone = len(texts) == 1 and chance.random() >= self.share
            if is_alone or len(self.separator.join(texts)) >= self.characters:
                found.append((self.separator.join(texts), ids))
                texts, ids = [], []
        return [*found, *([(self.separator.join(texts), ids)] if texts else [])]


def conversations(
    kind: str, few: bool = False, joined: Joined | None = None, params: UsedParams | None = None
) -> dict[str, Scored]:
    """locomo's conversations: `answers` to questions, or `turns`; with all observations as memories, or a few.

    `joined`: observations are joined into longer memories; a link to one of them is a link to that memory.
    """
    folder = real_rows.FOLDER / "locomo"
    memories = pl.read_parquet(folder / "memories.parquet").filter(pl.col("type") == "observation")
    asked = pl.read_parquet(folder / "interactions.parquet")
    asked = asked.filter((pl.col("task_type") == "dialog_turn") == (kind == "turns"))
    links = pl.read_parquet(folder / "links.parquet").filter(pl.col("label") == LABELS[kind])
    found = {}
    for (project,), own in memories.sort("project", maintain_order=True).group_by("project", maintain_order=True):
        chosen = own.sample(_FEW_MEMORIES, seed=_SEED) if few else own
        held = (
            joined.of(chosen)
            if joined
            else [(content, [id_]) for id_, content in chosen.select("id", "content").rows()]
        )
        found[str(project)] = _scored(asked.filter(pl.col("project") == project), held, links, params or UsedParams())
    return found


def _scored(asked: pl.DataFrame, held: list[tuple[str, list[str]]], links: pl.DataFrame, params: UsedParams) -> Scored:
    contents = pl.Series([text for text, _ in held])
    candidates = memory_candidates(asked["prompt"], asked["response"], contents, word_vectors, params)
    rows = asked.select(interaction_id="id").with_row_index("row")
    columns = pl.DataFrame({"memory_id": [ids for _, ids in held]}).with_row_index("column").explode("memory_id")
    pairs = links.join(rows, on="interaction_id").join(columns, on="memory_id")
    gold = np.zeros((asked.height, len(held)), bool)
    gold[pairs["row"].to_numpy(), pairs["column"].to_numpy()] = True
    features = np.stack([candidates.features[name] for name in COEFFICIENTS], axis=2)
    is_wrong = (asked["task_type"] == "qa_cat5").to_numpy()
    return Scored(candidates.memory, features, gold, is_wrong, contents.str.len_chars().to_numpy())


def recall_at(precision: float, parts: list[tuple[Any, Any]]) -> float:
    """Of what is linked, the largest share that any threshold finds with this precision or better."""
    scores, gold = (np.concatenate(part) for part in zip(*parts, strict=True))
    ranked = gold[np.argsort(-scores, kind="stable")]
    found = np.cumsum(ranked)
    enough = found / np.arange(1, len(ranked) + 1) >= precision
    return float(found[enough].max(initial=0) / ranked.sum())


def fitted(cases: list[tuple[Scored, float]]) -> Any:
    """Intercept and coefficients: weighted ridge logistic regression on standardised features (Newton's method)."""
    found = [(*part.cases(), weight) for part, weight in cases]
    features = np.concatenate([features for features, _, _ in found])
    gold = np.concatenate([gold for _, gold, _ in found]).astype(float)
    weights = np.concatenate([np.full(len(gold), weight) for _, gold, weight in found])
    mean = np.average(features, axis=0, weights=weights)
    spread = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=weights)) + 1e-9
    columns = np.hstack([np.ones((len(features), 1)), (features - mean) / spread])
    ridge = np.diag([0.0, *[_RIDGE] * len(mean)])
    found = np.zeros(len(ridge))
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-np.clip(columns @ found, -30, 30)))
        slope = columns.T @ (weights * (expected - gold)) + ridge @ found
        curve = (columns * (weights * expected * (1 - expected) + 1e-9)[:, None]).T @ columns + ridge
        found -= np.clip(np.linalg.solve(curve, slope), -3, 3)
    coefficients = found[1:] / spread
    return np.append(found[0] - (mean * coefficients).sum(), coefficients)


def measures(parts: list[tuple[Any, Any]]) -> dict[str, float]:
    """hit@1 and recall@5 of linked answers; average precision of all pairs of linked answers, and of all answers."""
    hits, recalls = [], []
    for scores, gold in parts:
        linked = gold.any(axis=1)
        ranked = np.take_along_axis(gold[linked], np.argsort(-scores[linked], axis=1, kind="stable"), axis=1)
        hits += list(ranked[:, 0])
        recalls += list(ranked[:, :5].sum(axis=1) / ranked.sum(axis=1))
    every = [(scores.ravel(), gold.ravel()) for scores, gold in parts]
    linked = [(scores[gold.any(axis=1)].ravel(), gold[gold.any(axis=1)].ravel()) for scores, gold in parts]
    return {
        "hit@1": float(np.mean(hits)),
        "recall@5": float(np.mean(recalls)),
        "AP linked": average_precision(linked),
        "AP all": average_precision(every),
    }


def average_precision(parts: list[tuple[Any, Any]]) -> float:
    scores, gold = (np.concatenate(part) for part in zip(*parts, strict=True))
    ranked = gold[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1))[ranked].mean())
