"""What goes wrong, and that it is over: an injury and its healing, a car that broke and was repaired."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from slowwave.transforms.language.hinted import Hinted
from slowwave.transforms.observations.turns.cues import Cue
from slowwave.transforms.observations.turns.phrases import is_so

_HURT, _WELL = 0, 1
_HEALS_WITHIN = timedelta(days=180)
_BODY = re.compile(
    r"\b(?:ankle|knee|leg|arm|wrist|shoulder|back|foot|hand|head|hip|neck|elbow|finger|toe|rib|eye|tooth)\b"
)
_IS_HURT = Hinted(
    r"\b(?:injur\w+|hurts?|sprain\w*|fractur\w*|tore|torn|twisted|sick|ill|illness|surgery|flu|fever|hospitali\w+"
    r"|in (?:the )?hospital|in pain|concussion|pneumonia|infection"
    r"|broke (?:his|her|their|my) (?:ankle|leg|arm|wrist|foot|hand|hip|nose|ribs?))\b",
    "injur|hurt|sprain|fractur|tore|torn|twisted|sick|ill|surgery|flu|fever"
    "|hospital|in pain|concussion|pneumonia|infection|broke ",
)
_IS_WELL = Hinted(
    r"\b(?:recovered|healed|(?:fully|completely) recover\w*|without (?:any )?pain|pain[- ]free"
    r"|no longer (?:in pain|injured|sick|ill)|back on (?:the (?:court|field|pitch|track)|(?:his|her|their|my) feet)"
    r"|feel\w* (?:much |a lot )?better|out of (?:the )?(?:hospital|cast)|healthy again|discharged from)\b",
    "recover|healed|pain|no longer |back on |better|out of |healthy again|discharged from",
)


def health_cues(text: str) -> Iterator[Cue]:
    """That somebody is hurt or ill, or well again."""
    well = _IS_WELL.search(text)
    if well is not None and is_so(text, well.start()):
        yield _health(_WELL, text, well.group())
    elif (hurt := _IS_HURT.search(text)) is not None:
        yield _health(_HURT, text, hurt.group())


def _health(stage: int, text: str, said: str) -> Cue:
    return Cue("health", stage, frozenset(_BODY.findall(text.lower())), frozenset(), said)


def has_healed(before: Cue, after: Cue, apart: timedelta, _: Callable[[str], bool]) -> bool:
    """Whether who was hurt is well again: of the same part, where both name one."""
    is_one = not before.words or not after.words or not before.words.isdisjoint(after.words)
    return before.stage < after.stage and is_one and apart <= _HEALS_WITHIN
