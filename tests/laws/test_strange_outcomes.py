"""Any log of outcomes is published: none, one, none that is an attempt, and texts that attack whoever reads them."""

from __future__ import annotations

from datetime import timedelta

import duckdb
import pytest
from learned_tables import LEARNED

from slowwave.dashboards.cookbook.cookbook import cookbook
from slowwave.flows.cli import main as cli
from tests.laws.declared import assert_declared
from tests.laws.deliveries import START, jsonl
from tests.laws.model import Row

AS_OF = START + timedelta(days=24)
HOUR = timedelta(hours=1)
HOSTILE = (
    "'; DROP TABLE heuristics; --",
    "\"; ATTACH 'x.db'; --",
    "$task_type %s {} \\",
    "=cmd()|' /C calc'!A0",
    "<script>alert(1)</script>",
    "\x1b[31mred\x1b[0m\x07\x9b2J\x00\r\n\t",
    "\u202eright to left\u200b\ufeff",
    "../../etc/passwd",
    "(a+)+$ [[:alpha:]]{9999}",
    "NaN",
    "e\u0301\U0001f9e0\u00df\u0130",
    "0123456789abcdef " * 60_000,  # 1 MB
    "x" * 1_000_000,
)


def outcome(name: object, **fields: object) -> Row:
    return {"outcome_id": str(name), "created_at": START + HOUR, "success": True, **fields}


def hostile(text: str, number: int) -> list[Row]:
    """A text wherever an outcome has one: thrice a failure, once a success."""
    said = dict.fromkeys(("project", "agent", "session_id", "task_type", "task", "strategy"), text)
    return [
        outcome(f"{number} {n} {text[:99]}", **said, success=n == 0, error_message=text if n else None)
        for n in range(4)
    ]


LOGS: dict[str, list[Row]] = {
    "no outcomes": [{"interaction_id": "i1", "created_at": START, "prompt": "?"}],
    "no strategies": [outcome(n, success=n % 2 == 0) for n in range(5)],
    "blank strategies": [outcome(n, strategy=" \t\u2003", error_message="\n", success=n > 0) for n in range(2)],
    "no attempts": [
        outcome("said", attempted=False, strategy="wait"),
        outcome("cascade", success=False, strategy="wait", error_message="Skipped: depends on the step before"),
        outcome("refused", success=False, strategy="wait", error_message="The user doesn't want to proceed"),
    ],
    "one attempt": [outcome("one", strategy="wait")],
    "one failure": [outcome("one", strategy="wait", success=False, error_message="timeout", cost=1e300, tokens=2**62)],
    "no agent": [outcome(n, strategy="wait", project="shop", success=n > 1) for n in range(4)],
    "the future": [
        outcome("now", strategy="wait"),
        outcome("event", strategy="wait", created_at=AS_OF + HOUR),
        outcome("report", strategy="wait", recorded_at=AS_OF),
        outcome("far", strategy="wait", created_at=START.replace(year=9000)),
    ],
    "long ago": [outcome(year, strategy="wait", created_at=START.replace(year=year)) for year in (1000, 1970, 2024)],
    "extreme figures": [
        outcome(n, strategy="wait", success=False, duration_ms=figure, cost=figure, error_message="timeout")
        for n, figure in enumerate((0, -1, 1e-308, 1e12))
    ],
    "one session": [outcome(n, strategy="wait", session_id="s", success=n > 10) for n in range(30)],
    "hostile texts": [row for number, text in enumerate(HOSTILE) for row in hostile(text, number)],
}  # fmt: skip
# rows of counted_outcomes, and attempts in heuristics; of extreme figures one is refused, one took 31 years
EXPECTED = {
    "no outcomes": (0, 0),
    "no strategies": (5, 0),
    "blank strategies": (2, 0),
    "no attempts": (3, 0),
    "one attempt": (1, 1),
    "one failure": (1, 1),
    "no agent": (4, 4),
    "the future": (1, 1),
    "long ago": (3, 3),
    "extreme figures": (2, 2),
    "one session": (30, 30),
    "hostile texts": (4 * len(HOSTILE), 4 * len(HOSTILE)),
}
ASKED = [recipe for recipe in cookbook().values() if any(table.name in recipe.sql for table in LEARNED)]


# what leaves whole tables empty, what overflows, and what attacks
FIRST = ("no outcomes", "extreme figures", "hostile texts")


@pytest.mark.parametrize(
    "log", [*FIRST, *(pytest.param(log, marks=pytest.mark.thorough) for log in LOGS if log not in FIRST)]
)
def test_any_log_of_outcomes_is_published(home, log):
    home.drop("log.jsonl", jsonl(LOGS[log]))
    result = home.nightly(AS_OF)
    assert result.status == "published"
    assert {finding.audit.name for finding in result.findings} <= {"refused_rows"}
    assert_declared(home)
    attempts = sum(row["attempts"] for row in home.table("heuristics"))
    assert (len(home.table("counted_outcomes")), attempts) == EXPECTED[log]
    assert len(home.rows("FROM quarantine")) == (log == "extreme figures")
    with duckdb.connect(home.current, read_only=True) as connection:
        for recipe in ASKED:
            params = {name: value or "x" for name, value in recipe.params.items()}
            connection.sql(recipe.sql, params=params or None).fetchall()


@pytest.mark.slow
def test_hostile_texts_stay_what_they_are_and_reach_no_terminal(home, capfd, monkeypatch):
    home.drop("log.jsonl", jsonl(LOGS["hostile texts"]))
    home.nightly(AS_OF)
    assert {row["strategy"] for row in home.table("strategy_variants")} == {*HOSTILE}
    assert {row["project"] for row in home.table("heuristics")} == {*HOSTILE}
    assert {row["agent"] for row in home.table("counted_outcomes")} == {*HOSTILE}
    assert not [path for path in home.folder.parent.rglob("*") if "passwd" in path.name]
    monkeypatch.setenv("SLOWWAVE_HOME", str(home.folder))
    for name in ("strategies", "best_strategies", "common_errors", "success_by_week"):
        capfd.readouterr()
        assert cli._exit_code(["sql", name]) == 0
        said = capfd.readouterr().out
        assert said.count("\n") > 5
        assert not {*said} & {*"\x00\x07\x1b\x9b\r\u202e"}
