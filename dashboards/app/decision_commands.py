"""Decisions of the dashboard: each is the `slowwave` command that its page shows, run in a process of its own.

What a button does is what the command does, lock, checks and landed rows included; and no script of a page that its
reader leaves can stop it half-way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.dashboards.links import whole_command_line
from slowwave.dashboards.words import number_of
from slowwave.flows.ask.cells import cell_text
from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.flows.kernel.terminal import shorten_to_width
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.blank import says_nothing
from slowwave.transforms.decisions.review.changes import REVIEWS

_SECONDS_FOR_ANOTHER_WRITER = 5
_SECONDS = 300
_LONGEST_MESSAGE = 2_000
_CUT_SHORT = "the command ended before it said what it did: `slowwave memory show` says whether it has landed"
_DONE = {"promote": "promoted", "reject": "rejected", "merge": "merged"}
_REVERSE = {"promote": "reject", "reject": "promote", "merge": "reject"}
_ON_HOLD = {"hold": "yes", "release": "no"}
_YES_NO = {True: "yes", False: "no"}


@dataclass(frozen=True)
class DecisionCommand:
    """A `slowwave` command by which somebody decides: `review promote`, its targets and options by name."""

    group: str
    verb: str
    targets: Sequence[str]
    options: Mapping[str, str] = field(default_factory=dict)
    expect: str = ""  # what it is refused without, see `flows/decide/decisions.py`; '' nothing

    @property
    def line(self) -> str:
        """The command to copy, as `whole_command_line` gives it."""
        many = {"yes": True} if len(self.targets) > 1 else {}
        return whole_command_line(self.group, self.verb, *self.targets, **self.options, **many)

    def answer(self, *more: str) -> dict[str, Any]:
        """What the command says, with `more` options, that it did, or would do.

        Raises UserError with what it says where it fails, or where it ended before it had said all.
        """
        said, text = [], ""
        for name, value in self.options.items():
            if name == "content":  # longer than an argument may be
                said, text = [*said, "--content=-"], f"{value}\n"
            else:
                said.append(f"--{name}={value}")
        if self.group != "forget":
            said.append("--yes")
        if self.verb in _ON_HOLD:  # a project may have the same name
            said.append("--kind=memory")
        said += [f"--expect={self.expect}"] if self.expect else []
        how = ["--format=json", f"--wait={_SECONDS_FOR_ANOTHER_WRITER}"]
        return _parse_answer(_run_command([self.group, self.verb, *said, *more, *how, "--", *self.targets], text))


@dataclass(frozen=True)
class CommandPreview:
    """What a command would change now: memory, field, what it says and will say; and what stays undone, and why.

    `expect`: lands nothing else than that.
    """

    changes: Sequence[tuple[str, str, str, str]]
    notes: Sequence[str]
    expect: str


@dataclass(frozen=True)
class LandedDecision:
    """What became of a command, in words, and the one that takes it back; None: there is nothing to take back."""

    says: str
    undo: DecisionCommand | None


def decided_since(as_of: datetime) -> dict[str, str]:
    """What was said last of each item since a publish as of then: `promoted by ada`.

    Raises UserError where decisions in the lake cannot be read.
    """
    try:
        decided = landed_decisions(Lake(settings_from_environment().lake_folder))
        since = decided.filter(pl.col("command").is_in(REVIEWS), pl.col("decided_at") >= as_of).sort("decided_at")
        rows = since.collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        message = "what was decided since the publish cannot be read: `slowwave doctor` says which file is damaged"
        raise UserError(message) from error
    return {
        row["target"]: f"{_DONE[row['command'].removeprefix('review ')]} by {row['changed_by']}"
        for row in rows.iter_rows(named=True)
    }


def preview_decision(command: DecisionCommand) -> CommandPreview:
    """What a command would change.

    Raises UserError where it may not, something else was decided than it expects, or another command is writing.
    """
    asked = ["--reason=shown"] if command.verb in _ON_HOLD else []
    told = command.answer("--dry-run", *asked)
    if command.group == "forget":
        (memory_id,) = command.targets
        return CommandPreview(*_previewed_forgetting(command.verb, memory_id, told), told["expect"])
    if command.group == "memory":
        changes = [
            (told["memory_id"], name, _text(was), _text(will_be)) for name, (was, will_be) in told["changed"].items()
        ]
        notes = [_undone_words(told["undoes"])] if told["undoes"] else []
        return CommandPreview(changes, notes if changes else ["it is so already"], told["expect"])
    changes = [
        (change["memory_id"], name, _before(change, name), _text(value))
        for change in told["changes"]
        for name, value in {**change, **dict.fromkeys(change.get("clears") or [])}.items()
        if name not in {"memory_id", "before", "clears"}
    ]
    notes = [*(f"{memory_id} stays as it is" for memory_id in told["kept"]), *_skipped_words(told)]
    return CommandPreview(changes, notes, told["expect"])


def land_decision(command: DecisionCommand, previewed: CommandPreview, *, by: str, reason: str) -> LandedDecision:
    """Run a command as `by` says, for this reason ('' none).

    Raises UserError where nobody is named, or it may not be, would change something else than was `previewed`, or
    another command is writing: then nothing was changed.
    """
    if says_nothing(by):
        message = "say who decides (nothing was changed)"
        raise UserError(message)
    if command.verb in _ON_HOLD and says_nothing(reason):
        message = "say why (nothing was changed)"
        raise UserError(message)
    who = [f"--by={by}", *([] if says_nothing(reason) else [f"--reason={reason}"])]
    told = replace(command, expect=previewed.expect).answer(*who)
    after = told["expect"]
    if command.group == "forget":
        reverse = {"hold": ("forget", "release"), "release": ("forget", "hold"), "restore": ("memory", "archive")}
        is_new = told["restored"] if command.verb == "restore" else told["is_changed"]
        undo = DecisionCommand(*reverse[command.verb], command.targets, command.options, after) if is_new else None
        return LandedDecision(_forgetting_words(told), undo)
    if command.group == "memory":
        is_new = told["changed"] and command.verb != "undo"
        says = f"{command.verb} of {told['memory_id']} has landed" if told["changed"] else "it was so already"
        undo = DecisionCommand("memory", "undo", command.targets, expect=after) if is_new else None
        return LandedDecision(says, undo)
    if told["refused"] and not told["decided"]:
        raise UserError(". ".join(_skipped_words(told)))
    says = ". ".join([f"{_DONE[command.verb]} {number_of(len(told['decided']), 'item')}", *_skipped_words(told)])
    undo = DecisionCommand("review", _REVERSE[command.verb], told["changed"], expect=after) if told["changed"] else None
    return LandedDecision(says, undo)


def _undone_words(undone: Mapping[str, str]) -> str:
    when = utc_text(datetime.fromisoformat(undone["decided_at"]))
    return f"it takes back the `{undone['command']}` of {when} by {undone['changed_by']}"


def _forgetting_words(told: Mapping[str, Any]) -> str:
    if "says" in told:
        return told["says"]
    return ". ".join(
        [f"restored {number_of(len(told['restored']), 'memory', 'memories')}", *_skipped_words(told, "memory")]
    )


def _previewed_forgetting(
    verb: str, memory_id: str, told: Mapping[str, Any]
) -> tuple[list[tuple[str, str, str, str]], list[str]]:
    """Of a hold or release whether the memory is on hold; of what was archived which status it had before."""
    if verb in _ON_HOLD:
        was, will_be = _YES_NO[told["was_held"]], _ON_HOLD[verb]
        return [(memory_id, "on hold", was, will_be)] * (was != will_be), [told["says"]]
    shown = _parse_answer(_run_command(["memory", "show", "--format=json", "--", memory_id]))
    statuses = [change["changed"]["status"] for change in shown["changes"] if "status" in change["changed"]]
    if statuses[0][1] != "archived":
        message = f"{memory_id} is not archived (nothing was changed)"
        raise UserError(message)
    return [(memory_id, "status", "archived", _text(statuses[0][0]))], _skipped_words(told, "memory")


def _before(change: Mapping[str, Any], name: str) -> str:
    """What a memory said before a change of review; '' where that is not told."""
    return _text(change["before"][name]) if change["before"] and name in change["before"] else ""


def _skipped_words(told: Mapping[str, Any], thing: str = "item") -> list[str]:
    """What a command left as it was, and why."""
    already = [f"{number_of(told['already'], thing)} already so"] if told["already"] else []
    return [*already, *(f"{one[f'{thing}_id']}: {one['reason']}" for one in [*told["skipped"], *told["refused"]])]


def _text(value: object) -> str:
    return "none" if value in (None, "", []) else cell_text(value)


def _parse_answer(printed: str) -> dict[str, Any]:
    """What a command printed as JSON. Raises UserError where it ended before it had said all."""
    try:
        return json.loads(printed)
    except json.JSONDecodeError as error:
        raise UserError(_CUT_SHORT) from error


def _run_command(arguments: Sequence[str], text: str = "") -> str:
    """What a `slowwave` command prints, given this text; of one that refused only some, all the same."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell: what a person typed is one argument each
            [sys.executable, "-P", "-m", "slowwave.flows.cli.main", *arguments],
            input=text,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError) as error:  # an id of megabytes, or with a zero byte in it
        message = "this cannot be said on a command line (nothing was changed)"
        raise UserError(message) from error
    except subprocess.TimeoutExpired as error:
        message = f"stopped after {_SECONDS} seconds: `slowwave memory show` says whether it has landed"
        raise UserError(message) from error
    if done.returncode and not done.stdout:
        lines = done.stderr.rpartition("Error: ")[2].splitlines()
        said = [line.removeprefix("slowwave: ") for line in lines if not line.startswith("slowwave: waiting for ")]
        raise UserError(shorten_to_width(" ".join(" ".join(said).split()), _LONGEST_MESSAGE) or _CUT_SHORT)
    return done.stdout
