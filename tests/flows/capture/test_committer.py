"""What was posted is durable before it is answered, and answered in its place, however much comes at once."""

from __future__ import annotations

import errno
import json
import queue
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from small_home import SmallHome

from slowwave.flows.capture import committer as committers
from slowwave.flows.capture import committer as spools
from slowwave.flows.capture.committer import Committer, Spool
from slowwave.flows.capture.counts import ReceiverCounts
from slowwave.flows.capture.posts import HttpAnswer, Post, Sender, Senders
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.received_files import received_files
from slowwave.transforms.landing.ledger_tables import RunFiles
from slowwave.transforms.landing.tables import Interactions

NOBODY = Sender()


class Receiving:
    """A receiver without its network: what is posted, and what is answered."""

    def __init__(self, home: SmallHome) -> None:
        self.home = home
        self.counts = ReceiverCounts()
        self.spool = Spool(home.settings)
        self.committer = Committer(self.spool, Senders(home.settings, must_have_token=False), self.counts)

    def put(self, where: Any, body: object, sender: Sender = NOBODY, key: str = "") -> queue.SimpleQueue[HttpAnswer]:
        told: queue.SimpleQueue[HttpAnswer] = queue.SimpleQueue()
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.committer.put(Post(where, raw, False, sender, key, told.put))
        return told

    def post(self, where: Any, body: object, **options: Any) -> tuple[int, dict[str, Any]]:
        answer = self.put(where, body, **options).get(timeout=60)
        return answer.status, json.loads(answer.body)

    def inbox(self) -> list[dict[str, Any]]:
        files = received_files(self.home.settings.inbox)
        return [json.loads(line) for file in files for line in file.path.read_text().splitlines()]


@pytest.fixture
def receiving(tmp_path: Path) -> Iterator[Receiving]:
    receiving = Receiving(SmallHome(tmp_path / "home"))
    yield receiving
    receiving.committer.close()
    receiving.spool.close()


def test_many_posts_at_once_become_few_files_and_each_has_its_own_answer(receiving: Receiving):
    told = [receiving.put("interactions", [{"prompt": f"{n}-{i}"} for i in range(3)]) for n in range(200)]
    answers = [json.loads(one.get(timeout=60).body) for one in told]
    ids = [one for answer in answers for one in answer["ids"]]
    assert len(set(ids)) == 600
    assert {row["interaction_id"]: row["prompt"] for row in receiving.inbox()} == {
        ids[n * 3 + i]: f"{n}-{i}" for n in range(200) for i in range(3)
    }
    assert len(received_files(receiving.home.settings.inbox)) < 100
    times = [row["created_at"] for row in receiving.inbox()]
    assert times == sorted(set(times))


