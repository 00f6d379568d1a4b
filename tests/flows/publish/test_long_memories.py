"""Long memories: the passage that was used is published, and `why` shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from released_homes import published
from small_home import SmallHome, interaction, memory

SENTENCES = (
    "The staging port is 8443, not 8080, and it is only reached from inside.",
    "Grace prefers tabs over spaces in Python files.",
    "The nightly backup of the orders database runs at 02:30 and takes forty minutes.",
    "Customers in Norway are invoiced in kroner, all others in euro.",
    "The wiki is read-only while the migration is under way.",
    "Ada rewrote the billing importer to stream invoices in small batches.",
)
HANDBOOK = " ".join(SENTENCES)
ANSWER = "Each night at 02:30 the orders database is backed up, which takes forty minutes."


def _landed(folder: Path) -> SmallHome:
    made = SmallHome(folder / "home")
    made.land(
        *(memory(f"m{n}", content=f"Ticket {n} is about shelf {n * 7} in the cellar of the mill") for n in range(9)),
        memory("handbook", changed_at="2026-03-03T08:00:00Z", content=HANDBOOK),
        interaction("early", response="Ticket 3 is about shelf 21 in the cellar of the mill, as far as I know."),
        interaction("late", created_at="2026-03-03T09:00:00Z", prompt="When does the backup run?", response=ANSWER),
    )
    return made


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> SmallHome:
    made = _landed(tmp_path_factory.mktemp("long"))
    made.nightly()
    return made


@pytest.mark.slow
def test_the_passage_is_published(home):
    rows = "SELECT interaction_id, passage, passage_at, methods FROM memory_references WHERE memory_id = 'handbook'"
    assert published(home, rows) == [("late", SENTENCES[2], HANDBOOK.index(SENTENCES[2]), ["used/3"])]


@pytest.mark.slow
def test_why_tells_the_passage_and_its_place(home):
    begin = HANDBOOK.index(SENTENCES[2])
    for asked, key in (("handbook", "interaction_id"), ("late", "memory_id")):
        told = json.loads(home.ask("why", asked, "--format", "json").stdout)["used"]
        assert [(row["passage"], row["passage_at"]) for row in told] == [(SENTENCES[2], begin)]
        assert told[0][key] in {"late", "handbook"}
        text = " ".join(home.ask("why", asked, "--all").stdout.split())
        assert f"by its characters {begin + 1}-{begin + len(SENTENCES[2])} which say “{SENTENCES[2]}”" in text


@pytest.mark.slow
def test_why_of_a_short_memory_tells_no_passage(home):
    (used,) = json.loads(home.ask("why", "m3", "--format", "json").stdout)["used"]
    assert used["passage"] is used["passage_at"] is None
    assert "on “" not in home.ask("why", "m3", "--all").stdout
