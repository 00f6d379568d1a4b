"""Review: what a person says of the items of the queue, landed as decisions and as the changes that follow from them.

Decisions are durable before the memory log is added to (see `decisions`); nothing is ever decided by itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.flows.decide.decisions import decision, expectation, land_decisions, landed_decisions, published_frames
from slowwave.flows.decide.listed import SHORTEST_ID
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import quote_shortened
from slowwave.flows.kernel.times import utc_now, utc_text
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.run import Run
from slowwave.transforms.core.schema import choose_columns
from slowwave.transforms.decisions.effects import values_json
from slowwave.transforms.decisions.review.changes import (
    MERGE,
    REVIEWS,
    CannotDecideError,
    Change,
    ReviewCommand,
    candidate_id,
    holds,
    owner,
    requested_changes,
    takes_back,
    undo_merge,
    undoing_changes,
    with_before,
)
from slowwave.transforms.decisions.review.items import statement_ids
from slowwave.transforms.decisions.review.tables import ReviewDecisions
from slowwave.transforms.evidence.states import current_memories
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.landing.stated_changes import changes_of

_ITEM = (*choose_columns(ReviewDecisions, "kind", "project", "memory_type", "text", "memory_ids"), "basis")
# kept with a decision for people, and for the next decision on an item that is no longer in the queue
_BESIDE = ("target_memory_id", "queue_reason", "user_id")
_COMPARED = choose_columns(MemoryHealth, "status", "content", "project", "memory_type")


class WrongUseError(UserError):
    """What was asked cannot be said of this item."""


@dataclass(frozen=True)
class PublishedReview:
    """The queue of current, first what comes first; what its candidates stand on; and the memories as it shows them."""

    run_id: str
    as_of: datetime
    queue: pl.DataFrame
    statements: pl.DataFrame
    health: pl.DataFrame


@dataclass
class Reviewed:
    """What became of the items: ids decided, how many were so already, ids not decided and why.

    `changes` are those in all, `changed` the decided items that have some, `kept` the memories of decided items that
    none of them touches. `expect`: what to expect next, of the changed items where some were.
    """

    decided: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    already: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    expect: str = ""


def published_review(settings: Settings) -> PublishedReview:
    """The queue of current.

    Raises UserError when nothing is published, or by a version that published no queue.
    """
    run_id, as_of, found = published_frames(
        settings,
        "had no review queue",
        queue="FROM review_queue ORDER BY rank",
        statements="SELECT item_id, interaction_id FROM review_statements",
        health="SELECT memory_id, status, content, project, memory_type FROM memory_health",
    )
    return PublishedReview(run_id, as_of, **found)


def review(
    run: Run,
    wish: ReviewCommand,
    item_ids: Sequence[str],
    *,
    by: str,
    reason: str | None,
    expect: str | None = None,
    dry_run: bool = False,
) -> Reviewed:
    """Decide items of the published queue, or items decided before, each checked against the log as it is now.

    The caller holds the lock. Raises UserError when an item is unknown or not as it is expected to be (`expect`), or
    the clock is before the publish, WrongUseError when this cannot be said of an item; then nothing is changed.
    """
    published = published_review(run.settings)
    now = utc_now()
    if now < published.as_of:
        message = (
            f"current shows what was known at {utc_text(published.as_of)}, and this machine's clock says "
            f"{utc_text(now)}: set the clock, or publish as of now (nothing was changed)"
        )
        raise UserError(message)
    desk = _Desk(run, published, now, wish)
    outcome = Reviewed()
    decisions: list[dict[str, Any]] = []
    changed: set[str] = set()
    for item_id in desk.resolve_ids(item_ids):
        changes = desk.changes(item_id, outcome)
        if changes is None:
            continue
        if changed & {change["memory_id"] for change in changes}:
            outcome.skipped.append((item_id, "another item of this command changes the same memory: run it again"))
            continue
        changed |= {change["memory_id"] for change in changes}
        outcome.decided.append(item_id)
        outcome.changed += [item_id] if changes else []
        outcome.changes += changes
        named = {change["memory_id"] for change in changes}
        outcome.kept += [memory_id for memory_id in desk.items[item_id]["memory_ids"] if memory_id not in named]
        decisions.append(desk.decision(item_id, changes, by=by, reason=reason))
    planned = [values_json({"changes": outcome.changes, "decided": outcome.decided, "kept": outcome.kept})]
    now_stands = expectation(desk.decided, desk.involved, [wish.command, *planned])
    now_stands.check(expect, [why for _, why in outcome.skipped])
    outcome.expect = now_stands.token
    if decisions and not dry_run:
        land_decisions(run.lake, decisions)
        outcome.expect = max(
            row["decision_id"] for row in decisions if row["target"] in (outcome.changed or outcome.decided)
        )
    return outcome


def _of_queue(row: dict[str, Any]) -> dict[str, Any]:
    """An item of the queue, under the names by which decisions say it."""
    basis = row["fingerprint"] if "fingerprint" in row else row["basis"]  # an earlier release called it so
    return {**row, "basis": basis, "queue_reason": row["reason"]}


def _by_id(states: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["memory_id"]: row for row in states.to_dicts()}


class _Desk:
    """What a command looks at: the published items, the decisions and the memories as they are now."""

    def __init__(self, run: Run, published: PublishedReview, now: datetime, wish: ReviewCommand) -> None:
        self.published, self.now, self.wish = published, now, wish
        self.decided = landed_decisions(run.lake)
        reviews = self.decided.filter(pl.col("command").is_in(list(REVIEWS)))
        self.last = {row["target"]: row for row in reviews.sort("decided_at", "decision_id").collect().to_dicts()}
        self.items = {row["item_id"]: _of_queue(row) for row in published.queue.to_dicts()}
        for item_id, row in self.last.items():
            said = json.loads(row["values"])
            told = {name: said[name] for name in _ITEM} | {name: said.get(name) for name in _BESIDE}
            self.items.setdefault(item_id, {"item_id": item_id, **told})
        self.log = LogAsOf(run.lake, now, run.params)
        self.now_states = current_memories(self.log.states)
        self.stated = current_memories(
            self.log.stated_states().collect()
        )  # what a change writes: nobody says `expired`
        self.shown = {row["memory_id"]: row for row in published.health.to_dicts()} if self.items else {}
        self.involved: set[str] = set()  # the items looked at, and the memories that they are about

    def resolve_ids(self, item_ids: Sequence[str]) -> list[str]:
        """The items these name, whole or by a start that no other has, each once."""
        found: dict[str, None] = {}
        for given in item_ids:
            starts = [given] if given in self.items else [known for known in self.items if known.startswith(given)]
            if len(starts) != 1 or len(given) < SHORTEST_ID:
                if starts and len(given) < SHORTEST_ID:
                    why = (
                        f"{quote_shortened(given)} is too short a start of an id: write {SHORTEST_ID} "
                        "characters or more"
                    )
                elif starts:
                    why = f"{len(starts)} items start with {quote_shortened(given)}: write more of it"
                else:
                    why = f"no item of the queue is called {quote_shortened(given)}, and none was decided that is"
                    why += ": `slowwave review list` shows them"
                message = f"{why} (nothing was changed)"
                raise UserError(message)
            found[starts[0]] = None
        return list(found)

    def changes(self, item_id: str, outcome: Reviewed) -> list[Change] | None:
        """The changes to land for an item; None: none may be, as `outcome` now says."""
        item, last = self.items[item_id], self.last.get(item_id)
        involved = {*item["memory_ids"], candidate_id(item), *([self.wish.into] if self.wish.into else [])}
        before = changes_of(last["values"]) if last else []
        involved |= {change["memory_id"] for change in before}
        self.involved |= {item_id, *involved}
        wanted = pl.Series(sorted(involved), dtype=pl.String).implode()
        now, said = (_by_id(rows.filter(pl.col("memory_id").is_in(wanted))) for rows in (self.now_states, self.stated))
        if last is not None and self._is_done(item, last, before, said):
            outcome.already += 1
            return None
        is_undone = last is not None and takes_back(self.wish, item, last["command"], before)
        is_unmerged = last is not None and last["command"] == MERGE and item["kind"] == "candidate"
        if last is not None and last["decided_at"] >= self.now:
            return self._refuse(item_id, last["decided_at"], outcome)
        if last is not None and (is_undone or is_unmerged):
            since = [at["memory_id"] for at in before if said[at["memory_id"]]["valid_from"] != last["decided_at"]]
            if since:
                outcome.skipped.append((item_id, f"{since[0]} was changed since it was decided"))
                return None
        changes = undoing_changes(before) if is_undone else self._plan_changes(item, now)
        if is_unmerged:
            changes = undo_merge(changes, before, candidate_id(item))
        if changes and all(holds(change, said.get(change["memory_id"])) for change in changes):
            outcome.already += 1
            return None
        late = [said[change["memory_id"]]["valid_from"] for change in changes if change["memory_id"] in said]
        if max(late, default=datetime.min) >= self.now:  # noqa: DTZ901 - times are naive and hold UTC everywhere
            return self._refuse(item_id, max(late), outcome)
        why_not = self._changed_since(item, last, said if is_undone or is_unmerged else now)
        if why_not:
            outcome.skipped.append((item_id, why_not))
            return None
        return with_before(changes, said)

    def _refuse(self, item_id: str, changed_at: datetime, outcome: Reviewed) -> None:
        says = f"it was changed at {utc_text(changed_at)}, and this machine's clock says {utc_text(self.now)}"
        outcome.refused.append((item_id, f"{says}: set the clock"))

    def decision(self, item_id: str, changes: Sequence[Change], *, by: str, reason: str | None) -> dict[str, Any]:
        """The row of decisions."""
        item, last = self.items[item_id], self.last.get(item_id)
        # the decision before it: promoted, rejected and promoted again on one publish are three decisions
        values = {
            "after": last["decision_id"] if last else None,
            "changes": list(changes),
            **{name: item[name] for name in _ITEM},
        }
        said = {"reason": reason, "changed_by": by}
        kept = {name: item.get(name) for name in _BESIDE}
        return decision(
            self.wish.command,
            "item",
            item_id,
            values,
            kept,
            decided_at=self.now,
            on_run_id=self.published.run_id,
            **said,
        )

    def _is_done(
        self, item: dict[str, Any], last: dict[str, Any], before: Sequence[Change], states: dict[str, dict[str, Any]]
    ) -> bool:
        """Whether the last decision on the item said the same, and still holds."""
        named = {change["memory_id"] for change in before}
        return (
            last["command"] == self.wish.command
            and json.loads(last["values"])["basis"] == item["basis"]
            and {self.wish.memory_id, self.wish.into} <= {None, *named}
            and self.wish.confidence in {None, *(change.get("confidence") for change in before)}
            and self._is_for_whom_it_shall_be(item, states)
            and all(holds(change, states.get(change["memory_id"])) for change in before)
        )

    def _is_for_whom_it_shall_be(self, item: dict[str, Any], states: dict[str, dict[str, Any]]) -> bool:
        """Whether the memory of a candidate is for the user, or for all, as was said; True: nothing was."""
        if self.wish.scope is None:
            return True
        user = states.get(candidate_id(item), {}).get("user_id")
        return user == (owner(item, states) if self.wish.scope == "user" else None)

    def _plan_changes(self, item: dict[str, Any], states: dict[str, dict[str, Any]]) -> list[Change]:
        of_item = self.published.statements.filter(pl.col("item_id") == item["item_id"])
        is_new = item["kind"] == "candidate" and candidate_id(item) not in states
        if is_new and "user_id" not in self.published.queue.columns:
            message = "current was published by a release that did not distinguish users: run `slowwave nightly` first"
            raise UserError(message)
        try:
            return requested_changes(self.wish, item, states, of_item["interaction_id"].to_list())
        except CannotDecideError as error:
            message = f"{item['item_id']} ({item['kind']}): {error} (nothing was changed)"
            raise WrongUseError(message) from error

    def _changed_since(
        self, item: dict[str, Any], last: dict[str, Any] | None, states: dict[str, dict[str, Any]]
    ) -> str | None:
        """Why the item no longer stands: a memory of it was changed since, and not by the last decision on it."""
        for memory_id in item["memory_ids"] or [item["item_id"]]:
            state, shown = states.get(memory_id), self.shown.get(memory_id)
            if last is not None and state is not None and state["valid_from"] == last["decided_at"]:
                continue
            if state is None and not item["memory_ids"]:
                return self._said_since(item)
            if state is None:
                return f"{memory_id} is no longer in the memory log"
            if shown is None:
                return f"{memory_id} was landed since the publish"
            for name in _COMPARED:
                if state[name] != shown[name]:
                    return f"the {name} of {memory_id} changed since the publish"
        return None

    def _said_since(self, item: dict[str, Any]) -> str | None:
        """Why a candidate found in answers is none any more: a memory of its project, for its user, says it by now."""
        user, of_user = item.get("user_id"), pl.col("user_id")
        there = self.now_states.filter(
            pl.col("project") == pl.lit(item["project"]),
            pl.col("content").is_not_null(),
            of_user.is_null() | (of_user == pl.lit(user, dtype=pl.String)).fill_null(value=False),
        )
        wanted = statement_ids(pl.Series("text", [item["text"]]))[0]
        same = there.filter((statement_ids(there["content"]) == wanted).alias("is_same"))
        return f"{same['memory_id'][0]} says it since the publish" if same.height else None
