"""`slowwave push mem0`, in the interpreter that has mem0: what mem0 itself reads before and after."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome, interaction, outcome

PYTHON = os.environ.get("SLOWWAVE_TEST_MEM0_PYTHON", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PYTHON,
        reason="mem0 does not install beside Slowwave: python3 -m venv V && V/bin/pip install mem0ai==2.2.1, then "
        "SLOWWAVE_TEST_MEM0_PYTHON=V/bin/python",
    ),
]
TEXT = "Indent with tabs in every single file."
OTHER = "Deploy by hand on late Fridays."
ACT = """
import json, sys
from mem0 import Memory
memory = Memory.from_config(json.load(open(sys.argv[1])))
def every():
    found = memory.get_all(filters={"user_id": "ada"}, top_k=99, show_expired=True)["results"]
    return {one["id"]: one for one in found}
if sys.argv[2] == "make":
    for text, more in ((sys.argv[3], {"n": 1}), (sys.argv[4], None)):
        memory.add(text, user_id="ada", infer=False, metadata=more)
if sys.argv[2] == "change":
    memory.update(sys.argv[3], text=sys.argv[4])
shown = memory.get_all(filters={"user_id": "ada"}, top_k=99)["results"]
print("\\n" + json.dumps({"every": every(), "shown": [one["id"] for one in shown]}))
"""


class _Embedding(BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible server of embeddings does."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        texts = asked if isinstance(asked, list) else [asked]
        data = [
            {"object": "embedding", "index": at, "embedding": [1.0, len(text) / 99, 0.5, 0.1]}
            for at, text in enumerate(map(str, texts))
        ]
        answer = json.dumps(
            {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *_: Any) -> None:  # noqa: A002 - as the base has it
        """Say nothing."""


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embedding)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    openai = {"api_key": "none", "openai_base_url": f"http://127.0.0.1:{server.server_port}/v1"}
    said = {
        "history_db_path": str(tmp_path / "history.db"),
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(tmp_path / "qdrant"), "embedding_model_dims": 4, "on_disk": True},
        },
        "embedder": {"provider": "openai", "config": {**openai, "embedding_dims": 4}},
        "llm": {"provider": "openai", "config": openai},
    }
    (tmp_path / "mem0.json").write_text(json.dumps(said))
    yield tmp_path / "mem0.json"
    server.shutdown()
    server.server_close()


def mem0(config: Path, *arguments: str) -> dict[str, Any]:
    """What mem0 says after an act, by id; times of its own left out."""
    done = subprocess.run(
        [PYTHON, "-c", ACT, str(config), *arguments],
        env={**os.environ, "MEM0_TELEMETRY": "False", "MEM0_DIR": str(config.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.strip().splitlines()[-1])
    for one in told["every"].values():
        one.pop("updated_at", None)
        one.pop("score", None)
        one["metadata"] = {name: value for name, value in (one.get("metadata") or {}).items() if value is not None}
        one["expiration_date"] = one.get("expiration_date")
    return told


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
    second = pushed(home, "--user", "ada", "--yes")
    after = mem0(config, "read")
    assert after["shown"] == [used]
    assert after["every"][used]["memory"] == "Use spaces."
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
