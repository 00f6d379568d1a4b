"""Whether a log had ended long before the time that a publish describes, and the time it should describe instead."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from slowwave.flows.kernel.times import span, utc_text

_QUIET = timedelta(days=30)


def quiet_log_text(as_of: datetime, newest_at: datetime | None, recorded_at: datetime | None) -> tuple[str, str]:
    """Return the sentence and the command for a log in which nothing happened in the 30 days before `as_of`.

    `newest_at`: when the newest interaction or outcome happened, `recorded_at`: when the last of them was recorded
    (naive UTC, None: there are none). Both texts are '' where something happened; the command is '' where no earlier
    `as_of` sees all rows.
    """
    if newest_at is None or as_of - newest_at <= _QUIET:
        return "", ""
    says = (
        f"Nothing happened in the 30 days before {utc_text(as_of)}: the newest interaction or outcome is of "
        f"{utc_text(newest_at)}, {span(as_of - newest_at)} earlier. Memories and strategies are shown as old as they "
        "are by now."
    )
    last = max(newest_at, recorded_at or newest_at)
    end = datetime.combine(last.date() + timedelta(days=1), time())
    return says, f"slowwave nightly --as-of {end:%Y-%m-%d}" if end < as_of else ""
