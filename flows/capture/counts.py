"""What the receiver counts of itself, as Prometheus reads it: numbers, and nothing of any content."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

from slowwave.flows.kernel.times import utc_iso, utc_now
from slowwave.flows.land.received_files import Noted

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_PREFIX = "slowwave_capture_"


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

    def text(self, waiting: int, held: int) -> str:
        """In Prometheus's text format; `waiting`: files in the inbox, `held`: bytes of bodies being taken in."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines(waiting, held))

    def _lines(self, waiting: int, held: int) -> Iterator[str]:
        yield from _head("requests_total", "counter", "Requests answered.")
        for (path, status), count in sorted(self._answers.items()):
            yield f'{_PREFIX}requests_total{{path="{path}",status="{status}"}} {count}'
        yield from _head("rows_total", "counter", "Rows, spans and log records.")
        for (where, result), count in sorted(self._rows.items()):
            yield f'{_PREFIX}rows_total{{kind="{where}",result="{result}"}} {count}'
        for name, described in (
            ("written_bytes_total", "Bytes made durable in the inbox."),
            ("failed_commits_total", "Files that could not be written."),
        ):
            yield from _head(name, "counter", described)
            yield f"{_PREFIX}{name} {self._plain[name]}"
        yield from _head("commit_seconds", "histogram", "How long a file took to be durable.")
        below = 0
        for most, count in zip(_BOUNDS, self._commits, strict=False):
            below += count
            yield f'{_PREFIX}commit_seconds_bucket{{le="{most}"}} {below}'
        yield f'{_PREFIX}commit_seconds_bucket{{le="+Inf"}} {sum(self._commits)}'
        yield f"{_PREFIX}commit_seconds_sum {self._seconds:.6f}"
        yield f"{_PREFIX}commit_seconds_count {sum(self._commits)}"
        for name, described, value in (
            ("waiting_files", "Files in the inbox that wait to be landed.", waiting),
            ("held_bytes", "Bytes of bodies that are being taken in.", held),
        ):
            yield from _head(name, "gauge", described)
            yield f"{_PREFIX}{name} {value}"


def _head(name: str, kind: str, described: str) -> Iterator[str]:
    yield f"# HELP {_PREFIX}{name} {described}"
    yield f"# TYPE {_PREFIX}{name} {kind}"
