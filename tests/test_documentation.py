"""Every command in the pages and in the help texts runs, and the pages name what there is."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import chat_records
import duckdb
import pytest
import typer.main
from each import each
from langfuse_exports import exported
from langfuse_rows import trace
from otlp_documents import chat, span, traces
from store_rows import heuristic, write_store

from slowwave.data.sample import write_sample
from slowwave.flows.cli import main as cli
from slowwave.flows.cli.groups import EXAMPLES
from slowwave.flows.engines.settings import EngineSettings, engine_settings
from slowwave.flows.imports.connections import connections
from slowwave.flows.imports.sources import SOURCES
from slowwave.flows.kernel.bearer_tokens import add_token
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import parse_as_of
from slowwave.flows.lifetime.retention import read_retention_rules
from slowwave.flows.nightly.nightly import nightly, start_run
from slowwave.flows.nightly.notify import notify_settings
from slowwave.flows.publish_to.target import Postgres, settled_target
from slowwave.transforms.graph import EVIDENCE, SERVING
from slowwave.transforms.imports.adapter import Context
from slowwave.transforms.imports.otlp.adapter import Otlp
from slowwave.transforms.landing.mapping.rules import declared_mapping
from slowwave.transforms.landing.tables import LANDED
from slowwave.transforms.params import Params

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for pattern in ("*.md", "*/README.md", "flows/*/README.md")
    for path in sorted(ROOT.glob(pattern))
    if not path.relative_to(ROOT).parts[0].startswith(".")
}
README, ALL = PAGES["README.md"], "\n".join(PAGES.values())
# These start Prefect, or do not end: they run in processes of their own.
NIGHTS = ("slowwave demo", "slowwave nightly", "slowwave backfill")
ENDLESS = ("slowwave capture", "slowwave serve", "slowwave dashboard", "slowwave mcp --http")
# What a shell runs as it stands; the rest are make's targets, installing, and what test_other_tools.py runs.
SHELL = ("mkdir ", "cp ")
ELSEWHERE = (
    "make ",
    "duckdb ",
    ".venv/bin/pip install ",
    "export SLOWWAVE_LLM_URL=",
    "export SLOWWAVE_LAKE=",
    "export AWS_",
)


def _blocks(language: str, text: str = ALL) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def _shell_lines(text: str = ALL) -> list[str]:
    lines = [re.sub(r"\s+#.*$", "", line).strip() for block in _blocks("sh", text) for line in block.splitlines()]
    return [line for line in lines if line]


def _commands(kind: tuple[str, ...] = ()) -> list[str]:
    """The commands that begin so, each once; without `kind` those that run in this process."""
    examples = [line for lines in EXAMPLES.values() for line in lines]
    every = dict.fromkeys([*(line for line in _shell_lines() if line.startswith("slowwave")), *examples])
    every = dict.fromkeys(
        sorted(every, key=lambda line: line.startswith("slowwave lake erase"))
    )  # of what is gone, none runs
    is_apart = {line: line.startswith((*NIGHTS, *ENDLESS)) and "--plan" not in line for line in every}
    return [line for line in every if (is_apart[line] and line.startswith(kind) if kind else not is_apart[line])]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a published home in `home` and a few files to land."""
    folder = tmp_path_factory.mktemp("sandbox")
    settings = Settings(folder / "home")
    write_sample(settings.inbox, days=4, interactions_per_day=30)
    with writer_lock(settings, "test"):
        for as_of in ("2026-03-03", "2026-03-06"):
            nightly(start_run(settings, "nightly"), as_of=parse_as_of(as_of))
    (folder / "logs").mkdir()
    row = {"prompt": "Deploy it", "created_at": "2026-03-02T10:00:00Z", "interaction_id": "documented"}
    for name in ("runs.jsonl", "logs/day.jsonl"):
        (folder / name).write_text(json.dumps(row) + "\n")
    foreign = {"question": "Where?", "completion": "There.", "created_at": 1772900000, "tool": "grep"}
    (folder / "app.jsonl").write_text(json.dumps(foreign) + "\n")
    subprocess.run(["gzip", "-k", "logs/day.jsonl"], cwd=folder, check=True)
    (folder / "sessions").mkdir()
    session = {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-03-02T10:00:00Z", "cwd": "/srv/shop"}
    asked = {"type": "message", "id": "a1", "parentId": None, "timestamp": "2026-03-02T10:00:01Z",
             "message": {"role": "user", "content": "Deploy it"}}  # fmt: skip
    (folder / "sessions" / "s-1.jsonl").write_text(f"{json.dumps(session)}\n{json.dumps(asked)}\n")
    for name in (".alma", ".claude"):
        (folder / name).mkdir()
    write_store(folder / ".alma" / "alma.db", "alma", {"heuristics": [heuristic("h1")]})
    typed = {"type": "user", "uuid": "u-1", "sessionId": "s-2", "timestamp": "2026-03-02T10:00:00Z",
             "cwd": "/srv/shop", "version": "2.1.0", "message": {"role": "user", "content": "Deploy it"}}  # fmt: skip
    transcripts = folder / ".claude" / "projects" / "-work-shop"
    transcripts.mkdir(parents=True)
    (transcripts / "s-2.jsonl").write_text(f"{json.dumps(typed)}\n")
    (folder / ".claude" / "CLAUDE.md").write_text("# Tone\nBe brief.\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SLOWWAVE_HOME", str(folder / "home"))
        assert cli._exit_code(["import", "claude-memory", str(folder / ".claude")]) == 0
    (folder / "telemetry").mkdir()
    asked_span = traces(span(1, chat("Which port?", "5432.")))
    (folder / "telemetry" / "traces.jsonl").write_text(f"{json.dumps(asked_span)}\n")
    exported(folder / "langfuse-export", {"traces": [trace()]})
    (folder / "export").mkdir()
    (folder / "export" / "conversations.json").write_text(json.dumps(chat_records.chatgpt()))
    storage = folder / ".config" / "Cursor" / "User" / "globalStorage"
    storage.mkdir(parents=True)
    chat_records.write_cursor_database(storage / "state.vscdb", broken=False)
    add_token(settings, "old-api", "capture", "shop")
    (folder / "teams.csv").write_text("project,team\nwebshop,red\n")
    (folder / "memories.csv").write_text("memory_id,changed_at,content,status\nm-csv,2026-03-01,Use tabs,active\n")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("line", _commands())
def test_documented_command_runs(line: str, sandbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(sandbox / "home"))
    monkeypatch.setenv("HOME", str(sandbox))
    monkeypatch.chdir(sandbox)
    memory = _known_memory(sandbox)
    line = line.replace("MEMORY_ID", memory).replace("ITEM_ID", _known_candidate(sandbox))
    if line.startswith("slowwave memory undo"):  # the page edits it first; here each line runs in any order
        assert cli._exit_code(["memory", "edit", memory, "--content", "To be taken back.", "--yes"]) == 0
    if "|" in line and "'" not in line:
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        assert subprocess.run(["bash", "-c", line], env=env, check=False).returncode == 0
    elif line.startswith("slowwave status"):
        # the sample month lies in the past or the future of the machine's clock: fresh or not, it must say so
        assert cli._exit_code(shlex.split(line)[1:]) in {0, 1}
    else:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))  # a client that asks nothing
        assert cli._exit_code(shlex.split(line)[1:]) == 0


