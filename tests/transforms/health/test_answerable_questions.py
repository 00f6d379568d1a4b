"""What answers rest on is counted in everything, and in its project, as a loop over the rows would."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Any

import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st
from thorough import examples

from slowwave.transforms.core.frames import Frame, empty, framed
from slowwave.transforms.core.schema import Table, computed_schema, polars_schema
from slowwave.transforms.core.vocabularies import QUESTIONS
from slowwave.transforms.evidence.tables import MemoryReferences, ProjectDays
from slowwave.transforms.health.answerable.answer_counts import Lifts, LogCounts
from slowwave.transforms.health.answerable.answerable_questions import answerable_questions
from slowwave.transforms.health.answerable.log_counts import ended_with_memories, log_counts
from slowwave.transforms.health.answerable.question_answers import answers
from slowwave.transforms.health.answerable.tables import AnswerableQuestions, InteractionsWithMemories
from slowwave.transforms.health.answerable.use_by_day import interactions_with_memories
from slowwave.transforms.health.nodes import HEALTH_ANSWERING
from slowwave.transforms.health.tables import MemoryHealth
from slowwave.transforms.learning.tables import CountedOutcomes
from slowwave.transforms.params import Params

Row = dict[str, Any]
PARAMS = Params()
MEMORIES = ("m1", "m2", "m3")
DAYS = (date(2026, 3, 1), date(2026, 3, 2))
OF_OUTCOMES = ("project", "basis", "is_attempt", "is_counted", "is_learned", "strategy_id")
projects = st.sampled_from(["", "shop", "mill"])
interactions = st.fixed_dictionaries(
    {
        "project": projects,
        "day": st.integers(1, 2),
        "probability": st.sampled_from([None, 0.0, 0.5, 1.0]),
        "is_offered": st.booleans(),
        "ended": st.booleans(),
        "had": st.dictionaries(
            st.sampled_from(MEMORIES), st.sampled_from(["injected", "echoed", "used", "cited", "both"])
        ),
    }
)
outcomes = st.fixed_dictionaries(
    {
        "project": projects,
        "basis": st.sampled_from(["reported", "evaluated", "inferred"]),
        "is_attempt": st.booleans(),
        "is_counted": st.booleans(),
        "is_learned": st.booleans(),
        "strategy_id": st.sampled_from(["s1", "s2"]),
    }
).map(lambda row: {**row, "is_attempt": row["is_attempt"] or row["is_counted"]})
memories = st.fixed_dictionaries(
    {
        "project": st.none() | projects,
        "scope": st.sampled_from([None, "global", "agent"]),
        "content": st.sampled_from([None, " ", "Prices are integers."]),
        "eligible_count": st.integers(0, 1),
        "lift": st.sampled_from(
            [(None, None, None), ("randomised", 0.1, 0.3), ("cutoff", -0.3, -0.1), ("matched", -0.1, 0.1)]
        ),
    }
)
logs = st.fixed_dictionaries(
    {
        "interactions": st.lists(interactions, max_size=6),
        "outcomes": st.lists(outcomes, max_size=6),
        "memories": st.lists(memories, min_size=3, max_size=3) | st.just([]),
    }
)


def frame(table: type[Table], rows: list[Row], names: tuple[str, ...]) -> Frame[Any]:
    declared = polars_schema(table)
    return framed(table, pl.DataFrame(rows, schema={name: declared[name] for name in names}), partial=True)


def frames(log: dict[str, list[Row]]) -> tuple[Any, Any, Any, Any, Any, Any]:
    """What a publish would have of this log, as `answerable_questions` takes it."""
    named = [
        {**row, "interaction_id": f"i{number}", "interaction": number} for number, row in enumerate(log["interactions"])
    ]
    referenced = [
        {"memory_id": memory, "interaction_id": row["interaction_id"], "interaction": row["interaction"],
         "project": row["project"], "day": row["day"],
         "is_injected": how in ("injected", "both"), "is_echoed": how in ("echoed", "both"), "is_used": how == "used",
         "is_cited": how == "cited"}
        for row in named
        for memory, how in row["had"].items()
    ]  # fmt: skip
    days = [{"project": row["project"], "interactions_count": 1} for row in named]
    ended = pl.DataFrame(
        [
            {"interaction": row["interaction"], "project": row["project"],
             "memories_offered": [{"id": "m1"}] if row["is_offered"] else [],
             "injection_probability": row["probability"]}
            for row in named
            if row["ended"]
        ],
        schema={"interaction": pl.Int64, "project": pl.String,
                "memories_offered": pl.List(pl.Struct({"id": pl.String})), "injection_probability": pl.Float64},
    )  # fmt: skip
    references = pl.DataFrame(
        [
            {
                **{name: row[name] for name in ("memory_id", "interaction", "is_injected")},
                "is_referenced": row["is_echoed"] or row["is_used"],
            }
            for row in referenced
        ],
        schema={
            "memory_id": pl.String,
            "interaction": pl.Int64,
            "is_injected": pl.Boolean,
            "is_referenced": pl.Boolean,
        },
    ).join(ended, on="interaction", how="semi")
    health = [
        {"memory_id": memory, **{name: row[name] for name in row if name != "lift"},
         **dict(zip(("lift_basis", "lift_low", "lift_high"), row["lift"], strict=True))}
        for memory, row in zip(MEMORIES, log["memories"], strict=False)
    ]  # fmt: skip
    return (
        frame(ProjectDays, days, ("project", "interactions_count")).lazy(),
        had_on(referenced, DAYS, had_on(referenced, DAYS[:1])),
        frame(CountedOutcomes, log["outcomes"], OF_OUTCOMES),
        *ended_with_memories(references, ended),
        frame(MemoryHealth, health, HEALTH_ANSWERING.columns),
    )


def had_on(
    referenced: list[Row], days: tuple[date, ...], before: Frame[InteractionsWithMemories] | None = None, name: str = ""
) -> Frame[InteractionsWithMemories]:
    """How many interactions of these days had a memory; what the days are named after is the same but for `name`."""
    marks = ("is_injected", "is_echoed", "in_prompt", "is_used", "is_cited")
    names = ("memory_id", "interaction_id", "project", "agent", *marks)
    unsaid = {"agent": "", "in_prompt": None}
    rows = [{**{name: (unsaid | row)[name] for name in names}, "day": DAYS[row["day"] - 1]} for row in referenced]
    schema = {**{name: polars_schema(MemoryReferences)[name] for name in names}, "day": pl.Date}
    told = framed(MemoryReferences, pl.LazyFrame(rows, schema=schema), partial=True)
    kept = empty(InteractionsWithMemories) if before is None else before
    return interactions_with_memories(kept, told, {day: f"{day}{name}" for day in days})


def counted(log: dict[str, list[Row]], project: str | None) -> LogCounts:
    """What answers rest on, of one project or of everything, one row after the other."""
    mine = [row for row in log["interactions"] if project in (None, row["project"])]
    tried = [row for row in log["outcomes"] if project in (None, row["project"])]
    given = [row for row in mine if {"injected", "both"} & {*row["had"].values()}]
    ended = [row for row in mine if row["ended"]]
    landed = [row for row in log["memories"] if row["project"] is not None]
    texts = [
        row
        for row in landed
        if (row["content"] or "").strip() and (project in (None, row["project"]) or row["project"] == "" or
                                               row["scope"] == "global")
    ]  # fmt: skip
    had = {memory for row in ended for memory, how in row["had"].items() if how != "cited"}
    lifts = [
        row["lift"]
        for memory, row in zip(MEMORIES, log["memories"], strict=False)
        if row["lift"][0] and (project is None or memory in had)
    ]
    fair = [lift for lift in lifts if lift[0] in ("randomised", "cutoff")]
    return LogCounts(
        interactions=len(mine),
        given=len(given),
        relied=sum(bool({"echoed", "used", "both"} & {*row["had"].values()}) for row in mine),
        cited=sum("cited" in row["had"].values() for row in mine),
        texts=len(texts),
        eligible=sum(row["eligible_count"] > 0 for row in texts),
        outcomes=len(tried),
        attempts=sum(row["is_counted"] for row in tried),
        inferred=sum(row["is_counted"] and row["basis"] == "inferred" for row in tried),
        apart=sum(row["is_attempt"] and not row["is_counted"] for row in tried),
        tried=sum(row["is_learned"] for row in tried),
        strategies=len({row["strategy_id"] for row in tried if row["is_learned"]}),
        ended=len(ended),
        ended_given=sum(row in given for row in ended),
        drawn=sum(row["is_offered"] and row["probability"] == 0.5 for row in ended),
        fair=_lifts(fair),
        associated=_lifts([lift for lift in lifts if lift not in fair]),
    )


def _lifts(found: list[tuple[str, float, float]]) -> Lifts:
    return Lifts(
        count=len(found), above=sum(low > 0 for _, low, _ in found), below=sum(high < 0 for _, _, high in found)
    )


def plain(counts: LogCounts) -> dict[str, int]:
    """Counts under the names of their columns."""
    named = asdict(counts)
    assert named.pop("is_replayed")
    lifts = {f"{kind}_{name}": count for kind in ("fair", "associated") for name, count in named.pop(kind).items()}
    return named | lifts


def told(log: dict[str, list[Row]], project: str | None) -> list[Row]:
    """The rows of a project, or of everything, as the answers to what a loop counts."""
    of = {"extent": "all" if project is None else "project", "project": project or ""}
    return [
        {**of, "question": one.question, "asked": one.asked, "is_answered": one.is_answered,
         "rests_on_count": one.rests_on, "answer": one.answer, "lacks": one.lacks}
        for one in answers(counted(log, project), PARAMS.memory_outcomes.interval_mass)
    ]  # fmt: skip


SHARED = {"project": "", "scope": None, "content": "Prices are integers.", "eligible_count": 1, "lift": (None,) * 3}
ALONE = {"project": "shop", "day": 1, "probability": None, "is_offered": False, "ended": False, "had": {}}


@settings(max_examples=examples(60, 600))
@given(logs)
@example({"interactions": [], "outcomes": [], "memories": []})
@example({"interactions": [ALONE], "outcomes": [], "memories": [SHARED] * 3})
@example({"interactions": [ALONE], "outcomes": [], "memories": [SHARED | {"project": "mill", "scope": "global"}] * 3})
def test_everything_and_each_project_are_answered_as_counted(log: dict[str, list[Row]]) -> None:
    named = {row["project"] for rows in log.values() for row in rows} - {None}
    expected = [row for project in [None, *sorted(named)] for row in told(log, project)]
    counts = {(row.pop("extent"), row.pop("project")): row for row in log_counts(*frames(log)).to_dicts()}
    assert counts == {
        ("all" if project is None else "project", project or ""): plain(counted(log, project))
        for project in [None, *sorted(named)]
    }
    found = answerable_questions(*frames(log), PARAMS)
    assert dict(found.schema) == dict(computed_schema(AnswerableQuestions))
    assert found.to_dicts() == sorted(expected, key=lambda row: (row["extent"], row["project"], row["question"]))


def test_with_nothing_landed_the_four_questions_are_still_asked() -> None:
    found = answerable_questions(*frames({"interactions": [], "outcomes": [], "memories": []}), PARAMS)
    assert found["question"].to_list() == sorted(QUESTIONS)
    assert not found["is_answered"].any()
    assert found["rests_on_count"].to_list() == [0] * len(QUESTIONS)


def test_only_days_that_are_new_or_changed_are_counted() -> None:
    one = {"memory_id": "m1", "interaction_id": "i1", "project": "shop", "day": 1}
    one |= {"is_injected": True, "is_echoed": False, "is_used": True, "is_cited": False}
    both = [one, {**one, "interaction_id": "i2", "day": 2}]
    whole = had_on(both, DAYS)
    assert whole.select("part", "given", "relied", "cited").rows() == [("2026-03-01", 1, 1, 0), ("2026-03-02", 1, 1, 0)]
    assert had_on(both, DAYS, had_on(both, DAYS[:1])).equals(whole)
    marked = framed(InteractionsWithMemories, whole.with_columns(given=pl.lit(7, pl.Int64)))
    assert had_on(both, DAYS, marked).equals(marked)
    assert had_on(both, DAYS[1:], marked)["given"].to_list() == [7]
    assert had_on(both, DAYS, marked, ", as it is now")["given"].to_list() == [1, 1]
    older = framed(InteractionsWithMemories, marked.with_columns(made_of=pl.lit("what else was counted")))
    assert had_on(both, DAYS, older).equals(whole)
