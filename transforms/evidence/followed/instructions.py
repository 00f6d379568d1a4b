"""Which instructions an answer can be checked for: imperatives of clear shape, and nothing else.

A memory is split into clauses. Each is matched whole: words that are not understood may narrow what it means, and then
nothing is said. Neither is it of a memory with a condition (`if`, `when`), nor below a heading that narrows it to
something else than answers (`Commit messages`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from slowwave.transforms.evidence.followed.tables import CheckKind


class Expectation(NamedTuple):
    """What an answer is checked for: `value` is for the check of its kind, `expected` for people."""

    check: CheckKind
    value: str
    expected: str


_LONGEST = 600  # characters of a memory that is an instruction, and no document
_CONDITION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|except|excepting|otherwise|only|while|during|once|where|instead|for example|e\.g"
    r"|until|asked|depending|possible|appropriate|necessary|needed|sometimes|usually|try|maybe|might|either"
    r"|first (?:message|answer|reply|response)|before|after)\b"
)
# What headings, and categories, may consist of without narrowing what an instruction is about.
_NARROWS = re.compile(
    r"(?i)\b(?:commits?|pull|requests?|prs?|docs?|documentation|readme|tests?|testing|ui|ux|copy|emails?|mails?"
    r"|changelogs?|comments?|sql|schemas?|apis?|logs?|logging|errors?|files?|frontend|backend|releases?|blogs?|reviews?"
    r"|deploy\w*|branch\w*|python|typescript|javascript|java|go|rust|ruby|css|html|yaml|makefiles?|database|migrations?"
    r"|design|interfaces?|layouts?|components?|screens?|icons?|examples?|git|titles?|names?|naming|notes?|tickets?|issues?|reports?|website|localisation|localization|i18n)\b"
)
# A heading that turns round what stands below it.
_TURNS = re.compile(r"(?i)\b(?:don['’]?ts?|avoid|never|not|anti|bad|wrong|forbidden|prohibited|mistakes?|no)\b")
_CLAUSE_END = re.compile(r"(?<=[.!;])[ \t]+(?=[A-Z\"“'`*])|\n+|;[ \t]+")
_AROUND = re.compile(r"^(?:[-*+•>]|\d+[.)])[ \t]+|\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_BRACKETS = re.compile(r"(?i)[ \t]*\((?:not|never|fewer|less|shorter|the shorter|strictly)\b[^()]*\)(?=[.!]*$)")
# `Never:` before the items of a list stands before each of them.
_LEAD = re.compile(r"(?i)^(never|do not|don['’]t|always|avoid)\s*:\s+")
_POLITE = re.compile(
    r"(?i)^(?:(?:please|important|rule|note|remember|general|style|language|tone|format|formatting|output|answers)\s*[:,]?"
    r"|(?:you|the (?:agent|assistant|model)|claude|agents?|assistants?) (?:must|should|shall|will)(?: (?=not\b))?"
    r"|always|make sure to|be sure to|remember to)\s+"
)

_ANSWER = r"(?:answers?|repl(?:y|ies)|responses?|outputs?|messages to (?:me|the user))"
_EVERY = rf"(?:(?:every|each|all|your|the|any|all of your|all your)\s+)*{_ANSWER}"
_IN_ANSWERS = rf"(?:\s+(?:in|for|to)\s+{_EVERY})?"
_SAY = r"(?:answer|reply|respond|write|speak|talk|communicate)(?:\s+(?:back|to me|to the user|to users|everything))?"
_ALWAYS = r"(?:\s*,?\s*(?:always|at all times|every time|without exception|consistently|throughout|everywhere|please))?"
_NOT = r"(?:never|do not|don['’]t|must not|should not|avoid|no|refrain from|stop)"
_NOT_USE = (
    rf"(?:{_NOT}\s+(?:ever\s+)?(?:us(?:e|ing)|add(?:ing)?|includ(?:e|ing)|put(?:ting)?|insert(?:ing)?|writ(?:e|ing)"
    r"|any|the)\s+(?:any\s+|the\s+)*|(?:no|avoid)\s+(?:any\s+)?)"
)
_TEXT = r"(?:\"(?P<a>[^\"\n]{1,80})\"|“(?P<b>[^”\n]{1,80})”|`(?P<c>[^`\n]{1,80})`|'(?P<d>[^'\n]{1,80})')"
_NUMBERS = {
    "a": 1, "one": 1, "a single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "twenty": 20, "fifty": 50, "a hundred": 100, "one hundred": 100,
}  # fmt: skip
_NUMBER = rf"(?P<number>\d{{1,5}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>sentences?|words?|lines?|characters?|chars?|paragraphs?|bullets?|bullet points?)"
LANGUAGES = ("German", "French", "Spanish", "Italian", "Portuguese", "Dutch", "English", "Russian", "Chinese",
             "Japanese", "Korean")  # fmt: skip
_VARIANTS = {"british": "British", "uk": "British", "american": "American", "us": "American"}


class _Shape(NamedTuple):
    """A whole clause of this form."""

    check: CheckKind
    value: str
    expected: str
    pattern: re.Pattern[str]


def _shape(check: CheckKind, value: str, expected: str, pattern: str) -> _Shape:
    return _Shape(check, value, expected, re.compile(rf"(?i){pattern}{_ALWAYS}"))


_THINGS = {
    "emoji": r"emojis?(?:\s+(?:or|and)\s+emoticons?)?",
    "exclamation mark": r"exclamation\s+(?:marks?|points?)",
    "em dash": r"em[\s-]?dash(?:es)?",
}
_FORMATS = {
    "bullets": r"(?:bullets?|bullet\s*points?|bullet(?:ed)?\s+lists?|bulleted\s+points?)",
    "tables": r"(?:markdown\s+)?tables",
    "headings": r"(?:markdown\s+)?(?:headings|headers)",
    "code blocks": r"(?:fenced\s+)?code\s*(?:blocks|fences)",
    "markdown": r"markdown(?:\s+(?:formatting|syntax))?",
    "bold": r"bold(?:\s+(?:text|type|face))?",
}
_IN = r"(?:in|with|as|using)"
_JSON = r"(?:valid\s+|pure\s+|plain\s+|raw\s+)?JSON(?:\s+format)?"
_SHAPES: tuple[_Shape, ...] = (
    *[
        _shape("characters", f"no {name}", f"no {name}", rf"{_NOT_USE}{words}{_IN_ANSWERS}")
        for name, words in _THINGS.items()
    ],
    *[
        _shape("format", f"no {name}", f"no {name}", rf"{_NOT_USE}{words}{_IN_ANSWERS}")
        for name, words in _FORMATS.items()
    ],
    _shape("format", "json", "JSON alone", rf"(?:{_SAY}|format\s+{_EVERY}|return\s+{_EVERY})\s+{_IN}\s+{_JSON}"),
    _shape("format", "json", "JSON alone", rf"(?:return|output|produce|emit)\s+{_JSON}"),
    _shape("format", "no markdown", "plain text", rf"(?:{_SAY}|format\s+{_EVERY})\s+{_IN}\s+plain\s+text"),
)
_VARIANT = re.compile(
    rf"(?i)(?:{_SAY}\s+in|use|stick to|write)\s+(?:the\s+)?(?P<variant>British|UK|American|US)(?:[\s-]+English)?"
    rf"(?:\s+spellings?)?{_IN_ANSWERS}{_ALWAYS}"
)
_LANGUAGE = re.compile(rf"(?i)(?:{_SAY}\s+in|use|{_SAY})\s+(?P<language>{'|'.join(LANGUAGES)}){_IN_ANSWERS}{_ALWAYS}")
_MOST = (
    r"(?:(?:at most|no more than|not more than|a maximum of|max(?:imum)?\.?(?: of)?|up to|fewer than|less than|under"
    r"|below|within)\s+)"
)
_OR_LESS = r"(?:\s+(?:or|at)\s+(?:fewer|less|most|max\w*))?"
_KEEP = rf"(?:keep|limit)\s+{_EVERY}\s+(?:short\s*[:,]\s*)?(?:to|at|in)?\s*"
_BE = rf"{_EVERY}\s+(?:must|should|may)\s+(?:be|have|not exceed|be kept)\s+(?:to\s+)?"
_NOT_MORE = r"(?:never|do not|don['’]t)\s+(?:write|exceed|use|answer (?:in|with)|reply (?:in|with))\s+"
_LENGTHS = tuple(
    re.compile(rf"(?i){pattern}{_ALWAYS}")
    for pattern in (
        rf"{_SAY}\s+(?:in|with|using)\s+(?P<bound>{_MOST})?{_NUMBER}\s+(?:short\s+)?{_UNIT}{_OR_LESS}",
        rf"{_KEEP}(?P<bound>{_MOST})?{_NUMBER}\s+{_UNIT}{_OR_LESS}",
        rf"{_BE}(?P<bound>{_MOST})?{_NUMBER}\s+{_UNIT}(?:\s+long)?{_OR_LESS}",
        rf"{_NOT_MORE}(?P<bound>more than\s+)?{_NUMBER}\s+{_UNIT}{_IN_ANSWERS}",
    )
)
_AVOIDED = re.compile(
    rf"(?i){_NOT}\s+(?:ever\s+)?(?:say(?:ing)?|us(?:e|ing)|writ(?:e|ing)|includ(?:e|ing)|mention(?:ing)?)\s+"
    rf"(?:the\s+)?(?:words?\s+|phrases?\s+|term\s+|expression\s+)?{_TEXT}{_IN_ANSWERS}{_ALWAYS}"
)
_INCLUDED = re.compile(
    rf"(?i)(?:include|say|mention|use|add)\s+(?:the\s+)(?:words?|phrases?|sentence|line|text)\s+{_TEXT}"
    rf"\s+in\s+{_EVERY}{_ALWAYS}"
)
_OPENING = re.compile(
    rf"(?i)(?:start|begin|open)\s+{_EVERY}\s+with\s+(?:the\s+(?:words?|phrase|line|text|sentence)\s+)?{_TEXT}{_ALWAYS}"
)
_NO_OPENING = re.compile(
    rf"(?i){_NOT}\s+(?:start|begin|open)(?:ing)?\s+(?:{_EVERY}|an answer|a reply|a response)\s+with\s+"
    rf"(?:the\s+(?:words?|phrase)\s+)?{_TEXT}{_ALWAYS}"
)
_ENDING = re.compile(
    rf"(?i)(?:end|finish|close|sign off)\s+{_EVERY}\s+with\s+(?:the\s+(?:words?|phrase|line|text|sentence)\s+)?{_TEXT}"
    rf"{_ALWAYS}"
)
_LAST_LINE = re.compile(
    rf"(?i)(?:end|finish|close)\s+{_EVERY}\s+with\s+(?:a|one)\s+(?:single\s+)?line(?:\s+(?:for|of|about)\s+[\w\s]{{1,40}}?)?"
    r"\s+(?:that|which)\s+(?:begins|starts)\s+with\s+(?P<words>[\w\"'`“”]+(?:\s*,\s*[\w\"'`“”]+)*(?:,?\s+or\s+[\w\"'`“”]+)?)"
    rf"{_ALWAYS}"
)
_WORDED: tuple[tuple[CheckKind, re.Pattern[str], str, str], ...] = (
    ("phrase", _AVOIDED, "no", "never “{}”"),
    ("phrase", _INCLUDED, "with", "“{}”"),
    ("opening", _NO_OPENING, "no", "not “{}” at the beginning"),
    ("opening", _OPENING, "with", "“{}” at the beginning"),
    ("ending", _ENDING, "with", "“{}” at the end"),
)


def expectations(content: str, category: str = "") -> list[Expectation]:
    """What an answer can be checked for by a memory, each once; none where it is not plain.

    `category`: the headings above it, from the outermost, with ` / ` between them.
    """
    if len(content) > _LONGEST or "```" in content:
        return []
    clauses = [clause for part in _CLAUSE_END.split(content) if (clause := _bare(part))]
    is_narrowed = any(clause.endswith(":") for clause in clauses) or _NARROWS.search(category)
    if is_narrowed or _CONDITION.search(content) or _TURNS.search(category):
        return []
    return list(dict.fromkeys(found for clause in clauses for found in _of_clause(clause)))


def _bare(clause: str) -> str:
    """A clause without list marks, emphasis, what stands in brackets at its end, and words of politeness."""
    text = _AROUND.sub("", clause.strip()).strip()
    text = _LEAD.sub(r"\1 ", _BRACKETS.sub("", text)).rstrip(".!; ").strip()
    while (shorter := _POLITE.sub("", text)) != text:
        text = shorter
    return " ".join(text.split())


def _of_clause(clause: str) -> Iterator[Expectation]:
    for shape in _SHAPES:
        if shape.pattern.fullmatch(clause):
            yield Expectation(shape.check, shape.value, shape.expected)
            return
    if found := _VARIANT.fullmatch(clause):
        variant = _VARIANTS[found["variant"].lower()]
        # `use US` may be anything
        if "english" in clause.lower() or "spelling" in clause.lower():
            yield Expectation("language", variant, f"{variant} English")
    elif found := _LANGUAGE.fullmatch(clause):
        language = found["language"].capitalize()
        yield Expectation("language", language, language)
    elif length := next(filter(None, (one.fullmatch(clause) for one in _LENGTHS)), None):
        yield from _length(length)
    else:
        yield from _of_words(clause)


def _length(found: re.Match[str]) -> Iterator[Expectation]:
    number = found["number"].lower()
    most = _NUMBERS.get(number) or int(number if number.isdigit() else 0)
    bound = (found["bound"] or "").lower()
    most -= bound.startswith(("fewer", "less", "under", "below"))
    unit = {"b": "list items", "c": "characters"}.get(found["unit"][0].lower(), f"{found['unit'].lower().rstrip('s')}s")
    if most > 0:
        yield Expectation(
            "length", f"{most} {unit}", f"at most {most:,} {unit if most > 1 else unit.removesuffix('s')}"
        )


# A form to be filled in, and what says that others are meant too.
_TEMPLATE = re.compile(r"[\[\](){}<>…]|\.\.\.|\b(?:X{2,}|etc)\b")


def _of_words(clause: str) -> Iterator[Expectation]:
    for check, pattern, value, expected in _WORDED:
        if found := pattern.fullmatch(clause):
            text = next(said for said in found.group("a", "b", "c", "d") if said)
            if _TEMPLATE.search(text):
                return
            if value == "no":
                text = text.rstrip(".!?, ") or text  # “Sure.” is said as much as “Sure!”
            yield Expectation(check, f"{value} {text}", expected.format(text))
            return
    if found := _LAST_LINE.fullmatch(clause):
        words = [word.strip("\"'`“”") for word in re.split(r"\s*,\s*(?:or\s+)?|\s+or\s+", found["words"])]
        yield Expectation("ending", "line " + " ".join(words), f"a last line that begins with {' or '.join(words)}")
