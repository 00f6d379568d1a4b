"""Buckets of a day: every interaction is in one, and projects are kept together."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.flows.lake.pieces import Between
from slowwave.transforms.evidence.buckets import ORDER, bucket_ends, buckets_count


@given(st.lists(st.sampled_from(["", "shop", "Shop", "blog", "größe"]), max_size=40), st.integers(1, 9), st.randoms())
def test_every_interaction_is_in_one_bucket_whatever_the_order(projects, count, chance) -> None:
    rows = [(f"i{number}", project) for number, project in enumerate(projects)]
    frame = pl.DataFrame(rows, {"interaction_id": pl.String, "project": pl.String}, orient="row")
    ends = bucket_ends(frame.select(ORDER), count)
    assert bucket_ends(frame.select(ORDER).sample(fraction=1, shuffle=True, seed=chance.randrange(99)), count) == ends
    assert 1 <= len(ends) <= count
    buckets = [frame.sort(ORDER).filter(Between(ORDER, first, end).holds()) for first, end in ends]
    assert pl.concat(buckets).equals(frame.sort(ORDER))
    sizes = {bucket.height for bucket in buckets}
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.sampled_from(["", "a", "b"]), min_size=20, max_size=40), st.integers(2, 5))
def test_a_sample_divides_them_all_the_same(projects, count) -> None:
    frame = pl.DataFrame({"interaction_id": [f"i{n}" for n in range(len(projects))], "project": projects})
    ends = bucket_ends(frame.select(ORDER).gather_every(3), count)
    assert pl.concat([frame.filter(Between(ORDER, *each).holds()) for each in ends]).height == len(projects)


def test_a_small_day_has_one_bucket() -> None:
    assert [buckets_count(size, 100) for size in (0, 1, 100)] == [1, 1, 1]
    assert [buckets_count(size, 100) for size in (101, 1_000)] == [2, 10]
