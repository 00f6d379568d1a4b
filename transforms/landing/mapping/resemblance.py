"""Which field of the contract an unknown one is like: by its name, by a declared synonym, or by what it holds."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slowwave.transforms.core.exact_json import parse_json_text
from slowwave.transforms.core.times import EPOCH_MILLISECONDS_FROM
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.mapping.contract import FIELDS, FIELDS_OF, MAPPABLE
from slowwave.transforms.landing.mapping.messages import is_dialogue
from slowwave.transforms.landing.mapping.named_otherwise import LIKELY_NAMES, SURE_NAMES, fits, plain
from slowwave.transforms.landing.mapping.unknown_fields import UnknownField, UnknownFields

_PLAIN = {plain(name): name for name in reversed(MAPPABLE)}
_OF_MEMORIES_ALONE = FIELDS_OF["memories"] - FIELDS_OF["interactions"] - FIELDS_OF["outcomes"]
_NAME_CHARACTERS = 100
_ALIKE = 0.8
_EARLIEST_EPOCH = 946_684_800  # the year 2000: below, a number is more likely one
_ID_CHARACTERS = 64
_SENTENCE = 20


@dataclass(frozen=True)
class Likeness:
    """An unknown field at `path`, and the contract's field that it would be mapped to."""

    field: str
    path: str


def likenesses(unknown: UnknownFields) -> dict[str, Likeness]:
    """By name of unknown fields, what they are like; no field of the contract is named twice.

    What is known for sure goes first, then what is likely, then what only the values say, which is asked of fields
    that no row has, and of values that most rows have.
    """
    found: dict[str, Likeness] = {}
    taken: set[str] = set()
    fields = sorted(unknown.fields, key=lambda one: (-one.rows, one.name))
    usual = fields[0].rows / 2 if fields else 0
    for like in (_by_sure_name, _by_likely_name, _by_content):
        for one in fields:
            if one.name in found or (like is _by_content and one.rows < usual):
                continue
            allowed = _allowed_fields(one) - taken
            if like is not _by_sure_name:
                allowed -= unknown.present
            path, name = next(
                ((path, field) for path, key, samples in _leaves(one) if (field := like(key, samples, allowed))),
                ("", ""),
            )
            if name:
                found[one.name] = Likeness(name, path)
                taken.add(name)
    if "prompt" in taken | unknown.present and "memory_id" not in taken | unknown.present:
        return {name: like for name, like in found.items() if like.field not in _OF_MEMORIES_ALONE}
    return found


def _allowed_fields(one: UnknownField) -> set[str]:
    """The fields that rows of its kinds may have; of an outcome too, where the row may be made one by them."""
    kinds: set[LandedTable | None] = one.kinds
    itself = {one.name}  # where another kind has a field of this name, mapping it to that changes nothing
    if None in kinds or kinds == {"outcomes"}:
        return set(MAPPABLE) - itself - ({"changed_at"} if None in kinds else set())
    allowed = set().union(*(FIELDS_OF[kind] for kind in kinds if kind)) - {"extra"} - itself
    return allowed | (FIELDS_OF["outcomes"] - {"extra"} - itself if "interactions" in kinds else set())


def _leaves(one: UnknownField) -> list[tuple[str, str, list[Any]]]:
    """Paths at and just below a field, each with the name that counts and its values."""
    leaves = [(one.name, one.meant or one.name, one.samples)]
    objects = [sample for sample in one.samples if isinstance(sample, dict)]
    for key in dict.fromkeys(key for sample in objects for key in list(sample)[:20] if isinstance(key, str) and key):
        values = [sample[key] for sample in objects if sample.get(key) is not None]
        if values:
            leaves.append((f"{one.name}.{key}", key, values))
    return leaves


def _by_sure_name(name: str, samples: Sequence[Any], allowed: set[str]) -> str:
    known = plain(name[:_NAME_CHARACTERS])
    fields = [field for field, names in SURE_NAMES.items() if known in names]
    if known in _PLAIN:
        fields.insert(0, _PLAIN[known])
    return _fitting(fields, samples, allowed)


