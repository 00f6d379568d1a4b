"""Homes that earlier releases left: today's code opens them as they are, and the first night builds every day again."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from make_released_home import deliveries
from released_homes import COUNTS, RELEASES, evidence_files, landed_files, last_as_of, published, released_home
from small_home import SmallHome
from thorough import IS_THOROUGH

from slowwave.flows.lake.files import WHOLE_FORMAT
from slowwave.flows.lake.lake import COMPACT_FROM_FILES, Lake
from slowwave.flows.nightly.nightly import NightlyResult
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.landing.ledger_tables import RunFiles, Runs

# The homes were published on one day, and grow older.
_WHENEVER = ("--warn-hours", "1000000", "--error-hours", "1000000")

each_release = pytest.mark.parametrize("version", RELEASES)


@pytest.mark.slow
@each_release
def test_the_first_night_builds_every_day_again_and_the_second_none(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    before, landed, as_of = published(home, COUNTS), landed_files(home), last_as_of(home)
    assert len(before) > 5

    night = home.nightly(as_of)

    assert night.status == "published"
    assert published(home, COUNTS) == before
    assert_every_day_was_built(night, home)
    assert Lake(Path(home.settings.lake)).ledger(Runs).sort("started_at")["days_built_count"][-1] == len(night.built)
    assert landed_files(home) == landed
    assert (home.folder / "lake" / "FORMAT").read_text() == f"{WHOLE_FORMAT}\n"

    counted = evidence_files(home)
    home.land({"memory_id": "of nobody", "changed_at": "2026-03-01T08:00:00Z", "status": "archived"})
    assert home.nightly(as_of).built == []
    assert evidence_files(home) == counted


def assert_every_day_was_built(night: NightlyResult, home: SmallHome) -> None:
    """Names of partitions changed with `used/3`; what answers cite is counted, too."""
    assert {(day.reason, day.missing) for day in night.built} == {
        ("params changed", tuple(table.name for table in EVIDENCE))
    }
    days = {str(day) for (day,) in published(home, "SELECT DISTINCT occurred_at::DATE FROM memory_references")}
    assert {str(day.day) for day in night.built} >= days
    cited = {
        row["interaction_id"]: row["memories_cited"]
        for row in [*deliveries()["log.jsonl"], *deliveries()["late.jsonl"]]
        if isinstance(row, dict) and row.get("memories_cited")
    }
    found = published(home, "SELECT interaction_id, memory_id FROM memory_references WHERE is_cited")
    assert sorted(found) == sorted((at, memory_id) for at, memory_ids in cited.items() for memory_id in memory_ids)
    assert published(home, "SELECT sum(cited_count)::INT FROM memory_health") == [(len(found),)]


@pytest.mark.slow
@each_release
def test_a_home_left_long_ago_loses_only_partitions_that_no_kept_run_names(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path, left=timedelta(days=3))
    before, landed, as_of = published(home, COUNTS), landed_files(home), last_as_of(home)
    evidence = evidence_files(home)
    kept = {run.stem for run in home.settings.serving.glob("*/*.duckdb")}
    inputs = [file for of_day in Lake(Path(home.settings.lake)).files(DayInputs.name).values() for file in of_day]
    named = pl.concat([pl.read_parquet(file.path) for file in inputs if file.path.stem in kept])["fingerprint"]

    night = home.nightly(as_of)

    assert published(home, COUNTS) == before
    assert_every_day_was_built(night, home)
    assert landed_files(home) == landed
    left = {path: at for path, at in evidence_files(home).items() if path in evidence}
    assert left == {path: at for path, at in evidence.items() if Path(path).stem in set(named)}
    assert len(left) < len(evidence)  # it had some that nothing names any more


@pytest.mark.slow
@each_release
def test_a_night_with_new_rows_builds_their_days_alone(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    home.nightly(last_as_of(home))
    home.land(
        {"interaction_id": "i-new", "created_at": "2026-03-09T08:00:00Z", "project": "shop", "prompt": "What is new?"}
    )
    night = home.nightly(last_as_of(home))
    assert [(str(day.day), day.reason) for day in night.built] == [("2026-03-09", "new day")]


@pytest.mark.slow
@each_release
def test_a_full_rebuild_finds_what_that_release_built(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    before = published(home, COUNTS)
    home.nightly(last_as_of(home))
    references = "SELECT * EXCLUDE (run_id) FROM memory_references ORDER BY ALL"
    counted = published(home, references)
    home.nightly(last_as_of(home), full=True)  # a partition that differs would stop it
    assert published(home, COUNTS) == before
    assert published(home, references) == counted


@each_release
def test_what_that_release_landed_is_a_duplicate_when_it_comes_again(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    for name, rows in deliveries().items():
        (home.folder / "inbox").mkdir(exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in reversed(rows)]
        (home.folder / "inbox" / name).write_text("\n".join(lines) + "\n")
    done = home.ask("land", "--format", "json")
    totals = json.loads(done.stdout)["totals"]
    assert (totals["accepted"], totals["quarantined"]) == (0, 2)
    assert totals["duplicate"] == totals["delivered"] - 2 > 60


@pytest.mark.slow
@each_release
def test_that_is_so_of_outcomes_inside_interactions_however_many_rows_land_after(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    given = [row for row in deliveries()["log.jsonl"] if isinstance(row, dict) and row.get("basis") == "evaluated"]
    assert len(given) > 5
    for number in range(COMPACT_FROM_FILES):
        home.land(*({**row, "interaction_id": f"i-{number}-{at}"} for at, row in enumerate(given)))
    home.land(*given)
    (last,) = (
        Lake(Path(home.settings.lake)).ledger(RunFiles).sort("landed_at")[-1].select("accepted", "duplicate").rows()
    )
    assert last == (0, len(given))


@each_release
def test_readers_open_it_before_any_night_and_change_nothing(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    before = home.contents()

    rows = home.run("sql", "SELECT count(*) AS n FROM memories", "--format", "json")
    assert json.loads(rows.stdout)[0]["n"] > 10, rows.stderr
    found = published(home, "SELECT memory_id, eligible_count, reference_count FROM memory_health ORDER BY memory_id")
    for memory_id, *counts in found if IS_THOROUGH else found[::4]:
        why = home.ask("why", memory_id, "--format", "json")
        told = json.loads(why.stdout)
        assert [len(told["eligible"]), len(told["references"])] == counts, why.stderr
    status = json.loads(home.ask("status", *_WHENEVER, "--format", "json").stdout)
    assert [line["name"] for line in status["lines"] if line["state"] == "error"] in ([], ["interactions"])
    assert home.ask("review", "list").returncode == 0
    assert f"the next night brings it to {WHOLE_FORMAT}" in " ".join(home.ask("doctor").stdout.split())

    assert home.contents() == before


@each_release
def test_what_was_believed_then_is_had_again(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    query = "SELECT memory_id, eligible_count, injected_count FROM memory_health ORDER BY memory_id"
    done = home.ask("sql", query, "--as-of", "2026-03-04", "--format", "json")
    assert done.returncode == 0, done.stderr
    then = {row["memory_id"]: row for row in json.loads(done.stdout)}
    assert set(then) == {"m-prices", "m-tests", "m-deploy", "m-logs", "m-alerts", "m-style"}
    assert then["m-style"]["eligible_count"] == 24
    assert published(home, COUNTS)[0] is not None


@pytest.mark.slow
@each_release
def test_a_decision_of_then_still_counts(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    home.nightly()
    held = published(home, "SELECT memory_id, content FROM memory_health WHERE content ILIKE '%refunds%'")
    assert len(held) == 1
    rows = Lake(Path(home.settings.lake))
    files = [file for of_day in rows.files("decisions").values() for file in of_day]
    assert pl.concat([pl.read_parquet(file.path) for file in files])["command"].sort().to_list() == [
        "forget hold",
        "review promote",
    ]
