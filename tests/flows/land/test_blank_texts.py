"""A home full of texts that say nothing: every night publishes, and counts nothing for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_home import SmallHome, interaction, memory, outcome

from slowwave.flows.kernel.lock import writer_lock
from slowwave.flows.lake.current import current_run
from slowwave.flows.land.land import path_deliveries
from slowwave.flows.nightly.nightly import land_paths, start_run

BLANKS = (
    "", "   ", "\u00a0", "\u3000", "\u2028", "\x85", "\u200b" * 30, "\ufeff" * 30, "\u00ad" * 30, "\U000e0041" * 30,
    "\x00" * 30, "\x01\x1b", " \u00a0\u200b\x00", "\u202e\u200e",
)  # fmt: skip


def asked(home: SmallHome, query: str) -> list[tuple[Any, ...]]:
    current = current_run(home.settings)
    assert current is not None
    with duckdb.connect(current, read_only=True) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["\u00a0", "\u200b" * 30, "\x00"], ids=ascii)
def test_one_blank_content_stops_no_night(blank: str, tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    home.land(memory("m-1", content=blank), memory("m-2"), interaction("i-1", memories_used=["m-1"]))
    assert home.nightly().status == "published"
    assert asked(home, "SELECT content FROM memory_health WHERE memory_id = 'm-1'") == [(blank,)]
    assert asked(home, "SELECT DISTINCT unnest(memory_ids) FROM observations") == [("m-2",)]


@pytest.mark.slow
def test_blanks_of_all_kinds_everywhere(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    rows = []
    for i, blank in enumerate(BLANKS):
        rows += [memory(f"m-{i}-{k}", content=blank, agent=blank, reason=blank, memory_type=blank) for k in range(3)]
        rows += [
            interaction(
                f"i-{i}-{k}",
                created_at=f"2026-03-0{2 + k}T09:00:00Z",
                agent=blank,
                project="shop" if k % 2 else blank,
                response=f"Nothing {blank} was said.",
                response_summary=blank,
                memories_used=[f"m-{i}-0", blank],
                success=bool(k % 2),
                strategy=blank,
                task_type=blank,
                task=blank,
                error_message=blank,
                feedback=blank,
            )
            for k in range(6)
        ]
        names = dict.fromkeys(("interaction_id", "project", "agent", "strategy", "error_message"), blank)
        rows += [outcome(f"o-{i}", **names)]
    home.land(*rows)
    assert home.nightly().status == "published"
    assert home.nightly(full=True).status == "published"
    assert asked(home, "SELECT sum(echoed_count + used_count) FROM memory_health") == [(0,)]
    assert asked(home, "SELECT * FROM heuristics UNION ALL BY NAME SELECT * FROM anti_patterns") == []
    assert asked(home, "SELECT * FROM observations") == []
    assert asked(home, "SELECT count(DISTINCT task_type) FROM counted_outcomes") == [(1,)]
    assert asked(home, "SELECT count(*) FROM quarantine") == [(0,)]


def test_half_a_surrogate_pair_is_refused_with_its_place_and_controls_are_kept(tmp_path: Path) -> None:
    home = SmallHome(tmp_path / "home")
    log = tmp_path / "log.jsonl"
    lines = (
        r'{"prompt": "a\ud800b", "created_at": "2026-03-01"}',
        r'{"prompt": "\ud83d\udc4d", "created_at": "2026-03-01"}',
        r'{"prompt": "a\u0000b\u001b[31m", "interaction_id": "i-1", "created_at": "2026-03-01"}',
    )
    log.write_text("\n".join(lines) + "\n")
    with writer_lock(home.settings, "land"):
        landed = land_paths(start_run(home.settings, "land"), path_deliveries([str(log)]))
    assert (landed.total("accepted"), landed.total("quarantined")) == (2, 1)
    assert list(landed.reasons) == ["the line is not JSON: no low surrogate in string (column 14)"]
    done = home.ask("sql", "SELECT prompt FROM interactions WHERE interaction_id = 'i-1'")
    assert r"a\x00b\x1b[31m" in done.stdout
    as_json = home.ask("sql", "SELECT prompt FROM interactions WHERE interaction_id = 'i-1'", "--format", "json")
    assert r'"a\u0000b\u001b[31m"' in as_json.stdout
