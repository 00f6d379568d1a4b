"""What a short statement claims, for what changes between two of them to be told.

Of its first clause: "lives in Munich", "the port is 8080", "has two dogs", "has never been to Boston", "plans to visit
Boston", "no longer plays chess". Of its whole: that one value has taken the place of another ("moved from A to B"), a
label and its value ("coverage: 85 %"), or one number among words. What tells of "it" or "them", asks, or says "if",
claims nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from slowwave.transforms.pair_tokens import base_of, is_identifier, number, tokens
from slowwave.transforms.pair_words import MONTHS, NUMBERED, SILENT
from slowwave.transforms.state_clause_words import Claim, words_of
from slowwave.transforms.state_clauses import clause_claims
from slowwave.transforms.state_words import ATTRIBUTES, GENERIC_LABELS, PRONOUNS, STATUS
from slowwave.transforms.strategy_inflections import inflection

LONGEST = 400
_LONGEST_VALUE = 8
_LONGEST_LABELLED = 3
_LONGEST_NUMBERED = 20
_LEAST_NUMBERED = 3
_CLAUSE_ENDS = re.compile(
    r"[;()]|,\s|\s[-–—]{1,2}\s|\b(?:because|which|where|since|while|although|though|so that|who|whose|but|as well as"
    r"|if|unless|when|whenever|until)\b",
    re.IGNORECASE,
)
_SECOND_SENTENCE = re.compile(r"[.!?]\s+\S")
_TOLD = re.compile(
    r"^(?P<subject>.{0,60}?)\b(?:has |have |had |was |were |been )*(?:recently |just |now |finally )*"
    r"(?P<verb>switched|moved|migrated|changed|upgraded|downgraded|converted|transitioned|relocated|renamed|updated"
    r"|increased|decreased|raised|lowered|reduced|bumped|rose|grew|fell|dropped|went)\b(?P<what>[^,;.]{0,50}?)"
    r"\bfrom (?P<before>[^,;]{1,60}?) (?:in)?to (?P<after>[^,;]{1,60}?)"
    r"(?=$|[,;.](?:\s|$)|\s(?:for|because|in order|after|since|so|and|due|when|with|last|this|in|on|during|as)\b)",
    re.IGNORECASE,
)
_REPLACED = (
    re.compile(
        r"^(?P<subject>.{0,60}?)\b(?:has |have )?(?:recently |just |now )*(?P<verb>replaced) "
        r"(?P<before>[^,;]{1,60}?) (?:with|by) (?P<after>[^,;]{1,60}?)"
        r"(?=$|[,;.](?:\s|$)|\s(?:for|because|in order|after|since|so|due|to)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<subject>)(?P<before>[^,;]{1,60}?) (?:was|were|is|are|has been|have been) (?:now )?(?P<verb>replaced) "
        r"(?:with|by) (?P<after>[^,;]{1,60}?)(?=$|[,;.](?:\s|$)|\s(?:for|because|in order|after|since|so|due|to)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<subject>.{1,60}?) (?P<verb>was) (?P<before>[^,;]{1,60}?),? but (?:it )?is now (?P<after>[^,;.]{1,60}?)"
        r"(?=$|[,;.](?:\s|$)|\sand\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<subject>.{1,60}?) (?:(?:is |are )?now|ha(?:s|ve) (?:recently )?started|has switched to|recently)\s"
        r"(?P<verb>\w+)(?P<after>[^,;]{1,60}?) (?:instead of|rather than) (?P<before>[^,;.]{1,60}?)(?=$|[,;.](?:\s|$))",
        re.IGNORECASE,
    ),
)
_LABEL = re.compile(r"^([^:;,.(]{2,60}?)\s*(?:\([^)]*\))?:\s+(.+)$")
_TELLING = re.compile(r"\bfrom |\breplaced |\bnow\b|instead of|rather than", re.IGNORECASE)
_HAS_DIGIT = re.compile(r"\d")
_NO_EVENT = re.compile(
    r"\b(?:can|could|may|might|should|must|if|when|whenever|want|plan|need|to be|not|never|will|would)\b|n['’]t\b",
    re.IGNORECASE,
)
_PAST = frozenset({"was", "were", "had", "did", "ago"})


@lru_cache(maxsize=20_000)
def claims(text: str, *, is_numbered: bool = True) -> tuple[Claim, ...]:
    """What `text` claims; () of more than one sentence, a question or a long text.

    is_numbered: whether its one number is a claim, where nothing else is.
    """
    text = text.strip().replace("`", "").replace("**", "")
    if len(text) > LONGEST or text.endswith("?") or _SECOND_SENTENCE.search(text):
        return ()
    told = _told(text) if _TELLING.search(text) else None
    label = _LABEL.match(text)
    if label is not None:
        labelled = _labelled(label.group(1), label.group(2))
        read = (labelled,) if labelled is not None else ()
    else:
        read = clause_claims(_CLAUSE_ENDS.split(text, maxsplit=1)[0])
    numbered = _numbered(text) if is_numbered and not read and _HAS_DIGIT.search(text) else None
    return tuple(one for one in (told, *read, numbered) if one is not None)


def _told(text: str) -> Claim | None:
    """A statement that tells both what was and what is."""
    for pattern in (_TOLD, *_REPLACED):
        match = pattern.match(text)
        if match is None:
            continue
        found = match.groupdict()
        subject = words_of(f"{found['subject']} {found.get('what') or ''}")
        before, after = words_of(found["before"]), words_of(found["after"])
        if found["before"].split()[0].lower() in {"it", "its", "this", "these", "them", "that"}:
            return None
        if _NO_EVENT.search(text[: match.start("verb")]) or not before or not after or before == after:
            return None
        if found["subject"].strip() and base_of(found["subject"].split()[0].lower()) in PRONOUNS:
            return None
        if max(len(before), len(after)) > _LONGEST_VALUE or len(subject) > 2 * _LONGEST_VALUE:
            return None
        said = " ".join(f"{found['subject']} {found.get('what') or ''}".split())
        says = (said, found["verb"].lower(), found["after"].strip(" ."))
        names = frozenset(one.text.lower() for one in tokens(found["after"]) if one.is_capitalised)
        return Claim(
            "told", subject, (), after, names, 0, is_completed=False, says=says, before=found["before"].strip()
        )
    return None


def _numbered(text: str) -> Claim | None:
    """A statement with one number in it, which may have another: "All 158 tests pass"."""
    found = tokens(text)
    lower = [one.text.lower() for one in found]
    places = [at for at, word in enumerate(lower) if number(word) is not None]
    if len(places) != 1 or not places[0] or len(found) > _LONGEST_NUMBERED or any(word in _PAST for word in lower):
        return None
    (at,) = places
    before = base_of(lower[at - 1]) if at else ""
    if before in NUMBERED or before in MONTHS or inflection(lower[0]).form in {"past", "ing"}:
        return None
    if at + 1 < len(found) and base_of(lower[at + 1]) in MONTHS:
        return None
    if len(lower) > 1 and inflection(lower[1]).form == "past":
        return None
    subject = (*map(base_of, lower[:at]), "#", *map(base_of, lower[at + 1 :]))
    value = number(lower[at]) or ("", "")
    if len(set(subject) - SILENT) < _LEAST_NUMBERED or any(
        is_identifier(word) and word[-1].isdigit() for word in subject[1:]
    ):
        return None
    subject = (*subject, value[1])
    after = " ".join(one.text for one in found[at : at + 2])
    says = (" ".join(one.text for one in found[:at]), "", after)
    return Claim("value", subject, ("#",), (value[0],), frozenset(), 0, is_completed=False, says=says)


def _labelled(label: str, value: str) -> Claim | None:
    """Of "Coverage of the parser: 85 %": a label that names what it is the value of, and a number or a status."""
    subject = words_of(label)
    words = words_of(_CLAUSE_ENDS.split(value, maxsplit=1)[0])
    if (
        not words
        or len(words) > _LONGEST_LABELLED
        or not set(subject) - ATTRIBUTES - GENERIC_LABELS
        or subject[0] in PRONOUNS
    ):
        return None
    status = STATUS.get(words[0])
    if status is None and number(words[0]) is None:
        return None
    attribute = ("is", status) if status else ("is", *words[1:])
    said = (label.strip(), "is", _CLAUSE_ENDS.split(value, maxsplit=1)[0].strip(" ."))
    return Claim("value", subject, attribute, words[:1], frozenset(), 0, is_completed=False, says=said)
