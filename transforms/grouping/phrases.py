"""An English strategy as phrases, in each of which every word has its role, its negation and its number."""

from __future__ import annotations

from dataclasses import dataclass

from slowwave.transforms.grouping.idioms import idioms, opens
from slowwave.transforms.grouping.strategy_tokens import END, StrategyToken
from slowwave.transforms.language.inflection import Form, Inflection, inflection
from slowwave.transforms.language.lexicon import (
    ADJECTIVES,
    BE,
    CAUSATIVES,
    CLAUSES,
    COORDINATORS,
    DETERMINERS,
    DROPPED,
    EVENTS,
    FLOATING,
    GENERIC,
    NEGATIONS,
    ORDERING,
    ORDINALS,
    PREFERRING,
    REPLACING,
    REPRODUCING,
    ROLES,
    SYNONYMS,
    TIMES,
    UNITS,
    USING,
)

_PRONOUNS = ("it", "they", "them")


@dataclass(slots=True)
class PhraseWord:
    """One word that says something: as written, uninflected, in words of one meaning, and what it does."""

    written: str
    uninflected: str
    base: str
    form: Form
    is_verb: bool
    is_name: bool = False
    is_participle: bool = False
    """A form of a known verb in -ed or -ing, also where it stands before a noun ("the merged code")."""
    floats: bool = False
    """It may stand anywhere in its phrase."""
    counts: int = 0
    """A number counts the word after it (1), or else the word before it; -1 is the other way round: "retry 3 times"."""
    role: str = ""
    """What it is marked with; `before>to` is the role "to" within the clause "before"."""
    scope: int = 0
    negations: int = 0

    @property
    def leads(self) -> bool:
        """It can be the verb of an instruction."""
        return self.is_verb and self.form == "base"


def _cuts(found: list[StrategyToken]) -> list[tuple[str, list[StrategyToken]]]:
    """The tokens between commas and coordinators, each with the strongest of what stands before it."""
    cuts: list[tuple[str, list[StrategyToken]]] = [("", [])]
    for token in found:
        if token == END or (token.kind == "word" and token.text in COORDINATORS):
            joiner = token.text
            if cuts[-1][1]:
                cuts.append((joiner, []))
            elif joiner != ",":
                cuts[-1] = (joiner, [])
        else:
            cuts[-1][1].append(token)
    return [cut for cut in cuts if cut[1]]


def _uninflected_word(text: str, *, is_name: bool = False, counts: int = 0) -> PhraseWord:
    return PhraseWord(text, text, text, "other", is_verb=False, is_name=is_name, counts=counts)