def _by_likely_name(name: str, samples: Sequence[Any], allowed: set[str]) -> str:
    known = plain(name[:_NAME_CHARACTERS])
    fields = [field for field, names in LIKELY_NAMES.items() if known in names]
    near = difflib.get_close_matches(known, sorted(_PLAIN), 1, _ALIKE)
    return _fitting([*fields, *(_PLAIN[each] for each in near)], samples, allowed)


def _by_content(_: str, samples: Sequence[Any], allowed: set[str]) -> str:
    likely: list[str] = []
    if all(map(_is_time, samples)):
        likely = ["created_at", "changed_at"]
    elif all(isinstance(one, list) and one and all(map(_is_id, one)) for one in samples):
        likely = ["memories_used"]
    elif all(map(_is_sentence, samples)):
        likely = ["prompt", "response"]
    return _fitting(likely, samples, allowed)


def _is_sentence(value: object) -> bool:
    """A text that somebody may have said: JSON in a text, such as settings, and a whole conversation are none."""
    if not isinstance(value, str) or " " not in value.strip() or len(value) < _SENTENCE:
        return False
    return isinstance(parse_json_text(value), str) and not is_dialogue(value)


def _is_time(value: object) -> bool:
    if isinstance(value, str):
        return len(value) >= len("2026-03-10") and value[:4].isdecimal() and value[4] == "-"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return _EARLIEST_EPOCH <= value < 2**32 or EPOCH_MILLISECONDS_FROM <= value < 2**61


def _is_id(value: object) -> bool:
    if isinstance(value, dict):
        return any(isinstance(value.get(name), str | int) for name in ("id", "memory_id"))
    return isinstance(value, str) and 0 < len(value) <= _ID_CHARACTERS and not any(map(str.isspace, value))


def _fitting(fields: Sequence[str], samples: Sequence[Any], allowed: set[str]) -> str:
    return next((field for field in fields if field in allowed and field in FIELDS and all(fits(field, samples))), "")


# The mapping that unknown fields call for, as the TOML of a file that a person then edits.

_SHOWN_CHARACTERS = 60
_SHOWN_NAMES = 50


def example(value: object, most: int = _SHOWN_CHARACTERS) -> str:
    """A delivered value as JSON, of a long one the beginning."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "nested too deeply to show"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def suggested_mapping(unknown: UnknownFields, alike: dict[str, Likeness], match: str) -> str:
    """TOML with a line per field of the contract that an unknown one is like, and a comment per field that stays.

    `match`: the names of files in the inbox that it is for; '' leaves that to whoever edits it.
    """
    lines = [
        "# Under which name, or path such as a.b, each field of the contract stands in these files.",
        "version = 1",
    ]
    if match:
        lines.append(f"match = {_toml_string(match)}  # files of the inbox, every night")
    else:
        lines.append('# match = "app-*.jsonl"  # files of the inbox, every night')
    lines.append('# unknown = "keep"  # lands rows that still lack a field as they are')
    lines += [
        f"# explode = {_toml_string(name)}  # a row per question: without it, the last question of each list lands"
        for name in unknown.with_turns[:1]
    ]
    lines += ["", "[fields]"]
    for one in unknown.fields:
        like = alike.get(one.name)
        if like is not None:
            lines.append(f"{like.field} = {_toml_string(like.path)}  # {_toml_comment(example(one.samples[0]))}")
    left = sorted((one for one in unknown.fields if one.name not in alike), key=lambda one: (-one.rows, one.name))
    if left:
        lines += ["", '# Kept in `extra`; a line such as project = { constant = "shop" } gives every row the same.']
    lines += [
        f"# {_toml_comment(_toml_string(one.name))}: {_toml_comment(example(one.samples[0]))}"
        for one in left[:_SHOWN_NAMES]
    ]
    if len(left) > _SHOWN_NAMES:
        lines.append(f"# and {len(left) - _SHOWN_NAMES:,} more")
    return "\n".join(lines) + "\n"


def _toml_string(text: str) -> str:
    """A basic string of TOML: what JSON escapes, and what TOML allows nowhere else."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_comment(text: str) -> str:
    """As a comment may have it: of one line, without control characters."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
