"""A mem0 in the interpreter that `SLOWWAVE_TEST_MEM0_PYTHON` names, with embeddings from a server of our own."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PYTHON = os.environ.get("SLOWWAVE_TEST_MEM0_PYTHON", "")
WITHOUT = (
    "mem0 does not install beside Slowwave: python3 -m venv V && V/bin/pip install mem0ai==2.2.1, then "
    "SLOWWAVE_TEST_MEM0_PYTHON=V/bin/python"
)
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


@contextmanager
def mem0_config(folder: Path) -> Iterator[Path]:
    """The JSON of a mem0 in a folder, for as long as what it embeds with answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Embedding)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    openai = {"api_key": "none", "openai_base_url": f"http://127.0.0.1:{server.server_port}/v1"}
    said = {
        "history_db_path": str(folder / "history.db"),
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 4, "on_disk": True},
        },
        "embedder": {"provider": "openai", "config": {**openai, "embedding_dims": 4}},
        "llm": {"provider": "openai", "config": openai},
    }
    (folder / "mem0.json").write_text(json.dumps(said))
    try:
        yield folder / "mem0.json"
    finally:
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
