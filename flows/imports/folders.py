"""The files below a folder, whatever of it can be listed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from slowwave.flows.imports.units import NotImported, shown_name


def files_below(folder: Path, is_named_so: Callable[[str], bool]) -> tuple[list[Path], list[NotImported]]:
    """The files of such names below a folder, in the order of their paths, and folders in it that cannot be listed.

    Links to folders are not followed, pipes and devices are no files; one of which nothing is known may be a file.
    Raises OSError where `folder` itself cannot be listed.
    """
    found: list[Path] = []
    closed: list[OSError] = []
    for root, _, names in os.walk(folder, onerror=closed.append):
        found += [path for name in names if is_named_so(name) and _may_be_file(path := Path(root) / name)]
    if closed and Path(closed[0].filename) == folder:
        raise closed[0]
    return sorted(found), [
        NotImported(shown_name(error.filename), f"cannot be listed: {error.strerror or error}", is_fault=True)
        for error in closed
    ]


def _may_be_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:  # a link to nothing
        return False
    except OSError:
        return True
