"""What a store is to say of its memories, beside what it says: scores of the publish, and landed decisions.

A state of a memory in its store has the fields that the store can hold: `is_archived`, `content`, `confidence` (a
column of its own), `scores` (confidence and verdict, in what it keeps beside), and `listed` (the number and the text of
its line in an index), `expires` (the day from which on it is hidden). Beside them may stand `closed` (why it must not
be touched), `fixed` (per field why that cannot be written) and `user` (whom it is about).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from slowwave.transforms.core.vocabularies import Status
from slowwave.transforms.imports.stores.store_state import PUSH, PUSH_UNDO, PushDecision

State = Mapping[str, Any]
Altered = dict[str, tuple[Any, Any]]

_IN_USE: frozenset[Status] = frozenset({"candidate", "active"})
# A store has no use for more, and a score that moves less is not written again every night.
_DIGITS = 2
_LONG_AGO = "2000-01-01"


@dataclass(frozen=True)
class PushTarget:
    """What is known here of a memory. `status`, `content`, `expiry`: None where nobody decided.

    `expiry`: the last day on which the memory counts (None: for ever), and whether it has passed. `kept`: why the
    memory is not touched.
    """

    memory_id: str
    scores: Mapping[str, Any]
    status: Status | None
    content: str | None
    expiry: tuple[str | None, bool] | None
    kept: str | None


def push_targets(
    health: pl.DataFrame, changes: pl.DataFrame, users: Sequence[str], now: datetime
) -> dict[str, PushTarget]:
    """Per memory of `health` what its store is to say.

    Args:
        health: memory_id, user_id, confidence, verdict, pinned, is_held, all of now.
        changes: the winning changes of these memories: memory_id, changed_at, status, content, expires_at, clears,
            is_decided.
        users: those whose memories may be touched; what is about nobody may always be.
        now: when it is written.
    """
    expiry = _decided_expiry(changes, now)
    status, content = (_last_decisions(changes, name) for name in ("status", "content"))
    return {
        row["memory_id"]: PushTarget(
            row["memory_id"],
            _scores(row),
            status.get(row["memory_id"]),
            content.get(row["memory_id"]),
            expiry.get(row["memory_id"]),
            _reason_not_to_push(row, users),
        )
        for row in health.to_dicts()
    }


def _last_decisions(changes: pl.DataFrame, name: str) -> dict[str, Any]:
    """The last word on a field, by memory, where it is a decision's."""
    last = changes.drop_nulls(name).sort("changed_at").group_by("memory_id").last().filter("is_decided")
    return dict(last.select("memory_id", name).iter_rows())


def _decided_expiry(changes: pl.DataFrame, now: datetime) -> dict[str, tuple[str | None, bool]]:
    """`Wanted.expiry`, by memory. Stores hide a memory after a day, Slowwave from a time on."""
    clears = pl.col("clears").list.contains("expires_at").fill_null(value=False)
    said = changes.filter(pl.col("expires_at").is_not_null() | clears)
    last = said.sort("changed_at").group_by("memory_id").last().filter("is_decided")
    day = (pl.col("expires_at") - timedelta(microseconds=1)).dt.strftime("%Y-%m-%d")
    last_days = last.select("memory_id", day).rows()
    return {memory_id: (at, at is not None and at < now.date().isoformat()) for memory_id, at in last_days}


def _scores(row: Mapping[str, Any]) -> dict[str, Any]:
    confidence = row["confidence"]
    known = {} if confidence is None else {"confidence": round(confidence, _DIGITS)}
    return {**known, **({} if row["verdict"] in (None, "inactive") else {"verdict": row["verdict"]})}


def _reason_not_to_push(row: Mapping[str, Any], users: Sequence[str]) -> str | None:
    if row["pinned"]:
        return "pinned"
    if row["is_held"]:
        return "on hold"
    return of_other_user(row["user_id"], users)


def of_other_user(user: str | None, users: Sequence[str]) -> str | None:
    """Why a memory about somebody is not touched; None: it may be."""
    return f"of the user {user}: name them with --user" if user and user not in users else None


def state_after(state: State, asked: PushTarget, pushed: Sequence[PushDecision]) -> State:
    """The state that a memory is to have in its store.

    `pushed`: what was done to it there, oldest first: what was put away is brought back as it was.
    """
    is_archived = state["is_archived"]
    if asked.status is not None:
        is_archived = asked.status not in _IN_USE
    expiry = asked.expiry if "expires" in state and (asked.status is None or asked.status in _IN_USE) else None
    if is_archived and state["is_archived"] and expiry is None:
        # a push that was killed had put it away, and not yet taken its line out of the index
        return {**state, "listed": None} if state.get("listed") and _since_archived(pushed) else state
    if is_archived and expiry is None:
        return {**state, "is_archived": True, **_archiving_fields(state)}
    after = {**state, **(_before_archiving(pushed) if state["is_archived"] else {})}
    if expiry is not None:
        after["expires"], after["is_archived"] = expiry
    if after["is_archived"]:
        return after  # by its day, or the store itself put it away: it says so, and nobody here can bring it back
    if "scores" in state and asked.scores:
        after["scores"] = asked.scores
    if "confidence" in state and "confidence" in asked.scores:
        after["confidence"] = asked.scores["confidence"]
    if "content" in state and asked.content is not None:
        after["content"] = asked.content
    return after


def _archiving_fields(state: State) -> dict[str, Any]:
    """What goes with putting it away: its line in an index, and the day on which it expires, which has passed."""
    gone: dict[str, Any] = {"listed": None, "expires": _LONG_AGO}
    return {name: value for name, value in gone.items() if name in state}


def _before_archiving(pushed: Sequence[PushDecision]) -> State:
    kept: dict[str, Any] = {}
    for one in reversed(_since_archived(pushed)):
        kept |= {name: one.before[name] for name in ("is_archived", "listed", "expires") if name in one.before}
    return kept


def _since_archived(pushed: Sequence[PushDecision]) -> Sequence[PushDecision]:
    """What was done when a push put it away, and from then on; nothing where none did, or it was brought back."""
    done = [one for one in pushed if one.command in (PUSH, PUSH_UNDO)]
    last = max((at for at, one in enumerate(done) if "is_archived" in one.after), default=len(done))
    return done[last:] if last < len(done) and done[last].after["is_archived"] else []


def changed_fields(before: State, after: State) -> Altered:
    """The fields that differ, each as it is and as it will be."""
    names = [name for name in {**before, **after} if not is_same(name, before.get(name), after.get(name))]
    return {name: (before.get(name), after.get(name)) for name in names}


def is_same(name: str, one: Any, other: Any) -> bool:  # noqa: ANN401 - whatever a store holds
    """Whether two values of a field are the same; a line of an index is, wherever it stands."""
    if name == "listed" and one and other:
        return one[1] == other[1]
    return one == other
