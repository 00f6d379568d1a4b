"""Outcomes of a turn that nobody reported, as rows for landing: by rules that say of which method they are.

Where a rule cannot tell, there is no row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from slowwave.transforms.imports.adapter import Call, Turn
from slowwave.transforms.imports.inferred.programs import TEST_RUNNERS, is_build, program_words, test_runners
from slowwave.transforms.imports.inferred.shell_lines import ShellCommand, ShellLine, shell_line
from slowwave.transforms.imports.inferred.summaries import Summary, printed_lines, summaries


@dataclass(frozen=True)
class TurnVerdict:
    """`evidence`: in words, what the rule goes by. `call_id`: of the tool call that it is, '' where it is none.

    `is_attempt`: None where the rule does not say.
    """

    is_success: bool
    evidence: str
    call_id: str = ""
    is_attempt: bool | None = None


@dataclass(frozen=True)
class RunLine:
    """A call that ran a shell line, the line read, and the places of the commands that were looked for."""

    call: Call
    line: ShellLine
    places: tuple[int, ...]

    @property
    def commands(self) -> Iterator[ShellCommand]:
        """The commands that were looked for."""
        return (self.line.commands[place] for place in self.places)


def last_run(turn: Turn, is_wanted: Callable[[tuple[str, ...]], object]) -> RunLine | None:
    """Return the last call of the turn whose line runs such a program; None where there is none, or one may be unseen.

    A call that was refused, or never ran because another failed, is none; one that was interrupted is. A line that
    cannot be read may run anything: what ran before it was perhaps not the last.
    """
    for call in reversed(turn.calls):
        if not call.command or call.end in {"refused", "cascade"}:
            continue
        line = shell_line(call.command)
        if line is None:
            return None
        places = tuple(place for place, words in enumerate(line.programs) if is_wanted(words))
        if places:
            return RunLine(call, line, places)
    return None


# A turn that ended with an error of the model's API was no attempt.
APIERROR_METHOD = "transcript_apierror/1"


def transcript_apierror(turn: Turn) -> TurnVerdict | None:
    """Return that a turn was no attempt, since the API failed it."""
    if turn.end != "api_error":
        return None
    return TurnVerdict(is_success=False, evidence="the API failed", is_attempt=False)


# A turn that the person ended, refused or took back was no attempt.
INTERRUPT_METHOD = "transcript_interrupt/1"


def is_taken_back(turn: Turn) -> bool:
    """Whether the person went back behind a turn when it was over."""
    return turn.fields.get("branch") == "abandoned"


def transcript_interrupt(turn: Turn) -> TurnVerdict | None:
    """Return that a turn was no attempt: interrupted, ended by a refusal of its last call, or rolled back.

    A call that was refused, after which the agent went on, decides nothing. Never a failure.
    """
    last = turn.calls[-1] if turn.calls else None
    if last is not None and last.end in {"refused", "interrupted"}:
        said = "refused" if last.end == "refused" else "interrupted"
        return TurnVerdict(
            is_success=False, evidence=f"the last call was {said}", call_id=last.call_id, is_attempt=False
        )
    if turn.end == "interrupted":
        return TurnVerdict(is_success=False, evidence="the person interrupted it", is_attempt=False)
    if is_taken_back(turn):
        return TurnVerdict(is_success=False, evidence="the person took it back", is_attempt=False)
    return None


# The last run of tests in a turn, by what its runner says of it at the end.
TESTS_METHOD = "transcript_tests/1"
# What passes on the end of an output, so that a failure of a part, said at the end, is seen.
_KEEPING_THE_END = frozenset({"tail", "tee", "cat"})
_OF_PARTS = frozenset({"go", "cargo", "exunit"})


def transcript_tests(turn: Turn) -> TurnVerdict | None:
    """Return whether the tests of a turn passed in the end: some passed and none failed. None: nobody can tell.

    Never by an exit code, and never by a word: by the runner's summary alone, in its own form, where a command of the
    line runs that runner or may start it.
    """
    run = last_run(turn, test_runners)
    if run is None or run.call.end != "ended" or any(one.is_in_background for one in run.commands):
        return None
    found, is_all_seen = _run_summaries(run)
    if not found:
        return None
    last = found[-1]
    if not last.failed:
        is_all_seen &= last.is_whole or _is_end_kept(run)
        is_agreed = _is_one_run(run) or not any(one.failed for one in found)
        if not (is_all_seen and is_agreed and last.passed):
            return None
    return TurnVerdict(not last.failed, _test_evidence(last), run.call.call_id)


def _is_one_run(run: RunLine) -> bool:
    """Whether there can be one summary only; an earlier one is then what a test printed."""
    wanted = [test_runners(program_words(one.words)) for one in run.commands]
    return len(wanted) == len(wanted[0]) == 1 and not next(run.commands).is_repeated


def _run_summaries(run: RunLine) -> tuple[list[Summary], bool]:
    """What the runners of a line left, in order; and whether each of its runs left something."""
    lines = printed_lines(run.call.output)
    wanted = [test_runners(program_words(one.words)) for one in run.commands]
    sure = [names[0] for names in wanted if len(names) == 1]
    found: list[Summary] = []
    is_all_seen = True
    for runner in TEST_RUNNERS:
        if any(runner in names for names in wanted):
            left = summaries(runner, lines)
            found += left
            expected = sure.count(runner)
            is_all_seen &= len(left) >= (min(expected, 1) if runner in _OF_PARTS else expected)
    return sorted(found, key=lambda one: one.line), is_all_seen


def _is_end_kept(run: RunLine) -> bool:
    return all(name in _KEEPING_THE_END for one in run.commands for name in one.filters)


def _test_evidence(summary: Summary) -> str:
    return f"{summary.runner}: {summary.passed} passed, {summary.failed} failed"


# The last build, lint or type check of a turn, by an exit code that is its own.
BUILD_METHOD = "transcript_build/1"
# Commands that practically never fail, so that beside a build the failure is the build's.
_HARMLESS = frozenset(
    {"cd", "export", "set", "source", ".", "echo", "printf", "true", ":", "pushd", "tail", "tee", "cat"}
)
_NOT_RUN_FROM = 124  # exit codes of a time limit, of what is not there, and of signals
# What says that the build was not there to be run.
_NOT_RUN = re.compile(
    r"(?i)(?:.*: command not found|npm (?:err!|error) missing script|.*no rule to make target"
    r"|.*: no module named |.*\bcd: .*no such file|error: no such command|.*err_pnpm_no_script"
    r"|error: (?:unexpected argument|unrecognized|unknown option)"
    r"|.*: error: (?:unrecognized arguments|the following arguments))"
)
_LINES = 40  # looked at from each end


def transcript_build(turn: Turn) -> TurnVerdict | None:
    """Return whether the last build, lint or type check of a turn went well.

    None: its exit code is unknown or not its own.
    """
    run = last_run(turn, is_build)
    if run is None or run.call.end != "ended" or run.call.exit_code is None:
        return None
    last = run.places[-1]
    words = run.line.programs[last]
    said = " ".join([*words[:2], "ended with", str(run.call.exit_code)])
    if run.call.exit_code == 0:
        is_told = last in run.line.ok_if_zero
    else:
        is_told = _is_failure_its_own(run, last) and run.call.exit_code < _NOT_RUN_FROM and not _is_not_run(run)
    return TurnVerdict(run.call.exit_code == 0, said, run.call.call_id) if is_told else None


def _is_failure_its_own(run: RunLine, last: int) -> bool:
    failed = run.line.failed_if_not
    if failed is None or last not in failed:
        return False
    others = (run.line.commands[place].words[0] for place in failed.difference(run.places))
    return all(name in _HARMLESS for name in others)


def _is_not_run(run: RunLine) -> bool:
    lines = printed_lines(run.call.output)
    return any(_NOT_RUN.match(line[:400]) for line in [*lines[:_LINES], *lines[-_LINES:]])


# A turn that committed what it made. Weak: the work was kept, which is not to say right.
COMMIT_METHOD = "transcript_commit/1"
_OPTIONS_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_TAKING_BACK = frozenset({"revert", "reset"})
_COMMITTED = re.compile(r"\[[^\]]*\b([0-9a-f]{7,40})\] ")
_TAKEN_BACK_NEXT = re.compile(r"(?i)\s*(?:no[,.!]?\s+)?(?:please\s+)?(?:revert|undo|roll back)\b")


def transcript_commit(turn: Turn) -> TurnVerdict | None:
    """Return that a turn succeeded: git committed, and neither a later command nor the next prompt undoes it."""
    run = last_run(turn, git_command)
    if run is None or run.call.end != "ended" or _TAKEN_BACK_NEXT.match(turn.next_prompt or ""):
        return None
    last = run.places[-1]
    words = run.line.programs[last]
    if git_command(words) in _TAKING_BACK or "--dry-run" in words:
        return None
    said = [found[1] for line in printed_lines(run.call.output) if (found := _COMMITTED.match(line))]
    is_silent = not said and run.call.exit_code == 0 and last in run.line.ok_if_zero
    if not said and not is_silent:
        return None
    return TurnVerdict(
        is_success=True, evidence=f"committed {said[-1] if said else ''}".rstrip(), call_id=run.call.call_id
    )


def git_command(words: tuple[str, ...]) -> str:
    """`commit` or what takes commits back, if git is called for it; else ''."""
    if words[:1] != ("git",):
        return ""
    rest = list(words[1:])
    while rest and rest[0][:1] == "-":
        rest = rest[2:] if rest[0] in _OPTIONS_WITH_VALUE else rest[1:]
    if not rest:
        return ""
    if rest[0] == "reset":
        # a reset to where the branch is only empties the index
        targets = [word for word in rest[1:] if word[:1] != "-"]
        return "reset" if any("~" in word or "^" in word or "@{" in word for word in targets[:1]) else ""
    return rest[0] if rest[0] in {"commit", "revert"} else ""


# What the person says next begins with a correction. Weak, and off by default.
CORRECTION_METHOD = "transcript_correction/1"
_CORRECTION = re.compile(
    r"(?i)\s*(?:no[,.!:;]\s|nope\b|wrong\b"
    r"|that(?:'|\u2019)?s (?:wrong|not (?:right|what|correct|it))\b|that is (?:wrong|not)\b"
    r"|(?:it |this |that )?still (?:does(?: not|n(?:'|\u2019)?t)|not|fails?|failing|broken|getting|the same)\b"
    r"|(?:it |this |that )(?:does(?: not|n(?:'|\u2019)?t)|did(?: not|n(?:'|\u2019)?t)) (?:work|help|compile|fix)\b"
    r"|(?:please )?(?:revert|undo)\b|you (?:broke|forgot|misunderstood|missed)\b)"
)


def transcript_correction(turn: Turn) -> TurnVerdict | None:
    """Return that a turn failed, since the person's next words begin with a correction."""
    if turn.next_prompt is None or not _CORRECTION.match(turn.next_prompt):
        return None
    return TurnVerdict(is_success=False, evidence="the next prompt begins with a correction")


