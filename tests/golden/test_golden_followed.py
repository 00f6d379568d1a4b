"""What `followed/1` says of a sheet of instructions and answers.

The file in tests/golden/followed-1 is released (see golden_tables).
"""

from __future__ import annotations

import polars as pl
from checked_answers import checked
from followed_sheet import SHEET
from golden_tables import assert_golden

SHOWN = ["interaction_id", "check_kind", "expected", "is_followed", "saw", "method"]


def test_what_was_published_is_published() -> None:
    found = checked([(each.instruction, each.category, each.prompt, each.answer) for each in SHEET])
    rows = found.select(SHOWN).sort(pl.col("interaction_id").cast(pl.Int64), "check_kind", "expected")
    assert_golden(rows, "followed-1/instruction_checks")
