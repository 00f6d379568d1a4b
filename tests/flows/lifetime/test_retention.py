"""What expires by age: texts, evidence, old publishes, refused rows. Every published number stays as it was."""

from __future__ import annotations

import gzip
import json
import os
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from crash_home import published
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import Quarantine, Runs
from slowwave.transforms.landing.tables import Interactions

RULES = "[retention]\ntexts_days = 30\nevidence_days = 30\n"
TOLD = "Prices are kept as whole numbers of cents in the ledger table of the shop."
ASKED = "In which column of which table do we keep what things cost?"
AS_OF = datetime(2026, 3, 9)  # noqa: DTZ001 - times are naive and hold UTC everywhere
RUN_RULES = "[retention]\nruns_days = 30\nquarantine_days = 90\n"


def day(days_ago: int) -> str:
    return (utc_now() - timedelta(days=days_ago)).strftime("%Y-%m-%dT09:00:00Z")


def told(name: str, days_ago: int, **fields: Any) -> dict[str, Any]:
    response = f"{TOLD} Decision: we keep tabs for indentation everywhere from now on."
    given = {"memories_used": ["m"], "memories_cited": ["m"], "extra_field": ASKED}
    return interaction(name, created_at=day(days_ago), prompt=ASKED, response=response, **given, **fields)


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    made.land(
        memory("m", content=TOLD, changed_at=day(90)),
        *(told(f"old-{at}", 60 + at % 3, success=at % 2 == 0, strategy="look", feedback=TOLD) for at in range(6)),
        told("new", 2),
        outcome("o", created_at=day(60), interaction_id="old-0", feedback=ASKED),
    )
    made.nightly()
    made.settings.settings_file.write_text(RULES)
    return made


def current(home: SmallHome) -> Path:
    found = current_run(home.settings)
    assert found is not None
    return found


def as_of(home: SmallHome) -> datetime:
    runs = Lake(home.settings.lake_folder).ledger(Runs)
    return runs.filter(pl.col("run_id") == current(home).stem)["as_of"].item()


def rows(home: SmallHome) -> pl.DataFrame:
    lake = Lake(home.settings.lake_folder)
    files = [file for of_day in lake.files(Interactions.name).values() for file in of_day]
    return lake.scan_rows(Interactions, files).sort("interaction_id").collect()


def standing(home: SmallHome, text: str) -> set[str]:
    """The days of landed files in which a text stands."""
    paths = [*home.folder.glob("lake/interactions/*/*"), *home.folder.glob("lake/outcomes/*/*")]
    return {path.parent.name for path in paths if text in str(pl.read_parquet(path).to_dicts())}


@pytest.mark.slow
def test_what_is_published_stays_and_a_full_rebuild_has_it_too(home: SmallHome) -> None:
    at, before, landed = as_of(home), published(current(home)), rows(home)
    marker = home.folder / "lake" / "FORMAT"
    assert "6 × texts of interactions" in home.ask("lake", "retain", "--dry-run").stdout
    assert (rows(home).equals(landed), marker.read_text()) == (True, "7\n")
    assert home.ask("lake", "retain", "--yes").returncode == 0
    assert (len(standing(home, ASKED)), len(standing(home, TOLD))) == (1, 1)  # of the last days only
    stays = [name for name in landed.columns if name not in ("prompt", "response", "extra")]
    assert rows(home).select(stays).equals(landed.select(stays))
    assert "nothing is that old" in home.ask("lake", "retain", "--yes").stdout
    assert marker.read_text() == "7\n"  # earlier releases would look in vain for what is gone
    home.nightly(at, full=True)
    after = published(current(home))
    assert {name for name in before if after[name] != before[name]} == set()
    runs = Lake(home.settings.lake_folder).ledger(Runs).sort("run_id")["texts_from"].to_list()
    assert (runs[0], runs[-1]) == (None, (utc_now() - timedelta(days=30)).date())


@pytest.mark.slow
def test_what_is_gone_is_said_and_the_rest_is_listed(home: SmallHome) -> None:
    home.ask("lake", "retain", "--yes")
    asked = home.ask("sql", "SELECT DISTINCT prompt FROM interactions WHERE interaction_id LIKE 'old%'").stdout
    assert "(text expired by retention)" in asked
    assert "(text expired by retention)" in home.ask("why", "old-1", "--all").stdout
    why = json.loads(home.ask("why", "m", "--format", "json").stdout)
    assert (why["counts"]["eligible"], len(why["eligible"]), len(why["echoed"])) == (7, 1, 7)
    assert "6 interactions" in why["problem"]
    assert home.ask("doctor").returncode == 0
    with pytest.raises(UserError, match="have expired"):
        home.nightly(as_of(home) - timedelta(days=59), full=True)
    assert home.nightly(full=True).is_published


@pytest.mark.slow
def test_late_rows_of_a_day_without_texts_count_as_all_others(home: SmallHome) -> None:
    home.ask("lake", "retain", "--yes")
    late = told("late", 60)
    home.land(late, told("old-1", 61), memory("late", content="Nothing of that kind was said.", changed_at=day(80)))
    assert home.nightly().is_published
    why = json.loads(home.ask("why", "m", "--format", "json").stdout)
    assert [why["counts"][name] for name in ("eligible", "injected", "echoed", "used", "cited")] == [8] * 5
    assert standing(home, ASKED) == {f"day={day(2)[:10]}"}  # the night has deleted it, once it was published
    before = rows(home)
    home.land(late)
    assert rows(home).equals(before)  # delivered again it is a duplicate


