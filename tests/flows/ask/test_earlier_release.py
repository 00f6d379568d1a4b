"""What an earlier release published is not reported on or exported by today's code, which says what to do instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from released_homes import RELEASES, released_home
from small_home import SmallHome

from slowwave.flows.ask.connection import OTHER_RELEASE


@pytest.fixture(scope="module", params=RELEASES)
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return released_home(request.param, tmp_path_factory.mktemp("earlier"))


@pytest.mark.parametrize(
    "command",
    ["report --to {file}", "report --format md", "report --format slack", "report --format png --to {file}",
     "report --user ada --to {file}", "export --to {folder}", "sql --user ada verdicts", "review list --user ada"],
)  # fmt: skip
def test_it_says_what_to_do(home: SmallHome, tmp_path: Path, command: str) -> None:
    done = home.ask(*(word.format(file=tmp_path / "file", folder=tmp_path / "folder") for word in command.split()))
    assert done.returncode == 1
    assert done.stderr.endswith(f"{OTHER_RELEASE}\n")
    assert "Binder" not in done.stderr
    assert not (tmp_path / "file").exists()
