"""Successions that a statement declares: both the value until then and the one since.

"Moved from A to B", "replaced A with B", "A was replaced by B", "was A, but is now B", "uses B instead of A", "renamed
`a` → `b`", "30 s (was 10 s)", and "is now unused". What a sentence means to do, asks for or denies declares none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from slowwave.transforms.observations.pairs.statement_tokens import base_of
from slowwave.transforms.observations.states.clause_words import PRONOUNS, Claim, form_of, words_of

# Patterns that are looked for only where one of some texts stands: that is told many times as fast.

# Letters that Python's `re` takes for one of ASCII when case is ignored, and `lower` leaves or makes two of.
_TAKEN_FOR = str.maketrans({"\u017f": "s", "\u0131": "i", "\u0130": "i", "\u212a": "k"})


@lru_cache(maxsize=256)
def fold_case(text: str) -> str:
    """A text without case, as far as letters of ASCII go."""
    return text.lower() if text.isascii() else text.translate(_TAKEN_FOR).lower()


class Hinted:
    """A pattern for which case does not count, and lower-case texts, parted by bars: it finds nothing without one.

    Of ASCII alone: other letters are not folded as `re` does.
    """

    def __init__(self, pattern: str, hints: str) -> None:
        self.pattern = re.compile(pattern, re.IGNORECASE)
        self.hints = hints.split("|")

    def match(self, text: str) -> re.Match[str] | None:
        """As `re.match`."""
        return self.pattern.match(text) if self._may_find(text) else None

    def search(self, text: str) -> re.Match[str] | None:
        """As `re.search`."""
        return self.pattern.search(text) if self._may_find(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As `re.finditer`."""
        return self.pattern.finditer(text) if self._may_find(text) else iter(())

    def _may_find(self, text: str) -> bool:
        known = fold_case(text)
        for hint in self.hints:  # noqa: SIM110 - any() takes twice as long
            if hint in known:
                return True
        return False


_LONGEST_VALUE = 8
_LIGHTLY = r"(?:has |have )?(?:recently |just |now |finally )*"
_SINCE = r"for|because|in order|after|since|so|due"
_BEFORE, _AFTER = r"(?P<before>[^,;]{1,60}?)", r"(?P<after>[^,;]{1,60}?)"
_MOVED = (
    "switched|moved|migrated|changed|upgraded|downgraded|converted|transitioned|relocated|renamed|updated|increased"
    "|decreased|raised|lowered|reduced|bumped|rose|grew|fell|dropped|went"
)


def _end(*more: str) -> str:
    """Where a value ends, also before the words of `more`."""
    return rf"(?=$|[,;.](?:\s|$)|\s(?:{'|'.join((_SINCE, *more))})\b)"


