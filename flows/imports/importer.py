"""An import of one source, put together: its cursors, what was seen of stores, and its options."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from slowwave.flows.imports.cursors import FOLDER, Cursors
from slowwave.flows.imports.earlier_readings import earlier_readings
from slowwave.flows.imports.importing import Import, ImportOptions
from slowwave.flows.imports.kept_parts import kept_parts
from slowwave.flows.imports.sources import SOURCES, Source, found_under, is_store
from slowwave.flows.imports.stores.seen_file import SeenFile
from slowwave.flows.imports.units import Found
from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.imports.adapter import OptionsError

_SECTION = "imports"


def source_settings(settings: Settings, name: str) -> Mapping[str, object]:
    """What `settings.toml` says of a source, in `[imports.NAME]`. Raises UserError."""
    return settings.stated(_SECTION, {each.name for each in SOURCES}).get(name, {})


def found_by(
    settings: Settings, source: Source, paths: Iterable[Path], options: ImportOptions, *, is_kept: bool = True
) -> Found:
    """What a source has under some paths; `is_kept` false: nothing is to stay of it.

    Raises UserError where a path cannot be listed, or the settings of the source cannot be used.
    """
    try:
        folder = settings.lake_folder / FOLDER
        kept = kept_parts(folder, source.name, options.settings, is_written=is_kept)
        return found_under(source, paths, settings.longest_row, kept)
    except OptionsError as error:
        message = f"settings.toml, [imports.{source.name}], cannot be used: {error}"
        raise UserError(message) from error
    except OSError as error:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(message) from error


def importer(
    settings: Settings,
    lake: Lake,
    source: Source,
    options: ImportOptions,
    *,
    accepts_vanished: bool = False,
    rehearsed_in: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Import:
    """An import into the inbox, by the holder of the writer lock; or, of which nothing stays, into another folder.

    Raises UserError where what was seen of stores cannot be read.
    """
    is_kept = rehearsed_in is None
    adapter, seen = source.adapter, None
    if is_store(source):
        kept = {"is_kept": is_kept, "accepts_vanished": accepts_vanished}
        seen = SeenFile(lake, settings.inbox, adapter.name, adapter.version, **kept)
    cursors = Cursors(lake.root, source.name, options.as_state(adapter)) if is_kept else None
    earlier = partial(earlier_readings, lake, adapter)
    return Import(adapter, rehearsed_in or settings.inbox, options, cursors, progress, seen, earlier)


def project_map(path: str | None) -> Mapping[str, str]:
    """Projects by directory, of a TOML file. Raises WrongUsageError where it is none."""
    if path is None:
        return {}
    try:
        stated = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the project map {path} cannot be used: {error}"
        raise WrongUsageError(message) from error
    wrong = next((name for name, project in stated.items() if not isinstance(project, str)), None)
    if wrong is not None:
        message = f'the project map {path} cannot be used: write "FOLDER" = "PROJECT" for {wrong!r}'
        raise WrongUsageError(message)
    return stated
