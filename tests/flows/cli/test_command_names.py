"""Commands have one name each, which help, pages and messages say; those they had before still work."""

from __future__ import annotations

import ast
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from shared_homes import published_home
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.cli import main as cli
from slowwave.flows.cli.groups import BESIDE, EXAMPLES, OLD_NAMES, SECTIONS

ROOT = Path(__file__).parents[3]
# Of each command that has an old name, arguments with which it changes nothing.
ARGUMENTS = {
    "disk": ("--format", "json"),
    "prune": ("--keep", "7"),
    "retain": ("--dry-run",),
    "erase": ("--memory", "m-1"),
    "lineage": ("memory_health", "--format", "json"),
    "methods": ("--format", "json"),
    "schema": ("memory_health",),
    "compare": ("echo/1", "echo/99", "--format", "json"),
    "diff": ("current", "current", "--format", "json"),
    "export": ("runs", "--force"),
    "curate": ("--dry-run", "--format", "json"),
}
# A reason that landed rows hold: it stays as it was written.
WRITTEN_IN_LAKES = {"flows/lake/lifetime/erased_rows.py", "tests/flows/lifetime/test_erasure.py"}
# What makes a command line of the words that it is given.
SPELLED_BY = {"command", "command_line", "whole_command_line"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """A published home."""
    rows = [memory("m-1"), interaction("i-1", memories_used=["m-1"]), outcome("o-1", interaction_id="i-1")]
    return published_home(tmp_path_factory.mktemp("names") / "home", *rows)


def test_the_help_lists_at_most_22_commands_in_four_sections(home: SmallHome) -> None:
    shown = home.ask("--help").stdout
    titles = re.findall(r"^([A-Z][a-z ]+):$", shown, flags=re.MULTILINE)
    listed = re.findall(r"^  ([a-z-]+)  +\S", shown.partition("\nDaily:")[2], flags=re.MULTILINE)
    assert titles == ["Options", "Daily", "Sources and sinks", "Decide", "Operate"]
    assert listed == [name for names in SECTIONS.values() for name in names]
    assert len(listed) <= 22
    assert len(SECTIONS["Operate"]) <= 4
    assert all(f"`slowwave {name}`" in shown for name in BESIDE)
    assert set(typer.main.get_command(cli.app).commands) == {*listed, *BESIDE}  # type: ignore[attr-defined] - a group


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_what_a_command_does_fits_its_line(columns: int, home: SmallHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in ([], ["lake"], ["inspect"]):
        shown = home.ask(*words, "--help").stdout
        assert max(map(len, shown.partition("[ARGS]...")[2].partition("Examples:")[0].splitlines())) <= columns


@pytest.mark.parametrize("old", OLD_NAMES)
def test_an_old_name_does_what_the_new_one_does(
    old: str, home: SmallHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (ARGUMENTS[old], ("--help",), ("--no-such-option",), ("\udcff",)):
        said = [home.ask(*words, *arguments) for words in ([old], OLD_NAMES[old].split())]
        # but for the time that it took
        before, now = [(one.returncode, re.sub(r"\d+ m?s\b", "", one.stdout), one.stderr) for one in said]
        assert before == now
    assert home.ask(old, "--help").stdout.startswith(f"Usage: slowwave {OLD_NAMES[old]} ")


def test_no_name_is_old_and_new() -> None:
    assert set(OLD_NAMES) & {*EXAMPLES, *BESIDE} == set()
    assert set(OLD_NAMES) == set(ARGUMENTS)


def test_only_a_terminal_is_told_the_new_name(home: SmallHome) -> None:
    assert home.run("methods", "--format", "json").stderr == ""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "slowwave.flows.cli.main", "methods", "--format", "json"]
    env = {**os.environ, "SLOWWAVE_HOME": str(home.folder)}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=theirs, check=True)
    os.close(theirs)
    told = os.read(ours, 1000).decode()
    os.close(ours)
    assert told == "slowwave: `slowwave methods` is `slowwave inspect methods` now; the next release ends it\r\n"
    assert done.stdout.decode() == home.ask("inspect", "methods", "--format", "json").stdout


def test_pages_and_messages_name_no_command_by_its_old_name() -> None:
    old = re.compile(rf"(?:slowwave|this_command\(\)\}}|cli\.main)[\s#\"'`]+({'|'.join(OLD_NAMES)})\b(?![-_.:/])")
    files = dict(_texts())
    assert {"README.md", "flows/care/doctor.py", "dashboards/cookbook/queries/memory/memory.sql"} <= set(files)
    found = {
        name: [match[0] for match in old.finditer(text)]
        for name, text in files.items()
        if name not in WRITTEN_IN_LAKES and name != "CHANGELOG.md"
    }
    assert {name: spelled for name, spelled in found.items() if spelled} == {}


def test_each_command_that_is_spelled_out_exists() -> None:
    firsts = {name.partition(" ")[0] for name in EXAMPLES}
    groups = {name.partition(" ")[0] for name in EXAMPLES if " " in name}
    spelled = [
        (name, *match.groups())
        for name, text in _texts()
        if not name.startswith("tests/") and name not in WRITTEN_IN_LAKES | {"CHANGELOG.md"}
        for match in re.finditer(r"`slowwave ([a-z][a-z-]*)(?: ([a-z]+))?", text)
    ]
    assert len(spelled) > 100
    assert [one for one in spelled if one[1] not in firsts] == []
    assert [one for one in spelled if one[1] in groups and one[2] and f"{one[1]} {one[2]}" not in EXAMPLES] == []


def test_command_lines_made_of_words_name_commands() -> None:
    called = [
        (name, [word.value for word in node.args if isinstance(word, ast.Constant)])
        for name, text in _texts()
        if name.startswith(("dashboards/", "flows/")) and name.endswith(".py")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPELLED_BY
    ]
    words = [(name, said) for name, said in called if said and said[0] in {one.partition(" ")[0] for one in EXAMPLES}]
    of_groups = [(name, " ".join(map(str, said[:2]))) for name, said in words if said[0] in {"lake", "inspect"}]
    assert len(words) > 20
    assert len(of_groups) > 2
    assert [one for one in of_groups if one[1] not in EXAMPLES] == []
    assert [said for _, said in called if said and said[0] in OLD_NAMES] == []


def _texts() -> Iterator[tuple[str, str]]:
    """The files of the project that hold text, by their paths."""
    for folder in ("", "dashboards", "data", "flows", "tests", "transforms"):
        for path in sorted((ROOT / folder).rglob("*") if folder else ROOT.glob("*")):
            if (
                path.is_file()
                and path.suffix in {".md", ".py", ".sql", ".toml", ".html", ""}
                and path != Path(__file__)
            ):
                yield str(path.relative_to(ROOT)), path.read_text(errors="replace")
