"""Which files the lake holds, inferred from their names alone: nothing is opened, and nothing slow is loaded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.storage.storage import storage_of

# The format of a lake: which columns its files may have.
#
# 1: of the first release.
# 2: tables of the lake may have columns `since=2`, and `day_inputs` says which columns an evidence partition was last
#    found to fit.
# 3: memories have scope, user_id, category, domain, source and tags, which stood in `extra`; eligibility says of which
#    agent and user it is.
# 4: `day_inputs` says which partition of each evidence table was used, where its name is not the day's fingerprint.
# 5: interactions have memories_cited, outcomes basis and basis_method, which stood in `extra`; evidence says what
#    answers cite.
# 6: something was taken out of the lake for good: rows that were erased, which an earlier release would land again, or
#    texts, which it would look for in vain. Runs say from which day on there are texts. A lake of which nothing was
#    taken stayed at 5.
# 7: memories have expires_at and parent_id, which stood in `extra`; evidence says how many quotes the prompt said.
#
# A column that is new in the lake says `since=` the next number, which is then described here.
LAKE_FORMAT = 7
# Of a lake of which nothing was taken.
WHOLE_FORMAT = 7


_DAY = re.compile(r"day=(\d{4}-\d{2}-\d{2})$")
_FORMAT = re.compile(r"([1-9]\d{0,8})(?: from ([1-9]\d{0,8}))?", re.ASCII)
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


@dataclass(frozen=True)
class LakeFormat:
    """A lake's format, and the one it is being brought up from (the same, when that is done)."""

    number: int
    since: int


def check_format(root: Path) -> LakeFormat | None:
    """What the lake's `FORMAT` says; None where there is no lake.

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
    written = _FORMAT.fullmatch(text)
    if written is None:
        message = (
            f"the lake {root} is damaged: its file FORMAT says {text[:20]!r}, and no release writes that "
            f"(nothing was changed): restore the file; lakes of this slowwave have {LAKE_FORMAT} in it"
        )
        raise UserError(message)
    return LakeFormat(int(written[1]), int(written[2] or written[1]))


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
