"""The states that observations went through: what was so, from when until when."""

from __future__ import annotations

from datetime import datetime
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import orjson
import polars as pl

from slowwave.transforms.observations.groups import StatementGroups
from slowwave.transforms.observations.pairs.conflicts import only_retracts
from slowwave.transforms.observations.pairs.reading import reading
from slowwave.transforms.observations.pairs.relation import relation
from slowwave.transforms.observations.params import ObservationParams
from slowwave.transforms.observations.states.changes import TELLS_ITSELF, StateChange, change_between, stated_change

_IDENTICAL = 10_000

State = int | str


class _Event(NamedTuple):
    """Something was said (`state`), or taken back (`ended`).

    Of what was said at one instant the newest state is last; of the memories that say a state the one with the lowest
    `rank` is shown.
    """

    at: datetime
    newness: int
    state: State | None
    rank: int
    memory_id: str
    text: str
    ended: int | None


class _Interval(NamedTuple):
    """A stretch of time in which a state held, and the memory whose words tell it."""

    state: State
    rank: int
    memory_id: str
    text: str
    start: datetime
    until: datetime | None


def journeys(
    placed: pl.DataFrame, found: StatementGroups, uttered: pl.DataFrame, silent: pl.DataFrame, params: ObservationParams
) -> pl.DataFrame:
    """end, journey (see `Observations.journey`) of the observations whose state has changed.

    A state holds from when it was said until another was, or until it was taken back; said again, it holds again. What
    a memory itself said before counts where its next text says that it has changed.

    Args:
        placed: memory_id, project, scope, normal, head, end of the memories behind observations, the best first.
        found: the groups.
        uttered: what these memories said when (see `utterances`).
        silent: statement, said_at: when something was taken back.
        params: thresholds.
    """
    mine = placed.with_row_index("rank").select("memory_id", "project", "scope", "head", "end", "rank", now="normal")
    said = uttered.join(mine, on=["memory_id", "project", "scope"]).sort("memory_id", "said_at")
    taken_back = pl.DataFrame(
        [(found.representative[target], silent_one) for target, silent_one in found.retracted],
        schema={"ended": pl.Int64, "statement": pl.Int64},
        orient="row",
    )
    ended = taken_back.join(silent, on="statement").join(
        mine.select("head", "end").unique(), left_on="ended", right_on="head"
    )
    has_changed = said.filter((pl.col("head") != pl.col("end")) | (pl.col("normal") != pl.col("now")))["end"]
    ends = pl.concat([has_changed, ended["end"]]).unique().sort()
    events: dict[int, list[_Event]] = {}
    by_end = said.join(pl.DataFrame({"end": ends}), on="end", how="semi").sort("end", "memory_id", "said_at")
    for end, rows in groupby(by_end.iter_rows(named=True), key=itemgetter("end")):  # a frame of each takes longer
        events[end] = _collect_events([*rows], found, params)
    for end, target, at in ended.select("end", "ended", "said_at").iter_rows():
        events[end].append(_Event(at, -len(found.successor), None, 0, "", "", target))
    told = {end: steps for end, happened in events.items() if len(steps := _intervals(happened)) > 1}
    shown = {end: _changed_steps(steps) for end, steps in told.items()}
    shown |= {end: steps for end, steps in _told_by_itself(placed, said).items() if end not in shown}
    return pl.DataFrame(
        {"end": list(shown), "journey": [orjson.dumps(steps).decode() for steps in shown.values()]},
        schema={"end": pl.Int64, "journey": pl.String},
    ).sort("end")


def _changed_steps(steps: list[_Interval]) -> list[dict[str, str | None]]:
    """Each step with what of what it was a state of, and with the value then; null where the words do not tell."""
    changes = [change_between(one.text, other.text) for one, other in pairwise(steps)]
    firsts: list[StateChange | None] = [changes[0], *changes]
    values = [None if changes[0] is None else changes[0].before]
    values += [None if one is None else one.after for one in changes]
    return [
        {**_step(step), "subject": change and change.subject, "attribute": change and change.attribute, "value": value}
        for step, change, value in zip(steps, firsts, values, strict=True)
    ]


