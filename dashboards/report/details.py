"""What the report holds behind its first screen, folded: what changed, what to act on, and the data it rests on.

Also the parts that all of the report is made of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl
from markupsafe import Markup

from slowwave.dashboards.charts import learning, memories
from slowwave.dashboards.charts.theme import chart_svg, chart_words, remove_title
from slowwave.dashboards.cookbook.answers import ALL, Answers, ShownTable
from slowwave.dashboards.links import case_command, command_line
from slowwave.dashboards.report import night_story as story
from slowwave.dashboards.report import state_story
from slowwave.dashboards.words import project_label, sum_of

if TYPE_CHECKING:
    import altair as alt

WORSE_DAYS = 7
_FEW = 3
# Enough for every chart to choose from, and no more than a moment's work.
_MANY = 20_000


def changes_section(answers: Answers) -> ReportSection:
    """What changed since the publish before."""
    rows = answers.rows("what_changed", 100)
    runs = answers.counts("recent_runs", "kind", "status", limit=ALL)
    publishes = sum_of(
        runs.filter((pl.col("kind") == "nightly") & pl.col("status").is_in(["published", "published_incomplete"]))
    )
    section = ReportSection("changed", "What changed", story.changes(rows, is_first=publishes <= 1))
    section.next(command_line("inspect", "diff", "previous", "current"))
    return section


def worse(answers: Answers) -> ReportSection:
    """What got worse in the last days."""
    days = str(WORSE_DAYS)
    counts = answers.counts("got_worse", "kind", "what", "project", days=days)
    section = ReportSection("worse", "What got worse this week", story.worse(counts, WORSE_DAYS))
    others = answers.rows("got_worse", _MANY, days=days).filter(~story.is_faded()).head(_FEW)
    items = [
        Item(
            story.place(row["kind"], row["project"], row["agent"], row["task_type"], row["what"], f"{row['day']}"),
            story.excerpt(row["text"]),
            story.excerpt(row["detail"]),
            command_line("why", row["id"]),
        )
        for row in others.iter_rows(named=True)
    ]
    if items:
        total = sum_of(counts.filter(~story.is_faded()))
        command = answers.command("got_worse", days=days)
        section.lists.append(
            Items(_first_of(len(items), total), distinguish_items(items, others["id"].to_list()), command)
        )
    return section


def harmful(answers: Answers) -> ReportSection:
    """Which memories lower success."""
    name = "helping_and_hurting_memories"
    flags, bases = answers.counts(name, "is_harmful"), answers.counts(name, "lift_basis")
    section = ReportSection("harmful", "Harmful memories", story.harms(flags, bases))
    is_harmful = pl.col("is_harmful").fill_null(value=False)
    worst = answers.rows(name, _FEW).filter(is_harmful)
    items = [
        Item(
            story.place(row["project"], row["memory_id"]),
            story.excerpt(row["content"]),
            story.harm(row),
            command_line("why", row["memory_id"]),
        )
        for row in worst.iter_rows(named=True)
    ]
    if items:
        section.lists.append(
            Items(_first_of(len(items), sum_of(flags.filter(is_harmful))), items, answers.command(name))
        )
    return section


def failing(answers: Answers) -> ReportSection:
    """Which strategies keep failing, what succeeds instead, and at what nobody succeeds."""
    total = answers.count("costliest_anti_patterns")
    counts = answers.counts("got_worse", "kind", "what", days=str(WORSE_DAYS))
    is_new = (pl.col("kind") == "anti-pattern") & (pl.col("what") == "fails since")
    says = story.failing(total, sum_of(counts.filter(is_new)), WORSE_DAYS) + story.hard_tasks(
        answers.count("hard_tasks")
    )
    section = ReportSection("failing", "Strategies that keep failing", says)
    items = [
        Item(
            story.place(row["kind"].replace("_", " "), row["project"], row["agent"], row["task_type"]),
            story.excerpt(row["pattern"]),
            story.failure(row),
            case_command(row["pattern"], row),
        )
        for row in answers.rows("costliest_anti_patterns", _FEW).iter_rows(named=True)
    ]
    if items:
        section.lists.append(Items(_first_of(len(items), total), items, answers.command("costliest_anti_patterns")))
    return section


def alarms(answers: Answers) -> ReportSection:
    """What is wrong with which project."""
    levels = answers.counts("alarms", "level")
    section = ReportSection(
        "alarms", "Alarms", story.describe_alarms(levels, answers.counts("project_health", "health"))
    )
    if levels.height:
        rows = answers.rows("alarms", _FEW)
        columns = ["project", "alarm", "level"]
        section.tables.append(answers.table(rows, "alarms", _first_of(rows.height, sum_of(levels)), columns))
    return section


def review(answers: Answers) -> ReportSection:
    """What needs review."""
    kinds = answers.counts("review_queue", "kind")
    section = ReportSection("review", "Review", story.reviews(kinds, answers.count("review_by_project")))
    rows = answers.rows("review_queue", _FEW)
    items = [
        Item(
            story.place(row["kind"], row["project"], story.of_user(row["user_id"]), story.sessions(row["sessions"])),
            story.excerpt(row["text"]),
            story.excerpt(row["reason"]),
            command_line("review", "show", row["item_id"]),
        )
        for row in rows.iter_rows(named=True)
    ]
    if items:
        items = distinguish_items(items, rows["item_id"].to_list())
        section.lists.append(Items(_first_of(len(items), sum_of(kinds)), items, answers.command("review_queue")))
    section.says.extend(story.both_asked(answers.rows("model_and_rules", _MANY)))
    return section


def forget(answers: Answers) -> ReportSection:
    """What may be archived."""
    rules = answers.counts("forgetting_plan", "rule", "is_shadow")
    quotas = answers.rows("forgetting_quotas", 1000)
    section = ReportSection("forget", "Forget", story.forgettable(rules, quotas))
    if rules.height:
        section.next(command_line("forget", "plan"), command_line("forget", "apply", dry_run=True))
    return section


def uses(answers: Answers) -> ReportSection:
    """Injections and uses over time."""
    days = answers.rows("references_by_day", _MANY)
    section = ReportSection("use", "Use over time")
    if days.height:
        section.add_chart(memories.reinforcement_over_time(days))
    return section


def success(answers: Answers) -> ReportSection:
    """Success week by week."""
    weeks = answers.rows("success_by_week", _MANY)
    section = ReportSection("success", "Success by week")
    if weeks.height:
        section.add_chart(learning.success_by_week(weeks))
    return section


def quarantine_section(answers: Answers) -> ReportSection:
    """What was refused."""
    reasons = answers.rows("quarantine_reasons", _MANY)
    section = ReportSection("refused", "Refused rows", state_story.describe_quarantine(reasons))
    if reasons.height:
        columns = ["field", "reason", "refused"]
        caption = _first_of(min(reasons.height, _FEW), reasons.height)
        section.tables.append(answers.table(reasons.head(_FEW), "quarantine_reasons", caption, columns))
        section.next(command_line("sql", "SELECT source, row_number, reason, raw_text FROM quarantine"))
    return section


def landed_rows_section(answers: Answers) -> ReportSection:
    """What landed, and how late."""
    return ReportSection(
        "landed", "What landed", state_story.describe_landed_rows(answers.rows("landed_by_day", _MANY))
    )


def _first_of(shown: int, total: int) -> str:
    """What a list shows of how much."""
    return f"The first {shown:,} of {total:,}" if shown < total else f"All {total:,}" if total > 1 else "The only one"


_CHART_WIDTH = 720


@dataclass(frozen=True)
class Figure:
    """A drawn chart with its title and subtitle, which the page sets as its own text."""

    title: str
    subtitle: str
    svg: Markup


@dataclass(frozen=True)
class Item:
    """One thing to look at: what and where it is, its text, what speaks for looking, and the command that shows it."""

    lead: str
    text: str
    note: str
    command: str


@dataclass(frozen=True)
class Items:
    """The first few things to look at, and the command that lists all."""

    caption: str
    items: list[Item]
    command: str


def distinguish_items(items: Sequence[Item], ids: Sequence[str]) -> list[Item]:
    """The items, those that read alike each with its id."""
    alike = Counter((item.lead, item.text, item.note) for item in items)
    return [
        replace(item, lead=f"{item.lead} · {project_label(about)}")
        if alike[item.lead, item.text, item.note] > 1
        else item
        for item, about in zip(items, ids, strict=True)
    ]


@dataclass
class ReportSection:
    """One question: what is said of it first, then things to look at, charts, tables, and commands to go on with."""

    anchor: str
    title: str
    says: list[str] = field(default_factory=list)
    lists: list[Items] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    tables: list[ShownTable] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def add_chart(self, chart: alt.LayerChart) -> None:
        """Add a chart."""
        title, subtitle, _ = chart_words(chart)
        self.figures.append(Figure(title, subtitle, Markup(chart_svg(remove_title(chart), _CHART_WIDTH))))  # noqa: S704 - escaped by it

    def next(self, *commands: str) -> None:
        """Add commands to run next; one that cannot be copied safely is left out."""
        self.commands += [command for command in commands if command]
