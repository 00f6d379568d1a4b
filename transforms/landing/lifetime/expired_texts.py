"""Rows whose texts expired by their age: what of a row expires, and how such a row is recognised."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from slowwave.transforms.core.columns import EXPIRED_TEXT
from slowwave.transforms.core.schema import Landed, choose_columns
from slowwave.transforms.landing.tables import Interactions, Outcomes

# What expires of a row. Of outcomes, task, strategy and error stay: what is learned follows from them every night.
TEXTS_OF: Mapping[type[Landed], tuple[str, ...]] = {
    Interactions: choose_columns(Interactions, "prompt", "response", "response_summary", "context_pack", "extra"),
    Outcomes: ("feedback", "extra"),
}


def is_text_expired() -> pl.Expr:
    """Return whether the texts of an interaction have expired: no prompt that lands is blank."""
    return pl.col("prompt") == ""


def show_prompt() -> pl.Expr:
    """Return the prompt as people see it."""
    return pl.when(is_text_expired()).then(pl.lit(EXPIRED_TEXT)).otherwise("prompt").alias("prompt")
