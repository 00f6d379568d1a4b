"""The first half of the report: what changed, and what to act on."""

from __future__ import annotations

import polars as pl

from slowwave.dashboards.commands import command_line
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report.parts import Item, Items, Section, distinguished
from slowwave.dashboards.words import first_of, sum_of

WORSE_DAYS = 7
_FIRST = 8
_FEW = 5
# Enough to find what is shown, and no more than a moment's work.
_MANY = 20_000


def changed(answers: Answers) -> Section:
    """What changed since the publish before."""
    rows = answers.rows("what_changed", 100)
    runs = answers.counts("recent_runs", "kind", "status", limit=ALL)
    publishes = sum_of(
        runs.filter((pl.col("kind") == "nightly") & pl.col("status").is_in(["published", "published_incomplete"]))
    )
    section = Section("changed", "What changed", story.changes(rows, is_first=publishes <= 1))
    happened = rows.filter(pl.col("count") > 0)
    if happened.height:
        labels = {"count": "how many", "example": "latest of them"}
        columns = ["topic", "what", "count", "example"]
        caption = "Changes by kind, with the latest of each"
        section.tables.append(answers.table(happened.head(20), "what_changed", caption, columns, labels))
        section.next(command_line("diff", "previous", "current"))
    return section


def worse(answers: Answers) -> Section:
    """What got worse in the last days."""
    days = str(WORSE_DAYS)
    counts = answers.counts("got_worse", "kind", "what", "project", days=days)
    section = Section("worse", "What got worse this week", story.worse(counts, WORSE_DAYS))
    rows = answers.rows("got_worse", _MANY, days=days)
    others, ask = rows.filter(~story.is_faded()).head(_FIRST), answers.command("got_worse", days=days)
    if others.height:
        items = [
            Item(
                story.place(
                    row["kind"],
                    row["project"],
                    row["agent"],
                    row["task_type"],
                    row["what"],
                    f"{row['day']}",
                ),
                story.excerpt(row["text"]),
                story.excerpt(row["detail"]),
                command_line("why", row["id"]),
            )
            for row in others.iter_rows(named=True)
        ]
        all_others = counts.filter(~story.is_faded())
        caption = _first_of(others, all_others, "thing that got worse", "things that got worse")
        section.lists.append(Items(caption, distinguished(items, others["id"].to_list()), ask))
    groups = counts.filter(story.is_faded())
    if groups.height:
        section.lists.append(Items(_faded_caption(groups), _faded(groups, rows), ask))
    return section


def _faded(groups: pl.DataFrame, rows: pl.DataFrame) -> list[Item]:
    """Of each project how many memories faded how far, and the first of them."""
    firsts = rows.filter(story.is_faded()).unique(["project", "what"], keep="first", maintain_order=True)
    shown = groups.head(_FEW).join(
        firsts.select("project", "what", "text", "detail", "id"),
        on=["project", "what"],
        nulls_equal=True,
        maintain_order="left",
    )
    return [
        Item(
            story.faded(row["rows"], row["project"], row["what"]),
            story.excerpt(row["text"]),
            f"{'The first of them: ' if row['rows'] > 1 else ''}{story.excerpt(row['detail'])}",
            command_line("why", row["id"]),
        )
        for row in shown.iter_rows(named=True)
    ]


def _faded_caption(groups: pl.DataFrame) -> str:
    some = f", the first {_FEW} of {groups.height:,}" if groups.height > _FEW else ""
    return f"What faded, by project{some}"


def _first_of(rows: pl.DataFrame, counts: pl.DataFrame, one: str, many: str) -> str:
    """What a table shows, and how much of it."""
    total = sum_of(counts)
    if rows.height < total:
        return f"The first {rows.height:,} of {total:,} {many}"
    return f"The {one}" if total == 1 else f"All {total:,} {many}"


