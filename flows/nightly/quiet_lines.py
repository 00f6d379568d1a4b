"""What nightly's screen says first of a log that ended long before the publish."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import duckdb

from slowwave.flows.kernel.progress import Lines, this_command
from slowwave.flows.kernel.quiet_log import quiet_log_text

_NEWEST = """
SELECT max(newest_at), max(newest_recorded_at) FROM landed_days WHERE landed_table IN ('interactions', 'outcomes')
"""


def quiet_lines(serving: Path, as_of: datetime) -> Lines:
    """Label and text of each line; none where something happened in the last 30 days."""
    with duckdb.connect(serving, read_only=True) as connection:
        ((newest_at, recorded_at),) = connection.execute(_NEWEST).fetchall()
    says, command = quiet_log_text(as_of, newest_at, recorded_at)
    lines = [("old log", says)] if says else []
    return (
        [*lines, ("", f"to publish it as of its end: {command.replace('slowwave', this_command(), 1)}")]
        if command
        else lines
    )
