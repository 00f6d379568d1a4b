"""Which fields of delivered rows the contract does not know: in how many rows, and with which values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.delivered_rows import DeliveredRows, FrameRows, has_value, is_value
from slowwave.transforms.landing.mapping.contract import FIELDS
from slowwave.transforms.landing.mapping.mapped_rows import MappedRows
from slowwave.transforms.landing.mapping.messages import is_conversation, last_of, turns_of

_SAMPLES = 5
_MOST_NAMES = 1_000


@dataclass(frozen=True)
class RowsOfKind:
    """Rows of one kind (None: it is not known), and the names that rows of it may have."""

    kind: LandedTable | None
    rows: DeliveredRows
    known: frozenset[str]


@dataclass
class UnknownField:
    """A field that the contract does not know for rows of these kinds; `meant`: the contract's, where that is known."""

    name: str
    rows: int = 0
    samples: list[Any] = field(default_factory=list)
    kinds: set[LandedTable | None] = field(default_factory=set)
    meant: str = ""

    @property
    def in_parts(self) -> list[UnknownField]:
        """The field; in place of a list of messages what was asked last and what was answered, named as paths are."""
        held = [parse_json_text(one) for one in self.samples]
        if not held or not all(map(is_conversation, held)):
            return [self]
        parts = []
        for role, meant in (("user", "prompt"), ("assistant", "response")):
            texts = [text for one in held for turn in turns_of(one)[::-1] if (text := last_of(turn, role)) is not None]
            if texts:
                parts.append(UnknownField(f"{self.name}.last({role})", self.rows, texts, self.kinds, meant))
        return parts


@dataclass
class UnknownFields:
    """Unknown fields by name, of very many the first; the fields of the contract that rows have, and mapped ones.

    `mapped`: the rows that were read through a mapping; `took`: by field, those that took a mapped value; `lacked`: by
    field, those that had none where the mapping looks for it.
    """

    by_name: dict[str, UnknownField] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)
    are_all: bool = True
    mapped: int = 0
    took: Counter[str] = field(default_factory=Counter)
    lacked: Counter[str] = field(default_factory=Counter)

    @property
    def fields(self) -> list[UnknownField]:
        """The unknown fields in the order in which they came, lists of messages in parts."""
        return [part for one in self.by_name.values() for part in one.in_parts]

    @property
    def with_turns(self) -> list[str]:
        """The names of the lists of messages in which a user speaks more than once."""
        return [
            one.name
            for one in self.by_name.values()
            if any(len(turns_of(held)) > 1 for held in map(parse_json_text, one.samples) if isinstance(held, list))
        ]

    def add(self, parts: Iterable[RowsOfKind], but: frozenset[int] = frozenset()) -> None:
        """Count these rows too; those with a number in `but` apart."""
        for part in parts:
            self.present |= part.rows.fields & FIELDS.keys()
            rows = part.rows
            if but:
                rows = rows.take([i for i, number in enumerate(rows.row_numbers) if number not in but])
            if isinstance(rows, MappedRows):
                self.mapped += len(rows)
                for one in rows.mapped:
                    self.took.update(one.took)
                    self.lacked.update(one.lacked)
            unknown = part.rows.fields - part.known
            if unknown:
                self._add(part.kind, rows, unknown)

    def _add(self, kind: LandedTable | None, rows: DeliveredRows, unknown: set[str]) -> None:
        for name, count in _counts(rows, unknown):
            if name not in self.by_name and len(self.by_name) >= _MOST_NAMES:
                self.are_all = False
                continue
            found = self.by_name.setdefault(name, UnknownField(name))
            found.rows += count
            found.kinds.add(kind)
            if len(found.samples) < _SAMPLES:
                found.samples += _samples(rows, name, _SAMPLES - len(found.samples))

    def merge(self, other: UnknownFields) -> None:
        """Count what was counted of other rows."""
        self.present |= other.present
        self.are_all = self.are_all and other.are_all
        self.mapped += other.mapped
        self.took.update(other.took)
        self.lacked.update(other.lacked)
        for name, added in other.by_name.items():
            if name not in self.by_name and len(self.by_name) >= _MOST_NAMES:
                self.are_all = False
                continue
            found = self.by_name.setdefault(name, UnknownField(name))
            found.rows += added.rows
            found.kinds |= added.kinds
            found.samples = (found.samples + added.samples)[:_SAMPLES]


def _counts(rows: DeliveredRows, unknown: set[str]) -> list[tuple[str, int]]:
    """Rows that have each of the names, in a fixed order; a blank text is no value."""
    if isinstance(rows, FrameRows):
        counts = {name: sum(has_value(rows, name)) for name in unknown}
    else:
        counts = Counter(
            name for record in rows.as_records() for name in record.keys() & unknown if is_value(record[name])
        )
    return sorted((name, count) for name, count in counts.items() if count)


def _samples(rows: DeliveredRows, name: str, most: int) -> list[Any]:
    if isinstance(rows, FrameRows):
        return rows.frame[name].drop_nulls().head(most).to_list()
    found = []
    for record in rows.as_records():
        value = record.get(name)
        if value is not None:
            found.append(value)
            if len(found) == most:
                break
    return found
