"""Answers to any query of the SQL page: from a child process with limits, which ends when its question is given up.

The page of interactions shows its rows in the same way.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, TypeGuard, cast

import polars as pl
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from slowwave.dashboards.app.grid import GridColumn, column_label, draw_grid
from slowwave.dashboards.app.sql_child import SECONDS
from slowwave.dashboards.app.widgets import notice
from slowwave.dashboards.cookbook.cookbook import Recipe
from slowwave.dashboards.links import opened_by
from slowwave.flows.ask.output import distinct_names
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import shorten_to_width, terminal_safe

Output = Literal["first rows", "csv", "parquet"]
Tick = Callable[[float], object]

MOST_BYTES = 64 * 2**20
_AT_ONCE = 2
_LOOKS_EVERY = 0.1
_MOST_MESSAGE = 2_000
_places = threading.BoundedSemaphore(_AT_ONCE)
_waiting: list[_Child] = []
"""At most one child that waits for a question."""
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
    child = _take_waiting()
    reply: list[str] = []
    try:
        child.ask(folder, asked)
        while not child.has_replied():
            seconds = time.monotonic() - begun
            tick(seconds)
            if seconds > SECONDS:
                message = f"stopped after {SECONDS} seconds: `slowwave sql` has no such limit"
                raise UserError(message)
            if answer.stat().st_size > MOST_BYTES:
                break
        else:
            reply = child.read_reply()
    finally:
        if "goes-on" not in reply:
            child.end()
        _keep_waiting(child if "goes-on" in reply else None)
    if answer.stat().st_size > MOST_BYTES:
        message = f"the result is larger than {MOST_BYTES // 2**20} MB: `slowwave sql` writes results of any size"
        raise UserError(message)
    if "answered" not in reply:
        raise UserError(_message(problem.read_text(errors="replace").strip() if reply else ""))
    return answer.read_bytes()


class _Child:
    """A child process that waits for its first or next question; it ends by itself when this process does."""

    def __init__(self) -> None:
        self.environment = _environment()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "slowwave.dashboards.app.sql_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )

    def ask(self, folder: Path, question: str) -> None:
        """Write the folder and the question, each on its line; of a child that is gone `read_reply` tells."""
        with suppress(BrokenPipeError):
            _pipe(self.process.stdin).write(f"{json.dumps(str(folder))}\n{question}\n".encode())
            _pipe(self.process.stdin).flush()

    def has_replied(self) -> bool:
        """Whether it answered or ended, after a moment."""
        return bool(select.select([_pipe(self.process.stdout)], [], [], _LOOKS_EVERY)[0])

    def read_reply(self) -> list[str]:
        """The words of its reply; none when it ended."""
        return _pipe(self.process.stdout).readline().decode().split()

    def is_usable(self) -> bool:
        """Whether it lives, with the environment of today."""
        return self.environment == _environment() and self.process.poll() is None

    def end(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):  # a question that it never read
                _pipe(pipe).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    return cast("IO[bytes]", pipe)  # both are asked for


def _take_waiting() -> _Child:
    """Return the child that waits, or a new one."""
    with _waiting_lock:
        kept = _waiting.copy()
        _waiting.clear()
    for child in kept:
        if child.is_usable():
            return child
        child.end()
    return _Child()


def _keep_waiting(child: _Child | None) -> None:
    """Keep a child for the next question, or a new one: to load what it needs takes longer than most answers."""
    with _waiting_lock:
        if not _waiting:
            _waiting.append(child or _Child())
        elif child is not None:
            child.end()


def _environment() -> dict[str, str]:
    return {**os.environ, "POLARS_MAX_THREADS": "2"}


@atexit.register
def _end_waiting() -> None:
    for child in _waiting:
        child.end()


def _message(said: str) -> str:
    """What a child said of its failure, or what it means that it could not say anything."""
    if not said:
        return "the query needs more memory than this page may take: `slowwave sql` may take what the machine has"
    return shorten_to_width(said, _MOST_MESSAGE)


# An answer or None, what went wrong ('' nothing), and the seconds it took.
Answered = tuple[SqlAnswer | None, str, float]

_LONGEST_LINKED = 200


def cached_answer(question: SqlQuestion, key: str, stopped: str) -> Answered:
    """The answer to a question, asked once for as long as a session goes on with it, under `key`.

    `stopped` is what to say where a person stopped it.
    """
    known = st.session_state.get(key)
    if known is None or known[0] != question:
        known = (question, *_run_query(question, key, stopped))
        st.session_state[key] = known
    return known[1:]


def _run_query(question: SqlQuestion, key: str, stopped: str) -> Answered:
    waiting = st.empty()
    with waiting.container():
        notice("note", "the query is running")
        st.button("Stop", on_click=_stop, args=(question, key, stopped))
        clock = st.empty()
    begun = time.monotonic()

    def tick(seconds: float) -> None:
        clock.text(f"{seconds:.0f} s")  # what a person did meanwhile, such as pressing Stop, ends the page here
        if not _is_read():
            st.stop()

    try:
        return first_rows(question, tick), "", time.monotonic() - begun
    except UserError as error:
        return None, str(error), time.monotonic() - begun
    finally:
        waiting.empty()


def _is_read() -> bool:
    """Whether somebody still has the page open: Streamlit draws on for a reader who may come back."""
    context = get_script_run_ctx()
    return context is None or not runtime.exists() or runtime.get_instance().is_active_session(context.session_id)


def _stop(question: SqlQuestion, key: str, stopped: str) -> None:
    st.session_state[key] = (question, None, stopped, 0.0)


def answer_table(
    answer: SqlAnswer,
    recipe: Recipe | None,
    *,
    caption: str,
    columns: Sequence[str] = (),
    links: Mapping[str, Callable[[str], str]] | None = None,
) -> None:
    """Draw rows of an answer as a grid, cells as exact as they came; `links`: by column, from a text to an address."""
    known = {column.name: column for column in recipe.columns} if recipe is not None else {}
    rows = [
        {name: text for name, text in zip(answer.names, row, strict=True) if _is_whole(text)} for row in answer.cells
    ]
    shown: list[GridColumn] = []
    addresses: dict[str, list[str]] = {}
    for at in map(answer.names.index, columns) if columns else range(len(answer.names)):
        name, texts = answer.names[at], [row[at] for row in answer.cells]
        unique = f"{at} {name}"
        shown.append(
            GridColumn(
                unique,
                column_label(name) if recipe is not None else terminal_safe(name),
                known[name].meaning if name in known else answer.types[at],
                pl.Series(unique, texts, dtype=pl.String),
                is_number=answer.is_number(at),
            )
        )
        if links and name in links:
            addresses[unique] = [links[name](text) if _is_whole(text) else "" for text in texts]
    named = [opened_by(row) for row in rows]
    draw_grid(shown, caption=caption, addresses=addresses, opens=named, missing="NULL", is_fitted=recipe is not None)


def _is_whole(text: str | None) -> TypeGuard[str]:
    """Whether a text is shown as it is, so that it can be asked for."""
    return text is not None and 0 < len(text) < _LONGEST_LINKED and "\\" not in text
