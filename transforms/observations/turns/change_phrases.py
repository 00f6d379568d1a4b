"""Changes that one statement tells by itself, beside those of `states.transitions`: "turned a hobby into a living"."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.observations.turns.phrases import beside

_END = (
    r"(?=$|[,;.](?:\s|$)"
    r"|\s(?:for|because|in order|after|since|so|and|due|when|with|last|this|where|which|while|as|by)\b)"
)
_LIGHTLY = r"\b(?:has |have |had )?(?:recently |just |now |finally |already |successfully )*"
_SUBJECT = r"^(?P<subject>[^,;]{1,60}?)"
_BEFORE, _AFTER = r"(?P<before>[^,;]{1,60}?)", r"(?P<after>[^,;.]{1,60}?)"
_HOME = r"(?:apartment|house|flat|place|home)"


class ToldChange(NamedTuple):
    """Of what, from what to what."""

    subject: str
    before: str
    after: str


_OF_TWO = (
    Hinted(
        rf"{_SUBJECT}{_LIGHTLY}(?:swapped|traded|exchanged) {_BEFORE} for {_AFTER}{_END}",
        "swapped|traded|exchanged",
    ),
    Hinted(
        rf"{_SUBJECT}{_LIGHTLY}(?:turned|transformed|converted|merged) {_BEFORE} into {_AFTER}{_END}",
        " into ",
    ),
    Hinted(
        rf"{_SUBJECT}{_LIGHTLY}(?:went|gone|grew|grown|progressed|evolved|shifted) from {_BEFORE} "
        rf"(?:in)?to {_AFTER}{_END}",
        "went from |gone from |grew from |grown from |progressed from |evolved from |shifted from ",
    ),
    Hinted(
        rf"{_SUBJECT} (?P<before>(?:was|were|had been|used to [a-z]+) [^;]{{1,60}}?),? "
        rf"but (?:is |are |has |have )?now {_AFTER}(?=$|[,;.])",
        " now ",
    ),
    Hinted(
        r"^(?P<subject>[^,;]{1,40}?) used to (?P<before>[^;]{2,60}?),? but (?P<after>[^,;.]{1,60})",
        " used to ",
    ),
    Hinted(
        rf"^(?P<subject>[^,;]{{1,40}}?) (?:had|owned|used to have) {_BEFORE},? but (?:had to |later |has since |then )?"
        r"(?P<after>(?:give|gave|sold|sell|lost|lose|returned?) [^,;.]{1,60})",
        " but ",
    ),
    Hinted(
        r"^(?P<subject>\w+) [^;]{1,80}\b(?:turning|transforming|converting) "
        r"(?P<before>(?:his|her|their|my|our|the|a|an) [^,;]{1,50}?) into (?P<after>[^,;.]{1,50})",
        " into ",
    ),
)
_NEVER = "never before"
_OF_ONE = tuple(
    (Hinted(rf"{_SUBJECT}{_LIGHTLY}(?P<after>{pattern}){_END}", hints), before)
    for pattern, before, hints in (
        (
            r"(?:broke up|split up|breaks up|parted ways|separated) (?:with|from) [^,;.]{1,40}?",
            "together",
            "broke up|split up|breaks up|parted ways|separated",
        ),
        (r"(?:gets|got) divorced(?: from [^,;.]{1,40}?)?", "married", "divorced"),
        (
            r"retire[ds](?: from [^,;.]{1,50}?)?|resign(?:ed|s)(?: (?:from|as) [^,;.]{1,50}?)?",
            "in work",
            "retire|resign",
        ),
        (r"graduate[ds](?: from [^,;.]{1,50}?)?", "studying", "graduate"),
        (r"dropp?ed out(?: of [^,;.]{1,50}?)?", "enrolled", "ed out"),
        (r"move[ds] out(?: of [^,;.]{1,50}?)?", "living there", "moved out|moves out"),
        (
            rf"move[ds] (?:in)?to (?:an?|his|her|their|my|our) (?:new |bigger |smaller |own )*{_HOME}",
            "living elsewhere",
            "apartment|house|flat|place|home",
        ),
        (
            rf"(?:got|gets|bought|buys|found|finds) an? (?:new|bigger|smaller) {_HOME}",
            "living elsewhere",
            "new |bigger |smaller ",
        ),
        (r"passe[ds] away|died|dies", "alive", "away|died|dies"),
        (r"(?:got|gets) married|(?:tied|ties) the knot", "not married", "married|the knot"),
        (r"(?:got|gets|became) engaged", "not engaged", "engaged"),
        (r"[^;]{3,90}? for the (?:very )?first time", _NEVER, "first time"),
    )
)
_NO_MORE = Hinted(
    r"\b(?:can['’]t|cannot|is(?:n['’]t| not) able to|does(?:n['’]t| not)|do(?:n['’]t| not)) "
    r"(?P<before>[^,;.]{2,60}?) any ?(?:more|longer)\b",
    "any more|anymore|any longer|anylonger",
)
_SET_ASIDE = Hinted(
    r"\b(?:(?:take|takes|took|taken|taking) a back ?seat|(?:was|were|is|are) put on hold)\b",
    "seat|put on hold",
)
_ARROW = r"(?:→|->|=>)"
_NAME_TO = re.compile(
    rf"^(?P<subject>[^→]{{0,80}}?)(?P<before>`[^`]+`|[\w./-]+) {_ARROW} (?P<after>`[^`]+`|[\w./-]+)(?P<rest>[^→]*)$"
)
_NUMBER = r"[~<>]?\d[\d.,]*\s?[a-zA-Z%]{0,10}"
_NUMBER_TO = re.compile(
    rf"^(?P<subject>[^→\d]{{2,60}}?):? (?:from )?(?P<before>{_NUMBER}) {_ARROW} (?P<after>{_NUMBER})(?=$|[^\w→-][^→]*$)"
)
_LONGEST_SIGN = 3
_CHANGED = re.compile(
    r"\b(?:renamed|changed|updated|switched|bumped|migrated|upgraded|downgraded|moved|replaced|converted|increased"
    r"|reduced|raised|lowered)\b",
    re.IGNORECASE,
)
_NO_EVENT = re.compile(
    r"\b(?:can|could|may|might|should|must|if|when|whenever|want\w*|plan\w*|need\w*|hop\w+|try\w*|consider\w*|think\w*"
    r"|going|dream\w*|wish\w*|not|never|will|would|to|about|how|idea|suggest\w*|advis\w+|recommend\w*|decid\w+"
    r"|encourag\w*|interest\w*|where|that|who|work\w* on|verify|check)\b|n['’]t\b",
    re.IGNORECASE,
)
_LONG_AGO = re.compile(
    r"\b(?:last year|years? ago|as a (?:child|kid|teenager)|in (?:19|20)\d\d|when (?:he|she|they|i|we) (?:was|were))\b",
    re.IGNORECASE,
)
_STATED = re.compile(r":|[;(]$|\b(?:is|are|was|were|be|been)$")
_NOBODY = re.compile(r"^(?:he|she|it|they|this|that|there|who|everyone|someone|some|many|people)\b", re.IGNORECASE)


@lru_cache(maxsize=20_000)
def told_change(text: str) -> ToldChange | None:
    """What a statement tells as changed, the first that can be read; None: it does not tell."""
    found = next((found for reading in _READINGS if (found := reading(text)) is not None), None)
    # asked last: most tell nothing anyhow
    return None if found is None or _LONG_AGO.search(text) or _NOBODY.match(text) else found


def _of_two(text: str) -> ToldChange | None:
    """Both states are named: "swapped A for B"."""
    for pattern in _OF_TWO:
        match = pattern.match(text)
        if match is None or ":" in match["subject"]:
            continue
        if not _NO_EVENT.search(text[: match.start("before")].replace(" used to ", " ")):
            return ToldChange(match["subject"].strip(), match["before"].strip(), match["after"].strip(" ."))
    return None


def _from_to(text: str) -> ToldChange | None:
    """An arrow between them: "renamed `a` → `b`", "query time: 4 s → 80 ms"."""
    if "→" not in text and "->" not in text and "=>" not in text:
        return None
    match = _NAME_TO.match(text)
    if match is None or not _CHANGED.search(match["subject"]):
        match = _NUMBER_TO.match(text.replace("**", ""))
        if match is None or _unit(match["before"]) != _unit(match["after"]):
            return None
    before, after = match["before"].strip("` "), match["after"].strip("` ")
    return None if before == after else ToldChange(match["subject"].strip(" |*:-"), before, after)


def _unit(number: str) -> str:
    """The unit of a number, where it is a word; '' of "s" and "ms"."""
    unit = number.lstrip("~<>0123456789., ")
    return unit if len(unit) > _LONGEST_SIGN else ""


def _of_one(text: str) -> ToldChange | None:
    """Only what is so now is named, and what was before follows: "moved into a bigger house"."""
    for pattern, before in _OF_ONE:
        match = pattern.match(text)
        if match is None or _STATED.search(match["subject"].strip()):
            continue
        is_event = match["after"].replace("able to ", "") if before == _NEVER else ""
        if not _NO_EVENT.search(f"{match['subject']} {is_event}"):
            return ToldChange(match["subject"].strip(), before, match["after"].strip())
    return None


def _no_more(text: str) -> ToldChange | None:
    """What can no longer be done, or was set aside."""
    match = _NO_MORE.search(text)
    if match is not None:
        return ToldChange(text.split(None, 1)[0], match["before"].strip(), match.group().strip())
    match = _SET_ASIDE.search(text)
    if match is None or _NO_EVENT.search(text[: match.start()]):
        return None
    return ToldChange(beside(text, *match.span(), "before").split(" and ")[-1], "carried on", match.group())


_READINGS: tuple[Callable[[str], ToldChange | None], ...] = (_of_two, _from_to, _of_one, _no_more)
