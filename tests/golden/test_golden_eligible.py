"""A small log of two agents and two users, written by hand, and what `eligible/2` and `eligible/3` publish of it.

The files in tests/golden/eligible-2 and eligible-3 are released (see golden_tables).
"""

import polars as pl
import pytest
from delivered import as_jsonl, utc
from golden_tables import assert_golden, golden_names
from polars.testing import assert_frame_equal
from replayed import NO_OUTCOMES, NO_USE, NONE_HELD, NONE_USED

from slowwave.transforms.evidence.eligibility import memory_eligibility
from slowwave.transforms.evidence.memory_days import memory_days
from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.evidence.reach import knows_expiry
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.states import memory_pool, memory_states, states_over_time
from slowwave.transforms.health.memory_health import memory_health
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Interactions, Memories
from slowwave.transforms.landing.versions import winning_versions
from slowwave.transforms.params import Params

COLUMNS = {
    "memory_eligibility": [
        "memory_id", "is_global", "project", "only_agent", "only_user", "first_at", "last_at", "eligible_count",
    ],
    "memory_health": [
        "memory_id", "project", "agent", "user_id", "scope", "category", "domain", "source", "tags", "memory_type",
        "status", "eligible_count", "injected_count", "echoed_count", "reference_count",
    ],
    "memory_references": [
        "memory_id", "interaction_id", "project", "agent", "is_injected", "is_echoed", "methods",
    ],
}  # fmt: skip
PARAMS = Params()
AS_OF = utc(2026, 3, 13)

TABS, TEA, DEPLOY, PORT, TOKEN = (
    "Indent every file with tabs and never with blanks",
    "Prefers green tea and short answers in the morning",
    "Deploy the ledger service only after the smoke tests are green",
    "The staging database listens on port 8443",
    "Access tokens of the gateway expire after fifteen minutes",
)


def change(memory_id, day_and_hour, **fields):
    day, hour = day_and_hour.split()
    return {"memory_id": memory_id, "changed_at": f"2026-03-{day}T{hour}:00Z", "status": "active", **fields}


CHANGES = [
    change("of ada", "09 00:00", memory_type="preference", user_id="ada", content=TABS, category="style"),
    change("of nobody", "09 00:00", memory_type="preference", content=TEA, tags=["food", "tone"]),
    change("of ada in atlas", "09 00:00", project="atlas", user_id="ada", content=DEPLOY, tags=[]),
    change("of the coder", "09 00:00", project="atlas", agent="coder", scope="agent", content=PORT),
    change("of everybody", "09 00:00", project="borealis", scope="global", content=TOKEN, domain="security"),
    change("of the project", "09 00:00", project="atlas", scope="project", agent="coder", content=f"{PORT} only"),
    change("agent of no name", "09 00:00", project="atlas", scope="agent", content=f"{TOKEN} only"),
    change("user, everywhere", "09 00:00", project="atlas", scope="global", user_id=4077, content=f"{TEA} only"),
    change("both", "09 00:00", memory_type="identity", agent="helper", scope="agent", user_id="ada", content=TEA),
    change("moves", "09 00:00", project="atlas", user_id="ada", content=f"{DEPLOY} only"),
    change("moves", "10 12:00", user_id="bob"),
    change("moves", "11 12:00", user_id="", scope="agent", agent="helper"),
    change("moves", "12 00:00", scope=""),
    change("strange", "09 00:00", project="atlas", scope="everywhere", user_id=["ada"], tags="none", content=PORT),
]  # fmt: skip


EXPIRING = [
    change("for a day", "09 00:00", project="atlas", content=PORT, expires_at="2026-03-11T00:00:00Z"),
    change("at an interaction", "09 00:00", project="atlas", content=PORT, expires_at="2026-03-11T08:00:00Z"),
    change("longer", "09 00:00", project="atlas", content=TOKEN, valid_until="2026-03-10T12:00:00Z"),
    change("longer", "11 12:00", expires_at="2026-03-12T12:00:00Z"),
    change("for ever", "09 00:00", project="atlas", content=TOKEN, ttl_seconds=86_400),
    change("for ever", "10 12:00", expires_at=""),
    change("never began", "09 00:00", project="atlas", content=TEA, expires_at="2026-03-01"),
    change("replaced first", "09 00:00", project="atlas", content=TEA, expires_at="2026-03-12"),
    change("replaced first", "11 00:00", status="superseded"),
    change("not yet", "09 00:00", project="atlas", content=TEA, expires_at="2026-03-13"),
    change("carried over", "09 00:00", memory_type="preference", user_id="ada", content=TABS, expires_at="2026-03-12"),
    change("carried over", "10 10:00", confidence=0.5),
]  # fmt: skip


