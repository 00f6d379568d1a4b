"""The mapping that unknown fields call for, as the TOML of a file that a person then edits."""

from __future__ import annotations

import json

from slowwave.transforms.landing.mapping.resemblance import Likeness
from slowwave.transforms.landing.mapping.unknown_fields import UnknownFields

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