def _told_by_itself(placed: pl.DataFrame, said: pl.DataFrame) -> dict[int, list[dict[str, str | None]]]:
    """The two states of which the words of an observation tell: "moved from A to B"; since when A was, nobody said."""
    best = (
        placed.filter(pl.col("head") == pl.col("end"))
        .unique("end", keep="first", maintain_order=True)
        .filter(pl.col("content").str.contains(TELLS_ITSELF))
        .select("end", "memory_id", "content")
    )
    since = said.group_by("end", "memory_id").agg(pl.col("said_at").filter(pl.col("normal") == pl.col("now")).min())
    found = {}
    for end, memory_id, text, at in best.join(since, on=["end", "memory_id"]).sort("end").iter_rows():
        change = stated_change(text)
        if change is not None and at is not None:
            of = {"memory_id": memory_id, "text": text, "subject": change.subject, "attribute": change.attribute}
            found[end] = [
                {**of, "from": None, "until": _iso(at), "value": change.before},
                {**of, "from": _iso(at), "until": None, "value": change.after},
            ]
    return found


def _collect_events(rows: list[dict[str, Any]], found: StatementGroups, params: ObservationParams) -> list[_Event]:
    """What the memories of one observation said, and had said before."""
    heads: dict[str, int] = {row["now"]: row["head"] for row in rows}
    by_memory: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_memory.setdefault(row["memory_id"], []).append(row)
    events = []
    for own in by_memory.values():
        state: State | None = None
        following = ""
        for row in reversed(own):
            state = heads.get(row["normal"]) if state is None else _before(row, state, following, heads, params)
            if state is None:
                break
            following = row["content"]
            newness = -_distance(state, found) if isinstance(state, int) else -len(found.successor)
            events.append(_Event(row["said_at"], newness, state, row["rank"], row["memory_id"], row["content"], None))
    return events


def _before(
    row: dict[str, Any], state: State, following: str, heads: dict[str, int], params: ObservationParams
) -> State | None:
    """The state a memory told of before it said `following`; None: that was about something else."""
    if row["normal"] in heads:
        return heads[row["normal"]]
    if only_retracts(row["content"]) or only_retracts(following):
        return None
    if change_between(row["content"], following) is not None:
        return row["normal"]
    related = relation(reading(row["content"]), reading(following), _IDENTICAL, params, is_later=True)
    return state if related.relation == "same_fact" else None


def _distance(head: int, found: StatementGroups) -> int:
    count = 0
    while found.successor[head] >= 0:
        head, count = found.successor[head], count + 1
    return count


def _intervals(events: list[_Event]) -> list[_Interval]:
    """The stretches in which one state held, in order."""
    found: list[_Interval] = []
    for event in sorted(events, key=lambda event: (event.at, event.newness, str(event.state), event.rank)):
        last = found[-1] if found and found[-1].until is None else None
        if event.state is None:
            if last is not None and last.state == event.ended:
                found[-1] = last._replace(until=event.at)
        elif last is not None and last.state == event.state:
            if event.rank < last.rank:
                found[-1] = last._replace(rank=event.rank, memory_id=event.memory_id, text=event.text)
        else:
            if last is not None:
                found[-1] = last._replace(until=event.at)
            found.append(_Interval(event.state, event.rank, event.memory_id, event.text, event.at, None))
    return _join_intervals([one for one in found if one.until is None or one.start < one.until])


def _join_intervals(intervals: list[_Interval]) -> list[_Interval]:
    """Those of one state that nothing lies between made one."""
    found = intervals[:1]
    for before, after in pairwise(intervals):
        if before.state == after.state and before.until == after.start:
            best = min(found[-1], after, key=lambda one: one.rank)
            found[-1] = found[-1]._replace(rank=best.rank, memory_id=best.memory_id, text=best.text, until=after.until)
        else:
            found.append(after)
    return found


def _step(one: _Interval) -> dict[str, str | None]:
    until = None if one.until is None else _iso(one.until)
    return {"memory_id": one.memory_id, "text": one.text, "from": _iso(one.start), "until": until}


def _iso(time: datetime) -> str:
    return time.isoformat() + "Z"
