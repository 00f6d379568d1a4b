"""What `nightly --plan` says besides the days: the engine, and the tables that changed params publish anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_homes import plain_home

pytestmark = pytest.mark.slow


def test_the_plan_names_what_changed_params_decide_and_the_engine(tmp_path: Path) -> None:
    home = plain_home(tmp_path / "home")
    assert "params" not in home.ask("nightly", "--plan").stdout
    home.settings.params_file.write_text("[forgetting]\nrecent_days = 3\n")
    home.settings.settings_file.write_text('[engine]\nengine = "dask"\nworkers = 3\n')
    before = home.contents()
    said = home.ask("nightly", "--plan").stdout
    told = " ".join(said.split())
    assert "params changed since the last publish: every table is published anew" in told
    assert "forgetting.recent_days is not at its default: it decides" in told
    assert "forgetting_plan" in told
    assert "memory_references" not in told  # which no rule of forgetting changes
    assert "dask, 3 workers started here" in told
    assert "engine" not in home.ask("nightly", "--plan", "--engine", "local").stdout
    assert home.contents() == before
