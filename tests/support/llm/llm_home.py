"""A home with three memories, and a language model that its environment names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from llm_server import LlmServer, Reply, Request, good_answer, llm_server
from small_home import SmallHome, memory

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.llm.stage import QuestionsReport, asked_of_model
from slowwave.flows.publish.run import start_run
from slowwave.transforms.landing.decisions_table import Decisions

KEY = "sk-never-shown"
TEXTS = {
    "a": "Prices are stored as integers of the smallest coin.",
    "b": "Prices are kept as integers of the smallest coin.",
    "c": "Prices are stored as integers of the smallest coin, since March.",
}
QUESTIONS = 5  # each is to be curated; the first has nothing beside it to be related to


class LlmHome(SmallHome):
    """A small home whose model is asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, servers: ExitStack) -> None:
        super().__init__(folder)
        self._monkeypatch = monkeypatch
        self._servers = servers

    def set_params(self, **values: Any) -> None:
        """Params of asking; by default no wait is long."""
        lines = "\n".join(
            f"{name} = {json.dumps(value)}" for name, value in {"max_wait_seconds": 0.05, **values}.items()
        )
        self.settings.params_file.write_text(f"[llm]\n{lines}\n")

    def serve(self, reply: Callable[[Request], Reply] = good_answer) -> LlmServer:
        """Start a server that the environment then names."""
        server = self._servers.enter_context(llm_server(reply))
        self._monkeypatch.setenv("SLOWWAVE_LLM_URL", server.url)
        return server

    def asked(self) -> QuestionsReport:
        """Do what the nightly stage does."""
        with writer_lock(self.settings, "test"):
            answers = asked_of_model(start_run(self.settings, "nightly"))
        assert answers is not None
        return answers

    def published(self) -> dict[str, dict[str, Any]]:
        """The published curation decisions by memory."""
        path = current_run(self.settings)
        assert path is not None
        with duckdb.connect(path, read_only=True) as connection:
            return {row["memory_id"]: row for row in connection.sql("FROM curation_decisions").pl().to_dicts()}

    def runs(self, path: Path | None, column: str) -> list[Any]:
        """A column of the runs in a serving file, in order."""
        assert path is not None
        with duckdb.connect(path, read_only=True) as connection:
            return connection.sql("FROM runs ORDER BY run_id").pl().filter(status="published")[column].to_list()

    def landed(self) -> pl.DataFrame:
        """All decisions in the lake."""
        lake = Lake(Path(self.settings.lake))
        files = [file for of_day in lake.files(Decisions.name).values() for file in of_day]
        return lake.scan_rows(Decisions, files).collect()


@contextmanager
def llm_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmHome]:
    """A home with `TEXTS`, said one after the other, and an environment that names it and a model; no server yet."""
    with ExitStack() as servers:
        home = LlmHome(folder / "home", monkeypatch, servers)
        said = enumerate(TEXTS.items(), start=1)
        home.land(*[memory(name, content=text, changed_at=f"2026-03-0{day}") for day, (name, text) in said])
        environment = {"HOME": str(home.folder), "LLM_MODEL": "some-model", "LLM_KEY": KEY}
        for name, value in environment.items():
            monkeypatch.setenv(f"SLOWWAVE_{name}", value)
        home.set_params()
        yield home
