"""One bad file, row or query never stops, hides or harms the rest."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_home import SmallHome

from slowwave.flows.cli import main as cli
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.times import parse_as_of
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.land import Delivery, Landing, LandingReport, path_deliveries
from slowwave.flows.land.quarantine import kept_path
from slowwave.flows.nightly.nightly import land_paths, nightly, start_run
from slowwave.transforms.landing.tables import Interactions, Outcomes

GOOD = '{"prompt": "fine", "created_at": "2026-03-01", "interaction_id": "good"}\n'
FAR = 4_611_686_018_427_387  # milliseconds: the year 148108


def land(home: Path, *paths: Path) -> LandingReport:
    settings = Settings(home)
    with writer_lock(settings, "test"):
        return land_paths(start_run(settings, "land"), path_deliveries([str(path) for path in paths]))


def publish(home: Path) -> str:
    settings = Settings(home)
    with writer_lock(settings, "test"):
        return nightly(start_run(settings, "nightly"), as_of=parse_as_of("2026-03-02")).status


def bad_text() -> pa.Array:
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])


POISON = {
    "text that is not UTF-8": {"prompt": bad_text(), "created_at": ["2026-03-01"]},
    "decimals too wide": {"prompt": ["x"], "created_at": ["2026-03-01"], "d": pa.array([1], pa.decimal256(70, 0))},
    "a time nothing can hold": {
        "prompt": ["x"],
        "created_at": ["2026-03-01"],
        "deep": pa.array([[FAR]], pa.list_(pa.timestamp("ms"))),
    },
    "decimals too wide, deep inside": {
        "prompt": ["x"],
        "created_at": ["2026-03-01"],
        "deep": pa.array([[1]], pa.list_(pa.decimal256(70, 0))),
    },
    "a struct with a field twice": {
        "prompt": ["x"],
        "created_at": ["2026-03-01"],
        "twice": pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]),
    },
}


@pytest.mark.parametrize("name", POISON)
def test_parquet_that_cannot_be_read_is_quarantined_and_the_rest_lands(name: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(POISON[name]), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text(GOOD)
    poison, good = land(tmp_path / "home", tmp_path / "a.parquet", tmp_path / "b.jsonl").files
    assert (poison.delivered, poison.quarantined) == (1, 1)
    assert good.accepted == 1


def test_parquet_with_a_column_twice_is_refused_whole(tmp_path: Path) -> None:
    column = pa.array(["2026-03-01"])
    pq.write_table(pa.table([column] * 3, ["prompt", "created_at", "prompt"]), tmp_path / "a.parquet")
    (file,) = land(tmp_path / "home", tmp_path / "a.parquet").files
    assert (file.delivered, file.quarantined) == (1, 1)
    assert kept_path(Lake(tmp_path / "home" / "lake"), file.file_hash).exists()


def test_rows_before_one_that_cannot_be_decoded_land(tmp_path: Path) -> None:
    deep = pa.array([[]] * 4 + [[FAR]], pa.list_(pa.timestamp("ms")))
    table = pa.table({"prompt": list("abcde"), "created_at": ["2026-03-01"] * 5, "deep": deep})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    (file,) = land(tmp_path / "home", tmp_path / "a.parquet").files
    assert (file.delivered, file.accepted, file.quarantined) == (5, 4, 1)
    assert kept_path(Lake(tmp_path / "home" / "lake"), file.file_hash).exists()


def test_lists_of_nothing_land(tmp_path: Path) -> None:
    """Arrow's filter makes them lists that it cannot read."""
    lists = pa.array([[]] * 4 + [[None, None]], pa.list_(pa.null()))
    table = pa.table({"prompt": list("abcde"), "created_at": ["2026-03-01"] * 5, "nothing": lists})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    (file,) = land(tmp_path / "home", tmp_path / "a.parquet").files
    assert (file.delivered, file.accepted) == (5, 5)


