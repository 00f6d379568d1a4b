"""curation_decisions: what should become of each memory, judged by what was active just before it was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers
from slowwave.transforms.core.frames import empty
from slowwave.transforms.core.schema import choose_columns, polars_schema
from slowwave.transforms.language.word_vectors import WordVectors
from slowwave.transforms.observations.pairs.candidates import candidates_of, first_per
from slowwave.transforms.observations.pairs.conflicts import conflicts, only_retracts
from slowwave.transforms.observations.pairs.reading import ParsedStatement, is_retraction, reading
from slowwave.transforms.observations.pairs.relation import Relation, relation
from slowwave.transforms.observations.pairs.relations import TextPairs, pair_relations, pair_similarity
from slowwave.transforms.observations.pairs.texts import ReadyTexts, pair_texts
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.statements import curation_kind, curation_log, utterances
from slowwave.transforms.observations.states.changes import StateChange, changes_of_state, downgrade_relation
from slowwave.transforms.observations.tables import CurationDecisions

# Added later: what names the run, and what the rules say where a model decided.
_OF_RUN = choose_columns(CurationDecisions, "run_id", "as_of", "rules_action", "rules_target_memory_id", "rules_reason")
_MET_PER_CONSIDERED = 2
_DECIDED_AT_ONCE = 8_192


class _Considered(NamedTuple):
    """A memory that was active just before: its text, when it said it last, how alike in 1/10,000 it is to the new one.

    `place`: among the items of the log. `said_at`: in microseconds. `relation`: what the new one is to it.
    `replaced_by`: the places of others, considered with it, that changed what it says.
    """

    place: int
    memory_id: str
    content: str
    normal: int
    said_at: int
    similarity: int
    relation: Relation
    replaced_by: frozenset[int] = frozenset()


class _Decided(NamedTuple):
    action: str
    target: _Considered | None
    reason: str
    words: tuple[str, ...] = ()


# What is decided of a row of `said`, by number. `target` is a place among the items of the log: its id and text are
# gathered once all is decided, for as texts of their own they take several times as much memory.
_DECIDED = {
    "said": pl.UInt32,
    "action": pl.String,
    "kind": pl.String,
    "target": pl.UInt32,
    "reason": pl.String,
    "similarity": pl.Float64,
}
_WORDS = {"said": pl.UInt32, "word": pl.String}
_CONSIDERED = {"said": pl.UInt32, "place": pl.UInt32}


class _DecisionRows(NamedTuple):
    """What is decided of some rows of `said`; the words at odds and what was considered, one a row.

    As lists they would be made one by one.
    """

    decided: pl.DataFrame
    words: pl.DataFrame
    considered: pl.DataFrame


def curation_decisions(
    states: pl.DataFrame, word_vectors: WordVectors, params: ObservationParams, ready: ReadyTexts | None = None
) -> pl.DataFrame:
    """One row per first text of a memory and per later change of its text, sorted by key, without run_id and as_of.

    Args:
        states: memory states visible at the time of the publish (see `memory_states`).
        word_vectors: vectors of words.
        params: thresholds.
        ready: where texts made ready are kept for `observe_memories`.

    A row depends on the log up to its `changed_at` alone, so that what was decided stays decided.
    """
    said, active = curation_log(states)
    columns = [name for name in polars_schema(CurationDecisions) if name not in _OF_RUN]
    if said.is_empty():
        return empty(CurationDecisions).select(columns)
    items = _items(said, active)
    del active
    spoken = _Spoken(items["memory_id"], utterances(states))
    asked, left = said.select("memory_id", "memory_type", "content", "normal", "is_first"), np.ones(said.height, bool)
    frames = [_decision_rows([], asked, params)]
    for considered in _consider_memories(said, items, spoken, word_vectors, params, ready):
        places = sorted(considered)
        left[places] = False
        frames.append(_decision_rows([(place, considered[place]) for place in places], asked, params))
    rest = _in_parts(np.flatnonzero(left))
    frames.extend(_decision_rows([(place, []) for place in places.tolist()], asked, params) for places in rest)
    told = _DecisionRows(*(pl.concat(parts) for parts in zip(*frames, strict=True)))
    return _decided_rows(told, said, items, params).select(columns).sort(CurationDecisions.key)


def _in_parts(places: Integers) -> Iterator[Integers]:
    for start in range(0, len(places), _DECIDED_AT_ONCE):
        yield places[start : start + _DECIDED_AT_ONCE]


def _decision_rows(
    met: list[tuple[int, list[_Considered]]], asked: pl.DataFrame, params: ObservationParams
) -> _DecisionRows:
    """What is decided of some rows of `asked`, by number, each with what it met."""
    decided: list[tuple[Any, ...]] = []
    words: list[tuple[int, str]] = []
    places: list[tuple[int, int]] = []
    rows = asked[[place for place, _ in met]].iter_rows(named=True)
    for (said, considered), row in zip(met, rows, strict=True):
        found = _decide_action(row, considered, params)
        nearest = found.target or (considered[0] if considered else None)
        kind = curation_kind(row["memory_type"], row["content"])
        target, similarity = found.target and found.target.place, nearest and nearest.similarity / 10_000
        decided.append((said, found.action, kind, target, found.reason, similarity))
        words += [(said, word) for word in found.words]
        places += [(said, one.place) for one in considered]
    return _DecisionRows(*(pl.DataFrame(rows, schema, orient="row") for rows, schema in (
        (decided, _DECIDED), (words, _WORDS), (places, _CONSIDERED)
    )))  # fmt: skip


def _decided_rows(
    told: _DecisionRows, said: pl.DataFrame, items: pl.DataFrame, params: ObservationParams
) -> pl.DataFrame:
    """What is decided, with the ids and texts in the places of numbers."""
    decided, ids = told.decided, items["memory_id"]
    considered = told.considered.select("said", ids.gather(told.considered["place"]).alias("considered_ids"))
    return (
        said.select("memory_id", pl.col("from").alias("changed_at"), "project", "scope", "content")[decided["said"]]
        .hstack(decided)
        .with_columns(
            ids.gather(decided["target"]).alias("target_memory_id"),
            items["content"].gather(decided["target"]).alias("target_content"),
            _lists_by_row(considered, decided["said"]),
            _lists_by_row(told.words.rename({"word": "conflicting_words"}), decided["said"]),
            pl.lit(params.curation_method).alias("method"),
            pl.lit(value=False).alias("is_pending"),
        )
    )


def _lists_by_row(rows: pl.DataFrame, said: pl.Series) -> pl.Series:
    """Per number in `said` the texts of its rows, in order."""
    name = rows.columns[1]
    lists = rows.group_by("said", maintain_order=True).agg(name)
    found = said.to_frame().join(lists, on="said", how="left", maintain_order="left")
    return found.select(pl.col(name).fill_null(pl.lit([], dtype=pl.List(pl.String)))).to_series()


def _items(said: pl.DataFrame, active: pl.DataFrame) -> pl.DataFrame:
    """What was said and the stretches in which memories were active, in order of time; `row`: its place in `said`."""
    columns = [*choose_columns(CurationDecisions, "memory_id", "project", "scope", "content"), "normal", "from"]
    items = pl.concat(
        [
            said.select(*columns, pl.lit(None, pl.Datetime("us")).alias("until"), pl.lit(0).alias("is_known")),
            active.select(*columns, "until", pl.lit(1).alias("is_known")),
        ]
    ).with_row_index("row")
    return items.sort("from", "is_known", "memory_id")


class _Spoken:
    """When the memories of the items said something (see `utterances`)."""

    def __init__(self, memory_ids: pl.Series, uttered: pl.DataFrame) -> None:
        """`memory_ids`: of each item."""
        self._times = uttered["said_at"].dt.timestamp("us").to_numpy()
        spans = uttered.with_row_index("place").group_by("memory_id", maintain_order=True)
        ends = spans.agg(pl.col("place").first().alias("begin"), (pl.col("place").last() + 1).alias("end"))
        about = memory_ids.to_frame().join(ends, on="memory_id", how="left", maintain_order="left")
        self._begins, self._ends = (about[name].fill_null(0).cast(pl.Int64).to_numpy() for name in ("begin", "end"))

    def last_before(self, items: Integers, times: Integers) -> Integers:
        """When the memory of each item last said something before the time beside it, in microseconds."""
        begins, ends = self._begins[items], self._ends[items]
        low, high = begins.copy(), ends.copy()
        while (low < high).any():  # all of them halved at once
            middle = (low + high) // 2
            is_before = (low < high) & (self._times[np.minimum(middle, len(self._times) - 1)] < times)
            low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, np.minimum(high, middle))
        return self._times[np.where(low > begins, low, ends) - 1]


def _consider_memories(
    said: pl.DataFrame,
    items: pl.DataFrame,
    spoken: _Spoken,
    word_vectors: WordVectors,
    params: ObservationParams,
    ready: ReadyTexts | None,
) -> Iterator[dict[int, list[_Considered]]]:
    """Per row of `said` that meets any the most alike memories active just before, most alike first, some at a time."""
    if said.select("project", "scope").is_unique().all():
        return  # nothing to compare, and no vectors to load
    contents = items["content"].filter(items["content"].is_first_distinct())  # `unique` would copy them
    which = items.join(
        pl.DataFrame({"content": contents}).with_row_index("text"), on="content", how="left", maintain_order="left"
    )["text"].cast(pl.Int64).to_numpy()  # fmt: skip
    texts = pair_texts(contents, word_vectors)
    if ready is not None:
        ready.keep(contents, texts)
    scopes = items.select(pl.struct("project", "scope").rank("dense").cast(pl.Int64)).to_series().to_numpy()
    is_known = items["is_known"].to_numpy() == 1
    # what was said and what became active of it stand side by side, and some of what is met is not active any more
    doubled = params.model_copy(
        update={"bucket": 2 * params.bucket, "neighbours": _MET_PER_CONSIDERED * params.neighbours}
    )
    begins = items["from"].dt.timestamp("us").to_numpy()
    ends = items["until"].dt.timestamp("us").fill_null(np.iinfo(np.int64).max).to_numpy()
    for found in candidates_of(np.flatnonzero(~is_known), texts, which, scopes, is_known, doubled):
        # what began at the same instant stands after what is asked about, and is not met
        chosen = np.flatnonzero(ends[found.left] >= begins[found.right])
        chosen = chosen[first_per(found.right[chosen], np.arange(len(chosen)), params.neighbours)]
        left, right, likeness = found.left[chosen], found.right[chosen], found.likeness[chosen]
        alike = pair_similarity(texts, which[left], which[right], likeness)
        relations = pair_relations(
            contents, TextPairs(which[left], which[right], np.ones(len(left), bool)), likeness, alike, params
        )
        order = np.lexsort((left, -likeness, -alike, right))
        last = spoken.last_before(left, begins[right])
        yield _with_changes(_by_row(items, last, left, right, alike, relations, order, params), said)


def _by_row(
    items: pl.DataFrame,
    said_at: Integers,
    left: Integers,
    right: Integers,
    alike: Integers,
    relations: list[Relation],
    order: Integers,
    params: ObservationParams,
) -> dict[int, list[_Considered]]:
    mets, met = np.unique(left, return_inverse=True)
    askers, asker = np.unique(right, return_inverse=True)
    ids, contents, normals = (items[name].gather(mets).to_list() for name in ("memory_id", "content", "normal"))
    rows = items["row"].gather(askers).to_list()
    found: dict[int, list[_Considered]] = {}
    for at in order.tolist():
        other = int(met[at])
        listed = found.setdefault(rows[int(asker[at])], [])
        if len(listed) < params.neighbours and all(one.memory_id != ids[other] for one in listed):
            about = (ids[other], contents[other], normals[other], int(said_at[at]), int(alike[at]), relations[at])
            listed.append(_Considered(int(left[at]), *about))
    return found


def _with_changes(met: dict[int, list[_Considered]], said: pl.DataFrame) -> dict[int, list[_Considered]]:
    """Return what each row of `said` met, with the changes of state between all that it met and its own text.

    They relate the texts as `observe_memories` relates those of active memories.
    """
    asked = said[[*met]].select(pl.Series("scope", [*met], dtype=pl.Int64), pl.col("from").alias("first_at"), "content")
    known = [(row, one.said_at, one.content) for row, considered in met.items() for one in considered]
    places = [(row, one.place) for row, considered in met.items() for one in considered]
    about = pl.DataFrame(known, {**asked.schema, "first_at": pl.Int64}, orient="row").cast(asked.schema)
    stated = pl.concat([about, asked]).with_columns(
        pl.int_range(pl.len()).alias("statement"), pl.col("first_at").alias("last_at")
    )
    replaced: dict[tuple[int, int], StateChange] = {}
    replaced_by: dict[tuple[int, int], set[int]] = {}
    for change in changes_of_state(stated.select("statement", "scope", "first_at", "last_at", "content")):
        if change.earlier is None or change.earlier >= len(places):
            continue
        if change.later >= len(places):
            replaced.setdefault(places[change.earlier], change)
        else:
            replaced_by.setdefault(places[change.earlier], set()).add(places[change.later][1])

    def apply_change(row: int, one: _Considered) -> _Considered:
        change = replaced.get((row, one.place))
        found = downgrade_relation(one.relation) if change is None else change.relation
        return one._replace(relation=found, replaced_by=frozenset(replaced_by.get((row, one.place), ())))

    return {row: [apply_change(row, one) for one in considered] for row, considered in met.items()}


def _decide_action(said: dict[str, Any], considered: list[_Considered], params: ObservationParams) -> _Decided:
    """The first of: said already and still so, its own text changed, a state changed, taken back; else new."""
    others = [one for one in considered if one.memory_id != said["memory_id"]]
    same = [one for one in others if one.normal == said["normal"]]
    same += [one for one in others if one.relation.relation == "same_fact" and one not in same]
    changed = _changed_since(same, others, params)
    if same and changed is None:
        return _said_already(said, same[0])
    for one in considered:
        if one.memory_id == said["memory_id"] and not said["is_first"]:
            return _Decided("update", one, "replaces its own earlier text", one.relation.words)
    if changed is not None:
        return _said_again(changed)
    for one in others:
        if one.relation.relation == "supersedes":
            action = "delete" if one.relation.is_retraction else "update"
            return _Decided(action, one, one.relation.reason, one.relation.words)
    return _decide_add(said, others)


def _said_already(said: dict[str, Any], one: _Considered) -> _Decided:
    if one.normal == said["normal"]:
        return _Decided("skip", one, "said already, in the same words")
    mine, known = reading(said["content"]), reading(one.content).content
    news = [mine.as_written(word) for word in dict.fromkeys(mine.content) if word not in known]
    if news:
        return _Decided("merge", one, f"said already; new are: {', '.join(news)}")
    return _Decided("skip", one, "said already, in the same content words")


def _changed_since(same: list[_Considered], others: list[_Considered], params: ObservationParams) -> _Considered | None:
    """Of what has replaced all that say the same, or taken it back, what was said last; None: it still holds."""
    if not same:
        return None
    last = max(same, key=lambda one: one.said_at)
    before, replacing = reading(last.content), set(last.replaced_by)
    since = []
    for one in sorted((one for one in others if one.said_at > last.said_at), key=lambda one: one.said_at):
        if one.place in replacing or _replaces(one, before, params):
            since.append(one)
            replacing |= one.replaced_by
    return max(since, key=lambda one: (one.said_at, one.memory_id), default=None)


def _replaces(one: _Considered, before: ParsedStatement, params: ObservationParams) -> bool:
    """Whether its words alone say that it replaces what was said before."""
    found = relation(before, reading(one.content), one.similarity, params, is_later=True)
    return found.relation == "supersedes" and found.is_retraction


def _said_again(changed: _Considered) -> _Decided:
    """What was said before, and had changed since."""
    if only_retracts(changed.content):
        return _Decided("add", None, "said before, and taken back since")
    if changed.relation.relation == "supersedes":
        return _Decided("update", changed, f"said before, and again; {changed.relation.reason}", changed.relation.words)
    return _Decided("add", None, "said before, and replaced since: the two are at odds", changed.relation.words)


def _decide_add(said: dict[str, Any], others: list[_Considered]) -> _Decided:
    if is_retraction(said["content"]) and "forget" in reading(said["content"]).content:
        return _Decided("add", None, "takes something back, but nothing active says that")
    if not others:
        return _Decided("add", None, "nothing alike was active")
    nearest = others[0]
    if not nearest.similarity and not nearest.relation.relation:
        return _Decided("add", None, "nothing alike was active")
    if nearest.relation.relation in {"may_be_one", "may_contradict"}:
        perhaps = "may be one with it" if nearest.relation.relation == "may_be_one" else "differs"
        return _Decided("add", None, f"the nearest {perhaps}: {nearest.relation.reason}", nearest.relation.words)
    mine, known = reading(said["content"]), reading(nearest.content)
    apart = conflicts(known, mine)
    if apart:
        shown = (
            *(known.as_written(word) for conflict in apart for word in conflict.mine),
            *(mine.as_written(word) for conflict in apart for word in conflict.other),
        )
        words = tuple(dict.fromkeys(shown))
        return _Decided("add", None, f"the nearest differs in {', '.join(dict.fromkeys(c.kind for c in apart))}", words)
    return _Decided("add", None, "the nearest says something else")
