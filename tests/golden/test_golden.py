# ruff: noqa: RUF001 - letters that look like others are what is tested
"""A small log written by hand, and what `echo/1` publishes of it.

The files in tests/golden/echo-1 are released: a published number is reproducible for ever, so neither they nor their
digests change (see golden_tables).
"""

import polars as pl
import pytest
from delivered import as_jsonl, utc
from golden_tables import assert_golden, golden_names
from replayed import NO_OUTCOMES, NO_USE, NONE_HELD, NONE_USED

from slowwave.transforms.evidence.eligibility import memory_eligibility
from slowwave.transforms.evidence.memory_days import memory_days
from slowwave.transforms.evidence.params import EvidenceParams
from slowwave.transforms.evidence.references import memory_references
from slowwave.transforms.evidence.states import memory_pool, memory_states
from slowwave.transforms.health.history import memory_health_history
from slowwave.transforms.health.memory_health import memory_health
from slowwave.transforms.landing.landed_rows import landed_rows
from slowwave.transforms.landing.tables import Interactions, Memories
from slowwave.transforms.landing.versions import winning_versions
from slowwave.transforms.params import Params

# The columns of this version: later ones publish more beside them.
COUNTS = ["eligible_count", "injected_count", "echoed_count", "reference_count"]
COLUMNS = {
    "memory_health": [
        "memory_id", "project", "agent", "memory_type", "status", "content", "created_at", *COUNTS,
        "first_referenced_at", "last_referenced_at", "reinforced_confidence",
    ],
    "memory_health_history": ["memory_id", "day", "status", *COUNTS, "reinforced_confidence"],
    "memory_references": [
        "memory_id", "interaction_id", "occurred_at", "project", "agent", "session_id", "is_injected", "is_echoed",
        "echoed_in", "in_prompt", "methods",
    ],
}  # fmt: skip
PARAMS = Params()
BEFORE = PARAMS.model_copy(update={"evidence": EvidenceParams(eligible_method="eligible/1")})
AS_OF = utc(2026, 3, 13)

PORT, DEPLOY, NAME = (
    "The staging port is 8443, not 8080",
    "Deploy only after the smoke tests are green",
    "Prefers to be called Ada",
)
LONG = "Rotate the signing keys on the first Monday of every quarter, announce it two days ahead, and keep the old ones"
WIKI, CACHE = "The old wiki lives at wiki.internal", "Nobody knows when the cache expires"
TURKISH = "İzmir office opens at 09:00; ΟΔΟΣ ΕΡΜΟΥ is the postal address"


def change(memory_id, day_and_hour, **fields):
    day, hour = day_and_hour.split()
    return {"memory_id": memory_id, "changed_at": f"2026-03-{day}T{hour}:00Z", **fields}


CHANGES = [
    change("port", "09 12:00", project="atlas", content=PORT, status="active", confidence=0.6, memory_type="knowledge"),
    change("port", "11 12:00", content="The staging port is 9443 since the move", reason="moved", changed_by="ada"),
    change("deploy", "10 09:00", project="atlas", content=DEPLOY, status="active", confidence=0.97),
    change("name", "09 00:00", memory_type="identity", content=NAME, status="active", confidence=0.9, pinned=True),
    change("long", "10 00:00", project="borealis", content=LONG, status="active"),
    change("twin", "10 00:00", project="borealis", content=f" {LONG.upper()}\n…twice", status="active", confidence=0.5),
    change("turkish", "10 00:00", project="atlas", content=TURKISH, status="active", confidence=0.5),
    change("short", "10 00:00", project="atlas", content="use  tabs", status="active", confidence=0.5),
    change("old", "09 00:00", project="atlas", content=WIKI, status="active", confidence=0.4),
    change("old", "10 12:00", status="archived"),
    change("old", "11 12:00", status="archived", confidence=0.4),  # says again what holds: no change
    change("port", "11 12:00", content="The staging port is 9999", recorded_at="2026-03-11"),  # the earlier version
    change("unsure", "11 06:00", project="", content=CACHE, status="active", confidence=0.3),
    change("unsure", "12 06:00", confidence="", status="candidate"),
    change("future", "13 00:00", project="atlas", content="Not visible before its time", status="active"),
]  # fmt: skip


def asked(number, day_and_hour, project, response=None, **fields):
    day, hour = day_and_hour.split()
    row = {"interaction_id": f"i{number:02}", "created_at": f"2026-03-{day}T{hour}:00Z", "project": project}
    return {**row, "agent": "coder", "prompt": "How?", "response": response, **fields}


