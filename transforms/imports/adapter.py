"""The contract of an adapter: what it is told, what it makes of another program's records, and what a turn is.

Also the options that `settings.toml` may state of an importer, checked before anything is read, and the project of a
folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from slowwave.transforms.imports.forks import Outline
from slowwave.transforms.imports.secrets import without_home
from slowwave.transforms.imports.stores.store_state import ReadBefore

# How many days parts of traces are kept to be read together with what comes later.
KEEP_DAYS = "keep_days"


class OptionsError(ValueError):
    """An option of an importer cannot be used; the message says which, and why."""


def check_names(options: Mapping[str, Any], known: Collection[str]) -> None:
    """Raises OptionsError where an option is called what none is."""
    unknown = min(options.keys() - set(known), default=None)
    if unknown is not None:
        message = f"nothing is called {unknown!r} there; there are {', '.join(sorted(known))}"
        raise OptionsError(message)


def names_stated(options: Mapping[str, Any], option: str) -> frozenset[str]:
    """The names that an option lists; none where it is not stated. Raises OptionsError where it is no list of names."""
    stated = options.get(option, [])
    if not isinstance(stated, list) or not all(isinstance(name, str) for name in stated):
        message = f"{option} must be a list of names"
        raise OptionsError(message)
    return frozenset(stated)


def is_stated(options: Mapping[str, Any], option: str) -> bool:
    """Whether an option is stated as true. Raises OptionsError where it is neither true nor false."""
    stated = options.get(option, False)
    if not isinstance(stated, bool):
        message = f"{option} must be true or false"
        raise OptionsError(message)
    return stated


def days_stated(options: Mapping[str, Any], option: str, default: float) -> float:
    """The days that an option states. Raises OptionsError where it is no number from 0 on."""
    stated = options.get(option, default)
    if isinstance(stated, bool) or not isinstance(stated, (int, float)) or not stated >= 0:
        message = f"{option} must be a number of days, 0 or more"
        raise OptionsError(message)
    return float(stated)


def last_folder(directory: str) -> str:
    """The name of the folder itself; '' for a home folder and for a root, which are no project."""
    name = _normal_path(directory).rpartition("/")[2]
    return "" if name == "~" or name.endswith(":") else name


def projects_by(stated: Mapping[str, str]) -> Callable[[str], str]:
    """A function from directories to projects: that of the longest path stated which holds it, else `last_folder`.

    `stated` has paths of folders (`~` is the home of whoever wrote the log) or other names of the producer's.
    """
    of_path = {_normal_path(path): project for path, project in stated.items()}

    def project_of(directory: str) -> str:
        path = _normal_path(directory)
        while path:
            if path in of_path:
                return of_path[path]
            path = path.rpartition("/")[0]
        return last_folder(directory)

    return project_of


def _normal_path(path: str) -> str:
    return without_home(path.removeprefix("file://")).replace("\\", "/").rstrip("/")


# cascade: the call never ran, because another one beside it failed
CallEnd = Literal["ended", "refused", "interrupted", "cascade"]
TurnEnd = Literal["ended", "interrupted", "api_error", "open"]


class Call(NamedTuple):
    """A tool call of a turn. `command`: the shell line, '' for other tools. `output`: for rules only, never a row's."""

    call_id: str
    tool: str
    command: str = ""
    output: str = ""
    exit_code: int | None = None
    is_error: bool = False
    end: CallEnd = "ended"


@dataclass
class Turn:
    """One turn. Times are texts as landing reads them; `interaction_id` is whole, with the adapter's name before.

    `fields` are further fields of the interaction, of the contract (`tokens`, `memories_used`) or not (`git_branch`).
    `next_prompt` is what the person said next in the session, and `next_at` when; None where nothing followed.
    """

    interaction_id: str
    created_at: str
    ended_at: str
    prompt: str
    response: str = ""
    project: str = ""
    agent: str = ""
    client: str = ""
    session_id: str = ""
    end: TurnEnd = "ended"
    next_prompt: str | None = None
    next_at: str | None = None
    duration_ms: float | None = None
    calls: list[Call] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    record_ids: tuple[str, str] | None = None
    client_version: str = ""


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
    before: ReadBefore | None = None
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

    def detect_producer(self, first: Sequence[Record]) -> str | None:
        """The producer and its version, such as `Claude Code 2.1.38`, if these first records of a unit are its.

        None where they are another program's; inferred from what the records hold, whatever the unit is called.
        """
        ...

    def make_rows(self, records: Iterable[Located], context: Context) -> Iterator[Made]:
        """What the records of one unit make, in their order, holding no more of them than a turn needs."""
        ...
