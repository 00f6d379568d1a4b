"""`slowwave inspect lineage`: what a table is made from, from the graph that computes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import duckdb
import pytest
from shared_homes import published_home
from small_home import SmallHome, interaction, memory

from slowwave.flows.ask.lineage import run_lineage
from slowwave.flows.ask.lineage_steps import LineageStep, by_room, last_run, lineage
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.transforms.graph import EVIDENCE, NODES, PUBLISHED, STATES

TABLES = sorted({table.name for table in (*PUBLISHED, *EVIDENCE, *STATES)})
Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run the command in a home where nothing is published."""

    def run(table: str | None = None, output: str = "text") -> str:
        run_lineage(Settings(home=tmp_path / "home"), table, output=output)
        return capsys.readouterr().out

    return run


def of_home(settings: Settings, table: str | None) -> list[LineageStep]:
    """The steps as the command has them."""
    return lineage(table, settings.params(), last_run(settings))


def steps(table: str | None, home: Path) -> dict[str, LineageStep]:
    """By id."""
    return {step.id: step for step in of_home(Settings(home=home), table)}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_reaches_landed_columns(table: str, tmp_path: Path):
    found = steps(table, tmp_path)
    assert list(found.values())[-1].name == table
    seen: set[str] = set()
    for step in found.values():
        assert set(step.sources) <= seen, "a step stands behind its sources"
        seen.add(step.id)
    read = [names for step in found.values() for id_, names in step.sources.items() if found[id_].kind == "landed"]
    assert read
    assert all(read)
    used = {source for step in found.values() for source in step.sources}
    assert set(found) - used == {list(found)[-1]}, "everything told is a source of the table"


def test_rooms_hold_every_table_once_and_take_from_what_their_tables_take_from(tmp_path: Path):
    all_steps = of_home(Settings(home=tmp_path), None)
    rooms = by_room(all_steps)
    held = [name for room in rooms if room.kind == "room" for name in room.about.split(", ")]
    assert sorted(held) == TABLES
    of_table = {name: room.id for room in rooms if room.kind == "room" for name in room.about.split(", ")}
    landed = {step.id: step.id for step in all_steps if step.kind == "landed"}
    room_of = {step.id: landed.get(step.id) or of_table[step.name] for step in all_steps}
    between = {(room_of[source], room_of[step.id]) for step in all_steps for source in step.sources}
    assert {(source, room.id) for room in rooms for source in room.sources} == {(a, b) for a, b in between if a != b}


def test_a_table_and_rooms_are_not_asked_for_together(tmp_path: Path):
    with pytest.raises(UserError, match="'memory_health'"):
        run_lineage(Settings(home=tmp_path), "memory_health", output="text", rooms=True)


def test_without_a_table_every_one_is_told_and_nothing_that_is_handed_on(tmp_path: Path):
    found = steps(None, tmp_path)
    assert {step.name for step in found.values() if step.kind != "landed"} == set(TABLES)
    assert {step.kind for step in found.values()} == {"landed", "evidence", "state", "published"}
    health = found["published_memory_health"]
    assert {"landed_memories", "landed_outcomes", "evidence_reference_days"} <= set(health.sources)


def test_evidence_that_is_published_too_is_told_apart(tmp_path: Path):
    found = steps("memory_references", tmp_path)
    assert list(found)[-1] == "published_memory_references"
    assert found["published_memory_references"].sources == {"evidence_memory_references": ()}
    assert set(found["evidence_memory_references"].sources["landed_interactions"]) >= {"memories_used", "response"}


def test_how_each_table_is_reused_is_told(tmp_path: Path, ask: Ask):
    found = steps(None, tmp_path)
    assert {step.name for step in found.values() if step.kind != "landed" and not step.reuse} == set()
    told = {name: found[f"published_{name}"].reuse for name in ("memory_health", "landed_days", "counted_outcomes")}
    assert told == {
        "memory_health": "written whole each night",
        "landed_days": "rows of unchanged days are reused",
        "counted_outcomes": "rows of days that come out the same stay",
    }
    assert found["published_memory_health_history"].reuse == "rows before the first changed day are reused"
    assert "  written whole each night · " in ask()


