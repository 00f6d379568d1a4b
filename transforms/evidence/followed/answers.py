"""What an answer shows of an expectation: a verdict with what was seen, or none where it cannot be told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from slowwave.transforms.evidence.followed.tables import CheckKind


class Observed(NamedTuple):
    """Whether an answer does what is expected, and what was seen."""

    is_followed: bool
    saw: str


class Answer:
    """An answer, and its prose: without code, quotations and addresses."""

    def __init__(self, prompt: str, text: str) -> None:
        self.prompt = prompt
        self.text = text.strip()

    @property
    def blocks(self) -> list[tuple[str, str]]:
        """Fenced blocks of code: what they are called, and their lines."""
        return self._parts[0]

    @property
    def unfenced(self) -> str:
        """The answer without fenced blocks, also one that is never closed."""
        return self._parts[1]

    @cached_property
    def _parts(self) -> tuple[list[tuple[str, str]], str]:
        blocks, outside, inside = list[tuple[str, str]](), list[str](), list[str]()
        fence, name = "", ""
        for line in self.text.split("\n"):
            marks = _FENCE.match(line)
            if not fence and marks:
                fence, name, inside = marks[1], marks[2].lower(), []
            elif fence and marks and marks[1].startswith(fence) and not marks[2]:
                blocks.append((name, "\n".join(inside)))
                fence = ""
            else:
                (inside if fence else outside).append(line)
        return blocks, "\n".join(outside)

    @cached_property
    def prose(self) -> str:
        """What the agent says itself."""
        return _NOT_SAID.sub(" ", self.unfenced)

    @cached_property
    def words(self) -> list[str]:
        """The words of its prose, in lower case."""
        return _WORD.findall(self.prose.lower())


_FENCE = re.compile(r"[ \t>]*(```+|~~~+)([\w+-]*)")
_NOT_SAID = re.compile(
    r"`[^`\n]*`|https?://\S+|(?m:^[ \t]*>.*$)|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”"
    r"|(?<![\w.-])[\w.-]{0,100}(?:/[\w.-]{1,100})+|(?<!\w)\w{1,100}\.\w{1,100}\b"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def _words_of(text: str) -> list[str]:
    return text.split()


# ------------------------------------------------------------------------------------------
# Language.

# Words of English whose spelling tells where it is from: British and American by turns. What both write is not here.
_SPELLINGS = _words_of("""
    colour color colours colors coloured colored favour favor favourite favorite favourites favorites behaviour behavior
    behaviours behaviors neighbour neighbor neighbours neighbors honour honor labour labor flavour flavor humour humor
    harbour harbor rumour rumor centre center centres centers litre liter theatre theater defence defense offence
    offense travelled traveled travelling traveling cancelled canceled cancelling canceling labelled labeled labelling
    labeling modelled modeled modelling modeling grey gray analyse analyze analysed analyzed analysing analyzing
    optimise optimize optimised optimized optimising optimizing organise organize organised organized organising
    organizing organisation organization recognise recognize recognised recognized realise realize realised realized
    initialise initialize initialised initialized initialises initializes normalise normalize normalised normalized
    normalises normalizes serialise serialize serialised serialized summarise summarize summarised summarized
    prioritise prioritize customise customize customised customized utilise utilize minimise minimize minimised
    minimized maximise maximize maximised maximized authorise authorize authorised authorized authorisation
    authorization synchronise synchronize synchronised synchronized apologise apologize emphasise emphasize standardise
    standardize categorise categorize visualise visualize finalise finalize finalised finalized fulfil fulfill enrol
    enroll skilful skillful aluminium aluminum ageing aging unauthorised unauthorized centralised centralized localise
    localize localised localized specialise specialize specialised specialized generalise generalize optimisation
    optimization initialisation initialization normalisation normalization serialisation serialization customisation
    customization visualisation visualization centred centered
    """)
_BRITISH, _AMERICAN = frozenset(_SPELLINGS[::2]), frozenset(_SPELLINGS[1::2])
# Frequent small words that few other languages have.
_SMALL_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(_words_of(words))
    for language, words in (
        ("English", "the and is are of to with for that this it you have not be was were can which from your"),
        ("German", "der die das und ist nicht ein eine mit für auf den dem des sie ich wird sind auch wie zu"),
        ("French", "le la les et est une des du pas pour dans que qui vous nous avec sur ce cette sont"),
        ("Spanish", "el los las y es una del que para con por no se su como más está son pero muy"),
        ("Italian", "il lo gli e è una che di per con non sono della del nel questo come più anche ho"),
        ("Portuguese", "o os as e é uma que para com não do da em se mais por como são está você"),
        ("Dutch", "de het een en is niet van met voor op dat die te zijn wordt ook als je maar naar"),
    )
}
_SCRIPTS: Mapping[str, re.Pattern[str]] = {
    "Russian": re.compile(r"[\u0400-\u04ff]"),
    "Chinese": re.compile(r"[\u4e00-\u9fff]"),
    "Japanese": re.compile(r"[\u3040-\u30ff]"),
    "Korean": re.compile(r"[\uac00-\ud7af]"),
}
_FEWEST_WORDS, _FEWEST_LETTERS = 12, 8
# A language is plain where its small words make this share of all words, and twice as many as another's.
_PLAIN_SHARE, _PLAIN_LEAD = 0.15, 2
_NAMES_A_LANGUAGE = re.compile(
    r"(?i)\b(?:english|german|deutsch|french|français|spanish|español|italian|portuguese|dutch|russian|chinese|japanese"
    r"|korean|translat\w+|spelling|british|american|language)\b"
)


def _see_language(answer: Answer, value: str) -> Observed | None:
    if _NAMES_A_LANGUAGE.search(answer.prompt):
        return None
    if value in ("British", "American"):
        return _see_variant(answer, value)
    spoken = _language_of(answer)
    if spoken is None:
        return None
    return Observed(spoken == value, f"{spoken}, by its frequent words or its script")


def _see_variant(answer: Answer, value: str) -> Observed | None:
    asked = set(_WORD.findall(answer.prompt.lower()))
    own, other = (_BRITISH, _AMERICAN) if value == "British" else (_AMERICAN, _BRITISH)
    said = [word for word in answer.words if word not in asked]
    right, wrong = ([word for word in said if word in among] for among in (own, other))
    # Oxford writes `organize` too
    is_oxford = value == "British" and all("iz" in word for word in wrong)
    is_other = len(answer.words) >= _FEWEST_WORDS and _language_of(answer) != "English"
    if bool(right) == bool(wrong) or (wrong and is_oxford) or is_other:
        return None
    return Observed(bool(right), _listed(right or wrong))


def _language_of(answer: Answer) -> str | None:
    letters = sum(character.isalpha() for character in answer.prose)
    by_script = {name: len(pattern.findall(answer.prose)) for name, pattern in _SCRIPTS.items()}
    if by_script["Japanese"] >= _FEWEST_LETTERS:
        by_script["Chinese"] = 0  # Japanese is written with both
    name = max(by_script, key=by_script.__getitem__)
    if by_script[name] >= _FEWEST_LETTERS and by_script[name] > letters / 2:
        return name
    if len(answer.words) < _FEWEST_WORDS or sum(by_script.values()) > letters / 10:
        return None
    counts = sorted(
        ((sum(word in small for word in answer.words), name) for name, small in _SMALL_WORDS.items()), reverse=True
    )
    (most, name), (second, _) = counts[:2]
    return name if most >= _PLAIN_SHARE * len(answer.words) and most >= _PLAIN_LEAD * second else None


# ------------------------------------------------------------------------------------------
# Length: the fewest and the most that one may count; between them nothing is said.

_ASKS_FOR_LENGTH = re.compile(
    r"(?i)\b(?:in detail|detailed|at length|long(?:er)?|list|every|all|full|complete|essay|step[\s-]by[\s-]step|\d+ "
    r"(?:words?|sentences?|lines?|paragraphs?|points?|bullets?)|write|draft|translate|table|compare|explain)\b"
)
_SURE_END = re.compile(r"[.!?…][)\"”'’*_]*(?=\s+[A-Z\"“(*]|\s*\Z)")
_ANY_END = re.compile(r"[.!?…:;]+(?=\s|\Z|[)\"”*_])")
_LAST_END = re.compile(r"[.!?…:;][)\"”'’*_]*\s*\Z")
_LIST_ITEM = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_ABBREVIATION = re.compile(r"(?i)\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|no|fig|approx|cf|st|inc|ltd|[a-z])\.")


def _see_length(answer: Answer, value: str) -> Observed | None:
    number, _, unit = value.partition(" ")
    most = int(number)
    if _ASKS_FOR_LENGTH.search(answer.prompt):
        return None
    fewest, highest = _COUNTS[unit](answer)
    if fewest > most:
        return Observed(is_followed=False, saw=f"{_counted(fewest, unit)}{' or more' if highest > fewest else ''}")
    return Observed(is_followed=True, saw=f"{_counted(highest, unit)} at most") if highest <= most else None


def _sentences(answer: Answer) -> tuple[int, int]:
    prose = _ABBREVIATION.sub("x", _NOT_SAID.sub("X", answer.unfenced)).strip()
    lines = [line for line in re.split(r"\n+", prose) if line.strip()]
    # what ends in no mark may be one more
    highest = sum(len(_ANY_END.findall(line)) + (_LAST_END.search(line) is None) for line in lines) + len(answer.blocks)
    return len(_SURE_END.findall(prose)), highest


def _words(answer: Answer) -> tuple[int, int]:
    return len(_WORD.findall(answer.prose)), len(re.findall(r"[\w'’]+", answer.text))


def _lines(answer: Answer) -> tuple[int, int]:
    lines = answer.text.split("\n")
    return len([line for line in answer.unfenced.split("\n") if line.strip()]), len(lines)


def _paragraphs(answer: Answer) -> tuple[int, int]:
    parts = [part for part in re.split(r"\n[ \t]*\n", answer.text) if part.strip()]
    plain = [part for part in re.split(r"\n[ \t]*\n", answer.unfenced) if part.strip() and not _LIST_ITEM.match(part)]
    # headings, tables and what parts the others are none
    plain = [part for part in plain if _WORD.search(part) and not part.lstrip().startswith(("#", "|"))]
    return len(plain), len(parts)


def _characters(answer: Answer) -> tuple[int, int]:
    return len(answer.unfenced.strip()), len(answer.text)


def _items(answer: Answer) -> tuple[int, int]:
    top = re.findall(r"(?m)^(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", answer.unfenced)
    return len(top), len(_LIST_ITEM.findall(answer.unfenced))


_COUNTS: Mapping[str, Callable[[Answer], tuple[int, int]]] = {
    "sentences": _sentences,
    "words": _words,
    "lines": _lines,
    "paragraphs": _paragraphs,
    "characters": _characters,
    "list items": _items,
}

# ------------------------------------------------------------------------------------------
# Characters and format.

_EMOJI = re.compile(
    "[\U0001f300-\U0001faff\U00002600-\U000026ff\U0001f1e6-\U0001f1ff\u2705\u274c\u2728\u2753\u2757\u274e\u2b50\u2764]"
)
_CHARACTERS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "no emoji": (_EMOJI, "emoji"),
    "no exclamation mark": (re.compile(r"(?<=\w)!(?=\s|\Z)"), "exclamation"),
    "no em dash": (re.compile("\u2014"), "dash|\u2014"),
}
# What may be a heading may be a comment in code that no fence marks.
_HEADING = r"(?:\A|\n[ \t]*\n)(?:#{2,6} \S|# \S[^\n]*(?=\n[ \t]*\n|\Z))"
_MAYBE_HEADING = re.compile(r"(?m)^#{1,6} \S")
_FORMATS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "no bullets": (
        re.compile(r"(?m)^[ \t]*[-*+•][ \t]+\S.*\n+[ \t]*[-*+•][ \t]+\S"),
        "list|bullet|points|options|steps",
    ),
    "no tables": (re.compile(r"(?m)^\|.*\|[ \t]*\n\|[ :|-]+\|[ \t]*$"), "table|matrix|compar"),
    "no headings": (re.compile(_HEADING), "heading|header|section|document|readme|markdown"),
    "no code blocks": (re.compile(r"(?m)^[ \t]*```"), "code|block|script|command|function|snippet|write|example"),
    "no bold": (re.compile(r"(?<!\*)\*\*(?! )[^*\n]+\*\*(?!\*)"), "bold|markdown|emphasi"),
    "no markdown": (
        re.compile(rf"{_HEADING}|(?<!\*)\*\*(?! )[^*\n]+\*\*(?!\*)|(?m:^\|.*\|[ \t]*\n\|[ :|-]+\|[ \t]*$|^```)"),
        "markdown|table|code|format|script|command|write",
    ),
}
_OF_FENCES, _OF_HEADINGS = ("no code blocks", "no markdown"), ("no headings", "no markdown")


def _see_characters(answer: Answer, value: str) -> Observed | None:
    pattern, asked = _CHARACTERS[value]
    # what the prompt has may be quoted
    if re.search(f"(?i){asked}", answer.prompt) or pattern.search(answer.prompt):
        return None
    found = pattern.findall(answer.prose if value != "no emoji" else answer.unfenced)
    return Observed(not found, _listed(found) if found else "none")


def _see_format(answer: Answer, value: str) -> Observed | None:
    if value == "json":
        return _see_json(answer)
    pattern, asked = _FORMATS[value]
    if re.search(f"(?i){asked}", answer.prompt) or pattern.search(answer.prompt):
        return None
    found = pattern.search(answer.text if value in _OF_FENCES else answer.unfenced)
    if found is None and value in _OF_HEADINGS and _MAYBE_HEADING.search(answer.unfenced):
        return None
    return Observed(found is None, _shortened(found[0]) if found else "none")


def _see_json(answer: Answer) -> Observed | None:
    if re.search(r"(?i)json|markdown|table|prose|plain text|code|ya?ml|csv|xml", answer.prompt):
        return None
    text = answer.text
    if len(answer.blocks) == 1 and not answer.unfenced.strip():
        text = answer.blocks[0][1]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None if text[:1] in "{[" else Observed(is_followed=False, saw=f"text: {_shortened(answer.text)}")
    return Observed(isinstance(value, dict | list), f"JSON, {type(value).__name__}")


# ------------------------------------------------------------------------------------------
# Words.


def _see_phrase(answer: Answer, value: str) -> Observed | None:
    wanted, _, phrase = value.partition(" ")
    found = _has(answer.text, phrase)
    # what is quoted, or stands in code, is not said
    if _has(answer.prompt, phrase) or (wanted == "no" and found and not _has(answer.prose, phrase)):
        return None
    return Observed(found == (wanted == "with"), f"“{phrase}”" if found else "not there")


def _has(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text, not within a word."""
    edge = r"(?<!\w)" if phrase[:1].isalnum() else "", r"(?!\w)" if phrase[-1:].isalnum() else ""
    return re.search(rf"(?i){edge[0]}{re.escape(phrase)}{edge[1]}", text) is not None


