"""Which files the paths of a command name."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.land.inbox import Delivery

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".zip")
PACKED_SUFFIXES = (".gz", ".zst")


def path_deliveries(paths: Sequence[str]) -> list[Delivery]:
    """The files that paths, folders, globs and `-` (standard input) name, sorted within each.

    Of a folder, what ends in .jsonl, .ndjson, .json, .csv, .tsv, .parquet or .zip, also with .gz or .zst, at any depth.
    Raises UserError for a path that is not there or cannot be read.
    """
    found: list[Delivery] = []
    for given in paths:
        if given == "-":
            found.append(Delivery("-", None))
            continue
        if not given:
            message = "an empty path was given: name a file, a folder or a glob, or give none to land the inbox"
            raise UserError(message)
        path = Path(given)
        try:
            if path.is_dir():
                found += [Delivery(str(file), file) for file in _files_below(path)]
                continue
            if path.exists():
                found.append(Delivery(given, path))
                continue
        except OSError as error:
            message = f"{given} cannot be read: {error.strerror}"
            raise UserError(message) from error
        matched = [Path(name) for name in sorted(glob.glob(given, recursive=True))]  # noqa: PTH207 - absolute globs too
        if not matched:
            message = f"{given}: no such file, folder or match"
            raise UserError(message)
        for match in matched:
            files = _files_below(match) if match.is_dir() else [match]
            found += [Delivery(str(file), file) for file in files]
    return found


def _files_below(folder: Path) -> list[Path]:
    def fail(error: OSError) -> None:
        message = f"{error.filename} cannot be read: {error.strerror}"
        raise UserError(message)

    found = []
    for root, folders, names in os.walk(folder, onerror=fail):
        folders.sort()
        for name in names:
            plain = name.lower()
            for packed in PACKED_SUFFIXES:
                plain = plain.removesuffix(packed)
            path = Path(root) / name
            # a broken link is listed, to be reported; a pipe or device, or a link to one, would never end
            if plain.endswith(SUFFIXES) and not name.startswith(".") and (path.is_file() or not path.exists()):
                found.append(path)
    return sorted(found)
