"""`transcript_build/1`: the last build, lint or type check of a turn, by an exit code that is its own."""

from __future__ import annotations

import re

from slowwave.transforms.imports.adapter import Turn
from slowwave.transforms.imports.inferred.commands_of_builds import is_build
from slowwave.transforms.imports.inferred.summaries import printed_lines
from slowwave.transforms.imports.inferred.turn_commands import RunLine, last_run
from slowwave.transforms.imports.inferred.verdicts import Verdict

METHOD = "transcript_build/1"
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


def transcript_build(turn: Turn) -> Verdict | None:
    """Whether the last build, lint or type check of a turn went well. None: its exit code is unknown or not its own."""
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
    return Verdict(run.call.exit_code == 0, said, run.call.call_id) if is_told else None


def _is_failure_its_own(run: RunLine, last: int) -> bool:
    failed = run.line.failed_if_not
    if failed is None or last not in failed:
        return False
    others = (run.line.commands[place].words[0] for place in failed.difference(run.places))
    return all(name in _HARMLESS for name in others)


def _is_not_run(run: RunLine) -> bool:
    lines = printed_lines(run.call.output)
    return any(_NOT_RUN.match(line[:400]) for line in [*lines[:_LINES], *lines[-_LINES:]])
