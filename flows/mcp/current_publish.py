"""The publish that is current when a call is made: all that an answer says is read from this one file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb

from slowwave.flows.ask.connection import DuckDBConfig, error_lines, locked_connection, published_file
from slowwave.flows.ask.narrowed import Narrowed, landed_about, narrow
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings

SECONDS = 30
"""So long a question may take."""
_LIMITS: DuckDBConfig = {"memory_limit": "2GB", "threads": 2}
_RUN = "SELECT as_of FROM runs WHERE run_id = $run_id"


@dataclass(frozen=True)
class NarrowedPublish:
    """One publish, open for one call, of which only what is within the limits can be seen."""

    connection: duckdb.DuckDBPyConnection
    run_id: str
    as_of: datetime
    lake: Path
    narrowed: Narrowed

    def show_landed(self) -> None:
        """Let queries see the landed rows too, those that this publish saw."""
        from slowwave.flows.lake.views import LandedViews  # Polars is slow to load

        for name, frame in landed_about(LandedViews(self.lake, self.as_of).frames, self.narrowed).items():
            self.connection.register(name, frame)


@dataclass
class _Open:
    database: duckdb.DuckDBPyConnection
    stack: ExitStack
    calls: int = 0


class PublishConnections:
    """Opens what is current for each call. Calls at the same time share the file, and the last lets go of it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._open: dict[Path, _Open] = {}

    @contextmanager
    def open_publish(self, narrowed: Narrowed) -> Iterator[NarrowedPublish]:
        """The current publish as `narrowed` shows it.

        Raises UserError where nothing is published, a question takes more than `SECONDS`, or DuckDB refuses it.
        """
        path, shared = self._take_database()
        try:
            with shared.database.cursor() as cursor:
                timer = threading.Timer(SECONDS, cursor.interrupt)
                timer.daemon = True
                timer.start()
                try:
                    found = cursor.execute(_RUN, {"run_id": path.stem}).fetchall()
                    if not found:
                        message = "the published file is not named after its run: run `slowwave nightly`"
                        raise UserError(message)
                    narrow(cursor, narrowed)
                    yield NarrowedPublish(cursor, path.stem, found[0][0], self._settings.lake_folder, narrowed)
                except duckdb.InterruptException as error:
                    message = (
                        f"this took more than {SECONDS} seconds: ask for less, such as one project or a lower limit"
                    )
                    raise UserError(message) from error
                except duckdb.Error as error:
                    raise UserError(error_lines(error)) from error
                finally:
                    timer.cancel()
        finally:
            self._let_go(path, shared)

    def _take_database(self) -> tuple[Path, _Open]:
        for again in (True, False):
            path = published_file(self._settings)
            if path is None:
                break
            with self._lock:
                shared = self._open.get(path)
                try:
                    shared = shared or self._open_database(path)
                except duckdb.Error as error:
                    if again and not path.exists():  # erased or pruned since the link was read
                        continue
                    raise UserError(error_lines(error)) from error
                shared.calls += 1
                return path, shared
        message = "nothing is published yet: run `slowwave nightly`"
        raise UserError(message)

    def _open_database(self, path: Path) -> _Open:
        stack = ExitStack()
        shared = self._open[path] = _Open(stack.enter_context(locked_connection(path, limits=_LIMITS)), stack)
        return shared

    def _let_go(self, path: Path, shared: _Open) -> None:
        with self._lock:
            shared.calls -= 1
            if not shared.calls:
                del self._open[path]
                shared.stack.close()