_OF_SENTENCES = (
    # the team moved from A to B
    Hinted(
        r"^(?P<subject>.{0,60}?)\b(?:has |have |had |was |were |been )*(?:recently |just |now |finally )*"
        rf"(?P<verb>{_MOVED})\b(?P<what>[^,;.]{{0,50}}?)\bfrom {_BEFORE} (?:in)?to {_AFTER}"
        + _end("and", "when", "with", "last", "this", "in", "on", "during", "as"),
        _MOVED,
    ),
    # replaced A with B
    Hinted(
        rf"^(?P<subject>.{{0,60}}?)\b{_LIGHTLY}(?P<verb>replaced) {_BEFORE} (?:with|by) {_AFTER}" + _end("to"),
        "replaced",
    ),
    # A was replaced by B
    Hinted(
        rf"^(?P<subject>){_BEFORE} (?:was|were|is|are|has been|have been) (?:now )?(?P<verb>replaced) (?:with|by) "
        rf"{_AFTER}" + _end("to"),
        "replaced",
    ),
    # it was A, but is now B
    Hinted(
        rf"^(?P<subject>.{{1,60}}?) (?P<verb>was) {_BEFORE},? but (?:it )?is now (?P<after>[^,;.]{{1,60}}?)"
        r"(?=$|[,;.](?:\s|$)|\sand\b)",
        "is now",
    ),
    # now uses B instead of A
    Hinted(
        r"^(?P<subject>.{1,60}?) (?:(?:is |are )?now|ha(?:s|ve) (?:recently )?started|has switched to|recently)\s"
        rf"(?P<verb>\w+){_AFTER} (?:instead of|rather than) (?P<before>[^,;.]{{1,60}}?)(?=$|[,;.](?:\s|$))",
        "instead of|rather than",
    ),
    # switched to B from A
    Hinted(
        rf"^(?P<subject>.{{0,60}}?)\b{_LIGHTLY}(?P<verb>switched|moved|migrated|upgraded|changed|converted"
        rf"|transitioned) to {_AFTER} from (?P<before>[^,;.]{{1,60}}?)" + _end("when", "last", "this"),
        _MOVED,
    ),
    # renamed A to B
    Hinted(
        rf"^(?P<subject>(?!.*\b(?:is|are|was|were) )(?:\w+\s){{0,3}}?){_LIGHTLY}(?P<verb>renamed) "
        rf"(?P<before>(?!from\b|back\b)[^,;]{{1,60}}?) to {_AFTER}"
        rf"(?=$|[,;.)](?:\s|$)|\s(?:{_SINCE}|and|when|in|on|to)\b)",
        "renamed",
    ),
)
_IS_NOW = re.compile(
    r"^(?:[^,;:]{1,20}\s[-–—]+\s)?(?:(?P<first>now),? )?(?P<subject>[^,;:]{1,60}?) (?P<verb>is|are)(?P<second> now)? "
    r"(?P<after>un\w+ed|obsolete|redundant|unnecessary|superfluous|fixed|repaired|enabled|disabled|deprecated)"
    r"(?=$|[,;.]|\s(?:since|because|as|and|by|so|now|in|for)\b)",
    re.IGNORECASE,
)
_CHANGED = (
    "changed|updated|switched|modified|refactored|rewrote|migrated|moved|converted|fixed|corrected|bumped|renamed"
    "|replaced|adjusted|reworked|simplified|raised|lowered|increased|decreased|reduced|upgraded|cut|dropped|grew"
    "|shrank|went|improved|trimmed|extended|tightened|widened|relaxed|shortened|rose|fell"
)
_VALUE = r"(?:`[^`]{1,80}`|\"[^\"]{1,60}\"|“[^”]{1,60}”|v?\d[\w.,%]*(?: ?[a-zA-Z%]{1,8})?)"
_THING = r"(?:`[^`]+`|[^,;.`]|\.(?=\w))"
_END_OF_NOTE = (
    r"(?=$|[,;:.)](?:\s|$)|\s[—–(]"
    r"|\s(?:for|because|in order|since|so|and|due|when|with|where|which|while|as|by|to|in|on)\b)"
)
_DOER = r"^(?P<subject>[^;:]{0,80}?(?:[:—–-]\s)?)(?:(?:i|we)(?:['’]ve| have)? |has |have |was |were |now |just |also )*"
_DID = rf"{_DOER}\b(?:{_CHANGED})\b"
_OLD = r"(?:the (?:old|previous|former) )?"
_OF_NOTES = (
    # changed `a` to `b`
    Hinted(
        rf"{_DID}(?P<what>[^`\"“;:]{{0,40}}?)\s(?P<before>{_VALUE}) (?:in)?to (?P<after>{_VALUE}){_END_OF_NOTE}",
        _CHANGED,
    ),
    # cut the timeout from 30 s to 10 s
    Hinted(
        rf"{_DID}(?P<what>[^;:]{{0,60}}?)\bfrom (?P<before>{_VALUE})(?: \([^)]*\))? (?:in|down |up )?to "
        rf"(?:an? )?(?P<after>{_VALUE})",
        _CHANGED,
    ),
    # updated the queries to read `b` instead of `a`
    Hinted(
        rf"{_DID}(?P<what>[^;]{{1,80}}?)\bto (?P<after>[a-z]+ [^;]{{1,90}}?) (?:instead of|rather than) {_OLD}"
        rf"(?P<before>{_THING}{{1,70}}?){_END_OF_NOTE}",
        "instead of|rather than",
    ),
    # now writes once instead of at each step
    Hinted(
        r"^(?P<subject>[^;]{1,80}?) now (?P<after>(?!(?:that|let|i|we|you)\b)[a-z]+ [^;]{1,100}?),? "
        rf"(?:instead of|rather than) {_OLD}(?P<before>{_THING}{{1,70}}?){_END_OF_NOTE}",
        "instead of|rather than",
    ),
    # replaced `a` with `b`
    Hinted(
        rf"{_DOER}\breplaced (?P<before>[^;]{{2,60}}?) (?:with|by) (?P<after>[^;]{{2,60}}?){_END_OF_NOTE}", "replaced "
    ),
    # fixed the setting by renaming `a` to `b`
    Hinted(
        rf"{_DID}(?P<what>[^;]{{1,60}}?) by (?:renaming|changing|switching|moving|converting) "
        rf"(?P<before>[^;,]{{2,50}}?) (?:in)?to (?P<after>[^;,.]{{2,50}}?){_END_OF_NOTE}",
        " by renaming | by changing | by switching | by moving | by converting ",
    ),
    # the timeout is 30 s (was 10 s)
    Hinted(
        r"^(?P<subject>[^;()]{1,60}?)(?:\s(?:is|are)(?: now)?|:|\s→)\s(?P<after>[^;()]{1,50}?) "
        r"\((?:was|were|previously|formerly|up from|down from|instead of) (?P<before>[^;()]{1,50}?)\)",
        "(was |(were |(previously |(formerly |(up from |(down from |(instead of ",
    ),
    # it was `a`, now it is `b`
    Hinted(
        r"^(?P<subject>[^;,]{2,60}?) (?:was|were|used to be) (?P<before>[^;,]{2,60}?)[,;] (?:but |and )?(?:it |they )?"
        rf"(?:is |are )?now (?:it is |it['’]s |they are )?(?P<after>[^;,.]{{2,60}}?){_END_OF_NOTE}",
        " was | were | used to be ",
    ),
)
_SIDE = rf"(?:{_VALUE}|\w[\w.-]*)"
_NUMBER = r"[~<>]?\d[\d.,]*\s?[a-zA-Z%]{0,10}"
_ARROW = re.compile(
    rf"^(?P<subject>[^→]{{0,100}}?)(?P<before>{_SIDE}) (?:→|->) (?P<after>{_SIDE})(?=$|[\s,;.)])(?P<rest>[^→]*)$"
)
_NUMBER_TO = re.compile(
    rf"^(?P<subject>[^→\d]{{2,60}}?):? (?:from )?(?P<before>{_NUMBER}) (?:→|->) (?P<after>{_NUMBER})(?=$|[^\w→-][^→]*$)"
)
_SAYS_SO = re.compile(rf"\b(?:{_CHANGED}|fixes|resolved|downgraded)\b", re.IGNORECASE)
_SAYS_SWITCHED = re.compile(rf"\b(?:{_MOVED}|replaced)\b", re.IGNORECASE)
_VERSION = re.compile(r"^v?\d[\w.]*$")
_LONGEST_SIGN = 3
_NO_EVENT = re.compile(
    r"\b(?:can|could|may|might|should|must|if|when|whenever|wants?|plan|need|to be|not|never|will|would)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_EVENT_OF_NOTES = re.compile(
    r"\b(?:can|could|may|might|should|must|if|when|whenever|wants?|plan\w*|need\w*|tr(?:y|ies)|consider\w*|going|not"
    r"|never|will|would|how|whether|suggest\w*|recommend\w*|decid\w+|verify|check|expect\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"^(?:i|we|update|now|let|then|finally|he|she|it|they|this|that|there|who|you|which|everything)\b(?!\s*:)",
    re.IGNORECASE,
)
_NO_VALUES = frozenset({"it", "its", "this", "these", "them", "that"})
_TOO_WIDE = frozenset({"everything", "all", "i", "there", "what", "both", "you"})


