"""Answers to any query of the SQL page: each from a child process with limits, which ends with what asked for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from slowwave.dashboards.app.sql_child import SECONDS
from slowwave.flows.ask.output import distinct_names
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import shorten_to_width

Output = Literal["first rows", "csv", "parquet"]
Tick = Callable[[float], object]

MOST_BYTES = 64 * 2**20
_AT_ONCE = 2
_LOOKS_EVERY = 0.1
_MOST_MESSAGE = 2_000
_places = threading.BoundedSemaphore(_AT_ONCE)

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_NUMBERS = ("DECIMAL", "FLOAT", "DOUBLE", "UBIGINT", "UHUGEINT", "BIGNUM")


@dataclass(frozen=True)
class SqlQuestion:
    """A query on one publish with the values of its params."""

    serving: Path
    query: str
    values: Mapping[str, str] = field(default_factory=dict)

    def as_json(self, output: Output) -> str:
        """As the child process reads it."""
        return json.dumps(
            {"serving": str(self.serving), "query": self.query, "values": dict(self.values), "output": output}
        )


@dataclass(frozen=True)
class SqlAnswer:
    """The first rows of an answer as texts (None is NULL), and how many there are; `is_more`: not all were counted."""

    names: list[str]
    types: list[str]
    cells: list[list[str | None]]
    count: int
    is_more: bool

    def is_number(self, column: int) -> bool:
        """Whether a column, by its place, holds numbers."""
        return self.types[column] in _WHOLE or self.types[column].startswith(_NUMBERS)

    def frame(self) -> pl.DataFrame:
        """The first rows for a chart: numbers, times and dates as such, all else as text."""
        names = distinct_names(self.names)
        texts = pl.DataFrame(self.cells, schema=dict.fromkeys(names, pl.String), orient="row")
        return texts.with_columns(_cast_column(name, dtype) for name, dtype in zip(names, self.types, strict=True))


def _cast_column(name: str, dtype: str) -> pl.Expr:
    if dtype in _WHOLE:
        return pl.col(name).cast(pl.Int64, strict=False)
    if dtype.startswith(_NUMBERS):
        return pl.col(name).cast(pl.Float64, strict=False)
    if dtype.startswith("TIMESTAMP"):
        return pl.col(name).str.to_datetime("%+", time_zone="UTC", strict=False).dt.replace_time_zone(None)
    return pl.col(name).str.to_date("%Y-%m-%d", strict=False) if dtype == "DATE" else pl.col(name)


def first_rows(question: SqlQuestion, tick: Tick) -> SqlAnswer:
    """The first rows that a query gives, and how many there are.

    `tick` is called several times a second with the seconds gone by; what it raises ends the query.

    Raises UserError when the query fails, takes too long or needs too much memory.
    """
    return SqlAnswer(**json.loads(_run_question(question, "first rows", tick)))


def whole_result(question: SqlQuestion, output: Literal["csv", "parquet"]) -> bytes:
    """All that a query gives, as `slowwave sql` writes it.

    Raises UserError as `first_rows` does, and when it is more than `MOST_BYTES`.
    """
    return _run_question(question, output, lambda _: None)


def _run_question(question: SqlQuestion, output: Output, tick: Tick) -> bytes:
    begun = time.monotonic()
    while not _places.acquire(timeout=_LOOKS_EVERY):
        tick(time.monotonic() - begun)
    try:
        # where the child spills, and what an ended one leaves behind
        with tempfile.TemporaryDirectory(prefix="slowwave-sql-page-") as folder:
            return _answer_of_child(Path(folder), question.as_json(output), tick)
    finally:
        _places.release()


def _answer_of_child(folder: Path, asked: str, tick: Tick) -> bytes:
    question, answer, problem = folder / "question", folder / "answer", folder / "problem"
    question.write_text(asked, encoding="utf-8")
    begun = time.monotonic()
    with question.open("rb") as stdin, answer.open("wb") as stdout, problem.open("wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "slowwave.dashboards.app.sql_child"],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, "TMPDIR": str(folder), "POLARS_MAX_THREADS": "2"},
        )
        try:
            while (code := _code_soon(child)) is None:
                seconds = time.monotonic() - begun
                tick(seconds)
                if seconds > SECONDS:
                    message = f"stopped after {SECONDS} seconds: `slowwave sql` has no such limit"
                    raise UserError(message)
                if answer.stat().st_size > MOST_BYTES:
                    break
        finally:
            child.kill()
            child.wait()
    if answer.stat().st_size > MOST_BYTES:
        message = f"the result is larger than {MOST_BYTES // 2**20} MB: `slowwave sql` writes results of any size"
        raise UserError(message)
    if code != 0:
        said = problem.read_text(errors="replace").strip() if code == 1 else ""
        raise UserError(_message(said))
    return answer.read_bytes()


def _code_soon(child: subprocess.Popen[bytes]) -> int | None:
    try:
        return child.wait(timeout=_LOOKS_EVERY)
    except subprocess.TimeoutExpired:
        return None


def _message(said: str) -> str:
    """What a child said before it failed, or what it means that it could not say anything."""
    if not said or said.startswith("Traceback"):
        return "the query needs more memory than this page may take: `slowwave sql` may take what the machine has"
    return shorten_to_width(said, _MOST_MESSAGE)
