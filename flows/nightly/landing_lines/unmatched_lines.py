"""Ids in landed rows that match no row: outcomes of interactions that are not there, memories that never landed.

Such rows land, and count for nothing: most often two producers write one id in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

import polars as pl

from slowwave.flows.kernel.progress import Lines
from slowwave.flows.kernel.terminal import format_count, quote_shortened, shorten_to_width
from slowwave.flows.lake.lake import Lake
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.landing.tables import Interactions, Memories, Outcomes

_SHOWN_ID = 40
_MEMORY_IDS = (
    pl.concat_list(
        pl.col("memories_used").fill_null([]),
        pl.col("memories_offered").list.eval(pl.element().struct.field("id")).fill_null([]),
        pl.col("memories_cited").fill_null([]),
    )
    .explode(empty_as_null=False)
    .alias("id")
)


@dataclass(frozen=True, kw_only=True)
class UnmatchedIds:
    """Of the ids of one kind that rows name, those that no landed row has.

    Args:
        kind: what they should be the ids of.
        named: how many different ids the rows name.
        unmatched: of them those that match nothing; at least one.
        example: one of them, one that is alike if there is any.
        alike: how many are the same as an id that did land but for case, signs and a `.0` at their end.
        landed_example: the id that `example` is alike, or else any that did land; None: none has.
    """

    kind: Literal["interaction", "memory"]
    named: int
    unmatched: int
    alike: int
    example: str
    landed_example: str | None


def unmatched_ids(lake: Lake, days: Mapping[str, Iterable[date]]) -> list[UnmatchedIds]:
    """Return what the rows of `days` (by table) name and no landed row has; empty if everything matches."""
    outcomes = _scan_columns(lake, Outcomes, days.get("outcomes"), ["interaction_id"])
    interactions = _scan_columns(
        lake, Interactions, days.get("interactions"), ["memories_used", "memories_offered", "memories_cited"]
    )
    named_interactions = outcomes.select(pl.col("interaction_id").alias("id"))
    found = [
        _find_unmatched("interaction", lake, named_interactions, Interactions, days.get("outcomes")),
        _find_unmatched("memory", lake, interactions.select(_MEMORY_IDS), Memories, ()),
    ]
    return [one for one in found if one is not None]


def _find_unmatched(
    kind: Literal["interaction", "memory"],
    lake: Lake,
    named: pl.LazyFrame,
    table: type[Landed],
    first_days: Iterable[date] | None,
) -> UnmatchedIds | None:
    """`first_days`: where most are, so that the whole lake is read only if some are not."""
    ids = named.filter(pl.col("id").is_not_null() & (pl.col("id") != "")).unique().collect()
    left = ids
    for days in (first_days, None):
        if not left.is_empty():
            known = _scan_columns(lake, table, days, [table.key[0]]).select(pl.col(table.key[0]).alias("id"))
            left = left.lazy().join(known, on="id", how="anti").collect()
    if left.is_empty():
        return None
    landed = _scan_columns(lake, table, None, [table.key[0]]).select(pl.col(table.key[0]).alias("landed"))
    any_landed = landed.select(pl.col("landed").min()).collect().item()
    pairs = (
        left.lazy()
        .with_columns(_plain("id"))
        .join(landed.with_columns(_plain("landed")).filter(pl.col("plain") != ""), on="plain")
        .group_by("id")
        .agg(pl.col("landed").min())
        .sort("id")
        .collect()
    )
    example, landed_example = pairs.row(0) if pairs.height else (left["id"].sort()[0], any_landed)
    return UnmatchedIds(
        kind=kind,
        named=ids.height,
        unmatched=left.height,
        alike=pairs.height,
        example=example,
        landed_example=landed_example,
    )


def _plain(name: str) -> pl.Expr:
    """An id without what two producers most often write differently."""
    return pl.col(name).str.to_lowercase().str.replace(r"\.0+$", "").str.replace_all(r"[\W_]+", "").alias("plain")


def _scan_columns(lake: Lake, table: type[Landed], days: Iterable[date] | None, names: Sequence[str]) -> pl.LazyFrame:
    """Columns of the rows of `days`; None: of all."""
    files = lake.files(table.name)
    chosen = [file for day in (files if days is None else days) for file in files.get(day, [])]
    if not chosen:
        return lake.scan_rows(table, []).select(names)
    return lake.scan_files(table, chosen, names).select(names)


def unmatched_lines(found: Sequence[UnmatchedIds]) -> Lines:
    """Return what the screen says of them, a line a kind."""
    return [("no match" if not at else "", _sentence(one)) for at, one in enumerate(found)]


def unmatched_json(found: Sequence[UnmatchedIds]) -> list[dict[str, Any]]:
    """Return them as `--format json` prints them."""
    return [asdict(one) for one in found]


def _sentence(one: UnmatchedIds) -> str:
    if one.kind == "interaction":
        named, effect = f"{format_count(one.named, 'interaction')} that outcomes name", "their outcomes judge no memory"
    else:
        memories = format_count(one.named, "memory", "memories")
        named, effect = f"{memories} that interactions name", "nothing but their ids is known"
    example = quote_shortened(shorten_to_width(one.example, _SHOWN_ID))
    said = f"Of {named}, {one.unmatched:,} did not land, such as {example}: {effect}."
    if one.landed_example is None:
        return f"{said} No {one.kind} has landed yet."
    landed = quote_shortened(shorten_to_width(one.landed_example, _SHOWN_ID))
    if one.alike:
        return f"{said} {one.alike:,} landed in another spelling, such as {landed}."
    return f"{said} Ids that did land look like {landed}."
