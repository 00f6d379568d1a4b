"""What a receiver takes per second, durably, and how soon it answers, beside what a plain fsync per batch allows.

`.venv/bin/python tests/support/capture/capture_bench.py FOLDER` measures on the disk of a folder.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

for _folder in ("homes", "capture"):
    sys.path.append(str(Path(__file__).parents[1] / _folder))

from capture_process import Receiver, receiving  # noqa: E402

_SECONDS = 8.0
_CASES = ((1, 1), (8, 1), (64, 1), (1, 100), (8, 100), (64, 100))


def _rows(count: int) -> bytes:
    """Rows of about 1.5 kB, as interactions of agents are."""
    row = {"project": "shop", "agent": "dev", "response": "word " * 250, "memories_used": ["m-1", "m-2"]}
    return json.dumps([{"prompt": f"Push my branch {n}", **row} for n in range(count)]).encode()


def _client(receiver: Receiver, body: bytes, until: float, times: list[float]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", receiver.port, timeout=60)
    while time.monotonic() < until:
        begun = time.monotonic()
        connection.request("POST", "/interactions", body)
        answer = connection.getresponse()
        answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise AssertionError(answer.status)
        times.append(time.monotonic() - begun)
    connection.close()


def measured(receiver: Receiver, clients: int, rows: int) -> tuple[float, list[float]]:
    """Seconds, and how long each answer took."""
    times: list[list[float]] = [[] for _ in range(clients)]
    begun = time.monotonic()
    body, until = _rows(rows), begun + _SECONDS
    threads = [threading.Thread(target=_client, args=(receiver, body, until, mine)) for mine in times]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun, sorted(one for mine in times for one in mine)


def plain_fsyncs(folder: Path, size: int) -> float:
    """Files of this size that can be written, flushed, renamed and their names flushed, per second."""
    begun, count, body = time.monotonic(), 0, secrets.token_bytes(size)
    handle = os.open(folder, os.O_RDONLY)
    while time.monotonic() < begun + _SECONDS / 4:
        path = folder / f".plain-{count}.tmp"
        with path.open("xb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        path.rename(folder / f"plain-{count}")
        os.fsync(handle)
        count += 1
    seconds = time.monotonic() - begun
    os.close(handle)
    for number in range(count):
        (folder / f"plain-{number}").unlink()
    return count / seconds


def _cpu_seconds(receiver: Receiver) -> float:
    """What the receiver has spent: on a machine that does other things too, this says more than the clock."""
    fields = Path(f"/proc/{receiver.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _at(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))] * 1000


def main() -> None:
    """Print a line for each number of clients and rows of a request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slowwave-capture-", dir=asked.folder) as name:
        home = Path(name) / "home"
        with receiving(home, "--rate", "0") as receiver:
            measured(receiver, 1, 1)  # warm
            for clients, rows in _CASES:
                before, spent = _commits(receiver), _cpu_seconds(receiver)
                seconds, times = measured(receiver, clients, rows)
                spent = _cpu_seconds(receiver) - spent
                files = max(1, _commits(receiver) - before)
                taken = rows * len(times)
                plain = plain_fsyncs(home, len(_rows(rows)) * len(times) // files)
                sys.stdout.write(
                    f"{clients:3} clients × {rows:3} rows: {taken / seconds:8,.0f} rows/s, "
                    f"{taken / spent:,.0f} per CPU second; "
                    f"p50 {_at(times, 0.5):6.1f} ms, p99 {_at(times, 0.99):6.1f} ms; "
                    f"{files / seconds:5.1f} files/s, {taken / files:6.1f} rows each; "
                    f"plain fsync allows {plain:6.1f} such files/s: {files / seconds / plain:.2f} of it\n"
                )
                sys.stdout.flush()


def _commits(receiver: Receiver) -> int:
    text = receiver.ask("GET", "/metrics")[2].decode()
    (line,) = (line for line in text.splitlines() if line.startswith("slowwave_capture_commit_seconds_count"))
    return int(line.split()[1])


if __name__ == "__main__":
    main()