def _see_opening(answer: Answer, value: str) -> Observed | None:
    wanted, _, phrase = value.partition(" ")
    begin = answer.text.lstrip('*_#>"“ \n')
    found = _has(begin[: len(phrase) + 1], phrase) and begin.casefold().startswith(phrase.casefold())
    return Observed(found == (wanted == "with"), f"begins with “{_shortened(begin)}”")


def _see_ending(answer: Answer, value: str) -> Observed | None:
    wanted, _, text = value.partition(" ")
    last = next((line for line in reversed(answer.text.split("\n")) if line.strip("`*_-> \t")), "").strip()
    if wanted == "line":
        found = last.lstrip("`*_->#• \t").casefold().startswith(tuple(text.casefold().split()))
    else:
        end = answer.text.rstrip('*_"”.! \n').casefold()
        found = end.endswith(text.casefold().rstrip('*_"”.! \n'))
    return Observed(found, f"ends with “{_shortened(last)}”")


_SHOWN = 60


def _counted(count: int, many: str) -> str:
    return f"{count:,} {many if count != 1 else many.removesuffix('s')}"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _listed(found: list[str]) -> str:
    each = list(dict.fromkeys(found))
    return ", ".join(each[:5]) + (f" and {len(each) - 5} more" if len(each) > 5 else "")  # noqa: PLR2004 - so many are shown


_SEEN_BY: Mapping[CheckKind, Callable[[Answer, str], Observed | None]] = {
    "language": _see_language,
    "length": _see_length,
    "format": _see_format,
    "characters": _see_characters,
    "phrase": _see_phrase,
    "opening": _see_opening,
    "ending": _see_ending,
}


def observe_answer(answer: Answer, check: CheckKind, value: str) -> Observed | None:
    """Return what an answer shows of one expectation; None where nothing can be said."""
    return _SEEN_BY[check](answer, value) if answer.text else None