def asked(number, day_and_hour, project, agent, user_id, response, **fields):
    day, hour = day_and_hour.split()
    row = {"interaction_id": f"i{number:02}", "created_at": f"2026-03-{day}T{hour}:00Z", "project": project}
    return {**row, "agent": agent, "user_id": user_id, "prompt": "How?", "response": response, **fields}


EVERY = f"{TABS}. {TEA}. {DEPLOY}. {PORT}. {TOKEN}."
INTERACTIONS = [
    asked(n, f"{day} {8 + n % 8:02}:00", project, agent, user_id, EVERY, memories_used=["of ada"] if n % 5 else [])
    for n, (day, project, agent, user_id) in enumerate(
        (day, project, agent, user_id)
        for day in ("10", "11", "12")
        for project in ("atlas", "borealis", "")
        for agent, user_id in (("coder", "ada"), ("helper", "ada"), ("coder", "bob"), ("", None), ("helper", 4077))
    )
]


def published(params: EvidenceParams, changes=CHANGES):
    landed = landed_rows(as_jsonl([*changes, *INTERACTIONS]))
    assert landed.quarantine.is_empty()
    states = memory_states(winning_versions(Memories, landed.memories.lazy(), AS_OF)).collect().lazy()
    if knows_expiry(params):
        states = states_over_time(states, AS_OF).collect().lazy()
    pool = memory_pool(states, params).collect()
    won = winning_versions(Interactions, landed.interactions.lazy(), AS_OF).rename({"created_at": "occurred_at"})
    stretches, references, days = [], [], []
    for (day,), of_day in won.sort("interaction_id").collect().group_by(pl.col("occurred_at").dt.date()):
        references.append(memory_references(of_day, pool, NONE_USED, params))
        stretches.append(memory_eligibility(of_day.lazy(), pool.lazy()).collect())
        counted = memory_days(stretches[-1].lazy(), references[-1].lazy(), params)
        days.append(counted.with_columns(day=pl.lit(day)))
    eligible = pl.concat(days).group_by("memory_id").agg(pl.col("eligible_count").sum())
    health = memory_health(states, pl.concat(days), eligible, NO_OUTCOMES, NO_USE, NONE_HELD, PARAMS)
    return {
        "memory_eligibility": pl.concat(stretches).sort("memory_id", "first_at"),
        "memory_health": health.collect(),
        "memory_references": pl.concat(references).sort("memory_id", "interaction_id"),
    }


@pytest.fixture(scope="module")
def tables():
    return {
        "eligible-2": published(EvidenceParams(eligible_method="eligible/2")),
        "eligible-3": published(EvidenceParams(eligible_method="eligible/3"), [*CHANGES, *EXPIRING]),
    }


@pytest.mark.parametrize("name", golden_names("eligible-2", "eligible-3"))
def test_what_was_published_is_published(name, tables):
    folder, _, table = name.partition("/")
    assert_golden(tables[folder][table].select(COLUMNS[table]), name)


def test_before_eligible_3_nothing_expires():
    before = EvidenceParams(eligible_method="eligible/2")
    unsaid = [
        {k: v for k, v in row.items() if k not in {"expires_at", "valid_until", "ttl_seconds"}} for row in EXPIRING
    ]
    for name in ("memory_eligibility", "memory_references"):
        assert_frame_equal(published(before, EXPIRING)[name], published(before, unsaid)[name])
        assert_frame_equal(published(PARAMS.evidence)[name], published(before)[name])


def test_the_released_method_knows_neither_scope_nor_user():
    before = EvidenceParams(eligible_method="eligible/1")
    unsaid = [{k: v for k, v in row.items() if k not in {"scope", "user_id"}} for row in CHANGES]
    names = ["memory_eligibility", "memory_references"]
    found, same, later = published(before), published(before, unsaid), published(PARAMS.evidence, unsaid)
    for name in names:
        assert_frame_equal(found[name], same[name])
        assert_frame_equal(found[name], later[name])