class _Reader:
    """Reads one cut from left to right; the role and the negation in force are its state."""

    def __init__(self, cut: list[StrategyToken], before: PhraseWord | None, *, start: int, main_follows: bool) -> None:
        self.parts: list[PhraseWord] = []
        self._cut = cut
        self._start = start
        self._role = before.role if before else ""
        self._clause = self._role.partition(">")[0] if self._role in CLAUSES else ""
        self._scope = before.scope if before else start
        self._negations = before.negations if before and cut[0].text not in NEGATIONS else 0
        self._scope_start = 0
        # "on failure retry": nothing but the verb shows where the main phrase begins
        self._main_to_come = not main_follows and cut[0].text in ROLES
        self._finite_verb_to_come = False
        self._negated_at = 0
        self._noun_follows = False

    def read(self) -> list[PhraseWord]:
        for at, token in enumerate(self._cut):
            following = self._cut[at + 1] if at + 1 < len(self._cut) else None
            if token.kind == "number":
                self._add(_uninflected_word(token.text, counts=1))
            elif token.kind == "name":
                self._add(_uninflected_word(token.text, is_name=True))
            else:
                previous = self._cut[at - 1] if at else None
                self._word(token.text, previous, following)
        return _bind_numbers(self.parts)

    @property
    def _scope_is_empty(self) -> bool:
        return len(self.parts) == self._scope_start

    @property
    def _may_be_a_clause(self) -> bool:
        return bool(self._clause) or self._main_to_come or self._role in {"if", "to"}

    def _add(self, part: PhraseWord) -> None:
        part.role, part.scope, part.negations = self._role, self._scope, self._negations
        self.parts.append(part)

    def _open(self, role: str, *, is_clause: bool = False) -> None:
        if self._scope_is_empty and self._role and role != "use":
            role = f"{self._role} {role}"  # "except on timeout"
        elif is_clause:
            self._clause = role
        elif self._clause:
            role = f"{self._clause}>{role}"
        self._end_negation()
        self._role, self._scope_start, self._noun_follows = role, len(self.parts), False
        self._scope = self._start + len(self.parts)

    def _end_negation(self) -> None:
        if len(self.parts) > self._negated_at:
            self._negations = 0

    def _word(self, word: str, previous: StrategyToken | None, following: StrategyToken | None) -> None:
        found = inflection(word)
        base = SYNONYMS.get(found.base, found.base)
        if word in NEGATIONS or base in NEGATIONS:
            self._negate(following)
        elif base in USING and (found.form != "base" or following is not None):
            # "without using X" is "without X"; in "to use X", "by using X" the role is that of a means
            if not self._role or not self._scope_is_empty or self._role in {"to", "by"}:
                self._open("use")
            elif following is not None and following.text in _PRONOUNS:
                self._say(word, found, base, previous, following)
        elif word in ROLES and following is not None:
            if not (word == "of" and self._role == "use" and self._scope_is_empty):
                role = self._role_of(word, following)
                self._open(role, is_clause=role in CLAUSES and word != "on")
        elif word in BE:
            self._link(following)
        elif previous is not None and previous.kind == "number" and (word in TIMES or word in UNITS):
            self._count(word)
        elif not self._is_idle(word, base, following):
            self._say(word, found, base, previous, following)

    def _say(
        self, word: str, found: Inflection, base: str, previous: StrategyToken | None, following: StrategyToken | None
    ) -> None:
        before = "" if previous is None else previous.text
        is_noun = before in DETERMINERS or self._noun_follows
        # "the failing call", "in failing tests", "new tests": the noun is yet to come
        is_led = is_noun or (before in ROLES and not self._may_be_a_clause)
        self._noun_follows = base in ADJECTIVES or (is_led and found.form in {"past", "ing"})
        is_verb = found.is_verb and not is_noun
        floats = base in FLOATING or (word.endswith("ly") and not is_verb)
        part = PhraseWord(word, found.base, base, found.form, is_verb=is_verb, is_name=len(word) == 1, floats=floats)
        part.is_participle = found.is_verb and found.form in {"past", "ing"}
        if word in ORDINALS and self._is_of_a_noun(before, following):
            part.counts = 1
        if self._begins_main_phrase(part):
            self._role, self._clause, self._scope_start, self._main_to_come = "", "", len(self.parts), False
            self._end_negation()
        self._add(part)
        if word == "first" and following is None and not part.counts:
            self._give_to_main(part)

    def _give_to_main(self, adverb: PhraseWord) -> None:
        """As in "reproduce it with a test first"; not in "sort with the newest first"."""
        main = [part for part in self.parts if not part.role]
        is_after_words = len(self.parts) - 1 > self._scope_start
        if main and is_after_words and not (self._clause or {part.base for part in main} & ORDERING):
            adverb.role, adverb.scope, adverb.negations = "", main[-1].scope, main[-1].negations

    def _is_of_a_noun(self, before: str, following: StrategyToken | None) -> bool:
        """As in "the first test"; not in "write tests first", "first write tests"."""
        if following is None or opens(following):
            return False
        named = inflection(following.text)
        return before in DETERMINERS or (not self._scope_is_empty and not (named.is_verb and named.form == "base"))

    def _count(self, word: str) -> None:
        if word in UNITS:
            self._add(_uninflected_word(UNITS[word]))
            return
        number = self.parts[-1]
        fixed = [part for part in self.parts[self._scope_start : -1] if not part.floats]
        if not fixed or (len(fixed) == 1 and fixed[0].is_verb):
            number.counts = -1
        else:
            # "run the tests 3 times" is not "run 3 tests"
            number.base = number.uninflected = f"{number.base} times"
            number.counts, number.floats = 0, True

    def _is_idle(self, word: str, base: str, following: StrategyToken | None) -> bool:
        """It says nothing here: an article (not a name), "it" in "if it fails", "strategy" after its name."""
        if word == "'s":
            for part in self.parts[-1:]:
                part.role = "of"
            return True
        if word == "a":
            return following is not None and not opens(following)
        if word in _PRONOUNS:
            return self._is_idle_pronoun(word, following)
        return word in DROPPED or (base in GENERIC and self._ends_a_name(following))

    def _is_idle_pronoun(self, word: str, following: StrategyToken | None) -> bool:
        """As in "until it passes", "until they are green", "run it once"; not in "ask if they agree"."""
        if self._negations and self._negated_at == len(self.parts):
            return False  # "not it"
        if self._scope_is_empty:
            if following is None:
                return False
            stands_for_any = word == "it" or following.text in BE
            return stands_for_any and (self._role == "if" or self._role in CLAUSES)
        ends = following is None or following.kind == "number" or opens(following) or following.text in FLOATING
        return ends and self.parts[-1].is_verb and self.parts[-1].base not in CAUSATIVES

    def _link(self, following: StrategyToken | None) -> None:
        """Keeps the places on both sides ("warnings are errors"); before a verb it says nothing ("is checking")."""
        if following is None or self._scope_is_empty:
            return
        if inflection(following.text).form not in {"past", "ing"}:
            self._add(PhraseWord("be", "be", "be", "s", is_verb=True))

    def _negate(self, following: StrategyToken | None) -> None:
        self._negations += 1
        self._negated_at = len(self.parts)
        if following is None:
            self._add(_uninflected_word("not"))

    def _role_of(self, word: str, following: StrategyToken) -> str:
        said = {part.base for part in self.parts}
        role = ROLES[word]
        if role in {"over", "instead"} and said & PREFERRING:
            role = "instead"
            self._read_preference()
        elif role == "with" and said & REPLACING:
            role = "by"
        elif word == "on":
            event = inflection(following.text).base
            role = "if" if SYNONYMS.get(event, event) in EVENTS else "in"
        elif role == "in" and word == "in" and said & REPRODUCING:
            role = "with"
        elif role == "into" and said & {"break", "split"}:
            self._read_split()
        if role == "if":
            self._finite_verb_to_come = inflection(following.text).form != "ing" and word != "on"
        return role

    def _read_preference(self) -> None:
        """Reads "prefer X over Y" as "use X instead of Y"."""
        self.parts = [part for part in self.parts if part.base not in PREFERRING]
        self._scope_start = min(self._scope_start, len(self.parts))
        for part in self.parts:
            part.role = part.role or "use"

    def _read_split(self) -> None:
        """Reads "break X down into Y" as "split X into Y"."""
        self.parts = [part for part in self.parts if part.base not in {"down", "up"}]
        self._scope_start = min(self._scope_start, len(self.parts))
        for part in self.parts:
            part.base = "split" if part.base == "break" else part.base

    def _ends_a_name(self, following: StrategyToken | None) -> bool:
        negated = self._negations > 0 and self._negated_at == len(self.parts)
        named = not (negated or self._scope_is_empty) and (following is None or opens(following))
        return named and (self._role == "use" or not any(part.is_verb for part in self.parts))

    def _begins_main_phrase(self, part: PhraseWord) -> bool:
        if not self._main_to_come or self._scope_is_empty or not self._role:
            return False
        if self._finite_verb_to_come:
            self._finite_verb_to_come = not (part.is_verb or part.base in EVENTS)
            return False
        return part.leads


