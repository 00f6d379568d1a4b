"""The adapter of Codex's rollouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from slowwave.transforms.imports.codex.bare_records import is_bare_header, is_bare_item, is_bare_message
from slowwave.transforms.imports.codex.rollout import Rollout
from slowwave.transforms.imports.made import Context, Located, Made, Record
from slowwave.transforms.imports.options import check_names
from slowwave.transforms.imports.record_values import object_in, text_in, text_or_empty
from slowwave.transforms.imports.turn_rows import TURN_OPTIONS

_KINDS = frozenset({"turn_context", "response_item", "event_msg"})


class CodexAdapter:
    """A header, then lines of a few kinds: events tell most of what happened, response items much of it once more."""

    name = "codex"
    version = 3

    def detected(self, first: Sequence[Record]) -> str | None:
        """As in Adapter."""
        is_wrapped = is_bare = False
        for record in first:
            kind, payload = text_in(record, "type"), object_in(record, "payload")
            if kind == "session_meta" and payload:
                return f"Codex {text_in(payload, 'cli_version')}".rstrip()
            is_wrapped = is_wrapped or (kind in _KINDS and bool(payload.get("type")))
            is_bare = is_bare or is_bare_header(record) or is_bare_message(record)
        return "Codex" if is_wrapped else "Codex of 2025, without wrappers" if is_bare else None

    def kind_of_record(self, record: Record) -> str:
        """Return the type of a record, and that of what it holds."""
        if is_bare_header(record):
            return "header without a wrapper"
        if is_bare_item(record):
            return f"{text_in(record, 'type')} without a wrapper"
        kind, held = (
            text_in(record, "type"),
            text_or_empty(object_in(record, "payload").get("type")),
        )
        return f"{kind} {held}".strip() or text_in(record, "record_type") or "record"

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """As in Adapter."""
        check_names(context.options, TURN_OPTIONS)
        rollout = Rollout(context)
        for located in records:
            yield from rollout.taken(located)
        yield from rollout.rest()
