"""Of files of the lake only the row groups are read that may hold what is wanted."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.pieces import Between, pieces
from slowwave.transforms.evidence.buckets import ORDER, bucket_ends

_ROWS, _IN_A_GROUP = 900, 50


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Rows of four projects, one far larger, whose ids tell nothing of it."""
    chance = random.Random(1)
    projects = ["", "blog", "größe", *["shop"] * 6]
    texts = [f"{chance.getrandbits(4_000):x}" for _ in range(_ROWS)]
    ids = [text[:12] for text in texts]
    return pl.DataFrame({"interaction_id": ids, "project": chance.choices(projects, k=_ROWS), "prompt": texts})


@pytest.fixture(scope="module")
def in_order(rows: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> LakeFile:
    path = tmp_path_factory.mktemp("lake") / "in_order.parquet"
    rows.sort(ORDER).write_parquet(path, row_group_size=_IN_A_GROUP)
    return LakeFile(date(2026, 3, 1), path)


@pytest.fixture(scope="module")
def mixed(rows: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> LakeFile:
    """As a release wrote it that did not sort by project."""
    path = tmp_path_factory.mktemp("lake") / "mixed.parquet"
    rows.sort("interaction_id").write_parquet(path, row_group_size=_IN_A_GROUP)
    return LakeFile(date(2026, 3, 1), path)


def read(file: LakeFile, within: Between) -> tuple[int, set[str]]:
    """How many row groups are read for some rows, and the ids in them."""
    found = pieces([file], within)
    frames = [pl.read_parquet(file.path).slice(piece.offset, piece.rows) for piece in found]
    return len(found), {name for frame in frames for name in frame["interaction_id"]}


@given(st.integers(1, 12))
def test_all_that_is_wanted_is_read_and_of_ordered_files_little_else(
    rows: pl.DataFrame, in_order: LakeFile, mixed: LakeFile, count: int
) -> None:
    groups = 0
    for ends in bucket_ends(rows.select(ORDER), count):
        within = Between(ORDER, *ends)
        wanted = set(rows.filter(within.holds())["interaction_id"])
        some, ids = read(in_order, within)
        assert ids >= wanted
        assert read(mixed, within)[1] >= wanted
        groups += some
    assert groups <= _ROWS // _IN_A_GROUP + 2 * count  # besides its own, a bucket reads those at its ends


def test_files_without_statistics_are_read_whole(rows: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "silent.parquet"
    rows.sort(ORDER).write_parquet(path, row_group_size=_IN_A_GROUP, statistics=False)
    assert (
        read(LakeFile(date(2026, 3, 1), path), Between(ORDER, *bucket_ends(rows.select(ORDER), 9)[0]))[0]
        == _ROWS // _IN_A_GROUP
    )
