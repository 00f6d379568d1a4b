"""`slowwave push` to stores that their own libraries made: what these read before and after."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from library_stores import (
    ALMA,
    ASTROCYTE,
    LANGGRAPH,
    LIBRARIES,
    Made,
    newly_landed,
    of_alma,
    of_astrocyte,
    published,
    pushed,
)
from small_home import SmallHome

pytestmark = pytest.mark.slow
EACH = [pytest.param(each, id=each.name) for each in LIBRARIES]


@pytest.mark.parametrize("made", EACH)
def test_a_store_of_a_library_takes_scores_and_decisions_and_gives_them_back(made: Made, tmp_path: Path):
    home, path = SmallHome(tmp_path / "home"), tmp_path / "store.db"
    published(home, made, path)
    before, raw = made.read(path), path.read_bytes()
    told = pushed(home, made, path)
    assert {made.used, made.other} <= {one["memory_id"] for one in told["changes"]}
    assert path.read_bytes() == raw
    first = pushed(home, made, path, "--yes")
    after = made.read(path)
    assert after.keys() == before.keys()
    assert after[made.used]["said"].removeprefix("slowwave: ").startswith("confidence 0.")
    assert "verdict" in after[made.other]["said"]
    if made is ALMA:
        assert after[made.used]["confidence"] not in (0.6, None)
        assert after[made.other]["confidence"] == 0.5
        assert before["alma:preferences:p1"] == after["alma:preferences:p1"]
        assert told["not_touched"] == [["alma:preferences:p1", "of the user ann: name them with --user"]]
    else:
        assert {one: said["rest"] for one, said in after.items()} == {one: said["rest"] for one, said in before.items()}
    assert newly_landed(home, made, path) == 0
    assert pushed(home, made, path, "--yes")["changes"] == []
    assert home.ask("memory", "archive", made.other, "--yes").returncode == 0
    second = pushed(home, made, path, "--yes")
    assert [one["memory_id"] for one in second["changes"]] == [made.other]
    assert made.other not in made.read(path)
    assert newly_landed(home, made, path) == 0
    assert pushed(home, made, path, "--yes")["changes"] == []
    pushed(home, made, path, "--undo", second["run"], "--yes")
    assert made.read(path) == after
    assert newly_landed(home, made, path) == 0
    pushed(home, made, path, "--undo", first["run"], "--yes")
    assert made.read(path) == before
    assert newly_landed(home, made, path) == 0


@pytest.mark.parametrize("made", EACH)
def test_what_a_library_changed_since_is_refused(made: Made, tmp_path: Path):
    home, path = SmallHome(tmp_path / "home"), tmp_path / "store.db"
    published(home, made, path)
    made.change(path)
    before = made.read(path)[made.used]
    told = pushed(home, made, path, "--yes", code=1)
    assert [one for one, _ in told["refused"]] == [made.used]
    assert made.read(path)[made.used] == before


@pytest.mark.parametrize("made", EACH)
def test_another_text_is_written_or_said_why_not(made: Made, tmp_path: Path):
    home, path = SmallHome(tmp_path / "home"), tmp_path / "store.db"
    published(home, made, path)
    pushed(home, made, path, "--yes")
    before = made.read(path)
    for memory_id in (made.used, made.other):
        assert home.ask("memory", "edit", memory_id, "--content", "Use spaces.", "--yes").returncode == 0
    told = pushed(home, made, path, "--yes")
    why = dict(told["not_touched"])
    assert "text" in why[made.used]
    if made is LANGGRAPH:
        assert made.read(path)[made.other]["rest"]["content"] == "Use spaces."
        pushed(home, made, path, "--undo", told["run"], "--yes")
    else:
        assert "that only your embedding model makes" in why[made.used]
        assert why[made.other] == why[made.used]
        assert told["changes"] == []
    assert made.read(path) == before
    assert newly_landed(home, made, path) == 0


def test_what_alma_had_archived_and_not_deleted_is_archived_once(tmp_path: Path):
    home, path = SmallHome(tmp_path / "home"), tmp_path / "store.db"
    published(home, ALMA, path)
    pushed(home, ALMA, path, "--yes")
    assert home.ask("memory", "archive", ALMA.other, "--yes").returncode == 0
    # as a push leaves it that is killed between the two
    of_alma(path).archive_memory("h1", "heuristic", ALMA.read(path)[ALMA.other]["said"], 0.0)
    told = pushed(home, ALMA, path, "--yes")
    assert [one["memory_id"] for one in told["changes"]] == [ALMA.other]
    assert ALMA.other not in ALMA.read(path)
    assert len(of_alma(path).list_archives("shop")) == 1


def test_what_astrocyte_holds_for_the_law_is_not_touched(tmp_path: Path):
    home, path = SmallHome(tmp_path / "home"), tmp_path / "store.db"
    published(home, ASTROCYTE, path)
    assert home.ask("memory", "archive", ASTROCYTE.other, "--yes").returncode == 0
    hold = pytest.importorskip("astrocyte.types").LegalHold(
        hold_id="h1", bank_id="shop", reason="the audit needs it", set_by="ann", set_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    asyncio.run(of_astrocyte(path).save_legal_hold(hold))
    before = ASTROCYTE.read(path)
    told = pushed(home, ASTROCYTE, path, "--yes")
    assert told["changes"] == []
    assert dict(told["not_touched"]) == dict.fromkeys(before, "its bank is on legal hold in Astrocyte")
    assert ASTROCYTE.read(path) == before
    asyncio.run(of_astrocyte(path).delete_legal_hold("shop", "h1"))
    assert len(pushed(home, ASTROCYTE, path, "--yes")["changes"]) == len(before)
