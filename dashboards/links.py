"""Addresses of the dashboard's views: relative, with what is chosen in the query."""

from __future__ import annotations

from urllib.parse import urlencode


def view(page: str, **chosen: str) -> str:
    """The address of a page with these choices; '' is not chosen."""
    query = urlencode({name: value for name, value in chosen.items() if value})
    return f"{page}?{query}" if query else page


def memory_link(memory_id: str) -> str:
    """The page of one memory."""
    return view("memory", memory_id=memory_id)
