"""How often `transcript_tests/1` speaks, and how often it is right, on real runs of the runners installed here.

Run as a program, it makes small projects in a folder of its own, runs each line in a real shell as a coding agent
would, and prints a table (`--show`: every run); Jest and Vitest run where `--node-modules` is a folder with both:

    .venv/bin/python tests/support/imports/inferred_tests.py [--node-modules FOLDER] [--show]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import polars as pl
from real_runs import RealRun, real_runs

from slowwave.transforms.imports.adapter import Call, Turn
from slowwave.transforms.imports.inferred.inferred_outcomes import transcript_tests

_SECONDS = 300  # for one line: a compiler needs long the first time
_PROGRAMS = {"go": "go", "cargo": "cargo", "rspec": "rspec", "exunit": "mix"}


def is_installed(runner: str, node_modules: Path | None) -> bool:
    """Whether runs of this runner can be had here."""
    if runner in {"pytest", "unittest"}:
        return True
    if runner in {"jest", "vitest"}:
        return node_modules is not None and (node_modules / ".bin" / runner).exists()
    return shutil.which(_PROGRAMS[runner]) is not None and (runner != "cargo" or _has_toolchain())


@cache
def _has_toolchain() -> bool:
    """Whether cargo runs: rustup leaves one that does not where no toolchain is chosen, as with another HOME."""
    return subprocess.run(["cargo", "--version"], capture_output=True, check=False).returncode == 0


def call_of(run: RealRun, folder: Path, node_modules: Path | None) -> Call:
    """The tool call that a coding agent would have made of the run, in a new folder."""
    for name, text in run.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if node_modules is not None:
        (folder / "node_modules").symlink_to(node_modules.resolve())
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    environment |= {"CARGO_TARGET_DIR": str(folder.parent / "target"), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["bash", "-c", run.line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=False,
    )
    return Call("c", "shell", run.line, done.stdout.decode(errors="replace"), done.returncode)


def inferred_of(call: Call) -> bool | None:
    """What is said of the tests of a turn with this one call; None: nothing."""
    verdict = transcript_tests(Turn("i", "", "", "p", calls=[call]))
    return None if verdict is None else verdict.is_success


def judged_runs(folder: Path, node_modules: Path | None) -> list[tuple[RealRun, Call, bool | None]]:
    """Every run that can be had here, and what was said of it."""
    judged = []
    for number, run in enumerate(real_runs()):
        if is_installed(run.runner, node_modules):
            place = folder / str(number)
            place.mkdir()
            call = call_of(run, place, node_modules if run.runner in {"jest", "vitest"} else None)
            judged.append((run, call, inferred_of(call)))
    return judged


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--node-modules", type=Path)
    asked.add_argument("--show", action="store_true")
    given = asked.parse_args()
    left_out = sorted({run.runner for run in real_runs() if not is_installed(run.runner, given.node_modules)})
    with tempfile.TemporaryDirectory() as folder:
        judged = judged_runs(Path(folder), given.node_modules)
    for run, call, said in judged if given.show else []:
        print(f"\n{run.runner}, {run.name}: {run.line}\n  true: {run.truth}, said: {said}, exit code {call.exit_code}")
        print("  | " + "\n  | ".join(call.output.splitlines()[-12:]))
    rows = [
        {"runner": run.runner, "told": run.truth is not None, "spoke": said is not None, "right": said is run.truth}
        for run, _, said in judged
    ]
    spoke = pl.col("spoke")
    table = pl.DataFrame(rows).group_by("runner", maintain_order=True)
    with pl.Config(tbl_rows=-1):
        print(
            table.agg(
                pl.len().alias("runs"),
                pl.col("told").sum().alias("with something to tell"),
                spoke.sum().alias("spoke"),
                (spoke & pl.col("right")).sum().alias("right"),
            )
        )
    for run, _, said in judged:
        if said is not None and said is not run.truth:
            print(f"wrong: {run.runner}, {run.name}")
    print(f"not installed, left out: {', '.join(left_out) or 'none'}", file=sys.stderr)


if __name__ == "__main__":
    main()
