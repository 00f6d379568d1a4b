"""What a turn cost in tokens: by response where Codex says it so, else by how the thread's total grew."""

from __future__ import annotations

from slowwave.transforms.imports.record_values import object_or_empty, whole_number


def tokens_of(usage: object) -> int | None:
    """Tokens in and out; what was cached is part of what went in, reasoning of what came out. None: not said."""
    stated = object_or_empty(usage)
    read, written = whole_number(stated.get("input_tokens")), whole_number(stated.get("output_tokens"))
    if read is None and written is None:
        return whole_number(stated.get("total_tokens"))
    return (read or 0) + (written or 0)


class Usage:
    """The tokens of one turn. `before`: the thread's total when it began, None where none was written down."""

    def __init__(self, before: int | None) -> None:
        self._before = before
        self._total: int | None = None
        self._responses: dict[str, int] = {}

    def response(self, response_id: str, tokens: int | None) -> None:
        """One response, however often it is repeated."""
        if tokens is not None:
            self._responses[response_id or str(len(self._responses))] = tokens

    def total(self, tokens: int, spent: int | None) -> None:
        """The thread's total by now, with what of it the last response `spent`: the first tells what was before."""
        if self._before is None and spent is not None:
            self._before = max(tokens - spent, 0)
        self._total = tokens

    @property
    def tokens(self) -> int | None:
        """Tokens of the turn; None where nothing was said."""
        if self._responses:
            return sum(self._responses.values())
        if self._total is None or self._before is None:
            return None
        # a total that has shrunk was begun anew
        return self._total - self._before if self._total >= self._before else self._total
