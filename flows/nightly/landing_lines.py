"""Ids in landed rows that match no row: outcomes of interactions that are not there, memories that never landed.

Such rows land, and count for nothing: most often two producers write one id in two ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

import duckdb
import polars as pl
from rich.table import Table as Grid
from rich.text import Text

from slowwave.flows.kernel import checks as check_lines
from slowwave.flows.kernel.progress import Lines, print_lines, this_command
from slowwave.flows.kernel.terminal import format_count, quote_shortened, shorten_to_width, terminal_safe
from slowwave.flows.lake.lake import Lake
from slowwave.flows.land.report import LandingReport
from slowwave.transforms.core.schema import Landed
from slowwave.transforms.landing.mapping.named_otherwise import map_options
from slowwave.transforms.landing.mapping.resemblance import Likeness, example, likenesses
from slowwave.transforms.landing.mapping.rules import FieldMapping
from slowwave.transforms.landing.mapping.unknown_fields import UnknownField
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


# What a landing says of the mapping that its command named: how many rows took each field, and how many lacked it.


@dataclass(frozen=True)
class MappingUse:
    """How many of the rows that were read took a field from its source, lacked the source, or kept their own value."""

    field: str
    source: str
    took: int
    lacked: int
    kept_own: int


def mapping_uses(report: LandingReport, mapping: FieldMapping | None) -> list[MappingUse]:
    """Return the use of each rule of a mapping, in its order."""
    found = report.unknown
    return [
        MappingUse(
            field=rule.field,
            source=rule.path or f"={rule.constant}",
            took=found.took[rule.field],
            lacked=found.lacked[rule.field],
            kept_own=found.mapped - found.took[rule.field] - found.lacked[rule.field],
        )
        for rule in (mapping.rules if mapping else ())
    ]


def mapping_lines(report: LandingReport, mapping: FieldMapping | None) -> Lines:
    """Return what the screen says of a mapping; of files that had landed before, that no row of them was read."""
    if mapping is None:
        return []
    said = []
    if report.unknown.mapped:
        said += [_mapping_sentence(use) for use in mapping_uses(report, mapping)]
    if report.left_out:
        rows = format_count(report.left_out, "row was", "rows were")
        said.append(f"where: {rows} left out, and can be landed from the quarantine by another mapping")
    if report.already:
        files = format_count(len(report.already), "file has", "files have")
        said.append(
            f"{files} landed before, such as {quote_shortened(report.already[0])}: the mapping was not applied to them"
        )
    return [("mapping" if not at else "", text) for at, text in enumerate(said)]


def _mapping_sentence(use: MappingUse) -> str:
    parts = [f"{format_count(use.took, 'row')} took it"]
    if use.lacked:
        parts.append(f"{use.lacked:,} had no {quote_shortened(use.source)}")
    if use.kept_own:
        parts.append(f"{use.kept_own:,} kept their own {use.field}")
    return f"{use.field}={use.source}: {', '.join(parts)}"


# What a landing says of fields that the contract does not know: rows, an example, and how each can be mapped.

_SHOWN_FIELDS = 20
_SHOWN_NAME = 40
_NAMES_IN_A_NIGHT = 3


def _rank_fields(report: LandingReport, alike: dict[str, Likeness]) -> list[UnknownField]:
    """Unknown fields: those that are like one of the contract first, then by rows."""
    return sorted(report.unknown.fields, key=lambda one: (one.name not in alike, -one.rows, one.name))


def print_unknown(report: LandingReport) -> None:
    """Print a table of the unknown fields, and the command that lands those that are like one of the contract."""
    if not report.unknown.by_name:
        return
    alike = likenesses(report.unknown)
    fields = _rank_fields(report, alike)
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column("unknown field", overflow="fold")
    grid.add_column("rows", justify="right", no_wrap=True)
    grid.add_column("example", overflow="fold")
    grid.add_column("taken as", overflow="fold")
    for one in fields[:_SHOWN_FIELDS]:
        like = alike.get(one.name)
        grid.add_row(
            Text(terminal_safe(shorten_to_width(one.name, _SHOWN_NAME))),
            f"{one.rows:,}",
            Text(terminal_safe(example(one.samples[0]))),
            Text(terminal_safe(map_options([(like.field, like.path)]) if like else "extra")),
        )
    more = len(fields) - _SHOWN_FIELDS
    if more > 0 or not report.unknown.are_all:
        grid.add_row(f"{more:,} more" if report.unknown.are_all else "many more")
    check_lines.screen().print(grid)
    if alike:
        print_lines(
            "",
            [("", "unknown fields of rows that land go to extra; the options above take them for what they are")],
        )


def retry_command(report: LandingReport) -> str:
    """What lands the refused rows with the fields that unknown ones are like; '' where none is."""
    options = map_options((like.field, like.path) for like in likenesses(report.unknown).values())
    return f"{this_command()} land --retry-quarantine {options}" if options else ""


def unknown_lines(report: LandingReport) -> Lines:
    """Of a night: the fields that are like one of the contract and are not mapped to it."""
    alike = likenesses(report.unknown)
    if not alike:
        return []
    fields = [one for one in _rank_fields(report, alike) if one.name in alike]
    said = [
        f"{shorten_to_width(one.name, _SHOWN_NAME)} ({format_count(one.rows, 'row')}, like {alike[one.name].field})"
        for one in fields[:_NAMES_IN_A_NIGHT]
    ]
    said += [f"{len(fields) - _NAMES_IN_A_NIGHT:,} more"] if len(fields) > _NAMES_IN_A_NIGHT else []
    of = format_count(len(fields), "field")
    return [("unknown", f"{of} under other names: {', '.join(said)}; `slowwave mapping suggest FILE` maps them")]


def unknown_json(report: LandingReport) -> list[dict[str, Any]]:
    """Per unknown field its rows, an example, and the field and the option that would take it."""
    alike = likenesses(report.unknown)
    found = []
    for one in _rank_fields(report, alike):
        like = alike.get(one.name)
        found.append(
            {
                "name": one.name,
                "rows": one.rows,
                "example": example(one.samples[0]),
                "like": like and like.field,
                "map": like and f"{like.field}={like.path}",
            }
        )
    return found


def print_shown(report: LandingReport) -> None:
    """Print the first rows of a rehearsal before and after their mapping."""
    for row in report.shown:
        print_lines("", [(f"row {row.row_number}", row.before), ("  lands as", row.after)])


# What a publish set aside, in the few lines a person acts on.

_SHOWN = 3
_SHOWN_CHARACTERS = 60

# A row that fails several checks is one row.
_ROWS = """
SELECT "table", "key", any_value(reason ORDER BY "check"), bool_or("check" = 'left_out') AS is_left_out
FROM set_aside
GROUP BY "table", "key", row_hash
ORDER BY is_left_out, "table", "key", row_hash
"""


def set_aside_lines(serving: Path) -> list[tuple[str, str]]:
    """Label and text of each line; none where every row counts."""
    with duckdb.connect(serving, read_only=True) as connection:
        rows = connection.execute(_ROWS).fetchall()
    if not rows:
        return []
    refused = [row for row in rows if not row[3]]
    said = [f"{format_count(len(refused), 'row')} failed a check"] * bool(refused)
    said += [f"{len(rows) - len(refused):,} left out by decision"] * (len(refused) < len(rows))
    lines = [("set aside", f"{', '.join(said)}: they count nowhere, see the table set_aside")]
    lines += [
        ("", f"{table}:{shorten_to_width(key, _SHOWN_CHARACTERS) or '(no id)'}: {reason}")
        for table, key, reason, _ in rows[:_SHOWN]
    ]
    return lines
