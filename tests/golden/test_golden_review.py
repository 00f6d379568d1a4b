"""What `extract/1` finds in a few answers, and what `review_queue/6` makes of it: released, and pinned for ever."""

# ruff: noqa: DTZ001 - times are naive and hold UTC everywhere

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import polars as pl
from golden_tables import assert_golden

from slowwave.transforms.core.frames import framed
from slowwave.transforms.core.schema import polars_schema
from slowwave.transforms.decisions.review.items import statement_ids
from slowwave.transforms.decisions.review.queue import ReviewEvidence, review_queue
from slowwave.transforms.evidence.statements.extract import extracted_statements
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.observations.tables import Contradictions, CurationDecisions, MergeProposals
from slowwave.transforms.params import Params

PARAMS = Params()
START = datetime(2026, 3, 1)
ANSWERS = [
    "## Decision: keep **prices** as integers of the smallest coin.\n\nDone.",
    "Decisions:\n1. keep prices as integers of the smallest coin\n2. Round once, at the end\n",
    "Constraint: no network at build time\r\nFact: The limit is 50 a minute (see `limits.md`)",
    "- [x] Requirement 3 \u2013 exports are streamed\n> Requirement: not this\n```\nFact: nor this one\n```",
    "The user prefers dark mode. If you prefer light, say so. Prefer tabs over spaces!",
    'We decided to drop the old API because\nnobody calls it. The page says "we decided to keep it".',
    "Exports must be streamed. You must run this. It must be so nice there.",
    "Exports must be streamed.",
    "Nothing of note.",
    "No. Constraint: The export job must not run. Fine. **Key decision**: amounts are integers",
]


def answers() -> pl.DataFrame:
    rows = [
        {
            "interaction_id": f"i{number}",
            "occurred_at": START + timedelta(hours=number),
            "project": "shop",
            "agent": "coder",
            "session_id": f"s{number // 2}",
            "prompt": "Exports must be streamed." if number == 7 else "?",
            "response": answer,
            "response_summary": None,
            "reinforce": True,
        }
        for number, answer in enumerate(ANSWERS)
    ]
    return pl.DataFrame(rows, schema_overrides={"response_summary": pl.String, "occurred_at": pl.Datetime("us")})


def test_what_was_extracted_is_extracted() -> None:
    found = extracted_statements(answers(), PARAMS.evidence.extract)
    assert_golden(found, "extract-1/extracted_statements")


def test_what_waited_waits() -> None:
    said = extracted_statements(answers(), PARAMS.evidence.extract)
    schema = {name: dtype for name, dtype in polars_schema(MemoryHealth).items() if name not in {"run_id", "as_of"}}
    known = {
        "project": "shop",
        "memory_type": "project",
        "created_at": START,
        "verdict": "review",
        "reference_count": 9,
        "reasons": ["Unused."],
        "followed_count": 0,
        "not_followed_count": 0,
    }
    memories = [
        {
            **known,
            "memory_id": "unused",
            "status": "active",
            "content": "Nobody reads this",
            "reference_count": 0,
            "contradicted_count": 0,
        },
        {**known, "memory_id": "fails", "status": "active", "content": "Fails often", "contradicted_count": 9},
        {**known, "memory_id": "fades", "status": "active", "content": "Fades away", "trend": "stale"},
        {**known, "memory_id": "then", "status": "active", "content": "Prices have no tax", "verdict": "keep"},
        {**known, "memory_id": "now", "status": "active", "content": "Prices have a tax", "verdict": "keep"},
        {**known, "memory_id": "same", "status": "invalid", "content": "round once,  at the END."},
        {**known, "memory_id": "waits", "status": "candidate", "content": "The limit is 50 a minute (see limits.md)"},
    ]
    replaced = {
        "memory_id": "now", "changed_at": START, "project": "shop", "content": "Prices have a tax", "action": "update",
        "target_memory_id": "then", "target_content": "Prices have no tax", "reason": "newer", "method": "curate/1",
    }  # fmt: skip
    told = {name: dtype for name, dtype in polars_schema(CurationDecisions).items() if name not in {"run_id", "as_of"}}
    curation = framed(CurationDecisions, pl.DataFrame([replaced], schema=told))
    seen = said.lazy().select("interaction_id", "occurred_at", "session_id").unique()
    evidence = ReviewEvidence(
        statements=said.lazy(),
        interactions=seen,
        references=seen.filter(pl.col("interaction_id") == "i0").with_columns(memory_id=pl.lit("unused")),
        sources=pl.DataFrame({"memory_id": ["waits"], "source_ids": [["i2", "elsewhere"]]}),
        ended=pl.DataFrame({"interaction_id": ["i0", "i6"], "success": [True, False]}),
        health=framed(MemoryHealth, pl.DataFrame(memories, schema=schema), partial=True),
        contradictions=pl.DataFrame(schema=polars_schema(Contradictions)),
        merge_proposals=pl.DataFrame(schema=polars_schema(MergeProposals)),
        disputes_method="observe/1",
        curation=curation,
        decided=pl.DataFrame(schema={"item_id": pl.String, "fingerprint": pl.String}),
    )
    said_wrong = statement_ids(pl.Series("text", ["The limit is 50 a minute (see limits.md)"]))
    rejected = pl.DataFrame({"project": ["shop"], "statement_id": said_wrong})
    ends = {**known, "status": "active", "verdict": "keep", "expires_at": START + timedelta(days=39)}
    expiring = [
        {**ends, "memory_id": "expires", "content": "The freeze lasts a month", "reference_count": 5},
        {**ends, "memory_id": "expires unread", "content": "The fair is in May", "reference_count": 4},
        {**ends, "memory_id": "later", "content": "The lease ends", "expires_at": START + timedelta(days=40)},
        {**ends, "memory_id": "over", "status": "expired", "content": "The sale is on", "expires_at": START},
    ]
    looked_at = {**known, "status": "active", "contradicted_count": 3}
    costly = [
        {**looked_at, "memory_id": "harms", "content": "Restart it twice", "verdict": "harmful"},
        {**looked_at, "memory_id": "harms too", "content": "Skip the tests", "verdict": "harmful"},
        {**looked_at, "memory_id": "unread", "content": "Name branches", "memory_type": "rule", "reference_count": 0},
        {**looked_at, "memory_id": "ignored", "content": "Use tabs.", "verdict": "keep", "followed_count": 1,
         "not_followed_count": 10, "followed_low": 0.03, "followed_high": 0.34},
        {**looked_at, "memory_id": "followed", "content": "No emojis.", "reference_count": 0, "followed_count": 1,
         "not_followed_count": 1, "followed_low": 0.1354, "followed_high": 0.8646},
        {**looked_at, "memory_id": "doubted", "content": "Sign tags", "memory_type": "rule"},
    ]  # fmt: skip
    all_memories = pl.DataFrame([*memories, *expiring, *costly], schema=schema)
    known_wrong = replace(evidence, rejected=rejected, health=framed(MemoryHealth, all_memories, partial=True))
    queue = review_queue(known_wrong, START + timedelta(days=9), PARAMS)[0].sort("rank")
    assert queue["user_id"].null_count() == len(queue)  # came later: nobody is named here
    assert_golden(queue.drop("user_id"), "review_queue-6/review_queue")
