"""The published tables as the dashboard reads them: one locked, read-only database per run, a cursor per question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl

from slowwave.dashboards.answers import answer
from slowwave.flows.query_connection import locked_connection


class Published:
    """One publish, open for reading. It stays readable while a newer one is swapped in beside it.

    Raises duckdb.Error when the file is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.stem
        self._open = ExitStack()
        self._connection = self._open.enter_context(locked_connection(path))
        try:
            found = self._connection.execute("SELECT as_of FROM runs WHERE run_id = $id", {"id": self.run_id}).fetchall()
        except duckdb.Error:
            self._open.close()
            raise
        self.as_of: datetime | None = found[0][0] if found else None

    def close(self) -> None:
        """Let go of the file; cursors that are still at work finish."""
        self._open.close()

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of its own to the same locked database: sessions do not wait for each other."""
        with self._connection.cursor() as cursor:
            yield cursor

    def answer(self, name: str, **params: str) -> pl.DataFrame:
        """What a recipe of the cookbook answers (see `answers.answer`)."""
        with self.cursor() as cursor:
            return answer(cursor, name, **params)
