"""What an adapter is, what it is told, and what it makes of the records of another program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol, runtime_checkable

from slowwave.transforms.imports.forks import Outline
from slowwave.transforms.imports.projects import last_folder
from slowwave.transforms.imports.seen import Before

Record = Mapping[str, Any]
# The number of a record that an earlier import kept and that is read again.
AGAIN = -1


class Located(NamedTuple):
    """A record, and where it stands in its unit, from 1: for messages to people, never part of a row."""

    number: int
    record: Record


@dataclass(frozen=True)
class Row:
    """A row for landing under the contract's names; what the contract does not know lands in `extra`.

    Ids are the producer's own, with the adapter's name before. `recorded_at` is when the producer's last record of the
    row was written. Nothing in it may differ from one reading to the next: no path of a file, no host, no import time
    (but of a store that keeps no time of a change: when it was seen, once).
    `record_ids` are the producer's ids of its first and last record.
    """

    fields: dict[str, Any]
    record_ids: tuple[str, str] | None = None
    client_version: str = ""


@dataclass(frozen=True)
class Refused:
    """A record that should have made a row, and cannot: it is quarantined with the reason."""

    number: int
    reason: str
    raw: str


@dataclass(frozen=True)
class LeftOut:
    """Records that make no row on purpose, by sort, such as `a command of the client's own`; counted and listed.

    `is_settled`: nothing is missing for it: its rows have landed before, come later, or nobody asked for them.
    """

    sort: str
    count: int = 1
    example: str = ""
    is_settled: bool = False


@dataclass(frozen=True)
class Undecided:
    """What is not done without a person's word, in a sentence that says what to do: a warning, never a row."""

    said: str


@dataclass(frozen=True)
class Repaired:
    """What was read otherwise than it stands, such as half a character that became U+FFFD; counted and listed."""

    sort: str
    count: int = 1


Made = Row | Refused | LeftOut | Undecided | Repaired


@dataclass(frozen=True)
class Context:
    """What an adapter is told besides the records.

    `project_of` gives the project of a working directory or of what else the producer has instead. `is_idle`: the unit
    has not been written to for an hour, so that its last turn is over; so is a turn that ended before `rested_before`,
    for the copy of an old unit is a new file. `infers`: outcomes are inferred. `options` are those of the adapter's
    section of `settings.toml`, `[imports.NAME]`. `before`: of a store, what was seen last time.
    """

    project_of: Callable[[str], str] = last_folder
    is_idle: bool = True
    infers: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    before: Before | None = None
    rested_before: datetime | None = None


@runtime_checkable
class NamesKinds(Protocol):
    """An adapter that names the kinds of its records itself; the kind of another's record is its `type`."""

    def kind_of_record(self, record: Record) -> str:
        """The kind of a record for people, such as `event_msg token_count`."""
        ...


@runtime_checkable
class Forking(Protocol):
    """An adapter whose sessions can be forked, so that a turn may stand in several of them."""

    def outline(self, read: Callable[[Callable[[bytes], bool]], Iterable[Located]]) -> Outline:
        """The turns that a unit begins, those that are copies included.

        `read` gives the records of the lines that a function wants, which is asked of each line when it is its turn:
        most lines need not be decoded.
        """
        ...


class Adapter(Protocol):
    """How the records of one program become rows. `version` goes up with every change of what it makes."""

    @property
    def name(self) -> str:
        """What the source is called on the command line; ids and provenance of its rows name it."""
        ...

    @property
    def version(self) -> int:
        """Part of every row's provenance."""
        ...

    def detected(self, first: Sequence[Record]) -> str | None:
        """The producer and its version, such as `Claude Code 2.1.38`, if these first records of a unit are its.

        None where they are another program's; inferred from what the records hold, whatever the unit is called.
        """
        ...

    def made(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """What the records of one unit make, in their order, holding no more of them than a turn needs."""
        ...