def _bind_numbers(parts: list[PhraseWord]) -> list[PhraseWord]:
    """Each number with the word it counts: a neighbour in the same role, else the word before "of"."""
    taken: set[int] = set()
    for at, here in enumerate(parts):
        near = [at + here.counts, at - here.counts] if here.counts else []
        near = [other for other in near if 0 <= other < len(parts) and other not in taken]
        counted = next((other for other in near if _same_place(parts[other], here)), None)
        if counted is None and here.role == "of" and not here.negations and at - 1 in near:
            counted = at - 1
        if counted is not None:
            word = parts[counted]
            word.written = f"{here.written} {word.written}"
            word.uninflected = f"{here.uninflected} {word.uninflected}"
            word.base = f"{here.base} {word.base}"
            word.is_verb = word.floats = False
            taken.add(at)
    return [part for at, part in enumerate(parts) if at not in taken]


def _same_place(one: PhraseWord, other: PhraseWord) -> bool:
    return (one.role, one.scope, one.negations) == (other.role, other.scope, other.negations)


def _instructs_use(cut: list[StrategyToken]) -> bool:
    found = inflection(cut[0].text)
    return found.form == "base" and found.base in USING and found.is_verb


def _subordinate(cut: list[StrategyToken], parts: list[PhraseWord]) -> bool:
    """All of it says when, why or by what means."""
    return all(part.role for part in parts) and not _instructs_use(cut)


def _is_listed(cut: list[StrategyToken], parts: list[PhraseWord], joiner: str, phrase: list[PhraseWord]) -> bool:
    """One word more of a list, or the rest of a phrase that began with one; not a step of its own."""
    if joiner in {"then", "but"} or parts[0].leads or opens(cut[0]):
        return False
    if len(parts) == 1:
        return joiner != "," or len(phrase) > 1
    return len(phrase) == 1


def phrases(found: list[StrategyToken]) -> list[list[PhraseWord]]:
    """The phrases of an English text, in order. Articles and other words that say nothing are gone.

    A comma or coordinator ends a phrase, unless what stands on one side of it is subordinate ("when tests fail, retry")
    or a single word more ("docs and tests").
    """
    cuts = _cuts(idioms(found))
    read: list[list[PhraseWord]] = []
    open_ended = False
    for at, (joiner, cut) in enumerate(cuts):
        last = at + 1 == len(cuts)
        parts = _Reader(cut, None, start=at * len(found), main_follows=not last).read()
        if not parts:
            continue
        if read and _is_listed(cut, parts, joiner, read[-1]):
            # "with backoff and jitter": jitter is in the role of backoff
            before = None if open_ended else read[-1][-1]
            read[-1] += _Reader(cut, before, start=at * len(found), main_follows=not last).read()
        elif read and (open_ended or _subordinate(cut, parts)):
            read[-1] += parts
        else:
            read.append(parts)
        open_ended = (at == 0 or open_ended) and (_subordinate(cut, parts) or all(part.floats for part in parts))
    return read
