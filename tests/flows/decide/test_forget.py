"""`slowwave forget`: what is archived, what is brought back, and what nothing does twice."""

# ruff: noqa: DTZ001, DTZ901 - times are naive and hold UTC everywhere

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from small_home import SmallHome, interaction, memory

from slowwave.flows.cli import forget as forget_commands
from slowwave.flows.cli import main as cli
from slowwave.flows.decide import decisions as deciding
from slowwave.flows.decide import forget
from slowwave.flows.decide.decisions import landed_decisions
from slowwave.flows.decide.forget import Outcome, apply_plan, published_plan, restore
from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.kernel.times import utc_now
from slowwave.flows.lake.lake import Lake
from slowwave.flows.publish.log_as_of import LogAsOf
from slowwave.flows.publish.run import start_run
from slowwave.transforms.decisions.effects import forgetting_audit
from slowwave.transforms.landing.tables import Interactions, Memories

AS_OF = datetime(2026, 6, 1)
HOSTILE = "../../etc/'; DROP TABLE runs; --\x1b[31m[red]=cmd()\u202e"
SUPERSEDED = ("m1", "m2", HOSTILE)


def superseded(memory_id: str, **fields: Any) -> list[dict[str, Any]]:
    return [
        memory(memory_id, importance=0.25, source_ids=["s1"], **fields),
        {"memory_id": memory_id, "changed_at": "2026-03-10T00:00:00Z", "status": "superseded", "superseded_by": "m9"},
    ]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> SmallHome:
    """Three memories superseded long ago, one that is in use; one interaction a day for a while."""
    made = SmallHome(tmp_path_factory.mktemp("forget") / "home")
    rows = [row for memory_id in SUPERSEDED for row in superseded(memory_id)]
    used = memory("m9")
    days = [interaction(f"i{day}", created_at=f"2026-03-{day:02}T09:00:00Z") for day in range(2, 12)]
    made.land(*rows, used, *days)
    made.land(interaction("i-used", created_at="2026-05-31T09:00:00Z", response=used["content"], memories_used=["m9"]))
    made.nightly(AS_OF)
    return made


@pytest.fixture
def home(template: SmallHome, tmp_path: Path) -> SmallHome:
    """A copy of it."""
    shutil.copytree(template.folder, tmp_path / "home", symlinks=True)
    return SmallHome(tmp_path / "home")


def applied(home: SmallHome, *, dry_run: bool = False) -> Outcome:
    with writer_lock(home.settings, "forget apply"):
        published = published_plan(home.settings)
        return apply_plan(start_run(home.settings, "backfill"), published, published.select_rows(), dry_run=dry_run)


def restored(home: SmallHome, *memory_ids: str, **options: Any) -> Outcome:
    with writer_lock(home.settings, "forget restore"):
        return restore(start_run(home.settings, "backfill"), memory_ids, **options)


def states(home: SmallHome) -> pl.DataFrame:
    log = LogAsOf(Lake(Path(home.settings.lake)), utc_now() + timedelta(days=1), home.settings.params())
    current = log.states.filter(pl.col("valid_until").is_null())
    return current.select("memory_id", *Memories.state).sort("memory_id")


def status(home: SmallHome) -> dict[str, str]:
    return dict(states(home).select("memory_id", "status").iter_rows())


def rows_of(home: SmallHome, table: str) -> int:
    return sum(
        pl.read_parquet(file.path, glob=False).height
        for files in Lake(Path(home.settings.lake)).files(table).values()
        for file in files
    )


