"""Command lines for a person to copy: safe to paste into a shell, whatever the ids in them say."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 250


def command_line(*words: str, **options: str | bool | Sequence[str]) -> str:
    """As `whole_command_line`, but '' too where the line would be too long to be shown beside others."""
    line = whole_command_line(*words, **options)
    return line if len(line) <= _LONGEST else ""


def whole_command_line(*words: str, **options: str | bool | Sequence[str]) -> str:
    """`slowwave` with these words and options, quoted for a shell; '' where that cannot be copied safely.

    That is so where a word is empty, begins with a dash (an option to us), or holds what does not print, such as an
    escape sequence or a mark that turns text round.
    """
    said = [*words]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        values = [value] if isinstance(value, str) else [] if isinstance(value, bool) else value
        said += [part for each in values for part in (option, each)] or ([option] if value else [])
        words = (*words, *values)
    line = shlex.join(["slowwave", *said])
    is_safe = all(word and word.isprintable() and not word.startswith("-") for word in words)
    return line if is_safe else ""


def case_command(strategy: str, row: Mapping[str, Any]) -> str:
    """Return the command that explains a strategy in the project, agent and kind of task of a row; '' as above.

    Where these cannot be copied, the command is without them.
    """
    case = {name: row[name] for name in ("project", "agent", "task_type") if row[name]}
    return command_line("why", strategy, **case) or command_line("why", strategy)
