"""How delivered files are read: by the mapping that a command or a declaration names, with or without unknown fields.

Declared mappings are `mappings/NAME.toml` in the home; one with a `match` is for files of the inbox so named.
A file that two of them match, or one that cannot be read, stays in the inbox, and it is said once why.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from slowwave.flows.kernel.errors import UserError, WrongUsageError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count, quote_shortened
from slowwave.flows.land.inbox import Delivery
from slowwave.flows.land.received_files import is_received
from slowwave.transforms.landing.delivered_rows import is_import
from slowwave.transforms.landing.mapping.rules import (
    AS_TAKEN_IN,
    OF_IMPORT,
    FieldMapping,
    MappingError,
    ReadingOptions,
    declared_mapping,
    mapping_of_options,
)

SUFFIX = ".toml"


@dataclass(frozen=True)
class Readings:
    """The reading of every file: `chosen` by a command, else that of the mapping that matches its name in the inbox.

    `faults`: what is wrong with mappings that cannot be used, each with the files it would be for (None: any, perhaps).
    """

    chosen: FieldMapping | None = None
    keeps_unknown: bool = False
    matching: tuple[FieldMapping, ...] = ()
    faults: tuple[tuple[str, str | None], ...] = ()

    def of(self, source: str, *, from_inbox: bool = True) -> ReadingOptions:
        """How a file is read; `source`: its path, of a file of the inbox its name."""
        if from_inbox and is_import(source):
            return OF_IMPORT
        if from_inbox and is_received(source):
            return AS_TAKEN_IN
        mapping = self.chosen
        if mapping is None and from_inbox:
            named = self._matching(PurePath(source).name)
            mapping = named[0] if len(named) == 1 else None
        keeps = self.keeps_unknown or (mapping is not None and mapping.keeps_unknown)
        return ReadingOptions(mapping, keeps)

    def _matching(self, name: str) -> list[FieldMapping]:
        return [mapping for mapping in self.matching if fnmatchcase(name, mapping.match)]

    def to_land(self, deliveries: Sequence[Delivery]) -> tuple[list[Delivery], list[str]]:
        """The deliveries that can be read in one way, and why others stay where they are, each reason once."""
        if self.chosen is not None:
            return list(deliveries), []
        clear: list[Delivery] = []
        stay: defaultdict[str, list[str]] = defaultdict(list)
        for delivery in deliveries:
            why = self._why_not(delivery.source) if delivery.from_inbox else ""
            if why:
                stay[why].append(delivery.source)
            else:
                clear.append(delivery)
        return clear, [_describe_waiting_files(names, why) for why, names in stay.items()]

    def _why_not(self, source: str) -> str:
        if is_import(source) or is_received(source):
            return ""
        for why, match in self.faults:
            if match is None or fnmatchcase(source, match):
                return why
        named = self._matching(source)
        if len(named) <= 1:
            return ""
        both = " and ".join(f"{mapping.name} ({mapping.match})" for mapping in named)
        return f"the mappings {both} match the same files: make one of them narrower"


def _describe_waiting_files(names: list[str], why: str) -> str:
    if len(names) == 1:
        return f"{names[0]} stays where it is: {why}"
    return f"{format_count(len(names), 'file')}, such as {names[0]}, stay where they are: {why}"


def home_readings(settings: Settings) -> Readings:
    """How files are read where no command says more. Raises UserError where `settings.toml` cannot be understood."""
    matching: list[FieldMapping] = []
    faults: list[tuple[str, str | None]] = []
    for path in sorted(settings.mappings.glob(f"*{SUFFIX}")) if settings.mappings.is_dir() else []:
        try:
            mapping = _read_mapping(path)
        except UserError as error:
            faults.append((str(error), _stated_match(path)))
        else:
            matching += [mapping] if mapping.match else []
    return Readings(None, keeps_unknown(settings), tuple(matching), tuple(faults))


def command_readings(settings: Settings, options: Sequence[str], name: str | None, *, as_is: bool) -> Readings:
    """How files are read by `land --map …`, `--mapping NAME` and `--as-is`.

    Raises WrongUsageError for options that cannot be meant, UserError for a mapping that cannot be read.
    """
    if options and name is not None:
        message = "--map and --mapping cannot be given together: add the field to the mapping"
        raise WrongUsageError(message)
    try:
        chosen = mapping_of_options(options) if options else None
    except MappingError as error:
        message = f"--map: {error}"
        raise WrongUsageError(message) from error
    home = home_readings(settings)
    if name is not None:
        chosen = _find_mapping(settings, name)
    return Readings(chosen, as_is or home.keeps_unknown, home.matching, home.faults)


def mapping_path(settings: Settings, name: str) -> Path:
    """Where the mapping of this name is. Raises WrongUsageError where that is no name."""
    if not name or name.startswith(".") or not all(char.isalnum() or char in "-_." for char in name):
        message = f"{quote_shortened(name)} is no name of a mapping: use letters, digits, - and _, such as app"
        raise WrongUsageError(message)
    return settings.mappings / f"{name}{SUFFIX}"


def _find_mapping(settings: Settings, name: str) -> FieldMapping:
    path = mapping_path(settings, name)
    if not path.is_file():
        there = sorted(path.stem for path in settings.mappings.glob(f"*{SUFFIX}"))
        others = f"there are {', '.join(there)}" if there else "there are none yet: `slowwave mapping suggest FILE`"
        message = f"there is no mapping {quote_shortened(name)} in {settings.mappings}: {others}"
        raise UserError(message)
    return _read_mapping(path)


def _read_mapping(path: Path) -> FieldMapping:
    try:
        return declared_mapping(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, MappingError) as error:
        message = f"{path} cannot be used: {error}"
        raise UserError(message) from error
    except RecursionError as error:
        message = f"{path} cannot be used: it nests too deeply"
        raise UserError(message) from error


def _stated_match(path: Path) -> str | None:
    """Which files a mapping that cannot be used says it is for; None where that is not known: it may be any."""
    try:
        match = tomllib.loads(path.read_text(encoding="utf-8")).get("match", "")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return None
    return match if isinstance(match, str) else None


def keeps_unknown(settings: Settings) -> bool:
    """Whether rows land with fields that the contract does not know. Raises UserError where that cannot be told."""
    stated = settings.read_section("landing", {"unknown"}, is_alone=True).get("unknown", "refuse")
    if stated not in ("refuse", "keep"):
        message = f'{settings.settings_file} cannot be used: [landing] unknown is "refuse" or "keep"'
        raise UserError(message)
    return stated == "keep"
