"""The words of a clause: where its verb stands, who it is about, and its phrases; and what is claimed with them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.observations.pairs.pair_words import BINDERS
from slowwave.transforms.observations.pairs.statement_tokens import StatementToken, base_of, number, tokens
from slowwave.transforms.observations.states.state_words import (
    AUXILIARIES,
    DETERMINERS,
    IRREGULAR_PAST,
    NOW,
    PASSED_OVER,
    PERSONS,
    PHRASE_ENDS,
    PLACED,
    PRONOUNS,
    STATUS,
    SURE_VERBS,
)

_LONGEST_SUBJECT = 7
_NOT = re.compile(r"^(.*)(n)['’]t$", re.IGNORECASE)
_SHORT = re.compile(r"^(i|we|they|you)['’](m|re|ve|ll|d)$", re.IGNORECASE)
_LONG = {"n": "not", "m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
SOME = "some"
"""So many of a thing as "a" tells."""


class Claim(NamedTuple):
    """What a statement says of its subject.

    subject, attribute: uninflected words that must be the same in two claims about one thing. value: the words of the
    value. says: subject, attribute and value as written. before: of a statement that itself declares another value,
    the value until then; '' of others. is_now: said to be so now.
    """

    subject: tuple[str, ...]
    attribute: tuple[str, ...]
    value: tuple[str, ...]
    says: tuple[str, str, str]
    before: str = ""
    is_now: bool = False


def words_of(text: str) -> tuple[str, ...]:
    """The uninflected words of a phrase, without those that name nothing."""
    return tuple(
        base_of(one.text.lower())
        for one in tokens(text)
        if one.text.lower() not in DETERMINERS and one.text.lower() not in PASSED_OVER
    )


class WordForm(NamedTuple):
    """A word's uninflected form, whether it can be a verb, and the form it is in."""

    base: str
    is_verb: bool
    form: str


@lru_cache(maxsize=20_000)
def form_of(word: str) -> WordForm:
    """The uninflected form of a lower-case word, whether it can be a verb, and its form: verbs that are nouns, too."""
    if word in IRREGULAR_PAST:
        return WordForm(IRREGULAR_PAST[word], is_verb=True, form="past")
    found = inflection(word)
    if word.endswith("ing") and found.form != "ing":
        for verb in (word[:-3], f"{word[:-3]}e", word[:-4]):
            if verb in PLACED:
                return WordForm(verb, is_verb=True, form="ing")
    base = base_of(word)
    if word.endswith("s") and base in SURE_VERBS:
        return WordForm(base, is_verb=True, form="s")
    return WordForm(base, found.is_verb, found.form)


class ClauseWords:
    """A clause without the words that change nothing; what these told is kept aside."""

    def __init__(self, clause: str) -> None:
        every = _split_contractions(tokens(clause))
        self.is_over, self.is_never, self.is_not = False, False, False
        self.not_at, self.is_now = 0, False
        kept: list[StatementToken] = []
        lower = [one.text.lower() for one in every]
        at = 0
        while at < len(every):
            word, after = lower[at], lower[at + 1] if at + 1 < len(every) else ""
            before = lower[at - 1] if at else ""
            of_two = (word, after) in {("no", "longer"), ("any", "more")} or (
                (word, after) == ("used", "to") and before not in AUXILIARIES | {"be", "get", "been"}
            )
            if of_two or word == "anymore":
                self.is_over, at = True, at + (2 if of_two else 1)
            elif word == "never":
                self.is_never, at = True, at + 1
            elif word in {"not", "yet", "before"} and (word == "not" or at + 1 == len(every)):
                if word != "before" and len(kept) <= _LONGEST_SUBJECT + 1:
                    self.is_not, self.not_at = True, len(kept)
                at += 1
            elif word in NOW:
                self.is_now, at = True, at + 1
            elif word in PASSED_OVER and not (word in STATUS and before in {"is", "are"}):
                at += 1
            else:
                kept.append(every[at])
                at += 1
        self.tokens = kept
        self.lower = [one.text.lower() for one in kept]
        self.base = [form_of(word).base for word in self.lower]

    def verb(self) -> int | None:
        """Where the verb stands: the first word that can only be one, or one after a name or a pronoun."""
        for at in range(1, min(len(self.tokens), _LONGEST_SUBJECT + 1)):
            word = self.lower[at]
            if word in AUXILIARIES:
                return at
            form = form_of(word)
            if self.lower[at - 1] in DETERMINERS or form.form == "ing":
                continue
            if at + 1 < len(self.lower) and self.lower[at + 1] in AUXILIARIES:
                continue
            is_one = form.is_verb or form.form == "past"
            is_named = all(one.is_capitalised or one.text.lower() in PERSONS for one in self.tokens[:at])
            if is_one and (is_named or (form.form == "s" and form.base in SURE_VERBS)):
                return at
        return None

    def subject(self, verb: int) -> tuple[str, ...]:
        """Who or what the clause is about; () where that is not known, or is one of several that numbers tell apart."""
        if self.lower[0] in PRONOUNS or any(
            word in BINDERS and word not in {"for", "on", "in"} for word in self.lower[:verb]
        ):
            return ()
        if form_of(self.lower[0]).form == "ing":
            return ()
        if any(number(word) for word in self.lower[:verb]):
            return ()
        return tuple(
            base for word, base in zip(self.lower[:verb], self.base[:verb], strict=True) if word not in DETERMINERS
        )

    def value(self, start: int, stops: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """The uninflected words from `start` to where the phrase ends; `width` is how many words were passed."""
        found: list[str] = []
        self.width = 0
        for word, base in zip(self.lower[start:], self.base[start:], strict=True):
            if word in PHRASE_ENDS or word in stops:
                break
            if found and word not in {"named", "called"} and word not in STATUS and form_of(word).form == "past":
                break  # "the project assigned to her"
            self.width += 1
            if word not in DETERMINERS:
                found.append(base)
        return tuple(found)

    def words_as_written(self, start: int, count: int) -> list[str]:
        """Words as they stand."""
        return [one.text for one in self.tokens[start : start + count]]

    def claim(
        self,
        subject: tuple[str, ...],
        attribute: tuple[str, ...],
        value: tuple[str, ...],
        at: tuple[int, int],
        said: str,
    ) -> Claim:
        """A value: `at` is where the verb and where the value begins."""
        says = (" ".join(self.words_as_written(0, at[0])), " ".join(self.words_as_written(at[0], at[1] - at[0])), said)
        return Claim(subject, attribute, value, says)


def _split_contractions(found: list[StatementToken]) -> list[StatementToken]:
    """The words of "doesn't" and "I'm" apart."""
    out: list[StatementToken] = []
    for one in found:
        match = _NOT.match(one.text) or _SHORT.match(one.text)
        if match:
            short = match.group(2).lower()
            word = StatementToken(_LONG[short], is_capitalised=False, starts=False)
            out += [one._replace(text=match.group(1)), word]
        else:
            out.append(one)
    return out
