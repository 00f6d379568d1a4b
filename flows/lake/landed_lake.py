"""The lake as commands open it that need what has been landed."""

from __future__ import annotations

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.progress import this_command
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake


def landed_lake(settings: Settings) -> Lake:
    """The lake; raises UserError where there is none yet, or when a newer version wrote it."""
    lake = Lake(settings.lake_folder)
    if not lake.is_there():
        message = f"nothing has been landed in {settings.home} yet: run `{this_command()} land PATH` first"
        raise UserError(message)
    lake.check_format()
    return lake
