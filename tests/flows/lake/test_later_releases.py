"""What a later release may do to the declarations, tried on a home of an earlier one: it opens, and loses nothing.

A later release is this code with some lines changed, in processes of its own (`later_release`).
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from later_release import command, later_release, night, run_release
from make_released_home import deliveries
from released_homes import COUNTS, evidence_files, landed_files, last_as_of, published, released_home
from small_home import SmallHome

from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.files import LAKE_FORMAT, WHOLE_FORMAT, check_format
from slowwave.flows.nightly.nightly import backfill, start_run

pytestmark = pytest.mark.slow  # whole homes and commands: continuous integration runs them

OLDEST = "0.1.0"
LANDED, EVIDENCE = "transforms/landing/tables.py", "transforms/evidence/tables.py"
_REINFORCE = (
    '    reinforce: bool = column("false: quoted and used memories are not looked for in this row.", default=True)\n'
)
_NEW = ", default=None, since=2)\n"
# Fields that producers sent before any release knew them.
FROM_EXTRA = ((LANDED, _REINFORCE, _REINFORCE + f'    temperature: float | None = column("Temperature."{_NEW}'),)


@pytest.fixture
def oldest(tmp_path: Path) -> SmallHome:
    """A home as the first release left it."""
    return released_home(OLDEST, tmp_path)


@pytest.fixture
def home(oldest: SmallHome) -> SmallHome:
    """The same after a night of this release, which leaves the files of landed rows as they were."""
    landed = landed_files(oldest)
    oldest.nightly(last_as_of(oldest) - timedelta(seconds=1))
    assert landed_files(oldest) == landed
    return oldest


def at(home: SmallHome) -> str:
    return last_as_of(home).isoformat()


def asked(release: Path, home: SmallHome, query: str) -> list[dict[str, Any]]:
    done = command(release, home.folder, "sql", query, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ---------------------------------------------------------------------------------------------- derived tables


def test_a_partition_that_only_lacks_new_columns_is_kept(home, tmp_path):
    before = [list(row) for row in published(home, COUNTS)]
    last = '    last_referenced_at: datetime | None = column("Last of them.", unit="UTC")\n'
    release = later_release(
        tmp_path / "later",
        (
            EVIDENCE,
            last,
            last
            + '    seen_by: str | None = column("New.", default=None, since=2)\n'
            + '    seen_count: int = column("New.", default=0, since=2)\n',
        ),
    )
    assert night(release, home.folder, at(home)) == (before, {})
    read = """
from pathlib import Path
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.evidence.tables import MemoryDays, DayInputs
lake = Lake(Path({root!r}))
days = {{row["day"]: row["fingerprint"] for row in lake.ledger(DayInputs).iter_rows(named=True) if row["fingerprint"]}}
rows = lake.scan_evidence(MemoryDays, days).collect()
print(rows.height, rows["seen_by"].null_count(), rows["seen_count"].sum(), rows["seen_count"].null_count())
"""
    done = run_release(release, home.folder, ["-c", read.format(root=str(home.folder / "lake"))])
    height, unseen, *zeros = map(int, done.stdout.split())
    assert height == unseen > 20, done.stderr
    assert zeros == [0, 0]


AGENT_DAYS = '''class AgentDays(Table):
    """What an agent did on the day."""

    name: ClassVar[str] = "agent_days"
    key: ClassVar[tuple[str, ...]] = ("agent",)

    agent: str = column("Key.")
    interactions_count: int = column("Its interactions.")


'''
COMPUTED = '''def agent_days(interactions: pl.LazyFrame) -> pl.LazyFrame:
    """One row per agent."""
    from slowwave.transforms.evidence.tables import AgentDays

    return conform(AgentDays, interactions.group_by("agent").agg(pl.len().alias("interactions_count"))).sort("agent")


'''
NODE = """    Node(
        "slowwave.transforms.evidence.memory_days:agent_days",
        outputs=(AgentDays,),
        inputs={"interactions": REPLAYED},
        grain="day",
        is_in_lake=True,
    ),
