"""A log in which every question about outcomes has an answer: forty days of one project, `depot`.

`restart the server` (two wordings) always fails while `free the port` mostly succeeds; `guess` got worse in the last
days; one memory was injected by a fair coin and lowers success; cascades are not attempts.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from small_home import Row, interaction, memory, outcome

START = datetime(2026, 3, 2)  # noqa: DTZ001 - times are naive and hold UTC everywhere; a Monday
DAYS = 40
AS_OF = START + timedelta(days=DAYS)
_DEPOT = {"project": "depot", "agent": "coder"}


def taught_rows() -> list[Row]:
    """Interactions, memories and outcomes, in order of time."""
    return [memory("bad advice", project="depot"), *[row for day in range(DAYS) for row in _of_day(day)]]


def rows_with_another_task() -> list[Row]:
    """The same log, and in it another kind of task, for which `guess` and `ask first` were tried."""

    def tried(strategy: str, day: int, *, success: bool) -> Row:
        at = f"{(START + timedelta(days=day, hours=6)).isoformat()}Z"
        said = {"strategy": strategy, "task_type": "release", "duration_ms": 60_000, **_DEPOT}
        return outcome(f"{strategy} release {day}", created_at=at, success=success, **said)

    more = [tried(name, day, success=day % 4 > 0) for day in range(0, DAYS, 3) for name in ("guess", "ask first")]
    return [*taught_rows(), *more]


def rows_with_four_of_four() -> list[Row]:
    """The log with another task, and in it a third, at which `ask first` succeeded four times and all else fails."""

    def tried(strategy: str, day: int, *, success: bool) -> Row:
        at = f"{(START + timedelta(days=day, hours=7)).isoformat()}Z"
        said = {"strategy": strategy, "task_type": "triage", "duration_ms": 60_000, **_DEPOT}
        return outcome(f"{strategy} triage {day}", created_at=at, success=success, **said)

    failed = [tried(name, day, success=False) for day in range(0, DAYS, 2) for name in ("guess", "wait", "restart")]
    return [*rows_with_another_task(), *failed, *[tried("ask first", day, success=True) for day in range(4)]]


def _of_day(day: int) -> list[Row]:
    def at(hour: int) -> str:
        return f"{(START + timedelta(days=day, hours=hour)).isoformat()}Z"

    def tried(strategy: str, hour: int, *, success: bool, **fields: object) -> Row:
        said = {"strategy": strategy, "task_type": "deploy", "duration_ms": 60_000, **_DEPOT}
        return outcome(f"{strategy} {day}", created_at=at(hour), success=success, **said, **fields)

    is_injected = day % 2 == 0
    restart = "restart the server" if day % 4 else "Restart the servers!"
    advised = interaction(
        f"advised {day}",
        created_at=at(1),
        memories_offered=[{"id": "bad advice", "rank": 1, "score": 0.9}],
        memories_used=["bad advice"] if is_injected else [],
        injection_probability=0.5,
        success=not is_injected or day % 8 == 0,
        **_DEPOT,
    )
    rows = [
        advised,
        tried(restart, 2, success=False, error_message=f"port {8000 + day} is in use"),
        tried("free the port", 3, success=day % 10 > 0),
        tried("guess", 4, success=day < DAYS - 14),
    ]
    if day % 9 == 0:
        rows.append(tried("wait", 5, success=False, error_message="Skipped: depends on the step before"))
    return rows
