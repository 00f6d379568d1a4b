"""What a clause claims of its subject: a value of an attribute of it, or how far an act of it has come."""

from __future__ import annotations

from functools import lru_cache

from slowwave.transforms.observations.pairs.pair_words import MONTHS, WEEKDAYS
from slowwave.transforms.observations.pairs.statement_tokens import number
from slowwave.transforms.observations.states.clause_words import (
    DONE,
    GOING,
    NOT_YET,
    OVER,
    PLANNED,
    PRESENT,
    SOME,
    Claim,
    ClauseWords,
    form_of,
)
from slowwave.transforms.observations.states.state_words import (
    ATTRIBUTES,
    AUXILIARIES,
    CANCELLING,
    ENROLLING,
    FINISHING,
    INTENTS,
    JOURNEYS,
    OF_PEOPLE,
    PARTICIPLES,
    PLACED,
    SETTLED,
    STARTING,
    STATUS,
    STOPPING,
    SURE_VERBS,
)

_LONGEST_SUBJECT = 7
_LATEST_VERB = 6  # words, with "no longer" and the like
_LONGEST_PHRASE = 4
_LONGEST_THING = 3


def clause_claims(clause: str) -> tuple[Claim, ...]:
    """What a clause claims; () where nothing can be told."""
    return _Clause(clause).read() if has_verb(clause) else ()


