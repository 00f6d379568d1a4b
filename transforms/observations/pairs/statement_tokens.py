"""A statement as tokens: numbers as digits, hyphenated words apart, identifiers and paths whole."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.language.lexicon import NUMBER_WORDS, SYNONYMS, UNITS, word_map, words

# Words that keep two statements apart, and words that say nothing about what is stated. Lower case, uninflected.

SILENT = words(
    "a an the this that these those there it its be do have get i me my we us our you your user users please just "
    "also very really quite so too and or but of to in on at for with by as into onto about from via per always one "
    "is are am was were been being has had does did s t re ve ll d m which own while "
    "their them they himself herself themselves itself myself then here ever any"
)
"""Dropped: they carry no fact of their own. Prepositions among them still tell roles apart (`BINDERS`)."""

BINDERS = words("from to over than before after into onto for by on in with without under above below between until")
"""What follows one of these plays a part that nothing else plays: "from staging to production"."""

NEGATIONS = word_map(
    "not no never nor neither none nobody nothing nowhere without cannot non cant wont dont doesnt didnt isnt arent "
    "wasnt werent shouldnt mustnt wouldnt couldnt hasnt havent hadnt avoid stop refuse lack forbid prohibit ban "
    "reject decline quit cease unable=not"
)

OPPOSITES = word_map(
    "disable deactivate inactive=active enable activate=active off=on deny block disallow=allow permit=allow "
    "false=true dislike hate detest=like love=like lose=win pass succeed success=pass fail failure fall drop=rise "
    "increase raise grow=rise decrease reduce shrink lower=rise exclude omit=include include=include remove "
    "uninstall=add install=add optional=required mandatory=required invalid=valid unsafe dangerous insecure=safe "
    "secure=safe private=public closed close=open slow=fast quick=fast bad worse=good better=good wrong "
    "incorrect=right correct=right asynchronous=synchronous old=new minimum least=maximum most=maximum last=first "
    "small short narrow low=big large big long wide high tall=big absent missing=present late=early "
    "weak=strong cheap=expensive unlock=lock down=up reverse backward=forward odd=even dark=light "
    "leave depart=arrive sell=buy empty=full dead=alive guilty=innocent deprecate=support"
)
"""Words on one scale, and the scale's name. Two that share a scale and are not one word contradict each other."""

SCALES = frozenset(OPPOSITES.values())

CONTRASTS = word_map(
    "frontend backend=end client server=side staging production prod dev development=stage read write=access "
    "input output=flow source target=direction upstream downstream=stream parent child=kin primary secondary=rank "
    "local remote=place man woman boy girl=sex"
)
"""Words of like use that name different things: put for each other they make another statement, if no opposite one."""

QUALIFIERS = word_map(
    "only=only until till=until unless=unless except=except if=if when whenever=when before=before after=after "
    "over=over under=under above=above below=below most=most some=some few=few many several=many all every each=all "
    "sometimes=sometimes usually often mostly typically=usually rarely seldom hardly=rarely maybe perhaps possibly "
    "may might could can=can will would shall=will must should need ought=must more=more less=less than=than "
    "he him his=he she her hers=she first=first last final=last next=next up=up down=down out=out off=off "
    "why=why how=how what=what "
    "where=where who whom whose=who because since=because almost nearly=almost both=both half=half again=again "
    "same=same other another=other"
)
"""They say when, how much, how sure or who: a statement with one is another than the same without."""

WEEKDAYS = word_map(
    "monday mon=monday tuesday tue=tuesday wednesday wed=wednesday thursday thu=thursday friday fri=friday "
    "saturday=saturday sunday=sunday"
)
MONTHS = word_map(
    "january jan=january february feb=february march=march april apr=april may=may june jun=june july jul=july "
    "august aug=august september sept sep=september october oct=october november nov=november december dec=december"
)
RELATIVE_DAYS = words(
    "yesterday today tomorrow tonight morning afternoon evening noon midnight week month year weekend ago daily weekly "
    "monthly yearly hourly spring summer autumn winter"
)
RECURRING = words("daily weekly monthly yearly hourly")
"""Of the relative days those that say how often, and not when."""

