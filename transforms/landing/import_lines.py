"""Deliveries that an import writes: how they are named, and how a line says that a record was refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slowwave.transforms.landing.delivered_rows import DeliveredRows, RecordRows

# No field of a row is called so, and it is looked for in deliveries of imports alone.
REFUSED, RAW = "_refused", "_raw"
_NAME = re.compile(r"import-[a-z0-9-]{1,40}-[0-9a-f]{64}\.jsonl\.zst")
_MOST_CHARACTERS = 500


def import_name(adapter: str, digest: str) -> str:
    """What the delivery of rows with this digest is called."""
    return f"import-{adapter}-{digest}.jsonl.zst"


def is_import(source: str) -> bool:
    """Whether a file of the inbox is a delivery that an import wrote."""
    return _NAME.fullmatch(source) is not None


def refused_line(reason: str, raw: str) -> Mapping[str, Any]:
    """The line of a delivery for a record that could not be made a row."""
    return {REFUSED: reason, RAW: raw}


def refused_by_import(rows: DeliveredRows) -> dict[int, str]:
    """Positions of the lines of a delivery that say so, and why these were refused."""
    if not isinstance(rows, RecordRows) or REFUSED not in rows.fields:
        return {}
    return {i: str(record[REFUSED])[:_MOST_CHARACTERS] for i, record in enumerate(rows.records) if REFUSED in record}
