"""A lake in a bucket of a real server: the same tables as in a folder, whatever fails on the way."""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bucket_server import Fault, Proxy, environment, free_port, make_bucket, random_faults, s3_server

from slowwave.data.sample import sample_files
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import holder, writer_lock
from slowwave.flows.kernel.storage import bucket as buckets
from slowwave.flows.kernel.storage.bucket import Bucket
from slowwave.flows.kernel.storage.client import BucketClient, BucketError, FencedError
from slowwave.flows.kernel.storage.folder import PartialCopies
from slowwave.flows.kernel.storage.lease import hold_lease
from slowwave.flows.kernel.storage.mounts import bucket_at
from slowwave.flows.kernel.storage.storage import mount
from slowwave.flows.lake import current
from slowwave.flows.lake import pieces as pieces_of_files
from slowwave.flows.lake.files import LakeFile
from slowwave.flows.lake.pieces import Between, footer, pieces, with_columns
from slowwave.flows.publish import log_as_of, replay_inputs
from slowwave.transforms.evidence.buckets import ORDER
from tests.laws.home import Home

pytestmark = pytest.mark.slow
_FILES = list(sample_files(days=2, interactions_per_day=25))
_LINE = b'{"interaction_id": "late", "created_at": "2026-03-01T09:00:00Z", "prompt": "Say it again"}\n'
_EMPTY_LIST = b"<ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount></ListBucketResult>"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with s3_server() as port:
        yield port


@pytest.fixture
def proxy(server: int) -> Iterator[Proxy]:
    """Before the server; this process's lakes are behind it."""
    one = Proxy(server)
    yield one
    one.close()


@pytest.fixture
def new_home(server: int, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Home]:
    """Homes over one lake in a new bucket."""
    name = f"bucket-{next(_numbers)}"
    make_bucket(server, name)
    for variable, value in environment(proxy.port, f"s3://{name}/team/lake").items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(current, "_FRESH_SECONDS", 0)
    homes = itertools.count(1)
    return lambda: Home(tmp_path / f"home-{next(homes)}")


@pytest.fixture
def home(new_home: Callable[[], Home]) -> Home:
    return new_home()


def _bucket(home: Home) -> Bucket:
    bucket = bucket_at(home.settings.lake_folder)
    assert bucket is not None
    return bucket


def _nights(home: Home) -> None:
    """The sample logs day by day, published every time."""
    for day, files in itertools.groupby(_FILES, lambda file: file.name[:10]):
        for file in files:
            home.drop(file.name, file.content)
        home.nightly(datetime.fromisoformat(day) + timedelta(days=1))


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tables of a lake in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SLOWWAVE_LAKE", raising=False)
        home = Home(tmp_path_factory.mktemp("folder") / "home")
        _nights(home)
        return home.hashes()


def test_a_lake_in_a_bucket_has_the_tables_of_one_in_a_folder(
    new_home: Callable[[], Home], expected: dict[str, str]
) -> None:
    home, other = new_home(), new_home()
    _nights(home)
    assert home.hashes() == expected
    assert other.hashes() == expected  # it follows the pointer
    assert other.current.read_bytes() == home.current.read_bytes()
    other.drop("late.jsonl", _LINE)
    other.nightly()
    assert [row["interaction_id"] for row in home.rows("FROM memory_references WHERE interaction_id = 'late'")] == []
    assert home.current.name == other.current.name
    assert other.nightly(full=True).is_published  # nothing differs from what is built anew


@pytest.mark.parametrize("seed", [1, 2])
def test_what_fails_on_the_way_changes_no_table(home: Home, proxy: Proxy, expected: dict[str, str], seed: int) -> None:
    proxy.fault = random_faults(seed, 0.08)
    _nights(home)
    assert home.hashes() == expected
    assert sum(row["status"] == "published" for row in home.ledger()) == len({file.name[:10] for file in _FILES})


