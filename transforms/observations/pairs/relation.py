"""What an earlier and a later statement are to each other: one fact, a state and the next, at odds, or nothing.

Likeness proposes, words dispose: no score makes one fact of statements that differ in a number, a negation, a date, a
name, an opposite, who does what, or a word such as "only" or "before". And only statements whose frame is the same are
called incompatible: "the port is 8080" and "the port is 9090", not "Issue 12 is fixed" and "issue 13 is fixed".
What may be one fact, or may be at odds, is for people to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from slowwave.transforms.observations.pairs.conflicts import Conflict, conflicts
from slowwave.transforms.observations.pairs.reading import ParsedStatement
from slowwave.transforms.observations.pairs.statement_tokens import CONTRASTS, GENERIC, NUMBERED, RETRACTING, STATES
from slowwave.transforms.observations.params import ObservationParams

RelationName = Literal["same_fact", "supersedes", "contradicts", "may_be_one", "may_contradict"]

_VALUES = frozenset({"number", "date", "name", "opposite"})
_COMPARING = frozenset({"over", "than"})
_FRAME_SHARE = 0.5
_FORMERLY = frozenset({"used to", "formerly", "previously"})
_MOVES = ("move", "relocate")
_COVERED_SHARE = 0.75
_RETRACTED_SHARE = 0.75
_CHANGED_WORDS = 2
_HELD = frozenset({"live", "work", "run", "stay", "host", "deploy"})


class Relation(NamedTuple):
    """What two statements are to each other; None where nothing can be said. `words`: those at odds, as written."""

    relation: RelationName | None
    reason: str
    words: tuple[str, ...] = ()
    is_retraction: bool = False


NOTHING = Relation(None, "")


def relation(
    earlier: ParsedStatement, later: ParsedStatement, similarity: int, params: ObservationParams, *, is_later: bool
) -> Relation:
    """What `later` is to `earlier`.

    Args:
        earlier: the statement made first (of two made at once, any).
        later: the other.
        similarity: their likeness in 1/10,000 (see `pair_scores.similarity`).
        params: thresholds.
        is_later: whether it was really made later, and not at the same instant.
    """
    words_earlier, words_later = set(earlier.content), set(later.content)
    lost, new = words_earlier - words_later, words_later - words_earlier
    is_change = is_later and bool(later.changes or later.is_retraction)
    is_alike = similarity >= round(params.proposal_similarity * 10_000)
    if lost and new and max(len(lost), len(new)) > _CHANGED_WORDS and not is_change and not is_alike:
        return NOTHING  # as all below would find, after longer
    only_earlier = [word for word in earlier.content if word not in words_later]
    only_later = [word for word in later.content if word not in words_earlier]
    same = _same_fact(earlier, later, only_earlier, only_later, similarity, params)
    if same is not None and not conflicts(earlier, later):
        return same
    if is_change:
        changed = _find_stated_change(earlier, later, only_earlier, only_later)
        if changed is not None:
            return changed
    perhaps = _may_be_one(earlier, later, only_earlier, only_later, similarity, params)
    if perhaps is not None:
        return perhaps
    if max(len(lost), len(new)) > _CHANGED_WORDS:
        return NOTHING
    found = _incompatible(earlier, later, only_earlier, only_later, is_later=is_later)
    return found if found.relation else _may_contradict(earlier, later, only_earlier, only_later)


def _may_be_one(
    earlier: ParsedStatement,
    later: ParsedStatement,
    only_earlier: Sequence[str],
    only_later: Sequence[str],
    similarity: int,
    params: ObservationParams,
) -> Relation | None:
    """Nothing but likeness, or the order of their words, keeps them from being one fact."""
    is_one_bag = bool(earlier.content) and not only_earlier and not only_later
    if not is_one_bag and similarity < round(params.proposal_similarity * 10_000):
        return None
    apart = conflicts(earlier, later)
    if apart:
        is_turned = len(apart) == 1 and apart[0].is_order and is_one_bag
        if not is_turned or {*apart[0].mine, *apart[0].other} & (earlier.names | later.names):
            return None
        return Relation("may_be_one", "the same content words in another order")
    if is_one_bag:
        return Relation("may_be_one", "the same content words")
    if only_earlier and only_later:
        if {CONTRASTS.get(word) for word in only_earlier} & {CONTRASTS.get(word, "") for word in only_later}:
            return None
        said = (
            f"one says {_join_words(_words_as_written(earlier, only_earlier))}, the other "
            f"{_join_words(_words_as_written(later, only_later))}"
        )
        return Relation("may_be_one", said)
    extra = (*_words_as_written(earlier, only_earlier), *_words_as_written(later, only_later))
    return Relation("may_be_one", f"one has more words: {_join_words(extra)}")


def _may_contradict(
    earlier: ParsedStatement, later: ParsedStatement, only_earlier: Sequence[str], only_later: Sequence[str]
) -> Relation:
    """Something runs, lives or is kept in one place, says the one, and in another, says the other; it may do both."""
    if earlier.is_past or later.is_past or earlier.changes or later.changes or not only_earlier or not only_later:
        return NOTHING
    apart = conflicts(earlier, later)
    if len(apart) != 1 or apart[0].kind != "name":
        return NOTHING
    frame = [word for word in earlier.content if word in later.content]
    is_one_frame = frame == [word for word in later.content if word in earlier.content] and set(frame) & _HELD
    is_named = {*apart[0].mine} == {*only_earlier} and {*apart[0].other} == {*only_later}
    places = [
        {b for b, word in one.bindings if word == only[0]}
        for one, only in ((earlier, only_earlier), (later, only_later))
    ]
    if not is_one_frame or not is_named or not places[0] & places[1] or frame[0] != earlier.content[0]:
        return NOTHING
    words = (*_words_as_written(earlier, only_earlier), *_words_as_written(later, only_later))
    said = (
        f"{' '.join(_words_as_written(earlier, only_earlier))} against {' '.join(_words_as_written(later, only_later))}"
    )
    return Relation("may_contradict", f"may be at odds, unless it is both: {said}", words)


def _same_fact(
    earlier: ParsedStatement,
    later: ParsedStatement,
    only_earlier: Sequence[str],
    only_later: Sequence[str],
    similarity: int,
    params: ObservationParams,
) -> Relation | None:
    if only_earlier and only_later:
        return None
    extra = (*_words_as_written(earlier, only_earlier), *_words_as_written(later, only_later))
    needed = params.more_words_similarity if extra else params.same_words_similarity
    if similarity < round(needed * 10_000):
        return None
    return Relation("same_fact", f"the same with {_join_words(extra)}" if extra else "the same content words")


def _find_stated_change(
    earlier: ParsedStatement, later: ParsedStatement, only_earlier: Sequence[str], only_later: Sequence[str]
) -> Relation | None:
    """The later one says itself that something has changed: it names the old value, or puts another in its place."""
    about = [word for word in dict.fromkeys(earlier.content) if word not in GENERIC] or list(earlier.content)
    if not about:
        return None
    covered = [word for word in about if word in later.content]
    news = [word for word in only_later if word not in RETRACTING and word not in GENERIC]
    share = len(covered) / len(about)
    if later.is_retraction and not news and share >= _RETRACTED_SHARE and not _contrary(earlier, later):
        return Relation("supersedes", "it takes this back", _words_as_written(earlier, covered), is_retraction=True)
    needed = 1.0 if earlier.changes else _COVERED_SHARE  # a change can only be followed by one of its outcome
    is_told = about[0] in later.content and bool(later.former & set(about))
    if share >= needed and is_told and (news or later.negations != earlier.negations):
        return Relation(
            "supersedes",
            f"it says that this has changed ({_join_words(sorted(later.changes))})",
            _words_as_written(earlier, covered),
        )
    if _has_moved(earlier, later):
        return Relation(
            "supersedes",
            "moved to another place",
            (*_words_as_written(earlier, only_earlier), *_words_as_written(later, only_later)),
        )
    frame = [word for word in earlier.content if word in later.content]
    replaced = 0 < len(set(only_earlier)) <= _CHANGED_WORDS and 0 < len(set(only_later)) <= _CHANGED_WORDS
    if (
        replaced
        and not earlier.changes - _FORMERLY
        and _is_one_subject(earlier, later)
        and len(frame) >= _FRAME_SHARE * len(earlier.content)
    ):
        old, new = _words_as_written(earlier, only_earlier), _words_as_written(later, only_later)
        return Relation("supersedes", f"now {_join_words(new)} instead of {_join_words(old)}", (*old, *new))
    return None


def _has_moved(earlier: ParsedStatement, later: ParsedStatement) -> bool:
    """Whether who lived somewhere has moved to a place with a name."""
    going = next((word for word in later.content if word in _MOVES), None)
    if going is None or "live" not in earlier.content:
        return False
    is_one = earlier.content[: earlier.content.index("live")] == later.content[: later.content.index(going)]
    return is_one and any(binder == "to" and place in later.names for binder, place in later.bindings)


def _is_one_subject(earlier: ParsedStatement, later: ParsedStatement) -> bool:
    """Whether both begin with one word, and share one that is not too general to take a new value."""
    frame = set(earlier.content) & set(later.content)
    return earlier.content[0] == later.content[0] and bool(frame - GENERIC | frame & STATES)


def _contrary(earlier: ParsedStatement, later: ParsedStatement) -> bool:
    """Whether it is itself about what is taken back: "forget that" of a statement that took something back."""
    return earlier.is_retraction and later.is_retraction


def _incompatible(
    earlier: ParsedStatement,
    later: ParsedStatement,
    only_earlier: Sequence[str],
    only_later: Sequence[str],
    *,
    is_later: bool,
) -> Relation:
    """The frame is the same, and a number, a day, an opposite or a negation is not; neither tells of a past event."""
    if earlier.is_past or later.is_past or earlier.is_question or later.is_question:
        return NOTHING
    apart = conflicts(earlier, later)
    if len(apart) != 1:
        return NOTHING
    (conflict,) = apart
    at_odds = {part for value in (*conflict.mine, *conflict.other) for part in value.split()}
    if set(only_earlier) - at_odds or set(only_later) - at_odds:
        return NOTHING
    shared = set(earlier.content) & set(later.content) - at_odds
    if conflict.kind == "role":
        if not all(value.split()[0] in _COMPARING for value in (*conflict.mine, *conflict.other)):
            return NOTHING
    elif conflict.kind == "negation":
        if len(shared) < 2 and earlier.subject_words < 1:  # noqa: PLR2004 - "do not push" alone says too little
            return NOTHING
    elif not conflict.is_two_sided or not shared or not _is_value(conflict, earlier, later):
        return NOTHING
    mine, other = _words_as_written(earlier, conflict.mine), _words_as_written(later, conflict.other)
    words = (*mine, *other)
    said = _join_words(words) if conflict.kind == "negation" else f"{_join_words(mine)} against {_join_words(other)}"
    if is_later:
        return Relation("supersedes", f"newer, and the {conflict.kind} is another: {said}", words)
    return Relation("contradicts", f"both at once, and the {conflict.kind} is another: {said}", words)


def _is_value(conflict: Conflict, earlier: ParsedStatement, later: ParsedStatement) -> bool:
    """Whether what differs is said of the subject, and does not name it."""
    if conflict.kind not in _VALUES or len(conflict.mine) != 1 or len(conflict.other) != 1:
        return False
    for one, (value,) in ((earlier, conflict.mine), (later, conflict.other)):
        digits = value.split()[0]
        if digits not in one.content:
            return False
        place = one.content.index(digits)
        if one.subject_words >= 0 and place < one.subject_words:
            return False
        if place == 0 and conflict.kind != "opposite" and one.subject_words != 0:
            return False
        if place > 0 and one.content[place - 1] in NUMBERED:
            return False
    if conflict.kind in {"name", "date"}:
        return min(earlier.subject_words, later.subject_words) > (1 if conflict.kind == "name" else 0)
    return True


def _words_as_written(one: ParsedStatement, words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(one.as_written, words)))


def _join_words(words: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words))
