"""What a rule says of how a turn ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """`evidence`: in words, what the rule goes by. `call_id`: of the tool call that it is, '' where it is none.

    `is_attempt`: None where the rule does not say.
    """

    is_success: bool
    evidence: str
    call_id: str = ""
    is_attempt: bool | None = None
