"""What a clause claims of its subject: a value of an attribute of it."""

from __future__ import annotations

from functools import lru_cache

from slowwave.transforms.observations.pairs.pair_words import MONTHS, WEEKDAYS
from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.clause_words import SOME, Claim, ClauseWords, form_of
from slowwave.transforms.observations.states.state_words import (
    ATTRIBUTES,
    AUXILIARIES,
    OF_PEOPLE,
    PLACED,
    STATUS,
    SURE_VERBS,
)

_LONGEST_SUBJECT = 7
_LATEST_VERB = 6  # words, with "now" and the like
_LONGEST_PHRASE = 4
_LONGEST_THING = 3


def clause_claim(clause: str) -> Claim | None:
    """Return what a clause claims; None where nothing can be told."""
    return _Clause(clause).read() if _has_verb(clause) else None


def _has_verb(clause: str) -> bool:
    """Whether a verb may be read in it: most texts have none, and taking them apart takes ten times as long."""
    first = clause.lower().split(None, _LONGEST_SUBJECT + 3)[: _LONGEST_SUBJECT + 2]
    return any(map(_is_verb, first)) or any(map(_may_be_verb, first[1:_LATEST_VERB]))


@lru_cache(maxsize=20_000)
def _is_verb(word: str) -> bool:
    """Whether it is one wherever it stands."""
    return word in AUXILIARIES or "'" in word or "’" in word or form_of(word).base in SURE_VERBS


@lru_cache(maxsize=20_000)
def _may_be_verb(word: str) -> bool:
    """Whether it is one after a name."""
    form = form_of(word)
    return form.form != "ing" and (form.is_verb or form.form == "past")


