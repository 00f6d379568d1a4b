"""What is published from nothing but the landed rows and decisions of a home."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.laws.home import Home


def rebuilt_hashes(home: Home, as_of: datetime) -> dict[str, str]:
    """The hashes of one publish in a new home with the same params, evidence and earlier publishes left behind."""
    with TemporaryDirectory() as folder:
        other = Home(Path(folder) / "home")
        shutil.copytree(home.lake.root, other.lake.root, ignore=shutil.ignore_patterns("evidence", "runs"))
        shutil.copy(home.settings.params_file, other.settings.params_file)
        other.nightly(as_of)
        return other.hashes()
