"""The producers' writer, against real folders, real forks and real faults of the disk."""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import slowwave
from slowwave import Writer, record_interaction, record_memory, record_outcome
from slowwave.flows.kernel.home import home_from_environment

HANG_SECONDS = 30.0


def rows_in(home: Path) -> list[dict[str, Any]]:
    """Every delivered row, parsed as strictly as JSON allows: no NaN, no unfinished last line, no duplicate key."""
    rows = []
    for path in sorted((home / "inbox").glob("*.jsonl")):
        text = path.read_bytes().decode()
        assert text.endswith("\n")
        rows += [json.loads(line, parse_constant=pytest.fail) for line in text.removesuffix("\n").split("\n")]
    return rows


def litter_in(home: Path) -> list[str]:
    return [path.name for path in (home / "inbox").iterdir() if path.suffix != ".jsonl"]


def python(code: str, home: Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "SLOWWAVE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def wait_until(holds, seconds: float = 300.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.005)
    return holds()


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home of its own, for explicit writers and for the record_… functions alike."""
    home = tmp_path / "home"
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    return home


@pytest.fixture
def writer(home) -> Iterator[Writer]:
    writer = Writer(home, flush_seconds=0.02)
    yield writer
    writer.close(timeout=0)


@pytest.fixture
def hanging_disk(monkeypatch) -> Iterator[threading.Event]:
    """fsync hangs until the event is set, as it does on a dead network disk."""
    healed = threading.Event()
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: healed.wait(HANG_SECONDS) and real(descriptor))
    yield healed
    healed.set()


# ------------------------------------------------------------------------------------------------------- what is said


def test_only_the_prompt_is_required(home):
    before = datetime.now(UTC)
    interaction_id = record_interaction("How do I land a plane?")
    assert slowwave.flush(60)
    (row,) = rows_in(home)
    assert set(row) == {"prompt", "project", "agent", "created_at", "interaction_id"}
    assert row["prompt"] == "How do I land a plane?"
    assert row["interaction_id"] == interaction_id == uuid.UUID(interaction_id).hex
    assert before <= datetime.strptime(row["created_at"], "%Y-%m-%dT%H:%M:%S.%f%z") <= datetime.now(UTC)
    assert row["created_at"].endswith("Z")


def test_every_field_of_the_contract_survives_the_round_trip(home):
    interaction = {
        "prompt": 'p\u2028\n\0"\\ 日本 😀',
        "response": "r",
        "response_summary": "s",
        "project": "../..'; DROP",
        "agent": "a",
        "client": "c",
        "session_id": "s1",
        "user_id": "u1",
        "memories_used": ["m1", "m2"],
        "memories_offered": [["m1", 1, 0.5], ["m2", 2, None]],
        "injection_probability": 0.25,
        "memories_cited": ["m2"],
        "chunks_used": [],
        "context_pack": {"k": [1, {"x": None}]},
        "tokens": 2**53 + 1,
        "cost": 0.1,
        "reinforce": False,
        "created_at": "2026-03-10T08:00:00Z",
        "recorded_at": 1773129600,
        "interaction_id": "i1",
        "success": False,
        "outcome_id": "o0",
        "task_type": "t",
        "task": "ta",
        "strategy": "st",
        "attempted": True,
        "error_message": "",
        "duration_ms": 12,
        "feedback": "f",
        "basis": "evaluated",
        "basis_method": "judge/3",
        "unknown_field": {"kept": True},
    }
    of_interactions_alone = {"client", "reinforce", "injection_probability", "context_pack", "prompt", "response"}
    of_interactions_alone |= {"response_summary", "memories_used", "memories_offered", "memories_cited", "chunks_used"}
    outcome = {name: value for name, value in interaction.items() if name not in of_interactions_alone}
    outcome["outcome_id"] = "o1"
    memory = {
        "memory_id": "m1",
        "changed_at": "2026-03-10",
        "recorded_at": "2026-03-11",
        "memory_type": "knowledge",
        "project": "",
        "agent": "a",
        "content": "",
        "status": "active",
        "confidence": 0.5,
        "importance": 1,
        "pinned": False,
        "source_ids": ["x"],
        "superseded_by": "m2",
        "reason": "r",
        "changed_by": "c",
        "unknown_field": 1,
    }
    assert record_interaction(**interaction) == "i1"
    assert record_outcome(**outcome) == "o1"
    record_memory(**memory)
    assert slowwave.flush(60)
    assert rows_in(home) == [interaction, outcome, memory]


def test_what_an_outcome_and_a_memory_are_given_by_default(home):
    outcome_id = record_outcome(success=True, duration_ms=60_000)
    record_memory("m1", content=None)
    assert slowwave.flush(60)
    outcome, memory = rows_in(home)
    assert set(outcome) == {"success", "outcome_id", "created_at", "recorded_at", "duration_ms"}
    assert outcome["outcome_id"] == outcome_id == uuid.UUID(outcome_id).hex
    # landing's own default would be a minute from now: an outcome that happened stays invisible meanwhile
    assert outcome["recorded_at"] == outcome["created_at"]
    assert set(memory) == {"memory_id", "changed_at"}


def test_ids_may_come_in_any_collection_or_alone(home):
    record_interaction(
        "p", memories_used="m1", memories_cited="m2", chunks_used={"c1"}, memories_offered=iter([("m1", 1, 0.5)])
    )
    record_memory("m1", source_ids=("s1", "s2"))
    assert slowwave.flush(60)
    interaction, memory = rows_in(home)
    assert interaction["memories_used"] == ["m1"]
    assert interaction["memories_cited"] == ["m2"]
    assert interaction["chunks_used"] == ["c1"]
    assert interaction["memories_offered"] == [["m1", 1, 0.5]]
    assert memory["source_ids"] == ["s1", "s2"]


@pytest.mark.parametrize("prompt", ["", " \n\t "])
def test_a_blank_prompt_is_refused_at_once(home, prompt):
    with pytest.raises(ValueError, match=r"prompt is blank: pass .*or do not record"):
        record_interaction(prompt)
    assert slowwave.flush(60)
    assert not home.exists()


@pytest.mark.parametrize("prompt", [None, 1, b"bytes", ["a"]])
def test_a_prompt_that_is_no_text_is_refused_at_once(home, prompt):
    with pytest.raises(TypeError, match=r"prompt must be a str, not \w+: pass"):
        record_interaction(prompt)
    assert not home.exists()


@pytest.mark.parametrize("memory_id", [None, "", "  "])
def test_a_memory_without_id_is_refused_at_once(home, memory_id):
    with pytest.raises(ValueError, match="memory_id is blank: pass"):
        record_memory(memory_id)
    assert not home.exists()


def test_a_field_that_would_make_the_row_another_kind_is_refused(home):
    with pytest.raises(TypeError, match="'prompt'"):
        record_outcome(success=True, prompt="p")
    with pytest.raises(TypeError, match="'memory_id'"):
        record_outcome(success=True, memory_id="m")
    with pytest.raises(TypeError, match="'prompt'"):
        record_memory("m", prompt="p")
    assert not home.exists()


# ------------------------------------------------------------------------------------------------------ serialisation


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (datetime(2026, 3, 10, 8), "2026-03-10T08:00:00.000000Z"),  # noqa: DTZ001 - naive is the case tested
        (datetime(2026, 3, 10, 8, tzinfo=timezone(timedelta(hours=2))), "2026-03-10T06:00:00.000000Z"),
        (datetime(2026, 3, 10, 8).date(), "2026-03-10"),  # noqa: DTZ001
        ("2026-03-10 08:00:00", "2026-03-10 08:00:00"),
    ],
)
def test_times_are_written_as_utc(home, given, written):
    record_interaction("p", created_at=given, recorded_at=given, seen={"at": given})
    assert slowwave.flush(60)
    (row,) = rows_in(home)
    assert row["created_at"] == row["recorded_at"] == row["seen"]["at"] == written


class Hostile:
    def __str__(self):
        raise RuntimeError


def cycle() -> list[object]:
    ring: list[object] = [1]
    ring.append(ring)
    return ring


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (math.nan, None),
        (math.inf, None),
        ([math.nan, -math.inf, 1.5], [None, None, 1.5]),
        (Path("/x"), "/x"),
        ({1: {"a"}, ("k",): b"v"}, {"1": "{'a'}", "('k',)": "b'v'"}),
        (cycle(), [1, "[1, [...]]"]),
        (Hostile(), "<Hostile>"),
        (10**5000, "<int>"),
        ("lone \ud800 and \udc00", "lone \ufffd and \ufffd"),
        ("pair \ud83d\ude00", "pair 😀"),
        ({"\udfff": 1}, {"\ufffd": 1}),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-5))), "9999-12-31 23:59:59.999999-05:00"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_given_a_row_is_written(home, given, written):
    record_interaction("p", odd=given)
    assert slowwave.flush(60)
    (row,) = rows_in(home)
    assert row.get("odd") == written
    assert "odd" in row


def test_nesting_without_end_is_written_as_far_as_it_makes_sense(home):
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    record_interaction("p", deep=deep)
    assert slowwave.flush(60)
    assert rows_in(home)[0]["deep"]


def test_a_row_is_what_it_was_when_recorded(home):
    used, pack = ["m1"], {"k": ["v"]}
    record_interaction("p", memories_used=used, context_pack=pack)
    used.append("m2")
    pack["k"].clear()
    assert slowwave.flush(60)
    (row,) = rows_in(home)
    assert row["memories_used"] == ["m1"]
    assert row["context_pack"] == {"k": ["v"]}


# ---------------------------------------------------------------------------------------------------------- the files


def test_many_rows_share_a_file_named_by_time_and_process(writer, home):
    for number in range(5000):
        writer.record({"n": number})
    assert writer.flush(60)
    assert [row["n"] for row in rows_in(home)] == list(range(5000))
    names = [path.name for path in (home / "inbox").iterdir()]
    assert 1 <= len(names) < 20
    for name in names:
        stamp, pid, random = name.removesuffix(".jsonl").split("-")
        assert abs(datetime.strptime(f"{stamp}+0000", "%Y%m%dT%H%M%S%fZ%z") - datetime.now(UTC)) < timedelta(minutes=1)
        assert int(pid) == os.getpid()
        assert len(random) == 16


def test_rows_arrive_by_themselves_after_flush_seconds(writer, home):
    writer.record({"n": 1})
    assert wait_until(lambda: writer.stats().written == 1)
    assert rows_in(home) == [{"n": 1}]


def test_rows_gather_until_flush_seconds_or_flush(home):
    with Writer(home, flush_seconds=60) as writer:
        writer.record({"n": 1})
        time.sleep(0.1)
        assert writer.stats() == (1, 0, 0, 0)
        assert writer.flush()
        assert writer.stats() == (0, 1, 0, 0)
        writer.record({"n": 2})
    assert rows_in(home) == [{"n": 1}, {"n": 2}]


def test_a_full_file_does_not_wait(home):
    with Writer(home, flush_seconds=60) as writer:
        for number in range(10_001):
            writer.record({"n": number})
        assert wait_until(lambda: writer.stats().written == 10_000)
        assert writer.stats().buffered == 1


def test_a_file_is_synced_before_it_gets_its_name_and_its_folder_after(writer, home, monkeypatch):
    seen = []
    real = os.fsync

    def watching(descriptor):
        target = Path(f"/proc/self/fd/{descriptor}").readlink()
        size = target.stat().st_size if target.is_file() else None
        seen.append((target.suffix or target.name, size, sorted(p.suffix for p in target.parent.glob("inbox/*.jsonl"))))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watching)
    writer.record({"n": 1})
    assert writer.flush(60)
    assert seen[-2:] == [(".tmp", len('{"n":1}\n'), []), ("inbox", None, [".jsonl"])]
    assert [name for name, _, _ in seen[:-2]] == [home.parent.name, home.name]  # the new folders too


def test_close_writes_what_is_left_and_drops_what_comes_later(home):
    writer = Writer(home, flush_seconds=60)
    writer.record({"n": 1})
    thread = writer._thread
    assert writer.close()
    assert thread is not None
    assert not thread.is_alive()
    writer.record({"n": 2})
    assert rows_in(home) == [{"n": 1}]
    assert writer.stats() == (0, 1, 0, 1)
    assert writer.close()


def test_many_threads_lose_and_repeat_nothing(writer, home):
    def work(name):
        for number in range(500):
            writer.record({"thread": name, "n": number})
            if number % 100 == 0:
                writer.flush(5)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert writer.flush(60)
    rows = rows_in(home)
    assert sorted((row["thread"], row["n"]) for row in rows) == [(t, n) for t in range(16) for n in range(500)]
    for name in range(16):
        assert [row["n"] for row in rows if row["thread"] == name] == list(range(500))


# ------------------------------------------------------------------------------------------------- faults of the disk


def test_rows_outlive_an_inbox_that_cannot_be_written_to(writer, home, caplog):
    home.mkdir()
    (home / "inbox").write_text("in the way")
    for number in range(3):
        writer.record({"n": number})
    assert not writer.flush()
    assert not writer.flush(0.3)
    failed = writer.stats().failed_attempts
    assert failed >= 2
    assert writer.stats() == (3, 0, failed, 0)
    warnings = [record for record in caplog.records if record.name == "slowwave.writer"]
    assert len(warnings) == 1  # not one per row, nor per attempt
    assert warnings[0].levelno == logging.WARNING
    assert "3 rows wait" in warnings[0].getMessage()
    assert str(home) in warnings[0].getMessage()
    (home / "inbox").unlink()
    assert wait_until(lambda: writer.stats().written == 3)  # by itself: nobody asked for a flush
    assert rows_in(home) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert writer.flush()
    assert "again after" in caplog.text


def test_retries_back_off(writer, home):
    home.write_text("in the way")
    began = time.monotonic()
    writer.record({"n": 1})
    assert wait_until(lambda: writer.stats().failed_attempts >= 3)
    failed, most = writer.stats().failed_attempts, time.monotonic() - began
    assert 0.1 * (2 ** (failed - 2) - 1) <= most  # 0.1, 0.2, 0.4 … seconds apart; a busy machine is only slower


def test_a_flush_does_not_wait_for_the_next_retry_and_success_ends_the_backoff(writer, home):
    home.write_text("in the way")
    writer.record({"n": 1})
    for _ in range(8):
        assert not writer.flush()
    home.unlink()
    assert writer.flush(10)  # the next retry would be 12.8 seconds away
    writer.record({"n": 2})
    assert wait_until(lambda: writer.stats().written == 2)
    assert rows_in(home) == [{"n": 1}, {"n": 2}]


def test_a_write_that_fails_half_way_leaves_no_litter_and_is_repeated_whole(home):
    result = python(
        """
        import os, resource, slowwave
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        writer = slowwave.Writer(flush_seconds=60)
        for number in range(50):
            writer.record({"n": number, "text": "x" * 100})
        first = writer.flush()
        inbox = os.path.join(os.environ["SLOWWAVE_HOME"], "inbox")
        print(first, os.listdir(inbox), writer.stats().buffered, writer.stats().failed_attempts)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(writer.flush(60))
        """,
        home,
    )
    assert result.stdout.splitlines() == ["False [] 50 1", "True"], result.stderr
    assert [row["n"] for row in rows_in(home)] == list(range(50))
    assert litter_in(home) == []


def test_a_disk_that_takes_only_small_files_gets_small_files(home):
    result = python(
        """
        import resource, slowwave
        resource.setrlimit(resource.RLIMIT_FSIZE, (6_000_000, resource.RLIM_INFINITY))
        writer = slowwave.Writer(flush_seconds=60)
        for number in range(12):
            writer.record({"n": number, "text": "x" * 1_000_000})
        print(writer.flush(60))
        """,
        home,
    )
    assert result.stdout == "True\n", result.stderr
    assert [row["n"] for row in rows_in(home)] == list(range(12))
    assert litter_in(home) == []


def test_a_hanging_disk_holds_up_nobody(home, hanging_disk):
    (home / "inbox").mkdir(parents=True)
    writer = Writer(home, flush_seconds=0.0)
    writer.record({"n": 0})
    assert wait_until(lambda: any(home.glob("inbox/*.tmp")))
    for number in range(1, 200):
        writer.record({"n": number})  # each returns although the disk does not
        time.sleep(0.001)
    assert writer.stats() == (200, 0, 0, 0)
    assert not writer.flush(0.1)
    assert not writer.close(0.1)
    assert not hanging_disk.is_set()
    hanging_disk.set()
    assert wait_until(lambda: writer.stats().written == 1)  # the attempt under way when the writer was closed
    assert rows_in(home) == [{"n": 0}]


def test_a_row_in_place_is_not_written_again_when_its_folder_cannot_be_synced(writer, home, monkeypatch, caplog):
    real = os.fsync

    def failing(descriptor):
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_dir():
            raise OSError(5, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    writer.record({"n": 1})
    assert writer.flush()
    time.sleep(0.3)
    assert rows_in(home) == [{"n": 1}]
    assert writer.stats() == (0, 1, 0, 0)
    assert "cannot sync" in caplog.text


def test_a_full_buffer_drops_the_newest_rows_and_says_so_once(home, caplog):
    home.write_text("in the way")
    writer = Writer(home, flush_seconds=60, max_rows=3)
    for number in range(10):
        writer.record({"n": number})
    assert writer.stats() == (3, 0, 0, 7)
    assert [record.getMessage() for record in caplog.records] == ["buffer full: 1 rows dropped so far"]
    home.unlink()
    assert writer.close()
    assert rows_in(home) == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_the_buffer_is_bounded_in_bytes_too(home):
    with Writer(home, flush_seconds=60, max_bytes=100) as writer:
        for _ in range(20):
            writer.record({"n": 1})  # 8 bytes with its line end
        assert writer.stats() == (12, 0, 0, 8)
        assert writer.flush()
        writer.record({"n": 1})  # room again
        assert writer.stats() == (1, 12, 0, 8)


def test_a_broken_log_handler_reaches_neither_caller_nor_thread(writer, home, monkeypatch):
    class Broken(logging.Handler):
        def emit(self, record):  # noqa: ARG002
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(logging.getLogger("slowwave.writer"), "handlers", [Broken()])
    home.write_text("in the way")
    writer.record({"n": 1})
    assert not writer.flush()
    home.unlink()
    assert writer.flush(60)
    writer.close()
    writer.record({"n": 2})
    assert rows_in(home) == [{"n": 1}]


def test_no_thread_to_be_had_is_survived(home, monkeypatch, caplog):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        writer = Writer(home)
        writer.record({"n": 1})
        assert not writer.flush()
    assert "no thread can be started" in caplog.text
    assert writer.flush(60)
    assert writer.close()
    assert rows_in(home) == [{"n": 1}]


def test_a_working_directory_that_is_gone_raises_nothing(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    result = python(
        """
        import os, slowwave
        os.rmdir(os.getcwd())
        slowwave.record_interaction("p")
        print(slowwave.flush())
        os.chdir("..")
        print(slowwave.flush(60))
        os.mkdir("elsewhere")
        os.chdir("elsewhere")
        slowwave.record_interaction("q")
        print(slowwave.flush(60))
        """,
        Path(),
        cwd=gone,
    )
    assert result.stdout.splitlines() == ["False", "True", "True"], result.stderr
    assert [row["prompt"] for row in rows_in(tmp_path)] == ["p", "q"]


# ---------------------------------------------------------------------------------------------------------- processes


def test_rows_still_buffered_at_exit_are_written(home):
    result = python("import slowwave; slowwave.record_interaction('last words')", home)
    assert (result.returncode, result.stderr) == (0, "")
    assert [row["prompt"] for row in rows_in(home)] == ["last words"]


def test_exit_does_not_wait_for_ever_and_says_what_is_lost(home):
    result = python(
        """
        import os, threading, slowwave
        import slowwave.flows.land.writer
        slowwave.flows.land.writer.EXIT_SECONDS = 0.3
        os.fsync = lambda descriptor: threading.Event().wait()
        slowwave.record_interaction("p")
        """,
        home,
    )
    assert result.returncode == 0
    assert "exiting with 1 rows not written" in result.stderr


def test_a_forked_child_writes_its_own_rows_and_none_of_its_parents(home):
    result = python(
        """
        import os, slowwave
        writer = slowwave.Writer(flush_seconds=60)
        writer.record({"by": "parent", "n": 1})
        slowwave.record_interaction("parent")
        writer._changed.acquire()  # as another thread may hold it when the fork comes
        child = os.fork()
        if child == 0:
            assert writer.stats() == (0, 0, 0, 0), writer.stats()
            writer.record({"by": "child", "n": 2})
            slowwave.record_interaction("child")
            os._exit(0 if writer.flush(60) and slowwave.flush(60) else 1)
        writer._changed.release()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), child)
        """,
        home,
    )
    status, child = result.stdout.split()
    assert status == "0", result.stderr
    assert sorted(row.get("by") or row["prompt"] for row in rows_in(home)) == ["child", "child", "parent", "parent"]
    by_child = [path for path in (home / "inbox").iterdir() if f"-{child}-" in path.name]
    assert all("child" in path.read_text() and "parent" not in path.read_text() for path in by_child)
    assert len(by_child) == 2


def test_a_forked_worker_of_multiprocessing_writes_its_last_rows(home):
    result = python(
        """
        import multiprocessing, slowwave
        workers = [multiprocessing.get_context("fork").Process(target=slowwave.record_interaction, args=(f"w{n}",))
                   for n in range(3)]
        for worker in workers: worker.start()
        for worker in workers: worker.join()
        """,
        home,
    )
    assert result.stderr == ""
    assert sorted(row["prompt"] for row in rows_in(home)) == ["w0", "w1", "w2"]


def test_killed_between_write_and_rename_leaves_a_tmp_and_whole_files(home):
    result = python(
        """
        import os, signal, slowwave
        writer = slowwave.Writer(flush_seconds=60)
        writer.record({"n": 1})
        writer.flush(5)
        os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
        writer.record({"n": 2})
        writer.flush(5)
        """,
        home,
    )
    assert result.returncode == -signal.SIGKILL
    assert rows_in(home) == [{"n": 1}]
    (left,) = litter_in(home)
    assert left.endswith(".jsonl.tmp")


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.4])
def test_killed_at_any_moment_leaves_only_whole_files_and_tmp(home, seconds):
    code = """
        import slowwave
        writer = slowwave.Writer(flush_seconds=0.0)
        n = 0
        while True:
            writer.record({"n": n, "text": "x" * 50_000})
            n += 1
        """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, "SLOWWAVE_HOME": str(home)}
    )
    assert wait_until(lambda: any(home.glob("inbox/*.jsonl")))
    time.sleep(seconds)
    process.kill()
    process.wait()
    numbers = [row["n"] for row in rows_in(home)]  # every line of every file parses
    assert numbers
    assert numbers == sorted(set(numbers))
    assert all(name.endswith(".jsonl.tmp") for name in litter_in(home))


# --------------------------------------------------------------------------------------------------------- the package


def test_importing_the_writer_needs_the_standard_library_alone(home):
    code = """
        import sys, sysconfig
        from slowwave import record_interaction, record_outcome, record_memory
        heavy = {"polars", "duckdb", "prefect", "pyarrow", "pydantic", "orjson", "numpy"} & set(sys.modules)
        print(sorted(heavy), sorted(name for name in sys.modules if name.startswith("slowwave")))
        """
    result = python(code, home)
    kernel = [f"slowwave.flows.kernel{name}" for name in ("", ".declared_columns", ".home")]
    rooms = ["slowwave", "slowwave.flows", *kernel, "slowwave.flows.land", "slowwave.flows.land.writer"]
    assert result.stdout == f"[] {rooms}\n"


def test_version():
    assert slowwave.__version__ == "0.1.0"


def test_home_is_the_environments_choice_or_data_under_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLOWWAVE_HOME", "/somewhere/else")
    assert home_from_environment() == Path("/somewhere/else")
    monkeypatch.setenv("SLOWWAVE_HOME", "relative")
    assert home_from_environment() == tmp_path / "relative"
    for blank in ("", "  "):
        monkeypatch.setenv("SLOWWAVE_HOME", blank)
        assert home_from_environment() == tmp_path / "data"
    monkeypatch.delenv("SLOWWAVE_HOME")
    assert home_from_environment() == tmp_path / "data"
    assert not list(tmp_path.iterdir())


def test_a_relative_home_stays_where_it_was_first_used(tmp_path):
    result = python(
        """
        import os, slowwave
        slowwave.record_interaction("one")
        os.mkdir("elsewhere")
        os.chdir("elsewhere")
        slowwave.record_interaction("two")
        """,
        Path("here"),
        cwd=tmp_path,
    )
    assert result.stderr == ""
    assert [row["prompt"] for row in rows_in(tmp_path / "here")] == ["one", "two"]


def test_a_changed_environment_is_taken_at_its_word(tmp_path, monkeypatch):
    for name in ("one", "two"):
        monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / name))
        record_interaction(name)
    assert slowwave.flush(60)
    assert [row["prompt"] for row in rows_in(tmp_path / "one")] == ["one"]
    assert [row["prompt"] for row in rows_in(tmp_path / "two")] == ["two"]
