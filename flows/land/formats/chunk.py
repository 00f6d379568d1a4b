"""Some rows of a delivered file, as every reader of a format hands them over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from slowwave.flows.land.formats.json_documents import Elements
from slowwave.flows.land.formats.lines import MOST_VALUES, Lines, values_count
from slowwave.transforms.core.vocabularies import FileFormat
from slowwave.transforms.landing.delivered_rows import DeliveredRows, RecordRows

CHUNK_ROWS = 20_000
CHUNK_BYTES = 32 * 2**20


@dataclass(frozen=True)
class BadRow:
    """A delivered row that is no row: `row_number` None says the file cannot be read on from here.

    `is_whole` says that `raw` is all of it.
    """

    row_number: int | None
    reason: str
    raw: bytes
    is_whole: bool = True


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file, and the broken lines among them; of a CSV file also its header, as delivered.

    `readings`: what was taken in one of several ways, as (unit, text), and of how many.
    """

    rows: DeliveredRows
    bad: list[BadRow]
    bytes_read: int
    format: FileFormat
    header: str | None = None
    readings: Counter[tuple[str, str]] = field(default_factory=Counter)


class Collector:
    """Rows gathered until they are worth a chunk."""

    def __init__(self, lines: Lines | Elements, file_format: FileFormat) -> None:
        self._lines = lines
        self._format: FileFormat = file_format
        self.header: str | None = None
        self._start()

    def _start(self) -> None:
        self._records: list[dict[str, object]] = []
        self._numbers: list[int] = []
        self._raws: list[bytes] = []
        self._bad: list[BadRow] = []
        self._held = self._values = 0
        self.readings: Counter[tuple[str, str]] = Counter()

    def add(self, number: int, record: dict[str, object], raw: bytes) -> None:
        """A row."""
        self._records.append(record)
        self._numbers.append(number)
        self._raws.append(raw)
        self._held += len(raw)
        self._values += values_count(raw)

    def refuse(self, number: int | None, reason: str, raw: bytes, *, is_whole: bool = True) -> None:
        """A line that is no row; `is_whole`: `raw` is all of it."""
        self._bad.append(BadRow(number, reason, raw, is_whole))
        self._held += len(raw)

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand over a chunk."""
        rows = len(self._records) + len(self._bad)
        return rows >= CHUNK_ROWS or self._held >= CHUNK_BYTES or self._values >= MOST_VALUES

    def chunk(self) -> Chunk:
        """What was gathered; gathering starts anew."""
        rows = RecordRows(self._records, self._numbers, self._raws)
        done = Chunk(rows, self._bad, self._lines.bytes_read, self._format, self.header, self.readings)
        self._start()
        return done

    def last_chunk(self) -> Chunk:
        """What was gathered, and the fault the lines ended with, if any."""
        if self._lines.fault is not None:
            self.refuse(None, self._lines.fault, self._lines.rest)
        return self.chunk()
