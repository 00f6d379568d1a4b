"""How often each memory was eligible since it was last used: asked of the history that is published."""

from __future__ import annotations

from slowwave.transforms.core.node import PublishedQuery

# Counts only grow, so a memory was last touched on the first of the days with the most injections and references.
MEMORY_TOUCHES = PublishedQuery(
    """
SELECT
    memory_id,
    eligible_count,
    CASE WHEN touches > 0 THEN last_touch.day END AS touched_day,
    eligible_count - last_touch.eligible_count AS eligible_since_touch
FROM (
    SELECT
        memory_id,
        max(eligible_count) AS eligible_count,
        max(injected_count + reference_count) AS touches,
        arg_max(
            {'day': day - DATE '1970-01-01', 'eligible_count': eligible_count},
            (injected_count + reference_count)::HUGEINT * 10000000 - (day - DATE '1970-01-01')
        ) AS last_touch
    FROM memory_health_history
    GROUP BY memory_id
)
""",
    {"memory_id": str, "eligible_count": int, "touched_day": int, "eligible_since_touch": int},
)