def declared_succession(text: str) -> Claim | None:
    """Return the claim of a statement that tells both what was and what is; None: it does not."""
    return next((claim for read in _READINGS if (claim := read(text)) is not None), None)


def _of_sentence(text: str) -> Claim | None:
    """A sentence that names both values: "the team switched from A to B"."""
    text = text.replace("`", "").replace("**", "")
    for pattern in _OF_SENTENCES:
        match = pattern.match(text)
        if match is None:
            continue
        found = match.groupdict()
        subject = words_of(f"{found['subject']} {found.get('what') or ''}")
        before, after = words_of(found["before"]), words_of(found["after"])
        if found["before"].split()[0].lower() in _NO_VALUES or _is_act(found["after"]):
            return None
        if _NO_EVENT.search(text[: match.start("verb")]) or not before or not after or before == after:
            return None
        if found["subject"].strip() and base_of(found["subject"].split()[0].lower()) in PRONOUNS:
            return None
        if max(len(before), len(after)) > _LONGEST_VALUE or len(subject) > 2 * _LONGEST_VALUE:
            return None
        said = " ".join(f"{found['subject']} {found.get('what') or ''}".split())
        says = (said, found["verb"].lower(), found["after"].strip(" ."))
        return Claim(subject, (), after, says, found["before"].strip())
    return None


