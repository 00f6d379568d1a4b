"""More changes that one statement tells by itself: "to use A instead of B", "changed `a` to `b`", "30 s (was 10 s)"."""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.observations.turns.change_phrases import ToldChange, told_change
from slowwave.transforms.observations.work.plain import tells_nothing

_VERBS = (
    "changed|updated|switched|modified|refactored|rewrote|migrated|moved|converted|fixed|corrected|bumped|renamed"
    "|replaced|adjusted|reworked|simplified|raised|lowered|increased|decreased|reduced|upgraded|cut|dropped|grew"
    "|shrank|went|improved|trimmed|extended|tightened|widened|relaxed|shortened|rose|fell"
)
_CHANGED = rf"(?:{_VERBS})"
_VALUE = r"(?:`[^`]{1,80}`|\"[^\"]{1,60}\"|“[^”]{1,60}”|v?\d[\w.,%]*(?: ?[a-zA-Z%]{1,8})?)"
_THING = r"(?:`[^`]+`|[^,;.`]|\.(?=\w))"
_END = (
    r"(?=$|[,;:.)](?:\s|$)|\s[—–(]"
    r"|\s(?:for|because|in order|since|so|and|due|when|with|where|which|while|as|by|to|in|on)\b)"
)
_DOER = r"^(?P<subject>[^;:]{0,80}?(?:[:—–-]\s)?)(?:(?:i|we)(?:['’]ve| have)? |has |have |was |were |now |just |also )*"
_DID = rf"{_DOER}\b{_CHANGED}\b"
_OLD = r"(?:the (?:old|previous|former) )?"
_PATTERNS = (
    # changed `a` to `b`
    Hinted(rf"{_DID}(?P<what>[^`\"“;:]{{0,40}}?)\s(?P<before>{_VALUE}) (?:in)?to (?P<after>{_VALUE}){_END}", _VERBS),
    # cut the timeout from 30 s to 10 s
    Hinted(
        rf"{_DID}(?P<what>[^;:]{{0,60}}?)\bfrom (?P<before>{_VALUE})(?: \([^)]*\))? (?:in|down |up )?to "
        rf"(?:an? )?(?P<after>{_VALUE})",
        _VERBS,
    ),
    # updated the queries to read `b` instead of `a`
    Hinted(
        rf"{_DID}(?P<what>[^;]{{1,80}}?)\bto (?P<after>[a-z]+ [^;]{{1,90}}?) (?:instead of|rather than) {_OLD}"
        rf"(?P<before>{_THING}{{1,70}}?){_END}",
        "instead of|rather than",
    ),
    # now writes once instead of at each step
    Hinted(
        r"^(?P<subject>[^;]{1,80}?) now (?P<after>(?!(?:that|let|i|we|you)\b)[a-z]+ [^;]{1,100}?),? "
        r"(?:instead of|rather than) "
        rf"{_OLD}(?P<before>{_THING}{{1,70}}?){_END}",
        "instead of|rather than",
    ),
    # replaced `a` with `b`
    Hinted(rf"{_DOER}\breplaced (?P<before>[^;]{{2,60}}?) (?:with|by) (?P<after>[^;]{{2,60}}?){_END}", "replaced "),
    # fixed the setting by renaming `a` to `b`
    Hinted(
        rf"{_DID}(?P<what>[^;]{{1,60}}?) by (?:renaming|changing|switching|moving|converting) "
        rf"(?P<before>[^;,]{{2,50}}?) (?:in)?to (?P<after>[^;,.]{{2,50}}?){_END}",
        " by renaming | by changing | by switching | by moving | by converting ",
    ),
    Hinted(
        rf"{_DID}(?P<what>[^;]{{1,60}}?) by (?:replacing|swapping) "
        rf"(?P<before>[^;,]{{2,50}}?) (?:with|for) (?P<after>[^;,.]{{2,50}}?){_END}",
        " by replacing | by swapping ",
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
        rf"(?:is |are )?now (?:it is |it['’]s |they are )?(?P<after>[^;,.]{{2,60}}?){_END}",
        " was | were | used to be ",
    ),
)
_SIDE = rf"(?:{_VALUE}|\w[\w.-]*)"
_ARROW = re.compile(
    rf"^(?P<subject>[^→]{{0,100}}?)(?P<before>{_SIDE}) (?:→|->) (?P<after>{_SIDE})(?=$|[\s,;.)])(?P<rest>[^→]*)$"
)
_SAYS_SO = re.compile(rf"\b(?:{_CHANGED}|fix(?:ed|es)|resolved)\b", re.IGNORECASE)
_VERSION = re.compile(r"^v?\d[\w.]*$")
_NO_EVENT = re.compile(
    r"\b(?:can|could|may|might|should|must|if|when|whenever|wants?|plan\w*|need\w*|tr(?:y|ies)|consider\w*|going|not"
    r"|never|will|would|how|whether|suggest\w*|recommend\w*|decid\w+|verify|check|expect\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"^(?:i|we|update|now|let|then|finally|he|she|it|they|this|that|there|who|you|which|everything)\b(?!\s*:)",
    re.IGNORECASE,
)


@lru_cache(maxsize=20_000)
def told_since(text: str) -> ToldChange | None:
    """What a statement tells as changed, the first that can be read; None: it does not tell."""
    said = text.strip().removesuffix(":").replace("**", "")
    found = told_change(text) or _of_two(said) or _from_to(said)
    # asked last: most tell nothing anyhow
    return None if found is None or tells_nothing(text) else found


def _of_two(said: str) -> ToldChange | None:
    for pattern in _PATTERNS:
        match = pattern.match(said)
        if match is None:
            continue
        found = match.groupdict()
        subject = " ".join(f"{found['subject']} {found.get('what') or ''}".split()).strip(" :—–-*#")
        before, after = _bare(found["before"]), _bare(found["after"])
        if _NOBODY.match(said) or _NO_EVENT.search(f"{found['subject']} {found.get('what') or ''}"):
            return None
        if before and after and before.lower() != after.lower():
            return ToldChange(subject, before, after)
    return None


def _from_to(said: str) -> ToldChange | None:
    """An arrow between two versions, or two names where the statement says that something was changed."""
    match = _ARROW.match(said) if "→" in said or "->" in said else None
    if match is None:
        return None
    before, after = _bare(match["before"]), _bare(match["after"])
    is_version = _VERSION.match(before) is not None and _VERSION.match(after) is not None
    is_named = "`" in match["before"] and "`" in match["after"] and _SAYS_SO.search(match["subject"]) is not None
    is_labelled = match["subject"].rstrip().endswith(":")
    if before == after or not (is_named or (is_version and is_labelled)):
        return None
    return ToldChange(match["subject"].strip(" |*:-(`"), before, after)


def _bare(value: str) -> str:
    """A value without what it is set in: `a` is a; "reads `a`" stays."""
    value = value.strip(' ."“”*')
    return value.strip("`") if value.strip("`").count("`") == 0 else value
