"""Where `slowwave why` says to look next: a page of the dashboard, and commands that can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slowwave.dashboards.commands import command_line
from slowwave.dashboards.links import view

Record = dict[str, Any]

_LONGEST = 87  # a command that is longer does not fit beside its label


def look_next(page: str, commands: Sequence[str], **chosen: str) -> list[str]:
    """Return the line of a dashboard page, with what is chosen there, and those commands that can be copied whole.

    `open`, as `KIND:ID`, is what the page shows beside it.
    """
    address = f"slowwave dashboard, page {view(page, **chosen)}"
    lines = [address if len(address) <= _LONGEST else f"slowwave dashboard, page {view(page)}", *commands]
    return [line for line in lines if line and len(line) <= _LONGEST]


def why_command(id_: str, *, is_all: bool = False) -> str:
    """Return the command that asks about an id; '' where it cannot be copied."""
    return command_line("why", id_, all=is_all)


def all_command(found: Record, id_: str) -> str:
    """Return the command that prints everything about what was found under an id."""
    return why_command(f"{found['kind']}:{id_}" if found["also"] else id_, is_all=True)
