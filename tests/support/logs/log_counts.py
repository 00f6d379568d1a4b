"""What logs hold that answers differ for: one of each kind, and any that can be."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from slowwave.transforms.health.answerable.answer_counts import Lifts, LogCounts

_ASKED = LogCounts(interactions=1200)
_KNOWN = replace(_ASKED, texts=12, eligible=12)
_GIVEN = replace(_KNOWN, given=900, relied=310)
_ATTEMPTED = replace(_GIVEN, outcomes=1420, attempts=1380)
_ENDED = replace(_ATTEMPTED, tried=1340, strategies=9, ended=1100)
_BOTH = replace(_ENDED, ended_given=800)

CASES: dict[str, LogCounts] = {
    "nothing": LogCounts(),
    "memories only": LogCounts(texts=12),
    "outcomes only": LogCounts(outcomes=1420, attempts=1380, tried=1340, strategies=9),
    "transcripts": _ASKED,
    "transcripts, memories not in use": replace(_ASKED, texts=12),
    "transcripts, memories in use": _KNOWN,
    "only ids of memories": replace(_ASKED, given=900),
    "memories are given": _GIVEN,
    "given, and no use is found": replace(_GIVEN, relied=0),
    "given, and answers cite them": replace(_GIVEN, cited=25),
    "cited, and no other use is found": replace(_GIVEN, relied=0, cited=25),
    "no outcome is of an attempt": replace(_GIVEN, outcomes=1420),
    "outcomes are inferred": replace(_GIVEN, outcomes=1420, apart=1400),
    "attempts are of no interaction": _ATTEMPTED,
    "outcomes, and no memory is given": replace(_ENDED, given=0, relied=0, texts=0, eligible=0),
    "always given": replace(_ENDED, given=1200, ended_given=1100),
    "given or not": _BOTH,
    "given or not, by chance": replace(_BOTH, drawn=1100),
    "associated": replace(_BOTH, associated=Lifts(count=1012, above=40, below=3)),
    "compared": replace(_BOTH, drawn=1100, fair=Lifts(count=1012, above=40, below=3), associated=Lifts(count=2)),
    "attempts of no interaction, and inferred ones": replace(_ATTEMPTED, outcomes=2420, apart=1000),
    "compared, and some are inferred": replace(
        _BOTH, drawn=1100, outcomes=2420, apart=1000, fair=Lifts(count=1012, above=40, below=3)
    ),
    "what is inferred is learned from": replace(_ENDED, inferred=900, apart=30),
    "always given, and all is inferred": replace(_ENDED, given=1200, ended_given=1100, tried=0, inferred=1380),
    "just imported": LogCounts(interactions=1200, outcomes=1420, apart=1400, is_replayed=False),
    "just imported, with memories": LogCounts(
        interactions=1200, given=900, outcomes=1420, apart=20, attempts=1380, tried=1340, ended=1100,
        ended_given=800, is_replayed=False,
    ),
    "just imported, without inferred ones": LogCounts(
        interactions=1200, given=900, outcomes=1420, attempts=1380, tried=1340, ended=1100, ended_given=800,
        is_replayed=False,
    ),
    "one of each": LogCounts(
        interactions=1, given=1, relied=1, texts=1, eligible=1, outcomes=1, attempts=1, tried=1, strategies=1,
        ended=1, ended_given=1, fair=Lifts(count=1, above=1),
    ),
    "one of each, and little told": LogCounts(interactions=1, texts=1, outcomes=1, attempts=1, ended=1),
    "one attempt of no interaction": LogCounts(interactions=1, given=1, texts=1, outcomes=1, attempts=1),
    "one outcome of no attempt": LogCounts(interactions=1, given=1, texts=1, eligible=1, outcomes=1),
}  # fmt: skip


@st.composite
def lifts(draw: st.DrawFn, most: int) -> Lifts:
    count = draw(st.integers(0, most))
    above = draw(st.integers(0, count))
    return Lifts(count=count, above=above, below=draw(st.integers(0, count - above)))


@st.composite
def log_counts(draw: st.DrawFn, most: int = 3000) -> LogCounts:
    """Counts as a log can have them: no part is more than its whole."""

    def part(whole: int) -> int:
        return draw(st.sampled_from([0, whole]) | st.integers(0, whole))

    interactions, texts, outcomes = part(most), part(most), part(most)
    given_any, attempts = part(interactions), part(outcomes)
    inferred, apart = part(attempts), part(outcomes - attempts)
    tried, ended = part(attempts), part(min(interactions, attempts))
    ended_given = part(min(ended, given_any))
    compared = st.just(Lifts()) if not ended else lifts(most)
    return LogCounts(
        interactions=interactions, given=given_any, relied=part(interactions),
        cited=part(interactions), texts=texts, eligible=part(texts),
        outcomes=outcomes, attempts=attempts, inferred=inferred, apart=apart, tried=tried,
        strategies=min(tried, max(1, part(tried))), ended=ended,
        ended_given=ended_given, drawn=part(ended), fair=draw(compared), associated=draw(compared),
    )  # fmt: skip
