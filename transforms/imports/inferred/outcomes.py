"""The outcomes of a turn that nobody reported, as rows for landing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from slowwave.transforms.imports.adapter import Call, Turn
from slowwave.transforms.imports.inferred import (
    transcript_apierror,
    transcript_build,
    transcript_commit,
    transcript_correction,
    transcript_interrupt,
    transcript_tests,
)
from slowwave.transforms.imports.inferred.commands_of_builds import is_build
from slowwave.transforms.imports.inferred.commands_of_tests import runners
from slowwave.transforms.imports.inferred.shell_lines import shell_line
from slowwave.transforms.imports.inferred.transcript_commit import git_command
from slowwave.transforms.imports.inferred.transcript_interrupt import is_taken_back
from slowwave.transforms.imports.inferred.verdicts import Verdict

_Rule = Callable[[Turn], Verdict | None]
# Whether a turn was an attempt at all; where it was none, nothing else is said of it.
_OF_ATTEMPTS: dict[str, _Rule] = {
    transcript_interrupt.METHOD: transcript_interrupt.transcript_interrupt,
    transcript_apierror.METHOD: transcript_apierror.transcript_apierror,
}
_OF_SUCCESS: dict[str, _Rule] = {
    transcript_tests.METHOD: transcript_tests.transcript_tests,
    transcript_build.METHOD: transcript_build.transcript_build,
    transcript_commit.METHOD: transcript_commit.transcript_commit,
}
_OF_CORRECTIONS: dict[str, _Rule] = {transcript_correction.METHOD: transcript_correction.transcript_correction}


def inferred_outcomes(turn: Turn, *, corrections: bool = False) -> list[dict[str, Any]]:
    """What the rules say of a turn that is over, one row for each rule that can tell.

    Args:
        turn: the turn; of its calls the exit code is None where nobody knows it (run in the background, for one).
        corrections: whether what the person said next is looked at too.

    Returns rows of `outcomes` under the contract's names, with `basis` and `basis_method`; `evidence` and
    `evidence_call_id` say by what a rule went. A turn that was no attempt has `attempted` false and no other row; one
    that was taken back when it was over has all its rows, which may have landed before, and none is an attempt.
    """
    if turn.end == "open":
        return []
    verdicts = _verdicts(turn, _OF_ATTEMPTS)
    if not verdicts or is_taken_back(turn):
        of_success = _verdicts(turn, _OF_SUCCESS | (_OF_CORRECTIONS if corrections else {}))
        if verdicts:
            of_success = {method: replace(one, is_attempt=False) for method, one in of_success.items()}
        verdicts |= of_success
    return [_row(turn, method, verdict) for method, verdict in verdicts.items()]


def with_needed_outputs(calls: Iterable[Call]) -> list[Call]:
    """The calls without the outputs that no rule looks at, which are most of a transcript."""
    return [call if _is_output_needed(call) else call._replace(output="") for call in calls]


def _is_output_needed(call: Call) -> bool:
    line = shell_line(call.command) if call.command and call.output else None
    programs = line.programs if line else ()
    return any(runners(words) or is_build(words) or git_command(words) for words in programs)


def _verdicts(turn: Turn, rules: dict[str, _Rule]) -> dict[str, Verdict]:
    return {method: verdict for method, rule in rules.items() if (verdict := rule(turn)) is not None}


def _row(turn: Turn, method: str, verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {
        "outcome_id": f"{turn.interaction_id}:{method}",
        "interaction_id": turn.interaction_id,
        "created_at": turn.created_at,
        "recorded_at": turn.ended_at,
        "project": turn.project,
        "agent": turn.agent,
        "session_id": turn.session_id,
        "success": verdict.is_success,
        "attempted": verdict.is_attempt,
        "error_message": None if verdict.is_success else verdict.evidence,
        "duration_ms": turn.duration_ms,
        "basis": "inferred",
        "basis_method": method,
        "evidence": verdict.evidence,
        "evidence_call_id": verdict.call_id,
    }
    return {name: value for name, value in row.items() if value not in (None, "")}
