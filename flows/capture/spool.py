"""The receiver's files in the inbox: each durable before it counts, and merged before there are too many.

They are merged aside, for to let go of hundreds of files may take a second that no post should wait.
"""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from slowwave.flows.kernel.access.private_files import write_private
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.store import make_durable_folder
from slowwave.flows.land.received.file_names import Lane, ReceivedFile, received_files
from slowwave.flows.land.received.merging import merge

MOST_FILES = 1_000
_MERGED_AT = 500
_WAITED_FOR_AT = 900


class Spool:
    """Writes files of one home; the only one who does, and from one thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        make_durable_folder(settings.inbox)
        for left in settings.inbox.glob(".capture-*.tmp"):  # of a receiver that was killed, which nobody was answered
            left.unlink(missing_ok=True)
        found = received_files(settings.inbox)
        # later than any that is there, whatever the clock says: no file takes another's name
        self._number = max([time.time_ns() // 1000, *(file.last + 1 for file in found)])
        self._count = len(found)
        self._merging: threading.Thread | None = None

    def write(self, lane: Lane, lines: Sequence[bytes]) -> None:
        """Lines as one file, durable when this returns. Raises OSError as the disk does: then there is none."""
        if self._count >= _MERGED_AT:
            self._make_room()
        file = ReceivedFile(self._settings.inbox, "capture", lane, self._number, self._number)
        self._number += 1
        write_private(file.path, lines)
        self._count += 1

    def waiting(self) -> int:
        """How many files wait to be landed. Raises OSError."""
        return len(received_files(self._settings.inbox))

    def close(self) -> None:
        """End what is being merged."""
        if self._merging is not None:
            self._merging.join()

    def _make_room(self) -> None:
        """Have files merged; wait for it only where soon no more could be written."""
        waits = self._count >= _WAITED_FOR_AT
        if self._merging is None:
            self._merging = threading.Thread(
                target=self._merge, args=(self._number, waits), name="slowwave-merge", daemon=True
            )
            self._merging.start()
        if waits:
            self._merging.join()
        if self._merging.is_alive():
            return
        self._merging = None
        self._count = sum(file.stage == "capture" for file in received_files(self._settings.inbox))
        if self._count >= MOST_FILES:
            message = "too much waits in the inbox: it must be landed first"
            raise OSError(errno.EDQUOT, message)

    def _merge(self, before: int, waits: bool) -> None:
        with suppress(OSError):  # no room to merge may still be room for a small file
            merge(self._settings, before=before, waits=waits)
