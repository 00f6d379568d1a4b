"""Partitions are named after what they follow from: a param builds what lies behind it and leaves the rest alone."""

from __future__ import annotations

import json
import os
import pickle
import time
from collections.abc import Iterator
from datetime import date
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from released_homes import COUNTS, evidence_files, published
from small_home import SmallHome, interaction, memory

from slowwave.flows.lake.lake import landed_lake
from slowwave.flows.lake.run_ledger import name_of, unlike
from slowwave.flows.nightly.prune import prune
from slowwave.flows.publish.plan import DayPlan
from slowwave.transforms.core.schema import Table
from slowwave.transforms.evidence.params import UNNAMED
from slowwave.transforms.evidence.statements.tables import ExtractedStatements
from slowwave.transforms.evidence.tables import MemoryDays, MemoryReferences
from slowwave.transforms.graph import EVIDENCE, STATES, params_behind
from slowwave.transforms.params import Params

# Another value of each param that partitions are named after.
OTHER = {
    "evidence.injected_method": "injected/0",
    "evidence.echo_method": "echo/0",
    "evidence.cited_method": "cited/0",
    "evidence.echo_code_points": 60,
    "evidence.echo_min_code_points": 11,
    "evidence.broad_memories": 2,
    "evidence.bulk_memories": 90,
    "evidence.used.method": "used/0",
    "evidence.used.threshold": 0.5,
    "evidence.used.min_words": 4,
    "evidence.used.code_points": 10_000,
    "evidence.used.candidates": 16,
    "evidence.extract.method": "extract/0",
    "evidence.extract.min_code_points": 10,
    "evidence.extract.max_code_points": 200,
}
BROADER = "[evidence]\nbroad_memories = 2\n"
LONGER = "[evidence.extract]\nmin_code_points = 10\n"
ALL = {table.name for table in EVIDENCE}


def params(name: str, value: object) -> Params:
    """The defaults but for one, whose method need not exist."""
    *sections, field = name.split(".")
    changed = Params()
    inner = [changed]
    for section in sections:
        inner.append(getattr(inner[-1], section))
    made = inner[-1].model_copy(update={field: value})
    for outer, section in zip(reversed(inner[:-1]), reversed(sections), strict=True):
        made = outer.model_copy(update={section: made})
    return made


def leaves_of(section: str, values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield from leaves_of(f"{section}.{name}", value) if isinstance(value, dict) else [f"{section}.{name}"]


def stated(home: SmallHome, text: str) -> None:
    (home.folder / "params.toml").write_text(text)


def tables_of(paths: set[str]) -> set[str]:
    return {Path(path).parts[-3] for path in paths}


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    made.land(
        *(memory(f"m{n}", content=f"Ticket {n} is about shelf {n * 7} in the cellar of the mill") for n in range(4)),
        interaction("first", memories_used=["m0", "m1", "m2"], response="Ticket 3 is about shelf 21 in the cellar."),
        interaction("next", created_at="2026-03-03T09:00:00Z", response="It is decided: we use the mill's cellar."),
    )
    return made


# --------------------------------------------------------------------------------------- which params, which tables


@pytest.mark.slow
def test_partitions_are_named_after_every_param_of_evidence_but_those_that_stretches_tell():
    behind = frozenset().union(*(params_behind(table) for table in EVIDENCE))
    leaves = set(leaves_of("evidence", Params().evidence.model_dump()))
    assert leaves - set(UNNAMED) == {"evidence.eligible_method", "evidence.global_types"}
    assert {leaf for leaf in leaves if f"{leaf}.".startswith(tuple(f"{name}." for name in behind))} == leaves
    assert set(OTHER) == set(UNNAMED)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER)
def test_a_param_names_the_tables_that_follow_from_it(name):
    changed = params(name, OTHER[name])
    renamed = {table.name for table in EVIDENCE if named(changed, table) != named(Params(), table)}
    follow = {table.name for table in EVIDENCE if f"{name}.".startswith(tuple(f"{p}." for p in params_behind(table)))}
    assert renamed == follow != set()
    assert changed.partition_params([name]) == {name: OTHER[name]}


def named(of: Params, table: type[Table]) -> dict[str, object]:
    return of.partition_params(params_behind(table))


