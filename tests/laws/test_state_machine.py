"""Deliveries, repeats, newer versions, late changes, compaction, publishes, replays, crashes and prunes, in any order:
after every publish the published tables are those of the plain-Python model of the laws."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from thorough import IS_THOROUGH

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake import lake as lake_module
from slowwave.flows.lake.current import current_run
from slowwave.transforms.landing.tables import LANDED
from tests.laws.deliveries import (
    DAYS,
    START,
    Format,
    formats,
    interactions,
    jsonl,
    memories,
    packed,
    row_hash,
    times,
)
from tests.laws.deliveries import rows as delivered_rows
from tests.laws.home import Home
from tests.laws.model import INLINE, Laws, Row, Version

AS_OFS = st.one_of(times, st.integers(1, DAYS + 1).map(lambda days: START + timedelta(days=days)))
# Not shrunk: one step takes half a second, and the steps shown tell enough.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
LAST = START + timedelta(days=DAYS + 30)


class Killed(BaseException):
    """Stands for a kill: nothing in the program may catch it."""


def assert_published(home: Home, laws: Laws, path: Path, as_of: datetime) -> None:
    """What the model says of the published tables of a serving file is what they say."""
    expected = laws.publish(as_of)
    found = {row["memory_id"]: row for row in home.table("memory_health", path)}
    assert _said_of(found, expected.health) == expected.health
    found = {(row["memory_id"], row["day"]): row for row in home.table("memory_health_history", path)}
    assert _said_of(found, expected.history) == expected.history
    found = {(row["memory_id"], row["interaction_id"]): row for row in home.table("memory_references", path)}
    assert found == expected.references
    found = {_outcome_id(row): row for row in home.table("counted_outcomes", path)}
    # the wording of a strategy is not repeated per outcome
    outcomes = {key: {k: v for k, v in row.items() if k != "strategy"} for key, row in expected.outcomes.items()}
    assert _said_of(found, outcomes) == outcomes
    found = {
        (row["project"], row["agent"], row["strategy"].lower().strip("!")): row
        for row in home.table("heuristics", path)
    }
    assert _said_of(found, expected.strategies) == expected.strategies


def _outcome_id(row: Row) -> str:
    return f"{INLINE}{row['interaction_id']}" if row["outcome_id"].startswith(INLINE) else row["outcome_id"]


def _said_of(found: dict[Any, Row], expected: dict[Any, Row]) -> dict[Any, Row]:
    """The rows found, with the columns the model knows."""
    names = list(next(iter(expected.values()), {}))
    return {key: {name: row[name] for name in names} for key, row in found.items()}


class Machine(RuleBasedStateMachine):
    """One home and the model, side by side."""

    def __init__(self, new_folder: Callable[[], Path]) -> None:
        super().__init__()
        self.new_folder = new_folder
        self.home = Home(new_folder())
        hashes: dict[Version, str] = {}
        self.laws = Laws(lambda version: hashes.setdefault(version, row_hash(version)))
        self.delivered: list[Row | bytes] = []
        self.files: list[tuple[str, bytes, list[Row | bytes]]] = []
        self.inbox: list[tuple[str, bytes, list[Row | bytes]]] = []
        self.published_at: datetime | None = None
        self.named = 0

    # -------------------------------------------------------------------------------------------- deliveries

    def _deliver(self, rows: list[Row | bytes], form: Format) -> None:
        suffix, content = packed(rows, form)
        self._drop(f"rows.{suffix}", content, rows)
        self.delivered += rows

    def _drop(self, name: str, content: bytes, rows: list[Row | bytes]) -> None:
        self.home.drop(name, content)
        self.inbox.append((name, content, rows))
        self.files.append((name, content, rows))

    @initialize(rows=st.lists(memories(), min_size=2, max_size=4))
    def first_memories(self, rows: list[Row]) -> None:
        self._deliver([*rows], "jsonl")

    @rule(rows=delivered_rows(), form=formats)
    def deliver(self, rows: list[Row | bytes], form: Format) -> None:
        self._deliver(rows, form)

    @rule(rows=delivered_rows(), form=formats)
    def deliver_by_path(self, rows: list[Row | bytes], form: Format) -> None:
        suffix, content = packed(rows, form)
        self.named += 1
        path = self.home.folder / f"path-{self.named}.{suffix}"
        path.write_bytes(content)
        report = self.home.land(path)
        self.delivered += rows
        self.files.append((path.name, content, rows))
        expected = self.laws.deliver(content, rows)
        assert [_counts(file) for file in report.files] == [_counts(expected)]
        assert path.exists()

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def redeliver_a_file(self, data: st.DataObject) -> None:
        self._drop(*data.draw(st.sampled_from(self.files)))

    @precondition(lambda self: self.delivered)
    @rule(data=st.data(), form=formats)
    def redeliver_rows_in_another_order(self, data: st.DataObject, form: Format) -> None:
        self._deliver(data.draw(st.lists(st.sampled_from(self.delivered), min_size=1, max_size=6)), form)

    @precondition(lambda self: any("prompt" in row for row in self.delivered if isinstance(row, dict)))
    @rule(data=st.data(), change=interactions(), form=formats)
    def another_version(self, data: st.DataObject, change: Row, form: Format) -> None:
        """Newer or older, and often on another day."""
        known = [row for row in self.delivered if isinstance(row, dict) and row.get("interaction_id", "bad") != "bad"]
        known = [row for row in known if "prompt" in row]
        if known:
            self._deliver([change | {"interaction_id": data.draw(st.sampled_from(known))["interaction_id"]}], form)

    @rule(change=memories(), form=formats)
    def late_memory_change(self, change: Row, form: Format) -> None:
        self._deliver([change], form)

    @rule(row=interactions(), ahead=st.integers(1, 40))
    def a_clock_that_runs_ahead(self, row: Row, ahead: int) -> None:
        self._deliver([row | {"created_at": row["created_at"] + timedelta(days=ahead)}], "jsonl")

    @rule(rows=delivered_rows(min_size=18, max_size=30))
    def many_small_files(self, rows: list[Row | bytes]) -> None:
        for row in rows:
            self._deliver([row], "jsonl")

    # -------------------------------------------------------------------------------------------- runs

    def _account_for_inbox(self) -> list[tuple[int, int, int, int]]:
        expected = [_counts(self.laws.deliver(content, rows)) for _, content, rows in self.inbox]
        self.inbox = []
        return expected

    @rule(as_of=AS_OFS)
    def publish(self, as_of: datetime) -> None:
        result = self.home.nightly(as_of)
        assert [_counts(file) for file in result.landed.files] == self._account_for_inbox()
        assert not list(self.home.settings.inbox.glob("*"))
        self.published_at = as_of
        assert_published(self.home, self.laws, self.home.current, as_of)

    @rule(as_of=AS_OFS)
    def replay_as_of(self, as_of: datetime) -> None:
        if not Path(self.home.settings.lake).exists():
            return
        before = self.home.current if self.published_at else None
        assert_published(self.home, self.laws, self.home.as_of(as_of), as_of)
        assert before is None or self.home.current == before

    @rule()
    def compact(self) -> None:
        with writer_lock(self.home.settings, "compact"), patch.object(lake_module, "COMPACT_FROM_FILES", 2):
            for table in LANDED:
                for day in self.home.lake.files(table.name):
                    self.home.lake.compact(table, day)
                    assert len(self.home.lake.files(table.name)[day]) == 1

    @rule(as_of=AS_OFS, writes=st.integers(0, 12), after=st.booleans())
    def killed_at_a_write_then_run_again(self, as_of: datetime, writes: int, after: bool) -> None:
        """Counts of files that were half landed differ (their rows are duplicates now); nothing else does."""
        left = [writes]
        write = lake_module.write_parquet

        def write_or_die(path: Path, frame: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                if after:
                    write(path, frame)
                raise Killed
            write(path, frame)

        before = self.home.current if self.published_at else None
        try:
            with (
                patch.object(lake_module, "write_parquet", write_or_die),
            ):
                self.home.nightly(as_of)
        except Killed:
            assert before is None or current_run(self.home.settings) is not None
        result = self.home.nightly(as_of)
        expected = self._account_for_inbox()
        assert len(result.landed.files) in {0, len(expected)}
        for file, (delivered, accepted, _, quarantined) in zip(result.landed.files, expected, strict=False):
            assert file.delivered == delivered == file.accepted + file.duplicate + file.quarantined
            assert file.accepted <= accepted
            assert file.quarantined in {quarantined, 0}
        self.published_at = as_of
        assert_published(self.home, self.laws, self.home.current, as_of)

    @rule(
        as_of=AS_OFS, stage=st.sampled_from(("land", "plan", "replay", "publish", "swap", "prune")), after=st.booleans()
    )
    def disk_fails_in_a_stage(self, as_of: datetime, stage: str, after: bool) -> None:
        def failing(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
            result = function(*arguments) if after or not name.startswith(stage) else None
            if name.startswith(stage):
                raise OSError(28, "No space left on device")
            return result

        before = self.home.current if self.published_at else None
        landed = after or stage != "land"
        with contextlib.suppress(OSError):
            self.home.nightly(as_of, call=failing)
        if landed:
            self._account_for_inbox()
        current = current_run(self.home.settings)
        if current is not None and current != before:
            self.published_at = as_of
            assert_published(self.home, self.laws, current, as_of)

    @precondition(lambda self: self.published_at is not None)
    @rule(keep=st.integers(0, 2))
    def prune_all_that_is_old(self, keep: int) -> None:
        old = time.time() - 2 * 86_400
        for path in self.home.folder.glob("**/*.*"):
            if path.is_file():
                os.utime(path, (old, old))
        current = self.home.current
        self.home.prune(keep)
        assert self.home.current == current
        assert len(list(current.parent.glob("*.duckdb"))) <= keep + 1

    # -------------------------------------------------------------------------------------------- always

    @invariant()
    def current_is_published_and_whole(self) -> None:
        current = current_run(self.home.settings)
        if current is None:
            return
        assert len(self.home.rows("SELECT DISTINCT run_id, as_of FROM memory_health", current)) <= 1
        entered = [run["status"] for run in self.home.ledger() if run["run_id"] == current.stem]
        # entered by the next run where a kill came between
        assert entered in ([], ["published"], ["started"])

    def teardown(self) -> None:
        """A full rebuild from all rows in one file has the same hashes, and every file's rows are accounted for."""
        result = self.home.nightly(LAST)
        assert [_counts(file) for file in result.landed.files] == self._account_for_inbox()
        assert_published(self.home, self.laws, self.home.current, LAST)
        assert self.home.rows(UNACCOUNTED) == []
        rebuilt = Home(self.new_folder())
        rebuilt.drop("all.jsonl", jsonl(self.delivered))
        rebuilt.nightly(LAST)
        assert rebuilt.hashes() == self.home.hashes()


