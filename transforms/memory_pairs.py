"""What an earlier and a later statement are to each other: one fact, a state and the next, at odds, or nothing.

Likeness proposes, words dispose: no score makes one fact of statements that differ in a number, a negation, a date, a
name, an opposite, who does what, or a word such as "only" or "before". And only statements whose frame is the same are
called incompatible: "the port is 8080" and "the port is 9090", not "Issue 12 is fixed" and "issue 13 is fixed".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from slowwave.transforms.observation_params import ObservationParams
from slowwave.transforms.pair_conflicts import Conflict, conflicts
from slowwave.transforms.pair_reading import Reading
from slowwave.transforms.pair_words import GENERIC, NUMBERED, RETRACTING, STATES

RelationName = Literal["same_fact", "supersedes", "contradicts"]

_VALUES = frozenset({"number", "date", "name", "opposite"})
_COMPARING = frozenset({"over", "than"})
_FRAME_SHARE = 0.5
_FORMERLY = frozenset({"used to", "formerly", "previously"})
_MOVES = ("move", "relocate")
_COVERED_SHARE = 0.75
_RETRACTED_SHARE = 0.75
_CHANGED_WORDS = 2


class Relation(NamedTuple):
    """What two statements are to each other; None where no statement can be made. `words` are those at odds."""

    relation: RelationName | None
    reason: str
    words: tuple[str, ...] = ()
    is_retraction: bool = False


NOTHING = Relation(None, "")


def relation(
    earlier: Reading, later: Reading, similarity: int, params: ObservationParams, *, is_later: bool
) -> Relation:
    """What `later` is to `earlier`.

    Args:
        earlier: the statement made first (of two made at once, any).
        later: the other.
        similarity: their likeness in 1/10,000 (see `pair_scores.similarity`).
        params: thresholds.
        is_later: whether it was really made later, and not at the same instant.
    """
    only_earlier = [word for word in earlier.content if word not in later.content]
    only_later = [word for word in later.content if word not in earlier.content]
    same = _same_fact(only_earlier, only_later, similarity, params)
    if same is not None and not conflicts(earlier, later):
        return same
    if is_later and later.changes | ({"forget"} if later.is_retraction else set()):
        changed = _changed(earlier, later, only_earlier, only_later)
        if changed is not None:
            return changed
    if max(len(set(only_earlier)), len(set(only_later))) > _CHANGED_WORDS:
        return NOTHING
    return _incompatible(earlier, later, only_earlier, only_later, is_later=is_later)


def may_be_one(earlier: Reading, later: Reading) -> bool:
    """Whether nothing but likeness keeps them from being one fact: no conflict, no word put for another."""
    if conflicts(earlier, later):
        return False
    return set(earlier.content) <= set(later.content) or set(later.content) <= set(earlier.content)


def _same_fact(
    only_earlier: Sequence[str], only_later: Sequence[str], similarity: int, params: ObservationParams
) -> Relation | None:
    if only_earlier and only_later:
        return None
    extra = (*only_earlier, *only_later)
    needed = params.more_words_similarity if extra else params.same_words_similarity
    if similarity < round(needed * 10_000):
        return None
    return Relation("same_fact", f"the same with {_listed(extra)}" if extra else "the same in other words")


def _changed(
    earlier: Reading, later: Reading, only_earlier: Sequence[str], only_later: Sequence[str]
) -> Relation | None:
    """The later one says itself that something has changed: it names the old value, or puts another in its place."""
    about = [word for word in dict.fromkeys(earlier.content) if word not in GENERIC] or list(earlier.content)
    covered = [word for word in about if word in later.content]
    news = [word for word in only_later if word not in RETRACTING and word not in GENERIC]
    share = len(covered) / len(about)
    if later.is_retraction and not news and share >= _RETRACTED_SHARE and not _contrary(earlier, later):
        return Relation("supersedes", "it takes this back", tuple(covered), is_retraction=True)
    needed = 1.0 if earlier.changes else _COVERED_SHARE  # a change can only be followed by one of its outcome
    is_told = about[0] in later.content and bool(later.former & set(about))
    if share >= needed and is_told and (news or later.negations != earlier.negations):
        return Relation(
            "supersedes", f"it says that this has changed ({_listed(sorted(later.changes))})", tuple(covered)
        )
    if _moved(earlier, later):
        return Relation("supersedes", "moved to another place", (*only_earlier, *only_later))
    frame = [word for word in earlier.content if word in later.content]
    replaced = 0 < len(set(only_earlier)) <= _CHANGED_WORDS and 0 < len(set(only_later)) <= _CHANGED_WORDS
    if (
        replaced
        and not earlier.changes - _FORMERLY
        and _is_one_subject(earlier, later)
        and len(frame) >= _FRAME_SHARE * len(earlier.content)
    ):
        return Relation(
            "supersedes",
            f"now {_listed(only_later)} instead of {_listed(only_earlier)} ({_listed(sorted(later.changes))})",
            (*dict.fromkeys(only_earlier), *dict.fromkeys(only_later)),
        )
    return None


def _moved(earlier: Reading, later: Reading) -> bool:
    """Whether who lived somewhere has moved to a place with a name."""
    going = next((word for word in later.content if word in _MOVES), None)
    if going is None or "live" not in earlier.content:
        return False
    is_one = earlier.content[: earlier.content.index("live")] == later.content[: later.content.index(going)]
    return is_one and any(binder == "to" and place in later.names for binder, place in later.bindings)


def _is_one_subject(earlier: Reading, later: Reading) -> bool:
    """Whether both begin with one word, and share one that is not too general to take a new value."""
    frame = set(earlier.content) & set(later.content)
    return earlier.content[0] == later.content[0] and bool(frame - GENERIC | frame & STATES)


def _contrary(earlier: Reading, later: Reading) -> bool:
    """Whether it is itself about what is taken back: "forget that" of a statement that took something back."""
    return earlier.is_retraction and later.is_retraction


def _incompatible(
    earlier: Reading,
    later: Reading,
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
    words = (*conflict.mine, *conflict.other)
    said = _listed(words) if conflict.kind == "negation" else " against ".join(map(_listed, conflict[1:]))
    if is_later:
        return Relation("supersedes", f"newer, and the {conflict.kind} is another: {said}", words)
    return Relation("contradicts", f"both at once, and the {conflict.kind} is another: {said}", words)


def _is_value(conflict: Conflict, earlier: Reading, later: Reading) -> bool:
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


def _listed(words: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(words))
