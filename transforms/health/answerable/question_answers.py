"""The questions that people come with, and what a log answers to each: sentences from counts."""

from __future__ import annotations

from dataclasses import dataclass

from slowwave.transforms.core.vocabularies import Question
from slowwave.transforms.health.answerable.answer_counts import Lifts, LogCounts

_ASKED: dict[Question, str] = {
    "given": "Which memories are agents given?",
    "used": "Which memories do answers rely on?",
    "works": "Which strategies work?",
    "help": "Do the memories help?",
}
_NOT_KNOWN = "Not known"
_LAND = (
    "Land interactions: what was asked (`prompt`), what was answered (`response`), when (`created_at`), and the ids of "
    "the memories that were put into the prompt (`memories_used`)."
)
_NAME_GIVEN = "Record with each interaction the ids of the memories that were put into its prompt (`memories_used`)."
_LAND_TEXTS = (
    "Land the memories: their ids, their texts (`content`), and that they are in use (`status` active); "
    "`slowwave import` reads them from several stores."
)
_SAY_ACTIVE = (
    "Say of the memories in use that they are (`status` active), from when on (`changed_at`), and in which `project`."
)
_RECORD_ANSWERS = "If answers are not recorded yet, record them (`response`): uses are looked for in them alone."
_RECORD_OUTCOMES = (
    "Record how interactions end, by a rating, a test result or whatever else tells it: "
    "`record_outcome(success, interaction_id=…)`."
)
_RECORD_TRIED = (
    "Record how tasks end, by a rating, a test result or whatever else tells it, and what was tried: "
    "`record_outcome(success, strategy=…)`."
)
_NAME_INTERACTIONS = "Name in each outcome the interaction that it is of (`interaction_id`)."
_NAME_STRATEGIES = "Record with each outcome what was tried (`strategy`)."
_LEARN_INFERRED = (
    " Or let what was inferred be learned from, where nobody reported: `learn_from_inferred = true` under `[attempts]` "
    "in params.toml."
)
_HOLD_BACK = (
    "So that there is something to compare with, leave memories out at random now and then, each by a draw of its own, "
    "and record with the interaction all that were offered (`memories_offered`) and how likely each of them was to be "
    "given (`injection_probability`, such as 0.9)."
)
_WAIT = (
    "Go on leaving memories out at random, each by a draw of its own: a comparison needs sessions with it and without."
)


@dataclass(frozen=True)
class LogAnswer:
    """What a log answers to a question.

    Args:
        question: which one.
        is_answered: whether the log holds what an answer needs.
        rests_on: interactions (of `works`: attempts) that the answer rests on.
        answer: a sentence or two: the answer, or why there is none.
        lacks: what to record so that it can be answered, or better; None: nothing.
    """

    question: Question
    is_answered: bool
    rests_on: int
    answer: str
    lacks: str | None

    @property
    def asked(self) -> str:
        """The question in words."""
        return _ASKED[self.question]


def answers(counts: LogCounts, interval_mass: float) -> tuple[LogAnswer, ...]:
    """What a log with these counts answers, in the order of `QUESTIONS`.

    `interval_mass`: of the intervals of lifts.
    """
    return (_answer_given(counts), _answer_used(counts), _answer_works(counts), _answer_help(counts, interval_mass))


def _answer_given(counts: LogCounts) -> LogAnswer:
    landed = counts.interactions
    if not landed:
        return _unknown_answer("given", 0, "no interaction landed", _LAND)
    interactions = _count_with_noun(landed, "interaction")
    if not counts.given:
        return _unknown_answer(
            "given", landed, f"{interactions} landed without naming a memory that was injected", _NAME_GIVEN
        )
    said = f"{counts.given:,} of {interactions} got at least one memory."
    return _known_answer("given", landed, said, None if counts.texts or not counts.is_replayed else _LAND_TEXTS)


def _answer_used(counts: LogCounts) -> LogAnswer:
    landed = counts.interactions
    if not landed:
        return _unknown_answer("used", 0, "no interaction landed", _LAND)
    interactions, texts = _count_with_noun(landed, "interaction"), _count_with_noun(counts.texts, "memory", "memories")
    if counts.relied:
        said = f"{counts.relied:,} of {interactions} got an answer that quotes or uses a memory"
        cited = f" In {counts.cited:,} it names one itself." if counts.cited else ""
        return _known_answer(
            "used", landed, f"{said}; some uses cannot be detected, so this is a minimum.{cited}", None
        )
    if not counts.is_replayed:
        return _later("used", landed, f"looks for memories in {interactions}")
    if counts.cited:
        return _known_answer(
            "used", landed, f"In {counts.cited:,} of {interactions} the answer itself names a memory.", None
        )
    if not counts.texts:
        return _unknown_answer(
            "used", landed, f"no memory landed with a text that {interactions} could rely on", _LAND_TEXTS
        )
    if not counts.eligible:
        why = f"{texts} landed with a text, but not in use when an interaction took place"
        return _unknown_answer("used", landed, why, _SAY_ACTIVE)
    why = f"no use of {texts} was found in {interactions}, which does not mean that there was none"
    return _unknown_answer("used", landed, why, _RECORD_ANSWERS)


