"""The acts that a statement tells: what somebody means to do, is doing or has done, and with what.

Read from left to right: a word such as "plans", "upcoming" or "will" makes what follows in its clause something that is
to be; "and" before another verb that can stand for itself begins anew; what follows "because", "who" or "when" is left
out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.observations.pairs.pair_words import BINDERS, RELATIVE_DAYS
from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.clause_words import ClauseWords, WordForm, form_of
from slowwave.transforms.observations.states.clauses import has_verb
from slowwave.transforms.observations.states.plan_words import (
    AIMS,
    ALWAYS_UPCOMING,
    ARRANGING,
    BEGINNING,
    FINISHED,
    HABITS,
    KNOWN_VERBS,
    NOUNS,
    OTHERS,
    PLANNING,
    PRESENT_ONLY,
    SUBORDINATE,
    TICKETS,
    UPCOMING,
)
from slowwave.transforms.observations.states.state_words import (
    AUXILIARIES,
    DETERMINERS,
    IRREGULAR_PAST,
    PARTICIPLES,
    PHRASE_ENDS,
    PRONOUNS,
    SAME_THINGS,
)

# How a clause tells its act.
TO_BE, UNDER_WAY, DONE, STANDING, DENIED = "to be", "under way", "done", "standing", "denied"
_PIECES = re.compile(r"[;()]|,\s|\s[-–—]{1,2}\s")
_CANNOT_WAIT = re.compile(r"\bcan(?:no|['’])t wait\b", re.IGNORECASE)
_OWNED = re.compile(r"\w+['’]s\b")
_JOINING = frozenset({"and", "but", "or", "then"})
_HAVING = frozenset({"has", "have", "had"})
_MODAL = frozenset({"will", "would", "should", "must", "could", "can", "may", "might"})
_ALSO_BINDS = frozenset({"of", "near", "around", "along", "through", "via", "behind", "beside", "towards", "toward"})
_SHORTEST_DOING = 5
_LEAST_WORDS = 3


class ActPhrase(NamedTuple):
    """The uninflected words of a phrase, the names among them, and the preposition before it, "and", or nothing."""

    binder: str
    words: tuple[str, ...]
    names: frozenset[str]
    said: str


class Act(NamedTuple):
    """An act: its uninflected verb, that verb's form, how it is told, the phrases after it, and all as written.

    marks: words among these that tell the thing from an earlier one: "another", "second". inner: what is finished or
    tried ("write" of "finished writing").
    """

    verb: str
    form: str
    stage: str
    phrases: tuple[ActPhrase, ...]
    said: str
    marks: frozenset[str]
    inner: str

    @property
    def words(self) -> list[str]:
        """The words of its phrases."""
        return [word for phrase in self.phrases for word in phrase.words]

    @property
    def names(self) -> frozenset[str]:
        """The names in its phrases."""
        return frozenset().union(*(phrase.names for phrase in self.phrases))

    @property
    def heads(self) -> list[str]:
        """What each of its phrases names: their last words."""
        return [phrase.words[-1] for phrase in self.phrases]


class StatedActs(NamedTuple):
    """Whose acts a statement tells ('': nobody known), as written too, and the acts."""

    subject: str
    said: str
    acts: tuple[Act, ...]


_NOTHING = StatedActs("", "", ())


@lru_cache(maxsize=20_000)
def stated_acts(text: str) -> StatedActs:
    """The acts that a statement of one sentence tells."""
    words = text.split(None, 2)
    if len(words) < _LEAST_WORDS or not (words[1].endswith("s") or has_verb(text)):
        return _NOTHING
    text = _CANNOT_WAIT.sub("is eager", text)
    first, *others = [piece for piece in _PIECES.split(text) if piece.strip()] or [""]
    clause = _Acts(first)
    is_owner = _OWNED.match(first) is not None
    verb = clause.first_verb(is_owner=is_owner) if clause.tokens else None
    if verb is None or clause.lower[0] in PRONOUNS:
        return _NOTHING
    named = [at for at in range(verb) if clause.lower[at] not in DETERMINERS]
    if not named:
        return _NOTHING
    is_one = len(named) == 1 or is_owner or "and" in clause.lower[:verb]
    subject = clause.own[named[0]] if is_one else " ".join(clause.own[at] for at in named)
    found = clause.read(verb)
    if is_owner and len(named) > 1:  # "Ana's tour is ending": the tour is what the act is about
        thing = ActPhrase(
            "", tuple(clause.own[at] for at in named[1:]), frozenset(), " ".join(clause.words_as_written(1, verb - 1))
        )
        found = [act._replace(phrases=(thing, *act.phrases)) for act in found]
    for piece in others:
        more = _Acts(piece)
        if more.lower[:1] and more.lower[0] in _JOINING and more.is_finite(1):
            found += more.read(1)
    return StatedActs(subject, " ".join(clause.words_as_written(0, verb)), tuple(found))


@dataclass
class _Open:
    """An act while it is read: where its clause's verb, its own verb and its last word stand."""

    verb: str
    form: str
    stage: str
    start: int
    at: int
    end: int
    inner: str = ""
    phrases: list[tuple[str, list[int]]] = field(default_factory=lambda: [("", [])])


