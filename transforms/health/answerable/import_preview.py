"""What the rows of an import hold, before a night has looked at them."""

from __future__ import annotations

from slowwave.transforms.health.answerable.answer_counts import LogCounts
from slowwave.transforms.imports.delivery_lines import CountedOutcome, RowCounts
from slowwave.transforms.learning.params import AttemptParams


def imported_counts(rows: RowCounts, params: AttemptParams) -> LogCounts:
    """The counts of `rows`, which inferred outcomes are part of as the params say (see `with_apart`)."""
    known = {one.interaction_id for one in rows.ended if not one.is_inferred and one.interaction_id}

    def is_apart(one: CountedOutcome) -> bool:
        if not one.is_inferred:
            return False
        return not params.learn_from_inferred or one.interaction_id in known

    attempts = {one: count for one, count in rows.ended.items() if one.is_attempt and not is_apart(one)}
    ended = {one.interaction_id for one in attempts if one.interaction_id}
    return LogCounts(
        interactions=rows.interactions,
        given=len(rows.given),
        cited=len(rows.cited),
        texts=rows.texts,
        outcomes=sum(rows.ended.values()),
        attempts=sum(attempts.values()),
        inferred=sum(count for one, count in attempts.items() if one.is_inferred),
        apart=sum(count for one, count in rows.ended.items() if one.is_attempt and is_apart(one)),
        tried=sum(count for one, count in attempts.items() if one.has_strategy),
        ended=len(ended),
        ended_given=len(ended & rows.given),
        is_replayed=False,
    )
