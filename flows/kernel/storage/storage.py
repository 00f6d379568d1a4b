"""What the lake asks of the place it is kept in. A file goes by its path, also where that place is no folder.

Files are whole or absent, and come to be known by `write` alone. Most never change once they are there; those that do
(the ledger's row of a run that goes on, notes) are replaced whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from slowwave.flows.kernel.storage.folder import Folder, Range


class Storage(Protocol):
    """All paths lie below the lake's folder, or below the one that a bucket is mounted at.

    What fails raises OSError: FileNotFoundError for a file that is not there, else with what to do.
    """

    def folders(self, folder: Path) -> list[str]:
        """The names of what lies in a folder and may be a folder, sorted; none where there is no such folder."""
        ...

    def files(self, folder: Path) -> list[Path]:
        """The files right in a folder, by name, without those that are being written."""
        ...

    def is_folder(self, folder: Path) -> bool:
        """Whether there is such a folder; in a bucket, whether anything is in it."""
        ...

    def exists(self, path: Path) -> bool:
        """Whether a file is there."""
        ...

    def size(self, path: Path) -> int:
        """Bytes of a file."""
        ...

    def changed_at(self, path: Path) -> float:
        """When a file was written, in seconds since 1970, by the clock of where it is kept."""
        ...

    def on_disk(self, paths: Sequence[Path]) -> list[Path]:
        """Files on a disk with what these hold, one for each, to be read alone: they themselves, or copies."""
        ...

    def ranges_on_disk(self, path: Path, ranges: Sequence[Range]) -> Path:
        """A file on a disk as long as this one, to be read alone, with the same in these ranges at least.

        `ranges`: from a byte on, and before another.
        """
        ...

    def read(self, path: Path) -> bytes:
        """What a file holds now."""
        ...

    def write(self, path: Path, write: Callable[[Path], object]) -> None:
        """Let `write` fill a file aside, then put it in place of `path`: durable, and never seen half-written."""
        ...

    def remove(self, paths: Iterable[Path]) -> None:
        """Take away files that nothing needs any more; of those that are gone nothing is said."""
        ...

    def purge(self) -> None:
        """Let what was removed be gone at once, for it is to be erased: else a bucket keeps it for a day."""
        ...

    def clear(self, folder: Path) -> None:
        """Take away what was left half-written below a folder by who was killed."""
        ...


_FOLDER = Folder()
_mounted: dict[Path, Storage] = {}


def storage_of(path: Path) -> Storage:
    """What keeps the file of this path, or the folder."""
    for folder, storage in _mounted.items():
        if path.is_relative_to(folder):
            return storage
    return _FOLDER


def on_disk(paths: Sequence[Path]) -> list[Path]:
    """`Storage.on_disk` of files that may be kept in several places."""
    if not _mounted:
        return list(paths)
    kept = [storage_of(path) for path in paths]
    copies = {
        storage: iter(storage.on_disk([path for path, one in zip(paths, kept, strict=True) if one is storage]))
        for storage in set(kept)
    }
    return [next(copies[storage]) for storage in kept]


def mount(folder: Path, storage: Storage) -> None:
    """From now on, what lies below `folder` is kept by `storage`."""
    _mounted[folder] = storage
