"""Changes that one statement tells in passing: "X is now Y", "X now does Y", "X should now be Y", "X was removed"."""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.language.inflection import inflection
from slowwave.transforms.observations.states.clause_words import words_of
from slowwave.transforms.observations.turns.told import ToldChange
from slowwave.transforms.observations.work.plain import tells_nothing
from slowwave.transforms.observations.work.verbs import work_verb

_LABEL = r"(?:(?P<label>[^:;]{1,60}?)(?::|\s[—–-])\s)?"
_NOBODY = (
    r"(?!(?:it|this|that|these|those|they|there|which|what|everything|all|both"
    r"|i|we|you|he|she|now|here|if|when|once"
    r"|since|because|although|while|so|and|but|let|with|how|why|who|whether|make|ensure|verify|check)\b)"
)
_SUBJECT = rf"{_NOBODY}(?P<subject>[^,;:?]{{2,70}}?)"
_END = r"(?=$|[,;:.](?:\s|$)|\s[—–(-]|\s(?:because|since|so|which|where|while|and|but|when|if|as)\b)"
_NOW_IS = re.compile(
    rf"^(?:now,? )?{_LABEL}{_SUBJECT}\s(?P<verb>is|are|has|have|can|will be|should be)\s(?P<since>now|no longer)\s"
    rf"(?P<after>[^;]{{2,100}}?){_END}",
    re.IGNORECASE,
)
_NOW_DOES = re.compile(
    rf"^{_LABEL}{_SUBJECT}\s(?P<since>now|no longer)\s(?P<verb>[a-z]{{2,}}) (?P<after>[^;]{{2,100}}?){_END}",
    re.IGNORECASE,
)
_NOW_OF_LABEL = re.compile(
    rf"^(?P<subject>[^:;]{{2,60}}?)(?::|\s[—–-])\s(?P<since>now|no longer) (?P<verb>[a-z]{{2,}}) "
    rf"(?P<after>[^;]{{2,100}}?){_END}",
    re.IGNORECASE,
)
_SHOULD_NOW = re.compile(
    rf"^(?:(?P<first>now),? )?{_SUBJECT}\s(?:should"
    rf"|will)\s(?P<second>now )?(?P<after>[a-z]{{2,}}\s[^;]{{2,100}}?){_END}",
    re.IGNORECASE,
)
_HAS_BEEN = re.compile(
    rf"^{_LABEL}{_SUBJECT}\s(?:has|have) been (?:now |successfully |fully |also |completely |recently |all )*"
    rf"(?P<verb>[a-z]+(?:ed|en|t))\b(?P<after>[^;]{{0,80}}?){_END}",
    re.IGNORECASE,
)
_OF_LABEL = re.compile(r"^([^:;.]{2,40}?)(?::|\s[—–-])\s(?:It|They|This)\b(?= (?:now|no longer|is now|are now)\b)")
_SO_NOW = re.compile(rf"^{_SUBJECT}\s(?:is|are)\s(?P<after>[^,;:]{{3,60}}?) now(?=$|[.!])", re.IGNORECASE)
_WAS = re.compile(
    r"(?P<after>[~<>]?\d[\w.,%]*)(?P<subject>(?: [a-z][\w-]*){1,4}) "
    r"\((?:was|were|previously|formerly|up from|down from) (?P<before>[~<>]?\d[^()]{0,20}?)\)"
)
_ARROW = re.compile(r"^(?P<subject>[^:`]{2,60}): `(?P<before>[^`]{3,60})` (?:→|->) `(?P<after>[^`]{3,60})`$")
_PARTS = 2
_OLD_GONE = re.compile(
    r"^(?:and )?(?P<subject>(?:the |all )?(?:old|previous|former|unused|legacy|duplicate[d]?|obsolete)\b[^;:]{2,80}?) "
    r"(?:is|are|was|were) (?:now |all )?(?P<after>removed|gone|deleted|replaced)\b",
    re.IGNORECASE,
)
_PLACE = r"[A-Z][\w'’.-]*(?: (?:of |the )?[A-Z][\w'’.-]*)*"
_WENT = re.compile(
    rf"^(?P<subject>[^,;:?]{{2,40}}?)\s(?:has |have )?(?:just |recently |finally )?"
    rf"(?:travell?ed|flew|drove|returned|came"
    rf"|commuted) (?:back )?from (?P<before>{_PLACE}) "
    rf"(?:back )?to (?P<after>{_PLACE})"
)
_BEFELL = tuple(
    (
        before,
        re.compile(
            rf"^{_SUBJECT}\s(?:(?:was|were|got|gets|has been|have been|is|are|just|recently|finally)\s)+"
            rf"(?P<after>{after})\b(?P<rest>(?:\s(?:from|by|to|as|at) [^,;.]{{2,50}})?)",
            re.IGNORECASE,
        ),
    )
    for before, after in (
        ("employed", "fired|laid off|let go|dismissed"),
        ("not promoted", "promoted"),
        ("not hired", "hired"),
        ("housed", "evicted"),
        ("a pupil", "expelled"),
        ("apart", "back together"),
    )
)
_STOPPED = re.compile(
    rf"^{_SUBJECT}\s(?:\w+ (?:\w+ )?and )?(?P<after>(?:has |have |just |suddenly )*(?:stopped working|broke down"
    rf"|fell apart))\b",
    re.IGNORECASE,
)
_CALLED_OFF = re.compile(
    r"^(?P<subject>\w+(?: \w+)?)\s(?:[^;:]{0,60}?(?:,|\band)\s(?:thus |so |and )*)?(?:(?:he|she|they) )?(?:had to )?"
    r"(?P<after>(?:called off|cancell?ed|postponed) (?:his|her|their|the|my|our) [^,;.]{2,60})",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:going to|thinks?|worr\w+|afraid|hop\w+|wants?|about|ask\w*|almost|nearly)\b", re.IGNORECASE
)
_NO_EVENT = re.compile(
    r"\b(?:it|they|you|we|i|if|when|whenever|wants?|wanted|need\w*|whether|so that|until|that|which|who|not"
    r"|never|could"
    r"|might|may|would"
    r"|should|must|ensure\w*|verify|check\w*|expect\w*|how|why|because|since|after|before)\b|n['’]t\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:clear|obvious|evident|apparent|time|the time|going to|trying|looking|checking|waiting|i|let|we|you|what|why"
    r"|how|where|understand|see|know|have (?:a|all|the)|about|that)\b",
    re.IGNORECASE,
)
_CUT_OFF = re.compile(r"\b(?:for|to|with|as|by|both|like|the|of|in|show|and)$")
_PRAISED = re.compile(
    r"^(?:\w+ ){0,2}(?:(?:more|much|better|easier|cleaner|faster|simpler|safer|well-\w+|great|perfect|nice)\b"
    r"|the recommended\b"
    r"|(?!running|working|passing|using|serving|listening|living|handling|showing)\w{3,}ing\b)",
    re.IGNORECASE,
)
_NO_THING = re.compile(r"\b(?:next step|question|plan|goal|reason|idea|point|preference|only thing)s?$", re.IGNORECASE)
_NO_STATE = frozenset({"wrap", "test", "verify", "format", "document", "be", "see", "make", "identify", "wait"})
_REMOVED = frozenset({"remove", "revert", "disable"})


