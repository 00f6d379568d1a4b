"""Compiled loops are kept where they can be, compiled anew where not, and left out where numba does not work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from thorough import some

from slowwave.transforms.core import compiled
from slowwave.transforms.core.compiled import kernel

TRANSFORMS = Path(compiled.__file__).parents[1]
LOOP = """
import logging
logging.basicConfig(format="%(message)s")
from slowwave.transforms.core.compiled import compile_kernel

@compile_kernel("int64(int64)")
def doubled(one):
    return one + one

@compile_kernel("int64(int64)")
def tripled(one):
    return 3 * one

print(doubled(4), tripled(4), sum(tripled.stats.cache_hits.values()))
"""
ASKED_TWICE = """
import sys
{before}
from slowwave.transforms.core.compiled import kernel
print([kernel("evidence.echo.echo_kernel") is None for _ in range(2)])
"""


def _run(code: Path, **environment: str) -> tuple[str, list[str]]:
    """What a script prints, and the lines of its standard error."""
    done = subprocess.run(
        [sys.executable, code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.strip(), done.stderr.splitlines()


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    code = tmp_path / "loop.py"
    code.write_text(LOOP)
    return code


@pytest.mark.slow
@pytest.mark.parametrize(("which", "content"), some([("*.nbi", "no index"), ("*.nbi", ""), ("*.nbc", "")], 1))
def test_a_loop_is_compiled_once_and_kept_and_once_more_when_that_is_damaged(
    loop: Path, tmp_path: Path, which: str, content: str
) -> None:
    kept = tmp_path / "kept"
    assert _run(loop, NUMBA_CACHE_DIR=str(kept)) == ("8 12 0", [])
    assert _run(loop, NUMBA_CACHE_DIR=str(kept)) == ("8 12 1", [])
    for file in kept.rglob(which):
        file.write_text(content)
    assert _run(loop, NUMBA_CACHE_DIR=str(kept)) == ("8 12 0", [])
    assert _run(loop, NUMBA_CACHE_DIR=str(kept)) == ("8 12 1", [])


def test_a_loop_that_cannot_be_kept_works_and_says_so_once(loop: Path, tmp_path: Path) -> None:
    # no folder can be made in a file: neither beside the code, nor where the user's caches are, nor where asked for
    nowhere = tmp_path / "file"
    nowhere.touch()
    (loop.parent / "__pycache__").touch()
    printed, said = _run(loop, NUMBA_CACHE_DIR=str(nowhere / "x"), HOME=str(nowhere), XDG_CACHE_HOME=str(nowhere))
    assert printed == "8 12 0"
    assert len(said) == 1
    assert said[0].startswith("compiled loops cannot be kept")


@pytest.mark.parametrize(
    ("before", "environment", "lines"),
    [
        ("sys.modules['numba'] = None", {}, 1),
        ("sys.modules['slowwave.transforms.evidence.echo.echo_kernel'] = None", {}, 1),
        ("", {"NUMBA_DISABLE_JIT": "1"}, 0),
    ],
)
def test_where_nothing_can_be_compiled_there_is_no_kernel(
    before: str, environment: dict[str, str], lines: int, tmp_path: Path
) -> None:
    code = tmp_path / "asked.py"
    code.write_text(ASKED_TWICE.format(before=before))
    printed, said = _run(code, **environment)
    assert printed == "[True, True]"
    assert len(said) == lines
    assert all("takes longer with the same results" in line for line in said)


def test_every_loop_can_be_compiled() -> None:
    loops = sorted(path.relative_to(TRANSFORMS) for path in TRANSFORMS.rglob("*_kernel.py"))
    assert len(loops) >= 5
    for path in loops:
        assert kernel(".".join(path.with_suffix("").parts)) is not None, path
