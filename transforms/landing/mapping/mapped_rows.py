"""Delivered rows read through a mapping: rows as if the producer had used the contract's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from slowwave.transforms.landing.coerce import json_text
from slowwave.transforms.landing.delivered_rows import DeliveredRows, RecordRows, is_value
from slowwave.transforms.landing.mapping.contract import FIELDS, convert_value
from slowwave.transforms.landing.mapping.rules import FieldMapping, Rule
from slowwave.transforms.landing.mapping.shape import explode_row, number_row, value_at, without

PROVENANCE = "provenance"


@dataclass(frozen=True)
class MappedRecord:
    """A row under the contract's names.

    `took`: the fields with a mapped value, `lacked`: those whose source the row has not, `replaced`: what stood there.
    """

    record: dict[str, Any]
    took: frozenset[str]
    lacked: frozenset[str]
    replaced: dict[str, Any]

    def to_deliver(self) -> dict[str, Any]:
        """The row as a producer that uses the contract's names would deliver it: `provenance` has what was replaced."""
        if not self.replaced:
            return self.record
        provenance: Any = self.record.get(PROVENANCE)
        delivered = provenance.get("delivered", {}) if isinstance(provenance, dict) else {}
        return self.record | {PROVENANCE: _provenance(provenance, {"delivered": delivered | self.replaced})}


class MappedRows(RecordRows):
    """Rows with the contract's names, of delivered ones that are still shown as they came."""

    def __init__(self, delivered: DeliveredRows, mapped: Sequence[MappedRecord], origins: Sequence[int]) -> None:
        """`origins`: the position of the delivered row that each is made of."""
        super().__init__([one.record for one in mapped], [delivered.row_numbers[at] for at in origins], [])
        self.mapped = mapped
        self._delivered = delivered
        self._origins = origins

    def take(self, positions: Sequence[int]) -> MappedRows:
        """As in DeliveredRows."""
        if len(positions) == len(self):
            return self
        return MappedRows(self._delivered, [self.mapped[i] for i in positions], [self._origins[i] for i in positions])

    def raw(self, position: int) -> str:
        """As in DeliveredRows."""
        return self._delivered.raw(self._origins[position])

    def is_whole(self, position: int) -> bool:
        """As in DeliveredRows."""
        return self._delivered.is_whole(self._origins[position])

    def extra(self, known: set[str]) -> list[str | None]:
        """As in DeliveredRows; what a mapping replaced stands there under its own name."""
        if not any(one.replaced for one in self.mapped):
            return super().extra(known)
        of_rows = (
            {name: value for name, value in one.record.items() if name not in known and value is not None}
            | {name: value for name, value in one.replaced.items() if name in known}
            for one in self.mapped
        )
        return [json_text(unknown) if unknown else None for unknown in of_rows]


def mapped_rows(rows: DeliveredRows, mapping: FieldMapping) -> MappedRows:
    """`rows`, all of which can be read, under the contract's names; of one that is exploded as many as it makes."""
    mapped: list[MappedRecord] = []
    origins: list[int] = []
    for at, record in enumerate(rows.as_records()):
        parts = explode_row(record, mapping)
        for number, part in enumerate(parts, 1):
            made = mapped_record(part, mapping)
            mapped.append(replace(made, record=number_row(made.record, mapping, number, len(parts))))
            origins.append(at)
    return MappedRows(rows, mapped, origins)


def mapped_record(record: dict[str, Any], mapping: FieldMapping) -> MappedRecord:
    """Return a row under the contract's names.

    A mapped value replaces what the row has under that name, unless the mapping only fills, or is a constant. A value
    leaves its old place unless a conversion kept only its ids, or it stood in a list. A declared mapping adds its name
    and version to the object `provenance`, and what it replaced of a field by parts of it.
    """
    found = {rule.field: _find_value(record, rule) for rule in mapping.rules}
    stated = [rule for rule in mapping.rules if is_value(found[rule.field][0])]
    applied = stated
    while True:
        left = record
        for rule in applied:
            if rule.path and found[rule.field][1]:
                left = without(left, rule.parts)
        blocked = [rule for rule in applied if _is_filling(rule, mapping) and is_value(left.get(rule.field))]
        if not blocked:
            break
        applied = [rule for rule in applied if rule not in blocked]
    replaced = {rule.field: left[rule.field] for rule in applied if is_value(left.get(rule.field))}
    of_itself = {
        rule.field: replaced.pop(rule.field) for rule in applied if _is_of_itself(rule) and rule.field in replaced
    }
    made = left | {rule.field: found[rule.field][0] for rule in applied}
    of_mapping = {"mapping": mapping.name, "version": mapping.version} if mapping.name else {}
    noted = of_mapping | ({"delivered": of_itself} if of_itself else {})
    if noted:
        made |= {PROVENANCE: _provenance(record.get(PROVENANCE), noted)}
    lacked = found.keys() - {rule.field for rule in stated}
    return MappedRecord(made, frozenset(rule.field for rule in applied), frozenset(lacked), replaced)


def _is_filling(rule: Rule, mapping: FieldMapping) -> bool:
    """Whether a rule leaves what a row has."""
    return (mapping.fills or not rule.path) and not _is_of_itself(rule)


def _find_value(record: dict[str, Any], rule: Rule) -> tuple[Any, bool]:
    """The value of a field, and whether it is all that stood there."""
    if not rule.path:
        return rule.constant, True
    return convert_value(FIELDS[rule.field], value_at(record, rule.parts))


def _is_of_itself(rule: Rule) -> bool:
    """Whether a field is made from parts of what has its name already."""
    return rule.path == rule.field or rule.path.startswith(f"{rule.field}.")


def _provenance(own: object, noted: dict[str, Any]) -> dict[str, Any]:
    """What a row says of where it comes from, and what we add."""
    if own is None:
        return noted
    return (own if isinstance(own, dict) else {"stated": own}) | noted
