"""The benchmark's judgement of a night against the record, on made-up nights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from night_record import REST, WHOLE, Cost, Round, exponents, judged, night_round, over

RECORDED = {"land": 4.0, "echo": 6.0, "fits": 0.5, REST: 2.0, WHOLE: 12.5}


def a_night(times: float = 1.0, stage: str = "echo", limit: float = 0.5) -> Cost:
    """Three rounds that cost what is recorded, but for one stage."""
    ratios = {**RECORDED, stage: RECORDED.get(stage, 10.0) * times}
    return Cost([Round(limit, {name: ratio * limit for name, ratio in ratios.items()})] * 3)


def measured_in_turn(*nights: Cost) -> tuple[Iterator[Cost], list[int]]:
    """Nights, and a list that grows with each one taken."""
    taken: list[int] = []

    def each() -> Iterator[Cost]:
        for place, night in enumerate(nights):
            taken.append(place)
            yield night

    return each(), taken


def test_a_stage_over_the_record_twice_in_a_row_fails() -> None:
    nights, taken = measured_in_turn(a_night(1.4), a_night(1.4))
    judgement = judged(lambda: next(nights), RECORDED)
    assert judgement.failed == {"echo": pytest.approx(1.4)}
    assert taken == [0, 1]


def test_another_machine_may_be_allowed_more() -> None:
    nights, taken = measured_in_turn(a_night(1.9), a_night(2.1), a_night(2.1))
    assert judged(lambda: next(nights), RECORDED, 2.0).failed == {}
    assert judged(lambda: next(nights), RECORDED, 2.0).failed == {"echo": pytest.approx(2.1)}
    assert taken == [0, 1, 2]


def test_once_does_not() -> None:
    nights, taken = measured_in_turn(a_night(1.4), a_night(1.0))
    judgement = judged(lambda: next(nights), RECORDED)
    assert judgement.failed == {}
    assert judgement.doubted == {"echo": pytest.approx(1.4)}
    assert taken == [0, 1]


def test_two_stages_over_once_each_do_not() -> None:
    nights, _ = measured_in_turn(a_night(1.4, "echo"), a_night(1.4, "land"))
    assert judged(lambda: next(nights), RECORDED).failed == {}


def test_what_fits_the_record_is_measured_once() -> None:
    nights, taken = measured_in_turn(a_night(1.29), a_night(1.0))
    assert judged(lambda: next(nights), RECORDED).failed == {}
    assert taken == [0]


@pytest.mark.parametrize("stage", ["land", "echo", REST, WHOLE])
def test_every_stage_the_rest_and_the_whole_are_judged(stage: str) -> None:
    assert set(over(a_night(1.4, stage), RECORDED)) == {stage}


def test_stages_below_a_fifth_of_a_second_are_not_judged() -> None:
    assert over(a_night(1.4, "fits", limit=0.28), RECORDED) == {}  # .196 s
    assert set(over(a_night(1.4, "fits", limit=0.29), RECORDED)) == {"fits"}  # .203 s


def test_a_slower_machine_is_no_slower_night() -> None:
    assert over(a_night(1.0, limit=5.0), RECORDED) == {}


def test_what_the_record_does_not_know_is_not_judged() -> None:
    assert over(a_night(4.0, "a new stage"), RECORDED) == {}
    assert over(a_night(3.0), {}) == {}


def test_a_ratio_is_the_median_of_rounds_each_with_its_own_limit() -> None:
    rounds = [Round(limit, {"echo": seconds}) for limit, seconds in ((1.0, 6.0), (2.0, 10.0), (0.1, 3.0))]
    assert Cost(rounds).ratio("echo") == 6.0
    assert Cost(rounds).seconds("echo") == 6.0


def test_the_rest_is_what_no_stage_took() -> None:
    said: Mapping[str, float] = {"cpu": 10.0, "peak_mb": 300.0, "tree_peak_mb": 400.0, "wall": 9.0}
    night = night_round(said, {"land": 2.0, "echo": 5.0}, limit=0.5)
    assert night.seconds == {"land": 2.0, "echo": 5.0, REST: 3.0, WHOLE: 10.0}
    assert sum(seconds for name, seconds in night.seconds.items() if name != WHOLE) == night.seconds[WHOLE]


def test_exponents_of_growth() -> None:
    few = Cost([Round(1.0, {"echo": 0.5, "used": 0.3, "need": 0.01, "lift": 0.06})])
    many = Cost([Round(1.0, {"echo": 5.0, "used": 30.0, "need": 0.9, "lift": 0.06})])
    assert exponents(few, many, 10) == {"echo": 1.0, "used": 2.0}  # the others take too little to tell
