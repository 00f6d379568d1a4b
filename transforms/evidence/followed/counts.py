"""How many answers follow each instruction: asked of the checks that are published."""

from __future__ import annotations

from slowwave.transforms.core.node import PublishedQuery

# An answer follows an instruction if all that was checked in it says so.
FOLLOWED_COUNTS = PublishedQuery(
    """
SELECT memory_id, count_if(is_followed) AS followed_count, count_if(NOT is_followed) AS not_followed_count
FROM (
    SELECT memory_id, interaction_id, bool_and(is_followed) AS is_followed
    FROM instruction_checks
    GROUP BY memory_id, interaction_id
)
GROUP BY memory_id
""",
    {"memory_id": str, "followed_count": int, "not_followed_count": int},
)
