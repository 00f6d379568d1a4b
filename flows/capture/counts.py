"""What the receiver counts of itself, as Prometheus reads it: numbers, and nothing of any content."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from slowwave.flows.care.metrics import Sample, Samples
from slowwave.flows.kernel.times import utc_iso, utc_now
from slowwave.flows.land.received_files import Noted

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class ReceiverCounts:
    """Counts since the receiver began; safe across threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Counter[tuple[str, int]] = Counter()
        self._rows: Counter[tuple[str, str]] = Counter()
        self._plain: Counter[str] = Counter()
        self._commits: list[int] = [0] * (len(_BOUNDS) + 1)
        self._seconds = 0.0
        self._received_at = ""
        self._failing = ""

    def count_answer(self, path: str, status: int) -> None:
        """A request was answered."""
        with self._lock:
            self._answers[path, status] += 1

    def took(self, where: str, taken: int, refused: int) -> None:
        """Rows, spans or log records were taken and refused."""
        with self._lock:
            self._rows[where, "taken"] += taken
            self._rows[where, "refused"] += refused
            if taken:
                self._received_at = utc_iso(utc_now())

    def count_commit(self, seconds: float, size: int) -> None:
        """A file was made durable."""
        with self._lock:
            self._commits[next((at for at, most in enumerate(_BOUNDS) if seconds <= most), len(_BOUNDS))] += 1
            self._seconds += seconds
            self._plain["written_bytes_total"] += size
            self._failing = ""

    def count_failed_commit(self, why: str) -> None:
        """A file could not be written, for this reason."""
        with self._lock:
            self._plain["failed_commits_total"] += 1
            self._failing = why

    def build_note(self) -> Noted:
        """What others are to know of it."""
        with self._lock:
            taken, refused = (
                sum(count for (_, result), count in self._rows.items() if result == which)
                for which in ("taken", "refused")
            )
            return Noted(taken=taken, refused=refused, received_at=self._received_at, failing=self._failing)

    def samples(self, waiting: int, held: int) -> Samples:
        """Return what was counted; `waiting`: files in the inbox, `held`: bytes of bodies being taken in."""
        with self._lock:
            below = accumulate(self._commits)
            bounds = [*_BOUNDS, "+Inf"]
            counted: dict[str, Sequence[Sample]] = {
                "requests_total": [
                    Sample(count, {"path": path, "status": status})
                    for (path, status), count in sorted(self._answers.items())
                ],
                "rows_total": [
                    Sample(count, {"kind": where, "result": result})
                    for (where, result), count in sorted(self._rows.items())
                ],
                **{name: [Sample(self._plain[name])] for name in ("written_bytes_total", "failed_commits_total")},
                "commit_seconds": [
                    *(Sample(count, {"le": most}, "_bucket") for most, count in zip(bounds, below, strict=True)),
                    Sample(self._seconds, suffix="_sum"),
                    Sample(sum(self._commits), suffix="_count"),
                ],
                "waiting_files": [Sample(waiting)],
                "held_bytes": [Sample(held)],
            }
            return {f"slowwave_capture_{name}": samples for name, samples in counted.items()}
