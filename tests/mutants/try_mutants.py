"""Tries each mutation of `mutants.toml` on the tests that reach it, in a copy of the tree; says which are caught.

Usage: try_mutants.py [--tree FOLDER] [--reached FILE] [--into FILE] [NUMBER…]. The tree is the checkout this lies in,
or another with the same tests; `--reached` keeps what was found out about who reaches what, or uses it if it is there.
Each mutation has at most two minutes of the processor, quick tests first, and ends with the first test that fails. A
test that fails without the mutation catches nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# Of the processor: how busy the machine is decides nothing.
MOST_SECONDS = 120
# CPU seconds of tests as they took when reached; the start of pytest needs some of the two minutes.
_MOST_OF_TESTS = 60.0
Mutant = dict[str, Any]


class Copy:
    """A copy of a tree, from which `slowwave` is imported, and tests run in it."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.root = folder / "tree"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=tree, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, self.root / name)
        (self.root / ".venv").symlink_to(tree / ".venv")
        (folder / "import").mkdir()
        (folder / "import" / "slowwave").symlink_to(self.root)
        self.python = tree / ".venv" / "bin" / "python"
        # what `make test` of that tree leaves out, but the slow ones: another tree may know other marks
        marks = re.search(r"^MARKS := (.+)$", (self.root / "Makefile").read_text(), re.MULTILINE)
        self.marks = marks[1].replace("slow or ", "") if marks else ""
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(folder / "import"), str(HERE)]),
        }

    def pytest(self, *arguments: str, most_seconds: int | None = None, **environment: str) -> tuple[int, str]:
        """Exit code, and what was said; it is killed when it has taken `most_seconds` of the processor."""
        limit = ["sh", "-c", f'ulimit -t {most_seconds}; exec "$@"', "sh"] if most_seconds else []
        done = subprocess.run(
            [*limit, self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
            cwd=self.root,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout


def place(root: Path, mutant: Mutant) -> int | None:
    """The number of the line that a mutation is about, from 0."""
    path = root / mutant["file"]
    lines = path.read_text().splitlines() if path.exists() else []
    found = [number for number, line in enumerate(lines) if line.strip() == mutant["line"]]
    nth = mutant.get("nth", 1)
    return found[nth - 1] if len(found) >= nth else None


def reached_by(copy: Copy, mutants: list[Mutant], folder: Path) -> dict[str, Any]:
    """Per file and line of a mutation the tests that reach it, and the seconds of each test."""
    lines: dict[str, list[int]] = {}
    for mutant in mutants:
        at = place(copy.root, mutant)
        if at is not None:
            lines.setdefault(str((copy.root / mutant["file"]).resolve()), []).append(at + 1)
    told = folder / "reached"
    told.mkdir()
    (folder / "lines.json").write_text(json.dumps(lines))
    code, said = copy.pytest(
        *("-p", "reached", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "-m", copy.marks),
        SLOWWAVE_REACHED=str(told),
        SLOWWAVE_LINES=str(folder / "lines.json"),
    )
    print(f"the tests without a mutation: exit {code}; {said.strip().splitlines()[-1]}", flush=True)
    seconds: dict[str, float] = {}
    found: dict[str, list[str]] = {mutant["file"]: [] for mutant in mutants}
    for file in told.iterdir():
        for row in map(json.loads, file.read_text().splitlines()):
            seconds[row["test"]] = row["seconds"]
            for where in row["reached"]:
                found[str(Path(where.rsplit(":", 1)[0]).relative_to(copy.root.resolve()))].append(row["test"])
    # a test and its other cases: what a cache holds is computed in one of them alone
    cases: dict[str, list[str]] = {}
    for test in seconds:
        cases.setdefault(test.split("[")[0], []).append(test)
    for file, tests in found.items():
        found[file] = sorted(test for name in {test.split("[")[0] for test in tests} for test in cases[name])
    return {"seconds": seconds, "tests": found}


def chosen(reached: dict[str, Any], mutant: Mutant) -> list[str]:
    """The tests to try: the quickest of each file first, then the next quickest, as far as time goes."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(reached["tests"][mutant["file"]], key=lambda test: reached["seconds"][test]):
        by_file.setdefault(test.split("::")[0], []).append(test)
    turns = [(turn, reached["seconds"][test], test) for tests in by_file.values() for turn, test in enumerate(tests)]
    taken, left = [], _MOST_OF_TESTS
    for _, seconds, test in sorted(turns):
        if seconds <= left:
            taken.append(test)
            left -= seconds
    return taken


def tried(copy: Copy, mutant: Mutant, tests: list[str], is_sound: dict[str, bool], folder: Path) -> str:
    """What became of a mutation."""
    at = place(copy.root, mutant)
    if at is None:
        return "GONE: the line is no longer there"
    path = copy.root / mutant["file"]
    before = path.read_text()
    lines = before.splitlines(keepends=True)
    mutated = "".join([*lines[:at], lines[at].replace(mutant["line"], mutant["becomes"]), *lines[at + 1 :]])
    while tests := [test for test in tests if is_sound.get(test, True)]:
        (folder / "tests.txt").write_text("\n".join(tests))
        path.write_text(mutated)
        try:
            code, said = copy.pytest("-x", "-m", "", f"@{folder / 'tests.txt'}", most_seconds=MOST_SECONDS)
        finally:
            path.write_text(before)
        if code in {-signal.SIGXCPU, -signal.SIGKILL}:
            return "survived: no test failed within two minutes"
        if code == pytest.ExitCode.OK:
            return f"survived {len(tests)} tests"
        if code == pytest.ExitCode.USAGE_ERROR and (left := _there(tests, said)) != tests:
            tests = left  # who reaches what was found out another day
            continue
        failed = _first_failed(tests, said)
        if not failed:
            return "caught: nothing can be collected" if "during collection" in said else f"UNCLEAR: {said[-300:]}"
        if failed not in is_sound:
            is_sound[failed] = copy.pytest("-m", "", failed)[0] == pytest.ExitCode.OK
        if is_sound[failed]:
            return f"caught by {failed}"
    return "survived: no test reaches it"


def _there(tests: list[str], said: str) -> list[str]:
    """The tests that pytest does find."""
    start = "ERROR: not found: "
    gone = tuple(line.removeprefix(start) for line in said.splitlines() if line.startswith(start))
    return [test for test in tests if not any(place.endswith((test, test.split("[")[0])) for place in gone)]


def _first_failed(tests: list[str], said: str) -> str:
    """The test that failed; a longer name before one that it begins with."""
    told = [line for line in said.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    longest = sorted(tests, key=len, reverse=True)
    return next((test for test in longest for line in told if line.split(" ", 1)[1].startswith(test)), "")


def main() -> None:
    """Try them and say what became of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=HERE.parents[1])
    parser.add_argument("--reached", type=Path)
    parser.add_argument("--into", type=Path)
    parser.add_argument("numbers", type=int, nargs="*")
    given = parser.parse_args()
    mutants = tomllib.loads((HERE / "mutants.toml").read_text())["mutant"]
    with tempfile.TemporaryDirectory(prefix="slowwave-mutants-") as name:
        folder = Path(name)
        copy = Copy(given.tree.resolve(), folder)
        if given.reached and given.reached.exists():
            reached = json.loads(given.reached.read_text())
        else:
            reached = reached_by(copy, mutants, folder)
            if given.reached:
                given.reached.write_text(json.dumps(reached))
        is_sound: dict[str, bool] = {}
        ends: dict[int, str] = {}
        for number in given.numbers or range(1, len(mutants) + 1):
            mutant = mutants[number - 1]
            ends[number] = tried(copy, mutant, chosen(reached, mutant), is_sound, folder)
            print(f"{number:2} {mutant['kind']:10} {mutant['file']}: {ends[number]}", flush=True)
            if given.into:
                given.into.write_text(json.dumps(ends, indent=1))
    caught = sum(end.startswith("caught") for end in ends.values())
    print(f"{caught} of {len(ends)} caught")
    sys.exit(any(end.startswith(("GONE", "UNCLEAR")) for end in ends.values()))


if __name__ == "__main__":
    main()
