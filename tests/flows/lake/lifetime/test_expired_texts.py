"""Files without the texts of their rows: what later columns read out of `extra` stays, what is not seen yet too."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import polars as pl

from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.lake import Lake, scan_declared
from slowwave.flows.lake.lifetime.raw_files import find_rows_with_texts, remove_texts
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.landing.tables import Interactions

NOW = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
EARLY = NOW.replace(month=2)


def test_an_older_file_keeps_what_it_says_of_later_columns(tmp_path: Path) -> None:
    rows = pl.DataFrame(
        {
            "interaction_id": ["a", "b"],
            "created_at": [EARLY, EARLY],
            "recorded_at": [EARLY, NOW],  # b is written later than what was published
            "prompt": ["What?", "What else?"],
            "response": ["That.", None],
            "extra": ['{"memories_cited":["m"],"mood":"grim"}', '{"mood":"grim"}'],
            "row_hash": ["1", "2"],
            "key_hash": [1, 2],
        },
        schema_overrides={"created_at": pl.Datetime("us"), "recorded_at": pl.Datetime("us")},
    )
    declared = polars_schema(Interactions)
    lacking = [name for name in declared if name not in {*rows.columns, "memories_cited"}]
    whole = rows.with_columns(pl.lit(None, dtype=declared[name]).alias(name) for name in lacking)
    path = Lake(tmp_path).folder("interactions", EARLY.date()) / "x-1.parquet"
    path.parent.mkdir(parents=True)
    whole.write_parquet(path)
    file = LakeFile(EARLY.date(), path)
    hashes, unseen = find_rows_with_texts(Interactions, file, NOW)
    assert (hashes.to_list(), unseen) == (["1"], 1)
    remove_texts(Interactions, file, NOW)
    assert "memories_cited" not in pl.read_parquet_schema(path)  # it still says that an earlier release wrote it
    left = scan_declared(Interactions, [path]).collect().sort("interaction_id")
    assert left.select("prompt", "response", "memories_cited", "extra").rows() == [
        ("", None, ["m"], None),
        ("What else?", None, None, '{"mood":"grim"}'),
    ]