"""
WORDS = '    Node("", reads="word_vectors", outputs=(WORD_VECTORS,), inputs={}),\n'


def add_a_column(home: SmallHome) -> None:
    """Partitions as of a release that had one column more."""
    for path in (home.folder / "lake" / "evidence" / "project_days").rglob("*.parquet"):
        pl.read_parquet(path).with_columns(gone=pl.lit(1)).write_parquet(path)


def forget_columns(home: SmallHome) -> None:
    """As a release left it that did not note which columns its partitions have."""
    for path in (home.folder / "lake" / "day_inputs").rglob("*.parquet"):
        unseen = pl.lit(None, pl.String).alias("evidence_columns")
        pl.read_parquet(path).with_columns(unseen).write_parquet(path)


DAYS = [date(2026, 3, day) for day in range(1, 7)]


def test_a_new_table_is_built_and_nothing_else(home, tmp_path):
    release = later_release(
        tmp_path / "later",
        (EVIDENCE, "class MemoryEligibility(Table):\n", f"{AGENT_DAYS}class MemoryEligibility(Table):\n"),
        ("transforms/evidence/memory_days.py", "def replayed_interactions(", f"{COMPUTED}def replayed_interactions("),
        ("transforms/evidence/nodes.py", "    MemoryDays,\n", "    AgentDays,\n    MemoryDays,\n"),
        ("transforms/evidence/nodes.py", WORDS, f"{NODE}{WORDS}"),
    )
    counts, before, names = published(home, COUNTS), evidence_files(home), "lake/evidence/agent_days/day=*/*.parquet"
    assert night(release, home.folder, at(home)) == (
        [list(row) for row in counts],
        {str(day): "its partition is missing" for day in DAYS},
    )
    new = {str(path) for path in home.folder.glob(names)}
    assert len(new) == len(DAYS)
    after = evidence_files(home)
    assert {path: after[path] for path in after.keys() - new} == before
    assert night(release, home.folder, at(home))[1] == {}


PUBLISHED_DAYS = '''class PublishedDays(Table):
    """How active each agent was."""

    name: ClassVar[str] = "published_days"
    key: ClassVar[tuple[str, ...]] = ("on_day", "agent")

    on_day: date = column("Key.")
    agent: str = column("Key.")
    interactions_count: int = column("Its interactions.")
    run_id: str = column(RUN_ID)
    as_of: datetime = column(AS_OF, unit="UTC")


'''
PUBLISHED_DAYS_COMPUTED = '''def published_days(interactions: Lazy[ReplayedInteractions]) -> pl.LazyFrame:
    """One row per day and agent."""
    from slowwave.transforms.evidence.tables import PublishedDays

    key = (pl.col("occurred_at").dt.date().alias("on_day"), "agent")
    counts = interactions.group_by(key).agg(pl.len().cast(pl.Int64).alias("interactions_count"))
    return framed(PublishedDays, counts).sort("on_day", "agent")


'''
PUBLISHED_DAYS_NODE = """    Node(
        "slowwave.transforms.evidence.memory_days:published_days",
        outputs=(PublishedDays,),
        inputs={"interactions": ReplayedInteractions},
        grain="day",
    ),
