"""Rows whose texts were let go of by their age: what of a row goes, and how it is told from others."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from slowwave.transforms.core.columns import TEXT_LET_GO
from slowwave.transforms.core.schema import Landed, choose_columns
from slowwave.transforms.landing.tables import Interactions, Outcomes

# What goes of a row. Of outcomes, task, strategy and error stay: what is learned follows from them every night.
TEXTS_OF: Mapping[type[Landed], tuple[str, ...]] = {
    Interactions: choose_columns(Interactions, "prompt", "response", "response_summary", "context_pack", "extra"),
    Outcomes: ("feedback", "extra"),
}


def is_let_go() -> pl.Expr:
    """Interactions whose texts have gone: no prompt that lands is blank."""
    return pl.col("prompt") == ""


def shown_prompt() -> pl.Expr:
    """The prompt as people see it."""
    return pl.when(is_let_go()).then(pl.lit(TEXT_LET_GO)).otherwise("prompt").alias("prompt")
