"""Which version of a row wins, against a loop, whatever the order of arrival."""

import polars as pl
import pytest
from delivered import utc
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes
from slowwave.transforms.landing.versions import is_visible, winning_versions

TABLES = (Interactions, Outcomes, Memories)
hours = st.integers(0, 5).map(lambda h: utc(2026, 3, 10, h))
versions = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), hours, hours, st.sampled_from(["0f", "1e", "2d", "3c"])), max_size=12
)


def frame_of(table, rows):
    """Rows (id, event time, recorded_at, row_hash) of a landed table."""
    return pl.LazyFrame(
        rows,
        schema={
            table.key[0]: pl.String,
            table.event_time: pl.Datetime("us"),
            "recorded_at": pl.Datetime("us"),
            "row_hash": pl.String,
        },
        orient="row",
    )


def winners_of_a_loop(table, rows, as_of):
    best = {}
    for row in rows:
        memory_id, event_time, recorded_at, row_hash = row
        key = (memory_id, event_time) if table is Memories else memory_id
        if event_time < as_of and recorded_at < as_of:
            held = best.get(key)
            if held is None or (recorded_at, row_hash) > (held[2], held[3]):
                best[key] = row
    # the same id, time and hash is the same row; on event times that differ the hash differs in real rows
    return sorted((row[0], row[2], row[3]) for row in best.values())


@given(st.sampled_from(TABLES), versions, hours, st.randoms(use_true_random=False))
def test_the_latest_visible_version_wins_whatever_the_order_of_arrival(table, rows, as_of, random):
    expected = winners_of_a_loop(table, rows, as_of)
    for arrival in (rows, random.sample(rows, len(rows)), rows + rows[::-1]):
        won = winning_versions(table, frame_of(table, arrival), as_of).collect()
        assert sorted(won.select(table.key[0], "recorded_at", "row_hash").rows()) == expected
        assert won.select(table.key).is_unique().all()


@pytest.mark.parametrize(
    ("event_hour", "recorded_hour", "seen"), [(1, 1, True), (2, 1, False), (1, 2, False), (2, 2, False), (3, 0, False)]
)
def test_both_times_must_lie_before_as_of(event_hour, recorded_hour, seen):
    row = ("a", utc(2026, 3, 10, event_hour), utc(2026, 3, 10, recorded_hour), "0f")
    visible = frame_of(Interactions, [row]).select(is_visible(Interactions, utc(2026, 3, 10, 2))).collect()
    assert visible.item() is seen


def test_a_late_version_does_not_change_what_was_believed_before_it():
    rows = [("a", utc(2026, 3, 10), utc(2026, 3, 10), "0f"), ("a", utc(2026, 3, 8), utc(2026, 3, 12), "1e")]
    for as_of, row_hash in ((utc(2026, 3, 12), "0f"), (utc(2026, 3, 12, 0, 0, 0, 1), "1e")):
        won = winning_versions(Interactions, frame_of(Interactions, rows), as_of).collect()
        assert won["row_hash"].to_list() == [row_hash]


@pytest.mark.parametrize("arrival", [("0f", "1e"), ("1e", "0f")])
def test_of_versions_written_at_one_time_the_greatest_hash_wins(arrival):
    rows = [("a", utc(2026, 3, 10), utc(2026, 3, 10), row_hash) for row_hash in arrival]
    won = winning_versions(Interactions, frame_of(Interactions, rows), utc(2026, 3, 11)).collect()
    assert won["row_hash"].to_list() == ["1e"]
