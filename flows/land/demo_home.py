"""Which homes hold sample logs: noted in a file, so that sample rows and real ones never meet."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.kernel.times import day_start
from slowwave.flows.land.inbox import inbox_deliveries

if TYPE_CHECKING:
    from slowwave.flows.kernel.progress import Screen

_NOTE = "demo.json"


def claim_for_demo(settings: Settings, *, seed: int, days: int) -> None:
    """Note that this home holds the sample logs of `seed` and `days`, before any of them is written.

    Raises UserError when it holds anything else: rows are never removed, so they could not be taken apart again.
    """
    from slowwave.flows.kernel.store import write_durably

    wanted = {"seed": seed, "days": days}
    noted = _read_note(settings)
    if noted is None:
        if storage_of(settings.lake_folder).exists(settings.lake_folder / "FORMAT") or inbox_deliveries(settings.inbox):
            message = (
                f"{settings.home} holds logs of its own, and sample logs must not be mixed with them: "
                "set SLOWWAVE_HOME to a new folder for the demo"
            )
            raise UserError(message)
        write_durably(settings.home / _NOTE, lambda aside: aside.write_text(json.dumps(wanted) + "\n") and None)
    elif noted != wanted:
        had = ", ".join(f"{name} {value}" for name, value in noted.items())
        message = f"{settings.home} holds another demo ({had}): set SLOWWAVE_HOME to a new folder"
        raise UserError(message)


def midnight_after(days: int) -> datetime:
    """The midnight at which so many days of sample logs end."""
    from slowwave.data.sample import FIRST_DAY

    return day_start(FIRST_DAY) + timedelta(days=days)


def sample_end(settings: Settings) -> datetime | None:
    """The midnight at which the sample logs of this home end; None where it holds others."""
    days = (_read_note(settings) or {}).get("days")
    return midnight_after(days) if isinstance(days, int) else None


def demo_note(settings: Settings, screen: Screen) -> None:
    """Remind whoever lands into a home of sample logs."""
    if _read_note(settings) is not None:
        screen.note(f"{settings.home} holds the sample logs of the demo: keep your own logs in another SLOWWAVE_HOME")


def _read_note(settings: Settings) -> dict[str, int] | None:
    try:
        return dict(json.loads((settings.home / _NOTE).read_text()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        return {}