class _Clause(ClauseWords):
    """Reads one clause: subject, verb, and what follows."""

    def read(self) -> Claim | None:
        """What it claims; None where nothing can be told."""
        verb = None if self.is_over else self.verb()
        if verb is None or verb + 1 >= len(self.tokens):
            return None
        subject = self.subject(verb)
        if not subject or (self.is_not and self.not_at not in {verb, verb + 1, len(self.tokens)}):
            return None
        found = self._read_value(subject, verb)
        return None if found is None else found._replace(is_now=self.is_now)

    def _read_value(self, subject: tuple[str, ...], verb: int) -> Claim | None:
        word, at = self.lower[verb], verb + 1
        if word not in AUXILIARIES:
            return None if self.is_never or self.is_not else self._finite(subject, verb, self.base[verb])
        if word in {"is", "are", "am"}:
            return self._be(subject, verb, at)
        if word in {"has", "have"}:
            return self._count(subject, verb, at)
        if word in {"do", "does"} and self.is_not and self.lower[at] in {"have", "own"}:
            return self._count(subject, verb, at + 1)
        return None

    def _be(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        word, base = self.lower[at], self.base[at]
        form = form_of(word)
        if base in PLACED and (form.form in {"past", "other"} or base in {"live", "work", "run", "stay"}):
            placed = self._read_placement(subject, verb, at)
            if placed is not None:
                return placed
        if form.form == "ing" and word not in STATUS:
            return None
        return self._at_a_time(subject, verb, at) if word in {"on", "at"} else self._is(subject, verb, at)

    def _at_a_time(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """So: "is on Monday": a day, or an hour."""
        value = self.value(at + 1)
        if not value or not (value[0] in WEEKDAYS or value[0] in MONTHS or number(value[0])):
            return None
        said = " ".join(self.words_as_written(at, 1 + self.width))
        return self.claim(subject, ("is", self.lower[at]), value, (verb, at), said)

    def _is(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """A number, a status, or the value of what has one at a time."""
        value = self.value(at)
        if not value or self.is_never:
            return None
        word = self.lower[at]
        if word in STATUS and len(value) == 1:
            polarity = ("not",) if self.is_not else ()
            rest = () if STATUS[word] == "marriage" else tuple(self.base[at + 1 :])
            said = " ".join([*polarity, word])
            return self.claim(subject, ("is", STATUS[word], *rest), (*polarity, value[0]), (verb, at), said)
        if self.is_not:
            return None
        of = self.lower[:verb].index("of") if "of" in self.lower[:verb] else verb
        head = self.base[of - 1] if of else ""
        is_value = number(word) is not None or word in WEEKDAYS or word in MONTHS
        if (is_value and len(value) <= _LONGEST_THING) or (
            (head in ATTRIBUTES or self.lower[0] == "default") and word not in {"a", "an"}
        ):
            if len(value) > _LONGEST_PHRASE:
                return None
            return self.claim(subject, ("is",), value, (verb, at), " ".join(self.words_as_written(at, len(value))))
        return None

    def _count(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """How many of what it has."""
        if at >= len(self.lower):
            return None
        none = self.lower[at] in {"no", "zero"} or self.is_not
        found = ("0", "") if none else (SOME, "") if self.lower[at] in {"a", "an"} else number(self.lower[at])
        if found is None or (self.is_never and not none):
            return None
        start = at + 1 if self.lower[at] in {"no", "zero", "a", "an"} or not none else at
        things = self.value(start)
        while things and things[0] in {"a", "an", "any", "other", "more"}:
            things = things[1:]
        if not things or len(things) > _LONGEST_THING:
            return None
        said = "no" if none else self.tokens[at].text
        return self.claim(
            subject, ("have", things[-1]), (found[0],), (verb, at), f"{said} {self.tokens[start + self.width - 1].text}"
        )

    def _finite(self, subject: tuple[str, ...], verb: int, base: str) -> Claim | None:
        """What a verb in the present tells that has one value at a time; and where somebody moved to lives."""
        if base in {"move", "relocate"}:
            return self._moved(subject, verb)
        if form_of(self.lower[verb]).form == "past":
            return None
        if base in {"have", "own"}:
            return self._count(subject, verb, verb + 1)
        if base == "prefer":
            return self._read_preference(subject, verb)
        if base == "use":
            return self._used_for(subject, verb)
        return self._read_placement(subject, verb, verb) if base in PLACED else None

    def _moved(self, subject: tuple[str, ...], verb: int) -> Claim | None:
        start = verb + 2
        if self.lower[verb + 1] != "to" or start >= len(self.tokens) or not self.tokens[start].is_capitalised:
            return None
        value = self.value(start)
        if not value or len(value) > _LONGEST_PHRASE:
            return None
        said = " ".join(self.words_as_written(start, self.width))
        return self.claim(subject, ("live", ""), value, (verb, start), said)

    def _read_placement(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        base, after = self.base[at], self.lower[at + 1] if at + 1 < len(self.lower) else ""
        if after not in PLACED[base] or self.is_not or self.is_never:
            return None
        start = at + 2
        value = self.value(start)
        if not value or len(value) > _LONGEST_PHRASE:
            return None
        if base in OF_PEOPLE and self.lower[start] in {"a", "an"}:
            return None
        said = " ".join(self.words_as_written(start, self.width))
        is_day = value[0] in WEEKDAYS or value[0] in MONTHS
        kind = "day" if is_day else after if after in {"as", "by", "with", "after"} else ""
        return self.claim(subject, (base, kind), value, (verb, start), said)

    def _read_preference(self, subject: tuple[str, ...], verb: int) -> Claim | None:
        value = self.value(verb + 1, stops=frozenset({"over", "to", "than", "for", "when", "in", "because"}))
        if not value or len(value) > _LONGEST_PHRASE:
            return None
        said = " ".join(self.words_as_written(verb + 1, self.width))
        rest = self.lower[verb + 1 + self.width :]
        topic = self.value(verb + 2 + self.width) if rest[:1] == ["for"] else ()
        return self.claim(subject, ("prefer", *topic), value, (verb, verb + 1), said)

    def _used_for(self, subject: tuple[str, ...], verb: int) -> Claim | None:
        value = self.value(verb + 1, stops=frozenset({"for", "as", "to", "in", "on", "with"}))
        end = verb + 1 + self.width
        if not value or len(value) > _LONGEST_PHRASE or end >= len(self.lower) or self.lower[end] != "for":
            return None
        said = " ".join(self.words_as_written(verb + 1, self.width))
        what = self.value(end + 1)
        return self.claim(subject, ("use", "for", *what), value, (verb, verb + 1), said) if what else None