def test_what_is_read_in_parts_is_the_same_from_copies_and_from_the_bucket(
    new_home: Callable[[], Home], monkeypatch: pytest.MonkeyPatch, expected: dict[str, str]
) -> None:
    monkeypatch.setattr(log_as_of, "_MANY_FILES", 1)
    monkeypatch.setattr(replay_inputs, "MANY_BYTES", 0)
    monkeypatch.setattr(replay_inputs, "_ROWS_AT_ONCE", 7)
    monkeypatch.setattr(pieces_of_files, "_LITTLE_BYTES", 0)
    monkeypatch.setattr(pieces_of_files, "_OFTEN_ENOUGH", 64)
    home, other = new_home(), new_home()
    _nights(home)
    assert home.hashes() == expected
    fetched, holding = list[Path](), PartialCopies.holding

    def noted(copies: PartialCopies, name: Path, *of: Any) -> Path:
        fetched.append(name)
        return holding(copies, name, *of)

    monkeypatch.setattr(PartialCopies, "holding", noted)
    other.drop("late.jsonl", _LINE)
    assert other.nightly(full=True).is_published  # nothing differs from what is built anew of what was fetched
    assert "interactions" in {name.parts[0] for name in fetched}


def test_listings_that_lag_change_no_table(home: Home, proxy: Proxy, expected: dict[str, str]) -> None:
    """Each tells of what was written a second before it: of nothing that a night has written just now."""
    proxy.lag_seconds = 1.0
    _nights(home)
    assert home.hashes() == expected
    assert home.nightly(full=True).is_published  # nothing differs from what is built anew


def _interactions(home: Home) -> int:
    told = home.rows("SELECT sum(rows_count)::BIGINT AS rows FROM landed_days WHERE landed_table = 'interactions'")
    return told[0]["rows"]


def _always(fault: Fault, *methods: str) -> Callable[[str, str], Fault]:
    return lambda method, _path: fault if method in methods else None


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (_always((403, "AccessDenied"), "PUT"), "do not allow writing"),
        (_always((503, "SlowDown"), "PUT"), "asks to be asked less"),
        (_always((400, "ExpiredToken"), "PUT", "GET"), "have expired: renew them"),
        (_always((403, "InvalidAccessKeyId"), "PUT", "GET"), "are not accepted"),
        (_always((404, "NoSuchBucket"), "PUT", "GET"), "there is no bucket for s3:"),
        (_always("unheard", "PUT", "GET"), "does not answer"),
    ],
)
def test_a_bucket_that_refuses_is_told_of_and_what_was_published_stays(
    home: Home, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, fault: Callable[[str, str], Fault], says: str
) -> None:
    monkeypatch.setenv("SLOWWAVE_LAKE_SECONDS", "1")
    home.drop("one.jsonl", _LINE)
    home.nightly()
    before, hashes = home.current, home.hashes()
    home.drop("two.jsonl", _LINE.replace(b"late", b"later"))
    proxy.fault = fault
    with pytest.raises(BucketError, match=says):
        home.nightly()
    proxy.fault = lambda _method, _path: None
    assert home.current == before
    assert home.hashes() == hashes
    home.nightly()
    assert _interactions(home) == 2


