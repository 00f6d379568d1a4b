"""`transcript_correction/1`: what the person says next begins with a correction. Weak, and off by default."""

from __future__ import annotations

import re

from slowwave.transforms.imports.adapter import Turn
from slowwave.transforms.imports.inferred.verdicts import Verdict

METHOD = "transcript_correction/1"
_CORRECTION = re.compile(
    r"(?i)\s*(?:no[,.!:;]\s|nope\b|wrong\b"
    r"|that(?:'|\u2019)?s (?:wrong|not (?:right|what|correct|it))\b|that is (?:wrong|not)\b"
    r"|(?:it |this |that )?still (?:does(?: not|n(?:'|\u2019)?t)|not|fails?|failing|broken|getting|the same)\b"
    r"|(?:it |this |that )(?:does(?: not|n(?:'|\u2019)?t)|did(?: not|n(?:'|\u2019)?t)) (?:work|help|compile|fix)\b"
    r"|(?:please )?(?:revert|undo)\b|you (?:broke|forgot|misunderstood|missed)\b)"
)


def transcript_correction(turn: Turn) -> Verdict | None:
    """That a turn failed, since the person's next words begin with a correction."""
    if turn.next_prompt is None or not _CORRECTION.match(turn.next_prompt):
        return None
    return Verdict(is_success=False, evidence="the next prompt begins with a correction")
