"""Addresses of the dashboard's views: relative, with what is chosen in the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
