"""Every file of a home and of its lake looked through, decoded: where what goes still stands."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.storage.storage import storage_of
from slowwave.flows.lake.erased.decoded import decoded_texts
from slowwave.flows.lake.erased.hashes import intent_path
from slowwave.flows.lake.lake import Lake
from slowwave.flows.life.texts import Sought
from slowwave.transforms.landing.tables import LANDED


def home_files(settings: Settings, lake: Lake) -> Iterator[Path]:
    """Every file of the home and of the lake, wherever that lies, but for what says what goes, and landed rows.

    What landed is looked through by itself: rows of others may repeat what goes.
    """
    apart = {lake.root / table.name for table in LANDED}
    for root, folders, names in os.walk(settings.home):
        folders[:] = sorted(name for name in folders if Path(root, name) != lake.root)
        yield from (path for name in sorted(names) if _is_file(path := Path(root, name)))
    intent = intent_path(lake.root)
    for path in _lake_files(lake.root, apart):
        if path.parent != intent.parent or not path.name.startswith("intent."):
            yield path


def _lake_files(folder: Path, apart: set[Path]) -> Iterator[Path]:
    storage = storage_of(folder)
    for name in dict.fromkeys([*storage.folders(folder), *(path.name for path in storage.files(folder))]):
        path = folder / name
        if storage.is_folder(path):
            if path not in apart:
                yield from _lake_files(path, apart)
        elif storage.exists(path):
            yield path


def stands_in(path: Path, sought: Sought, *, named: str) -> bool:
    """Whether it stands in a file, or in its name. Raises OSError where it cannot be read."""
    if sought.match_rows([named])[0]:
        return True
    return any(sought.match_rows(texts).any() for texts in decoded_texts(path))


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return False
