"""What was imported from a store, beside what it says now: what changed in it since is not written over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slowwave.flows.imports.import_state import SeenFile
from slowwave.flows.imports.importer import ImportOptions, found_by, project_map, source_settings
from slowwave.flows.imports.units import Unit, UnreadableUnitError
from slowwave.flows.kernel.columns.declared import OF_CHANGE
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import terminal_safe
from slowwave.flows.lake.lake import Lake
from slowwave.flows.push.places import Place
from slowwave.transforms.imports.adapter import Context, Located, Row, projects_by
from slowwave.transforms.imports.stores.change_log import Store

# What a row says of itself; and the project, which is not the store's word but that of a map that may be another now.
_BESIDE = frozenset({"memory_id", "project", *OF_CHANGE})


@dataclass(frozen=True)
class ImportedMemories:
    """The memories that were imported from a store, and those of them, or new ones, that it says otherwise now."""

    memory_ids: frozenset[str]
    changed: frozenset[str]


def seen_store(settings: Settings, lake: Lake, place: Place) -> ImportedMemories:
    """What an import would land of a store now; nothing lands.

    Raises UserError where the store cannot be read, or nothing was ever imported from it.
    """
    source = place.source
    mapped = project_map(place.connection.project_map if place.connection else None)
    options = ImportOptions(projects=mapped, settings=source_settings(settings, source.name))
    found = found_by(settings, source, [place.path], options, is_kept=False)
    if len(found.units) != 1:
        faults = [f"{one.name} {one.why}" for one in found.others if one.is_fault or not found.units]
        several = f"{terminal_safe(place.name)} has {len(found.units)} stores: name one of them"
        raise UserError("\n".join(map(terminal_safe, faults)) if faults else several)
    unit, adapter = found.units[0], source.adapter
    seen_file = SeenFile(lake, settings.inbox, adapter.name, adapter.version, is_kept=False)
    # what was erased here is named, so that it is taken out of the store: an import leaves it out
    before = replace(seen_file.before(unit), is_erased=lambda _: False)
    known = frozenset(one for one, memory in before.seen.memories.items() if before.store in memory.stores)
    if not known:
        message = (
            f"nothing was imported from {terminal_safe(place.name)} yet: "
            f"`slowwave import {source.name} PATH` first, then `slowwave nightly`"
        )
        raise UserError(message)
    context = Context(projects_by(options.projects), options=options.settings, before=before)
    changed = set()
    for made in _adapter(place).make_rows(_records(unit), context):
        if isinstance(made, Row) and "memory_id" in made.fields and made.fields.keys() - _BESIDE:
            changed.add(made.fields["memory_id"])
    return ImportedMemories(known, frozenset(changed))


def _adapter(place: Place) -> Store:
    adapter = place.source.adapter
    if not isinstance(adapter, Store):
        message = f"{place.source.name} is no store"
        raise UserError(message)
    return adapter


def _records(unit: Unit) -> list[Located]:
    try:
        return [one for one in unit.read() if isinstance(one, Located)]
    except (UnreadableUnitError, OSError) as error:
        message = f"{unit.name} {error}"
        raise UserError(terminal_safe(message)) from error
