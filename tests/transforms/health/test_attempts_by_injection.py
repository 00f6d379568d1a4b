"""attempts_by_injection: every attempt whose interaction landed, once, with what was in its prompt."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from slowwave.transforms.health.answerable.attempts_by_injection import attempts_by_injection

_AT = datetime(2026, 3, 2, 9)  # noqa: DTZ001 - naive times hold UTC
_INTERACTIONS = {
    "interaction_id": pl.String,
    "occurred_at": pl.Datetime("us"),
    "memories_offered": pl.List(pl.Struct({"id": pl.String})),
    "injection_probability": pl.Float64,
}
_ATTEMPTS = {
    **dict.fromkeys(["interaction_id", "project", "agent", "task_type", "block"], pl.String),
    "success": pl.Boolean,
}


def interactions(*rows: tuple[str, int, float | None]) -> pl.DataFrame:
    """Interactions by id, how many memories were offered, and probability; numbered in their order."""
    made = [(name, _AT, [{"id": "m"}] * offered or None, probability) for name, offered, probability in rows]
    return pl.DataFrame(made, schema=_INTERACTIONS, orient="row").with_row_index("interaction")


def attempts(*rows: tuple[str | None, bool]) -> pl.DataFrame:
    made = [(name, "shop", "coder", "test", f"s-{name}", success) for name, success in rows]
    return pl.DataFrame(made, schema=_ATTEMPTS, orient="row")


def references(*rows: tuple[int, bool]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"interaction": pl.UInt32, "is_injected": pl.Boolean}, orient="row")


def test_attempts_are_counted_by_what_chance_did() -> None:
    asked = interactions(("drawn", 2, 0.5), ("left out", 2, 0.5), ("always", 2, 1.0), ("not said", 0, 0.5))
    had = references((0, True), (0, True), (2, True), (3, False))
    ended = attempts(
        *(("drawn", True), ("drawn", False), ("left out", True), ("always", True), ("not said", False)),
        *(("never landed", True), (None, True)),
    )
    of = (date(2026, 3, 2), "shop", "coder", "test")
    assert attempts_by_injection(had, asked, ended).rows() == [
        (*of, False, 0, 1.0, "s-not said", 1, 0),
        (*of, False, 2, 0.5, "s-left out", 1, 1),
        (*of, True, 2, 0.5, "s-drawn", 2, 1),
        (*of, True, 2, 1.0, "s-always", 1, 1),
    ]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, 0.0, 0.3, 1.0])), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12),
    st.lists(st.tuples(st.integers(0, 7), st.booleans()), max_size=20),
)
def test_every_attempt_of_a_landed_interaction_counts_once(
    offers: list[tuple[int, float | None]], had: list[tuple[int, bool]], ended: list[tuple[int, bool]]
) -> None:
    asked = interactions(*((f"i{n}", offered, probability) for n, (offered, probability) in enumerate(offers)))
    found = attempts_by_injection(references(*had), asked, attempts(*((f"i{n}", success) for n, success in ended)))
    landed = [(n, success) for n, success in ended if n < len(offers)]
    assert found["attempts"].sum() == len(landed)
    assert found["successes"].sum() == sum(success for _, success in landed)
    injected = {n for n, is_injected in had if is_injected}
    assert found.filter("has_memory")["attempts"].sum() == sum(n in injected for n, _ in landed)