INTERACTIONS = [
    asked(1, "10 08:00", "atlas", f"Mind that {PORT}.", memories_used=["port", "name"]),
    asked(2, "10 08:30", "atlas", f"{DEPLOY}!"),  # before the memory was there
    asked(3, "10 09:00", "atlas", f"{DEPLOY}!", session_id="s1"),  # at the very instant
    asked(4, "10 09:30", "atlas", "Nothing of note", memories_used=["deploy", "deploy", "never landed"]),
    asked(5, "10 10:00", "atlas", f"As you say, {PORT.upper()}", prompt=f"Is it true that {PORT}?"),
    asked(6, "10 10:30", "atlas", "See the wiki", response_summary="the OLD wiki\r\nlives at wiki.internal"),
    asked(7, "10 12:00", "atlas", "The old wiki lives at wiki.internal"),  # archived at this instant
    asked(8, "10 13:00", "borealis", f"Policy: {LONG}"),
    asked(9, "10 14:00", "borealis", LONG[:80], response_summary=LONG),
    asked(10, "10 15:00", "borealis", LONG[:79]),  # one code point short
    asked(11, "10 16:00", "borealis", f"{PORT}"),  # a memory of another project
    asked(12, "10 17:00", "", f"{NAME}, she does"),
    asked(13, "10 23:59", "", "Hello", memories_used=[]),
    asked(14, "11 00:00", "atlas", f"{TURKISH.lower()}", success=True),
    asked(15, "11 00:30", "atlas", "izmir office opens at 09:00; οδος ερμου is the postal address"),  # no dot above
    asked(16, "11 01:00", "atlas", "Use  tabs, use tabs"),
    asked(17, "11 02:00", "atlas", f"{PORT} and {DEPLOY} and {NAME}", memories_used=["port", "deploy", "name"]),
    asked(18, "11 03:00", "atlas", f"{PORT} and {DEPLOY}", memories_used=["port"], reinforce=False),
    asked(19, "11 04:00", "atlas", PORT[:20], response_summary=PORT[20:]),  # not across the two
    asked(20, "11 11:59", "atlas", PORT),
    asked(21, "11 12:00", "atlas", PORT),  # edited at this instant
    asked(22, "11 12:00", "atlas", "the staging port is 9443 since the move\u2003"),
    asked(23, "11 13:00", "", "Nobody knows when the cache expires"),
    asked(24, "11 13:30", "atlas", "Nobody knows when the cache expires"),  # '' is no global knowledge
    asked(25, "12 05:00", "", "NOBODY\u00a0KNOWS\twhen the cache expires", memories_used=["unsure"]),
    asked(26, "12 07:00", "", "Nobody knows when the cache expires", memories_used=["unsure"]),
    asked(27, "12 08:00", '"; DROP TABLE', f"zero\u200bwidth {NAME.replace(' ', chr(0x200B))}"),
    asked(28, "12 09:00", '"; DROP TABLE', f"  {NAME}  ", prompt=f"{NAME}"),
    asked(29, "12 10:00", "atlas", "superseded by the row below", memories_used=["port"]),
    asked(29, "12 10:00", "atlas", f"{DEPLOY}", recorded_at="2026-03-12T11:00:00Z"),
    asked(29, "12 10:00", "atlas", "not known yet", recorded_at="2026-03-13T11:00:00Z", memories_used=["name"]),
    asked(30, "12 23:59", "atlas", f"{DEPLOY} once more"),
    asked(31, "13 00:00", "atlas", f"{DEPLOY} tomorrow", memories_used=["future"]),
]


@pytest.fixture(scope="module", params=[BEFORE, PARAMS], ids=["eligible/1", "eligible/2"])
def published(request):
    params = request.param
    landed = landed_rows(as_jsonl([*CHANGES, *INTERACTIONS]))
    assert landed.quarantine.is_empty()
    states = memory_states(winning_versions(Memories, landed.memories.lazy(), AS_OF)).collect().lazy()
    pool = memory_pool(states, params.evidence).collect()
    won = (
        winning_versions(Interactions, landed.interactions.lazy(), AS_OF)
        .rename({"created_at": "occurred_at"})
        .collect()
    )
    references, days = [], []
    for (day,), of_day in won.sort("interaction_id").group_by(pl.col("occurred_at").dt.date(), maintain_order=True):
        references.append(memory_references(of_day, pool, NONE_USED, params.evidence))
        eligibility = memory_eligibility(of_day.lazy(), pool.lazy())
        days.append(memory_days(eligibility, references[-1].lazy(), params.evidence).with_columns(day=pl.lit(day)))
    eligible = pl.concat(days).group_by("memory_id").agg(pl.col("eligible_count").sum())
    return {
        "memory_health": memory_health(
            states, pl.concat(days), eligible, NO_OUTCOMES, NO_USE, NONE_HELD, params
        ).collect(),
        "memory_health_history": memory_health_history(states, pl.concat(days), params)
        .sort("memory_id", "day")
        .collect(),
        "memory_references": pl.concat(references).sort("memory_id", "interaction_id"),
    }


@pytest.mark.parametrize("name", golden_names("echo-1"))
def test_what_was_published_is_published(name, published):
    table = name.partition("/")[2]
    assert_golden(published[table].select(COLUMNS[table]), name)