def test_of_many_rows_one_that_is_bad_is_refused_and_the_rest_lands(
    receiving: Receiving, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(committers, "_ROWS_AT_ONCE", 100)
    rows: list[Any] = [{"prompt": "a", "interaction_id": f"i-{n}"} for n in range(1_050)]
    rows[777] = {"prompt": " ", "interaction_id": "bad"}
    status, answer = receiving.post("interactions", rows)
    assert status == 200
    assert answer["refused"] == [{"index": 777, "reason": "prompt is blank"}]
    assert answer["ids"][777] is None
    assert [one for one in answer["ids"] if one] == [row["interaction_id"] for row in receiving.inbox()]


def test_what_is_taken_lands_once_with_nothing_refused(receiving: Receiving):
    posted = [{"prompt": f"{n}", "odd_field": n} for n in range(20)]
    for row in posted:
        assert receiving.post("interactions", row)[0] == 200
    assert receiving.home.ask("land").returncode == 0
    lake = Lake(receiving.home.settings.lake_folder)
    assert lake.ledger(RunFiles)["accepted"].sum() == 20
    assert lake.ledger(RunFiles)["quarantined"].sum() == 0
    assert list(receiving.home.settings.inbox.iterdir()) == []
    assert len(lake.files(Interactions.name)) == 1


def test_the_key_of_a_request_gives_its_rows_their_ids(receiving: Receiving):
    one = receiving.post("outcomes", [{"success": True}, {"success": False}], key="k")[1]["ids"]
    again = receiving.post("outcomes", [{"success": True}, {"success": False}], key="k")[1]["ids"]
    assert one == again
    assert len({*one, *receiving.post("outcomes", [{"success": True}], key="k2")[1]["ids"]}) == 3
    others = receiving.post("outcomes", [{"success": True}], key="k", sender=Sender("b", "shop"))[1]["ids"]
    assert others[0] not in one
    new = [receiving.post("outcomes", {"success": True})[1]["ids"][0] for _ in range(2)]
    assert len(set(new)) == 2


def test_nothing_is_kept_of_what_is_answered_that_it_was_not(receiving: Receiving, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(spools, "write_private", full)
        answer = receiving.put("interactions", {"prompt": "a"}).get(timeout=60)
        assert (answer.status, answer.headers) == (503, {"Retry-After": "5"})
        assert receiving.post("interactions", {"response": "a"})[0] == 422  # which no disk would change
    assert receiving.inbox() == []
    assert receiving.post("interactions", {"prompt": "b"})[0] == 200
    assert [row["prompt"] for row in receiving.inbox()] == ["b"]
    assert "failed_commits_total 1\n" in receiving.counts.text(0, 0)


@pytest.mark.parametrize("broken", ["rows", "otlp"])
def test_of_what_came_at_once_only_what_was_not_kept_is_asked_for_again(
    broken: str, receiving: Receiving, monkeypatch: pytest.MonkeyPatch
):
    real = receiving.spool.write

    def write(lane: Any, lines: list[bytes]) -> None:
        if lane == broken:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(lane, lines)

    monkeypatch.setattr(receiving.spool, "write", write)
    posts = [
        ("interactions", {"prompt": "a"}),
        ("interactions", {"response": "no prompt"}),
        ("traces", {"resourceSpans": [{"scopeSpans": []}]}),
    ]
    told: list[queue.SimpleQueue[HttpAnswer]] = [queue.SimpleQueue() for _ in posts]
    group = [
        Post(where, json.dumps(body).encode(), False, NOBODY, "", one.put)
        for (where, body), one in zip(posts, told, strict=True)
    ]
    receiving.committer._commit(group)
    row, refused, trace = (one.get(timeout=60).status for one in told)
    assert (row, refused, trace) == ((503, 422, 200) if broken == "rows" else (200, 422, 503))
    assert len(receiving.inbox()) == 1


def test_a_fault_of_ours_costs_the_post_that_trips_it_and_no_other(
    receiving: Receiving, monkeypatch: pytest.MonkeyPatch
):
    real = committers.taken_rows

    def trips(rows: Any, reading: Any) -> Any:
        if any(isinstance(record, dict) and record.get("prompt") == "trip" for record, _ in rows):
            raise RuntimeError
        return real(rows, reading)

    monkeypatch.setattr(committers, "taken_rows", trips)
    told = [receiving.put("interactions", {"prompt": text}) for text in ("a", "trip", "b")]
    assert [one.get(timeout=60).status for one in told] == [200, 500, 200]
    assert sorted(row["prompt"] for row in receiving.inbox()) == ["a", "b"]


def test_so_many_files_wait_at_most(receiving: Receiving, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spools, "_MERGED_AT", 5)
    monkeypatch.setattr(spools, "_WAITED_FOR_AT", 5)
    most = 0
    for n in range(40):
        assert receiving.post("interactions", {"prompt": str(n)})[0] == 200
        most = max(most, len(received_files(receiving.home.settings.inbox)))
    assert most <= 6
    assert [row["prompt"] for row in receiving.inbox()] == [str(n) for n in range(40)]


def test_files_are_merged_aside_while_others_are_written(receiving: Receiving, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(spools, "_MERGED_AT", 5)
    monkeypatch.setattr(spools, "_WAITED_FOR_AT", 20)
    real, begun, may_go_on = spools.merge, threading.Event(), threading.Event()

    def slow(*options: Any, **more: Any) -> None:
        begun.set()
        assert may_go_on.wait(60)
        real(*options, **more)

    monkeypatch.setattr(spools, "merge", slow)
    for n in range(12):
        assert receiving.post("interactions", {"prompt": str(n)})[0] == 200
    assert begun.is_set()
    assert len(received_files(receiving.home.settings.inbox)) == 12
    may_go_on.set()
    for n in range(12, 60):
        assert receiving.post("interactions", {"prompt": str(n)})[0] == 200
        assert len(received_files(receiving.home.settings.inbox)) <= 21
    receiving.spool.close()
    assert [row["prompt"] for row in receiving.inbox()] == [str(n) for n in range(60)]


def test_a_new_receiver_goes_on_where_the_last_one_was_killed(receiving: Receiving):
    assert receiving.post("interactions", {"prompt": "a"})[0] == 200
    left = receiving.home.settings.inbox / ".capture-x.jsonl.12ab.tmp"
    left.write_text("half")
    second = Receiving(receiving.home)
    assert not left.exists()
    assert second.post("interactions", {"prompt": "b"})[0] == 200
    second.committer.close()
    assert [row["prompt"] for row in receiving.inbox()] == ["a", "b"]


@pytest.mark.parametrize(
    "body", [b"[" + b"{}," * 300_000 + b"{}]", b"{}\n" * 300_000, b"[" + b"1," * 5_000_000 + b"1]"]
)
def test_what_would_take_much_more_memory_than_it_is_long_is_refused(body: bytes, receiving: Receiving):
    assert receiving.post("interactions", body)[0] == 413
    assert receiving.inbox() == []


def test_telemetry_of_each_service_is_a_line_and_none_is_longer_than_can_be_read(receiving: Receiving):
    held = {"scopeSpans": [{"spans": [{"name": "x" * 50}]}]}
    assert receiving.post("traces", {"resourceSpans": [held, held]})[0] == 200
    assert len(receiving.inbox()) == 2
    receiving.committer._longest_row = 40
    assert receiving.post("traces", {"resourceSpans": [held]})[0] == 413
    assert receiving.post("traces", {"resourceSpans": []})[0] == 200
    assert receiving.post("logs", {"resourceSpans": 7})[0] == 400
    assert receiving.post("logs", {"resourceLogs": 7})[0] == 400
    assert receiving.post("traces", b"[" * 200 + b"]" * 200)[0] == 400
    assert len(receiving.inbox()) == 2


def test_times_of_receipt_follow_each_other_unless_the_clock_was_set(
    receiving: Receiving, monkeypatch: pytest.MonkeyPatch
):
    now = datetime(2026, 3, 2, 9)  # noqa: DTZ001 - naive UTC, as every time here
    told = iter([now, now, now - timedelta(seconds=1), now + timedelta(days=400), now])
    monkeypatch.setattr(committers, "utc_now", lambda: next(told))
    receiving.committer._last_time = now - timedelta(hours=1)
    for count in (3, 1, 1, 1, 1):
        receiving.post("memories", [{"memory_id": "m", "content": str(n)} for n in range(count)])
    times = [datetime.fromisoformat(row["changed_at"]).replace(tzinfo=None) for row in receiving.inbox()]
    microseconds = [(time - now) // timedelta(microseconds=1) for time in times]
    assert microseconds == [0, 1, 2, 3, 4, 400 * 86_400 * 10**6, 0]
