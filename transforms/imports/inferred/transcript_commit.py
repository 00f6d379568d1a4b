"""`transcript_commit/1`: a turn that committed what it made. Weak: the work was kept, which is not to say right."""

from __future__ import annotations

import re

from slowwave.transforms.imports.adapter import Turn
from slowwave.transforms.imports.inferred.summaries import printed_lines
from slowwave.transforms.imports.inferred.turn_commands import last_run
from slowwave.transforms.imports.inferred.verdicts import Verdict

METHOD = "transcript_commit/1"
_OPTIONS_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree"})
_TAKING_BACK = frozenset({"revert", "reset"})
_COMMITTED = re.compile(r"\[[^\]]*\b([0-9a-f]{7,40})\] ")
_TAKEN_BACK_NEXT = re.compile(r"(?i)\s*(?:no[,.!]?\s+)?(?:please\s+)?(?:revert|undo|roll back)\b")


def transcript_commit(turn: Turn) -> Verdict | None:
    """That a turn succeeded: git committed, and neither a later command of the turn nor the next prompt undoes it."""
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
    return Verdict(is_success=True, evidence=f"committed {said[-1] if said else ''}".rstrip(), call_id=run.call.call_id)


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