@pytest.mark.slow
def test_what_landed_since_the_publish_waits_for_the_next_night(home: SmallHome) -> None:
    home.land(told("unseen", 60))
    said = " ".join(home.ask("lake", "retain", "--yes").stdout.split())
    assert "1 day waits for a nightly that publishes what has landed since" in said
    assert f"day={day(60)[:10]}" in standing(home, TOLD)
    home.nightly()
    assert standing(home, TOLD) == {f"day={day(2)[:10]}"}
    why = json.loads(home.ask("why", "m", "--format", "json").stdout)
    assert why["counts"]["echoed"] == 8


@pytest.mark.slow
def test_evidence_retained_of_expired_texts_can_be_erased(home: SmallHome) -> None:
    home.ask("lake", "retain", "--yes")
    done = home.ask("lake", "erase", "--interaction", "old-0", "--yes")
    assert (done.returncode, "still" in done.stdout) == (0, False), done.stdout + done.stderr
    kept = [pl.read_parquet(path) for path in home.folder.glob("lake/kept_*/*/*")]
    assert kept
    assert all("old-0" not in frame["interaction_id"].to_list() for frame in kept)
    why = json.loads(home.ask("why", "m", "--format", "json").stdout)
    assert [why["counts"][name] for name in ("eligible", "injected", "echoed", "used", "cited")] == [6] * 5


@pytest.mark.slow
def test_an_erasure_is_ended_also_where_a_publish_of_the_past_is_current(home: SmallHome) -> None:
    home.ask("lake", "retain", "--yes")
    home.nightly(utc_now() - timedelta(days=5))
    done = home.ask("lake", "erase", "--interaction", "old-0", "--yes")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def refusing(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m"), interaction("i"), {"interaction_id": "bad", "prompt": "In the attic", "created_at": "soon"})
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(interaction("cut")).encode(), mtime=0)[:-9])
    made.ask("land", str(cut), "--max-refused", "1")
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001
    made.nightly(AS_OF)
    made.settings.settings_file.write_text(RUN_RULES)
    return made


def make_old(refusing: SmallHome) -> None:
    """All files of runs 40 days old, all refused rows 100."""
    old = time.time() - 40 * 86_400
    for path in [*refusing.folder.glob("serving/*/*"), *refusing.folder.glob("reports/*")]:
        os.utime(path, (old, old))
    lake = Lake(refusing.settings.lake_folder)
    for files in lake.files(Quarantine.name).values():
        for file in files:
            pl.read_parquet(file.path).with_columns(pl.col("landed_at").dt.offset_by("-100d")).write_parquet(file.path)


def refused(refusing: SmallHome) -> list[tuple[str, str, str | None]]:
    rows = Lake(refusing.settings.lake_folder).ledger(Quarantine)
    return sorted(rows.select("reason", "raw_text", "kept_file").rows(), key=str)


@pytest.mark.slow
def test_what_is_old_goes_at_night_and_what_it_counts_stays(refusing: SmallHome) -> None:
    before, reasons = refusing.contents(), [row[0] for row in refused(refusing)]
    assert "nothing is that old" in refusing.ask("lake", "retain", "--yes").stdout
    asked_for_nothing = refusing.ask("lake", "retain")
    assert (asked_for_nothing.returncode, asked_for_nothing.stderr) == (0, "")
    assert refusing.contents().keys() == before.keys()
    make_old(refusing)
    shown = refusing.ask("lake", "retain", "--dry-run").stdout
    for thing in ("1 × serving file", "2 × text of a refused row", "1 × file that could not be read"):
        assert thing in shown
    assert refusing.contents().keys() == before.keys()
    current = refusing.settings.current.resolve()
    assert refusing.nightly(datetime(2026, 3, 10)).expired.count("×") == 3  # noqa: DTZ001
    assert current.exists()  # it has only now ceased to be current
    assert [row[0] for row in refused(refusing)] == reasons
    assert {row[1:] for row in refused(refusing)} == {("", None)}
    assert list(refusing.folder.glob("lake/quarantine/files/*")) == []
    assert refusing.ask("land", "--retry-quarantine").returncode == 0
    assert [row[0] for row in refused(refusing)] == reasons


@pytest.mark.parametrize("days", ["0", "true", '"30"', "1.5"])
def test_a_rule_that_cannot_be_meant_is_refused(tmp_path: Path, days: str) -> None:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m"))
    made.settings.settings_file.write_text(f"[retention]\nruns_days = {days}\n")
    done = made.ask("lake", "retain", "--dry-run")
    assert (done.returncode, "runs_days" in done.stderr) == (1, True)


def test_a_night_with_such_a_rule_does_nothing(refusing: SmallHome) -> None:
    refusing.settings.settings_file.write_text("[retention]\nruns_days = 0\n")
    before = refusing.settings.current.resolve()
    with pytest.raises(UserError, match="runs_days"):
        refusing.nightly(datetime(2026, 3, 10))  # noqa: DTZ001
    assert refusing.settings.current.resolve() == before


def test_without_rules_nothing_goes_and_it_says_how_to_state_them(tmp_path: Path) -> None:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m"))
    done = made.ask("lake", "retain", "--dry-run")
    assert (done.returncode, "[retention]" in done.stdout) == (0, True)