def _answer_works(counts: LogCounts) -> LogAnswer:
    if not counts.outcomes:
        return _unknown_answer("works", 0, "no outcome landed, so that nothing says what succeeded", _RECORD_TRIED)
    if not counts.attempts:
        why = f"nobody reported an attempt; {_why_nothing_learned(counts)}"
        return _unknown_answer("works", 0, why, _or_inferred(_RECORD_TRIED, counts))
    if not counts.tried:
        why = f"{_count_with_noun(counts.attempts, 'attempt')} landed without saying what was tried{_basis(counts)}"
        return _unknown_answer("works", 0, why, _NAME_STRATEGIES)
    tried = (
        f"{_count_with_noun(counts.tried, 'attempt')} among "
        f"{_count_with_noun(counts.outcomes, 'outcome')}{_basis(counts)}"
    )
    if not counts.is_replayed:
        return _later("works", counts.tried, f"estimates the success of the next attempt from {tried}")
    strategies = _count_with_noun(counts.strategies, "strategy", "strategies")
    said = f"The success of the next attempt is estimated for {strategies}, from {tried}."
    return _known_answer("works", counts.tried, said, None)


def _answer_help(counts: LogCounts, interval_mass: float) -> LogAnswer:
    ended, given = counts.ended, counts.ended_given
    if not counts.interactions:
        return _unknown_answer("help", 0, "no interaction landed", _LAND)
    landed = f"{_count_with_noun(counts.interactions, 'interaction')} landed"
    if not ended:
        return _answer_without_outcome(counts, landed)
    if counts.fair.count or counts.associated.count:
        return _answer_with_comparison(counts, interval_mass)
    known = f"{landed}, {ended:,} with a known end"
    if not given:
        why = f"{known}, but without naming a memory that was injected{_basis(counts)}"
        return _unknown_answer("help", ended, why, _NAME_GIVEN)
    lacks = _WAIT if counts.drawn else _HOLD_BACK
    if given == ended:
        why = f"{known} and always with a memory, so that none can be compared with what happens without it"
        return _unknown_answer("help", ended, f"{why}{_basis(counts)}", lacks)
    both = f"{given:,} with a memory and {ended - given:,} without"
    if not counts.is_replayed:
        return _later("help", ended, f"compares how interactions ended, {both}{_basis(counts)}")
    return _unknown_answer(
        "help", ended, f"{known}: {both}, and no comparison that can be trusted{_basis(counts)}", lacks
    )


def _answer_without_outcome(counts: LogCounts, landed: str) -> LogAnswer:
    if not counts.outcomes:
        told, lacks = "without an outcome", _RECORD_OUTCOMES
    elif not counts.attempts:
        told, lacks = (
            f"without a reported attempt: {_why_nothing_learned(counts)}",
            _or_inferred(_RECORD_OUTCOMES, counts),
        )
    else:
        attempts = _count_with_noun(counts.attempts, "attempt")
        told, lacks = f"with {attempts} of other interactions, or of none{_basis(counts)}", _NAME_INTERACTIONS
    return _unknown_answer("help", 0, f"{landed} {told}; so no memory has a confidence or a lift", lacks)


def _why_nothing_learned(counts: LogCounts) -> str:
    """Why nothing is learned from the outcomes that there are."""
    if counts.apart:
        return _apart(counts)
    return f"what landed is {_count_with_noun(counts.outcomes, 'outcome')} of what was interrupted, skipped or refused"


def _or_inferred(lacks: str, counts: LogCounts) -> str:
    return lacks + _LEARN_INFERRED if counts.apart else lacks


def _apart(counts: LogCounts) -> str:
    attempts = _count_with_noun(counts.apart, "attempt")
    return f"how {attempts} ended was inferred, such as from test runs, and nothing is learned from that"


def _basis(counts: LogCounts) -> str:
    """What of the attempts nobody reported, and what is left out beside them."""
    attempts = _count_with_noun(counts.attempts, "attempt")
    inferred = f" ({counts.inferred:,} of {attempts} inferred, not reported)" if counts.inferred else ""
    return inferred + (f"; {_apart(counts)}" if counts.apart else "")


def _answer_with_comparison(counts: LogCounts, interval_mass: float) -> LogAnswer:
    interactions = _count_with_noun(counts.interactions, "interaction")
    rests_on = f"How {counts.ended:,} of {interactions} ended is known{_basis(counts)}"
    if counts.fair.count:
        told = f"Where chance or a score threshold decided what was injected, {_differing(counts.fair, interval_mass)}"
        return _known_answer("help", counts.ended, f"{told}. {rests_on}.", None)
    told = _differing(counts.associated, interval_mass)
    told = f"{told[:1].upper()}{told[1:]}"
    why = f"retrieval was not randomised, so that a difference may have other reasons. {told}. {rests_on}"
    return _unknown_answer("help", counts.ended, why, _HOLD_BACK)


def _differing(lifts: Lifts, interval_mass: float) -> str:
    memories, alike = _count_with_noun(lifts.count, "memory", "memories"), lifts.count - lifts.above - lifts.below
    told = f"success was higher with {lifts.above:,} of {memories}, lower with {lifts.below:,}"
    by_chance = f"by chance alone up to {100 * (1 - interval_mass):.3g} % of them would differ"
    return f"{told}, and no different, as far as can be told, with {alike:,}; {by_chance}"


def _known_answer(question: Question, rests_on: int, answer: str, lacks: str | None) -> LogAnswer:
    return LogAnswer(question, is_answered=True, rests_on=rests_on, answer=answer, lacks=lacks)


def _unknown_answer(question: Question, rests_on: int, why: str, lacks: str) -> LogAnswer:
    return LogAnswer(question, is_answered=False, rests_on=rests_on, answer=f"{_NOT_KNOWN}: {why}.", lacks=lacks)


def _later(question: Question, rests_on: int, what: str) -> LogAnswer:
    said = f"{_NOT_KNOWN} before the next `slowwave nightly`, which {what}."
    return LogAnswer(question, is_answered=False, rests_on=rests_on, answer=said, lacks=None)


def _count_with_noun(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
