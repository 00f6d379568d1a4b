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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


def write_transcripts(folder: Path, client: Client, size: int, files: int) -> None:
    """Transcripts of a client, of so many bytes together."""
    folder.mkdir(parents=True)
    for number in range(files):
        write_transcript(folder / f"{number}.jsonl", client, size // files, number)


@dataclass(frozen=True)
class ImportCost:
    """What an import took: bytes read, rows accepted, CPU seconds, and those of `reading`: reading and decoding alone.

    `again`: CPU seconds of importing once more, with nothing changed. `memory`: bytes at most.
    """

    bytes: int
    files: int
    rows: int
    seconds: float
    again: float
    reading: float
    memory: int

    @property
    def times_reading(self) -> float:
        """How many times what reading and decoding the same bytes takes."""
        return self.seconds / self.reading

    def __str__(self) -> str:
        megabytes = self.bytes / 1e6
        return (
            f"{megabytes:,.0f} MB in {self.files:,} files, {self.rows:,} rows accepted: {self.seconds:.1f} CPU s, "
            f"{megabytes / self.seconds:,.0f} MB per CPU s, {self.times_reading:.1f} x reading and decoding alone "
            f"({self.reading:.2f} CPU s); again {self.again:.1f} CPU s; {self.memory / 1e6:,.0f} MB at most"
        )


def import_cost(client: str, folder: Path, home: Path) -> ImportCost:
    """Import all transcripts in a folder twice into a new home."""
    files = [*folder.rglob("*.jsonl")]
    code = "from slowwave.flows.cli.main import main; main(['import', %r, %r, '--format', 'json'])"
    said, seconds = _run(code % (client, str(folder)), home)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    _, again = _run(code % (client, str(folder)), home)
    _, reading = _run(_READING % str(folder), home)
    rows = sum(json.loads(said)["import"]["rows"].values())
    return ImportCost(sum(path.stat().st_size for path in files), len(files), rows, seconds, again, reading, memory)


_READING = """
import contextlib, pathlib, orjson
for path in pathlib.Path(%r).rglob("*.jsonl"):
    for line in path.read_bytes().splitlines():
        with contextlib.suppress(orjson.JSONDecodeError):
            orjson.loads(line)
"""


def _run(code: str, home: Path) -> tuple[bytes, float]:
    """What a program printed, and the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {"SLOWWAVE_HOME": str(home), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print what imports cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--client", choices=_RECORDS, action="append")
    parser.add_argument("--folder", type=Path, help="import the transcripts in it, such as real ones, instead")
    given = parser.parse_args()
    clients: list[Client] = given.client or [*_RECORDS]
    for client in clients:
        with tempfile.TemporaryDirectory() as aside:
            folder = given.folder or Path(aside) / "sessions"
            if given.folder is None:
                write_transcripts(folder, client, given.megabytes * 10**6, given.files)
            print(f"{client}: {import_cost(client, folder, Path(aside) / 'home')}")


if __name__ == "__main__":
    main()