def _known_memory(sandbox: Path) -> str:
    with duckdb.connect(Settings(sandbox / "home").current, read_only=True) as connection:
        rows = connection.sql("SELECT memory_id FROM memory_health ORDER BY echoed_count DESC LIMIT 1").fetchall()
    return rows[0][0]


def _known_candidate(sandbox: Path) -> str:
    with duckdb.connect(Settings(sandbox / "home").current, read_only=True) as connection:
        rows = connection.sql("SELECT min(item_id) FROM review_queue WHERE kind = 'candidate'").fetchall()
    return rows[0][0]


def test_every_line_of_a_shell_is_run_by_some_test() -> None:
    lines = _shell_lines()
    assert len(lines) > 80
    assert [line for line in lines if not line.startswith(("slowwave ", *SHELL, *ELSEWHERE))] == []


@pytest.mark.slow
@pytest.mark.parametrize("line", _commands(NIGHTS))
def test_documented_night_runs(line: str, sandbox: Path, tmp_path: Path) -> None:
    """In a process of its own, with Prefect, on a copy of the home; the demo makes one."""
    if line != "slowwave demo":
        shutil.copytree(sandbox / "home", tmp_path / "home", symlinks=True)
    line = line.replace("MEMORY_ID", _known_memory(sandbox))
    done = subprocess.run(["bash", "-c", line], env=_environment(tmp_path / "home"), cwd=tmp_path, check=False)
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("line", _commands(ENDLESS))
def test_what_goes_on_begins_and_ends_when_it_is_told_to(line: str, sandbox: Path, tmp_path: Path) -> None:
    shutil.copytree(sandbox / "home", tmp_path / "home", symlinks=True)
    begun = subprocess.Popen(
        ["bash", "-c", f"exec {line}"], env=_environment(tmp_path / "home"), cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert begun.stdout is not None
        with begun.stdout:
            assert any("http://" in said for said in begun.stdout)  # its address comes when it answers
        begun.send_signal(signal.SIGINT)
        assert begun.wait(timeout=600) in {0, 128 + signal.SIGINT}
    finally:
        begun.kill()
        begun.wait()


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    return {**kept, "SLOWWAVE_HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def test_what_is_made_has_a_target() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = {*re.findall(r"`make ([a-z-]+)", ALL), *(line.split()[1] for line in _shell_lines() if "make " in line[:5])}
    assert {"demo", "test", "bench"} <= named <= set(targets)


@pytest.mark.slow
def test_a_backup_is_a_home_again(sandbox: Path, tmp_path: Path) -> None:
    lines = [line for line in _shell_lines(PAGES["flows/README.md"]) if line.startswith(SHELL)]
    env = {**os.environ, "SLOWWAVE_HOME": str(sandbox / "home")}
    query = "SELECT * EXCLUDE (run_id) FROM memory_health ORDER BY memory_id"
    found = []
    for settings in (Settings(sandbox / "home"), Settings(tmp_path / "backup")):
        if found:  # what other tests landed here is built by now
            subprocess.run(["bash", "-ec", "\n".join(lines)], env=env, cwd=tmp_path, check=True)
        with writer_lock(settings, "test"):
            night = nightly(start_run(settings, "nightly"), as_of=parse_as_of("2026-03-06"))
        with duckdb.connect(settings.current, read_only=True) as connection:
            found.append(connection.sql(query).fetchall())
    assert night.built == []
    assert found[0] == found[1]


def test_every_command_has_examples_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined] - a group
    assert set(commands) == {name.partition(" ")[0] for name in EXAMPLES}
    assert all(command.help for command in commands.values())
    for name, lines in EXAMPLES.items():
        assert cli._exit_code([*name.split(), "--help"]) == 0
        shown = capsys.readouterr().out
        for line in lines:
            assert line in shown


def test_every_command_has_its_row_and_every_row_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    for command in EXAMPLES:
        assert re.search(rf"\| .*`{command}\b", README), command
    (listed,) = re.findall(r"\| table \|.*?\n\n", PAGES["dashboards/README.md"], flags=re.DOTALL)
    named = {name for row in listed.strip().splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named - {table.name for table in (*SERVING, *LANDED)} == set()
    assert {"memory_health", "heuristics", "runs"} <= named
    assert cli._exit_code(["inspect", "schema"]) == 0
    told = capsys.readouterr().out
    assert [table.name for table in (*SERVING, *EVIDENCE, *LANDED) if f"\n  {table.name} " not in told] == []


@pytest.mark.parametrize(
    ("page", "options", "least"), [("transforms/README.md", [], 100), ("README.md", ["--rooms"], 30)]
)
def test_the_pictures_of_the_graph_show_what_is(
    page: str, options: list[str], least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (picture,) = _blocks("mermaid", PAGES[page])
    assert cli._exit_code(["inspect", "lineage", *options, "--format", "mermaid"]) == 0
    drawn = _drawn(capsys.readouterr().out)
    assert len(_drawn(picture)) > least
    assert _drawn(picture) - drawn == set()  # what is new may be missing until it is drawn anew


def _drawn(picture: str) -> set[tuple[str, str]]:
    """What a picture shows: what there is, and from what to what a line goes."""
    lines = [line.strip().partition(" --> ") for line in picture.splitlines()]
    return {(start, end) for starts, _, end in lines for start in starts.split(" & ")}


def test_every_page_is_reached_from_the_readme_which_is_short() -> None:
    assert len(README.splitlines()) <= 200
    assert set(PAGES) - {"README.md"} <= set(_links(README))


def test_every_dependency_has_its_reason() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    stands_on = PAGES["CONTRIBUTING.md"].split("## What it stands on")[1]
    for requirement in listed:
        name = re.match(r"[A-Za-z0-9_-]+", requirement)
        assert name is not None
        assert name[0] in stands_on


@each("page", PAGES)
def test_paths_and_links_lead_somewhere(page: str) -> None:
    for path in re.findall(r"`((?:transforms|flows|tests|data|dashboards)/[\w./]*)`", PAGES[page]):
        assert "NAME" in path or "ROOM" in path or page == "CHANGELOG.md" or (ROOT / path).exists(), path
    for link in _links(PAGES[page]):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor:
            assert anchor in _anchors(target.read_text()), link


def _links(text: str) -> list[str]:
    return re.findall(r"\]\((?!https?:)([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def _anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as those who show Markdown make them."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_stated_params_are_params() -> None:
    blocks = _blocks("toml")
    assert len(blocks) > 1
    others = ("[notify]", "[engine]", "[retention]", "[fields]", "[imports.", "[[connection]]", "[publish_to]")
    for block in blocks:
        if not any(other in block for other in others):
            Params.model_validate(tomllib.loads(block))  # raises where a name or a value is not one


def test_stated_settings_are_settings(tmp_path: Path) -> None:
    (block,) = (block for block in _blocks("toml") if "[notify]" in block)
    Settings(tmp_path).settings_file.write_text(block)
    assert notify_settings(Settings(tmp_path)) is not None


def test_stated_engines_are_engines(tmp_path: Path) -> None:
    (block,) = (block for block in _blocks("toml") if "[engine]" in block)
    Settings(tmp_path).settings_file.write_text(block)
    assert engine_settings(Settings(tmp_path)) == EngineSettings("dask", "", 4, 4 * 10**9, 3600.0)


def test_stated_rules_of_retention_are_rules(tmp_path: Path) -> None:
    (block,) = (block for block in _blocks("toml") if "[retention]" in block)
    Settings(tmp_path).settings_file.write_text(block)
    assert read_retention_rules(Settings(tmp_path)).is_any


def test_stated_settings_of_imports_are_settings(tmp_path: Path) -> None:
    (block,) = (block for block in _blocks("toml") if "[imports." in block)
    Settings(tmp_path).settings_file.write_text(block)
    stated = Settings(tmp_path).read_section("imports", {source.name for source in SOURCES})["otlp"]
    assert [*Otlp().make_rows([], Context(options=stated))] == []  # raises where a name or a value is not one


def test_a_stated_place_to_publish_to_is_one(tmp_path: Path) -> None:
    (block,) = (block for block in _blocks("toml") if "[publish_to]" in block)
    Settings(tmp_path).settings_file.write_text(block)
    assert isinstance(settled_target(Settings(tmp_path)), Postgres)


def test_stated_connections_are_connections(tmp_path: Path) -> None:
    blocks = [block for block in _blocks("toml") if "[[connection]]" in block]
    assert len(blocks) > 1
    Settings(tmp_path).connections_file.write_text("".join(blocks))
    assert {one.source for one in connections(Settings(tmp_path))} <= {source.name for source in SOURCES}


def test_stated_mappings_are_mappings() -> None:
    (block,) = (block for block in _blocks("toml") if "[fields]" in block)
    assert declared_mapping("app", tomllib.loads(block)).keeps_unknown


@pytest.mark.parametrize(
    ("page", "kinds"),
    [("README.md", ["memory_id", "prompt", "success"]), ("flows/land/README.md", ["prompt", "success"])],
)
def test_the_producers_example_reaches_the_inbox(tmp_path: Path, page: str, kinds: list[str]) -> None:
    (example,) = _blocks("python", PAGES[page])
    env = {**os.environ, "SLOWWAVE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", example], check=True, env=env, cwd=tmp_path, timeout=300)
    rows = [json.loads(line) for file in (tmp_path / "inbox").glob("*.jsonl") for line in file.read_text().splitlines()]
    assert sorted(kind for row in rows for kind in ("memory_id", "prompt", "success") if kind in row) == kinds


def test_the_lines_of_json_land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lines,) = _blocks("json", README)
    (tmp_path / "runs.jsonl").write_text(lines)
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "home"))
    assert cli._exit_code(["land", str(tmp_path / "runs.jsonl"), "--max-refused", "0"]) == 0


@pytest.mark.slow
def test_the_sample_is_made_as_its_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = _blocks("python", PAGES["data/README.md"])
    (tmp_path / "data" / "inbox").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "data/README.md", "exec"), {})  # noqa: S102 - our own page
    assert len(list((tmp_path / "data" / "inbox").iterdir())) == 171
