"""What a home needs: as the record says, more for more, and said to be extrapolated where it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from slowwave.flows.care.sizing import COSTS, LARGEST, HomeSize, beyond_measured, estimated
from slowwave.flows.cli import main as cli

SUPPORT = Path(__file__).parents[2] / "support" / "night"
NUMBERS = st.integers(0, 10**7)


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SUPPORT))
        import sizing as script

        yield script
        sys.modules.pop("sizing")


@pytest.fixture(scope="module")
def nights(script) -> list[tuple[HomeSize, dict[str, Any]]]:
    rows = json.loads(script.RECORD.read_text())
    return [(size, row[night]) for row in rows for night, size in script.night_sizes(row).items()]


def test_the_coefficients_are_those_that_fit_the_record(script) -> None:
    fitted = script.fitted_costs(json.loads(script.RECORD.read_text()))
    for name, cost in COSTS.items():
        assert cost == pytest.approx(fitted[name], rel=0.02)  # of another machine's last digits


def test_every_measured_night_is_told_within_a_third(script, nights) -> None:
    for size, night in nights:
        for name, cost in COSTS.items():
            assert cost.of(size) == pytest.approx(script.measured_cost(night, name), rel=1 / 3)


def test_the_largest_is_the_largest_of_the_record(nights) -> None:
    assert tuple(LARGEST) == tuple(max(values) for values in zip(*(size for size, _ in nights), strict=True))


@given(NUMBERS, NUMBERS, st.integers(1, 36_500), NUMBERS)
def test_a_larger_home_needs_no_less(new, before, days, memories) -> None:
    size = HomeSize(new, before, days, memories)
    less = estimated(size)
    for larger in (HomeSize(new + 1000, *size[1:]), HomeSize(new, before, days, memories + 1000)):
        assert all(estimated(larger)[name] >= value for name, value in less.items())


@given(st.sampled_from(HomeSize._fields))
def test_what_is_larger_than_measured_is_named(name) -> None:
    assert beyond_measured(LARGEST) == []
    assert len(beyond_measured(LARGEST._replace(**{name: getattr(LARGEST, name) + 1}))) == 1


def test_the_command_says_the_same_in_words_and_as_json() -> None:
    run = CliRunner().invoke
    said = json.loads(run(cli.app, ["plan", "--per-day", "2000", "--days", "90", "--format", "json"]).stdout)
    assert said["later"] == estimated(HomeSize(2000, 180_000, 90, 1_000))
    words = run(cli.app, ["plan", "--per-day", "2000", "--days", "90"]).stdout
    assert words.startswith("2,000 interactions a day, 1,000 memories\n")
    assert f"{said['later']['cpu_seconds']:,.0f} s" in words
    assert "Extrapolated" not in words
    assert (
        "Extrapolated: larger than what was measured in interactions a day"
        in run(cli.app, ["plan", "--per-day", "20000000"]).stdout
    )


@pytest.mark.parametrize(
    "given",
    [["--per-day", "-1"], ["--per-day", "1" * 400], ["--per-day", "many"], [], ["--per-day", "1", "--days", "0"]],
)
def test_what_is_no_size_is_wrong_usage(given) -> None:
    assert CliRunner().invoke(cli.app, ["plan", *given]).exit_code == 2