@lru_cache(maxsize=20_000)
def told_in_prose(text: str) -> ToldChange | None:
    """What a statement tells as changed, the first that can be read; None: it does not tell."""
    if tells_nothing(text):
        return None
    said = text.strip().removesuffix(":").replace("**", "").lstrip("-*•#>. ")
    said = _OF_LABEL.sub(r"\1", said)
    return _now(said) or _since(said) or _of_shape(said) or _has_been(said) or _went(said) or _came_upon(said)


def _now(said: str) -> ToldChange | None:
    for pattern in (_NOW_IS, _NOW_DOES, _NOW_OF_LABEL, _SHOULD_NOW):
        match = pattern.match(said)
        if match is None:
            continue
        found = match.groupdict()
        if pattern is _SHOULD_NOW and not (found["first"] or found["second"]):
            continue
        is_sure = "`" in found["subject"] or (found.get("since") or "").lower() == "no longer"
        if pattern in {_NOW_DOES, _NOW_OF_LABEL} and not _is_told_verb(found["verb"], is_sure=is_sure):
            continue
        after = found["after"] if pattern in {_NOW_IS, _SHOULD_NOW} else f"{found['verb']} {found['after']}"
        subject = found["subject"].strip(" *-—–")
        if (
            _NO_EVENT.search(f"{found.get('label') or ''} {subject}")
            or _VAGUE.match(after)
            or _PRAISED.match(after)
            or _CUT_OFF.search(after)
            or not _names(subject)
        ):
            continue
        after = after.removeprefix("be ")
        is_over = (found.get("since") or "").lower() == "no longer"
        return ToldChange(subject, after if is_over else "not so", f"no longer {after}" if is_over else f"now {after}")
    return None