ONLY_CAPITALISED = words("mon tue wed thu fri jan feb march apr may jun jul aug sep sept oct nov dec")
"""Names of days and months that are other words, or none, in lower case."""

UNSTRESSED = words("a an the be been is are am do does did have to you ever any really just even yet")
"""Skipped between a negation and what it negates."""

RETRACTIONS = (
    "forget that", "forget about", "no longer", "ignore the", "disregard", "scratch that", "never mind", "retract",
    "is not true", "is wrong", "was wrong", "not the case", "delete the memory", "remove the memory", "any more",
    "anymore",
)  # fmt: skip
"""Phrases by which a statement takes another back."""

RETRACTING = words("forget disregard retract ignore longer anymore wrong true case mind scratch memory")
"""Words of such phrases, which say nothing of what is taken back."""

MULTIPLES = word_map("hundred=100 thousand=1000 million=1000000 billion=1000000000")
ORDINALS = word_map(
    "first=1. second=2. third=3. fourth=4. fifth=5. sixth=6. seventh=7. eighth=8. ninth=9. tenth=10. twice double=2 "
    "triple=3 dozen=12 once=1"
)
OPPOSING_PREFIXES = ("un", "dis", "in", "im", "ir", "non", "de", "anti")

STANDING = words(
    "always never prefer should must use avoid please ensure require follow rule convention policy guideline "
    "want like dislike favor favour keep make remember"
)
"""Words of rules and preferences."""

STATES = words("live work use run prefer be stay sit host deploy")
"""Verbs that hold of one thing at a time often enough for "now uses X" to replace "uses Y"."""

PAST_AUXILIARIES = words("was were had did")

PAST_FORMS = words(
    "won met felt left lost fell grew led sat slept sold stood thought wore spoke fought flew heard rode rose sang "
    "shot swam visited finished bought"
)
"""Past forms that the table of inflections does not know."""

GENERIC = words("use live work run prefer want need go like keep make take team project")
"""Too general to tell what a statement is about."""

NUMBERED = words(
    "issue pr pullrequest ticket bug step chapter room session day sprint phase task item section page line case "
    "part level week milestone round commit story episode season book figure table question rule"
)
"""What a number after it names, rather than measures."""


READ_CHARACTERS = 2_000
_TOKENS = re.compile(r"(\d{4}-\d\d-\d\d|\d{1,3}(?:,\d{3})+(?:\.\d+)?[\w%]*|[\w~./\\@#][\w./\\:@#~+%'’-]*|[$€£%])")
_NUMBER = re.compile(r"v?(\d+(?:[.,:_]\d+)*)(k|%|[a-z]{1,12})?")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_IDENTIFIER = re.compile(r"[_./\\:@#~+]|\d|[a-z][A-Z]")
_SYMBOL = re.compile(r"[$€£%]")
_SENTENCE_ENDS = re.compile(r"[.!?:\n]")
_OWNED = re.compile(r"['’]s$")
_THOUSANDS = re.compile(r"[,_](?=\d{3})")
_NUMBERS_IN_WORDS = frozenset((*NUMBER_WORDS, *MULTIPLES))
_DIGITS_READ = 12
# what spelling alone would keep apart from its other forms
_ALSO = {"life": "live", "requir": "require", "favourit": "favorite", "favourite": "favorite"}


class StatementToken(NamedTuple):
    """A word as written, whether it is capitalised, and whether it begins a sentence."""

    text: str
    is_capitalised: bool
    starts: bool


@lru_cache(maxsize=200_000)
def base_of(word: str) -> str:
    """The uninflected form of a lower-case word, or the one that stands for its synonyms."""
    base = inflection(word).base if word.isalpha() else word
    return _ALSO.get(base) or SYNONYMS.get(base, base)