"""


def test_a_new_table_that_is_computed_by_day_is_published_tonight_and_tomorrow(home, tmp_path):
    release = later_release(
        tmp_path / "later",
        (EVIDENCE, "class MemoryEligibility(Table):\n", f"{PUBLISHED_DAYS}class MemoryEligibility(Table):\n"),
        (
            "transforms/evidence/memory_days.py",
            "def replayed_interactions(",
            f"{PUBLISHED_DAYS_COMPUTED}def replayed_interactions(",
        ),
        ("transforms/evidence/nodes.py", "    MemoryDays,\n", "    PublishedDays,\n    MemoryDays,\n"),
        ("transforms/evidence/nodes.py", WORDS, f"{PUBLISHED_DAYS_NODE}{WORDS}"),
    )
    table = "SELECT on_day, agent, interactions_count FROM published_days ORDER BY ALL"
    log = "SELECT created_at::DATE, agent, count(*) FROM interactions GROUP BY ALL ORDER BY ALL"
    assert night(release, home.folder, at(home))[1] == {}
    tonight = asked(release, home, table)
    assert [list(row.values()) for row in tonight] == [list(row.values()) for row in asked(release, home, log)]
    home.land({"prompt": "one more", "created_at": "2026-03-03T00:00:00Z", "agent": "late"})
    assert night(release, home.folder, at(home))[1] == {"2026-03-03": "rows changed"}
    late = {"on_day": "2026-03-03", "agent": "late", "interactions_count": 1}
    tomorrow = asked(release, home, table)
    assert [row for row in tomorrow if row != late] == tonight
    assert late in tomorrow


def test_a_partition_with_a_column_that_has_gone_is_built_again_once(home):
    before, as_of = published(home, COUNTS), last_as_of(home) + timedelta(seconds=1)
    add_a_column(home)
    forget_columns(home)
    night = home.nightly(as_of)
    assert [(day.day, day.reason) for day in night.built] == [(day, "its columns changed") for day in DAYS]
    assert published(home, COUNTS) == before
    home.land({"prompt": "one more", "created_at": "2026-03-03T00:00:00Z"})
    assert [(day.day, day.reason) for day in home.nightly(as_of).built] == [(DAYS[2], "rows changed")]


def test_who_builds_some_days_does_not_vouch_for_the_others(home):
    as_of = last_as_of(home) + timedelta(seconds=1)
    add_a_column(home)
    forget_columns(home)
    with writer_lock(home.settings, "backfill"):
        backfill(start_run(home.settings, "backfill"), DAYS[1], DAYS[2])
    assert [day.day for day in home.nightly(as_of).built] == [DAYS[0], *DAYS[3:]]


@pytest.mark.slow  # as of a column that has gone above
def test_a_partition_whose_type_is_wider_is_built_again(home, tmp_path):
    before = [list(row) for row in published(home, COUNTS)]
    count = '    interactions_count: {0} = column("Its interactions.")\n'
    read = 'pl.col("day").dt.epoch("d").cast(pl.Int32){0}).collect()\n'
    release = later_release(
        tmp_path / "later",
        (EVIDENCE, count.format("int"), count.format("float")),
        (
            "transforms/usage/timelines.py",
            read.format(""),
            read.format(', pl.col("interactions_count").cast(pl.Int64)'),
        ),
    )
    counts, built = night(release, home.folder, at(home))
    assert counts == before
    assert built == {str(day): "its columns changed" for day in DAYS}
    assert night(release, home.folder, "2026-11-22T21:30:00")[1] == {}


def test_a_damaged_partition_is_built_again_where_it_is_looked_into(home):
    before, as_of = published(home, COUNTS), last_as_of(home) + timedelta(seconds=1)
    for path in (home.folder / "lake" / "evidence" / "memory_days" / "day=2026-03-05").iterdir():
        path.write_bytes(path.read_bytes()[:-9])
    forget_columns(home)
    assert [day.day for day in home.nightly(as_of).built] == [DAYS[4]]
    assert published(home, COUNTS) == before


# ----------------------------------------------------------------------------------------------- landed tables


@pytest.mark.slow  # as of a type that widened below
def test_a_field_of_extra_that_became_a_column_is_one_in_old_rows_too(home, tmp_path):
    before, landed = [list(row) for row in published(home, COUNTS)], landed_files(home)
    release = later_release(tmp_path / "later", *FROM_EXTRA)

    rows = asked(release, home, "SELECT memory_id, changed_at, tags, scope, category, extra, clears FROM memories_log")
    first = {row["memory_id"]: row for row in rows if row["changed_at"] == "2026-02-27T08:00:00Z"}
    assert first["m-logs"] == {
        "memory_id": "m-logs", "changed_at": "2026-02-27T08:00:00Z", "tags": ["kept", "m-logs"], "scope": "project",
        "category": "how we work", "extra": None, "clears": None,
    }  # fmt: skip
    later = {row["memory_id"]: row for row in rows if row["changed_at"] > "2026-03-05"}
    assert (later["m-style"]["scope"], later["m-style"]["extra"]) == (None, '{"scope":7}')
    assert (later["m-alerts"]["tags"], later["m-alerts"]["clears"]) == (None, ["tags"])
    cited = (
        "SELECT count(memories_cited) AS cited, min(temperature) AS warm, max(extra) AS extra FROM interactions"
        " WHERE memories_cited <> []"
    )
    (told,) = asked(release, home, cited)
    assert (told["cited"] > 20, told["warm"], told["extra"]) == (True, 0.2, '{"basis":"evaluated"}')
    assert {row["basis"] for row in asked(release, home, "SELECT DISTINCT basis FROM outcomes")} == {None, "reported"}

    why = json.loads(command(release, home.folder, "why", "m-alerts", "--format", "json").stdout)
    assert why["changes"][0]["changed"] == {"pinned": [None, True], "tags": [["kept", "m-alerts"], None]}
    assert night(release, home.folder, at(home)) == (before, {})
    assert landed_files(home) == landed


@pytest.mark.slow  # as of a type that widened below
def test_a_row_of_before_is_a_duplicate_when_its_field_became_a_column(home, tmp_path):
    release = later_release(tmp_path / "later", *FROM_EXTRA)
    as_of = at(home)
    for name, rows in deliveries().items():
        (home.folder / "inbox").mkdir(exist_ok=True)
        lines = [row if isinstance(row, str) else json.dumps(row) for row in reversed(rows)]
        (home.folder / "inbox" / name).write_text("\n".join(lines) + "\n")
    totals = json.loads(command(release, home.folder, "land", "--format", "json").stdout)["totals"]
    assert (totals["accepted"], totals["quarantined"]) == (0, 2)
    changed = {"memory_id": "m-logs", "changed_at": "2026-03-01T08:00:00Z", "tags": ["a"]}
    for tags, accepted in ((["a"], 1), (["a"], 0), (["b"], 1)):  # a new row counts with its new fields
        (home.folder / "inbox" / "new.jsonl").write_text(json.dumps({**changed, "tags": tags, "x": 1}) + "\n")
        done = json.loads(command(release, home.folder, "land", "--format", "json").stdout)
        assert done["totals"]["accepted"] + done["totals"]["duplicate"] == 1
        assert done["totals"]["accepted"] == accepted
    assert night(release, home.folder, as_of)[1] == {}


def test_a_type_that_widened_reads_and_hashes_old_rows(home, tmp_path):
    tokens = '    tokens: {0} | None = column("Tokens spent.", unit="tokens", ge=0, default=None{1})\n'
    befores = (
        '    context_pack: Annotated[str | None, Json] = column("The context given, as JSON.", default=None)\n',
        '    duration_ms: float | None = column("How long it took.", unit="ms", ge=0, default=None)\n',
    )
    edits = [
        (LANDED, before + tokens.format("int", ""), before + tokens.format("float", ", was=int")) for before in befores
    ]
    release = later_release(tmp_path / "later", *edits)
    (told,) = asked(
        release, home, "SELECT sum(tokens) AS spent, any_value(typeof(tokens)) AS held FROM interactions_log"
    )
    assert told["spent"] > 5000
    assert told["held"] == "DOUBLE"
    (home.folder / "inbox").mkdir(exist_ok=True)
    rows = [row for row in deliveries()["log.jsonl"] if isinstance(row, dict) and "tokens" in row]
    (home.folder / "inbox" / "log.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    totals = json.loads(command(release, home.folder, "land", "--format", "json").stdout)["totals"]
    assert (totals["accepted"], totals["duplicate"]) == (0, len(rows))
    assert night(release, home.folder, at(home))[1] == {}


def test_a_file_that_cannot_be_read_as_declared_is_named_with_column_and_types(home, tmp_path):
    edit = (
        '    agent: str = column("Agent; \'\' is none.", default="")\n',
        '    agent: int = column("Agent.", default=0)\n',
    )
    release = later_release(tmp_path / "later", (LANDED, *edit))
    says = "column agent holds String, which is not read as Int64"
    done = command(release, home.folder, "sql", "SELECT agent FROM interactions")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
    assert "/interactions/day=2026-03-01/" in done.stderr
    home.land({"prompt": "one more", "created_at": "2026-03-03T00:00:00Z"})
    done = command(release, home.folder, "nightly", "--plan")
    assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False)


# ------------------------------------------------------------------------------------------------------ format


def lake_contents(home: SmallHome) -> dict[str, tuple[int, int]]:
    """Without the lock, which tells who asked last."""
    return {name: of for name, of in home.contents().items() if name.startswith("lake/") and name != "lake/.lock"}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(asked, id=" ".join(asked), marks=marks)
        for asked, marks in [
            (("sql", "SELECT 1"), []), (("sql", "SELECT * FROM memories"), []), (("status",), []), (("nightly",), []),
            *((asked, pytest.mark.slow) for asked in [
                ("sql", "SELECT 1", "--as-of", "2026-03-04"), ("why", "m-logs"), ("review", "list"), ("land",),
            ]),
        ]
    ],
)  # fmt: skip
def test_a_newer_lake_is_refused_in_one_sentence(arguments, home):
    (home.folder / "lake" / "FORMAT").write_text("99\n")
    before = lake_contents(home)
    done = home.run(*arguments)
    if arguments == ("sql", "SELECT 1"):
        assert done.returncode == 0  # asks nothing of the lake
    else:
        assert done.returncode == 1
        assert "has format '99', this slowwave reads up to" in " ".join((done.stdout + done.stderr).split())
        assert "Traceback" not in done.stderr
    assert lake_contents(home) == before


@pytest.mark.parametrize("text", [b"", b"\n", b"\0\0", b"two", b"\xff\xfe2", b"2 from", b"0", b"-1", "\u0662".encode()])
def test_a_format_that_no_release_writes_is_damaged(text, tmp_path):
    (tmp_path / "FORMAT").write_bytes(text)
    with pytest.raises(UserError, match=r"is damaged: its file FORMAT says .* \(nothing was changed\)"):
        check_format(tmp_path)


@pytest.mark.parametrize("text", ["99", f"{LAKE_FORMAT + 1} from {LAKE_FORMAT}", f"{LAKE_FORMAT + 1} with more"])
def test_a_later_format_is_told_from_a_damaged_one(text, tmp_path):
    (tmp_path / "FORMAT").write_text(text)
    with pytest.raises(UserError, match="upgrade slowwave"):
        check_format(tmp_path)


_STEP = """STEPS: Mapping[int, Callable[[Path], None]] = {}
"""
_KILLED_STEP = """def _step(root: Path) -> None:
    import os
    told = (root / "FORMAT").read_text()
    (root / "step").mkdir(exist_ok=True)
    done = len(list((root / "step").iterdir()))
    (root / "step" / f"{done}").write_text(told)
    if done < 2:
        os._exit(9)


