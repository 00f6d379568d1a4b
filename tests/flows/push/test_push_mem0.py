"""`slowwave push mem0`, in the interpreter that has mem0: what mem0 itself reads before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mem0_store import OTHER, PYTHON, TEXT, WITHOUT, mem0, mem0_config
from small_home import SmallHome, interaction, outcome

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PYTHON, reason=WITHOUT)]


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    with mem0_config(tmp_path) as made:
        yield made


def pushed(home: SmallHome, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = home.ask("push", "mem0", "--format", "json", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)[0]


def test_mem0_takes_scores_decisions_and_texts_and_gives_them_back(
    tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    made = mem0(config, "make", TEXT, OTHER)
    ids = {one["memory"]: own for own, one in made["every"].items()}
    used, other = ids[TEXT], ids[OTHER]
    home, history = SmallHome(tmp_path / "home"), str(tmp_path / "history.db")

    def newly_landed() -> int:
        done = home.ask("import", "mem0", history, "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["landing"]["totals"]["accepted"]

    assert newly_landed() == 2
    assert home.ask("push", "mem0", history).returncode == 1  # how it is made is not said
    (home.folder / "connections.toml").write_text(
        f'[[connection]]\nsource = "mem0"\npath = "{history}"\npython = "{PYTHON}"\nconfig = "{config}"\n'
    )
    home.land(interaction("i1", project="shop"), outcome("o1", interaction_id="i1"))
    home.nightly()
    assert {why for _, why in pushed(home)["not_touched"]} == {"of the user ada: name them with --user"}
    assert mem0(config, "read") == made
    first = pushed(home, "--user", "ada", "--yes")
    scored = mem0(config, "read")
    assert len(first["changes"]) == 2
    assert "verdict" in scored["every"][used]["metadata"]["slowwave"]
    assert scored["every"][used]["metadata"]["n"] == 1
    assert pushed(home, "--user", "ada", "--yes")["changes"] == []
    assert newly_landed() == 0
    assert home.ask("memory", "archive", f"mem0:{other}", "--yes").returncode == 0
    assert home.ask("memory", "edit", f"mem0:{used}", "--content", "Use spaces.", "--yes").returncode == 0
    assert home.ask("memory", "edit", f"mem0:{used}", "--expires-at", "2199-09-01", "--yes").returncode == 0
    second = pushed(home, "--user", "ada", "--yes")
    after = mem0(config, "read")
    assert after["shown"] == [used]
    assert after["every"][used]["memory"] == "Use spaces."
    assert after["every"][used]["expiration_date"] == "2199-08-31"
    assert newly_landed() == 0
    assert pushed(home, "--user", "ada", "--yes")["changes"] == []
    pushed(home, "--user", "ada", "--undo", second["run"], "--yes")
    assert mem0(config, "read")["every"] == scored["every"]
    pushed(home, "--user", "ada", "--undo", first["run"], "--yes")
    assert mem0(config, "read")["every"] == made["every"]
    assert newly_landed() == 0
    mem0(config, "change", used, "Changed by the agent.")
    told = pushed(home, "--user", "ada", "--yes", code=1)
    assert [one for one, _ in told["refused"]] == [f"mem0:{used}"]
