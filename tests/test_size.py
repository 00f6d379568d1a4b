"""How much code there is for what is declared: a feature brings code, and the next one shall not need more of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.flows.cli import main  # noqa: F401 - declares the commands
from slowwave.flows.cli.groups import EXAMPLES
from slowwave.flows.imports.sources import SOURCES
from slowwave.transforms.graph import LANDING, SERVING
from slowwave.transforms.params import Params

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ("dashboards", "flows", "transforms")
STATED = re.compile(r"^- Lines of source for each table, param, recipe, command and source: (\d+)\b", re.MULTILINE)


def leaves(values: dict[str, Any]) -> Iterator[Any]:
    """The params that a person may set."""
    for value in values.values():
        yield from leaves(value) if isinstance(value, dict) else [value]


def test_there_is_no_more_code_for_what_is_declared_than_the_changes_say() -> None:
    declared = {
        "tables": len({*LANDING, *SERVING}),
        "params": len([*leaves(Params().model_dump())]),
        "recipes": len(cookbook()),
        "commands": len(EXAMPLES),
        "sources": len(SOURCES),
    }
    files = [file for folder in SOURCE for file in (ROOT / folder).rglob("*.py")]
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    (stated, *_) = STATED.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))
    found = lines / sum(declared.values())
    assert found <= int(stated), f"{lines:,} lines for {declared}: say in CHANGELOG.md why it takes more"
