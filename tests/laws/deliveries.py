"""Delivered files: rows as the producers of three formats write them, and hypothesis strategies for such rows."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

import polars as pl
import zstandard
from hypothesis import strategies as st

from slowwave.transforms.landing.delivered_rows import RecordRows
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes
from tests.laws.model import CANCELLED, INLINE, Row, Version

Format = Literal["jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet"]
START = datetime(2024, 3, 1)  # noqa: DTZ001 - times are naive and hold UTC everywhere
DAYS = 5

# Beginnings that contain each other, share their first 80 code points, differ in case and space, or are too short.
CONTENTS = (
    "Always run the narrowest test first",
    "always  run the\tNARROWEST test first, then the whole suite before anything is merged or shipped, whatever it is",
    "always run the narrowest test first, then the whole suite before anything is merged or shipped, whatever it was",
    "run the narrowest",
    "Use tabs.",
    "Résumés à relire – Straße, naïve façade \U0001f9e0",
)
NOISE = ("", "Done. ", "I looked at it\r\nand then ", "\x1f\u2003")


def as_json(row: Row) -> Row:
    """A row as a producer writes it in JSON."""
    return {name: f"{value.isoformat()}Z" if isinstance(value, datetime) else value for name, value in row.items()}


def jsonl(rows: Sequence[Row | bytes]) -> bytes:
    """Rows as JSON lines; `bytes` stand as they are."""
    lines = [row if isinstance(row, bytes) else json.dumps(as_json(row), ensure_ascii=False).encode() for row in rows]
    return b"".join(line + b"\n" for line in lines)


def packed(rows: Sequence[Row | bytes], form: Format) -> tuple[str, bytes]:
    """The suffix and the bytes of one file; rows that CSV or Parquet cannot say go as JSON lines.

    A list or a time that stood in `extra` before is hashed as it was delivered there: CSV delivers lists as text,
    Parquet times as times.
    """
    says_empty = any(isinstance(row, bytes) or "" in row.values() for row in rows)
    cites = any("memories_cited" in row for row in rows if isinstance(row, dict))
    expires = any("expires_at" in row for row in rows if isinstance(row, dict))
    is_other = (cites and form == "csv") or (expires and form == "parquet")
    if not rows or (says_empty and form in {"csv", "parquet"}) or is_other:
        form = "jsonl"
    content = jsonl(rows)
    if form == "csv":
        content = _csv([as_json(row) for row in rows if isinstance(row, dict)])
    elif form == "parquet":
        content = _parquet([row for row in rows if isinstance(row, dict)])
    elif form == "jsonl.gz":
        content = gzip.compress(content, mtime=0)
    elif form == "jsonl.zst":
        content = zstandard.compress(content)
    return form, content


def _csv(rows: list[Row]) -> bytes:
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(text)
    writer.writerow(names)
    for row in rows:
        cells = [row.get(name) for name in names]
        writer.writerow([cell if cell is None or isinstance(cell, str) else json.dumps(cell) for cell in cells])
    return text.getvalue().encode()


def _parquet(rows: list[Row]) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(out)
    return out.getvalue()


def row_hash(version: Version) -> str:
    """The hash that breaks a tie between two versions recorded at once."""
    table = {"interactions": Interactions, "outcomes": Outcomes, "memories": Memories}[version.table]
    row = as_json({name: list(value) if isinstance(value, tuple) else value for name, value in version.fields})
    if row.get("outcome_id", "").startswith(INLINE):
        row = {name: value for name, value in row.items() if name != "outcome_id"} | {"prompt": "?"}
    return landed_rows(RecordRows([row], [1], [b""])).table(table)["row_hash"].item()


# -------------------------------------------------------------------------------------------------------- strategies

# An hour's grid with a microsecond on either side of midnight: ties, noons, days' ends and as_of cuts all happen.
times = st.builds(
    lambda hours, shift: START + timedelta(hours=hours, microseconds=shift),
    st.sampled_from(range(0, 24 * DAYS, 3)),
    st.sampled_from((-1, 0, 0, 0, 1)),
)
projects = st.sampled_from(("", "shop", "../../etc"))
users = st.sampled_from(("ada", "ada", "../../bob"))
bases = st.sampled_from(("reported", "evaluated", "inferred", "inferred", "a guess"))
memory_ids = st.sampled_from(("m0", "m1", "m2", "m3"))
texts = st.lists(st.sampled_from(CONTENTS + NOISE), max_size=3).map(" ".join)


def _sometimes(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.none(), values)


def _without_none(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


_interactions = st.fixed_dictionaries(
    {
        "interaction_id": st.integers(0, 11).map("i{}".format),
        "created_at": times,
        "prompt": st.sampled_from(("Fix it.", "Please: always run the narrowest  test first", CONTENTS[4])),
        "project": _sometimes(projects),
        "response": _sometimes(texts),
    },
    optional={
        "recorded_at": times,
        "agent": st.sampled_from(("coder", "planner")),
        "session_id": st.just("s1"),
        "user_id": users,
        "response_summary": texts,
        "memories_used": st.lists(st.one_of(memory_ids, st.just("never landed")), max_size=3),
        "memories_cited": st.lists(st.one_of(memory_ids, st.just("only cited")), max_size=3),
        "reinforce": st.booleans(),
        "success": st.booleans(),
        "basis": bases,
    },
).map(_without_none)

_memories = st.fixed_dictionaries(
    {"memory_id": memory_ids, "changed_at": times},
    optional={
        "recorded_at": times,
        "status": st.sampled_from(("active", "active", "active", "candidate", "superseded", "invalid", "")),
        "content": st.sampled_from((*CONTENTS, "")),
        "project": projects,
        "memory_type": st.sampled_from(("preference", "identity", "project", "")),
        "confidence": st.sampled_from((0.0, 0.5, 0.97, 1.0, "")),
        "importance": st.sampled_from((0.1, 0.9)),
        "agent": st.sampled_from(("coder", "")),
        "scope": st.sampled_from(("agent", "agent", "project", "global", "", "everywhere")),
        "user_id": users | st.just(""),
        "expires_at": times | times | st.just(""),
        "reason": st.sampled_from(("tidied", "merged")),
    },
)


@st.composite
def interactions(draw: st.DrawFn) -> Row:
    """An interaction; a function because hypothesis shows a strategy's whole text in its messages."""
    return draw(_interactions)


