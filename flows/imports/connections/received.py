"""What the receiver took in becomes deliveries: its files are claimed, and OTLP is imported, before the inbox lands.

A trace may still grow: files with one whose topmost span has not come are read again, for an hour after they came. What
was imported of traces is kept for some days (`kept_parts`), so that later spans are read together with earlier ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.flows.imports.units import shown_name
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.land.inbox import Delivery, inbox_deliveries, inbox_otlp
from slowwave.flows.land.received.merged import claim
from slowwave.flows.land.received.names import is_unclaimed

if TYPE_CHECKING:
    from slowwave.flows.imports.importing import ImportReport

_GROWS_SECONDS = 3600.0


def received_deliveries(
    settings: Settings, told: Callable[[str], None], *, ends_traces: bool = False
) -> list[Delivery]:
    """What is to land of the inbox; `told` of what could not be imported, which stays there.

    `ends_traces`: no trace is waited for, so that nothing stays that could be read.

    The caller holds the writer lock. Raises OSError as our own disk does.
    """
    claim(settings)
    now = time.time()
    files = [file for file in inbox_otlp(settings.inbox) if not is_unclaimed(file.name)]
    if ends_traces:
        for file in files:
            with suppress(PermissionError):  # what is another user's waits for its hour
                os.utime(file, (now - _GROWS_SECONDS, now - _GROWS_SECONDS))
    if files:  # loads what imports, which a home without any does not need
        is_old = {file: now - file.stat().st_mtime >= _GROWS_SECONDS for file in files}
        for are_old in (True, False):
            some = [file for file in files if is_old[file] == are_old]
            if some:
                _take(settings, some, told)
    # what came since waits for the next landing: the receiver may merge it while this one reads
    return [one for one in inbox_deliveries(settings.inbox) if not is_unclaimed(one.source)]


def _take(settings: Settings, files: Sequence[Path], told: Callable[[str], None]) -> None:
    """Import some files, and remove them, unless a trace in them is open or they cannot be read."""
    from slowwave.transforms.imports.otlp.adapter import OPEN

    try:
        report = _imported(settings, files)
    except UserError as error:
        told(str(error))
        return
    for fault in report.faults:
        told(fault)
    named = {file: any(shown_name(file) in fault for fault in report.faults) for file in files}
    if report.tally.left_out[OPEN] or (report.faults and not any(named.values())):
        return
    for file in files:
        if not named[file]:
            file.unlink(missing_ok=True)


def _imported(settings: Settings, files: Sequence[Path]) -> ImportReport:
    from slowwave.flows.imports.importer import found_by, source_settings
    from slowwave.flows.imports.importing import Import, ImportOptions
    from slowwave.flows.imports.otlp import OTLP

    options = ImportOptions(settings=source_settings(settings, OTLP.name))
    found = found_by(settings, OTLP, files, options)
    return Import(OTLP.adapter, settings.inbox, options).run(found)
