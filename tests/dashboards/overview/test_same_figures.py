"""The first screen, the chart below it and the recipes say the same figures of one publish, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from shared_homes import taught_home

from slowwave.dashboards.charts import memories
from slowwave.dashboards.charts.theme import chart_words
from slowwave.dashboards.cookbook.answers import ALL, Answers
from slowwave.dashboards.overview.actions import actions
from slowwave.dashboards.overview.tiles import Tile
from slowwave.dashboards.report.page import first_screen
from slowwave.dashboards.words import percent, signed_points, sum_of
from slowwave.flows.ask.connection import locked_connection

DAYS = {"since": "2026-03-02", "until": "2026-03-31"}


@pytest.fixture(scope="module")
def seen() -> Iterator[tuple[Answers, dict[str, Tile]]]:
    path = taught_home().settings.current.resolve()
    with locked_connection(path) as connection:
        yield Answers(connection), {tile.question: tile for tile in first_screen(connection, path.stem)[1]}


def test_uses_are_counted_alike(seen: tuple[Answers, dict[str, Tile]]) -> None:
    answers, tiles = seen
    days = answers.rows("references_by_day", int(ALL), **DAYS)
    activity = answers.rows("activity_by_day", int(ALL), **DAYS)
    used, asked = sum_of(days, "referencing_interactions"), sum_of(activity, "interactions")
    assert used == sum_of(activity, "used")
    assert sum_of(days, "injected_interactions") == sum_of(activity, "injected")
    assert tiles["Are they used?"].figure == f"≥ {percent(used / asked)}"
    assert tiles["Are they used?"].unit == f"of {asked:,} answers"
    drawn = chart_words(memories.reinforcement_over_time(days))[2]
    assert f"{used:,} answers quote or use one" in drawn


def test_the_other_figures_are_those_of_recipes(seen: tuple[Answers, dict[str, Tile]]) -> None:
    answers, tiles = seen
    found = answers.rows("success_difference", int(ALL), **DAYS).filter("is_enough")
    helping = tiles["Do memories help?"]
    assert helping.lacks if found.is_empty() else helping.figure == signed_points(found["difference"][0])
    judged, ignored = answers.count("ignored_instructions", at_most=ALL), answers.count("ignored_instructions")
    if judged:
        assert (tiles["What is ignored?"].figure, tiles["What is ignored?"].unit.split()[1]) == (
            f"{ignored}",
            f"{judged}",
        )
    failing = tiles["What keeps failing?"]
    assert failing.figure == f"{answers.count('costliest_anti_patterns')}"
    hard = answers.count("hard_tasks")
    assert (f"{hard:,} hard task" in failing.unit) == bool(hard)


def test_a_review_item_is_in_one_action_and_in_none_once_decided(seen: tuple[Answers, dict[str, Tile]]) -> None:
    answers, _ = seen
    items = answers.rows("review_queue", int(ALL))
    harmful = items.filter(items["kind"] == "harmful")["item_id"].to_list()
    assert len(harmful) == 1

    def counted(decided: dict[str, str]) -> int:
        done = [action.text for action in actions(answers, {}, decided)]
        named = [text for text in done if text.startswith(("Reject", "Check", "Decide"))]
        return sum(int(text.split()[1].replace(",", "")) for text in named)

    assert counted({}) == items.height
    assert counted({harmful[0]: "rejected by ada"}) == items.height - 1
    texts = [action.text for action in actions(answers, {}, {harmful[0]: "rejected by ada"})]
    assert not any("harmful" in text for text in texts)
    assert texts[-1] == "1 review item decided, takes effect tonight"