def _since(said: str) -> ToldChange | None:
    """So: "the knob is softer now", "24 px gap (was 18 px)", "the old bar is removed"."""
    match = _SO_NOW.match(said)
    if match is not None and not _NO_EVENT.search(match["subject"]) and _names(match["subject"]):
        return None if _VAGUE.match(match["after"]) else ToldChange(match["subject"], "not so", f"{match['after']} now")
    match = _WAS.search(said)
    if match is not None and not _NO_EVENT.search(said[: match.start()]):
        return ToldChange(match["subject"].strip(), match["before"].strip(), match["after"].strip())
    match = _OLD_GONE.match(said)
    return None if match is None else ToldChange(match["subject"].strip(), "there", match["after"])


def _of_shape(said: str) -> ToldChange | None:
    """Two names in code of one shape, of which one part differs: "the note: `text-gray-300` → `text-gray-600`"."""
    match = _ARROW.match(said)
    if match is None:
        return None
    before, after = (re.split(r"[^\w]+", match[side].lower()) for side in ("before", "after"))
    differs = sum(one != other for one, other in zip(before, after, strict=False))
    if len(before) != len(after) or len(before) < _PARTS or differs != 1:
        return None
    return ToldChange(match["subject"].strip(), match["before"], match["after"])


def _is_told_verb(word: str, *, is_sure: bool) -> bool:
    """Whether it is a verb in the present: "now skips", "now use"; is_sure: of a name in code, or after "no longer"."""
    form = inflection(word.lower())
    if is_sure and form.form in {"s", "base", "other"}:
        return word.lower() not in {"let", "lets"}
    return form.form == "s" or (form.is_verb and form.form == "base" and word.lower() != "let")


def _has_been(said: str) -> ToldChange | None:
    match = _HAS_BEEN.match(said)
    if match is None:
        return None
    verb, form = work_verb(match["verb"].lower())
    subject = match["subject"].strip(" *-—–")
    is_event = verb is not None and form == "past" and verb not in _NO_STATE
    if not is_event or _NO_EVENT.search(subject) or not _names(subject):
        return None
    was = "there" if verb in _REMOVED else "not there" if verb == "add" else "not so"
    return ToldChange(subject, was, f"{match['verb']}{match['after']}")


def _went(said: str) -> ToldChange | None:
    match = _WENT.match(said)
    if match is None:
        return None
    return ToldChange(match["subject"].strip(), f"in {match['before']}", f"in {match['after']}")


def _came_upon(said: str) -> ToldChange | None:
    """What befell somebody: "was fired from her job"."""
    for before, pattern in _BEFELL:
        match = pattern.match(said)
        if match is not None and not _NO_EVENT.search(match["subject"]) and not _NOT_YET.search(match["subject"]):
            return ToldChange(match["subject"].strip(), before, f"{match['after']}{match['rest']}".strip())
    for before, pattern in (("working", _STOPPED), ("planned", _CALLED_OFF)):
        match = pattern.match(said)
        if match is not None and not _NO_EVENT.search(match["subject"]):
            return ToldChange(match["subject"].strip(), before, match["after"])
    return None


def _names(subject: str) -> bool:
    """Whether it names something that may change."""
    return bool(words_of(subject)) and _NO_THING.search(subject) is None
