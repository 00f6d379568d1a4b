"""The timeline of one thing: a lane for each kind of event that there is, few marks, whatever the texts are."""

from __future__ import annotations

from datetime import datetime, timedelta

from slowwave.dashboards.charts.memories import event_timeline
from slowwave.dashboards.charts.parts import is_blank

START = datetime(2026, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
HOSTILE = "<script>alert(1)</script>\n\x1b[31m \u202e" + "x" * 500


def marks_of(events, lanes):
    spec = event_timeline("t", events, lanes).to_dict()
    return spec["datasets"][spec["data"]["name"]]


def test_events_of_a_day_are_one_mark_in_the_lane_of_their_kind():
    events = [(START, "injected"), (START + timedelta(hours=1), "injected"), (START, "changed"), (START, "other")]
    marks = marks_of(events, ["injected", "quoted", "changed"])
    assert {(mark["lane"], mark["count"]) for mark in marks} == {("injected", 2), ("changed", 1)}


def test_many_events_are_a_few_hundred_marks_and_none_is_lost():
    marks = marks_of([(START + timedelta(hours=at), "injected") for at in range(20_000)], ["injected"])
    assert len(marks) <= 200
    assert sum(mark["count"] for mark in marks) == 20_000


def test_texts_of_the_log_are_short_lanes_without_controls():
    lanes = {mark["lane"] for mark in marks_of([(START, HOSTILE), (START, f"{HOSTILE}y")], [HOSTILE, f"{HOSTILE}y"])}
    assert len(lanes) == 2
    assert all(len(lane) < 40 and lane.isprintable() for lane in lanes)


def test_nothing_to_draw_is_said():
    assert is_blank(event_timeline("t", [], ["injected"]))