_Rule = Callable[[Turn], TurnVerdict | None]
# Whether a turn was an attempt at all; where it was none, nothing else is said of it.
_ATTEMPT_RULES: dict[str, _Rule] = {
    INTERRUPT_METHOD: transcript_interrupt,
    APIERROR_METHOD: transcript_apierror,
}
_SUCCESS_RULES: dict[str, _Rule] = {
    TESTS_METHOD: transcript_tests,
    BUILD_METHOD: transcript_build,
    COMMIT_METHOD: transcript_commit,
}
_CORRECTION_RULES: dict[str, _Rule] = {CORRECTION_METHOD: transcript_correction}


def inferred_outcomes(turn: Turn, *, corrections: bool = False) -> list[dict[str, Any]]:
    """Return what the rules say of a turn that is over, one row for each rule that can tell.

    Args:
        turn: the turn; of its calls the exit code is None where nobody knows it (run in the background, for one).
        corrections: whether what the person said next is looked at too.

    Returns rows of `outcomes` under the contract's names, with `basis` and `basis_method`; `evidence` and
    `evidence_call_id` say by what a rule went. A turn that was no attempt has `attempted` false and no other row; one
    that was taken back when it was over has all its rows, which may have landed before, and none is an attempt.
    """
    if turn.end == "open":
        return []
    verdicts = _judge(turn, _ATTEMPT_RULES)
    if not verdicts or is_taken_back(turn):
        of_success = _judge(turn, _SUCCESS_RULES | (_CORRECTION_RULES if corrections else {}))
        if verdicts:
            of_success = {method: replace(one, is_attempt=False) for method, one in of_success.items()}
        verdicts |= of_success
    return [_outcome_row(turn, method, verdict) for method, verdict in verdicts.items()]


def with_needed_outputs(calls: Iterable[Call]) -> list[Call]:
    """Return the calls without the outputs that no rule looks at, which are most of a transcript."""
    return [call if _is_output_needed(call) else call._replace(output="") for call in calls]


def _is_output_needed(call: Call) -> bool:
    line = shell_line(call.command) if call.command and call.output else None
    programs = line.programs if line else ()
    return any(test_runners(words) or is_build(words) or git_command(words) for words in programs)


def _judge(turn: Turn, rules: dict[str, _Rule]) -> dict[str, TurnVerdict]:
    return {method: verdict for method, rule in rules.items() if (verdict := rule(turn)) is not None}


def _outcome_row(turn: Turn, method: str, verdict: TurnVerdict) -> dict[str, Any]:
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