def said(home: SmallHome, monkeypatch: pytest.MonkeyPatch, capsys: Any, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    code = cli._exit_code(["forget", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.slow
def test_why_says_what_is_planned(home):
    told = home.ask("why", "m1", "--all").stdout
    plan = json.loads(home.ask("forget", "plan", "--format", "json").stdout)
    (row,) = (row for row in plan if row["memory_id"] == "m1")
    assert " ".join(told.split()).count(f"would archive it (rule superseded): {row['reason']}.") == 1
    planned = json.loads(home.ask("why", "m1", "--format", "json").stdout)["planned"]
    assert planned == {"rule": "superseded", "reason": row["reason"], "is_shadow": row["is_shadow"]}
    assert json.loads(home.ask("why", "m9", "--format", "json").stdout)["planned"] is None
    assert "forgetting plan" not in home.ask("why", "m9", "--all").stdout


def test_the_plan_names_each_memory_rule_and_reason(home: SmallHome) -> None:
    rows = published_plan(home.settings).rows
    assert set(rows["memory_id"]) == set(SUPERSEDED)
    assert set(rows["rule"]) == {"superseded"}
    assert set(rows["reason"]) == {"superseded since 2026-03-10, 83 days ago (at least 30)"}


def test_applied_memories_are_archived_and_nothing_else_changes(home: SmallHome) -> None:
    before, interactions = states(home), rows_of(home, "interactions")
    outcome = applied(home)
    assert sorted(outcome.changed) == sorted(SUPERSEDED)
    is_gone = pl.col("memory_id").is_in(list(SUPERSEDED))
    wanted = before.with_columns(pl.when(is_gone).then(pl.lit("archived")).otherwise("status").alias("status"))
    assert states(home).equals(wanted)
    assert rows_of(home, "interactions") == interactions


def test_applying_twice_changes_nothing_more(home: SmallHome) -> None:
    applied(home)
    rows = rows_of(home, "memories"), rows_of(home, "decisions")
    again = applied(home)
    assert (again.changed, again.already, again.skipped) == ([], 3, [])
    assert (rows_of(home, "memories"), rows_of(home, "decisions")) == rows


@pytest.mark.thorough  # as in the laws of forgetting
def test_after_applying_there_is_nothing_to_plan(home: SmallHome) -> None:
    applied(home)
    home.nightly()
    assert published_plan(home.settings).rows.is_empty()


def test_a_dry_run_writes_no_row(home: SmallHome) -> None:
    rows = rows_of(home, "memories")
    assert sorted(applied(home, dry_run=True).changed) == sorted(SUPERSEDED)
    assert (rows_of(home, "memories"), rows_of(home, "decisions")) == (rows, 0)


def test_a_dry_run_names_what_would_go_and_not_what_is_held(home: SmallHome, monkeypatch, capsys) -> None:
    said(home, monkeypatch, capsys, "hold", "m1", "--reason", "a law")
    code, out, _ = said(home, monkeypatch, capsys, "apply", "--dry-run")
    would, skipped = out.split("skipped")
    assert (code, "would go     2 memories" in would, "m2: superseded" in would, "m1" in would) == (
        0,
        True,
        True,
        False,
    )
    assert "m1: held since the publish" in skipped


@pytest.mark.parametrize("how", ["ids", "run", "all"])
def test_restoring_brings_back_exactly_what_was(home: SmallHome, how: str) -> None:
    before = states(home)
    outcome = applied(home)
    assert not states(home).equals(before)
    options = {"run": {"command_id": outcome.command_id}, "all": {"everything": True}}.get(how, {})
    back = restored(home, *(SUPERSEDED if how == "ids" else ()), **options)
    assert sorted(back.changed) == sorted(SUPERSEDED)
    assert states(home).equals(before)


def test_restoring_a_command_leaves_what_others_archived(home: SmallHome) -> None:
    published = published_plan(home.settings)
    with writer_lock(home.settings, "forget apply"):
        first = apply_plan(
            start_run(home.settings, "backfill"), published, published.select_rows(limit=1), dry_run=False
        )
    second = applied(home)
    assert sorted([*first.changed, *second.changed]) == sorted(SUPERSEDED)
    assert restored(home, command_id=first.command_id).changed == first.changed
    assert {name for name, said in status(home).items() if said == "archived"} == set(second.changed)
    assert restored(home, command_id=first.command_id).already == 1
    assert sorted(restored(home, command_id=second.command_id).changed) == sorted(second.changed)


def test_restoring_twice_changes_nothing_more(home: SmallHome) -> None:
    applied(home)
    restored(home, "m1")
    rows = rows_of(home, "memories")
    assert restored(home, "m1").already == 1
    assert rows_of(home, "memories") == rows
    assert restored(home, everything=True).changed == sorted({"m2", HOSTILE})


def test_what_was_brought_back_is_not_archived_again_on_the_same_publish(home: SmallHome) -> None:
    applied(home)
    restored(home, "m1")
    again = applied(home)
    assert (again.changed, again.already) == ([], 2)
    assert again.skipped == [("m1", "archived on this publish and brought back since")]
    home.nightly()
    assert "m1" not in set(published_plan(home.settings).rows["memory_id"])  # nor planned for a while


def test_a_memory_set_by_somebody_else_after_archiving_is_left_alone(home: SmallHome) -> None:
    applied(home)
    changed_at = (utc_now() - timedelta(microseconds=1)).isoformat()
    home.land({"memory_id": "m1", "changed_at": changed_at, "status": "archived", "changed_by": "somebody"})
    outcome = restored(home, "m1", "m2")
    assert outcome.changed == ["m2"]
    assert outcome.skipped == [("m1", "its status was set to archived by somebody after it was archived")]


STALE = {
    "pinned since the publish": {"pinned": True},
    "its status changed since the publish": {"status": "active"},
    "its content changed since the publish": {"content": "Another text altogether."},
    "its project changed since the publish": {"project": "elsewhere"},
}


@pytest.mark.parametrize("why", STALE)
def test_a_memory_changed_since_the_publish_stays(home: SmallHome, why: str) -> None:
    home.land({"memory_id": "m1", "changed_at": "2026-07-01T00:00:00Z", **STALE[why]})
    outcome = applied(home)
    assert outcome.skipped == [("m1", why)]
    assert status(home)["m1"] != "archived"


@pytest.mark.parametrize("created_at", ["2026-03-05T10:00:00Z", "2026-07-01T10:00:00Z"])
def test_a_memory_used_since_the_publish_stays(home: SmallHome, created_at: str) -> None:
    home.land(interaction("late", created_at=created_at, memories_used=["m2"]))
    assert applied(home).skipped == [("m2", "referenced or injected since the publish")]
    assert status(home)["m2"] == "superseded"


@pytest.mark.slow
def test_what_is_held_stays_until_released(home: SmallHome, monkeypatch, capsys) -> None:
    code, out, _ = said(home, monkeypatch, capsys, "hold", "shop", "--reason", "an audit")
    assert (code, out) == (0, "project 'shop' is held: seen from the next nightly on\n")
    assert sorted(memory_id for memory_id, _ in applied(home).skipped) == sorted(SUPERSEDED)
    home.nightly()
    assert published_plan(home.settings).rows.is_empty()
    code, out, _ = said(home, monkeypatch, capsys, "release", "shop", "--reason", "it is over")
    assert (code, out) == (0, "project 'shop' is released: seen from the next nightly on\n")
    home.nightly()
    assert published_plan(home.settings).rows.height == 3


def test_holding_twice_is_one_decision_and_holding_again_after_a_release_another(home, monkeypatch, capsys) -> None:
    for command, count in (("hold", 1), ("hold", 1), ("release", 2), ("release", 2), ("hold", 3)):
        assert said(home, monkeypatch, capsys, command, "m1", "--reason", "a law")[0] == 0
        assert rows_of(home, "decisions") == count


def test_a_name_of_both_or_of_neither_is_asked_about(home: SmallHome, monkeypatch, capsys) -> None:
    home.land(interaction("twin", project="m1"))
    code, _, err = said(home, monkeypatch, capsys, "hold", "m1", "--reason", "a law")
    assert (code, "say which with --kind" in err) == (1, True)
    assert said(home, monkeypatch, capsys, "hold", "m1", "--reason", "a law", "--kind", "memory")[0] == 0
    code, _, err = said(home, monkeypatch, capsys, "hold", "nobody", "--reason", "a law")
    assert (code, "no project or memory is called 'nobody'" in err) == (1, True)


def test_every_act_leaves_an_audit_row(home: SmallHome, monkeypatch, capsys) -> None:
    said(home, monkeypatch, capsys, "hold", "m2", "--reason", "a law")
    outcome = applied(home)
    restored(home, "m1")
    audit = forgetting_audit(landed_decisions(Lake(Path(home.settings.lake))), datetime.max)
    assert sorted(audit.select("action", "target").rows()) == sorted(
        [("held", "m2"), ("archived", "m1"), ("archived", HOSTILE), ("restored", "m1")]
    )
    archived = audit.row(by_predicate=(pl.col("action") == "archived") & (pl.col("target") == "m1"), named=True)
    assert archived["status_before"] == "superseded"
    assert archived["rule"] == "superseded"
    assert archived["command_id"] == outcome.command_id
    assert archived["on_run_id"] == published_plan(home.settings).run_id


def test_the_archive_holds_the_whole_state(home: SmallHome) -> None:
    before = states(home).row(by_predicate=pl.col("memory_id") == "m1", named=True)
    applied(home)
    landed = landed_decisions(Lake(Path(home.settings.lake))).filter(pl.col("target") == "m1").collect()
    kept = json.loads(landed["values"].item())
    assert kept["state"] == {name: before[name] for name in Memories.state}


def test_in_shadow_a_memory_stays_as_it_is_and_is_not_planned_again(home: SmallHome) -> None:
    published = published_plan(home.settings)
    plan = published.rows.with_columns(is_shadow=pl.lit(value=True))
    with writer_lock(home.settings, "forget apply"):
        outcome = apply_plan(start_run(home.settings, "backfill"), published, plan)
    assert sorted(outcome.shadowed) == sorted(SUPERSEDED)
    assert outcome.changed == []
    assert "archived" not in status(home).values()
    home.nightly()
    assert published_plan(home.settings).rows.is_empty()


# ------------------------------------------------------------------------------------------------------------- crashes


class Killed(BaseException):
    """Stands for kill -9: nothing catches it, nothing after it runs."""


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("command", [applied, lambda home: restored(home, "m1")])
def test_killed_at_any_write_and_run_again_is_as_if_nothing_had_happened(
    home: SmallHome, monkeypatch, step: int, is_after: bool, command
) -> None:
    if command is not applied:
        applied(home)
    write, count = Lake.write_rows, 0

    def killing(self: Lake, *arguments: Any) -> Path:
        nonlocal count
        count += 1
        if count == step and not is_after:
            raise Killed
        path = write(self, *arguments)
        if count == step:
            raise Killed
        return path

    rows = rows_of(home, "memories"), rows_of(home, "decisions")
    with monkeypatch.context() as patched:
        patched.setattr(Lake, "write_rows", killing)
        with pytest.raises(Killed):
            command(home)
    if command is applied:
        assert rows_of(home, "decisions") - rows[1] >= rows_of(home, "memories") - rows[0]  # archived first
    command(home)
    count_done = 3 if command is applied else 1
    assert rows_of(home, "memories") == rows[0] + count_done
    # what was decided without effect stays, and was decided anew
    assert landed_decisions(Lake(Path(home.settings.lake))).collect().height == rows[1] + count_done
    assert status(home)["m1"] == ("archived" if command is applied else "superseded")


@pytest.mark.slow
def test_what_a_killed_apply_had_decided_is_never_done_unchecked(home: SmallHome, monkeypatch, capsys) -> None:
    write = Lake.write_rows

    def killing(self: Lake, table: Any, *arguments: Any) -> Path:
        if table is Memories:
            raise Killed
        return write(self, table, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "write_rows", killing)
        with pytest.raises(Killed):
            applied(home)
    assert said(home, monkeypatch, capsys, "hold", "m1", "--reason", "an audit")[0] == 0
    home.nightly()
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        assert connection.sql("FROM forgetting_audit WHERE action = 'archived'").fetchall() == []
    applied(home)
    assert status(home)["m1"] == "superseded"
    home.nightly()
    assert status(home)["m1"] == "superseded"


# -------------------------------------------------------------------------------------------------------------- clocks


def test_a_clock_before_the_publish_is_refused(home: SmallHome, monkeypatch, capsys) -> None:
    monkeypatch.setattr(forget, "utc_now", lambda: datetime(2026, 5, 1))
    code, _, err = said(home, monkeypatch, capsys, "apply", "--yes")
    assert code == 1
    assert "this machine's clock says 2026-05-01 00:00:00Z: set the clock" in err
    assert "archived" not in status(home).values()


def test_a_change_dated_in_the_future_blocks_nothing(home: SmallHome, monkeypatch, capsys) -> None:
    home.land({"memory_id": "m1", "changed_at": "2199-01-01T00:00:00Z", "reason": "a wrong clock elsewhere"})
    code, _, _ = said(home, monkeypatch, capsys, "apply", "--yes")
    assert code == 0
    assert status(home)["m1"] == "archived"
    assert status(home)["m2"] == "archived"


def test_a_clock_before_the_last_hold_is_refused(home: SmallHome, monkeypatch, capsys) -> None:
    said(home, monkeypatch, capsys, "hold", "m1", "--reason", "a law")
    monkeypatch.setattr(deciding, "utc_now", lambda: datetime(2026, 5, 1))
    code, _, err = said(home, monkeypatch, capsys, "release", "m1", "--reason", "over")
    assert (code, "set the clock" in err) == (1, True)


# ------------------------------------------------------------------------------------------------------------ commands


def test_hostile_ids_are_shown_and_never_obeyed(home: SmallHome, monkeypatch, capsys) -> None:
    for arguments in (("plan",), ("plan", "--format", "csv"), ("plan", "--format", "json"), ("apply", "--yes")):
        code, out, err = said(home, monkeypatch, capsys, *arguments)
        assert code == 0
        assert not {"\x1b", "\u202e"} & set(out + err) or arguments[-1] == "csv"
    code, out, _ = said(home, monkeypatch, capsys, "restore", HOSTILE)
    assert code == 0
    assert status(home)[HOSTILE] == "superseded"
    lake = Path(home.settings.lake)
    assert all("etc" not in str(path.relative_to(lake)) for path in lake.rglob("*"))
    with duckdb.connect(home.settings.current, read_only=True) as connection:
        assert connection.sql("SELECT count(*) FROM runs").fetchall() != [(0,)]


def test_the_plan_can_be_narrowed(home: SmallHome, monkeypatch, capsys) -> None:
    for arguments, count in (((), 3), (("--rule", "faded"), 0), (("--project", "shop"), 3), (("--project", "x"), 0)):
        code, out, _ = said(home, monkeypatch, capsys, "plan", "--format", "json", *arguments)
        assert (code, len(json.loads(out))) == (0, count)


def test_apply_can_be_narrowed(home: SmallHome, monkeypatch, capsys) -> None:
    for arguments, count in ((("--project", "x"), 0), (("--rule", "faded"), 0), (("--limit", "1"), 1), ((), 3)):
        code, _, _ = said(home, monkeypatch, capsys, "apply", "--yes", *arguments)
        assert (code, list(status(home).values()).count("archived")) == (0, count)


def test_nobody_to_ask_is_an_error(home: SmallHome, monkeypatch, capsys) -> None:
    code, _, err = said(home, monkeypatch, capsys, "apply")
    assert (code, "add --yes" in err) == (1, True)
    assert "archived" not in status(home).values()


def test_wrong_usage_is_said(home: SmallHome, monkeypatch, capsys) -> None:
    for arguments in (("restore",), ("restore", "m1", "--all"), ("hold", "m1"), ("hold", "m1", "--reason", " ")):
        assert said(home, monkeypatch, capsys, *arguments)[0] == 2
    for arguments in (("restore", "m1"), ("restore", "--run", "none")):
        assert said(home, monkeypatch, capsys, *arguments)[0] == 1


def test_every_command_has_help_with_examples(home: SmallHome, monkeypatch, capsys) -> None:
    for command, lines in forget_commands.EXAMPLES.items():
        code, out, _ = said(home, monkeypatch, capsys, command, "--help")
        assert code == 0
        assert all(line in out for line in lines)


def test_without_a_publish_the_plan_says_what_to_run(tmp_path: Path, monkeypatch, capsys) -> None:
    empty = SmallHome(tmp_path / "empty")
    code, _, err = said(empty, monkeypatch, capsys, "plan")
    assert (code, "run `slowwave nightly` first" in err) == (1, True)
    code, _, err = said(empty, monkeypatch, capsys, "hold", "p", "--reason", "a law")
    assert (code, "nothing has been landed" in err) == (1, True)


def test_many_memories_are_archived_in_two_writes(tmp_path: Path) -> None:
    made = SmallHome(tmp_path / "home")
    made.land(*[row for number in range(1_000) for row in superseded(f"m{number}")], interaction("i1"))
    made.nightly(AS_OF)
    assert len(applied(made).changed) == 1_000
    assert rows_of(made, Interactions.name) == 1
    assert rows_of(made, Memories.name) == 3_000
