"""What is known of the objects of a lake: sizes, times and tags by folder, as last listed or written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One object: bytes, when it was written (seconds since 1970, by the server's clock), and its entity tag."""

    size: int
    changed_at: float
    tag: str


class Listing:
    """Objects by folder and name."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, Entry]] = {}

    def add(self, key: str, entry: Entry) -> None:
        """Note an object, in place of what was known of it."""
        folder, _, name = key.rpartition("/")
        self._folders.setdefault(folder, {})[name] = entry

    def drop(self, key: str) -> None:
        """Forget an object."""
        folder, _, name = key.rpartition("/")
        self._folders.get(folder, {}).pop(name, None)

    def forget(self, prefix: str) -> None:
        """Forget all that lies below a folder; '': everything."""
        for folder in [folder for folder in self._folders if _is_below(folder, prefix)]:
            del self._folders[folder]

    def entry(self, key: str) -> Entry | None:
        """What is known of an object."""
        folder, _, name = key.rpartition("/")
        return self._folders.get(folder, {}).get(name)

    def names(self, folder: str) -> list[str]:
        """The objects right in a folder, sorted."""
        return sorted(self._folders.get(folder, ()))

    def folders(self, folder: str) -> list[str]:
        """The names of the folders right in a folder that hold anything, sorted."""
        start = f"{folder}/" if folder else ""
        below = (each[len(start) :] for each, held in self._folders.items() if held and each.startswith(start))
        return sorted({each.split("/", 1)[0] for each in below if each})

    def keys(self) -> Iterable[str]:
        """Every object."""
        return (f"{folder}/{name}" if folder else name for folder, held in self._folders.items() for name in held)


def _is_below(folder: str, prefix: str) -> bool:
    return not prefix or folder == prefix or folder.startswith(f"{prefix}/")
