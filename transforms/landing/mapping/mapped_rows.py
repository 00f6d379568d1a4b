"""Delivered rows read through a mapping: rows as if the producer had used the contract's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slowwave.transforms.landing.delivered_rows import DeliveredRows, RecordRows
from slowwave.transforms.landing.mapping.contract import FIELDS
from slowwave.transforms.landing.mapping.conversions import converted
from slowwave.transforms.landing.mapping.paths import value_at, without
from slowwave.transforms.landing.mapping.rules import FieldMapping, Rule

PROVENANCE = "provenance"


class MappedRows(RecordRows):
    """Rows with the contract's names, of delivered ones that are still shown as they came."""

    def __init__(self, delivered: DeliveredRows, records: Sequence[dict[str, Any]]) -> None:
        super().__init__(records, delivered.row_numbers, [])
        self._delivered = delivered

    def take(self, positions: Sequence[int]) -> MappedRows:
        """As in DeliveredRows."""
        if len(positions) == len(self):
            return self
        return MappedRows(self._delivered.take(positions), [self.records[i] for i in positions])

    def raw(self, position: int) -> str:
        """As in DeliveredRows."""
        return self._delivered.raw(position)

    def is_whole(self, position: int) -> bool:
        """As in DeliveredRows."""
        return self._delivered.is_whole(position)


def mapped_rows(rows: DeliveredRows, mapping: FieldMapping) -> MappedRows:
    """`rows`, all of which can be read, under the contract's names."""
    return MappedRows(rows, [mapped_record(record, mapping) for record in rows.as_records()])


def mapped_record(record: dict[str, Any], mapping: FieldMapping) -> dict[str, Any]:
    """A row under the contract's names.

    What the row has under a name of the contract stays: the mapping fills what it lacks, and what is not filled from
    stays too. A value leaves its old place unless a conversion kept only its ids, or it stood in a list. A declared
    mapping adds its name and version to the object `provenance`, and what it replaced of a field by parts of it.
    """
    found = {rule.field: _found(record, rule) for rule in mapping.rules}
    applied = [rule for rule in mapping.rules if found[rule.field][0] is not None]
    while True:
        left = record
        for rule in applied:
            if rule.path and found[rule.field][1]:
                left = without(left, rule.parts)
        blocked = [rule for rule in applied if left.get(rule.field) is not None and not _is_of_itself(rule)]
        if not blocked:
            break
        applied = [rule for rule in applied if rule not in blocked]
    replaced = {rule.field: left[rule.field] for rule in applied if left.get(rule.field) is not None}
    made = left | {rule.field: found[rule.field][0] for rule in applied}
    of_mapping = {"mapping": mapping.name, "version": mapping.version} if mapping.name else {}
    noted = of_mapping | ({"delivered": replaced} if replaced else {})
    return made | {PROVENANCE: _provenance(record.get(PROVENANCE), noted)} if noted else made


def _found(record: dict[str, Any], rule: Rule) -> tuple[Any, bool]:
    """The value of a field, and whether it is all that stood there."""
    if not rule.path:
        return rule.constant, True
    return converted(FIELDS[rule.field], value_at(record, rule.parts))


def _is_of_itself(rule: Rule) -> bool:
    """Whether a field is made from parts of what has its name already."""
    return rule.path == rule.field or rule.path.startswith(f"{rule.field}.")


def _provenance(own: object, noted: dict[str, Any]) -> dict[str, Any]:
    """What a row says of where it comes from, and what we add."""
    if own is None:
        return noted
    return (own if isinstance(own, dict) else {"stated": own}) | noted