class _Acts(ClauseWords):
    """A clause, of which all acts are read."""

    def __init__(self, clause: str) -> None:
        super().__init__(clause)
        self.own = [_own(word) for word in self.lower]
        self._open: list[_Open] = []
        self._act: _Open | None = None
        self._stage, self._start = DONE, 0
        self._is_closed, self._may_be_finite = False, True

    def first_verb(self, *, is_owner: bool) -> int | None:
        """Where the clause's verb stands; is_owner: "Ana's …". After a name, what ends in -s is one: "Ana wins"."""
        after = self._word(1)
        is_one = after.endswith("s") and not after.endswith("ss") and after.isalpha() and after not in AUXILIARIES
        if is_one and self.tokens[0].is_capitalised and not is_owner and self.lower[0] not in DETERMINERS:
            return 1 if not self.tokens[1].is_capitalised else self.verb()
        return self.verb()

    def is_finite(self, at: int) -> bool:
        """Whether a verb stands there that needs no other."""
        word = self._word(at)
        form = _form(word)
        return word in AUXILIARIES or word in PARTICIPLES or form.form == "past" or (form.form == "s" and form.is_verb)

    def read(self, verb: int) -> list[Act]:
        """The acts from the clause's verb on."""
        at = self._start = verb
        while at < len(self.lower):
            at = self._step(at)
        for one, other in zip(self._open[-2::-1], self._open[:0:-1], strict=False):
            if (
                other.at == one.at + 2
                and self.lower[one.at + 1] in _JOINING
                and not any(words for _, words in one.phrases)
            ):
                one.phrases, one.end = other.phrases, other.end
        is_denied = self.is_not or self.is_never or self.is_over
        return [self._close_act(one, is_denied=is_denied) for one in self._open]

    def _word(self, at: int) -> str:
        return self.lower[at] if 0 <= at < len(self.lower) else ""

    def _step(self, at: int) -> int:
        """Reads what stands there; where to read on."""
        word = self.lower[at]
        if word in _JOINING:
            self._handle_joining_word(at)
        elif self._is_closed:
            pass
        elif word in SUBORDINATE:
            self._is_closed = True
        elif word in _HAVING:
            return self._having(at)
        elif word in AUXILIARIES:
            return self._auxiliary(at)
        elif self._is_plan(at):
            self._stage, self._may_be_finite = TO_BE, False
            self._begin(self.own[at], _form(word).form, at)
        elif word in UPCOMING:
            self._upcoming(at)
        elif self._is_verb(at):
            self._verb(at)
        else:
            self._add_to_phrase(at)
        return at + 1

    def _begin(self, verb: str, form: str, at: int) -> None:
        self._act = _Open(verb, form, self._stage, self._start, at, at + 1)
        self._open.append(self._act)

    def _handle_joining_word(self, at: int) -> None:
        """A clause begins anew, or a phrase goes on."""
        if self.is_finite(at + 1):
            self._stage, self._start, self._act = DONE, at + 1, None
            self._is_closed, self._may_be_finite = False, True
        elif self._act is not None and not self._is_closed:
            self._act.phrases.append(("&", []))

    def _having(self, at: int) -> int:
        after = self._word(at + 1)
        if after == "been":
            self._stage = UNDER_WAY if _form(self._word(at + 2)).form == "ing" else DONE
            return at + 2
        if _form(after).form == "past" or after in PARTICIPLES:
            return at + 1
        if after == "to":
            self._stage = TO_BE
            return at + 2
        if self._stage == STANDING:
            self._stage = DONE
        self._begin("have", "past" if self.lower[at] == "had" else "s", at)
        self._may_be_finite = False
        return at + 1

    def _auxiliary(self, at: int) -> int:
        after = self._word(at + 1)
        form = _form(after).form
        if self.lower[at] in _MODAL or (after == "to" and self._word(at - 1) in AIMS):
            self._stage = TO_BE
        elif [after, self._word(at + 2)] == ["going", "to"]:
            self._stage = TO_BE
            return at + 3
        elif form == "ing":
            self._stage = UNDER_WAY
        elif self.lower[at] in {"did", "was", "were"} or form == "past":
            self._stage = DONE
        elif after != "been":
            self._stage = STANDING
        return at + 1

    def _is_plan(self, at: int) -> bool:
        after = PLANNING.get(self.own[at])
        if after is None or self._word(at - 1) in DETERMINERS:
            return False
        if self.own[at] in PRESENT_ONLY and _form(self.lower[at]).form == "past":
            return False
        if after:
            return self._word(at + 1) in after
        is_verbal = (self._may_be_finite and at == self._start) or self._word(at - 1) in {"to", "and"}
        return self.lower[at] not in NOUNS | {"book"} or is_verbal

    def _upcoming(self, at: int) -> None:
        """So: "an upcoming trip" is to be; "is leaving soon", too."""
        if self._act is None:
            return
        if self.lower[at] in ALWAYS_UPCOMING or self._word(at - 1) in DETERMINERS:
            stage, self._stage = self._stage, TO_BE
            self._begin(self._act.verb, "", at)
            self._stage = stage
        elif self._act.stage in {UNDER_WAY, STANDING}:
            self._act.stage = TO_BE

    def _is_verb(self, at: int) -> bool:
        word, before = self.lower[at], self._word(at - 1)
        form = _form(word)
        if word == "like" or (word in DETERMINERS and form.form != "ing"):
            return False
        is_infinitive = before == "to" and (
            (form.is_verb and word not in PHRASE_ENDS)
            or (self._stage == TO_BE and not self.tokens[at].is_capitalised and word.isalpha())
        )
        is_one = form.is_verb or form.form == "past"
        return (
            is_infinitive
            or (self._may_be_finite and is_one)
            or (form.form == "past" and before in _HAVING | {"been"})
            or word in PARTICIPLES
            or (self._stage == TO_BE and before in {"will", "would"} and form.is_verb)
            or self._is_doing(at, form)
        )

    def _is_doing(self, at: int, form: WordForm) -> bool:
        """Whether it is a verb in -ing, not a noun or a part of one."""
        before = self._word(at - 1)
        if form.form != "ing" or before in DETERMINERS:
            return False
        return self._act is None or not self._act.phrases[-1][1] or before in BINDERS or before in {"about", "of"}

    def _verb(self, at: int) -> None:
        verb, form = self.own[at], _form(self.lower[at]).form
        before = self._act
        if form == "ing" and before is not None and before.verb in FINISHED | {"try"} and not before.phrases[0][1]:
            before.inner = verb  # "finished building a boat": finished a boat
            return
        if self._stage == STANDING and form == "ing":
            self._stage = UNDER_WAY
        is_opinion = verb == "find" and self._word(at + 1) not in {"a", "an"}  # "found it dull"
        if self._may_be_finite and (verb in HABITS or is_opinion):
            self._stage = STANDING
        if verb in BEGINNING and self._stage != TO_BE:
            self._stage = UNDER_WAY
        self._begin(verb, form, at)
        is_beside = (form == "ing" and before is not None) or self._word(at - 1) == "to"
        if is_beside and self._stage == DONE:
            self._open[-1].stage = STANDING  # "met him running", "went out to run": no act that was done
        if verb in ARRANGING and self._stage == UNDER_WAY:
            self._open[-1].stage = TO_BE
        self._may_be_finite = False

    def _add_to_phrase(self, at: int) -> None:
        word = self.lower[at]
        self._may_be_finite = False
        if word in PHRASE_ENDS or word in _ALSO_BINDS:
            if self._act is not None and word != "of":
                self._act.phrases.append((word, []))
            return
        if self._act is None:
            if self._stage == DONE:
                return
            self._begin("be", "other", at)
        if self._act is not None and word not in DETERMINERS and self.own[at] not in DETERMINERS:
            if self._is_time(at):
                self._act.phrases.append(("next", []))
            self._act.phrases[-1][1].append(at)
            self._act.end = at + 1

    def _is_time(self, at: int) -> bool:
        """Whether a thing ends there and a time begins: "a party two weekends later"."""
        is_time = number(self.lower[at]) is not None or self.own[at] in RELATIVE_DAYS
        return (
            is_time
            and self._act is not None
            and bool(self._act.phrases[-1][1])
            and not self.tokens[at - 1].is_capitalised
        )

    def _close_act(self, one: _Open, *, is_denied: bool) -> Act:
        phrases = tuple(
            ActPhrase(
                binder,
                tuple(_thing(self.own[at]) for at in places),
                frozenset(_thing(self.own[at]) for at in places if self.tokens[at].is_capitalised),
                " ".join(self.tokens[at].text for at in places),
            )
            for binder, places in one.phrases
            if places
        )
        verb, stage = one.verb, DENIED if is_denied else one.stage
        if stage == DONE and any(phrase.words[-1] in TICKETS for phrase in phrases):
            verb, stage = "book", TO_BE  # who has a ticket means to go
        marks = frozenset(self.lower[one.at : one.end]) & OTHERS
        return Act(verb, one.form, stage, phrases, self.whole(one.start, one.end), marks, one.inner)


@lru_cache(maxsize=20_000)
def _form(word: str) -> WordForm:
    """As `form_of`, with the verbs that are known here."""
    form = form_of(word)
    own = _own(word)
    if form.is_verb or form.form == "past" or own not in KNOWN_VERBS:
        return form
    return WordForm(own, is_verb=True, form="s" if word != own and word.endswith("s") else form.form)


def _own(word: str) -> str:
    return IRREGULAR_PAST.get(word) or (inflection(word).base if word.isalpha() else word)


def _thing(word: str) -> str:
    """One name for what has several."""
    is_doing = word.endswith("ing") and len(word) > _SHORTEST_DOING
    return SAME_THINGS.get(word, word.removesuffix("ing") if is_doing else word)