def test_an_endpoint_where_nobody_listens_is_told_of(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("SLOWWAVE_LAKE_SECONDS", "1")
    with pytest.raises(BucketError, match="does not answer"):
        home.land_inbox()


def test_of_two_writers_one_gets_the_lease(new_home: Callable[[], Home]) -> None:
    one, other = new_home(), new_home()
    with writer_lock(one.settings, "nightly"):
        with pytest.raises(UserError, match=r"`slowwave nightly` \(process .* is writing to s3://"), other_lock(other):
            pass
        assert "slowwave nightly" in str(holder(other.settings))
    with other_lock(other):
        assert holder(one.settings) is not None


def other_lock(home: Home):
    return writer_lock(home.settings, "land")


def test_who_was_killed_is_followed_by_the_next_from_its_home_at_once(home: Home) -> None:
    with writer_lock(home.settings, "nightly"):
        bucket = _bucket(home)
        assert bucket.lease is not None
        content, _ = bucket.client.read(".lock")
    bucket.client.write_if(".lock", content, bucket.client.read(".lock")[1].tag)  # as it was left
    with writer_lock(home.settings, "nightly"):
        assert bucket.lease is not None
        assert bucket.lease.number == 2


def test_who_was_paused_writes_and_publishes_nothing_more(
    new_home: Callable[[], Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "_GRACE_SECONDS", -1.0)
    paused, other = new_home(), new_home()
    other.drop("one.jsonl", _LINE)
    other.nightly()
    published, bucket = paused.current, _bucket(paused)
    with writer_lock(paused.settings, "nightly"):
        lease, old = bucket.lease, paused.settings.lake_folder / "runs" / "old.parquet"
        assert lease is not None
        bucket.write(old, lambda to: to.write_bytes(b"old"))
        bucket.remove([old])
        lease._ended.set()  # it renews no more
        _, entry = bucket.client.read(".lock")
        taken = b'{"number": 9, "holder": {"command": "land"}, "seconds": 60, "written": "by another"}'
        assert bucket.client.write_if(".lock", taken, entry.tag)
        lease._until = 0.0  # and wakes later
        for write in (
            lambda: bucket.write(paused.settings.lake_folder / "runs" / "x.parquet", lambda to: to.write_bytes(b"x")),
            lambda: bucket.remove([paused.settings.lake_folder / "FORMAT"]),
            lambda: current.point_at(paused.settings, bucket, published.stem),
            bucket.sweep,
        ):
            with pytest.raises(FencedError, match="another writer has taken over"):
                write()
    assert paused.current.name == published.name


def test_one_that_is_not_heard_of_runs_out(home: Home) -> None:
    client = _bucket_client(home)
    said = b'{"number": 4, "holder": {"command": "land"}, "seconds": 0.05, "written": "once"}'
    client.write_if(".lock", said, None)
    with hold_lease(
        client,
        ".lock",
        {"command": "nightly"},
        deadline=time.monotonic() + 600,
        is_dead=lambda _: False,
        refused=str,
        waiting=lambda _: None,
    ) as lease:
        assert lease.number == 5


def _bucket_client(home: Home) -> BucketClient:
    return _bucket(home).client


def test_what_is_removed_is_deleted_a_day_later_unless_it_is_written_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home.settings.lake_folder
    bucket, one, other = _bucket(home), folder / "runs" / "one.parquet", folder / "runs" / "other.parquet"
    with writer_lock(home.settings, "nightly"):
        for path in (one, other):
            bucket.write(path, lambda to: to.write_bytes(b"content"))
        bucket.remove([one, other])
        assert bucket.files(folder / "runs") == []
        assert bucket.sweep() == 0
        assert bucket.client.read("runs/one.parquet")[0] == b"content"  # who has listed it before can read it
        bucket.write(other, lambda to: to.write_bytes(b"again"))
        assert bucket.files(folder / "runs") == [other]
        monkeypatch.setattr(buckets, "_GRACE_SECONDS", -1.0)
        assert bucket.sweep() == 1
        with pytest.raises(FileNotFoundError):
            bucket.client.read("runs/one.parquet")
        assert bucket.read(other) == b"again"


def test_a_listing_that_is_behind_keeps_a_publish_from_being_seen(
    home: Home, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.drop("one.jsonl", _LINE)
    home.nightly()
    before = home.current
    monkeypatch.setattr(buckets, "_LISTED_WITHIN_SECONDS", 0.0)
    home.drop("two.jsonl", _LINE.replace(b"late", b"later"))
    proxy.fault = lambda _method, path: _EMPTY_LIST if "prefix=team%2Flake%2Finteractions" in path else None
    with pytest.raises(BucketError, match="does not list what was written"):
        home.nightly()
    proxy.fault = lambda _method, _path: None
    assert home.current == before
    home.nightly()
    assert _interactions(home) == 2


def test_a_pointer_that_moves_under_a_reader_is_followed(new_home: Callable[[], Home], proxy: Proxy) -> None:
    home, reader = new_home(), new_home()
    home.drop("one.jsonl", _LINE)
    home.nightly()
    answers = iter([(404, "NoSuchKey"), (404, "NoSuchKey")])
    proxy.fault = lambda method, path: next(answers, None) if method == "GET" and "/published/" in path else None
    assert reader.current.name == home.current.name


def test_a_published_file_that_is_damaged_is_not_shown(new_home: Callable[[], Home]) -> None:
    home, reader = new_home(), new_home()
    home.drop("one.jsonl", _LINE)
    home.nightly()
    size = home.current.stat().st_size
    damaged = home.folder / "damaged"
    damaged.write_bytes(bytes(size))
    _bucket(home).client.upload(damaged, f"published/{home.current.name}")
    with pytest.raises(BucketError, match="is damaged: its digest"):
        _ = reader.current


def test_a_large_file_goes_up_in_parts_and_comes_down_whole_also_where_it_is_cut(home: Home, proxy: Proxy) -> None:
    client = _bucket_client(home)
    content = bytes(range(256)) * (20 * 2**12)
    home.folder.mkdir(parents=True)
    large, back = home.folder / "large", home.folder / "back"
    large.write_bytes(content)
    client.upload(large, "large")
    assert proxy.requests["PUT"] == 3
    faults = iter(["cut", "cut"])
    proxy.fault = lambda method, path: next(faults, None) if method == "GET" and path.endswith("/large") else None
    client.download("large", back)
    assert back.read_bytes() == content


def test_what_is_replaced_while_it_is_read_is_read_anew_or_told_of(home: Home, proxy: Proxy) -> None:
    client = _bucket_client(home)
    home.folder.mkdir(parents=True)
    old, new, back = home.folder / "old", home.folder / "new", home.folder / "back"
    old.write_bytes(b"old" * 10**6)
    new.write_bytes(b"new" * 10**6)
    tag, cut, replaced = client.upload(old, "one"), iter(["cut"]), []

    def fault(method: str, path: str) -> Fault:
        if method != "GET" or not path.endswith("/one"):
            return None
        of_this = next(cut, None)
        if of_this is None and not replaced:
            replaced.append(client.upload(new, "one"))
        return of_this

    proxy.fault = fault
    client.download("one", back)
    assert (back.read_bytes(), len(replaced)) == (new.read_bytes(), 1)
    with pytest.raises(BucketError, match="/one was replaced while it was read: run this again"):
        client.read_range("one", 0, 10, tag)


@pytest.mark.parametrize("size", [100, 3_000_000])
def test_a_full_disk_of_this_machine_is_not_taken_for_a_fault_of_the_bucket(home: Home, size: int) -> None:
    home.folder.mkdir(parents=True)
    (home.folder / "some").write_bytes(bytes(size))
    client = _bucket_client(home)
    client.upload(home.folder / "some", "some")
    with pytest.raises(BucketError, match="the disk of this machine is full"):
        client.download("some", Path("/dev/full"))


def test_who_only_reads_lets_go_of_copies_that_are_no_more(new_home: Callable[[], Home]) -> None:
    home, reader = new_home(), new_home()
    home.drop("one.jsonl", _LINE)
    home.nightly()
    assert len(reader.ledger()) == 1
    assert reader.current.exists()
    (young,) = reader.settings.lake_folder.glob("runs/*/*~*")
    old, of_nothing = (young.with_name(f"gone~{at}.parquet") for at in "ab")
    for copy in (old, of_nothing):
        copy.write_bytes(b"of what is no more")
    long_ago = time.time() - 100_000
    os.utime(old, (long_ago, long_ago))
    home.drop("two.jsonl", _LINE.replace(b"late", b"later"))
    home.nightly()
    assert reader.current.name == home.current.name
    assert (old.exists(), of_nothing.exists(), young.exists()) == (False, True, True)


def test_who_only_reads_lets_go_of_what_was_published_long_ago(new_home: Callable[[], Home]) -> None:
    home, reader = new_home(), new_home()
    home.drop("one.jsonl", _LINE)
    home.nightly()
    runs, long_ago = reader.current.parent, time.time() - 100_000
    for number in range(9):
        old = runs / f"{number}.duckdb"
        old.write_bytes(b"published before")
        os.utime(old, (long_ago + number, long_ago + number))
    home.drop("two.jsonl", _LINE.replace(b"late", b"later"))
    home.nightly()
    before, now = reader.settings.current.resolve().name, reader.current.name
    assert now == home.current.name
    kept = {before, now, *(f"{number}.duckdb" for number in range(3, 9))}
    assert {path.name for path in runs.iterdir()} == kept


def test_who_wants_a_part_of_a_large_object_fetches_no_more(home: Home, proxy: Proxy, tmp_path: Path) -> None:
    chance, day = random.Random(1), date(2026, 3, 1)
    texts = [f"{chance.getrandbits(8_000):x}" for _ in range(2_000)]
    rows = pl.DataFrame(
        {"project": [f"p{n // 100:02}" for n in range(2_000)], "interaction_id": texts, "prompt": texts}
    )
    path = home.settings.lake_folder / "interactions" / f"day={day}" / "large.parquet"
    with writer_lock(home.settings, "test"):
        _bucket(home).write(path, lambda to: rows.sort(ORDER).write_parquet(to, row_group_size=100))
    reader = Bucket(_bucket(home).url, tmp_path / "reader")
    mount(tmp_path / "reader", reader)
    file = LakeFile(day, tmp_path / "reader" / "interactions" / f"day={day}" / "large.parquet")
    assert footer(file.path).num_rows == rows.height
    within, asked = Between(ORDER, ("p07",), ("p08",)), proxy.requests["GET"]
    found = [pl.scan_parquet(piece.path).slice(piece.offset, piece.rows).collect() for piece in pieces([file], within)]
    assert pl.concat(found).filter(within.holds()).equals(rows.sort(ORDER).filter(pl.col("project") == "p07"))
    assert proxy.requests["GET"] - asked <= 3
    (partial,) = tmp_path.glob("reader-parts/*/interactions/*/large~*.parquet")
    assert 512 * partial.stat().st_blocks < partial.stat().st_size // 4  # the rest are holes
    named = pl.scan_parquet(with_columns([file], ["project"])).select("project").collect()
    assert named.equals(rows.sort(ORDER).select("project"))
    assert list(reader.on_disk([file.path])[0].parent.iterdir())
    reader.tidy_copies()
    assert not list(tmp_path.glob("reader-parts/*"))


def test_what_is_erased_is_deleted_from_the_bucket_at_once(home: Home) -> None:
    folder = home.settings.lake_folder
    path, bucket = folder / "runs" / "one.parquet", _bucket(home)
    with writer_lock(home.settings, "erase"):
        bucket.write(path, lambda to: to.write_bytes(b"first"))
        bucket.write(path, lambda to: to.write_bytes(b"second"))
        assert [copy.read_bytes() for copy in folder.rglob("one~*")] == [b"second"]
        bucket.remove([path])
        bucket.purge()
        with pytest.raises(FileNotFoundError):
            bucket.client.read("runs/one.parquet")
    assert list(folder.rglob("one*")) == []


def test_what_a_worker_writes_again_is_there_and_the_writer_goes_on(home: Home, tmp_path: Path) -> None:
    folder, worker = home.settings.lake_folder, Bucket(_bucket(home).url, tmp_path / "worker")
    bucket, one, other = _bucket(home), folder / "runs" / "one.parquet", folder / "runs" / "other.parquet"
    with writer_lock(home.settings, "nightly"):
        for path in (one, other):
            bucket.write(path, lambda to: to.write_bytes(b"content"))
        bucket.remove([one])
        worker.write(tmp_path / "worker" / "runs" / "one.parquet", lambda to: to.write_bytes(b"again"))
        bucket.look_again()
        assert bucket.files(folder / "runs") == [one, other]
        bucket.remove([other])
        assert bucket.files(folder / "runs") == [one]
