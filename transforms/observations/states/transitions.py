"""What a statement tells as changed by itself: both what was so until then and what is so now."""

from __future__ import annotations

import re

from slowwave.transforms.observations.pairs.statement_tokens import base_of, tokens
from slowwave.transforms.observations.states.clause_words import Claim, form_of, words_of
from slowwave.transforms.observations.states.state_words import PRONOUNS

_LONGEST_VALUE = 8
_TOLD = re.compile(
    r"^(?P<subject>.{0,60}?)\b(?:has |have |had |was |were |been )*(?:recently |just |now |finally )*"
    r"(?P<verb>switched|moved|migrated|changed|upgraded|downgraded|converted|transitioned|relocated|renamed|updated"
    r"|increased|decreased|raised|lowered|reduced|bumped|rose|grew|fell|dropped|went)\b(?P<what>[^,;.]{0,50}?)"
    r"\bfrom (?P<before>[^,;]{1,60}?) (?:in)?to (?P<after>[^,;]{1,60}?)"
    r"(?=$|[,;.](?:\s|$)|\s(?:for|because|in order|after|since|so|and|due|when|with|last|this|in|on|during|as)\b)",
    re.IGNORECASE,
)
_OTHERS = (
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
    re.compile(
        r"^(?P<subject>.{0,60}?)\b(?:has |have )?(?:recently |just |now |finally )*"
        r"(?P<verb>switched|moved|migrated|upgraded|changed|converted|transitioned) to (?P<after>[^,;]{1,60}?) "
        r"from (?P<before>[^,;.]{1,60}?)"
        r"(?=$|[,;.](?:\s|$)|\s(?:for|because|in order|after|since|so|due|when|last|this)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<subject>(?!.*\b(?:is|are|was|were) )(?:\w+\s){0,3}?)(?:has |have )?(?:recently |just |now )*"
        r"(?P<verb>renamed) "
        r"(?P<before>(?!from\b|back\b)[^,;]{1,60}?) to (?P<after>[^,;]{1,60}?)"
        r"(?=$|[,;.)](?:\s|$)|\s(?:for|because|in order|after|since|so|and|due|when|in|on|to)\b)",
        re.IGNORECASE,
    ),
)
_LOST = re.compile(
    r"^(?P<subject>[^,;]{1,40}?) (?:has |have )?(?:recently |just |finally )*(?P<verb>lost|left|quit|sold) "
    r"(?P<before>(?:his|her|their|my|our) (?!of\b)(?:[\w-]+ ){0,3}?(?:job|position|role|career|car|house|apartment|"
    r"phone|bike|company|business|team|band|club)\b)",
    re.IGNORECASE,
)
_IS_NOW = re.compile(
    r"^(?:[^,;:]{1,20}\s[-–—]+\s)?(?:(?P<first>now),? )?(?P<subject>[^,;:]{1,60}?) (?P<verb>is|are)(?P<second> now)? "
    r"(?P<after>un\w+ed|obsolete|redundant|unnecessary|superfluous|fixed|repaired|enabled|disabled|deprecated)"
    r"(?=$|[,;.]|\s(?:since|because|as|and|by|so|now|in|for)\b)",
    re.IGNORECASE,
)
_NO_EVENT = re.compile(
    r"\b(?:can|could|may|might|should|must|if|when|whenever|want|plan|need|to be|not|never|will|would)\b|n['’]t\b",
    re.IGNORECASE,
)
_NO_VALUES = frozenset({"it", "its", "this", "these", "them", "that"})
_TOO_WIDE = frozenset({"everything", "all", "i", "there", "what", "both", "you"})


def transition_claim(text: str) -> Claim | None:
    """A statement that tells both what was and what is; None: it does not."""
    return _of_two(text) or _read_loss(text) or _is_now(text)


def _of_two(text: str) -> Claim | None:
    for pattern in (_TOLD, *_OTHERS):
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
        names = frozenset(one.text.lower() for one in tokens(found["after"]) if one.is_capitalised)
        return Claim(
            "told", subject, (), after, names, 0, is_completed=False, says=says, before=found["before"].strip()
        )
    return None


def _is_act(after: str) -> bool:
    """Whether what follows "to" is what is to be done: "changed the mount to use a cache"."""
    word = after.split(maxsplit=1)[0]
    return word.isalpha() and word.islower() and form_of(word).is_verb and form_of(word).form in {"base", "other"}


def _read_loss(text: str) -> Claim | None:
    match = _LOST.match(text)
    if match is None or _NO_EVENT.search(text[: match.start("verb")]):
        return None
    subject = words_of(match["subject"])
    if not subject or subject[0] in PRONOUNS:
        return None
    return _claim(match["subject"], match["verb"].lower(), match["before"], f"{match['verb']} {match['before']}")


def _is_now(text: str) -> Claim | None:
    """So: "the old helper is now unused"."""
    match = _IS_NOW.match(text)
    if match is None or not (match["first"] or match["second"]) or _NO_EVENT.search(match["subject"]):
        return None
    subject = words_of(match["subject"])
    if not subject or subject[0] in PRONOUNS | _TOO_WIDE:
        return None
    after = match["after"].lower()
    before = after.removeprefix("un") if after.startswith("un") and after.endswith("ed") else f"not {after}"
    return _claim(match["subject"], match["verb"].lower(), before, after)


def _claim(subject: str, verb: str, before: str, after: str) -> Claim:
    says = (subject.strip(), verb, after)
    value = words_of(after)
    return Claim("told", words_of(subject), (), value, frozenset(), 0, is_completed=False, says=says, before=before)
