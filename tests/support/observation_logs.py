"""Memories by the thousand, as a project collects them: the same facts again, in other words, with other values."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import polars as pl

from slowwave.transforms.landed_tables import Memories
from slowwave.transforms.memory_states import memory_states
from slowwave.transforms.schema import polars_schema

START = datetime(2026, 1, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_SYLLABLES = [*map("".join, zip("bcdfghklmnprstvwxyzqj", "aoiueioueaiaoeiououae", strict=True)), "tri", "plo", "gra"]
_TEMPLATES = (
    ("The {part} of {name} listens on port {number}", "{name}'s {part} listens on port {number}"),
    ("{name} prefers {thing} over {other} for the {part}", "For the {part}, {name} prefers {thing} over {other}"),
    ("Always run {thing} before deploying {name}", "Run {thing} before you deploy {name}"),
    ("The {part} of {name} times out after {number} seconds", "After {number} seconds the {part} of {name} times out"),
    ("Do not touch the {part} while {name} migrates {thing}", "Don't touch the {part} while {name} migrates {thing}"),
    ("{name} moved the {part} from {thing} to {other}", "The {part} was moved from {thing} to {other} by {name}"),
)
_PARTS = ["gateway", "scheduler", "cache", "ledger", "parser", "registry", "mailer", "indexer", "exporter", "dashboard"]


def memory_log(count: int, *, repeated: float = 0.3, seed: int = 7) -> pl.DataFrame:
    """memory_states of `count` active memories of one project, `repeated` of which say an earlier fact once more."""
    chance = random.Random(seed)
    names = ["".join(chance.choices(_SYLLABLES, k=3)).capitalize() for _ in range(max(10, count // 20))]
    things = ["".join(chance.choices(_SYLLABLES, k=2)) for _ in range(max(10, count // 50))]
    facts: list[tuple[int, dict[str, object]]] = []
    rows = []
    for number in range(count):
        if facts and chance.random() < repeated:
            template, values = chance.choice(facts)
        else:
            template = chance.randrange(len(_TEMPLATES))
            values = {"name": chance.choice(names), "part": chance.choice(_PARTS), "thing": chance.choice(things),
                      "other": chance.choice(things), "number": chance.randrange(1, 9999)}  # fmt: skip
            facts.append((template, values))
        wording = _TEMPLATES[template][chance.random() < 0.5]
        rows.append(
            {"memory_id": f"m{number:06}", "changed_at": START + timedelta(minutes=number), "project": "big",
             "memory_type": "knowledge", "status": "active", "content": wording.format(**values),
             "source_ids": [f"s{number}"]}
        )  # fmt: skip
    schema = {
        name: dtype for name, dtype in polars_schema(Memories).items() if name in rows[0] or name in Memories.state
    }
    frame = pl.DataFrame(rows, schema={**schema, "clears": pl.List(pl.String)})
    return memory_states(frame.lazy()).collect()
