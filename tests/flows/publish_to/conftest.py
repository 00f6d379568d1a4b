"""Two publishes of a small home, and a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from postgres_server import PASSWORD, WITHOUT, Server, binaries, postgres_server
from small_home import SmallHome, interaction, memory, outcome


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """A home that has published twice, the second time with one memory more."""
    made = SmallHome(tmp_path_factory.mktemp("publish-to") / "home")
    made.land(
        memory("m-1", content="nothing\x00there", tags=["a\x00b", "", 'c,"{}\\']),
        interaction("i-1", memories_used=["m-1"], response=memory("m-2")["content"]),
        outcome("o-1", interaction_id="i-1", strategy="lint 'first' \\ $$", task_type="deploy"),
    )
    made.nightly(datetime(2026, 3, 5))  # noqa: DTZ001 - times are naive and hold UTC everywhere
    made.land(memory("m-2"))
    made.nightly(datetime(2026, 3, 6))  # noqa: DTZ001
    return made


@pytest.fixture(scope="session")
def runs(home: SmallHome) -> list[Path]:
    """The serving files of the two publishes."""
    return sorted((home.settings.serving / "runs").glob("*.duckdb"))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that all tests share; each takes a schema of its own."""
    if binaries() is None:
        pytest.skip(WITHOUT)
    with postgres_server() as started:
        yield started


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> str:
    """What the owner of the database proves it by, in the environment."""
    monkeypatch.setenv("SLOWWAVE_PUBLISH_PASSWORD", PASSWORD)
    return PASSWORD
