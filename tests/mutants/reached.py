"""A pytest plugin: which tests enter a function of a mutated line, and the CPU seconds each took.

`SLOWWAVE_REACHED` names a folder for what is found, one file per process; `SLOWWAVE_LINES` a JSON file {path: [line]}.
Functions report by a call put at their beginning as their file is loaded: it costs nothing where nothing is looked for.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import time
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest

_LINES: dict[str, list[int]] = json.loads(Path(os.environ["SLOWWAVE_LINES"]).read_text())
_entered: set[str] = set()
_of_fixture: dict[int, set[str]] = {}
_get_code = SourceFileLoader.get_code
builtins.__dict__["_slowwave_entered"] = _entered.add


def _probed(self: SourceFileLoader, fullname: str) -> CodeType | None:
    path = str(Path(self.get_filename(fullname)).resolve())
    if path not in _LINES:
        return _get_code(self, fullname)
    tree = ast.parse(self.get_data(path))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for line in _LINES[path]:
        around = [one for one in functions if one.body[0].lineno <= line <= (one.end_lineno or 0)]
        inner = max(around, key=lambda one: one.lineno)
        probe = ast.parse(f"_slowwave_entered({f'{path}:{line}'!r})").body
        inner.body[:0] = probe
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


SourceFileLoader.get_code = _probed


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
    """Note what a fixture entered: every test that it serves reaches that."""
    before = set(_entered)
    _entered.clear()
    try:
        return (yield)
    finally:
        _of_fixture.setdefault(id(fixturedef), set()).update(_entered)
        _entered.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test entered, its fixtures included."""
    _entered.clear()
    began = time.process_time()
    result = yield
    served = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
    _entered.update(*(_of_fixture.get(id(one), ()) for ones in served for one in ones))
    found = {"test": item.nodeid, "seconds": round(time.process_time() - began, 3), "reached": sorted(_entered)}
    with (Path(os.environ["SLOWWAVE_REACHED"]) / f"{os.getpid()}.jsonl").open("a") as told:
        told.write(json.dumps(found) + "\n")
    return result
