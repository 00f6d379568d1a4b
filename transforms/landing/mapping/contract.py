"""The fields of the contract by name, of whichever landed table; what a name means is the same in all of them."""

from __future__ import annotations

from slowwave.transforms.core.schema import Column, producer_columns
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.tables import LANDED

FIELDS: dict[str, Column] = {c.name: c for table in reversed(LANDED) for c in producer_columns(table)}
FIELDS_OF: dict[LandedTable, frozenset[str]] = {
    "interactions": frozenset(c.name for c in producer_columns(LANDED[0])),
    "outcomes": frozenset(c.name for c in producer_columns(LANDED[1])),
    "memories": frozenset(c.name for c in producer_columns(LANDED[2])),
}
# What a mapping may fill: `extra` is what is left.
MAPPABLE: tuple[str, ...] = tuple(
    dict.fromkeys(c.name for table in LANDED for c in producer_columns(table) if c.name != "extra")
)
