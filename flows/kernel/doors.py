"""Who may look into a home: its owner alone, unless `SLOWWAVE_UMASK` lets others in.

A command takes the umask before it writes anything, so every file and folder it makes is as closed as that says. What
lies in the inbox is the producers', and an inbox that is there keeps its mode: others may be let drop files into it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.home import umask_from_environment
from slowwave.flows.kernel.settings import Settings


def home_umask() -> int:
    """The permissions that what Slowwave writes does not give. Raises UserError when `$SLOWWAVE_UMASK` is none."""
    try:
        return umask_from_environment()
    except ValueError as error:
        raise UserError(str(error)) from error


_callers: list[int] = []


@contextmanager
def home_doors() -> Iterator[None]:
    """Make files and folders as closed as a home's are, until the end; the umask is the whole process's."""
    _callers.append(os.umask(home_umask()))
    try:
        yield
    finally:
        os.umask(_callers.pop())


@contextmanager
def outside() -> Iterator[None]:
    """Within `home_doors`, make files for others again, with the umask that the user gave the command."""
    closed = os.umask(_callers[0]) if _callers else None
    try:
        yield
    finally:
        if closed is not None:
            os.umask(closed)


def make_home(home: Path) -> None:
    """Make the home folder where there is none, closed to others also where no command has taken the umask."""
    if home.is_dir():
        return
    from slowwave.flows.kernel.store import fsync_path, make_durable_folder  # loads Polars, which a reader does without

    make_durable_folder(home.parent)
    home.mkdir(mode=0o777 & ~home_umask(), exist_ok=True)
    fsync_path(home.parent)


@dataclass
class Ajar:
    """What others may do more with than they should: paths and their modes, and those that are another user's."""

    ours: list[tuple[Path, int]] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def left_ajar(settings: Settings) -> Ajar:
    """What of a home, and of its lake, is more open than `SLOWWAVE_UMASK` says.

    Only what Slowwave makes is looked at, for a home may be a folder with other files; of the inbox nothing.
    """
    found, mask = Ajar(), home_umask()
    for path in _made_by_us(settings):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(status.st_mode) or not status.st_mode & mask & 0o777:
            continue
        if status.st_uid == os.geteuid() or os.geteuid() == 0:
            found.ours.append((path, stat.S_IMODE(status.st_mode) & ~mask))
        else:
            found.others.append(path)
    return found


def close_doors(settings: Settings) -> Ajar:
    """Take from what is ajar the permissions it should not give; what is another user's is left, and returned."""
    found = left_ajar(settings)
    for path, mode in found.ours:
        path.chmod(mode)
    return found


def _made_by_us(settings: Settings) -> Iterator[Path]:
    home = settings.home
    if not home.is_dir():
        return
    yield home
    yield from (settings.home_lock_file, settings.params_file, settings.settings_file, home / "demo.json")
    yield from (settings.tokens_file, settings.capture_lock_file, settings.merge_lock_file)
    folders = [settings.lake_folder, settings.serving, home / "reports"]
    if settings.prefect_home.is_relative_to(home):
        folders.append(settings.prefect_home)
    for folder in folders:
        for root, _, names in os.walk(folder):
            yield Path(root)
            yield from (Path(root) / name for name in names)