def review(answers: Answers) -> Section:
    """What waits for a person's word."""
    kinds = answers.counts("review_queue", "kind")
    section = Section("review", "Review", story.reviews(kinds, answers.count("review_by_project")))
    if not kinds.height:
        return section
    rows = answers.rows("review_queue", _FIRST)
    items = [
        Item(
            story.place(row["kind"], row["project"], story.of_user(row["user_id"]), story.sessions(row["sessions"])),
            story.excerpt(row["text"]),
            story.excerpt(row["reason"]),
            command_line("review", "show", row["item_id"]),
        )
        for row in rows.iter_rows(named=True)
    ]
    caption = _first_of(rows, kinds, "item that waits", "items that wait, in the order of the queue")
    items = distinguished(items, rows["item_id"].to_list())
    section.lists.append(Items(caption, items, answers.command("review_queue")))
    projects = answers.rows("review_by_project", _FEW)
    if projects.height > 1:
        columns = ["project", "items", *(name for name in _KINDS if projects[name].sum()), "first_seen_at"]
        caption = first_of("What waits, by project", projects.height, answers.count("review_by_project"))
        section.tables.append(answers.table(projects, "review_by_project", caption, columns))
    _add_compared(section, answers)
    section.next(command_line("review", "list"))
    return section


def _add_compared(section: Section, answers: Answers) -> None:
    """Where a language model has answered, what it and the rules say of the same changes, first where they differ."""
    rows = answers.rows("model_and_rules", _MANY)
    section.says.extend(story.both_asked(rows))
    both = rows.filter(pl.col("is_same").is_not_null())
    if both.height:
        columns = ["project", "content", "rules_action", "model_action", "is_same", "changes", "rules_reason"]
        caption = first_of(
            "What the rules and the model say, first where they differ", min(both.height, _FEW), both.height
        )
        section.tables.append(answers.table(both.head(_FEW), "model_and_rules", caption, [*columns, "model_reason"]))


_KINDS = ("harmful", "contradictions", "outdated", "expiring", "candidates", "merges", "doubtful", "fading", "unused")


def forget(answers: Answers) -> Section:
    """What may be archived."""
    rules = answers.counts("forgetting_plan", "rule", "is_shadow")
    quotas = answers.rows("forgetting_quotas", 1000)
    verdicts = answers.rows("memories_by_verdict", int(ALL)).filter(pl.col("verdict") == "forget")
    section = Section("forget", "Forget", story.forgettable(rules, quotas, sum_of(verdicts, "memories_count")))
    if rules.height:
        rows = answers.rows("forgetting_plan", _FEW)
        items = [
            Item(
                story.place(row["rule"], row["project"], row["memory_id"]),
                story.excerpt(row["content"]),
                story.excerpt(row["reason"]),
                command_line("why", row["memory_id"]),
            )
            for row in rows.iter_rows(named=True)
        ]
        caption = _first_of(rows, rules, "planned memory", "planned memories")
        section.lists.append(Items(caption, items, answers.command("forgetting_plan")))
        first = rows.row(0, named=True)["memory_id"]
        section.next(
            command_line("forget", "plan"),
            command_line("forget", "apply", dry_run=True),
            command_line("forget", "hold", first, reason="still needed"),
        )
    unmet = quotas.filter(~pl.col("is_met"))
    if unmet.height:
        section.tables.append(answers.table(unmet.head(_FEW), "forgetting_quotas", "Quotas that are not met"))
    return section


def harmful(answers: Answers) -> Section:
    """Which memories lower success."""
    flags = answers.counts("helping_and_hurting_memories", "is_harmful")
    bases = answers.counts("helping_and_hurting_memories", "lift_basis")
    rows = answers.rows("helping_and_hurting_memories", _FEW)
    worst = rows.filter(pl.col("is_harmful").fill_null(value=False))
    below = answers.counts("helping_and_hurting_memories", "lift_high < 0").filter(pl.first())
    section = Section("harmful", "Harmful memories", story.harms(flags, bases, sum_of(below)))
    if worst.height:
        items = [
            Item(
                story.place(row["project"], row["memory_id"]),
                story.excerpt(row["content"]),
                story.harm(row),
                command_line("why", row["memory_id"]),
            )
            for row in worst.iter_rows(named=True)
        ]
        total = sum_of(flags.filter(pl.col("is_harmful").fill_null(value=False)))
        behind = "by a randomised or cutoff lift, lowest first"
        caption = f"Memories that lower success {behind}: {worst.height:,} of {total:,}"
        section.lists.append(Items(caption, items, answers.command("helping_and_hurting_memories")))
        section.next(command_line("review", "list", kind="harmful"))
    return section


