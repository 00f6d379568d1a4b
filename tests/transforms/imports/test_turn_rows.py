"""A turn as rows: the interaction, and the outcomes that are inferred of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slowwave.transforms.imports.adapter import Call, Context, LeftOut, OptionsError, Row, Turn
from slowwave.transforms.imports.turn_rows import turn_rows

TESTED = Turn(
    interaction_id="pi:s1:m1",
    created_at="2026-05-01T10:00:00Z",
    ended_at="2026-05-01T10:02:00Z",
    prompt="make the parser faster",
    session_id="s1",
    calls=[Call("c1", "shell", "pytest", "== 3 passed in 0.12s ==")],
    next_prompt="no, slower",
    record_ids=("m1", "m4"),
)


def rows_of(turn: Turn, context: Context) -> list[Row]:
    """The rows of a turn that makes some."""
    made = list(turn_rows(turn, context))
    return [one for one in made if isinstance(one, Row)]


def test_outcomes_follow_their_interaction_and_name_its_records() -> None:
    interaction, outcome = rows_of(TESTED, Context())
    assert outcome.fields["interaction_id"] == interaction.fields["interaction_id"] == "pi:s1:m1"
    assert (outcome.fields["basis"], outcome.fields["basis_method"]) == ("inferred", "transcript_tests/1")
    assert outcome.record_ids == interaction.record_ids == ("m1", "m4")


@pytest.mark.parametrize(
    ("context", "methods"),
    [
        (Context(), ["transcript_tests/1"]),
        (Context(infers=False), []),
        (Context(options={"infer_corrections": True}), ["transcript_tests/1", "transcript_correction/1"]),
        (Context(options={"infer_corrections": False}), ["transcript_tests/1"]),
    ],
)
def test_what_is_inferred_is_as_it_is_wanted(context: Context, methods: list[str]) -> None:
    assert [row.fields["basis_method"] for row in rows_of(TESTED, context)[1:]] == methods


def test_what_is_wanted_is_said_by_true_or_false() -> None:
    with pytest.raises(OptionsError, match="infer_corrections must be true or false"):
        rows_of(TESTED, Context(options={"infer_corrections": "no"}))


def test_a_turn_that_may_go_on_makes_nothing_and_the_last_one_of_an_idle_unit_is_over() -> None:
    going_on = replace(TESTED, end="open")
    (left,) = turn_rows(going_on, Context(is_idle=False))
    assert isinstance(left, LeftOut)
    assert left.sort == "a turn that was still going on"
    assert len(rows_of(going_on, Context(is_idle=True))) == 2
