"""Where a view leads: addresses of other views, with what is chosen in the query, and command lines to copy.

Addresses are relative. Command lines are safe to paste into a shell, whatever the ids in them say.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

# a row by column, and from one to the address that it leads to
Row = Mapping[str, Any]
Link = Callable[[Row], str]

# what a row names, by the column that names it: the first of these is what the row is about
_NAMED_BY = {
    "item_id": "item",
    "interaction_id": "interaction",
    "observation_id": "observation",
    "strategy_id": "strategy",
    "error_id": "error",
    "memory_id": "memory",
    "outcome_id": "outcome",
    "run_id": "run",
}
_CASE = ("project", "agent", "task_type")
OPEN, CASE = "open", "case"
"""In an address: the thing that the panel shows, as `slowwave why` takes it; and in which case a strategy."""

# what the bare address shows: it has no path of its own
FIRST_PAGE = "overview"


def view(page: str, /, **chosen: str) -> str:
    """The address of a page with these choices; '' is not chosen."""
    path = "./" if page == FIRST_PAGE else page
    query = urlencode({name: value for name, value in chosen.items() if value}, safe=":")
    return f"{path}?{query}" if query else path


def project_view(page: str, project: str | None, /, **chosen: str) -> str:
    """The same with a project chosen: None is all, '' what belongs to none."""
    if project is None:
        return view(page, **chosen)
    return view(page, **({"project": project} if project else {"no_project": "yes"}), **chosen)


def opened_by(row: Row) -> dict[str, str]:
    """What the address says so that the panel shows the thing that a row names; nothing where it names none."""
    name = next((name for name in _NAMED_BY if row.get(name)), "")
    if not name:
        return {}
    case = {of: row[of] for of in _CASE if row.get(of)} if name == "strategy_id" else {}
    return {OPEN: f"{_NAMED_BY[name]}:{row[name]}"} | ({CASE: urlencode(case)} if case else {})


def memory_link(memory_id: str) -> str:
    """The page of one memory."""
    return view("memory", memory_id=memory_id)


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
