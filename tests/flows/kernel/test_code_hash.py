"""The digest of the code covers every module and query, in whatever folder it lies."""

from pathlib import Path

import slowwave.flows.kernel.code_hash as module

ROOT = Path(__file__).resolve().parents[3]


def test_modules_and_queries_of_all_folders_are_read():
    read = [name for package in ("transforms", "flows") for name, _ in module._sources(ROOT / package, package)]
    there = [path for package in ("transforms", "flows") for path in (ROOT / package).rglob("*")]
    assert sorted(read) == sorted(path.relative_to(ROOT).as_posix() for path in there if path.suffix in {".py", ".sql"})


def test_a_folder_in_a_folder_counts(tmp_path):
    deep = tmp_path / "room" / "of" / "code"
    deep.mkdir(parents=True)
    (deep / "one.py").write_text("1")
    (deep / "one.txt").write_text("not code")
    (deep / "README.md").write_text("nor is a page")
    assert list(module._sources(tmp_path, "x")) == [("x/room/of/code/one.py", "1")]
