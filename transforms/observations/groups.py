"""Which statements are one fact, which replaced which, and which are at odds."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from slowwave.transforms.language.word_vectors import WordVectors
from slowwave.transforms.observations.near import NearStatements
from slowwave.transforms.observations.pairs.candidates import pair_candidates
from slowwave.transforms.observations.pairs.conflicts import conflicts, only_retracts
from slowwave.transforms.observations.pairs.reading import ParsedStatement, is_retraction
from slowwave.transforms.observations.pairs.relation import Relation
from slowwave.transforms.observations.pairs.relations import TextPairs, pair_relations, pair_similarity, plain_reading
from slowwave.transforms.observations.pairs.texts import PairTexts, ReadyTexts, pair_texts, products
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.states.changes import StateChange, changes_of_state, downgrade_relation

_CHECKED_MEMBERS = 20


class StatementPair(NamedTuple):
    """Two statements, the one said last earlier first, their likeness in 1/10,000 and their relation."""

    earlier: int
    later: int
    similarity: int
    relation: Relation


class StatementGroups(NamedTuple):
    """Statements grouped around representatives.

    representative: per statement the number of the first statement of its group. successor: per representative that of
    the group that replaced its own, -1: none. similarity: per statement, to its representative. joined: per statement
    the pair by which it joined its group, None: it founded it. contradictions, doubts (perhaps at odds) and proposals
    (perhaps one fact): between groups that both hold. silent: statements that only take others back; retracted: pairs
    of a statement and such a one.
    """

    representative: list[int]
    successor: list[int]
    similarity: list[int]
    joined: list[StatementPair | None]
    contradictions: list[StatementPair]
    doubts: list[StatementPair]
    proposals: list[StatementPair]
    silent: frozenset[int]
    retracted: list[tuple[int, int]]


def statement_pairs(
    statements: pl.DataFrame,
    word_vectors: WordVectors,
    params: ObservationParams,
    near: NearStatements,
    ready: ReadyTexts | None = None,
) -> list[StatementPair]:
    """Pairs of `distinct_statements` that are worth a word: they have a relation.

    `near` gathers those nearly one; `ready` has texts that were made ready before.
    """
    if statements.select("project", "scope").is_unique().all() and near.is_alone():
        return []  # nothing to compare, and no vectors to load
    contents = statements["content"]
    taken = None if ready is None else ready.take(contents)
    texts = pair_texts(contents, word_vectors) if taken is None else taken
    scopes = statements.select(pl.struct("project", "scope").rank("dense").cast(pl.Int64)).to_series().to_numpy()
    number = np.arange(statements.height)
    found = pair_candidates(texts, number, scopes, np.ones(statements.height, bool), params)
    alike = pair_similarity(texts, found.left, found.right, found.likeness)
    near.add(found.left, found.right, alike)
    near.look_closer(texts)
    last_at = statements["last_at"].dt.timestamp("us").to_numpy()
    # of two said at one instant the one with the smaller number is first
    swapped = last_at[found.left] > last_at[found.right]
    earlier, later = np.where(swapped, found.right, found.left), np.where(swapped, found.left, found.right)
    is_later = last_at[later] > last_at[earlier]
    relations = pair_relations(contents, TextPairs(earlier, later, is_later), found.likeness, alike, params)
    # the first of the two was said again since: did the other replace it then, they are at odds now
    again = np.flatnonzero(swapped & np.array([not related.relation for related in relations], dtype=bool))
    newer = contents.gather(found.right[again]).to_list()
    again = again[np.array([is_retraction(text) for text in newer], dtype=bool)]
    once = pair_relations(
        contents,
        TextPairs(found.left[again], found.right[again], np.ones(len(again), bool)),
        found.likeness[again],
        alike[again],
        params,
    )
    for at, related in zip(again.tolist(), once, strict=True):
        if related.relation == "supersedes":
            earlier[at], later[at], relations[at] = found.left[at], found.right[at], related
    pairs = [
        StatementPair(a, b, score, related)
        for a, b, score, related in zip(earlier.tolist(), later.tolist(), alike.tolist(), relations, strict=True)
        if related.relation
    ]
    numbered = statements.select("statement", pl.Series("scope", scopes), "first_at", "last_at", "content")
    return sorted(_with_changes(changes_of_state(numbered), texts, pairs))


def _with_changes(found: list[StateChange], texts: PairTexts, pairs: list[StatementPair]) -> list[StatementPair]:
    """The pairs, with the changes of state found in the place of what is only newer and at odds by its words."""
    changes = [one for one in found if one.earlier is not None]
    left = np.array([one.earlier for one in changes], np.int64)
    right = np.array([one.later for one in changes], np.int64)
    alike = pair_similarity(texts, left, right, products(texts.sums[left], texts.sums[right]))
    changed = [
        StatementPair(a, b, score, one.relation)
        for a, b, score, one in zip(left.tolist(), right.tolist(), alike.tolist(), changes, strict=True)
    ]
    known = {frozenset((pair.earlier, pair.later)) for pair in changed}
    others = [pair for pair in pairs if frozenset((pair.earlier, pair.later)) not in known]
    return [*changed, *(pair._replace(relation=downgrade_relation(pair.relation)) for pair in others)]


def groups(statements: pl.DataFrame, pairs: list[StatementPair]) -> StatementGroups:
    """The groups that pairs of statements make.

    In order of time each statement joins the most alike earlier representative it is one fact with, unless it conflicts
    with a member; so no chain of small steps joins two ends, and a conflict splits a group. A group that was replaced
    points to the first that replaced it; what was said again since is not replaced, but at odds. A statement that only
    takes others back replaces them and is none itself; what was said again since holds again.
    """
    contents = statements["content"].to_list()
    silent = frozenset(number for number, content in enumerate(contents) if only_retracts(content))
    representative, joined = _representatives(contents, pairs)
    successor, at_odds = _successors(statements["last_at"].to_list(), representative, pairs)

    def open_pairs(*relations: str) -> list[StatementPair]:
        return [
            pair
            for pair in pairs
            if pair.relation.relation in relations
            and representative[pair.earlier] != representative[pair.later]
            and not {pair.earlier, pair.later} & silent
            and successor[representative[pair.earlier]] < 0
            and successor[representative[pair.later]] < 0
        ]

    open_at_odds = set(open_pairs("supersedes", "contradicts"))
    return StatementGroups(
        representative,
        successor,
        [pair.similarity if pair else 10_000 for pair in joined],
        joined,
        [pair for pair in at_odds if pair in open_at_odds],
        open_pairs("may_contradict"),
        open_pairs("may_be_one", "same_fact"),
        silent,
        [(pair.earlier, pair.later) for pair in pairs if pair.relation.is_retraction and pair.later in silent],
    )


def _representatives(contents: list[str], pairs: list[StatementPair]) -> tuple[list[int], list[StatementPair | None]]:
    """Per statement its representative, and the pair that made it so."""
    representative = list(range(len(contents)))
    joined: list[StatementPair | None] = [None] * len(contents)
    members: dict[int, list[int]] = {}
    same: dict[int, list[tuple[int, int, StatementPair]]] = {}
    for pair in pairs:
        if pair.relation.relation == "same_fact":
            first, second = sorted((pair.earlier, pair.later))
            same.setdefault(second, []).append((-pair.similarity, first, pair))
    for statement in sorted(same):
        for _, other, pair in sorted(same[statement]):
            others = members.setdefault(other, [])
            if representative[other] == other and _fits(
                plain_reading(contents[statement]), [plain_reading(contents[at]) for at in others[:_CHECKED_MEMBERS]]
            ):
                representative[statement], joined[statement] = other, pair
                others.append(statement)
                break
    return representative, joined


def _fits(mine: ParsedStatement, members: list[ParsedStatement]) -> bool:
    return not any(conflicts(member, mine) for member in members)


def _successors(
    last_at: list[datetime], representative: list[int], pairs: list[StatementPair]
) -> tuple[list[int], list[StatementPair]]:
    """Per statement the group that replaced the one it represents, -1: none; and the pairs at odds."""
    times = list(last_at)
    for statement, head in enumerate(representative):
        times[head] = max(times[head], last_at[statement])
    successor = [-1] * len(last_at)
    at_odds: list[StatementPair] = []
    for pair in pairs:
        old, new = representative[pair.earlier], representative[pair.later]
        if old == new or pair.relation.relation not in {"supersedes", "contradicts"}:
            continue
        if pair.relation.relation == "contradicts" or times[old] >= times[new]:
            at_odds.append(pair)
        elif successor[old] < 0 or (times[new], new) < (times[successor[old]], successor[old]):
            successor[old] = new
    return successor, at_odds
