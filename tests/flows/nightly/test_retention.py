"""What goes by age: what was published before, and the texts of refused rows; counts, reasons and answers stay."""

from __future__ import annotations

import gzip
import json
import os
import time
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.landing.ledger_tables import Quarantine

AS_OF = datetime(2026, 3, 9)  # noqa: DTZ001 - times are naive and hold UTC everywhere
RULES = "[retention]\nruns_days = 30\nquarantine_days = 90\n"


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m"), interaction("i"), {"interaction_id": "bad", "prompt": "In the attic", "created_at": "soon"})
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(json.dumps(interaction("cut")).encode(), mtime=0)[:-9])
    made.ask("land", str(cut), "--max-refused", "1")
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001
    made.nightly(AS_OF)
    made.settings.settings_file.write_text(RULES)
    return made


def grown_old(home: SmallHome) -> None:
    """All files of runs 40 days old, all refused rows 100."""
    old = time.time() - 40 * 86_400
    for path in [*home.folder.glob("serving/*/*"), *home.folder.glob("reports/*")]:
        os.utime(path, (old, old))
    lake = Lake(home.settings.lake_folder)
    for files in lake.files(Quarantine.name).values():
        for file in files:
            pl.read_parquet(file.path).with_columns(pl.col("landed_at").dt.offset_by("-100d")).write_parquet(file.path)


def refused(home: SmallHome) -> list[tuple[str, str, str | None]]:
    rows = Lake(home.settings.lake_folder).ledger(Quarantine)
    return sorted(rows.select("reason", "raw_text", "kept_file").rows(), key=str)


@pytest.mark.slow
def test_what_is_old_goes_at_night_and_what_it_counts_stays(home: SmallHome) -> None:
    before, reasons = home.contents(), [row[0] for row in refused(home)]
    assert "nothing is that old" in home.ask("lake", "retain", "--yes").stdout
    asked_for_nothing = home.ask("lake", "retain")
    assert (asked_for_nothing.returncode, asked_for_nothing.stderr) == (0, "")
    assert home.contents().keys() == before.keys()
    grown_old(home)
    shown = home.ask("lake", "retain", "--dry-run").stdout
    for thing in ("1 × serving file", "2 × text of a refused row", "1 × file that could not be read"):
        assert thing in shown
    assert home.contents().keys() == before.keys()
    current = home.settings.current.resolve()
    assert home.nightly(datetime(2026, 3, 10)).retained.count("×") == 3  # noqa: DTZ001
    assert current.exists()  # it has only now ceased to be current
    assert [row[0] for row in refused(home)] == reasons
    assert {row[1:] for row in refused(home)} == {("", None)}
    assert list(home.folder.glob("lake/quarantine/files/*")) == []
    assert home.ask("land", "--retry-quarantine").returncode == 0
    assert [row[0] for row in refused(home)] == reasons


@pytest.mark.parametrize("days", ["0", "true", '"30"', "1.5"])
def test_a_rule_that_cannot_be_meant_is_refused(tmp_path: Path, days: str) -> None:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m"))
    made.settings.settings_file.write_text(f"[retention]\nruns_days = {days}\n")
    done = made.ask("lake", "retain", "--dry-run")
    assert (done.returncode, "runs_days" in done.stderr) == (1, True)


def test_a_night_with_such_a_rule_does_nothing(home: SmallHome) -> None:
    home.settings.settings_file.write_text("[retention]\nruns_days = 0\n")
    before = home.settings.current.resolve()
    with pytest.raises(UserError, match="runs_days"):
        home.nightly(datetime(2026, 3, 10))  # noqa: DTZ001
    assert home.settings.current.resolve() == before


def test_without_rules_nothing_goes_and_it_says_how_to_state_them(tmp_path: Path) -> None:
    made = SmallHome(tmp_path / "home")
    made.land(memory("m"))
    done = made.ask("lake", "retain", "--dry-run")
    assert (done.returncode, "[retention]" in done.stdout) == (0, True)