def failing(answers: Answers) -> Section:
    """Which strategies keep failing, and what succeeds instead."""
    total = answers.count("costliest_anti_patterns")
    rows = answers.rows("costliest_anti_patterns", _FEW)
    counts = answers.counts("got_worse", "kind", "what", days=str(WORSE_DAYS))
    is_new = (pl.col("kind") == "anti-pattern") & (pl.col("what") == "fails since")
    section = Section(
        "failing",
        "Strategies that keep failing",
        story.failing(total, sum_of(counts.filter(is_new)), WORSE_DAYS),
    )
    if total:
        items = [
            Item(
                story.place(row["kind"].replace("_", " "), row["project"], row["agent"], row["task_type"]),
                story.excerpt(row["pattern"]),
                story.failure(row),
                command_line("why", row["pattern"]),
            )
            for row in rows.iter_rows(named=True)
        ]
        caption = f"Costliest first, {rows.height:,} of {total:,}"
        section.lists.append(Items(caption, items, answers.command("costliest_anti_patterns")))
    return section


def hard_tasks(answers: Answers) -> Section:
    """At which kinds of task nobody succeeds."""
    total = answers.count("hard_tasks")
    section = Section("hard", "Hard tasks", story.hard_tasks(total))
    if total:
        rows = answers.rows("hard_tasks", _FEW)
        columns = ["project", "task_type", "strategies", "failures", "attempts", "last_seen_at", "why_hard"]
        caption = first_of("Kinds of task at which nobody succeeds", rows.height, total)
        section.tables.append(answers.table(rows, "hard_tasks", caption, columns))
    return section


def alarms(answers: Answers) -> Section:
    """What is wrong with which project."""
    levels = answers.counts("alarms", "level")
    section = Section("alarms", "Alarms", story.alarmed(levels, answers.counts("project_health", "health")))
    if levels.height:
        rows = answers.rows("alarms", _FIRST)
        section.tables.append(answers.table(rows, "alarms", _first_of(rows, levels, "alarm", "alarms")))
    projects = answers.rows("project_health", _FEW)
    if projects.height:
        columns = [
            "project",
            "health",
            "active_count",
            "candidate_count",
            "reference_count",
            "mean_strength",
            "junk_share",
        ]
        total = answers.count("project_health")
        caption = first_of("Projects, those with alarms first", projects.height, total)
        section.tables.append(answers.table(projects, "project_health", caption, columns))
    return section


def planned(answers: Answers) -> int:
    """How many memories the plan would archive."""
    rules = answers.counts("forgetting_plan", "rule", "is_shadow")
    return sum_of(rules.filter(~pl.col("is_shadow")))


def to_dos(answers: Answers, warnings: int) -> list[story.ToDo]:
    """What a person should act on."""
    flags = answers.counts("helping_and_hurting_memories", "is_harmful")
    quotas = answers.counts("forgetting_quotas", "is_met")
    return story.to_dos(
        waiting=answers.count("review_queue"),
        planned=planned(answers),
        harmful=sum_of(flags.filter(pl.col("is_harmful").fill_null(value=False))),
        failing=answers.count("costliest_anti_patterns"),
        alarms=answers.count("alarms"),
        unmet_quotas=sum_of(quotas.filter(~pl.col("is_met"))),
        warnings=warnings,
    )


def known_memories(answers: Answers) -> int:
    """How many memories are known."""
    return sum_of(answers.rows("memories_by_state", int(ALL)), "memories_count")
