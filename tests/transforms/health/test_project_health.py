"""Project health: shares of what could be counted, alarms only beyond chance, and unknown where nothing is known."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from each import each
from health_rows import TODAY, ago, health_frame, health_row, health_rows, leaks_of, owners_of, unused_row
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.health.project.params import Alarm, ProjectHealthParams
from slowwave.transforms.health.project.project_health import project_health, share_low
from slowwave.transforms.health.project.tables import ProjectHealth

PARAMS = ProjectHealthParams()
KEPT = {"verdict": "keep"}


def health_of(rows, params=PARAMS, leaks=()):
    """project -> its row."""
    told = project_health(health_frame(rows), owners_of(rows), leaks_of(*leaks), TODAY, params)
    return {row["project"]: row for row in told.to_dicts()}


def shop_of(rows, params=PARAMS):
    return health_of(rows, params)["shop"]


def many(count, make=health_row, first: Any = 0, **said):
    return [make(f"m{first + number}", **KEPT | said) for number in range(count)]


# ----------------------------------------------------------------------------------------------- what is known, and how


def test_a_bank_that_is_only_written_to_is_unknown_not_unhealthy():
    unused = {"eligible_count": 0, "injected_count": 0, "verdict": "unproven", "strength_state": "forgettable"}
    told = shop_of(many(200, unused_row, **unused))
    assert (told["health"], told["alarms"]) == ("unknown", [])
    shares = ("never_eligible", "never_injected", "injected_never_used", "stale")
    assert [told[f"{name}_share"] for name in shares] == [None] * 4


def test_one_write_and_one_recall_make_nobody_healthy():
    told = shop_of(many(1, eligible_count=1, injected_count=1, reference_count=1))
    assert (told["health"], told["alarms"]) == ("unknown", [])


def test_equal_texts_of_two_users_are_no_duplicates():
    rows = [health_row(f"m{at} {user}", content=f"The same text {at}", owner=user, **KEPT) for at in range(20)
            for user in ("@ada", "@bob")]  # fmt: skip
    told = shop_of(rows)
    assert (told["duplicate_share"], told["alarms"]) == (0, [])
    assert shop_of([{**row, "owner": "@ada"} for row in rows])["duplicate_share"] == 1


def test_a_memory_that_was_given_to_another_user_is_critical():
    rows = many(5)
    told = health_of(rows, leaks=[("m0", ago(1)), ("m0", ago(40)), ("m1", ago(30))])["shop"]
    assert (told["scope_leak_count"], told["health"]) == (3, "critical")
    (alarm,) = told["alarms"]
    assert alarm == (
        "critical: given to interactions of another user, agent or tag scope in the last 30 days: 2 injections"
        " (scope_leaks), last on 2026-02-28."
    )
    told = health_of(rows, leaks=[("m0", ago(40))])["shop"]
    assert (told["scope_leak_count"], told["alarms"]) == (1, [])


def test_a_project_in_use_is_healthy():
    told = shop_of(many(5))
    assert (told["health"], told["alarms"], told["judged_count"]) == ("healthy", [], 5)


def test_too_few_judged_memories_are_unknown():
    assert (
        shop_of([*many(4), *many(50, unused_row, first=4, eligible_count=19, injected_count=9)])["health"] == "unknown"
    )


def test_without_any_memory_there_is_no_project():
    told = project_health(health_frame([]), owners_of([]), leaks_of(), TODAY, PARAMS)
    assert told.height == 0


def test_rows_are_those_of_the_published_table():
    told = project_health(health_frame(many(3)), owners_of(many(3)), leaks_of(), TODAY, PARAMS)
    published = polars_schema(ProjectHealth)
    assert dict(told.schema) == {name: kind for name, kind in published.items() if name not in {"run_id", "as_of"}}
    assert told.columns == [name for name in published if name not in {"run_id", "as_of"}]


def test_ids_that_never_landed_count_under_no_project():
    told = health_of([*many(1), *many(2, unused_row, first=1, project=None, status=None, created_at=None)])
    assert (told[""]["unknown_count"], told[""]["memories_count"], told[""]["health"]) == (2, 0, "unknown")
    assert told["shop"]["unknown_count"] == 0


# --------------------------------------------------------------------------------------------------------------- alarms

ALARMING = {
    "junk": (
        20,
        health_row,
        {"status": "invalid"},
        "warning: 50 % of 40 active, candidate or invalid memories are junk",
    ),
    "short": (
        20,
        health_row,
        {"content": "brief"},
        "warning: 50 % of 40 active, candidate or invalid memories are junk",
    ),
    "duplicate": (
        20,
        health_row,
        {"content": "the  SAME old text"},
        "warning: 50 % of 40 active memories with a text have a text that another one has too",
    ),
    "stale": (20, health_row, {"trend": "stale"}, "warning: 50 % of 40 active memories with a reference are stale"),
    "never eligible": (
        20,
        unused_row,
        {"eligible_count": 0, "injected_count": 0},
        "warning: 50 % of 40 active memories could be used in no interaction",
    ),
    "never injected": (
        60,
        unused_row,
        {"injected_count": 0},
        "warning: 75 % of 80 active memories with enough chances were never injected",
    ),
    "never used": (
        60,
        unused_row,
        {},
        "warning: 75 % of 80 active memories with enough injections to say so are not used",
    ),
    "pinned": (60, health_row, {"pinned": True}, "warning: 75 % of 80 active memories are pinned (alarm above 50 %)."),
    "pinned mostly": (480, health_row, {"pinned": True}, "critical: 96 % of 500 active memories are pinned"),
    "forget": (105, health_row, {"verdict": "forget"}, "critical: 84 % of 125 active memories would be forgotten"),
    "growth": (
        50,
        unused_row,
        {"created_at": ago(30), "eligible_count": 20, "injected_count": 5},
        "warning: 50 memories of the last 30 days had enough chances, none a detected use.",
    ),
    "harmful": (
        1,
        health_row,
        {"verdict": "harmful"},
        "warning: 1 of its memories have the verdict harmful: success was lower with them than without (alarm from 1).",
    ),
    "harmful often": (
        5,
        health_row,
        {"verdict": "harmful"},
        (
            "critical: 5 of its memories have the verdict harmful: success was lower with them than without"
            " (alarm from 5)."
        ),
    ),
}


@each("alarming", ALARMING)
def test_what_is_wrong_is_said_once_with_the_figures(alarming):
    count, make, said, sentence = ALARMING[alarming]
    told = shop_of([*many(20), *many(count, make, first=20, **said)])
    about = [alarm for alarm in told["alarms"] if alarm.startswith(sentence)]
    assert len(about) == 1, told["alarms"]
    assert told["health"] == told["alarms"][0].split(":")[0]


def test_critical_alarms_come_first_and_decide_the_status():
    told = shop_of([*many(20), *many(105, first=20, verdict="forget", pinned=True)])
    assert [alarm.split(":")[0] for alarm in told["alarms"]] == ["critical", "critical", "warning"]
    assert told["health"] == "critical"


def test_what_is_critical_is_no_warning_too():
    told = shop_of([*many(20), *many(480, first=20, verdict="harmful", pinned=True)])
    assert [alarm.split(":")[0] for alarm in told["alarms"]] == ["critical", "critical"]


def test_two_memories_alarm_nobody():
    told = shop_of(many(2, trend="stale", verdict="forget", pinned=True))
    assert (told["health"], told["alarms"], told["forget_share"]) == ("unknown", [], 1.0)


def test_alarms_name_no_memory_and_no_project():
    rows = many(50, health_row, project="<b>shop</b>", content="<script>", verdict="harmful", pinned=True)
    assert "<" not in " ".join(health_of(rows)["<b>shop</b>"]["alarms"])


def test_silence_is_not_staleness():
    weak = {"strength_state": "forgettable", "strength": 0.04}
    assert shop_of(many(40, trend="stable", **weak))["stale_share"] == 0.0
    assert shop_of(many(40, trend="unproven", **weak))["stale_share"] == 1.0


def test_growth_is_no_alarm_without_chances_or_with_one_use():
    grown = {"created_at": ago(30), "eligible_count": 20, "injected_count": 5, "verdict": "unproven"}
    used = health_row("used", **grown | KEPT)
    assert shop_of(many(50, unused_row, **grown))["alarms"] != []
    assert shop_of([*many(50, unused_row, **grown), used])["alarms"] == []
    assert shop_of(many(50, unused_row, **grown | {"eligible_count": 19}))["alarms"] == []
    assert shop_of(many(50, unused_row, **grown | {"created_at": ago(31)}))["alarms"] == []
    assert shop_of(many(49, unused_row, **grown))["alarms"] == []
    assert shop_of(many(50, unused_row, **grown | {"detectability": 0.0}))["alarms"] == []


def test_where_nothing_is_injected_nobody_was_left_out():
    assert shop_of(many(40, injected_count=0))["never_injected_share"] is None


# -------------------------------------------------------------------------------------------------------------- figures


def normal(text):
    return " ".join((text or "").lower().split())


def plain_use_state(row):
    """Whether a memory is used, from the definition."""
    chances, expected = min(row["eligible_count"], row["injected_count"]), row["injected_use_expected"]
    found = row["detectability"]
    if row["reference_count"]:
        return "used"
    if found is None or found < 0.05:
        return "undetectable"
    is_missed = (1 - found / 2) ** chances > 0.1
    return "unproven" if is_missed or expected + 1.6448536 * expected**0.5 >= chances / 2 else "not_used"


def plain_shares(rows):
    """The shares of one project, from their definitions."""
    active = [row for row in rows if row["status"] == "active"]
    holding = {"new", "strengthening", "stable"}
    texts = [normal(row["content"]) for row in active if normal(row["content"])]
    any_eligible = any(row["eligible_count"] for row in rows)
    any_injected = any(row["injected_count"] for row in rows)

    def share(of, counts):
        of = list(of)
        return sum(bool(counts(row)) for row in of) / len(of) if of else None

    def is_junk(row):
        return row["status"] == "invalid" or row["verdict"] == "forget" or len(normal(row["content"])) < 12

    def is_stale(row):
        return row["trend"] == "stale" or (
            row["strength_state"] in {"weak", "forgettable"} and row["trend"] not in holding
        )

    chances = [row for row in active if any_injected and row["eligible_count"] >= 20]
    chosen = [
        row
        for row in active
        if min(row["injected_count"], row["eligible_count"]) >= 10 and plain_use_state(row) in {"used", "not_used"}
    ]
    return {
        "junk": share((row for row in rows if row["status"] in {"active", "candidate", "invalid"}), is_junk),
        "duplicate": share(texts, lambda text: texts.count(text) > 1),
        "stale": share((row for row in active if row["reference_count"]), is_stale),
        "never_eligible": share((row for row in active if any_eligible), lambda row: row["eligible_count"] == 0),
        "never_injected": share(chances, lambda row: row["injected_count"] == 0),
        "injected_never_used": share(chosen, lambda row: plain_use_state(row) == "not_used"),
        "pinned": share(active, lambda row: row["pinned"]),
        "forget": share(active, lambda row: row["verdict"] == "forget"),
    }


@given(health_rows())
def test_shares_and_totals_are_those_of_a_loop_whatever_the_order(rows):
    told = health_of(rows)
    assert health_of(rows[::-1]) == told
    projects = {row["project"] or "" for row in rows}
    assert set(told) == projects
    for project in projects:
        own = [row for row in rows if (row["project"] or "") == project]
        for name, share in plain_shares(own).items():
            assert told[project][f"{name}_share"] == pytest.approx(share), name
        strengths = [row["strength"] for row in own if row["status"] == "active"]
        mean = sum(strengths) / len(strengths) if strengths else None
        assert told[project]["mean_strength"] == pytest.approx(mean, abs=1e-9)
        verdict_counts = [
            told[project][f"{name}_count"] for name in ("keep", "review", "forget", "harmful", "unproven", "inactive")
        ]
        assert sum(verdict_counts) == len(own)
        states = ("active", "candidate", "inactive", "unknown")
        assert sum(told[project][f"{name}_count"] for name in states) == len(own)
        assert told[project]["memories_count"] == sum(row["status"] is not None for row in own)
        assert told[project]["reference_count"] == sum(row["reference_count"] for row in own)
        assert told[project]["used_expected"] == pytest.approx(sum(row["used_expected"] for row in own))


@given(st.integers(0, 500), st.integers(0, 500), st.floats(0.1, 5))
def test_the_lower_bound_solves_the_score_equation(part, rest, deviations):
    whole = part + rest
    low = pl.DataFrame({"k": [part], "n": [whole]}).select(share_low(pl.col("k"), pl.col("n"), deviations)).item()
    if whole == 0:
        assert low is None
    else:
        share = part / whole
        assert 0 <= low <= share
        assert (share - low) ** 2 * whole == pytest.approx(deviations**2 * low * (1 - low), abs=1e-6)


def test_an_alarm_needs_the_bound_beyond_the_threshold():
    pinned = [*many(60), *many(60, first=60, pinned=True)]
    calm = ProjectHealthParams(pinned=Alarm(warning=0.4, critical=1))
    alarmed = ProjectHealthParams(pinned=Alarm(warning=0.38, critical=1))
    # 60 of 120: a share of .50 with a lower bound of .386
    assert shop_of(pinned, calm)["alarms"] == []
    assert shop_of(pinned, alarmed)["alarms"] == ["warning: 50 % of 120 active memories are pinned (alarm above 38 %)."]


def test_a_warning_comes_before_the_critical():
    with pytest.raises(ValidationError, match="critical no earlier"):
        Alarm(warning=0.6, critical=0.5)
