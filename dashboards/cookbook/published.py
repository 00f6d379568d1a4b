"""The published tables as the dashboard reads them: one locked, read-only database per run, a cursor per question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl

from slowwave.dashboards.cookbook.answers import Answers
from slowwave.flows.ask.connection import locked_connection
from slowwave.flows.ask.narrowed import EVERYTHING, Narrowed, narrow

_KEPT_ANSWERS, _KEPT_ROWS = 256, 200_000
_ALL_ROWS = 2**62


def file_stamp(path: Path) -> tuple[int, ...]:
    """Return which file lies at a path: another file there, or the same one written over, has another stamp.

    Raises OSError when there is none.
    """
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class AnswerCache:
    """The answers asked last: a publish never changes, so each stays true."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, pl.DataFrame] = OrderedDict()
        self._rows = 0
        self._lock = threading.Lock()

    def answer(self, question: object, ask: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """What `ask` answers, or answered before to the same question."""
        with self._lock:
            if question in self._kept:
                self._kept.move_to_end(question)
                return self._kept[question]
        found = ask()
        if found.height > _KEPT_ROWS // 2:
            return found
        with self._lock:
            if question not in self._kept:  # another session may have asked meanwhile
                self._kept[question] = found
                self._rows += found.height
            while len(self._kept) > _KEPT_ANSWERS or self._rows > _KEPT_ROWS:
                _, dropped = self._kept.popitem(last=False)
                self._rows -= dropped.height
        return found


class PublishedAnswers(Answers):
    """The cookbook, asked of a publish, each question once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, remembered: AnswerCache) -> None:
        super().__init__(connection)
        self._remembered = remembered

    def _run_query(self, query: str, name: str, params: Mapping[str, str]) -> pl.DataFrame:
        ask = super()._run_query
        return self._remembered.answer((query, *sorted(params.items())), lambda: ask(query, name, params))


class Published:
    """One publish, open for reading. It stays readable while a newer one is swapped in beside it.

    `as_of` and `finished_at` are None where the file does not name its run.

    Raises duckdb.Error when the file is damaged, OSError when there is none.
    """

    def __init__(self, path: Path, narrowed: Narrowed = EVERYTHING) -> None:
        self.path = path
        self.narrowed = narrowed
        self.run_id = path.stem
        self.version = "an unknown version"
        self.as_of: datetime | None = None
        self.finished_at: datetime | None = None
        self._remembered = AnswerCache()
        self._stamp = file_stamp(path)
        self._open = ExitStack()
        self._connection = self._open.enter_context(locked_connection(path))
        try:
            found = self._connection.execute(
                "SELECT as_of, finished_at, version FROM runs WHERE run_id = $id", {"id": self.run_id}
            ).fetchall()
        except duckdb.Error:
            self._open.close()
            raise
        if found:
            self.as_of, self.finished_at, self.version = found[0]

    def is_as_opened(self) -> bool:
        """Whether the file that was opened still lies there as it was, or no file at all."""
        try:
            return file_stamp(self.path) == self._stamp
        except FileNotFoundError:  # what is open stays readable
            return True

    def close(self) -> None:
        """Let go of the file; cursors that are still at work finish."""
        self._open.close()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of its own to the same locked database: sessions do not wait for each other."""
        with self._connection.cursor() as cursor:
            narrow(cursor, self.narrowed)  # what is temporary is a cursor's own
            yield cursor

    @contextmanager
    def answers(self) -> Iterator[Answers]:
        """The cookbook, asked of this publish."""
        with self.cursor() as cursor:
            yield PublishedAnswers(cursor, self._remembered)

    def answer(self, name: str, **params: str) -> pl.DataFrame:
        """All rows of what a recipe of the cookbook answers (see `Answers`)."""
        with self.answers() as answers:
            return answers.rows(name, _ALL_ROWS, **params)

    def count(self, name: str, **params: str) -> int:
        """How many rows a recipe answers with."""
        with self.answers() as answers:
            return answers.count(name, **params)

    def value_counts(self, name: str, *columns: str, counted: str = "count(*)", **params: str) -> pl.DataFrame:
        """How many rows of an answer have which values (see `Answers.counts`)."""
        with self.answers() as answers:
            return answers.counts(name, *columns, counted=counted, **params)
