"""The benchmark's logs: the amount asked for, the same every time, with what real logs have in them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from night_logs import write_logs
from night_memories import Size

SIZE = Size(interactions=2_000, memories=1_000, projects=10, days=5, more=1)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    write_logs(folder, SIZE)
    return folder


def read(folder: Path, name: str) -> pl.DataFrame:
    return pl.scan_parquet(sorted(folder.glob(f"{name}-*.parquet")), missing_columns="insert").collect()


@pytest.mark.slow
def test_equal_arguments_give_equal_files(logs: Path, tmp_path: Path) -> None:
    write_logs(tmp_path, SIZE)
    names = sorted(path.relative_to(logs) for path in logs.rglob("*.parquet"))
    assert names == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.parquet"))
    assert all((logs / name).read_bytes() == (tmp_path / name).read_bytes() for name in names)


def test_there_is_as_much_as_was_asked_for(logs: Path) -> None:
    interactions, memories = read(logs, "interactions"), read(logs, "memories")
    assert interactions.height == interactions["interaction_id"].n_unique() == SIZE.interactions
    assert memories["memory_id"].n_unique() == SIZE.memories
    assert memories.height > SIZE.memories  # some change
    assert set(interactions["project"]) == {f"project-{number}" for number in range(SIZE.projects)}
    assert interactions["created_at"].dt.date().n_unique() == SIZE.days
    assert read(logs / "more", "interactions").height == SIZE.interactions // SIZE.days


def test_texts_are_about_as_long_as_real_ones_and_as_varied(logs: Path) -> None:
    texts = read(logs, "interactions").select("prompt", "response", "response_summary")
    length = texts.select(pl.sum_horizontal(pl.all().str.len_bytes())).to_series()
    assert length.mean() == pytest.approx(1_500, rel=0.2)
    assert length.median() < 0.8 * length.mean()  # type: ignore[operator]
    words = texts["response"].str.to_lowercase().str.extract_all(r"[\p{L}\p{N}]+").explode().drop_nulls()
    counts = words.value_counts(sort=True)
    assert counts.height > 20_000
    assert counts["count"][:100].sum() / len(words) == pytest.approx(0.4, abs=0.15)
    for pattern in ("```", r"(?m)^Traceback", r"\n\n", r"\p{Cyrillic}", r"\p{Han}", "ü", "🎉", "Decision: ", r"\d{4}"):
        assert texts["response"].str.contains(pattern).any(), pattern


def test_some_answers_repeat_memories_and_outcomes_belong_to_interactions(logs: Path) -> None:
    interactions, memories, outcomes = (read(logs, name) for name in ("interactions", "memories", "outcomes"))
    first = memories.filter(pl.col("content").is_not_null()).unique("memory_id", keep="first")
    prefix = pl.col("content").str.to_lowercase().str.replace_all(r"\s+", " ").str.slice(0, 80)
    said = interactions.select("interaction_id", "project", answer=pl.col("response").str.to_lowercase())
    said = said.with_columns(pl.col("answer").str.replace_all(r"\s+", " "))
    pairs = said.join(first.select("project", "memory_id", prefix=prefix), on="project")
    echoed = pairs.filter(pl.col("answer").str.contains(pl.col("prefix"), literal=True))
    assert echoed["interaction_id"].n_unique() / SIZE.interactions == pytest.approx(0.05, abs=0.02)
    given = interactions["memories_used"].explode().drop_nulls()
    assert set(given) <= set(memories["memory_id"])
    assert outcomes["interaction_id"].is_in(interactions["interaction_id"].to_list()).all()
    assert outcomes.height / SIZE.interactions == pytest.approx(1 / 3, abs=0.05)
    assert outcomes.filter("success")["error_message"].null_count() == outcomes["success"].sum()