def has_verb(clause: str) -> bool:
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

    def read(self) -> tuple[Claim, ...]:
        """What it claims; () where nothing can be told."""
        found = self._read_claim()
        if found is not None and found.stage == DONE and self.is_long_ago:
            return ()
        return tuple(one._replace(is_now=self.is_now) for one in (found, self._also) if one is not None)

    def _read_claim(self) -> Claim | None:
        verb = self.verb()
        if verb is None:
            return None
        subject = self.subject(verb)
        if not subject or (self.is_not and self.not_at not in {verb, verb + 1, len(self.tokens)}):
            return None
        self.is_over = self.is_over and (self.over_at <= verb + 1 or self.over_at == len(self.tokens))
        word, at = self.lower[verb], verb + 1
        if word not in AUXILIARIES:
            return self._finite(subject, verb, self.base[verb])
        if at >= len(self.tokens):
            return None
        if word in {"is", "are", "am"}:
            return self._be(subject, verb, at)
        if word in {"has", "have"}:
            return self._have(subject, verb, at)
        if word in {"do", "does"}:
            return self._do(subject, verb, at)
        if word == "will":
            return self.act(subject, verb, at, PLANNED)
        return self._journey(subject, verb, at) if word == "had" else None

    def _be(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        word, base = self.lower[at], self.base[at]
        form = form_of(word)
        if self.lower[at : at + 2] == ["going", "to"]:
            return self.act(subject, verb, at + 2, PLANNED)
        if base in ENROLLING and form.form == "past":
            return self._read_enrolment(subject, verb, at)
        if base in INTENTS and word not in STATUS:
            return self._intent(subject, verb, at)
        if base in PLACED and (form.form in {"past", "other"} or base in {"live", "work", "run", "stay"}):
            placed = self._read_placement(subject, verb, at)
            if placed is not None:
                return placed
        if form.form == "ing" and word not in STATUS:
            return self._doing(subject, verb, at)
        if self.is_over:
            return self.act_on(subject, verb, "be", at, OVER)
        return self._at_a_time(subject, verb, at) if word in {"on", "at"} else self._is(subject, verb, at)

    def _doing(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        if self.is_now and self.base[at] in {"read", "watch"}:
            return self._at_present(subject, verb, at)
        return self._read_started_act(subject, verb, at)

    def _at_a_time(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """So: "is on Monday": a day, or an hour."""
        value = self.value(at + 1)
        if not value or not (value[0] in WEEKDAYS or value[0] in MONTHS or number(value[0])):
            return None
        said = " ".join(self.words_as_written(at, 1 + self.width))
        return self.claim(subject, ("is", self.lower[at]), value, (verb, at), said)

    def _at_present(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """So: "is currently reading X": one at a time."""
        value = self.value(at + 1)
        if not value:
            return None
        return self.claim(
            subject, ("at present", self.base[at]), value, (verb, at + 1), self.whole(at, at + 1 + self.width)
        )

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

    def _have(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        word, form = self.lower[at], form_of(self.lower[at])
        after = self.lower[at + 1] if at + 1 < len(self.lower) else ""
        is_open = self.is_never or self.is_not
        if word == "been" and after in {"to", "in"}:
            return self.act_on(subject, verb, "visit", at + 2, NOT_YET if is_open else DONE)
        if word == "been" and after and form_of(after).form == "ing":
            return self.act(subject, verb, at + 1, NOT_YET if is_open else GOING)
        if word == "been" and form_of(after).form == "past":
            return self.act(subject, verb, at + 1, NOT_YET if is_open else DONE)
        if word == "to":
            if self.base[at + 1 : at + 2] and self.base[at + 1] in CANCELLING:
                return self.act_on(subject, verb, "plan", at + 2, OVER)
            return self.act(subject, verb, at + 1, PLANNED)
        if form.form == "past" or word in PARTICIPLES:
            return self._read_act(subject, verb, at, NOT_YET if is_open else DONE)
        return self._count(subject, verb, at)

    def _journey(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """So: "had a great trip to Japan": visited it."""
        for place in range(at, min(at + 5, len(self.lower) - 1)):
            if self.lower[place] in JOURNEYS and self.lower[place + 1] == "to":
                return self.act_on(subject, verb, "visit", place + 2, DONE)
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

    def _do(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        if not (self.is_not or self.is_over):
            return None
        if self.is_over:
            return self.act(subject, verb, at, OVER)
        return self._count(subject, verb, at + 1) if self.lower[at] in {"have", "own"} else None

    def _finite(self, subject: tuple[str, ...], verb: int, base: str) -> Claim | None:
        if self.is_never or self.is_not or verb + 1 >= len(self.tokens):
            return None
        if self.is_over:
            return self.act(subject, verb, verb, OVER)
        is_past = form_of(self.lower[verb]).form == "past"
        if base in INTENTS and (not is_past or base in SETTLED):
            return self._intent(subject, verb, verb)
        if base in {"have", "own", "prefer", "use"} | PLACED.keys() and not is_past:
            return self._present(subject, verb, base)
        return self._read_act(subject, verb, verb, DONE if is_past else PRESENT)

    def _present(self, subject: tuple[str, ...], verb: int, base: str) -> Claim | None:
        """What has one value at a time, or is done."""
        if base in {"have", "own"}:
            return self._count(subject, verb, verb + 1)
        if base == "prefer":
            return self._read_preference(subject, verb)
        found = self._used_for(subject, verb) if base == "use" else self._read_placement(subject, verb, verb)
        return found or self._read_act(subject, verb, verb, PRESENT)

    def _read_started_act(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """An act under way; "working on restoring X" is about restoring, "working on X" about making it."""
        if self.base[at : at + 1] == ["plan"]:
            return self._intent(subject, verb, at)
        if self.base[at : at + 1] != ["work"] or self.lower[at + 1 : at + 2] != ["on"]:
            return self.act(subject, verb, at, GOING)
        if at + 2 < len(self.lower) and form_of(self.lower[at + 2]).form == "ing":
            return self.act(subject, verb, at + 2, GOING)
        return self.act_on(subject, verb, "make", at + 2, GOING)

    def _read_act(self, subject: tuple[str, ...], verb: int, at: int, stage: int) -> Claim | None:
        """An act in the past or the present; "finished restoring X" is about restoring, "finished X" making."""
        base = self.base[at]
        after = self.lower[at + 1] if at + 1 < len(self.lower) else "."
        event = self._event(subject, verb, at) if stage in {DONE, PRESENT} else None
        if event is not None:
            return event
        if base in FINISHING:
            if form_of(after).form == "ing":
                return self.act(subject, verb, at + 1, stage, is_completed=True)
            return self.act_on(subject, verb, "make", at + 1, stage, is_completed=True)
        if base in STARTING:
            return self._read_started_act(subject, verb, at + (2 if after == "to" else 1))
        if base in CANCELLING:
            return self.act_on(subject, verb, "plan", at + 1, OVER)
        if base in STOPPING:
            return self.act(subject, verb, at + 1, OVER) if form_of(after).form == "ing" else None
        if base == "get" and form_of(after).base in ENROLLING:
            return self._read_enrolment(subject, verb, at + 1)
        if base in ENROLLING:
            return self._read_enrolment(subject, verb, at)
        return self.act(subject, verb, at, stage)

    def _event(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """What gives an attribute a value: "moved to Oslo" (lives there), "got a job as a nurse", "got engaged"."""
        base, rest = self.base[at], self.lower[at + 1 :]
        if base in {"move", "relocate"} and rest[:1] == ["to"] and self.tokens[at + 2 : at + 3]:
            return self._becomes(subject, verb, "live", "", at + 2) if self.tokens[at + 2].is_capitalised else None
        if base in {"get", "be"} and rest and STATUS.get(rest[0]) == "marriage":
            return self.claim(subject, ("is", "marriage"), (rest[0],), (verb, at + 1), rest[0])
        if (base == "get" and rest[:1] == ["promoted"]) or base == "promote":
            place = at + 2 if base == "get" else at + 1
            return self._becomes(subject, verb, "work", "as", place + 1) if self.lower[place:][:1] == ["to"] else None
        if base in {"get", "start", "begin", "land", "take"} and "job" in rest[:4]:
            place = at + 1 + rest.index("job") + 1
            binder = self.lower[place] if place < len(self.lower) else ""
            if binder in {"as", "at", "with"}:
                return self._becomes(subject, verb, "work", "as" if binder == "as" else "", place + 1)
        return None

    def _becomes(self, subject: tuple[str, ...], verb: int, attribute: str, kind: str, start: int) -> Claim | None:
        value = self.value(start)
        if not value or len(value) > _LONGEST_PHRASE:
            return None
        return self.claim(
            subject, (attribute, kind), value, (verb, start), " ".join(self.words_as_written(start, self.width))
        )

    def _intent(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """The act that is planned, wanted or considered: "… to visit", "… visiting", "looking forward to playing"."""
        if self.is_over or self.is_never:
            return None
        for place in range(at + 1, min(at + 5, len(self.lower))):
            word = self.lower[place]
            before = self.lower[place - 1]
            if (before == "to" or form_of(word).form == "ing") and form_of(word).is_verb:
                return self.act(subject, verb, place, NOT_YET if self.is_not else PLANNED)
        if self.base[at] in {"plan", "prepare", "organize", "arrange"}:
            start = at + (2 if self.lower[at + 1 : at + 2] == ["for"] else 1)
            return self.act_on(subject, verb, "plan", start, PLANNED)
        return None

    def _read_placement(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        base, after = self.base[at], self.lower[at + 1] if at + 1 < len(self.lower) else ""
        binder = after if after in PLACED[base] else "" if "" in PLACED[base] else None
        if binder is None or self.is_not or self.is_never:
            return None
        start = at + (2 if binder else 1)
        if self.is_over:
            return self.act_on(subject, verb, base, start, OVER)
        value = self.value(start)
        if not value or len(value) > _LONGEST_PHRASE:
            return None
        said = " ".join(self.words_as_written(start, self.width))
        self._also = self.act_on(subject, verb, base, start, PRESENT)
        is_day = value[0] in WEEKDAYS or value[0] in MONTHS
        if base in OF_PEOPLE and self.lower[start] in {"a", "an"}:
            return None
        kind = "day" if is_day else binder if binder in {"as", "by", "with", "after"} else ""
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

    def _read_enrolment(self, subject: tuple[str, ...], verb: int, at: int) -> Claim | None:
        """So: "signed up for a workshop": will attend it."""
        for place in range(at + 1, min(at + 3, len(self.lower) - 1)):
            if self.lower[place] in {"for", "in"}:
                return self.act_on(subject, verb, "attend", place + 1, PLANNED)
        return None
