"""The changes of the memory log that a decision on a review item asks for, and what is not asked again.

Content is never rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import polars as pl

from slowwave.transforms.core.frames import Frame, framed
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.decisions.review.tables import ABOUT_ONE, ReviewDecisions
from slowwave.transforms.evidence.scopes import scope_tags
from slowwave.transforms.landing.decisions_table import Decisions
from slowwave.transforms.landing.stated_changes import CHANGE
from slowwave.transforms.landing.tables import Memories
from slowwave.transforms.landing.versions import winning_versions

Change = dict[str, Any]
State = Mapping[str, Any]

_PAIRS = ("contradiction", "outdated")
_RESTORED = choose_columns(Memories, "status", "superseded_by", "source_ids", "confidence")
# By how much a memory that is about to expire is extended: AtoCore's step.
EXTENSION = timedelta(days=90)


class CannotDecideError(Exception):
    """This cannot be said of this item; the message says what can."""


@dataclass(frozen=True)
class ReviewCommand:
    """What a person says of an item: the command, of a contradiction which memory is wrong, of a merge which stays.

    `confidence` (0-1) is that of a promoted candidate; None: that of its evidence. `scope`: for whom one is promoted,
    the user whose it is or all of its project; None: as it stands, one from answers for the user.
    """

    command: str
    memory_id: str | None = None
    into: str | None = None
    confidence: float | None = None
    scope: Literal["user", "project"] | None = None


def candidate_id(item: Mapping[str, Any]) -> str:
    """The memory that a candidate is, or will be: one found in answers gets the item's id."""
    return item["memory_ids"][0] if item["memory_ids"] else item["item_id"]


def takes_back(wish: ReviewCommand, item: Mapping[str, Any], last_command: str, before: Sequence[Change]) -> bool:
    """Whether what is said of an item undoes the changes (`before`) of the last decision on it, and nothing else.

    Never of a candidate: there the status that was asked for follows, see `undo_merge`. Of a pair, to say that both
    stay takes a merge back as well; a `reject` that itself took a merge back is not taken back.
    """
    if item["kind"] == "candidate" or not before:
        return False
    if item["kind"] == "expiring":
        return (last_command, wish.command) == (PROMOTE, REJECT)
    if last_command == MERGE:
        return wish.command == REJECT or (wish.command == PROMOTE and item["kind"] in _PAIRS)
    is_rejected = last_command == REJECT and any(change.get("status") == "invalid" for change in before)
    return is_rejected and wish.command == PROMOTE


def requested_changes(
    wish: ReviewCommand, item: Mapping[str, Any], states: Mapping[str, State], sources: Sequence[str]
) -> list[Change]:
    """What is to be said of which memories; nothing: the item is kept as it is.

    Args:
        wish: what was said.
        item: a row of review_queue.
        states: the memories as they are now, by id; those of the item, and `wish.into`.
        sources: interactions that state a candidate found in answers.

    Raises CannotDecideError when this cannot be said of an item of this kind.
    """
    _check_options(wish, item)
    if wish.command == MERGE:
        return _merge_changes(wish, item, states, sources)
    if item["kind"] == "candidate":
        said: dict[str, Any] = {"status": "active" if wish.command == PROMOTE else "invalid"}
        if wish.command == PROMOTE:
            said |= _first_confidence(wish, item, states) | _for_whom(wish, item, states)
        return [_of_candidate(item, states, sources, said)]
    if item["kind"] == "merge" and wish.command == PROMOTE:
        message = "say `merge` (they are one) or `reject` (they are not)"
        raise CannotDecideError(message)
    if item["kind"] == "expiring":
        (memory_id,) = item["memory_ids"]
        later = states[memory_id]["expires_at"] + EXTENSION
        return [{"memory_id": memory_id, "expires_at": later}] if wish.command == PROMOTE else []
    if item["kind"] == "merge" or wish.command == PROMOTE:
        return []
    if item["kind"] == "outdated":
        return [{"memory_id": item["target_memory_id"], "status": "invalid"}]
    wrong = wish.memory_id or (item["memory_ids"][0] if len(item["memory_ids"]) == 1 else None)
    if wrong is None or wrong not in item["memory_ids"]:
        message = f"say with --memory which side is wrong: {' or '.join(item['memory_ids'])}"
        raise CannotDecideError(message)
    return [{"memory_id": wrong, "status": "invalid"}]


def _check_options(wish: ReviewCommand, item: Mapping[str, Any]) -> None:
    """Whether each option is one of this command on such an item."""
    for said, command, kind, meaning in (
        (
            wish.memory_id,
            REJECT,
            "contradiction",
            "--memory is for `reject` of a contradiction: it names the wrong side",
        ),
        (wish.confidence, PROMOTE, "candidate", "--confidence is for `promote` of a candidate: how sure one is of it"),
        (wish.scope, PROMOTE, "candidate", "--scope is for `promote` of a candidate: for its user alone, or for all"),
    ):
        if said is not None and (item["kind"], wish.command) != (kind, command):
            raise CannotDecideError(meaning)


