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

Place = tuple[str, ...]


def buckets_count(day_bytes: int, bucket_bytes: int) -> int:
    """How many buckets a day of so many bytes, decoded, has: one while it is small; nothing kept depends on it."""
    return max(1, -(-day_bytes // bucket_bytes))


def bucket_ends(rows: pl.DataFrame, count: int) -> list[tuple[Place, Place | None]]:
    """Where `count` buckets begin, and before which place they end (None: nowhere): as many in each, or one more.

    `rows`: what orders them, such as `ORDER`, of some, such as every hundredth. Fewer buckets, where they are fewer.
    """
    ordered = rows.unique().sort(rows.columns)
    firsts = sorted({ordered.height * number // count for number in range(1, count)} - {0})
    places: list[Place] = [(), *(ordered.row(at) for at in firsts if at < ordered.height)]
    return list(zip(places, [*places[1:], None], strict=True))
