"""`slowwave inspect schema --views`: DuckDB alone reads of a lake what Slowwave reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from released_homes import RELEASES, last_as_of, released_home
from small_home import SmallHome, interaction, memory, outcome
from thorough import IS_THOROUGH, examples

from slowwave.flows.decide.decisions import decide_rows
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.current import current_run
from slowwave.flows.lake.lake import Lake
from slowwave.flows.lake.run_ledger import partitions_of
from slowwave.flows.lake.schema_views import lake_views_sql
from slowwave.flows.lake.views import LandedViews
from slowwave.flows.nightly.nightly import backfill, start_run
from slowwave.transforms.core.schema import columns, polars_schema
from slowwave.transforms.evidence.tables import DayInputs
from slowwave.transforms.graph import EVIDENCE
from slowwave.transforms.landing.schema_changes import as_declared, from_extra
from slowwave.transforms.landing.tables import LANDED, Memories
from slowwave.transforms.landing.versions import with_row_hash

AS_OF = datetime(2026, 3, 8)  # noqa: DTZ001 - naive times hold UTC
LANDED_VIEWS = [name for table in LANDED for name in (table.name, f"{table.name}_log")]

Rows = list[dict[str, Any]]


def answers(sql: str, *queries: str) -> list[Rows]:
    """What DuckDB answers that has read `sql` and nothing else, and may load nothing."""
    found = []
    with duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}) as plain:
        plain.execute(sql)
        for query in queries:
            result = plain.execute(query)
            names = [column[0] for column in result.description or []]
            found.append([dict(zip(names, row, strict=True)) for row in result.fetchall()])
    return found


def asked(sql: str, query: str) -> Rows:
    (rows,) = answers(sql, query)
    return rows


def in_order(rows: Rows) -> Rows:
    """Rows that can be compared: what is JSON by its value."""
    read = [{**row, "extra": json.loads(row["extra"])} if row.get("extra") else row for row in rows]
    return sorted(read, key=repr)


def assert_reads_the_same(home: SmallHome) -> None:
    """Every view has the rows, columns and types that our own reading has."""
    root = Path(home.settings.lake)
    sql = lake_views_sql(root)
    own = LandedViews(root, utc_now())
    views = [*LANDED_VIEWS, *(table.name for table in EVIDENCE)]
    rows = dict(zip(views, answers(sql, *(f"FROM {name}" for name in views)), strict=True))
    described = answers(sql, *(f"DESCRIBE {name}" for name in LANDED_VIEWS))
    for name, columns_of in zip(LANDED_VIEWS, described, strict=True):
        assert in_order(rows[name]) == in_order(own.frames[name].collect().to_dicts()), name
        types = {row["column_name"]: row["column_type"].replace('"', "") for row in columns_of}
        table = next(table for table in LANDED if name.startswith(table.name))
        assert types == {c.name: c.duckdb_type.replace('"', "") for c in columns(table)}
    lake, current = Lake(root), current_run(home.settings)
    inputs = lake.ledger(DayInputs).filter(pl.col("fingerprint") != "")
    if current is not None:
        inputs = inputs.filter(pl.col("run_id") == current.stem)
    last = inputs.sort("run_id").unique("day", keep="last", maintain_order=True)
    for table in EVIDENCE:
        is_known = (root / "evidence" / table.name).is_dir()  # an earlier release had fewer
        expected = lake.scan_evidence(table, partitions_of(last, table) if is_known else {}).collect()
        assert in_order(rows[table.name]) == in_order(expected.to_dicts()), table.name
    assert last.height or current is None


def small_log() -> Rows:
    memories = [memory(f"m{i}", changed_at=f"2026-03-0{1 + i % 3}T08:00:00Z", tags=["deploy"]) for i in range(4)]
    asks = [
        interaction(
            f"i{i}",
            created_at=f"2026-03-0{2 + i % 5}T09:00:00Z",
            memories_used=[f"m{i % 4}"],
            memories_offered=[{"id": "m1", "rank": 1, "score": 0.5}],
            response=f"Prices are integers of the smallest coin of m{i % 4}, as agreed.",
            context_pack={"it's": [1, None]},
            unknown="kept",
        )
        for i in range(12)
    ]
    return [*memories, *asks, *(outcome(f"o{i}", interaction_id=f"i{i}", cost=0.5 * i) for i in range(5))]


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(tmp_path_factory.mktemp("landed") / "home")
    made.land(*small_log())
    return made


@pytest.fixture(scope="module")
def published(landed: SmallHome, tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    made = SmallHome(shutil.copytree(landed.folder, tmp_path_factory.mktemp("published") / "home"))
    made.nightly(AS_OF)
    return made


@pytest.fixture
def home(landed: SmallHome, tmp_path: Path) -> SmallHome:
    """A home where the log has landed."""
    return SmallHome(shutil.copytree(landed.folder, tmp_path / "home"))


@pytest.fixture
def told(published: SmallHome, tmp_path: Path) -> SmallHome:
    """The same after a night."""
    return SmallHome(shutil.copytree(published.folder, tmp_path / "told", symlinks=True))


def test_a_lake_without_a_night(home: SmallHome) -> None:
    assert_reads_the_same(home)
    sql = lake_views_sql(Path(home.settings.lake))
    assert asked(sql, "FROM memory_days") == []
    assert len(asked(sql, "FROM interactions")) == 12


@pytest.mark.slow
def test_after_a_publish_and_after_what_lands_late(told: SmallHome) -> None:
    before = lake_views_sql(Path(told.settings.lake))
    assert_reads_the_same(told)
    assert asked(before, "SELECT sum(injected_count)::INT AS n FROM memory_days") == [{"n": 12}]

    told.land(
        interaction("i1", created_at="2026-03-06T10:00:00Z", recorded_at="2026-03-07T00:00:00Z"),  # on another day
        interaction("i2", created_at="2026-03-04T09:00:00Z", recorded_at="2026-03-01T00:00:00Z"),  # an older version
        outcome("o1", success=False, recorded_at="2026-03-05T00:00:00Z"),
        outcome("o2", interaction_id="i2", feedback="Said at the same moment: of two versions the hash decides."),
        outcome("o3", interaction_id="i3", feedback="Another such, for a hash may be either way."),
        outcome("o4", interaction_id="i4", feedback="And another."),
        interaction("i5", prompt="Not written yet", recorded_at="2999-01-01T00:00:00Z"),
        memory("m1", recorded_at="2026-03-05T00:00:00Z", content="Said anew.", tags=[]),
        interaction("later", created_at="2999-01-01T00:00:00Z"),  # it has not come yet
        *small_log()[:3],
    )
    assert_reads_the_same(told)
    assert asked(before, "SELECT created_at FROM interactions WHERE interaction_id = 'i1'") == [
        {"created_at": datetime(2026, 3, 6, 10)}  # noqa: DTZ001 - what was written before sees it too
    ]
    assert [row["interaction_id"] for row in asked(before, "FROM interactions_log WHERE created_at > '2900-01-01'")]

    told.nightly(AS_OF)
    assert_reads_the_same(told)
    assert asked(before, "SELECT sum(injected_count)::INT AS n FROM memory_days") == [{"n": 11}]


@pytest.mark.slow
def test_neither_a_backfill_nor_an_earlier_publish_leaves_other_days(told: SmallHome) -> None:
    told.land(interaction("late", created_at="2026-03-03T10:00:00Z", memories_used=["m0"]))
    with writer_lock(told.settings, "backfill"):
        backfill(start_run(told.settings, "backfill"), date(2026, 3, 2), date(2026, 3, 4))
    assert_reads_the_same(told)
    told.nightly(datetime(2026, 3, 4))  # noqa: DTZ001 - naive times hold UTC
    assert_reads_the_same(told)
    days = asked(lake_views_sql(Path(told.settings.lake)), "SELECT DISTINCT day FROM project_days ORDER BY day")
    assert [row["day"].day for row in days] == [2, 3]


@pytest.mark.slow
def test_rows_that_a_killed_compaction_left_in_two_files_count_once(told: SmallHome) -> None:
    for path in list((Path(told.settings.lake)).glob("*/day=*/*.parquet")):
        shutil.copy(path, path.with_name(f"left-{path.name.split('-', 1)[-1]}"))
    assert_reads_the_same(told)


def test_only_backfilled(home: SmallHome) -> None:
    assert home.ask("sql", "SELECT 1", "--as-of", "2026-03-04").returncode == 0  # built aside: it is no publish
    assert asked(lake_views_sql(Path(home.settings.lake)), "FROM memory_days") == []
    with writer_lock(home.settings, "backfill"):
        backfill(start_run(home.settings, "backfill"), date(2026, 3, 2), date(2026, 3, 4))
    days = asked(lake_views_sql(Path(home.settings.lake)), "SELECT DISTINCT day FROM project_days ORDER BY day")
    assert [row["day"].day for row in days] == [2, 3, 4]


@pytest.mark.slow
def test_rows_set_aside_or_left_out_are_in_the_log_alone(told: SmallHome) -> None:
    lake = Lake(Path(told.settings.lake))
    before = datetime(2026, 3, 7)  # noqa: DTZ001 - naive times hold UTC
    row = {"memory_id": "bad", "changed_at": before, "recorded_at": before, "confidence": 7.0, "status": "active"}
    schema = {name: dtype for name, dtype in polars_schema(Memories).items() if name not in {"row_hash", "key_hash"}}
    rows = with_row_hash(Memories, pl.DataFrame([row], schema=schema))
    with writer_lock(told.settings, "test"):
        lake.write_rows(Memories, before.date(), rows)
        decide_rows(lake, ["interactions:i3", "outcomes:o2"], [])
        decide_rows(lake, [], ["outcomes:o2"])
    for _ in ("before a night has seen it", "and after"):
        assert_reads_the_same(told)
        sql = lake_views_sql(lake.root)
        assert asked(sql, "FROM memories WHERE memory_id = 'bad'") == []
        assert len(asked(sql, "FROM memories_log WHERE memory_id = 'bad'")) == 1
        assert asked(sql, "FROM interactions WHERE interaction_id = 'i3'") == []
        assert len(asked(sql, "FROM outcomes WHERE outcome_id = 'o2'")) == 1
        told.nightly(AS_OF)


@pytest.mark.slow
@pytest.mark.parametrize("version", RELEASES)
def test_the_lake_of_an_old_release(version: str, tmp_path: Path) -> None:
    home = released_home(version, tmp_path)
    assert_reads_the_same(home)
    home.land(memory("new", tags=["a"], scope="global"), interaction("i-new", created_at="2026-03-09T08:00:00Z"))
    home.nightly(last_as_of(home))
    assert_reads_the_same(home)


_FIELD = st.one_of(
    st.text(max_size=6), st.sampled_from(["", "global", "agent", '["a"]', "[]", "\u200b", "\0"]), st.booleans(),
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False),
    st.datetimes().map(str), st.datetimes().map(lambda at: f"{at.date()} "),
    st.sampled_from(["2026-03-10T08:00:00.1234567+05:30", "2026-02-30", "2026-01-01T24:00", "0001-01-01", "+1.5e9", 0]),
    st.sampled_from([1000.0, -0.0, 2.0**53]),
    st.lists(st.one_of(st.text(max_size=4), st.integers(0, 9), st.none(), st.just({})), max_size=3), st.just({"a": 1}),
)  # fmt: skip
_EXTRAS = st.dictionaries(st.sampled_from([*(c.name for c in from_extra(Memories)), "other", "b"]), _FIELD, max_size=5)


@given(st.lists(st.tuples(_EXTRAS, st.sampled_from([None, ["confidence"]])), min_size=20, max_size=60))
@settings(max_examples=examples(2, 30))  # of many rows each, as it is the views that take long
def test_fields_that_stood_in_extra(tmp_path_factory: pytest.TempPathFactory, told: list[Any]) -> None:
    home = SmallHome(tmp_path_factory.mktemp("old") / "home")
    lake = Lake(Path(home.settings.lake))
    day = AS_OF.date()
    rows = [
        {
            "memory_id": f"m{i}", "changed_at": AS_OF, "recorded_at": AS_OF, "status": "active", "row_hash": f"h{i}",
            "extra": json.dumps(extra, ensure_ascii=False, sort_keys=True) if extra else None, "clears": clears,
        }
        for i, (extra, clears) in enumerate(told)
    ]  # fmt: skip
    frame = pl.DataFrame(rows, schema=polars_schema(Memories))
    path = lake.folder("memories", day) / "a-1.parquet"
    path.parent.mkdir(parents=True)
    frame.drop(c.name for c in from_extra(Memories)).write_parquet(path)
    expected = as_declared(Memories, frame.lazy()).collect()
    assert in_order(asked(lake_views_sql(lake.root), "FROM memories_log")) == in_order(expected.to_dicts())


_NAMES = ["it's", 'q"q; DROP', "s[x]*t?", "day=2020-01-01", "a b\n-- c", "%41 é", "{a,b}", "~"]


@pytest.mark.slow
@pytest.mark.parametrize("name", _NAMES if IS_THOROUGH else ["".join(_NAMES[:2]), _NAMES[2], "".join(_NAMES[3:])])
def test_folders_of_any_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = SmallHome(tmp_path / name / "home")
    home.folder.mkdir(parents=True)
    home.land(*small_log()[:6])
    (tmp_path / "sxzt1" / "home").mkdir(parents=True)
    assert_reads_the_same(home)
    monkeypatch.chdir(tmp_path)
    relative = lake_views_sql(Path(name) / "home" / "lake")
    assert len(asked(relative, "FROM interactions")) == 2


def test_the_command_writes_a_file_that_stands_alone(told: SmallHome, tmp_path: Path) -> None:
    done = told.ask("inspect", "schema", "--views", "--output", str(tmp_path / "lake.sql"))
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'lake.sql'}\n")
    assert (
        told.ask("inspect", "schema", "--views", "--lake", told.settings.lake).stdout
        == (tmp_path / "lake.sql").read_text()
    )
    plain = (
        "import sys, duckdb; c = duckdb.connect(); c.execute(open(sys.argv[1]).read());"
        "loaded = any(name.startswith('slowwave') for name in sys.modules);"
        "print(c.sql('SELECT count(*) FROM memories').fetchall()[0][0], loaded)"
    )
    said = subprocess.run(
        [sys.executable, "-c", plain, str(tmp_path / "lake.sql")], capture_output=True, text=True, check=True
    )
    assert said.stdout == "4 False\n"


def test_every_column_keeps_its_description(home: SmallHome) -> None:
    query = "SELECT count(*) AS n FROM duckdb_columns() WHERE NOT internal AND comment IS NULL"
    assert asked(lake_views_sql(Path(home.settings.lake)), query) == [{"n": 0}]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--views"], 1, "there is no lake in"),
        (["--views", "--lake", "nowhere"], 1, "there is no lake in nowhere"),
        (["--views", "--lake", "s3://bucket/lake"], 1, "DuckDB alone opens no bucket"),
        (["--views", "--lake", "empty"], 1, "holds no rows: land some"),
        (["--views", "memories"], 2, "name none"),
        (["--output", "lake.sql"], 2, "belong to --views"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    done = SmallHome(tmp_path / "home").ask("inspect", "schema", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "lake.sql").exists()


def test_a_lake_of_a_later_release_and_files_in_the_way_are_refused(home: SmallHome, tmp_path: Path) -> None:
    assert "is a folder" in home.ask("inspect", "schema", "--views", "--output", str(tmp_path)).stderr
    assert home.ask("inspect", "schema", "--views", "--output", str(tmp_path / "no" / "lake.sql")).returncode == 1
    link = tmp_path / "back\\slash"
    link.symlink_to(home.settings.lake)
    assert "name the lake by a link" in home.ask("inspect", "schema", "--views", "--lake", str(link)).stderr
    (Path(home.settings.lake) / "FORMAT").write_text("99\n")
    assert "upgrade slowwave" in home.ask("inspect", "schema", "--views").stderr
