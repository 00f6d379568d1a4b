"""What a mapping is: from which name or path of a row, or from which constant, a field of the contract is had."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.landing.mapping.contract import MAPPABLE

MOST_PARTS = 32
_MOST_VERSION = 2**31
_KEYS = ("version", "match", "fill", "unknown", "explode", "where", "fields")


class MappingError(ValueError):
    """A mapping makes no sense; the message says where and what to do."""


@dataclass(frozen=True)
class Rule:
    """One field of the contract: from the value at `path` in a row, or the same `constant` for every row (no path)."""

    field: str
    path: str = ""
    constant: Any = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the path, from the outermost on; none of a constant."""
        return tuple(self.path.split(".")) if self.path else ()


@dataclass(frozen=True)
class Condition:
    """What stands at `path` is one of `values` (or none of them); '' is what a row has that lacks it."""

    path: str
    values: tuple[Any, ...]
    is_negated: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the path, from the outermost on."""
        return tuple(self.path.split("."))


@dataclass(frozen=True)
class FieldMapping:
    """Rules, each of another field; of a declared mapping also its name, version, and the files it is for.

    `keeps_unknown`: rows that lack a field and have it under another name are landed as they are. `fills`: a field that
    a row has already stays as it is. `explode`: the path of a list of which each element, or turn, is a row of its own.
    `where`: what a delivered row must meet; others are left out.
    """

    rules: tuple[Rule, ...]
    name: str = ""
    version: int = 1
    match: str = ""
    keeps_unknown: bool = False
    fills: bool = False
    explode: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class ReadingOptions:
    """How the rows of a file are read: through which mapping, if any, and whether they land as they are on purpose.

    `is_import`: an import wrote the file; its unknown fields are ours, and lines in it may say what was refused.
    """

    mapping: FieldMapping | None = None
    keeps_unknown: bool = False
    is_import: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names of fields that rows may have for the mapping's sake."""
        if self.mapping is None:
            return frozenset()
        paths = [rule.parts for rule in self.mapping.rules] + [one.parts for one in self.mapping.where]
        stated = [path for path in (*paths, self.mapping.explode) if path]
        return frozenset({".".join(path) for path in stated} | {path[0] for path in stated})


AS_DELIVERED = ReadingOptions()
OF_IMPORT = ReadingOptions(keeps_unknown=True, is_import=True)
# The receiver has mapped such rows, and refused those that the settings refuse, before it answered.
AS_TAKEN_IN = ReadingOptions(keeps_unknown=True)


def rules_of_options(options: Iterable[str]) -> tuple[Rule, ...]:
    """The rules that texts `FIELD=NAME` state; `FIELD==TEXT` gives every row the same text.

    Raises MappingError for an unknown or repeated field, and for a text that names nothing.
    """
    return _distinct([_rule_of_option(option) for option in options])


def mapping_of_options(options: Iterable[str]) -> FieldMapping:
    """The mapping that texts state: `FIELD=NAME`, `explode=PATH`, and `where=PATH==TEXT` or `where=PATH!=TEXT`.

    Raises MappingError as `rules_of_options`, and for a list or a condition that cannot be understood.
    """
    fields: list[str] = []
    explode: tuple[str, ...] = ()
    where: list[Condition] = []
    for option in options:
        name, _, stated = option.partition("=")
        if name == "explode":
            if explode:
                message = "explode is stated twice: one list makes the rows"
                raise MappingError(message)
            explode = _path("explode", stated)
        elif name == "where":
            where.append(_condition_of_option(stated))
        else:
            fields.append(option)
    return FieldMapping(rules_of_options(fields), explode=explode, where=tuple(where))


def _condition_of_option(stated: str) -> Condition:
    for sign, is_negated in (("!=", True), ("==", False)):
        path, found, text = stated.partition(sign)
        if found and path:
            return Condition(".".join(_path("where", path)), (text,), is_negated)
    message = (
        f"where={stated!r} is no condition: write where=PATH==TEXT or where=PATH!=TEXT, such as where=status==done"
    )
    raise MappingError(message)


def _rule_of_option(option: str) -> Rule:
    name, equals, stated = option.partition("=")
    if not equals or not stated:
        message = f"{option!r} is no mapping: write FIELD=NAME, such as response=completion, or FIELD==TEXT"
        raise MappingError(message)
    is_constant = stated.startswith("=")
    return _rule(name, {"constant": stated[1:]} if is_constant else stated)