def evidence_confidence(item: Mapping[str, Any]) -> float | None:
    """How sure the attempts behind an item make of it: (succeeded + 1) / (succeeded + failed + 2), to two decimals.

    None without an attempt that ended: then nothing is known, and a person has to say it.
    """
    succeeded, failed = item.get("succeeded_count") or 0, item.get("failed_count") or 0
    return round((succeeded + 1) / (succeeded + failed + 2), 2) if succeeded + failed else None


def _first_confidence(wish: ReviewCommand, item: Mapping[str, Any], states: Mapping[str, State]) -> dict[str, float]:
    """The confidence to give a promoted candidate: what was said, else that of its evidence; its own stays."""
    if wish.confidence is not None:
        return {"confidence": wish.confidence}
    own = states.get(candidate_id(item), {}).get("confidence")
    known = evidence_confidence(item)
    return {} if own is not None or known is None else {"confidence": known}


def _for_whom(wish: ReviewCommand, item: Mapping[str, Any], states: Mapping[str, State]) -> Change:
    """What is to be said of the user of a promoted candidate; nothing: as `_of_candidate` has it."""
    if wish.scope is None:
        return {}
    user = owner(item, states)
    if wish.scope == "project":
        return {"clears": ["user_id"]} if candidate_id(item) in states else {"user_id": None}
    if user is None:
        message = "no single user is known whose it is: say --scope project"
        raise CannotDecideError(message)
    return {"user_id": user}


def owner(item: Mapping[str, Any], states: Mapping[str, State]) -> str | None:
    """The user whose alone a candidate is, by its memory, else by its interactions. None: it is the project's."""
    return states.get(candidate_id(item), {}).get("user_id") or item.get("user_id")


def _of_candidate(
    item: Mapping[str, Any], states: Mapping[str, State], sources: Sequence[str], said: Mapping[str, Any]
) -> Change:
    memory_id = candidate_id(item)
    if memory_id in states:
        return {"memory_id": memory_id, **said}
    stated = {"content": item["text"], "memory_type": item["memory_type"], "project": item["project"]}
    whose = {"user_id": item["user_id"]} if item.get("user_id") else {}
    return {"memory_id": memory_id, **stated, **whose, "source_ids": sorted(sources), **said}


def _merge_changes(
    wish: ReviewCommand, item: Mapping[str, Any], states: Mapping[str, State], sources: Sequence[str]
) -> list[Change]:
    """The others are superseded by the target, which gains their sources unless it says something newer.

    A memory without sources is its own, so that what it proves is not lost. The target's initial confidence becomes
    the highest of those that have one, if it has one itself. Reference counts are not added up as AtoCore does: they
    are counted from the log, each memory keeps its own, and an interaction that referenced both would count twice.
    """
    into = wish.into or item["target_memory_id"]
    ids = [candidate_id(item)] if item["kind"] == "candidate" else list(item["memory_ids"])
    if item["kind"] in ABOUT_ONE:
        expires = item["kind"] == "expiring"
        meanings = ("extend it", "let it expire") if expires else ("keep it", "it is wrong")
        message = "say `promote` ({}) or `reject` ({})".format(*meanings)
        raise CannotDecideError(message)
    if into is None:
        message = "say with --into which memory stays"
        raise CannotDecideError(message)
    if item["kind"] == "outdated" and into != item["target_memory_id"]:
        message = f"{item['target_memory_id']} is the newer one: say `reject` if it is wrong"
        raise CannotDecideError(message)
    if item["kind"] != "candidate" and into not in ids:
        message = f"--into has to be one of {', '.join(ids)}"
        raise CannotDecideError(message)
    target = states.get(into)
    is_itself = item["kind"] == "candidate" and into == candidate_id(item)
    if target is None or is_itself or target["status"] != "active":
        message = f"{into} is not another memory in use, so nothing can be merged into it"
        raise CannotDecideError(message)
    _check_reach(into, target, item, states)
    gone = {"status": "superseded", "superseded_by": into}
    if item["kind"] == "candidate":
        changes = [_of_candidate(item, states, sources, gone)]
    else:
        changes = [{"memory_id": memory_id, **gone} for memory_id in ids if memory_id != into]
    if item["kind"] == "outdated":  # what proved the old text does not prove the new one
        return changes
    others = [(change["memory_id"], states.get(change["memory_id"], change)) for change in changes]
    union = {
        source for memory_id, state in [(into, target), *others] for source in state.get("source_ids") or [memory_id]
    }
    known = [state["confidence"] for _, state in others if state.get("confidence") is not None]
    gained: Change = {"memory_id": into, "source_ids": sorted(union)}
    if target["confidence"] is not None and max(known, default=0.0) > target["confidence"]:
        gained["confidence"] = max(known)
    return [*changes, gained]


