"""A clock that jumps or is set back: nothing is lost or comes twice, and files keep the order of what was posted."""

from __future__ import annotations

import json
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome

from slowwave.flows.capture import committer as committers
from slowwave.flows.capture.committer import Committer, Spool
from slowwave.flows.capture.counts import ReceiverCounts
from slowwave.flows.capture.posts import HttpAnswer, Post, Sender, Senders
from slowwave.flows.land.received_files import received_files

BEGAN = datetime(2024, 3, 2, 9)  # noqa: DTZ001 - naive UTC, as every time here
LOG = "SELECT interaction_id, created_at FROM interactions_log"
WINNING = "SELECT interaction_id, created_at FROM interactions"


class SetClock:
    """The machine's clock, as whoever may sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = BEGAN
        monkeypatch.setattr(committers, "utc_now", lambda: self.now)
        monkeypatch.setattr(time, "time_ns", lambda: int(self.now.replace(tzinfo=UTC).timestamp()) * 10**9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SetClock:
    return SetClock(monkeypatch)


@pytest.fixture
def home(tmp_path: Path) -> SmallHome:
    return SmallHome(tmp_path / "home")


@contextmanager
def committing(home: SmallHome) -> Iterator[Committer]:
    committer = Committer(Spool(home.settings), Senders(home.settings, must_have_token=False), ReceiverCounts())
    try:
        yield committer
    finally:
        committer.close()


def post(committer: Committer, row: dict[str, Any], key: str = "") -> str:
    told: queue.SimpleQueue[HttpAnswer] = queue.SimpleQueue()
    committer.put(Post("interactions", json.dumps(row).encode(), False, Sender(), key, told.put))
    (known,) = json.loads(told.get(timeout=60).body)["ids"]
    return known


def prompts(home: SmallHome) -> list[str]:
    """As they lie in the inbox, file by file."""
    lines = [line for file in received_files(home.settings.inbox) for line in file.path.read_text().splitlines()]
    return [json.loads(line)["prompt"] for line in lines]


def landed(home: SmallHome, query: str) -> list[dict[str, Any]]:
    assert home.ask("land").returncode == 0
    return json.loads(home.ask("sql", query, "--format", "json").stdout)


def test_files_keep_their_order_and_rows_their_ids_whatever_the_clock_says(home: SmallHome, clock: SetClock):
    jumps = (0, 400, -400, -800, 800)
    ids: list[str] = []
    for number, days in enumerate(jumps):  # a new receiver each time
        with committing(home) as committer:
            clock.now += timedelta(days=days)
            ids += [post(committer, {"prompt": f"{number}-{half}"}) for half in range(2)]
    assert prompts(home) == [f"{number}-{half}" for number in range(len(jumps)) for half in range(2)]
    assert len(set(ids)) == len(ids)
    assert sorted(row["interaction_id"] for row in landed(home, LOG)) == sorted(ids)


@pytest.mark.parametrize("days", [-400, 400])
def test_a_key_is_the_same_rows_on_both_sides_of_a_jump(days: int, home: SmallHome, clock: SetClock):
    """The answers by key are forgotten with their receiver; the ids come of the key alone."""
    known: set[str] = set()
    for at in (timedelta(0), timedelta(days=days)):
        with committing(home) as committer:
            clock.now = BEGAN + at
            known.add(post(committer, {"prompt": "Once"}, key="k"))
    (row,) = landed(home, WINNING)
    assert known == {row["interaction_id"]}
    assert datetime.fromisoformat(row["created_at"]).replace(tzinfo=None, microsecond=0) == max(
        BEGAN, BEGAN + timedelta(days=days)
    )
