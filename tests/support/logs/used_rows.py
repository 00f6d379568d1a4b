"""Interactions and eligible memories as `used_memories` takes them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import polars as pl

DAY = datetime(2026, 3, 10)  # noqa: DTZ001 - times are naive and hold UTC everywhere
_INTERACTIONS = {
    "interaction_id": pl.String,
    "occurred_at": pl.Datetime("us"),
    "project": pl.String,
    "prompt": pl.String,
    "response": pl.String,
    "response_summary": pl.String,
}
_POOL = {
    "memory_id": pl.String,
    "is_global": pl.Boolean,
    "project": pl.String,
    "content": pl.String,
    "valid_from": pl.Datetime("us"),
    "valid_until": pl.Datetime("us"),
}
NOTES = [
    "The staging port is 8443, not 8080",
    "Deploy only after the smoke tests are green",
    "Grace prefers tabs over spaces in Python files",
    "Ada rewrote the billing importer to stream invoices in small batches",
    "The nightly backup of the orders database runs at 02:30 and takes forty minutes",
    "Customers in Norway are invoiced in kroner",
    "Linus moved the search index from Solr to Lucene last spring",
    "The wiki is read-only while the migration is under way",
]


def interactions(*rows: dict[str, Any]) -> pl.DataFrame:
    """Interactions at noon of project p, unless said otherwise."""
    usual = {"occurred_at": DAY.replace(hour=12), "project": "p", "prompt": "Well?", "response_summary": None}
    return pl.DataFrame([usual | row for row in rows], schema=_INTERACTIONS)


def pool(*rows: dict[str, Any]) -> pl.DataFrame:
    """Memories of project p, eligible since the start of the day and for ever, unless said otherwise."""
    usual = {"is_global": False, "project": "p", "valid_from": DAY, "valid_until": None}
    return pl.DataFrame([usual | row for row in rows], schema=_POOL)


def notes() -> list[dict[str, Any]]:
    """The notes as memories m0, m1, …"""
    return [{"memory_id": f"m{place}", "content": text} for place, text in enumerate(NOTES)]
