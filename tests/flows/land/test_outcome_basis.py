"""How an outcome is known lands with it, whether it is a row of its own or comes with its interaction."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome, interaction, outcome

# Versions of one interaction, recorded at the same moment, whose outcome says another thing of itself or none.
ALIKE = (
    interaction("i1", success=False),
    interaction("i1", success=False, basis="inferred", basis_method="transcript_tests/1"),
    interaction("i1", success=True, basis="inferred", basis_method="transcript_tests/1"),
    interaction("i1", basis="inferred", basis_method="transcript_tests/1"),
)


def asked(home: SmallHome, query: str) -> list[dict[str, Any]]:
    done = home.ask("sql", query, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_what_differs_in_its_basis_alone_is_another_row_in_any_order(tmp_path: Path):
    told = []
    for number, order in enumerate(itertools.permutations(ALIKE)):
        home = SmallHome(tmp_path / f"home-{number}")
        for row in order[:2]:
            home.land(row)
        home.land(*order[2:], *order)
        told.append(
            asked(home, "SELECT outcome_id, success, basis, basis_method, row_hash FROM outcomes_log ORDER BY ALL")
            + asked(home, "FROM outcomes")
            + asked(home, "FROM interactions_log ORDER BY ALL")
        )
    assert all(one == told[0] for one in told)
    assert len(told[0]) == 3 + 1 + 2


@pytest.mark.parametrize("form", ["inline", "of its own"])
def test_a_later_version_may_say_how_it_is_known(form: str, tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    row = interaction("i1", success=True) if form == "inline" else outcome("o1")
    home.land(row)
    home.land({**row, "basis": "evaluated", "basis_method": "judge/3", "recorded_at": "2026-03-03"})
    (found,) = asked(home, "SELECT basis, basis_method, extra FROM outcomes")
    assert found == {"basis": "evaluated", "basis_method": "judge/3", "extra": None}
    assert asked(home, "SELECT count(*) AS n FROM outcomes_log") == [{"n": 2}]
