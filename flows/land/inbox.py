"""What waits to be landed: in the inbox, and by the paths of a command."""

from __future__ import annotations

import glob
import os
import stat
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.land.received_files import is_otlp

# Names that programs give a file while they write it.
_UNFINISHED = (
    ".tmp",
    ".temp",
    ".part",
    ".partial",
    ".filepart",
    ".crdownload",
    ".download",
    ".inprogress",
    ".swp",
    "~",
)
_FRESH_SECONDS = 3600.0


@dataclass(frozen=True)
class Delivery:
    """A file to land: its path (None: standard input), and whether it is the inbox's, to be removed when landed."""

    source: str
    path: Path | None
    from_inbox: bool = False


def inbox_deliveries(inbox: Path) -> list[Delivery]:
    """What producers have dropped: whole regular files, oldest name first; not OTLP, which is imported before."""
    return [one for one in _whole_files(inbox) if not is_otlp(one.source)]


def inbox_otlp(inbox: Path) -> list[Path]:
    """Files of OTLP in the inbox, oldest name first."""
    return [one.path for one in _whole_files(inbox) if one.path is not None and is_otlp(one.source)]


def _whole_files(inbox: Path) -> list[Delivery]:
    if not inbox.is_dir():
        return []
    return [
        Delivery(entry.name, Path(entry.path), from_inbox=True)
        for entry in sorted(os.scandir(inbox), key=lambda entry: entry.name)
        if entry.is_file(follow_symlinks=False) and not _is_unfinished(entry.name) and not entry.name.startswith(".")
    ]


def passed_over(inbox: Path) -> list[str]:
    """What lies in the inbox and is not landed, counted by sort, each with an example."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for entry in sorted(os.scandir(inbox), key=lambda entry: entry.name) if inbox.is_dir() else []:
        sort = _why_not(entry)
        if sort:
            found[sort].append(os.fsencode(entry.name).decode("utf-8", "backslashreplace"))
    return [_describe_files(sort, names) for sort, names in found.items()]


def _is_unfinished(name: str) -> bool:
    return name.lower().endswith(_UNFINISHED)


def _why_not(entry: os.DirEntry[str]) -> str:
    """The sort of what is not landed; '' for what is, and for what the receiver is writing."""
    if entry.name.startswith((".capture-", ".received-")):
        return ""
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return ""
    if stat.S_ISDIR(found.st_mode):
        return "subfolder"
    if stat.S_ISLNK(found.st_mode):
        return "link"
    if not stat.S_ISREG(found.st_mode):
        return "pipe or device"
    if _is_unfinished(entry.name):
        return "fresh" if time.time() - found.st_mtime < _FRESH_SECONDS else "unfinished"
    return "hidden file" if entry.name.startswith(".") else ""


def _describe_files(sort: str, names: list[str]) -> str:
    if sort == "fresh":
        return f"{format_count(len(names), 'file')} still being written, such as {names[0]}"
    if sort == "unfinished":
        files = format_count(len(names), "file")
        why = "by the name half-written, yet unchanged for an hour: rename what is whole"
        return f"{files} in the inbox not landed, such as {names[0]}: {why}"
    many = {"pipe or device": "pipes or devices"}.get(sort, f"{sort}s")
    return f"{format_count(len(names), sort, many)} in the inbox not landed, such as {names[0]}"


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
