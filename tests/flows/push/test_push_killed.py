"""A push that is killed for good: the next one finishes it, nothing is done twice, and all of it can be taken back."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from killed_push import helper_python, killed_push
from library_stores import LIBRARIES, Made, of_alma, published
from mem0_store import OTHER, PYTHON, TEXT, WITHOUT, mem0, mem0_config
from small_home import SmallHome, interaction
from thorough import examples

from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.imports.stores.store_state import PUSH, push_decisions

pytestmark = pytest.mark.slow
MOMENTS = examples(4, 10)


@dataclass(frozen=True)
class Pushed:
    """A home from which there is something to push to a store: its folder, and how the store reads.

    `read`: the memories that are in use there. `archived`: how many are archived, which an undo may leave in place.
    """

    home: SmallHome
    store: str
    path: Path
    folder: Path
    options: tuple[str, ...]
    read: Callable[[], Any]
    archived: Callable[[], int]

    def push(self, *options: str) -> dict[str, Any]:
        done = self.home.ask("push", self.store, str(self.path), *self.options, "--yes", "--format", "json", *options)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)[0]

    def newly_landed(self) -> int:
        done = self.home.ask("import", self.store, str(self.path), "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["landing"]["totals"]["accepted"]

    def runs(self) -> list[str]:
        """The pushes that wrote something, newest first."""
        landed = push_decisions(landed_decisions(Lake(self.home.settings.lake_folder)).collect())
        return list(dict.fromkeys(one.run for one in reversed(landed) if one.command == PUSH))


def connect(home: SmallHome, store: str, path: Path, folder: Path, python: str, more: str = "") -> None:
    wrapper = helper_python(folder, python, path)
    (home.folder / "connections.toml").write_text(
        f'[[connection]]\nsource = "{store}"\npath = "{path}"\npython = "{wrapper}"\n{more}'
    )


def of_library(made: Made, folder: Path) -> Pushed:
    home, path = SmallHome(folder / "home"), folder / "store" / "store.db"
    path.parent.mkdir()
    published(home, made, path)
    assert home.ask("memory", "archive", made.other, "--yes").returncode == 0
    connect(home, made.name, path, folder, sys.executable)

    def archived() -> int:
        return len(of_alma(path).list_archives("shop")) if made.name == "alma" else 0

    return Pushed(home, made.name, path, path.parent, (), lambda: made.read(path), archived)


def of_mem0(folder: Path, ending: ExitStack) -> Pushed:
    store = folder / "store"
    store.mkdir()
    config = ending.enter_context(mem0_config(store))
    ids = {one["memory"]: own for own, one in mem0(config, "make", TEXT, OTHER)["every"].items()}
    home, path = SmallHome(folder / "home"), store / "history.db"
    home.folder.mkdir()
    connect(home, "mem0", path, folder, PYTHON, f'config = "{config}"\n')
    assert home.ask("import", "mem0", str(path)).returncode == 0
    home.land(interaction("i1"))
    home.nightly()
    assert home.ask("memory", "archive", f"mem0:{ids[OTHER]}", "--yes").returncode == 0
    assert home.ask("memory", "edit", f"mem0:{ids[TEXT]}", "--content", "Use spaces.", "--yes").returncode == 0
    return Pushed(home, "mem0", path, store, ("--user", "ada"), lambda: mem0(config, "read"), lambda: 0)


def of_claude(folder: Path) -> Pushed:
    root = folder / "claude"
    memories = root / "projects" / "-srv-shop" / "memory"
    memories.mkdir(parents=True)
    for name in ("old", "tabs"):
        (memories / f"{name}.md").write_text(f"---\nname: {name}\n---\nWhat is known of {name}.\n")
    (memories / "MEMORY.md").write_text("# Index\n- [Old](old.md) – deploys\n- [Tabs](tabs.md) – indentation\n")
    home = SmallHome(folder / "home")
    assert home.ask("import", "claude-memory", str(root)).returncode == 0
    home.land(interaction("i1", project="-srv-shop"))
    home.nightly()
    old, tabs = (f"claude-memory:-srv-shop/{name}" for name in ("old", "tabs"))
    assert home.ask("memory", "archive", old, "--yes").returncode == 0
    assert home.ask("memory", "edit", tabs, "--content", "Indent with spaces.", "--yes").returncode == 0

    def read() -> dict[str, bytes]:
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    return Pushed(home, "claude-memory", root, root, (), read, lambda: 0)


@pytest.fixture(params=["claude-memory", *(made.name for made in LIBRARIES), "mem0"])
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pushed]:
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    if request.param == "mem0" and not PYTHON:
        pytest.skip(WITHOUT)
    with ExitStack() as ending:
        if request.param == "claude-memory":
            yield of_claude(tmp_path)
        elif request.param == "mem0":
            yield of_mem0(tmp_path, ending)
        else:
            (made,) = (one for one in LIBRARIES if one.name == request.param)
            yield of_library(made, tmp_path)


def test_a_push_that_is_killed_is_finished_by_the_next(case: Pushed, tmp_path: Path):
    places = [case.home.folder, case.folder]
    for place in places:
        shutil.copytree(place, tmp_path / "kept" / place.name, symlinks=True)
    before = case.read()

    def again() -> None:
        for place in places:
            shutil.rmtree(place)
            shutil.copytree(tmp_path / "kept" / place.name, place, symlinks=True, copy_function=shutil.copy2)

    def killed(who: str, at: int) -> Any:
        again()
        arguments = ("push", case.store, str(case.path), *case.options, "--yes")
        return killed_push(tmp_path, case.home.folder, places, who, at, *arguments)

    whole = {who: killed(who, -1) for who in ("command", *([] if case.store == "claude-memory" else ["both"]))}
    assert {(one.code, one.moments > 1) for one in whole.values()} == {(0, True)}
    after, archived = case.read(), case.archived()
    for moment in range(MOMENTS):
        who = "command" if case.store == "claude-memory" or moment % 3 == 0 else ("both", "helper")[moment % 3 - 1]
        at = moment * whole["both" if who == "helper" else who].moments // MOMENTS
        done = killed(who, at)
        assert done.code == (1 if who == "helper" else -signal.SIGKILL), (who, at)
        assert case.newly_landed() == 0, (who, at)
        case.push()
        assert (case.read(), case.archived()) == (after, archived), (who, at)
        assert case.push()["changes"] == [], (who, at)
        assert case.newly_landed() == 0, (who, at)
        for run in case.runs():
            case.push("--undo", run)
        assert case.read() == before, (who, at)
