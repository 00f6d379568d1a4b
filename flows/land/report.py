"""What became of delivered files, counted; and whether that is cause for alarm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from slowwave.flows.kernel.terminal import format_count
from slowwave.transforms.landing.mapping.unknown_fields import UnknownFields

MAX_REFUSED = 0.5
_MOST_REASONS = 1_000
_OTHER_REASONS = "other reasons"


@dataclass
class FileCounts:
    """What became of one file; delivered = accepted + duplicate + quarantined.

    Of one tried again from the quarantine (`retried` rows of it), what that changed.
    """

    file_number: int
    source: str
    file_hash: str
    bytes_count: int
    delivered: int = 0
    accepted: int = 0
    duplicate: int = 0
    quarantined: int = 0
    retried: int | None = None
    is_refused_whole: bool = False


@dataclass(frozen=True)
class ShownRow:
    """A row as delivered, and as it would land: by table its fields that say something, or why it is refused."""

    row_number: int
    before: str
    after: str


@dataclass
class LandingReport:
    """Per file what became of its rows, and the days of each table that got new rows.

    `unreadable`: why files were left where they are. `passed_over`: what in the inbox is none that can be landed.
    `unknown`: fields of the rows that were read, after mapping, that the contract does not know. `already`: files whose
    bytes had landed before. `shown`: of a rehearsal with a mapping, the first rows before and after it. `erased`: how
    many of the quarantined rows are of what was erased, `left_out`: a mapping left out. `readings`: what was taken in
    one of several ways, as (unit, text), and of how many.
    """

    files: list[FileCounts] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    days: dict[str, set[date]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)  # of quarantined rows
    unknown: UnknownFields = field(default_factory=UnknownFields)
    already: list[str] = field(default_factory=list)
    shown: list[ShownRow] = field(default_factory=list)
    erased: int = 0
    left_out: int = 0
    readings: Counter[tuple[str, str]] = field(default_factory=Counter)

    def total(self, name: str) -> int:
        """Sum of one count over the files."""
        return sum(getattr(file, name) or 0 for file in self.files)

    def count_reasons(self, reasons: Mapping[str, int]) -> None:
        """Count why rows were refused; of very many reasons the later ones together."""
        for reason, count in reasons.items():
            is_counted = reason in self.reasons or len(self.reasons) < _MOST_REASONS
            self.reasons[reason if is_counted else _OTHER_REASONS] += count

    def alarms(self, max_refused: float, *, is_rehearsal: bool = False) -> list[str]:
        """Why a landing that went well is still a failure: a file refused whole, or too large a share of the rows.

        That what was erased or what a mapping leaves out is refused is as it should be: such rows are no part of the
        share.
        """
        found = []
        whole = [file.source for file in self.files if file.is_refused_whole]
        if whole:
            count = format_count(len(whole), "file was", "files were")
            kept = "" if is_rehearsal else "; the bytes are kept in the lake"
            found.append(f"{count} refused whole, such as {whole[0]}{kept}")
        meant = self.erased + self.left_out
        delivered, refused = self.total("delivered") - meant, self.total("quarantined") - meant
        if delivered and refused / delivered > max_refused:
            share = f"of {format_count(delivered, 'row')} {format_count(refused, 'was', 'were')} refused"
            found.append(f"{share}, more than a share of {max_refused:g} (--max-refused)")
        return found
