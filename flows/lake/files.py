"""Which files the lake holds, inferred from their names alone: nothing is opened, and nothing slow is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.storage import storage_of

# The format of a lake: which columns its files may have. Releases had 1 and 7; a lake with a number between them was
# written between two releases, and is read as one of 1 is.
#
# 1: of the first release.
# 7: tables of the lake may have columns of a later format, which stood in `extra`; `day_inputs` says which columns
#    an evidence partition was last found to fit, and which was used; rows and texts may have been taken out for good.
#
# A column that is new in the lake says `since=` the next number, which is then described here.
LAKE_FORMAT = 7

# What `FORMAT` begins with until all files of a backup are there; behind it stands which.
RESTORING = "restoring "

_DAY = re.compile(r"day=(\d{4}-\d{2}-\d{2})$")
_FORMAT = re.compile(r"([1-9]\d{0,8})(?: from [1-9]\d{0,8})?", re.ASCII)  # `from`: of an upgrade that was killed
_NUMBER = re.compile(r"\d{1,9}(?!\d)", re.ASCII)  # what a later release writes after it is not known
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class LakeFile:
    """One Parquet file of one day."""

    day: date
    path: Path

    @property
    def size(self) -> int:
        """Its bytes."""
        return storage_of(self.path).size(self.path)

    @property
    def changed_at(self) -> float:
        """When it was written, in seconds since 1970."""
        return storage_of(self.path).changed_at(self.path)

    @property
    def newest_us(self) -> int:
        """The newest instant its rows mention. Raises UserError when somebody else has named it."""
        try:
            return int(self.path.stem.split("-", 1)[1])
        except (IndexError, ValueError):
            message = f"{self.path} is not named as files of the lake are: move it out of the lake"
            raise UserError(message) from None


def microseconds(instant: datetime) -> int:
    """Epoch microseconds of a naive UTC datetime."""
    return (instant - _EPOCH) // _MICROSECOND


def check_format(root: Path) -> int | None:
    """Return the number in the lake's `FORMAT`; None where there is no lake.

    Raises UserError when the lake was written by a newer version, or the file is damaged.
    """
    marker = root / "FORMAT"
    try:
        text = storage_of(marker).read(marker).decode(errors="backslashreplace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    number = _NUMBER.match(text)
    if number is not None and int(number[0]) > LAKE_FORMAT:
        message = (
            f"the lake {root} has format {text[:20]!r}, this slowwave reads up to {LAKE_FORMAT}: "
            "upgrade slowwave (nothing was changed)"
        )
        raise UserError(message)
    if text.startswith(RESTORING):
        message = f"the lake {root} is being restored, or that was stopped: run `slowwave restore` again to end it"
        raise UserError(message)
    written = _FORMAT.fullmatch(text)
    if written is None:
        message = (
            f"the lake {root} is damaged: its file FORMAT says {text[:20]!r}, and no release writes that "
            f"(nothing was changed): restore the file; lakes of this slowwave have {LAKE_FORMAT} in it"
        )
        raise UserError(message)
    return int(written[1])


def files_by_day(root: Path, table: str) -> dict[date, list[LakeFile]]:
    """Every file of a table by day, days and names sorted."""
    folder = root / table
    storage = storage_of(folder)
    found: dict[date, list[LakeFile]] = {}
    for name in storage.folders(folder):
        day = _day(name)
        if day is not None:
            paths = [path for path in storage.files(folder / name) if path.suffix == ".parquet"]
            if paths:
                found[day] = [LakeFile(day, path) for path in paths]
    return found


def folders_of_no_day(root: Path, table: str) -> list[Path]:
    """Folders of a table that are named like a day and are none: what is in them is not read."""
    folder = root / table
    return [folder / name for name in storage_of(folder).folders(folder) if _DAY.search(name) and _day(name) is None]


def _day(name: str) -> date | None:
    """The day that a folder's name tells; None for a folder that is none of ours."""
    match = _DAY.search(name)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None
