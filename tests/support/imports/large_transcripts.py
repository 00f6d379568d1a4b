"""Transcripts as large as wanted, made up: mostly results of tools, as real ones are, with prompts and answers between.

`python tests/support/imports/large_transcripts.py` imports some and prints what that costs.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

Client = Literal["claude-code", "pi"]
_SENTENCE = (
    "the parser reads a line and the cache keeps it while tests of the queue wait for the lock in src config build "
    "error warning import return value index branch merge token user session memory path server client request"
)
_WORDS = _SENTENCE.split()
_BEGINNING = datetime(2026, 3, 1, 9, tzinfo=UTC)


class _Writer:
    """Records with ids and times that go on."""

    def __init__(self, seed: int, session: str) -> None:
        self.random = random.Random(seed)
        self.session = session
        self.at = _BEGINNING + timedelta(days=seed % 60)
        self.last: str | None = None

    def words(self, count: int) -> str:
        return " ".join(self.random.choices(_WORDS, k=count))

    def id(self) -> str:
        return f"{self.random.getrandbits(128):032x}"

    def now(self) -> str:
        self.at += timedelta(milliseconds=self.random.randint(20, 9_000))
        return self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def text_of_file(self) -> str:
        """Lines as a tool prints a file, now and then very many."""
        lines = int(self.random.paretovariate(1.1) * 20) % 4_000
        return "\n".join(f"{n:6d}\t    {self.words(9)}" for n in range(lines))


def claude_code_records(seed: int) -> Iterator[dict[str, Any]]:
    """The records of a session without end."""
    writer = _Writer(seed, f"session-{seed}")

    def record(kind: str, **fields: Any) -> dict[str, Any]:
        uuid, parent = writer.id(), writer.last
        writer.last = uuid
        return {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/srv/shop", "type": kind,
            "sessionId": writer.session, "version": "2.1.38", "gitBranch": "main", "uuid": uuid,
            "timestamp": writer.now(), **fields,
        }  # fmt: skip

    while True:
        yield record("user", message={"role": "user", "content": writer.words(40)})
        for _ in range(writer.random.randint(2, 30)):
            call = f"toolu_{writer.id()}"
            message_id = f"msg_{writer.id()}"
            usage = {"input_tokens": 4, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 30_000}
            answer = {
                "role": "assistant",
                "id": message_id,
                "model": "model-1",
                "usage": {**usage, "output_tokens": 90},
            }
            yield record("assistant", message={**answer, "content": [{"type": "text", "text": writer.words(30)}]})
            made = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"cat {writer.words(2)}"}}
            yield record("assistant", message={**answer, "content": [made]})
            yield record("progress", data={"type": "hook_progress", "command": writer.words(6)}, toolUseID=call)
            printed = writer.text_of_file()
            result = {"type": "tool_result", "tool_use_id": call, "content": printed}
            yield record(
                "user", message={"role": "user", "content": [result]}, toolUseResult={"stdout": printed, "stderr": ""}
            )
        done = {"role": "assistant", "id": f"msg_{writer.id()}", "model": "model-1", "stop_reason": "end_turn"}
        yield record("assistant", message={**done, "content": [{"type": "text", "text": writer.words(200)}]})


def pi_records(seed: int) -> Iterator[dict[str, Any]]:
    """The entries of a session without end."""
    writer = _Writer(seed, f"session-{seed}")
    yield {"type": "session", "version": 3, "id": writer.session, "timestamp": writer.now(), "cwd": "/srv/shop"}

    def entry(**message: Any) -> dict[str, Any]:
        own, parent = writer.id()[:8], writer.last
        writer.last = own
        return {"type": "message", "id": own, "parentId": parent, "timestamp": writer.now(), "message": message}

    while True:
        yield entry(role="user", content=[{"type": "text", "text": writer.words(40)}])
        for _ in range(writer.random.randint(2, 30)):
            call = f"call_{writer.id()}"
            made = {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": f"cat {writer.words(2)}"}}
            usage = {"input": 4, "output": 90, "cacheRead": 30_000, "cacheWrite": 900, "cost": {"total": 0.01}}
            said = {"type": "text", "text": writer.words(30)}
            yield entry(role="assistant", content=[said, made], model="model-1", usage=usage, stopReason="toolUse")
            printed = [{"type": "text", "text": writer.text_of_file()}]
            yield entry(role="toolResult", toolCallId=call, toolName="bash", content=printed, isError=False)
        said = {"type": "text", "text": writer.words(200)}
        yield entry(role="assistant", content=[said], model="model-1", stopReason="stop")


_RECORDS: dict[Client, Callable[[int], Iterator[dict[str, Any]]]] = {
    "claude-code": claude_code_records,
    "pi": pi_records,
}


def write_transcript(path: Path, client: Client, size: int, seed: int = 0) -> None:
    """A transcript of a client of about so many bytes."""
    with path.open("wb") as handle:
        for record in _RECORDS[client](seed):
            handle.write(json.dumps(record, separators=(",", ":")).encode() + b"\n")
            if handle.tell() >= size:
                return


def _measured(client: Client, size: int, files: int, home: Path) -> str:
    folder = home / "sessions"
    folder.mkdir()
    for number in range(files):
        write_transcript(folder / f"{number}.jsonl", client, size // files, number)
    written = sum(path.stat().st_size for path in folder.iterdir())
    code = "from slowwave.flows.cli.main import main; main(['import', %r, %r, '--format', 'json'])"
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code % (client, str(folder))],
        env={"SLOWWAVE_HOME": str(home / "home"), "PATH": ""},
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = json.loads(done.stdout)
    rows = sum(told["import"]["rows"].values())
    return (
        f"{client}: {written / 1e6:,.0f} MB in {files} files, {rows:,} rows accepted: {taken:.1f} CPU s, "
        f"{written / 1e6 / taken:,.0f} MB per CPU s, {time.monotonic() - begun:.1f} s by the clock, "
        f"{after.ru_maxrss / 1e3:,.0f} MB at most"
    )


def main() -> None:
    """Print what imports cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--client", choices=_RECORDS, action="append")
    given = parser.parse_args()
    clients: list[Client] = given.client or [*_RECORDS]
    for client in clients:
        with tempfile.TemporaryDirectory() as folder:
            print(_measured(client, given.megabytes * 10**6, given.files, Path(folder)))


if __name__ == "__main__":
    main()
