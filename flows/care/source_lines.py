"""What `status` says of the connected sources; nothing that imports is loaded for it."""

from __future__ import annotations

from datetime import UTC, datetime

from slowwave.flows.imports.connections import Connection, LastRead, connections, last_reads
from slowwave.flows.kernel.checks import CheckLine
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import in_words

_NAME = "connections"


def connected_lines(settings: Settings, now: datetime) -> list[CheckLine]:
    """A line for each connected source; none where nothing is connected."""
    try:
        there = connections(settings)
    except UserError as error:
        return [CheckLine(_NAME, "error", str(error), "correct the file: until then no connected source is read")]
    reads = last_reads(settings.lake_folder)
    return [_line(one, reads.get(one.key, LastRead()), now) for one in there]


def _line(one: Connection, last: LastRead, now: datetime) -> CheckLine:
    facts = {"source": one.source, "path": one.path, "read_at": last.read_at or None, "warnings": last.warnings}
    if not last.read_at:
        return CheckLine(
            one.source, "ok", f"{one.path} is connected and not read yet: the next nightly does", "", facts
        )
    age = now - datetime.fromisoformat(last.read_at).astimezone(UTC).replace(tzinfo=None)
    says = f"{one.path}, its last change read {in_words(age)}"
    if last.warnings:
        says += "".join(f"\nnot imported: {said}" for said in last.warnings)
        return CheckLine(one.source, "warn", says, "mend what it says; every nightly tries again", facts)
    return CheckLine(one.source, "ok", says, "", facts)
