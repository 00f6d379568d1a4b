"""What the lake and the publish need of a file system, tried out in a folder that is removed at once."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from slowwave.flows.kernel.store import TEMPORARY, fsync_path

PROBE_PREFIX = ".doctor-"


def missing_abilities(folder: Path) -> list[str]:
    """What the file system under `folder` cannot do, each as a verb with the system's reason; [] when it will do.

    Raises OSError when nothing can be written there.
    """
    missing = []
    # Named as half-written files are, so that what a killed doctor leaves is cleared with them.
    with tempfile.TemporaryDirectory(prefix=PROBE_PREFIX, suffix=TEMPORARY, dir=folder) as probe:
        for ability, tries in _ABILITIES.items():
            try:
                tries(Path(probe))
            except OSError as error:
                missing.append(f"{ability} ({error.strerror or error})")
    return missing


def _replace_a_file(probe: Path) -> None:
    old, new = probe / "old", probe / "new"
    old.write_bytes(b"old")
    new.write_bytes(b"new")
    fsync_path(new)
    new.replace(old)


def _replace_a_symbolic_link(probe: Path) -> None:
    link, aside = probe / "link", probe / "aside"
    link.symlink_to("one")
    aside.symlink_to("two")
    aside.replace(link)


def _keep_a_second_writer_out(probe: Path) -> None:
    path = probe / "lock"
    path.touch()
    with path.open("rb") as first, path.open("rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
    message = "two had the lock at once"
    raise OSError(message)


_ABILITIES: dict[str, Callable[[Path], None]] = {
    "flush and replace a file": _replace_a_file,
    "replace a symbolic link": _replace_a_symbolic_link,
    "flush a folder": fsync_path,
    "keep a second writer out with a lock": _keep_a_second_writer_out,
}


def nearest_folder(path: Path) -> Path:
    """The path itself where it is there, else the nearest folder above it that is."""
    return next(above for above in (path, *path.parents) if above.exists())


def can_be_written(path: Path) -> bool:
    """Whether the system lets this user write to a file, or make files in a folder; nothing is tried."""
    return os.access(path, os.W_OK | (os.X_OK if path.is_dir() else 0))
