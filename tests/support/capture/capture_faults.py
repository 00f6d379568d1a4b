"""Kills a receiver, and fills its disk, at random moments under load: rows answered 200 land once and are published.

`.venv/bin/python tests/support/capture/capture_faults.py --moments 200` prints what was posted, answered and landed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

for _folder in ("homes", "capture"):
    sys.path.append(str(Path(__file__).parents[1] / _folder))

from capture_process import Receiver, receiving  # noqa: E402
from small_home import SmallHome  # noqa: E402

_PATHS = ("/interactions", "/outcomes", "/memories")
_CLIENTS = 6
# So that in minutes no more comes than a night publishes in some.
_PROJECTS, _PAUSE_SECONDS = 400, 0.03


class Posting:
    """Clients that post rows of their own to whichever receiver there is, and note the answers."""

    def __init__(self, seed: int) -> None:
        self.taken: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self.port = 0
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, args=(seed * 100 + n,)) for n in range(_CLIENTS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int) -> None:
        rng, number = random.Random(seed), 0
        while not self._over.is_set():
            port = self.port
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            with suppress(OSError, http.client.HTTPException):
                while port and port == self.port and not self._over.is_set():
                    path = rng.choice(_PATHS)
                    rows = [_row(path, f"{seed}-{number + i}", rng) for i in range(rng.choice((1, 1, 1, 5, 40)))]
                    number += len(rows)
                    connection.request("POST", path, json.dumps(rows))
                    answer = connection.getresponse()
                    self._note(rows, answer.status, answer.read())
                    time.sleep(_PAUSE_SECONDS)
            connection.close()
            time.sleep(0.02)

    def _note(self, rows: list[dict[str, Any]], status: int, body: bytes) -> None:
        with self._lock:
            self.answers[status] += 1
            if status == 200:
                assert len(json.loads(body)["ids"]) == len(rows)
                self.taken.update(row["mark"] for row in rows)


def _row(path: str, mark: str, rng: random.Random) -> dict[str, Any]:
    text = mark + "x" * rng.choice((10, 1_000, 5_000))  # of its own: else every answer would repeat every memory
    row: dict[str, Any] = {"mark": mark, "project": f"p{rng.randrange(_PROJECTS)}"}
    if path == "/interactions":
        return {**row, "prompt": f"Push {mark}", "response": text}
    if path == "/outcomes":
        return {**row, "success": True, "feedback": text}
    return {**row, "memory_id": f"m-{mark}", "content": text, "status": "active"}


def killed(home: SmallHome, moments: int, seed: int) -> tuple[Posting, int]:
    """Kill a receiver so often, each time within half a second of its first answers; land now and then."""
    rng, posting = random.Random(seed), Posting(seed)
    posting.start()
    try:
        for moment in range(moments):
            with receiving(home.folder) as receiver:
                posting.port = receiver.port
                landing = _landing(home) if moment % 10 == 5 else None
                time.sleep(rng.uniform(0.0, 0.5))
                receiver.kill()
                if landing is not None:
                    assert landing.wait() == 0
    finally:
        posting.stop()
    return posting, moments


def filled(home: SmallHome, disk: Path, moments: int, seed: int) -> tuple[Posting, int]:
    """Fill the disk under a receiver so often, for a moment; it is landed once there is room."""
    rng, posting = random.Random(seed), Posting(seed)
    with receiving(home.folder) as receiver:
        posting.port = receiver.port
        posting.start()
        try:
            for moment in range(moments):
                time.sleep(rng.uniform(0.0, 0.2))
                before = posting.answers[503]
                ballast = _fill(disk, rng.choice((0, 0, 4096, 100_000)))
                _wait_for_refusal(posting, before)
                ballast.unlink()
                if moment % 4 == 3:
                    done = home.run("land")
                    assert done.returncode == 0, done.stderr
        finally:
            posting.stop()
        _assert_well(receiver)
    return posting, moments


def _wait_for_refusal(posting: Posting, before: int) -> None:
    until = time.monotonic() + 5
    while posting.answers[503] == before and time.monotonic() < until:
        time.sleep(0.005)


def _assert_well(receiver: Receiver) -> None:
    assert receiver.ask("GET", "/healthz")[0] == 200


def _fill(disk: Path, left: int) -> Path:
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            free = os.statvfs(disk)
            size = free.f_bavail * free.f_frsize - left
            if size <= 0:
                break
            file.write(bytes(min(size, 2**20)))
    return ballast


def _landing(home: SmallHome) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "slowwave.flows.cli.main", "land"],
        env={**os.environ, "SLOWWAVE_HOME": str(home.folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def landed(home: SmallHome) -> Counter[str]:
    """How often each mark is in the lake, as a row or in quarantine, once all is landed."""
    done = home.run("land")
    assert done.returncode == 0, done.stderr
    marks: Counter[str] = Counter()
    for table in ("interactions", "outcomes", "memories"):
        query = f"SELECT json_extract_string(extra, '$.mark') AS mark FROM {table}_log"  # noqa: S608 - of this file
        told = home.run("sql", query, "--format", "csv")
        assert told.returncode == 0, told.stderr
        marks.update(told.stdout.splitlines()[1:])
    assert list(home.settings.inbox.glob("*.jsonl")) == []
    assert list(home.settings.lake_folder.glob("quarantine/**/*.parquet")) == []
    return marks


def published(home: SmallHome) -> int:
    """How many rows the next publish has."""
    home.nightly()
    told = home.run("sql", "SELECT sum(rows_count) FROM landed_days", "--format", "csv")
    assert told.returncode == 0, told.stderr
    return int(told.stdout.splitlines()[1])


def check(posting: Posting, found: Counter[str]) -> None:
    """Every row answered 200 has landed, and nothing twice."""
    assert posting.taken
    assert posting.taken.keys() - found.keys() == set()
    assert set(found.values()) == {1}


@contextmanager
def small_disk(folder: Path, megabytes: int = 400) -> Iterator[Path]:
    """A disk of its own that can be filled. Raises OSError where nothing can be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    how = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)]
    done = subprocess.run(how, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def main() -> None:
    """Half of the moments a kill, half a full disk; what came of it is printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", choices=("kill", "full"))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slowwave-faults-") as name:
        moments = asked.moments if asked.only else asked.moments // 2
        if asked.only != "full":
            home = SmallHome(Path(name) / "home")
            _tell("kill -9", *killed(home, moments, asked.seed), landed(home), published(home))
        if asked.only != "kill":
            with small_disk(Path(name)) as disk:
                home = SmallHome(disk / "home")
                _tell("disk full", *filled(home, disk, moments, asked.seed), landed(home), published(home))


def _tell(fault: str, posting: Posting, moments: int, found: Counter[str], in_publish: int) -> None:
    check(posting, found)
    assert in_publish == len(found)
    only = len(found.keys() - posting.taken.keys())
    said = ", ".join(f"{count:,} × {status}" for status, count in sorted(posting.answers.items()))
    sys.stdout.write(
        f"{fault}: {moments} moments; answers {said}; {len(posting.taken):,} rows answered 200, all landed once "
        f"and in the next publish; {only:,} more landed that were not answered\n"
    )


if __name__ == "__main__":
    main()
