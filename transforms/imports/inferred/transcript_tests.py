"""`transcript_tests/1`: the last run of tests in a turn, by what its runner says of it at the end."""

from __future__ import annotations

from slowwave.transforms.imports.adapter import Turn
from slowwave.transforms.imports.inferred.commands_of_tests import RUNNERS, runners
from slowwave.transforms.imports.inferred.programs import program
from slowwave.transforms.imports.inferred.summaries import Summary, printed_lines, summaries
from slowwave.transforms.imports.inferred.turn_commands import RunLine, last_run
from slowwave.transforms.imports.inferred.verdicts import Verdict

METHOD = "transcript_tests/1"
# What passes on the end of an output, so that a failure of a part, said at the end, is seen.
_KEEPING_THE_END = frozenset({"tail", "tee", "cat"})
_OF_PARTS = frozenset({"go", "cargo", "exunit"})


def transcript_tests(turn: Turn) -> Verdict | None:
    """Whether the tests of a turn passed in the end: some passed and none failed. None: nobody can tell.

    Never by an exit code, and never by a word: by the runner's summary alone, in its own form, where a command of the
    line runs that runner or may start it.
    """
    run = last_run(turn, runners)
    if run is None or run.call.end != "ended" or any(one.is_in_background for one in run.commands):
        return None
    found, is_all_seen = _summaries(run)
    if not found:
        return None
    last = found[-1]
    if not last.failed:
        is_all_seen &= last.is_whole or _is_end_kept(run)
        is_agreed = _is_one_run(run) or not any(one.failed for one in found)
        if not (is_all_seen and is_agreed and last.passed):
            return None
    return Verdict(not last.failed, _said(last), run.call.call_id)


def _is_one_run(run: RunLine) -> bool:
    """Whether there can be one summary only; an earlier one is then what a test printed."""
    wanted = [runners(program(one.words)) for one in run.commands]
    return len(wanted) == len(wanted[0]) == 1 and not next(run.commands).is_repeated


def _summaries(run: RunLine) -> tuple[list[Summary], bool]:
    """What the runners of a line left, in order; and whether each of its runs left something."""
    lines = printed_lines(run.call.output)
    wanted = [runners(program(one.words)) for one in run.commands]
    sure = [names[0] for names in wanted if len(names) == 1]
    found: list[Summary] = []
    is_all_seen = True
    for runner in RUNNERS:
        if any(runner in names for names in wanted):
            left = summaries(runner, lines)
            found += left
            expected = sure.count(runner)
            is_all_seen &= len(left) >= (min(expected, 1) if runner in _OF_PARTS else expected)
    return sorted(found, key=lambda one: one.line), is_all_seen


def _is_end_kept(run: RunLine) -> bool:
    return all(name in _KEEPING_THE_END for one in run.commands for name in one.filters)


def _said(summary: Summary) -> str:
    return f"{summary.runner}: {summary.passed} passed, {summary.failed} failed"
