"""Phrases that tell a stage of something, and on which side of them it is named.

Each is looked for by itself, and what it is about is read from the words beside it: so no text takes long, whatever it
holds.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from slowwave.transforms.language.hinted import Hinted

Side = Literal["before", "after"]


class StagePhrase(NamedTuple):
    """A ladder, the stage of it that the phrase tells, and the side on which what it is about is named."""

    ladder: str
    stage: int
    side: Side
    pattern: Hinted


_HAS_BEEN = (
    r"\b(?:is|are|was|were|got|gets|has been|have been)\s+"
    r"(?:now |just |badly |finally |all |completely |already |still )?"
)
_PHRASES: tuple[tuple[str, int, Side, str, str], ...] = (
    (
        "trouble", 0, "after",
        (r"\b(?:struggl\w+|trouble|difficult(?:y|ies)|problems?|issues?|stuck|setbacks?|snags?|hard time|holdup) "
        r"(?:with|on|in|by|due to|because of|dealing with|keeping up with)\b"),
        "struggl|trouble|difficult|problem|issue|stuck|setback|snag|hard time|holdup",
    ),
    (
        "trouble", 0, "after",
        r"\b(?:broke|crashed|damaged|misplaced|wrecked|ruined)(?= (?:his|her|their|my|our|the) )",
        "broke|crashed|damaged|misplaced|wrecked|ruined",
    ),
    (
        "trouble", 0, "before",
        rf"{_HAS_BEEN}(?:broken|damaged|lost|stolen|flooded|failing|crashing|leaking|stuck|blocked|on hold|down)\b",
        "broken|damaged|lost|stolen|flooded|failing|crashing|leaking|stuck|blocked|on hold|down",
    ),
    (
        "trouble", 0, "before",
        r"\b(?:broke down|crashed|stopped working|faces? a holdup|needs? (?:repairs?|fixing)|fell apart)\b",
        "broke down|crashed|stopped|holdup|repair|fixing|fell apart",
    ),
    (
        "trouble", 0, "before", r"\b(?:troubles?|errors?|bugs?|failures?|accident)\b",
        "trouble|error|bug|failure|accident",
    ),
    (
        "trouble", 1, "after",
        (r"\b(?:overc[ao]me|resolv(?:ed|es)|solv(?:ed|es)|fix(?:ed|es)(?: up)?|repair(?:ed|s)|figured out"
        r"|got through|conquer(?:ed|s)|restor(?:ed|es)|sorted out)\b"),
        "overc|resolv|solv|fix|repair|figured|got through|conquer|restor|sorted",
    ),
    (
        "trouble", 1, "before",
        (rf"{_HAS_BEEN}(?:fixed|repaired|resolved|solved|healed|recovered|found|restored|sorted|clean|green"
        r"|(?:up and )?(?:running|working)(?= again|$|[,.;]))(?![\w-])"),
        "fixed|repaired|resolved|solved|healed|recovered|found|restored|sorted|clean|green|running|working",
    ),
    (
        "trouble", 1, "after", r"\b(?:breakthrough|solution|success) (?:with|on|in|to|for)\b",
        "breakthrough|solution|success",
    ),
    (
        "awaited", 0, "after",
        (r"\b(?:appl(?:ied|ies|ying) (?:for|to)|auditioned for|auditions for|interview(?:ed|s|ing)? (?:for|with|at)"
        r"|submitt?(?:ed|s|ing)|entere?[ds]|nominated for|waiting (?:for|to hear (?:back )?(?:from|about))"
        r"|sent (?:in|off)|competing in|in talks (?:with|for|about))\b"),
        "appl|audition|interview|submit|enter|nominated|waiting|sent|competing|in talks",
    ),
    (
        "awaited", 1, "after",
        (r"\b(?:accepted (?:to|into|by|for|at)|rejected (?:by|from|for)|hired (?:as|by|at|for)|selected for"
        r"|shortlisted for|turned down (?:by|for)|approved for|won|placed in|rejection (?:letter )?(?:for|from)"
        r"|got (?:the|a) (?:job|part|role|gig|place) (?:at|as|in|with))\b"),
        "accepted|rejected|hired|selected|shortlisted|turned down|approved|won|placed|rejection|got the|got a",
    ),
    (
        "awaited", 1, "before",
        (r"\b(?:was|were|got|has been|is) (?:\w+ )?"
        r"(?:accepted|rejected|approved|declined|denied|selected|chosen|published|turned down)\b"),
        "accepted|rejected|approved|declined|denied|selected|chosen|published|turned down",
    ),
    (
        "event", 0, "after", r"\b(?:nervous|anxious|worried|stressed|apprehensive) (?:about|for|before)\b",
        "nervous|anxious|worried|stressed|apprehensive",
    ),
    (
        "event", 1, "before",
        (r"\b(?:went|turned out|was) (?:really |very |so |all )?"
        r"(?:well|great|smoothly|better|amazing|fine|a (?:big |huge |great )?success)\b"),
        "well|great|smoothly|better|amazing|fine|success",
    ),
    ("event", 1, "after", r"\b(?:passed|passes|aced|nailed|survived)\b", "passed|passes|aced|nailed|survived"),
    (
        "skill", 0, "after",
        (r"\b(?:is|has been|started|starts|began|keeps) (?:currently |now )?"
        r"(?:learning|taking lessons in|practicing|trying to learn)(?: how)?(?: to)?\b"),
        "learn|lessons|practicing",
    ),
    (
        "skill", 1, "after",
        (r"\b(?:learned|learnt|mastered|(?:is|became|becomes|has become) (?:now )?(?:fluent in|an expert (?:in|at)"
        r"|certified (?:in|as)))(?: how)?(?: to)?\b"),
        "learn|mastered|fluent|expert|certified",
    ),
)  # fmt: skip
PHRASES = tuple(
    StagePhrase(ladder, stage, side, Hinted(pattern, hints)) for ladder, stage, side, pattern, hints in _PHRASES
)

_NOT_SO = re.compile(
    r"\b(?:not|never|no|want\w*|need(?:s|ed)?|hop\w+|try\w*|tried|will|would|can|could|should|must|if|when|to|offer\w*"
    r"|advis\w+|suggest\w*)\s+(?:\w+\s+){0,2}$|n['’]t\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
_TO_BE_SEEN = re.compile(r"\b(?:let me|make sure|verif\w+|check\w*|ensure|whether|if)\b", re.IGNORECASE)
_READ_BEFORE = 40


def is_so(text: str, start: int) -> bool:
    """Whether what stands at `start` is told as a fact: not as wanted, tried, denied or to be seen."""
    led = text[max(0, start - _READ_BEFORE) : start].replace("able to ", "")
    return not (_NOT_SO.search(led) or _TO_BE_SEEN.search(text[:start]))


_WORDS_BESIDE = 5
_CLAUSE = re.compile(r"[,;:.()]")


def beside(text: str, start: int, end: int, side: Side) -> str:
    """The words before or after a phrase, five at most, within its clause."""
    if side == "after":
        return " ".join(_CLAUSE.split(text[end:], maxsplit=1)[0].split()[:_WORDS_BESIDE])
    return " ".join(_CLAUSE.split(text[:start])[-1].split()[-_WORDS_BESIDE:])
