"""Words that more than one table, page or command uses: each list once, in the order in which it is shown."""

from __future__ import annotations

from typing import Literal, get_args

LandedTable = Literal["interactions", "outcomes", "memories"]
FileFormat = Literal["jsonl", "json", "csv", "parquet", "unknown"]
RunKind = Literal["land", "nightly", "backfill", "as_of"]
RunStatus = Literal["started", "landed", "published", "published_incomplete", "skipped", "failed", "built"]
Stage = Literal[
    "land",
    "versions",
    "eligibility",
    "echo",
    "used",
    "statements and pairs",
    "fits",
    "anti-patterns",
    "lift",
    "need",
    "history",
    "publish",
    "audits",
    "report",
]  # of a night, as the benchmark has them
TargetKind = Literal["project", "memory", "item", "row"]
Scope = Literal["agent", "project", "global"]
Status = Literal["candidate", "active", "superseded", "invalid", "archived", "graduated"]
# What a memory is at a time: its status, or expired where it would be active or a candidate after `expires_at`.
MemoryState = Literal["candidate", "active", "superseded", "invalid", "archived", "graduated", "expired"]
FoundIn = Literal["response", "summary", "both"]
Basis = Literal["reported", "evaluated", "inferred"]  # how an outcome came to be known
AntiPatternKind = Literal["avoid", "hard_task"]
Freshness = Literal["fresh", "ageing", "stale"]
ForgettingRule = Literal[
    "superseded", "invalid", "low_confidence", "faded", "untouched", "agent_quota", "project_quota"
]
ReviewKind = Literal[
    "harmful", "ignored", "contradiction", "outdated", "expiring", "candidate", "merge", "doubtful", "fading", "unused"
]
LiftBasis = Literal["randomised", "cutoff", "same_task", "matched"]  # the strongest evidence first
StrengthState = Literal["strong", "normal", "weak", "forgettable"]
Trend = Literal["new", "strengthening", "stable", "weakening", "stale", "unproven"]
Verdict = Literal["keep", "review", "forget", "harmful", "unproven", "inactive"]
# Whether a memory is used; not_used only where a use should have been found, were it used often.
UseState = Literal["used", "not_used", "undetectable", "unproven"]
Question = Literal["given", "used", "works", "help"]  # what people come with, see `answerable_questions`
UseVerdict = Literal["keep", "review", "forget", "unproven", "inactive"]  # of use alone, which shows no harm

LANDED_TABLES: tuple[LandedTable, ...] = get_args(LandedTable)
ANTI_PATTERN_KINDS: tuple[AntiPatternKind, ...] = get_args(AntiPatternKind)
FRESHNESS: tuple[Freshness, ...] = get_args(Freshness)
FORGETTING_RULES: tuple[ForgettingRule, ...] = get_args(ForgettingRule)
REVIEW_KINDS: tuple[ReviewKind, ...] = get_args(ReviewKind)
LIFT_BASES: tuple[LiftBasis, ...] = get_args(LiftBasis)
CAUSAL_BASES: tuple[LiftBasis, ...] = ("randomised", "cutoff")
STRENGTH_STATES: tuple[StrengthState, ...] = get_args(StrengthState)
FADING_STATES: tuple[StrengthState, ...] = ("weak", "forgettable")
TRENDS: tuple[Trend, ...] = get_args(Trend)
HOLDING_TRENDS: tuple[Trend, ...] = ("new", "strengthening", "stable")
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
QUESTIONS: tuple[Question, ...] = get_args(Question)
SETTLED_STATUSES: tuple[MemoryState, ...] = ("superseded", "invalid", "archived", "graduated", "expired")


# What several tables have alike: their columns, and what is said of them.

RUN_ID = "The run. Here the one that published the row."
AS_OF = "The publish shows what was known before this instant."
# What stands where a text was that expired by its age, wherever people look.
EXPIRED_TEXT = "(text expired by retention)"
# Which strategy: of whom, and on which kind of task.
STRATEGY_KEY = ("project", "agent", "task_type", "strategy_id")
# How many rows of a file or a run were delivered, and what became of each: together the others are the first.
ROW_FATES = ("delivered", "accepted", "duplicate", "quarantined")
# From how many attempts on a record of one kind decides on which side of one half its estimate is.
UNANIMOUS_ATTEMPTS = 4
# The column of each landed table that says when: its UTC day is the partition.
EVENT_TIME = {"interactions": "created_at", "outcomes": "created_at", "memories": "changed_at"}