@pytest.mark.slow
def test_what_lies_behind_which_table():
    reach = {"evidence.eligible_method", "evidence.global_types"}
    assert params_behind(ExtractedStatements) == {"evidence.extract"}
    assert reach < params_behind(MemoryReferences) < params_behind(MemoryDays)
    assert params_behind(MemoryDays) - params_behind(MemoryReferences) == {
        "evidence.broad_memories",
        "evidence.bulk_memories",
    }


@pytest.mark.slow
def test_a_row_tells_only_names_that_differ():
    names = dict.fromkeys(ALL, "f") | {MemoryDays.name: "other"}
    row = {"fingerprint": "f", "partitions": unlike("f", names)}
    assert row["partitions"] == ["memory_days=other"]
    assert {table.name: name_of(table, row) for table in EVIDENCE} == names
    assert unlike("f", dict.fromkeys(ALL, "f")) is None


# ----------------------------------------------------------------------------------------------------- on a home


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "tables"),
    [(LONGER, {"extracted_statements"}), (BROADER, {"memory_days", "reference_days"})],
    ids=["extract", "broad"],
)
def test_a_changed_param_builds_the_tables_behind_it_and_back_builds_nothing(home, text, tables):
    home.nightly()
    before, counts = evidence_files(home), published(home, COUNTS)
    stated(home, text)
    planned = home.ask("nightly", "--plan").stdout
    night = home.nightly()
    after = evidence_files(home)
    assert {table for day in night.built for table in day.missing} == tables
    assert {day.reason for day in night.built} == {"params changed"}
    assert planned.count("params changed") >= 1
    assert before.items() <= after.items()
    assert tables_of(after.keys() - before.keys()) == tables
    stated(home, "")
    assert home.nightly().built == []
    assert evidence_files(home) == after
    assert published(home, COUNTS) == counts


@pytest.mark.slow
def test_a_full_rebuild_finds_what_param_by_param_was_built(home):
    home.nightly()
    for text in (LONGER, f"{BROADER}{LONGER}"):
        stated(home, text)
        home.nightly()
    partitions = lambda: {path for path in evidence_files(home) if Path(path).parts[-3] in ALL}  # noqa: E731 - and no states
    counts, by_steps = published(home, COUNTS), {path: pl.read_parquet(path) for path in partitions()}
    night = home.nightly(full=True)
    assert {table for day in night.built for table in day.missing} == ALL
    assert published(home, COUNTS) == counts
    assert partitions() == by_steps.keys()
    for path, before in by_steps.items():
        assert_frame_equal(pl.read_parquet(path), before)


@pytest.mark.slow
def test_readers_find_partitions_of_other_names(home):
    home.nightly()
    stated(home, f"{BROADER}{LONGER}")
    home.nightly()
    newest = {Path(path).parent: Path(path) for path, _ in sorted(evidence_files(home).items(), key=itemgetter(1))}
    with duckdb.connect() as client:
        client.execute(home.ask("inspect", "schema", "--views").stdout)
        for table in ALL:
            counted = client.table(table).aggregate("count(*)").fetchall()
            rows = [pl.read_parquet(path).height for folder, path in newest.items() if folder.parent.name == table]
            assert counted == [(sum(rows),)], table
    assert home.ask("doctor").returncode == 0
    assert json.loads(home.ask("why", "m1", "--format", "json").stdout)["counts"]["injected"] == 1


@pytest.mark.slow
def test_prune_removes_only_names_that_no_kept_run_has(home):
    for text in ("", BROADER, ""):
        stated(home, text)
        home.nightly()
    before = evidence_files(home)
    then = time.time() - 48 * 3600
    for path in home.folder.rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))
    lake = landed_lake(home.settings)
    assert prune(home.settings, lake, keep=2).partitions == 0
    assert evidence_files(home).keys() == before.keys()
    prune(home.settings, lake, keep=0)
    left = evidence_files(home).keys()
    assert tables_of(before.keys() - left) == {"memory_days", "reference_days"}
    assert tables_of(set(left)) - {state.name for state in STATES} == ALL
    assert home.nightly().built == []


@pytest.mark.slow
def test_a_day_of_a_plan_is_plain_data():
    day = DayPlan(date(2026, 3, 2), "f", {"memory_days": "f"}, ("memory_days",), "new day")
    assert pickle.loads(pickle.dumps(day)) == day  # noqa: S301 - what this test has just written
