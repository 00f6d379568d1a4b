"""Homes that an accident left half-made: a night mends them, or says in a sentence what is to be done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from shared_homes import plain_home
from small_home import SmallHome

from slowwave.flows.ask.why.why import run_why
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.current import current_run
from slowwave.flows.publish.run import start_run


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    return plain_home(tmp_path_factory.mktemp("half-made") / "home")


@pytest.fixture
def home(published: SmallHome, tmp_path: Path) -> SmallHome:
    return SmallHome(Path(shutil.copytree(published.folder, tmp_path / "home", symlinks=True)))


def begin(home: SmallHome) -> None:
    with writer_lock(home.settings, "land"):
        start_run(home.settings, "land")


def test_a_home_copied_with_its_links_followed_is_published_anew(home: SmallHome) -> None:
    whole = home.settings.current.resolve()
    home.settings.current.unlink()
    shutil.copy(whole, home.settings.current)
    with pytest.raises(UserError, match="run `slowwave nightly` to publish anew"):
        run_why(home.settings, "m1")
    assert home.nightly().is_published
    assert current_run(home.settings) not in {None, whole}


def test_a_damaged_publish_that_the_ledger_lacks_is_replaced(home: SmallHome) -> None:
    home.settings.current.resolve().write_bytes(b"garbage")
    shutil.rmtree(home.folder / "lake" / "runs")
    assert home.nightly().is_published


@pytest.mark.parametrize("name", ["copy.parquet", "{stem} (1).parquet"])
def test_a_file_that_others_have_put_into_the_lake_is_named(home: SmallHome, name: str) -> None:
    (file,) = (home.folder / "lake" / "interactions" / "day=2026-03-02").iterdir()
    foreign = file.with_name(name.format(stem=file.stem))
    shutil.copy(file, foreign)
    with pytest.raises(UserError) as raised:
        home.nightly()
    assert str(raised.value) == f"{foreign} is not named as files of the lake are: move it out of the lake"


def unmounted(lake: Path) -> None:
    lake.mkdir()


@pytest.mark.parametrize("left", [unmounted, lambda _: None])
def test_nothing_lands_where_the_lake_is_not_mounted(home: SmallHome, left: Callable[[Path], None]) -> None:
    lake = home.folder / "lake"
    lake.rename(home.folder / "elsewhere")
    left(lake)
    before = current_run(home.settings)
    for act in (lambda: begin(home), home.nightly):
        with pytest.raises(UserError, match="mount it, or set SLOWWAVE_LAKE"):
            act()
    assert current_run(home.settings) == before
    assert {path.name for path in lake.iterdir()} <= {".lock"}