def _is_act(after: str) -> bool:
    """Whether what follows "to" is what is to be done: "changed the mount to use a cache"."""
    word = after.split(maxsplit=1)[0]
    return word.isalpha() and word.islower() and form_of(word).is_verb and form_of(word).form in {"base", "other"}


def _is_now(text: str) -> Claim | None:
    """So: "the old helper is now unused"."""
    match = _IS_NOW.match(text.replace("`", "").replace("**", ""))
    if match is None or not (match["first"] or match["second"]) or _NO_EVENT.search(match["subject"]):
        return None
    subject = words_of(match["subject"])
    if not subject or subject[0] in PRONOUNS | _TOO_WIDE:
        return None
    after = match["after"].lower()
    before = after.removeprefix("un") if after.startswith("un") and after.endswith("ed") else f"not {after}"
    return Claim(subject, (), words_of(after), (match["subject"].strip(), match["verb"].lower(), after), before)


def _of_note(text: str) -> Claim | None:
    """A note of work that names both values: "changed `a` to `b`", "30 s (was 10 s)"."""
    said = text.strip().removesuffix(":").replace("**", "")
    for pattern in _OF_NOTES:
        match = pattern.match(said)
        if match is None:
            continue
        found = match.groupdict()
        subject = " ".join(f"{found['subject']} {found.get('what') or ''}".split()).strip(" :—–-*#")
        if _NOBODY.match(said) or _NO_EVENT_OF_NOTES.search(f"{found['subject']} {found.get('what') or ''}"):
            return None
        claim = _named(subject, _bare(found["before"]), _bare(found["after"]))
        if claim is not None:
            return claim
    return None


def _of_arrow(text: str) -> Claim | None:
    """An arrow between two numbers of one unit, two versions, or two names where something is said to be changed."""
    if "→" not in text and "->" not in text:
        return None
    said = text.strip().replace("**", "")
    match = _NUMBER_TO.match(said)
    if match is not None and _unit(match["before"]) == _unit(match["after"]):
        return _named(match["subject"].strip(" |*:-(`"), match["before"].strip(), match["after"].strip())
    match = _ARROW.match(said)
    if match is None:
        return None
    before, after = _bare(match["before"]), _bare(match["after"])
    is_version = _VERSION.match(before) is not None and _VERSION.match(after) is not None
    is_in_code = "`" in match["before"] and "`" in match["after"]
    is_named = (_SAYS_SO if is_in_code else _SAYS_SWITCHED).search(match["subject"]) is not None
    is_labelled = match["subject"].rstrip().endswith(":")
    is_change = is_named or (is_version and is_labelled)
    return _named(match["subject"].strip(" |*:-(`"), before, after) if is_change else None


def _named(subject: str, before: str, after: str) -> Claim | None:
    if not before or not after or before.lower() == after.lower():
        return None
    return Claim(words_of(subject), (), words_of(after), (subject, "", after), before)


def _unit(number: str) -> str:
    """The unit of a number, where it is a word; '' of "s" and "ms"."""
    unit = number.lstrip("~<>0123456789., ")
    return unit if len(unit) > _LONGEST_SIGN else ""


def _bare(value: str) -> str:
    """A value without what it is set in: `a` is a; "reads `a`" stays."""
    value = value.strip(' ."“”*')
    return value.strip("`") if value.strip("`").count("`") == 0 else value


_READINGS: tuple[Callable[[str], Claim | None], ...] = (_of_sentence, _is_now, _of_note, _of_arrow)
