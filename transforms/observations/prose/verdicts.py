"""Verdicts by which something meant is said to be done: a build that succeeds, a step that is done, "reverted"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from slowwave.transforms.observations.work.verbs import work_verb

_ERRORS = r"(?:errors?|issues?|problems?|failures?|warnings?|mismatch\w*|complaints?)"
_MENDING = (
    r"\b(?:fix|fixing|resolve|resolving|correct|correcting|address|addressing|repair|repairing|clean(?:ing)? up)\b"
)
_BRIEFLY = r"(?:(?!\b(?:before|after|when|while|since|because|if|so)\b)[^.;:—–]){0,60}?"
_MENDED = (
    (
        "build",
        re.compile(
            rf"{_MENDING}{_BRIEFLY}\b(?:type\w*|compil\w*|build|import|syntax)\b{_BRIEFLY}\b{_ERRORS}\b", re.IGNORECASE
        ),
    ),
    ("lint", re.compile(rf"{_MENDING}{_BRIEFLY}\b(?:\w*lint\w*|formatting)\b", re.IGNORECASE)),
    ("tests", re.compile(rf"{_MENDING}{_BRIEFLY}\btests?\b", re.IGNORECASE)),
)
_PASSES = (
    (
        "build",
        re.compile(
            r"\b(?:build|compilation|type ?-?check\w*) (?:\w+ ){0,2}(?:succe\w+|pass(?:es|ed|ing)?|clean(?:ly)?)\b"
            r"|\b(?:it |everything |code |project |now )?(?:compiles|builds|compiled|built) "
            r"(?:clean(?:ly)?|successfully|without (?:any )?errors|fine|now|again)\b"
            r"|\b(?:no|0|zero) (?:more )?(?:type\w*|compil\w*|build) (?:errors|issues)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "lint",
        re.compile(
            r"\b\w*lint\w*\b (?:\w+ ){0,3}(?:pass(?:es|ed|ing)?|clean|0 issues|no (?:errors|issues|warnings))\b"
            r"|\b(?:no|0|zero) (?:more )?(?:\w*lint\w*) (?:errors|issues|warnings)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "tests",
        re.compile(
            r"\ball (?:of the |the )?(?:\d+ )?(?:[\w-]+ ){0,2}tests? (?:are |is |now |all )*"
            r"(?:pass(?:es|ed|ing)?|green)\b"
            r"|\btests? (?:are |is )?(?:all |now |also )*(?:pass(?:es|ing)?|green)\b",
            re.IGNORECASE,
        ),
    ),
)
_NOT_YET = re.compile(
    r"\b(?:verif\w+|check\w*|make sure|ensure|whether|if|until|should|let me|need\w*|so that|would|could|might"
    r"|may|will"
    r"|want|expect\w*|when|unless|once|before|after|but|except|fail\w*|not)\b|n['’]t\b|\?$",
    re.IGNORECASE,
)
_ALL_PASS = re.compile(
    r"\ball (?P<count>\d+) (?:[\w-]+ ){0,2}tests? (?:are |is |now |still )*pass(?:es|ed|ing)?\b", re.IGNORECASE
)
_PART = r"(?P<kind>step|phase|task|part|stage|milestone)s?\s+(?P<number>\d+(?:\.\d+)*[a-z]?)"
_HEADING = re.compile(rf"^\W*{_PART}\b(?=\s*[:.)—–-](?!\d))", re.IGNORECASE)
_PART_DONE = re.compile(
    rf"\b{_PART}\s+(?:is |are |was |now |has been |have been |all |successfully |fully )*"
    r"(?:done|completed?|finished|clean|green|in place)\b",
    re.IGNORECASE,
)
_DONE_PART = re.compile(rf"^\W*(?:i['’]ve |i have |we['’]ve )?(?:completed|finished)\s{_PART}\b", re.IGNORECASE)
_FINISHED = re.compile(r"✅|☑|✔|\b(?:completed?|done|finished)\b", re.IGNORECASE)
_PARTS_DONE = (_PART_DONE, _DONE_PART)
_ALL_DONE = re.compile(
    r"\ball (?:\w+ )?(?P<kind>step|phase|task|part|stage|milestone)s (?:are |have been |now |successfully )*"
    r"(?:done|completed?|finished)\b",
    re.IGNORECASE,
)
_NOUNS = {
    "fix": "fix", "fixes": "fix", "change": "update", "changes": "update", "update": "update", "updates": "update",
    "edit": "update", "edits": "update", "refactor": "refactor", "refactoring": "refactor", "rename": "rename",
    "migration": "update", "implementation": "add", "removal": "remove", "cleanup": "remove", "feature": "add",
}  # fmt: skip
_IS_IN = re.compile(
    r"^(?:\W*(?:ok(?:ay)?|so|good|great|perfect|the|now|and)[,.!]?\s+)*(?P<object>[^,;:]{2,50}?)\s"
    rf"(?P<noun>{'|'.join(_NOUNS)})\s(?:is|are)\s(?:now\s|all\s)?"
    r"(?:in|in place|done|complete|clean|working|live|finished|applied|verified)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(r"^\W*(?P<verb>[A-Z][a-z]+ed)(?:$|[.!,](?:\s|$)|\s?[—–:-]\s|\s(?:it|this|that|them|back)\b)")


_SUMMARY = re.compile(
    r"^[^\w\[(]*(?:(?:done|all done|all set)\W+)?(?:here(?:['’]s| is| are) (?:a (?:\w+ )?summary of "
    r"|an overview of )?"
    r"(?:what|the changes|everything|all the changes)\b.*\b(?:done|implemented|added|changed|set up|updated"
    r"|fixed|created"
    r"|built|made|did|accomplished|removed|refactored)\b"
    r"|(?:summary of (?:the )?(?:changes|what)|what (?:was|i|i['’]ve) (?:changed|added|did|done|implemented"
    r"|built|fixed)"
    r"|changes (?:made|implemented)|summary of the \w+ (?:fixes|changes))\b)",
    re.IGNORECASE,
)


class Verdict(NamedTuple):
    """What is said to be so: its sort, what it is of, and as written.

    sort: "mend" (what is broken is to be mended: kind of run), "pass" (kind of run), "heading" and "part" (a numbered
    part of the work), "all" (all parts), "in" (a thing, and the verb that was meant), "alone" (a verb, what follows).
    """

    sort: str
    of: str
    said: str
    verb: str = ""


def verdicts(text: str, *, is_meant: bool) -> Iterator[Verdict]:
    """The verdicts that a statement gives, or waits for; is_meant: it tells what is to be."""
    heading = _HEADING.match(text)
    done = next((found for pattern in _PARTS_DONE if (found := pattern.search(text)) is not None), None)
    if done is not None and not _NOT_YET.search(text[: done.end()]):
        yield Verdict("part", f"{done['kind']} {done['number']}".lower(), done.group())
    elif heading is not None and not _FINISHED.search(text):
        yield Verdict("heading", f"{heading['kind']} {heading['number']}".lower(), text)
    if not is_meant:
        yield from _given(text)
        return
    for kind, pattern in _MENDED:
        if pattern.search(text):
            yield Verdict("mend", kind, text)


def _given(text: str) -> Iterator[Verdict]:
    match = _ALONE.match(text)
    verb, form = (None, "") if match is None else work_verb(match["verb"].lower())
    if verb is not None and form == "past":
        yield Verdict("alone", text[match.end() :] if match is not None else "", text, verb)
    match = _IS_IN.match(text)
    if match is not None:
        yield Verdict("in", match["object"], match.group(), _NOUNS[match["noun"].lower()])
    done = _ALL_DONE.search(text)
    if done is not None and not _NOT_YET.search(text[: done.end()]):
        yield Verdict("all", done["kind"].lower(), done.group())
    for kind, pattern in _PASSES:
        match = pattern.search(text)
        if match is not None and not _NOT_YET.search(text[: match.end()]):
            yield Verdict("pass", kind, match.group())


def is_summary(text: str) -> bool:
    """Whether a statement opens a list of what was done."""
    return _SUMMARY.match(text) is not None


def passing(text: str) -> int | None:
    """How many tests pass, where all do."""
    match = _ALL_PASS.search(text)
    return None if match is None or _NOT_YET.search(text[: match.end()]) else int(match["count"])