def _counts(file: Any) -> tuple[int, int, int, int]:
    return file.delivered, file.accepted, file.duplicate, file.quarantined


UNACCOUNTED = """
    SELECT file_hash, files.quarantined, refused.quarantined
    FROM (SELECT file_hash, sum(quarantined) AS quarantined FROM run_files GROUP BY file_hash) AS files
    FULL JOIN (SELECT file_hash, count(*) AS quarantined FROM quarantine GROUP BY file_hash) AS refused
        USING (file_hash)
    WHERE files.quarantined IS DISTINCT FROM coalesce(refused.quarantined, 0)
"""


def _run(tmp_path_factory: pytest.TempPathFactory, examples: int, steps: int) -> None:
    class OfTest(Machine):
        def __init__(self) -> None:
            super().__init__(lambda: tmp_path_factory.mktemp("home"))

    run_state_machine_as_test(
        OfTest,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            phases=PHASES,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def test_any_life_of_a_home_obeys_the_laws(tmp_path_factory):
    _run(tmp_path_factory, examples=3 if IS_THOROUGH else 2, steps=12)


@pytest.mark.slow
def test_any_long_life_of_a_home_obeys_the_laws(tmp_path_factory):
    _run(tmp_path_factory, examples=12 if IS_THOROUGH else 4, steps=25)
