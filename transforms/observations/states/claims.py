"""What a short statement claims, for what changes between two of them to be told.

Of its first clause: "lives in Munich", "the port is 8080", "has two dogs". Of its whole: that one value has taken the
place of another ("moved from A to B"), a label and its value ("coverage: 85 %"), or one number among words. What tells
of "it" or "them", asks, or says "if", claims nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.observations.pairs.statement_tokens import (
    MONTHS,
    NUMBERED,
    SILENT,
    WEEKDAYS,
    base_of,
    is_identifier,
    number,
    tokens,
)
from slowwave.transforms.observations.states.clause_words import (
    ATTRIBUTES,
    AUXILIARIES,
    BESIDE_NUMBERS,
    GENERIC_LABELS,
    OF_PEOPLE,
    PLACED,
    PRONOUNS,
    SOME,
    STATUS,
    SURE_VERBS,
    Claim,
    ClauseWords,
    form_of,
    words_of,
)
from slowwave.transforms.observations.states.successions import declared_succession

# What a clause claims of its subject: a value of an attribute of it.

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


LONGEST = 400
COUNTED = ("#",)
"""The attribute of a number in a sentence that may be the same but for it."""
_LONGEST_NUMBERED = 20
_LEAST_NUMBERED = 3
_COUNT = re.compile(r"[^;(,\d]*\b\d+ (?:\w+ )?\w+s \w+(?=\s*[;(,]|\s(?:and|with|but)\s)", re.IGNORECASE)
"""What is counted in a first clause: \"all 397 tests pass and …\"."""
_PAST = frozenset({"was", "were", "had", "did", "ago"})
_LONGEST_LABELLED = 3
_CLAUSE_ENDS = re.compile(
    r"[;()]|,\s|\s[-–—]{1,2}\s|\b(?:because|which|where|since|while|although|though|so that|who|whose|but|as well as"
    r"|if|unless|when|whenever|until)\b",
    re.IGNORECASE,
)
_SECOND_SENTENCE = re.compile(r"[.!?]\s+\S")
_LABEL = re.compile(r"^([^:;,.(]{2,60}?)\s*(?:\([^)]*\))?:\s+(.+)$")
_HAS_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=20_000)
def claims(text: str, *, is_numbered: bool = True, is_telling: bool = True) -> tuple[Claim, ...]:
    """What `text` claims; () of more than one sentence, a question or a long text.

    is_numbered: whether its one number is a claim, where nothing else is. is_telling: whether it may declare a
    succession.
    """
    text = text.strip()
    if len(text) > LONGEST or text.endswith("?") or _SECOND_SENTENCE.search(text):
        return ()
    declared = declared_succession(text) if is_telling else None
    text = text.replace("`", "").replace("**", "")
    label = _LABEL.match(text) if ":" in text else None
    if label is not None:
        read = _labelled_claim(label.group(1), label.group(2))
    else:
        read = clause_claim(_CLAUSE_ENDS.split(text, maxsplit=1)[0])
    if read is None and is_numbered and _HAS_DIGIT.search(text):
        read = _numbered_claim(text)
    return tuple(one for one in (declared, read) if one is not None)


def _labelled_claim(label: str, value: str) -> Claim | None:
    """Of "Coverage of the parser: 85 %": a label that names what it is the value of, and a number or a status."""
    subject = words_of(label)
    words = words_of(_CLAUSE_ENDS.split(value, maxsplit=1)[0])
    if (
        not words
        or len(words) > _LONGEST_LABELLED
        or not set(subject) - ATTRIBUTES - GENERIC_LABELS
        or subject[0] in PRONOUNS
    ):
        return None
    status = STATUS.get(words[0])
    if status is None and number(words[0]) is None:
        return None
    attribute = ("is", status) if status else ("is", *words[1:])
    said = (label.strip(), "is", _CLAUSE_ENDS.split(value, maxsplit=1)[0].strip(" ."))
    return Claim(subject, attribute, words[:1], said)


def _numbered_claim(text: str) -> Claim | None:
    """A statement with one number in it, which may have another: "All 158 tests pass"."""
    first = _COUNT.match(text)
    found = [one for one in tokens(first[0] if first else text) if one.text.lower() not in BESIDE_NUMBERS]
    lower = [one.text.lower() for one in found]
    places = [at for at, word in enumerate(lower) if number(word) is not None]
    if len(places) != 1 or not places[0] or len(found) > _LONGEST_NUMBERED or any(word in _PAST for word in lower):
        return None
    (at,) = places
    before = base_of(lower[at - 1]) if at else ""
    if before in NUMBERED or before in MONTHS or inflection(lower[0]).form in {"past", "ing"}:
        return None
    if at + 1 < len(found) and base_of(lower[at + 1]) in MONTHS:
        return None
    if len(lower) > 1 and inflection(lower[1]).form == "past":
        return None
    subject = (*map(_unless_past, lower[:at]), "#", *map(_unless_past, lower[at + 1 :]))
    value = number(lower[at]) or ("", "")
    if len(set(subject) - SILENT) < _LEAST_NUMBERED or any(
        is_identifier(word) and word[-1].isdigit() for word in subject[1:]
    ):
        return None
    subject = (*subject, value[1])
    after = " ".join(one.text for one in found[at : at + 2])
    says = (" ".join(one.text for one in found[:at]), "", after)
    return Claim(subject, COUNTED, (value[0],), says)


def _unless_past(word: str) -> str:
    """What "passed" is not now."""
    return word if inflection(word).form == "past" else base_of(word)
