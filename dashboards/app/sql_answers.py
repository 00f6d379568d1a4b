"""Answers to any query of the SQL page: each from a child process with limits, which ends with what asked for it."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
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
_waiting: list[tuple[dict[str, str], subprocess.Popen[bytes]]] = []
"""At most one child that waits for a question, and the environment that it was started with."""
_waiting_lock = threading.Lock()

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
    answer, problem = folder / "answer", folder / "problem"
    answer.touch()
    begun = time.monotonic()
    child = _waiting_child()
    try:
        _ask(child, folder, asked)
        while (code := _code_soon(child)) is None:
            seconds = time.monotonic() - begun
            tick(seconds)
            if seconds > SECONDS:
                message = f"stopped after {SECONDS} seconds: `slowwave sql` has no such limit"
                raise UserError(message)
            if answer.stat().st_size > MOST_BYTES:
                break
    finally:
        _end(child)
        _keep_one_waiting()
    if answer.stat().st_size > MOST_BYTES:
        message = f"the result is larger than {MOST_BYTES // 2**20} MB: `slowwave sql` writes results of any size"
        raise UserError(message)
    if code != 0:
        said = problem.read_text(errors="replace").strip() if code == 1 else ""
        raise UserError(_message(said))
    return answer.read_bytes()


def _waiting_child() -> subprocess.Popen[bytes]:
    """Return a child that waits for its question."""
    environment = _environment()
    with _waiting_lock:
        kept = _waiting.copy()
        _waiting.clear()
    for known, child in kept:
        if known == environment and child.poll() is None:
            return child
        _end(child)
    return _start(environment)


def _keep_one_waiting() -> None:
    """Start the child of the next question: to load what it needs takes it longer than most answers."""
    with _waiting_lock:
        if not _waiting:
            environment = _environment()
            _waiting.append((environment, _start(environment)))


def _environment() -> dict[str, str]:
    return {**os.environ, "POLARS_MAX_THREADS": "2"}


def _start(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a child, which ends by itself when this process does: its input then ends."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "slowwave.dashboards.app.sql_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _ask(child: subprocess.Popen[bytes], folder: Path, asked: str) -> None:
    """Write the folder and the question, each on its line; a child that is gone by then has an exit code."""
    with suppress(BrokenPipeError), child.stdin or nullcontext() as stdin:
        if stdin is not None:
            stdin.write(f"{json.dumps(str(folder))}\n{asked}\n".encode())


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()
    if child.stdin is not None:
        child.stdin.close()


@atexit.register
def _end_waiting() -> None:
    for _, child in _waiting:
        _end(child)


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
