"""Buckets of a day: parts of its interactions, by project, that can be looked through one after the other or at once.

What is found in a text depends on that interaction and the memories of its project: any division gives the same rows.
This one keeps the interactions of a project together, whose memories are then prepared once; only a project that is
larger than a bucket is divided, by ranges of interaction_id. Files of the lake have their rows in the same order, so
that of a bucket little else is read.
"""

from __future__ import annotations

import polars as pl

# The order of what is divided, and of the rows in a file.
ORDER = ("project", "interaction_id")


def buckets_count(day_bytes: int, bucket_bytes: int) -> int:
    """How many buckets a day of so many bytes, decoded, has: one while it is small; nothing kept depends on it."""
    return max(1, -(-day_bytes // bucket_bytes))


def of_bucket(interactions: pl.DataFrame, bucket: int, count: int) -> pl.DataFrame:
    """The interactions in one of `count` buckets, the first of which is 0; as many in each, or one more; in `ORDER`.

    `interactions`: interaction_id, project, of a day, one row per interaction_id.
    """
    ordered = interactions.sort(ORDER)
    first, end = (ordered.height * number // count for number in (bucket, bucket + 1))
    return ordered.slice(first, end - first)