def declared_mapping(name: str, stated: Mapping[str, Any]) -> FieldMapping:
    """The mapping that a file `NAME.toml` states: `version`, `match`, `fill`, `unknown` and the table `fields`.

    Raises MappingError where it cannot be understood.
    """
    unknown = next((key for key in stated if key not in _KEYS), None)
    if unknown is not None:
        message = f"nothing is called {unknown!r} there: a mapping has {', '.join(_KEYS)}"
        raise MappingError(message)
    version, match = stated.get("version"), stated.get("match", "")
    if isinstance(version, bool) or not isinstance(version, int) or not 0 < version < _MOST_VERSION:
        message = "version must be a whole number from 1 on: every row that it lands says which"
        raise MappingError(message)
    if not isinstance(match, str) or ("match" in stated and not match) or "/" in match:
        message = 'match must be a pattern of names of files in the inbox, such as "app-*.jsonl"'
        raise MappingError(message)
    if stated.get("unknown", "refuse") not in {"refuse", "keep"}:
        message = 'unknown must be "keep" or "refuse"'
        raise MappingError(message)
    fills = stated.get("fill", False)
    if not isinstance(fills, bool):
        message = "fill must be true (a field that a row has stays) or false (the mapped value replaces it)"
        raise MappingError(message)
    fields = stated.get("fields")
    if not isinstance(fields, dict) or not fields:
        message = 'fields must be a table such as [fields] with response = "completion"'
        raise MappingError(message)
    rules = _distinct([_rule(field, value) for field, value in fields.items()])
    return FieldMapping(
        rules,
        name,
        version,
        match,
        keeps_unknown=stated.get("unknown") == "keep",
        fills=fills,
        explode=_path("explode", stated["explode"]) if "explode" in stated else (),
        where=_conditions(stated.get("where", {})),
    )


def _path(name: str, stated: object) -> tuple[str, ...]:
    parts = tuple(stated.split(".")) if isinstance(stated, str) else ()
    if not all(parts) or not 0 < len(parts) <= MOST_PARTS:
        message = f'{name} must name a field by a path of {MOST_PARTS} names at most, such as "messages"'
        raise MappingError(message)
    return parts


def _conditions(stated: object) -> tuple[Condition, ...]:
    if not isinstance(stated, dict):
        message = 'where must be a table such as [where] with status = "done"'
        raise MappingError(message)
    return tuple(_condition(path, wanted) for path, wanted in stated.items())


def _condition(path: str, wanted: object) -> Condition:
    is_negated = isinstance(wanted, dict) and set(wanted) == {"not"}
    values = wanted["not"] if isinstance(wanted, dict) and is_negated else wanted
    listed = values if isinstance(values, list) else [values]
    if not listed or not all(isinstance(value, (str, int, float)) for value in listed):
        message = f'where {path} must be a text, number or boolean, a list of these, or {{ not = "TEXT" }}'
        raise MappingError(message)
    return Condition(".".join(_path("where", path)), tuple(listed), is_negated)


def _rule(field: str, stated: object) -> Rule:
    if field not in MAPPABLE:
        message = (
            f"the contract has no field {field!r}{_near(field)}: `slowwave inspect schema interactions` lists them"
        )
        raise MappingError(message)
    if isinstance(stated, dict) and set(stated) == {"constant"} and stated["constant"] is not None:
        return Rule(field, constant=stated["constant"])
    if not isinstance(stated, str) or not stated:
        message = f'{field} must be a name or a path such as "output.text", or {{ constant = "TEXT" }}'
        raise MappingError(message)
    rule = Rule(field, stated)
    if len(rule.parts) > MOST_PARTS:
        message = f"the path for {field} has more than {MOST_PARTS} names"
        raise MappingError(message)
    return rule


def _near(field: str) -> str:
    near = difflib.get_close_matches(field[:100], MAPPABLE, 1)
    return f" (is it {near[0]}?)" if near else ""


def _distinct(rules: list[Rule]) -> tuple[Rule, ...]:
    fields = [rule.field for rule in rules]
    twice = next((field for field in fields if fields.count(field) > 1), None)
    if twice is not None:
        message = f"{twice} is mapped twice: a field has one source"
        raise MappingError(message)
    return tuple(rules)
