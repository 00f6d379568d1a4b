"""What the answers rest on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Lifts:
    """Memories with a lift, and of how many the whole interval lies above 0, or below."""

    count: int = 0
    above: int = 0
    below: int = 0


@dataclass(frozen=True, kw_only=True)
class LogCounts:
    """What a log holds.

    Args:
        interactions: that landed.
        given: of them those that name a memory that they were given.
        relied: of them those whose answer was found to echo a memory, or to use it.
        cited: of them those whose answer itself names a memory that it relied on.
        texts: memories with a text that may be of these interactions.
        eligible: of them those that were active in an interaction.
        outcomes: that landed.
        attempts: of them those that were really tried, and count.
        inferred: of these those that nobody reported.
        apart: attempts that were inferred, and count for nothing.
        tried: of the attempts that count those with a strategy that is learned from.
        strategies: that these tried.
        ended: interactions with an attempt: it is known how they ended.
        ended_given: of them those that name a memory that they were given.
        drawn: of `ended` those in which chance decided which of the offered memories were given.
        fair: lifts where chance or a score threshold decided who was given the memory.
        associated: lifts of any other basis.
        is_replayed: false of rows that have landed and that no night has looked at yet: what that would find is 0.
    """

    interactions: int = 0
    given: int = 0
    relied: int = 0
    cited: int = 0
    texts: int = 0
    eligible: int = 0
    outcomes: int = 0
    attempts: int = 0
    inferred: int = 0
    apart: int = 0
    tried: int = 0
    strategies: int = 0
    ended: int = 0
    ended_given: int = 0
    drawn: int = 0
    fair: Lifts = Lifts()
    associated: Lifts = Lifts()
    is_replayed: bool = True
