"""The words of a clause: where its verb stands, who it is about, and its phrases; and what is claimed with them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import word_map, words
from slowwave.transforms.observations.pairs.statement_tokens import BINDERS, StatementToken, base_of, number, tokens

# Words by which a statement tells a state of its subject. Lower case, uninflected.

PASSED_OVER = words(
    "now currently already recently just still always really actually also finally officially successfully "
    "previously formerly nowadays today proudly happily usually often only even both all now quite very so then "
    "temporarily automatically fully completely together basically mainly mostly primarily generally here"
)
"""Adverbs that may stand anywhere: a state is the same without."""

BESIDE_NUMBERS = words("now currently already still existing")
"""A number in a sentence is the same without."""
DETERMINERS = words("a an the this that these those my our your his her their its some any new own very")
PRONOUNS = words(
    "he she it they this that these those there what who which one someone everyone everything something you him them"
)
"""They name nothing by themselves: what a statement about "it" is about is not known."""

STATUS = word_map(
    "enabled disabled on off active inactive paused running stopped=power "
    "open pending blocked ready closed merged released shipped done complete completed finished cancelled canceled "
    "planned underway unfinished incomplete scheduled=progress "
    "broken failing red down fixed passing green up working=health "
    "required mandatory optional=need public private=visibility supported unsupported deprecated=support "
    "single married engaged divorced widowed=marriage employed unemployed retired=work "
    "empty full=filling used unused=use clean dirty=cleanness allowed forbidden=permission"
)
"""States on one scale, and the scale: of two on one scale a thing is in one."""

ATTRIBUTES = words(
    "port version limit timeout default name branch url address color colour language database size budget deadline "
    "price owner lead leader manager boss status state job role favorite password threshold retention region host "
    "schedule location email phone framework runtime provider engine backend frontend count number rate coverage "
    "level priority mode theme format model license quota capacity interval frequency date due target title rank "
    "salary weight height age temperature currency plan tier mascot captain teacher coach roommate partner husband "
    "wife girlfriend boyfriend score record maximum minimum max min length width depth interpreter compiler editor"
)
"""Nouns that have one value at a time: "the port is 8080"."""

PLACED = {
    "live": ("in", "at", "with", "near"), "reside": ("in", "at"), "work": ("at", "for", "as"),
    "host": ("on", "in", "at"),
    "base": ("in", "on"), "locate": ("in", "at"), "store": ("in", "on", "at"), "deploy": ("to", "on"),
    "write": ("in",), "own": ("by",), "assign": ("to",), "set": ("to",), "run": ("on", "in", "at"),
    "report": ("to",), "point": ("to", "at"), "belong": ("to",), "default": ("to",), "listen": ("on",),
    "expire": ("after", "in"), "manage": ("by", "with"), "lead": ("by",), "maintain": ("by",), "cap": ("at", "to"),
    "limit": ("to",), "schedule": ("for", "on", "at"), "study": ("at",),
    "stay": ("in", "at", "with"),
}  # fmt: skip
"""Verbs that, with one of these prepositions after them, take one value at a time."""

PERSONS = words(
    "i we user users team client customer owner developer agent assistant and the his her their my our partner wife "
    "husband girlfriend boyfriend friend friends family siblings sister brother parents mother father colleagues "
    "company"
)
"""They, and names, do what the verb after them says."""

GENERIC_LABELS = words(
    "note notes step phase result results total impact effort estimate line lines file files issue task item example "
    "current latest last next new time update updated created duration progress overall section part day week sprint "
    "commit commits push completion completed value values input output test testing tests"
)
"""Labels that do not say what they are the value of."""

AUXILIARIES = words("is are am was were has have had will do does did would can could may might should must")
NOW = words("now currently nowadays today")
OF_PEOPLE = words("live stay")
SURE_VERBS = frozenset(
    (*PLACED, *words("use prefer want need own support require accept allow return reject emit send contain provide"))
)
"""Verbs whose third person is hardly ever a noun."""
IRREGULAR_PAST = word_map(
    "won=win found=find felt=feel left=leave lost=lose fell=fall grew=grow led=lead sold=sell swam=swim rode=ride "
    "flew=fly became=become saw=see sang=sing quit=quit wore=wear fought=fight drank=drink slept=sleep sat=sit "
    "stood=stand thought=think heard=hear spoke=speak hung=hang stuck=stick fed=feed dealt=deal dug=dig lent=lend"
)
"""Past forms that the table of inflections does not know."""
PHRASE_ENDS = (BINDERS - {"of"}) | words(
    "and or but because which that who where when while so at as then about every per he she they i we it similar "
    "based inspired yesterday tomorrow tonight again last next himself herself themselves myself"
)
"""Where the name of a thing ends."""


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