def _check_reach(into: str, target: State, item: Mapping[str, Any], states: Mapping[str, State]) -> None:
    """Raise where a memory does not count wherever what is merged into it does: that would be lost for others."""
    if item["kind"] != "candidate":
        if len({_owner_key(memory_id, states) for memory_id in item["memory_ids"] if memory_id in states}) > 1:
            message = f"{', '.join(item['memory_ids'])} are not of one user, agent and tag scope"
            raise CannotDecideError(message)
        return
    for other, is_other in (
        ("project", target["project"] not in {item["project"], ""}),
        ("user", target.get("user_id") not in {owner(item, states), None}),
        (
            "tag scope",
            scope_tags(_owner_key(into, states)) not in {scope_tags(_owner_key(candidate_id(item), states)), ""},
        ),
    ):
        if is_other:
            message = f"{into} belongs to another {other}"
            raise CannotDecideError(message)


def _owner_key(memory_id: str, states: Mapping[str, State]) -> str:
    return states.get(memory_id, {}).get("owner") or ""


def undoing_changes(changes: Iterable[Change]) -> list[Change]:
    """What gives the memories of earlier changes back what these took (`before`)."""
    undone = []
    for change in changes:
        before = change["before"]
        again: Change = {"memory_id": change["memory_id"]}
        for name in (*_RESTORED, "expires_at"):
            if change.get(name) is None:
                continue
            if before[name] is not None:
                again[name] = before[name]
            else:
                again["clears"] = [*again.get("clears", []), name]
        undone.append(again)
    return undone


def undo_merge(asked: Sequence[Change], merged: Sequence[Change], candidate: str) -> list[Change]:
    """What is asked of a merged candidate, with what gives the memory it was merged into back what that gained.

    Args:
        asked: the changes asked for, made as if the merge stood.
        merged: the changes of the merge, with what was before them.
        candidate: the candidate's memory.
    """
    freed = [
        {**change, "clears": ["superseded_by"]}
        if change["memory_id"] == candidate and "superseded_by" not in change
        else change
        for change in asked
    ]
    named = {change["memory_id"] for change in asked}
    return [*freed, *undoing_changes(change for change in merged if change["memory_id"] not in {candidate, *named})]


def with_before(changes: Iterable[Change], states: Mapping[str, State]) -> list[Change]:
    """The changes, each with what its memory said before where it changes that; a new memory has no before."""
    told = []
    for change in changes:
        state = states.get(change["memory_id"])
        restored = [*_RESTORED, *(["expires_at"] if "expires_at" in change else [])]
        told.append({**change, "before": {name: state[name] for name in restored} if state else None})
    return told


def holds(change: Change, state: State | None) -> bool:
    """Whether a memory says already what a change would say."""
    if state is None:
        return False
    said = {name: value for name, value in change.items() if name not in {"memory_id", "clears", "before"}}
    is_said = all((state[name] or "") == (value or "") for name, value in said.items())
    return is_said and all(state[name] is None for name in change.get("clears") or [])


PROMOTE, REJECT, MERGE = "review promote", "review reject", "review merge"
REVIEWS = (PROMOTE, REJECT, MERGE)

_TEXTS = pl.List(pl.String())
_VALUES = pl.Struct(
    {
        "kind": pl.String(),
        "project": pl.String(),
        "memory_type": pl.String(),
        "text": pl.String(),
        "memory_ids": _TEXTS,
        "basis": pl.String(),
        "changes": pl.List(CHANGE),
    }
)


def review_decisions(decisions: pl.LazyFrame, as_of: datetime) -> Frame[ReviewDecisions]:
    """Everything `review` decided before `as_of`: the columns of review_decisions, sorted by decision_id."""
    won = _reviews(winning_versions(Decisions, decisions, as_of).collect())
    changed = pl.col("changes").list.eval(pl.element().struct.field("memory_id")).fill_null(pl.lit([], dtype=_TEXTS))
    rows = won.select(
        "decision_id",
        pl.col("target").alias("item_id"),
        pl.col("command").str.strip_prefix("review ").alias("action"),
        "kind",
        "project",
        "memory_type",
        "text",
        "memory_ids",
        changed.alias("changed_ids"),
        pl.col("basis").alias("fingerprint"),
        "reason",
        "changed_by",
        "decided_at",
        "on_run_id",
    )
    return framed(ReviewDecisions, rows).sort("decision_id")


def last_reviews(decided: pl.DataFrame) -> pl.DataFrame:
    """Of review_decisions the last on each item, sorted by item_id."""
    return decided.sort("decided_at", "decision_id").unique("item_id", keep="last").sort("item_id")


def _reviews(decisions: pl.DataFrame) -> pl.DataFrame:
    ours = decisions.filter(pl.col("command").is_in(list(REVIEWS)))
    return ours.with_columns(pl.col("values").str.json_decode(_VALUES).alias("said")).unnest("said")
