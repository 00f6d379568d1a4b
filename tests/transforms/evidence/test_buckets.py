"""Buckets of a day: every interaction is in one, and projects are kept together."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.evidence.buckets import buckets_count, of_bucket


@given(st.lists(st.sampled_from(["", "shop", "Shop", "blog", "größe"]), max_size=40), st.integers(1, 9), st.randoms())
def test_every_interaction_is_in_one_bucket_whatever_the_order(projects, count, chance) -> None:
    rows = [(f"i{number}", project) for number, project in enumerate(projects)]
    schema = {"interaction_id": pl.String, "project": pl.String}
    buckets = [of_bucket(pl.DataFrame(rows, schema, orient="row"), bucket, count) for bucket in range(count)]
    chance.shuffle(rows)
    again = [of_bucket(pl.DataFrame(rows, schema, orient="row"), bucket, count) for bucket in range(count)]
    assert [bucket.rows() for bucket in again] == [bucket.rows() for bucket in buckets]
    assert sorted(row for bucket in buckets for row in bucket.rows()) == sorted(rows)
    sizes = {bucket.height for bucket in buckets}
    assert max(sizes) - min(sizes) <= 1
    in_order = pl.concat(buckets)
    runs = in_order["project"].rle_id().max()
    assert in_order.is_empty() or runs == in_order["project"].n_unique() - 1
    assert all(of_project["interaction_id"].is_sorted() for of_project in in_order.partition_by("project"))


def test_a_small_day_has_one_bucket() -> None:
    assert [buckets_count(size, 100) for size in (0, 1, 100)] == [1, 1, 1]
    assert [buckets_count(size, 100) for size in (101, 1_000)] == [2, 10]
