"""Numbers and names as they stand in a sentence: senses, ends of intervals, small values and spans of time."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.dashboards import words
from slowwave.dashboards.report import night_story as story
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import span

COUNTS = st.integers(0, 10**12)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.6, "0.60"), (1.0, "1.00"), (0.0, "0.00"), (-0.07, "−0.07"), (-0.001, "0.00"), (0.999, "1.00"), (12.5, "12.50")],
)
def test_a_part_has_two_digits_and_no_nought(value: float, expected: str) -> None:
    assert words.part(value) == expected


@given(st.floats(-1, 1), st.integers(1, 6))
def test_a_change_always_has_its_sign_and_is_the_number(value: float, digits: int) -> None:
    said = words.change(value, digits)
    assert said[0] in "+−"
    assert float(said.replace("−", "-")) == pytest.approx(round(value, digits), abs=10**-digits)


def test_intervals_do_not_run_into_a_minus_sign() -> None:
    assert words.interval(0.6, 0.95) == "0.60–0.95"
    assert words.interval(-0.1, 0.2) == "−0.10 to 0.20"


@given(COUNTS)
def test_a_count_is_said_whole(count: int) -> None:
    said = format_count(count, "memory", "memories")
    assert said == f"{count:,} {'memory' if count == 1 else 'memories'}"
    assert words.number_of(count, "memory", "memories") == (said if count else "no memories")
    assert words.number_of(count, "row") == (format_count(count, "row") if count else "no rows")


@given(st.text(max_size=300))
def test_what_is_quoted_is_one_short_line_that_prints(text: str) -> None:
    for said in (words.quote_text(text), words.project_label(text), story.excerpt(text)):
        assert "\n" not in said
        assert len(said) <= 242
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", said)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (timedelta(minutes=5), "5 minutes"),
        (timedelta(hours=26), "26 hours"),
        (timedelta(days=3), "3 days"),
        (timedelta(days=2, hours=23), "2 days"),  # as `slowwave status` has it: cut off
        (timedelta(minutes=-5), "no minutes"),
    ],
)
def test_a_span_has_one_unit(length: timedelta, expected: str) -> None:
    assert span(length) == expected


@pytest.mark.parametrize(
    ("skill", "low", "high", "expected"),
    [
        (0.03, -0.01, 0.16, "is 3 % better than the base rate, by log loss (90 % interval −1 % to 16 %)"),
        (-0.03, -0.16, -0.01, "is 3 % worse than the base rate, by log loss (90 % interval 1 % to 16 %)"),
        (-0.03, -0.16, 0.02, "is 3 % worse than the base rate, by log loss (90 % interval −2 % to 16 %)"),
        (-0.001, -0.16, 0.02, "is 0 % better than the base rate, by log loss (90 % interval −16 % to 2 %)"),
        (-0.0126, -0.0886, -0.005, "is 1 % worse than the base rate, by log loss (90 % interval 0.5 % to 9 %)"),
        (0.02, -0.0031, 0.0001, "is 2 % better than the base rate, by log loss (90 % interval −0.3 % to 0 %)"),
        (-0.5, None, 0.02, "is 50 % worse than the base rate, by log loss"),
    ],
)
def test_a_skill_and_its_interval_have_one_sense(
    skill: float, low: float | None, high: float | None, expected: str
) -> None:
    assert words.beside_base_rate(skill, low, high) == expected


@given(st.floats(-1, 1))
def test_a_percentage_is_the_number_and_nothing_has_no_sign(value: float) -> None:
    said = words.percent(value)
    assert float(said.removesuffix(" %").replace("−", "-")) == pytest.approx(100 * value, abs=0.5)
    assert said != "−0 %"


@pytest.mark.parametrize(
    ("value", "part", "points"),
    [(0.0, "0.00", "0.0"), (0.0004, "below 0.01", "below 0.1"), (0.004, "below 0.01", "0.4"), (0.096, "0.10", "9.6")],
)
def test_what_is_small_is_not_said_to_be_nothing(value: float, part: str, points: str) -> None:
    assert words.small_part(value) == part
    assert words.points(value) == points


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (date(2026, 3, 24), date(2026, 3, 30), "2026-03-24 to 2026-03-30"),
        (date(2026, 3, 28), date(2026, 4, 3), "2026-03-28 to 2026-04-03"),
        (date(2025, 12, 29), date(2026, 1, 4), "2025-12-29 to 2026-01-04"),
        (date(2026, 3, 24), date(2026, 3, 24), "2026-03-24"),
    ],
)
def test_dates_are_said_with_their_year(first: date, last: date, expected: str) -> None:
    assert words.dates(first, last) == expected
