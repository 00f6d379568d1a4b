"""What a receiver notes of itself in the lock that it holds: others see how it goes, also when it has ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from slowwave.flows.kernel.lock import note_receiver, receiver
from slowwave.flows.kernel.settings import Settings


@dataclass(frozen=True)
class Noted:
    """Rows since it began; times as ISO 8601, '' for none.

    `address`: where it listens. `taken`, `refused`: rows, spans and log records. `received_at`: of the last that was
    taken. `failing`: why nothing can be kept now. `stopped_at`: it was told to end then.
    """

    address: str = ""
    taken: int = 0
    refused: int = 0
    received_at: str = ""
    failing: str = ""
    stopped_at: str = ""


@dataclass(frozen=True)
class Latest:
    """The receiver that began last: its process, since when (as text), what it noted, and whether it runs."""

    process: int
    since: str
    noted: Noted
    is_running: bool


def note(settings: Settings, noted: Noted) -> None:
    """Note it, where this process is the home's receiver. Raises OSError."""
    note_receiver(settings, {"noted": asdict(noted)})


def latest_receiver(settings: Settings) -> Latest | None:
    """The receiver that began last in a home; None where there never was one. Raises OSError."""
    said, is_running = receiver(settings)
    if not said and not is_running:
        return None
    stated = said.get("noted")
    known: dict[str, Any] = stated if isinstance(stated, dict) else {}
    noted = {one.name: known[one.name] for one in fields(Noted) if type(known.get(one.name)) is type(one.default)}
    return Latest(int(said.get("pid", 0)), str(said.get("since", "")), Noted(**noted), is_running)