def test_rows_are_those_of_the_last_publish(tmp_path: Path):
    home = published_home(tmp_path / "home", memory("m-1"), memory("m-2"), interaction("i-1", memories_used=["m-1"]))
    found = {step.id: step for step in of_home(home.settings, None)}
    told = {step.name: step.rows for step in found.values() if step.kind == "published"}
    with duckdb.connect(home.settings.current.resolve(), read_only=True) as connection:
        held = {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0] for name in told}  # noqa: S608 - declared names
    assert told == held
    assert told["memory_health"] == 2


def test_costs_are_those_of_the_last_publish(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    home.land(memory("m-1"), interaction("i-1", memories_used=["m-1"]))
    assert {step.cpu_seconds for step in of_home(home.settings, None)} == {None}
    home.nightly()
    with duckdb.connect(home.settings.current.resolve(), read_only=True) as connection:
        noted = dict(connection.execute("SELECT step, cpu_seconds FROM run_steps").fetchall())
    costs = {step.made_by.partition(":")[2]: step.cpu_seconds for step in of_home(home.settings, "memory_health")}
    assert {"judged_health", "memory_references", "memory_eligibility", "memory_timelines"} <= noted.keys()
    assert costs["judged_health"] == noted["judged_health"]
    assert sum(noted.values()) > 0


def test_the_tree_tells_each_step_once_and_its_columns_where_they_are_read(ask: Ask):
    text = ask("project_health")
    heads = [line.lstrip("│├└─ ").split("  ")[0] for line in text.splitlines()[4:]]
    handed = {given.name for node in NODES for given in node.outputs if not isinstance(given, type)}
    expanded = [head for head, line in zip(heads, text.splitlines()[4:], strict=True) if "(see above)" not in line]
    assert len([head for head in expanded if head in handed]) == len({head for head in expanded if head in handed})
    assert "interactions  interaction_id, created_at, project, agent, session_id, user_id\n" in text
    assert "Made by slowwave.transforms." in text


def test_json_is_a_list_of_steps(ask: Ask):
    told = json.loads(ask("heuristics", "json"))
    assert told[-1]["name"] == "heuristics"
    assert set(told[-1]) == set(LineageStep.__dataclass_fields__)
    assert "heuristic/3" in told[-1]["methods"]


def test_mermaid_draws_every_source(ask: Ask, tmp_path: Path):
    text = ask("memory_days", "mermaid")
    found = steps("memory_days", tmp_path)
    lines = text.splitlines()
    assert lines[0] == "flowchart LR"
    drawn = [line.strip().split(" --> ") for line in lines if "-->" in line]
    arrows = [(source, end) for sources, end in drawn for source in sources.split(" & ")]
    assert sorted(arrows) == sorted((source, step.id) for step in found.values() for source in step.sources)
    assert len(lines) == 1 + len(found) + len(drawn)


@pytest.mark.parametrize("table", [None, "memory_health"])
def test_the_page_needs_no_network_and_draws_every_step(table: str | None, ask: Ask, tmp_path: Path):
    page = ask(table, "html")
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    Reader().feed(page)
    found = steps(table, tmp_path)
    assert [tag for tag, _ in tags].count("g") == len(found)
    assert not [attributes for _, attributes in tags if {"src", "href"} & set(attributes)]
    corners = [(a["x"], a["y"]) for tag, a in tags if tag == "rect" and "x" in a]
    assert len(set(corners)) == len(corners) == len(found), "no two stand on each other"
    assert [tag for tag, _ in tags].count("path") == sum(len(step.sources) for step in found.values())


def test_an_unknown_table_is_refused_with_those_that_are(ask: Ask):
    with pytest.raises(UserError, match=r"nothing is made that is called 'banana': the tables are .*memory_health"):
        ask("banana")
