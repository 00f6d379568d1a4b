"""What was posted of a trace that still waits for its topmost span goes with what is erased."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from otlp_documents import chat, span, traces
from small_home import SmallHome, interaction, memory

from slowwave.flows.land.received.names import ReceivedFile

pytestmark = pytest.mark.slow


def test_a_trace_that_is_waited_for_is_erased_with_its_session(tmp_path: Path):
    home = SmallHome(tmp_path / "home")
    home.land(memory("m-1"), interaction("i-1", session_id="of-bob"))
    home.nightly()
    home.settings.inbox.mkdir(parents=True)
    said = {**chat("Where is the quokkaberry?", "Here."), "gen_ai.conversation.id": "of-ada"}
    document = traces(span(2, said, parent=1))
    ReceivedFile(home.settings.inbox, "capture", "otlp", 1, 1).path.write_bytes(orjson.dumps(document) + b"\n")
    assert home.ask("land").returncode == 0
    assert [path.name[:8] for path in home.settings.inbox.iterdir()] == ["received"]
    done = home.ask("lake", "erase", "--session", "of-ada")
    assert "1 file would land first" in done.stdout
    done = home.ask("lake", "erase", "--session", "of-ada", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(home.settings.inbox.iterdir()) == []
    assert home.ask("nightly").returncode == 0
    assert home.ask("sql", "SELECT DISTINCT session_id FROM interactions_log", "--format", "csv").stdout.split() == [
        "session_id",
        "of-bob",
    ]
