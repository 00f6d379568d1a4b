"""Addresses of the dashboard's views: relative, with what is chosen in the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

# a row by column, and from one to the address that it leads to
Row = Mapping[str, Any]
Link = Callable[[Row], str]

# what the bare address shows: it has no path of its own
FIRST_PAGE = "overview"


def view(page: str, **chosen: str) -> str:
    """The address of a page with these choices; '' is not chosen."""
    path = "./" if page == FIRST_PAGE else page
    query = urlencode({name: value for name, value in chosen.items() if value})
    return f"{path}?{query}" if query else path


def project_view(page: str, project: str | None, **chosen: str) -> str:
    """The same with a project chosen: None is all, '' what belongs to none."""
    if project is None:
        return view(page, **chosen)
    return view(page, **({"project": project} if project else {"no_project": "yes"}), **chosen)


def memory_link(memory_id: str) -> str:
    """The page of one memory."""
    return view("memory", memory_id=memory_id)