@st.composite
def memories(draw: st.DrawFn) -> Row:
    """A memory change."""
    return draw(_memories)


outcomes = st.fixed_dictionaries(
    {"outcome_id": st.integers(0, 5).map("o{}".format), "created_at": times, "success": st.booleans()},
    optional={
        "duration_ms": st.sampled_from((0, 90_000)),
        "recorded_at": times,
        "interaction_id": st.sampled_from(("i0", "i1", "i2")),
        "session_id": st.just("s1"),
        "agent": st.just("planner"),
        "strategy": st.sampled_from(("run the tests", "Run the tests!", "bisect")),
        "attempted": st.booleans(),
        "basis": bases,
        "error_message": st.sampled_from((CANCELLED, "port 8000 is in use", "port 8001 is in use")),
    },
)

bad_rows = st.sampled_from(
    (
        b"{broken",
        b"[1, 2]",
        b'{"prompt": "\xff"}',
        {"interaction_id": "bad", "created_at": START, "prompt": " \t "},
        {"interaction_id": "bad", "prompt": "When was this?"},
        {"interaction_id": "bad", "created_at": START, "prompt": "Did it work?", "success": "perhaps"},
        {"memory_id": "bad", "changed_at": START, "status": "promoted"},
        {"memory_id": "bad", "changed_at": START, "confidence": 1.5},
        {"event": "heartbeat"},
    )
)

formats: st.SearchStrategy[Format] = st.sampled_from(("jsonl", "jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet"))


@st.composite
def rows(draw: st.DrawFn, min_size: int = 1, max_size: int = 8) -> list[Row | bytes]:
    """Rows of all kinds, one in eight of them bad."""
    kinds = draw(st.lists(st.sampled_from("iiiimmob"), min_size=min_size, max_size=max_size))
    of_kind = {"i": interactions(), "m": memories(), "o": outcomes, "b": bad_rows}
    return [draw(of_kind[kind]) for kind in kinds]