@lru_cache(maxsize=200_000)
def number(word: str) -> tuple[str, str] | None:
    """The number a lower-case token is, and the unit glued to it ('': none); None: it is no number."""
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    digits, unit = _THOUSANDS.sub("", match.group(1)), match.group(2) or ""
    if unit == "k":
        return f"{digits}000", ""
    if unit in {"st", "nd", "rd", "th"}:
        return f"{digits}.", ""
    return digits, UNITS.get(unit, unit)


def is_iso_day(word: str) -> bool:
    """Whether it is a date like 2026-03-01."""
    return _ISO_DAY.fullmatch(word) is not None


@lru_cache(maxsize=200_000)
def is_identifier(text: str) -> bool:
    """Whether it is a path, a version, a name in code or another name with digits or capitals inside."""
    return _IDENTIFIER.search(text) is not None and not _SYMBOL.fullmatch(text)


def tokens(text: str) -> list[StatementToken]:
    """The tokens of the first 2,000 characters, in order."""
    found: list[StatementToken] = []
    starts = True
    has_number_words = False
    pieces = _TOKENS.split(text[:READ_CHARACTERS])  # what stands between tokens, and the tokens, by turns
    for between, (starting, inside, ends_sentence, has_number_word) in zip(
        pieces[::2], map(_parts, pieces[1::2]), strict=False
    ):
        if not starts and between != " ":
            starts = _SENTENCE_ENDS.search(between) is not None
        if has_number_word:
            has_number_words = True
        if starts:
            found += starting
            starts = ends_sentence or not inside
        else:
            found += inside
            starts = ends_sentence
    return _in_digits(found) if has_number_words else found


class _Parts(NamedTuple):
    """The words of a raw token at the start of a sentence and inside one; and what its closing punctuation tells."""

    starting: tuple[StatementToken, ...]
    inside: tuple[StatementToken, ...]
    ends_sentence: bool
    has_number_word: bool


@lru_cache(maxsize=200_000)
def _parts(raw: str) -> _Parts:
    word = raw[:-1] if raw[-1] in ".,:;" else raw
    if word.isalpha():  # as most are, and all below leaves it as it is
        is_capitalised = word[0].isupper()
        first, token = StatementToken(word, is_capitalised, True), StatementToken(word, is_capitalised, False)
        return _Parts((first,), (token,), raw[-1] in ".:", word.lower() in _NUMBERS_IN_WORDS)
    closing = raw[len(raw.rstrip(".,:;'’-!?+")) :]
    bare = _OWNED.sub("", raw.strip("'’-:;").rstrip(".,+").lstrip("#") or raw)
    words = (bare,)
    if "-" in bare and not is_identifier(bare.replace("-", "")):
        words = tuple(word for word in bare.split("-") if word)
    inside = tuple([StatementToken(word, word[:1].isupper(), starts=False) for word in words])
    first = tuple([StatementToken(word, word[:1].isupper(), starts=True) for word in words[:1]])
    return _Parts(
        starting=first + inside[1:],
        inside=inside,
        ends_sentence=bool(closing) and _SENTENCE_ENDS.search(closing) is not None,
        has_number_word=not _NUMBERS_IN_WORDS.isdisjoint([word.lower() for word in words]),
    )


def _in_digits(found: list[StatementToken]) -> list[StatementToken]:
    """Numbers in words as digits: "twenty five", "two hundred"; "one" alone is hardly ever a number."""
    out: list[StatementToken] = []
    total, is_open = 0, False
    for token in found:
        word = token.text.lower()
        value = NUMBER_WORDS.get(word) if word not in MULTIPLES and (word != "one" or is_open) else None
        if word in MULTIPLES:
            if not is_open:
                has_digits = bool(out) and out[-1].text.isdecimal() and len(out[-1].text) <= _DIGITS_READ
                total = int(out.pop().text) if has_digits else 1
            else:
                out.pop()
            total, is_open = total * int(MULTIPLES[word]), True
            out.append(token._replace(text=str(total)))
        elif value is None:
            is_open = False
            out.append(token)
        elif is_open and int(value) < total and total % 10 == 0:
            total += int(value)
            out[-1] = token._replace(text=str(total))
        else:
            total, is_open = int(value), True
            out.append(token._replace(text=value))
    return out