STEPS: Mapping[int, Callable[[Path], None]] = {2: _step}
"""


@pytest.mark.slow
def test_a_lake_is_brought_up_to_date_by_the_next_night_and_again_where_that_was_killed(oldest, tmp_path):
    release = later_release(tmp_path / "later", ("flows/lake/formats.py", _STEP, _KILLED_STEP))
    marker, landed, as_of = oldest.folder / "lake" / "FORMAT", landed_files(oldest), at(oldest)
    assert marker.read_text() == "1\n"
    for _ in range(2):
        killed = command(release, oldest.folder, "land")
        assert killed.returncode == 9, killed.stderr
        assert marker.read_text() == f"{WHOLE_FORMAT} from 1\n"
        assert asked(release, oldest, "SELECT count(*) AS n FROM memories")[0]["n"] > 10  # it can still be read
    assert [*night(release, oldest.folder, as_of)[1]] == [str(day) for day in DAYS]  # their answers cite memories
    assert marker.read_text() == f"{WHOLE_FORMAT}\n"
    assert len(list((oldest.folder / "lake" / "step").iterdir())) == 3
    assert landed_files(oldest) == landed
    assert night(release, oldest.folder, as_of)[1] == {}
    assert len(list((oldest.folder / "lake" / "step").iterdir())) == 3


def test_an_older_release_would_refuse_a_half_migrated_lake():
    """It takes nothing but a number for a format, and none above its own."""
    text = f"{LAKE_FORMAT} from 1"
    assert not text.isdecimal()
    assert LAKE_FORMAT > 1


def test_declared_types_are_those_that_duckdb_reads():
    from slowwave.flows.kernel.declared_columns import READ
    from slowwave.transforms.core.schema import columns
    from slowwave.transforms.evidence.tables import DayInputs
    from slowwave.transforms.graph import EVIDENCE
    from slowwave.transforms.landing.decisions_table import Decisions
    from slowwave.transforms.landing.tables import LANDED as TABLES

    declared = {t.name: {c.name: c.duckdb_type for c in columns(t)} for t in (*TABLES, Decisions, *EVIDENCE, DayInputs)}
    for table, read in READ.items():
        assert read.items() <= declared[table].items()