def test_parquet_of_other_types_for_the_same_things_lands(tmp_path: Path) -> None:
    """A zone that is an offset, as pandas writes them, and Arrow's views of texts."""
    columns = {
        "prompt": pa.array(["a prompt longer than twelve bytes"], pa.string_view()),
        "created_at": pa.array([datetime(2026, 3, 1, 6, 30)], pa.timestamp("us", "+05:30")),  # noqa: DTZ001 - naive is UTC
        "memories_used": pa.array([["m-1"]], pa.list_(pa.string_view())),
        "ours": pa.array([b"some bytes"], pa.binary_view()),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    (file,) = land(tmp_path / "home", tmp_path / "a.parquet").files
    assert (file.delivered, file.accepted) == (1, 1)
    lake = Lake(tmp_path / "home" / "lake")
    files = [each for of_day in lake.files("interactions").values() for each in of_day]
    (row,) = lake.scan_rows(Interactions, files).select("prompt", "created_at", "memories_used").collect().rows()
    assert row == ("a prompt longer than twelve bytes", datetime(2026, 3, 1, 6, 30), ["m-1"])  # noqa: DTZ001


def test_the_rows_beside_an_unreadable_one_land(tmp_path: Path) -> None:
    times = pa.array([[1], [FAR], None], pa.list_(pa.timestamp("ms")))
    table = pa.table({"prompt": ["a", "b", "c"], "created_at": ["2026-03-01"] * 3, "deep": times})
    pq.write_table(table, tmp_path / "a.parquet")
    (file,) = land(tmp_path / "home", tmp_path / "a.parquet").files
    assert (file.delivered, file.accepted, file.quarantined) == (3, 2, 1)


def test_a_broken_csv_header_loses_no_byte(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text('prompt,"created"x_at\na,2026-03-01\nb,2026-03-01\n')
    (file,) = land(tmp_path / "home", tmp_path / "h.csv").files
    assert (file.delivered, file.quarantined) == (1, 1)
    assert kept_path(Lake(tmp_path / "home" / "lake"), file.file_hash).read_bytes() == (tmp_path / "h.csv").read_bytes()


def test_an_empty_path_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here.jsonl").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="empty path"):
        path_deliveries([""])


def test_a_pipe_in_a_folder_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text(GOOD)
    (tmp_path / "c.jsonl").symlink_to("a.jsonl")
    (tmp_path / "d.jsonl").symlink_to("/dev/zero")
    assert [delivery.path for delivery in path_deliveries([str(tmp_path)])] == [tmp_path / "b.jsonl"]


@pytest.mark.parametrize("leads_to", ["loop.jsonl", "nowhere"])
def test_a_link_that_leads_nowhere_is_named_and_the_rest_of_its_folder_lands(leads_to: str, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "loop.jsonl").symlink_to(leads_to)
    (tmp_path / "logs" / "whole.jsonl").write_text(GOOD)
    done = home.run("land", str(tmp_path / "logs"))
    assert done.returncode == 1
    assert f"slowwave: {tmp_path / 'logs' / 'loop.jsonl'} cannot be read: " in done.stderr
    assert "Traceback" not in done.stderr
    assert Lake(home.folder / "lake").files("interactions")


def test_a_file_too_large_for_the_disk_stays_and_the_rest_lands(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home")
    settings.inbox.mkdir(parents=True)
    (settings.inbox / "whole.jsonl").write_text(GOOD)
    with (settings.inbox / "huge.jsonl").open("wb") as huge:
        huge.truncate(2**42)  # of zeros, which take no room until they are read
    with writer_lock(settings, "nightly"):
        result = nightly(start_run(settings, "nightly"))
    assert (result.status, [file.source for file in result.landed.files]) == ("published", ["whole.jsonl"])
    (said,) = result.landed.unreadable
    assert said.startswith("huge.jsonl stays where it is: landing needs about 8,796,093.0 MB free on the disk of ")
    assert [path.name for path in settings.inbox.iterdir()] == ["huge.jsonl"]


@pytest.mark.parametrize("duration_ms", [9.2225e15, 9.3e15, 1e300])
def test_an_endless_outcome_is_never_known(duration_ms: float, tmp_path: Path) -> None:
    row = f'{{"outcome_id": "o", "created_at": "2026-03-01", "success": true, "duration_ms": {duration_ms}}}\n'
    (tmp_path / "o.jsonl").write_text(row)
    land(tmp_path / "home", tmp_path / "o.jsonl")
    lake = Lake(tmp_path / "home" / "lake")
    files = [file for of_day in lake.files("outcomes").values() for file in of_day]
    known = lake.scan_rows(Outcomes, files).select(pl.col("recorded_at")).collect().item()
    assert known == datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001 - naive is UTC


def test_lists_of_texts_in_several_row_groups_are_read(tmp_path: Path) -> None:
    """Each row group has a dictionary of its own, and one batch could hold rows of two."""
    rows = {"prompt": ["?"] * 300, "created_at": ["2026-03-01"] * 300}
    lists = {"memories_used": [[f"memory {i % 7}", f"memory {i}"] for i in range(300)]}
    pq.write_table(pa.table({**rows, **lists}), tmp_path / "rows.parquet", row_group_size=70)
    report = land(tmp_path / "home", tmp_path / "rows.parquet")
    assert (report.total("accepted"), report.total("quarantined")) == (300, 0)


def lines(count: int, mark: str) -> bytes:
    return b"".join(
        f'{{"prompt": "{mark}", "created_at": "2026-03-01", "interaction_id": "{mark}{i:06}"}}\n'.encode()
        for i in range(count)
    )


@pytest.mark.parametrize("is_inbox", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_file_overwritten_while_it_is_read_has_not_landed(is_inbox: bool, tmp_path: Path) -> None:
    """Its hash is of other bytes than its rows: as a landed file, it would be passed over when delivered again."""
    path, first, second = tmp_path / "a.jsonl", lines(45_000, "a"), lines(45_000, "b")
    path.write_bytes(first)
    overwritten: list[int] = []

    def overwrite(_source: str, _read: int, _size: int) -> None:
        if not overwritten:
            overwritten.append(path.write_bytes(second))

    lake = Lake(tmp_path / "lake")
    deliveries = [Delivery("a.jsonl", path, from_inbox=is_inbox)]
    report = Landing(lake, "one", progress=overwrite).land(deliveries)
    assert (report.files, path.read_bytes()) == ([], second)
    assert "changed while it was read" in report.unreadable[0]
    path.write_bytes(first)
    assert Landing(lake, "two").land(deliveries).total("delivered") == 45_000
    files = [file for of_day in lake.files("interactions").values() for file in of_day]
    ids = lake.scan_rows(Interactions, files).select("interaction_id").collect().to_series()
    assert {f"a{i:06}" for i in range(45_000)} <= set(ids)


def test_a_log_that_grows_while_it_is_read_lands(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(45_000, "a"))

    def grow(_source: str, _read: int, _size: int) -> None:
        with path.open("ab") as log:
            log.write(lines(1, "b"))

    (file,) = Landing(Lake(tmp_path / "lake"), "one", progress=grow).land([Delivery("a.jsonl", path)]).files
    assert file.accepted >= 45_000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    (folder / "g.jsonl").write_text(GOOD)
    land(folder / "home", folder / "g.jsonl")
    publish(folder / "home")
    return folder / "home"


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO '{file}' (FORMAT csv, USE_TMP_FILE false)",
        "COPY (SELECT 1) TO '{file}.wal' (USE_TMP_FILE false)",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}' (FORMAT csv, USE_TMP_FILE false)",
        "EXPLAIN/**/ANALYZE COPY (SELECT 1) TO '{file}' (FORMAT csv, USE_TMP_FILE false)",
        "COPY (PIVOT (SELECT 1 a, 2 b) ON a USING sum(b)) TO '{file}' (FORMAT csv, USE_TMP_FILE false)",
        "PREPARE p AS COPY (SELECT 1) TO '{file}' (FORMAT csv, USE_TMP_FILE false); EXECUTE p",
    ],
)
def test_no_query_writes_to_the_published_file(query: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    file = Settings(home).current.resolve()
    before = file.read_bytes()
    assert cli._exit_code(["sql", query.format(file=file)]) == 1
    assert file.read_bytes() == before
    assert not Path(f"{file}.wal").exists()


def test_a_damaged_publish_is_published_anew(tmp_path: Path) -> None:
    (tmp_path / "g.jsonl").write_text(GOOD)
    home = tmp_path / "home"
    land(home, tmp_path / "g.jsonl")
    assert publish(home) == "published"
    assert publish(home) == "skipped"
    Settings(home).current.resolve().write_bytes(b"junk")
    assert publish(home) == "published"
    with duckdb.connect(Settings(home).current, read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM runs WHERE status = 'published'").fetchall() == [(2,)]
