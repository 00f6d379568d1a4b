"""Delivered rows to landed rows: tell the kind, coerce, complete, hash; what does not fit is quarantined with a reason.

Pure: the same delivered rows give the same landed rows, whatever file, format or order they come in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from slowwave.transforms.core.blank import is_blank
from slowwave.transforms.core.schema import Landed, polars_schema, producer_columns
from slowwave.transforms.core.times import ZERO_TIMES
from slowwave.transforms.core.vocabularies import LandedTable
from slowwave.transforms.landing.coerce import Unfit, coerce_column
from slowwave.transforms.landing.completed_rows import (
    EXPIRES_AT,
    FORMER_HASH,
    SYNONYMS,
    completed_interactions,
    completed_memories,
    completed_outcomes,
    inline_outcomes,
    stated_expiry,
)
from slowwave.transforms.landing.delivered_rows import DeliveredRows, has_value, refused_by_import
from slowwave.transforms.landing.mapping.contract import FIELDS, FIELDS_OF
from slowwave.transforms.landing.mapping.mapped_rows import PROVENANCE, mapped_rows
from slowwave.transforms.landing.mapping.named_otherwise import named_otherwise
from slowwave.transforms.landing.mapping.rules import AS_DELIVERED, ReadingOptions
from slowwave.transforms.landing.mapping.shape import find_refusal
from slowwave.transforms.landing.mapping.unknown_fields import RowsOfKind
from slowwave.transforms.landing.schema_changes import EXTRA_BEFORE, from_extra
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories, Outcomes
from slowwave.transforms.landing.versions import with_row_hash

ROW_NUMBER = "row_number"
# `is_whole`: `raw_text` is all that was delivered of the row
QUARANTINE_SCHEMA = pl.Schema(
    {ROW_NUMBER: pl.Int64, "field": pl.String, "reason": pl.String, "raw_text": pl.String, "is_whole": pl.Boolean}
)

_UNLESS_STATED = {
    EXTRA_BEFORE: pl.col("extra").alias(EXTRA_BEFORE),
    FORMER_HASH: pl.lit(None, pl.String).alias(FORMER_HASH),
}
_OUTCOME_ONLY = {c.name for c in producer_columns(Outcomes)} - {c.name for c in producer_columns(Interactions)}
_TABLE_OF: dict[str, LandedTable] = {
    "interactions": "interactions",
    "interactions+outcome": "interactions",
    "outcomes": "outcomes",
    "memories": "memories",
}
_KNOWN = {name: FIELDS_OF[table] for name, table in _TABLE_OF.items()} | {
    "interactions+outcome": FIELDS_OF["interactions"] | _OUTCOME_ONLY,
    "memories": FIELDS_OF["memories"] | frozenset(SYNONYMS),
}


@dataclass(frozen=True)
class LandedRows:
    """Landed rows of one chunk, each frame with `row_number`, and the quarantined ones.

    `delivered` counts rows as delivered: an interaction with an inline outcome counts once. `parts`: the rows by kind,
    with the names that are known there. `outcomes` has `former_hash`, where one inside an interaction needs it.
    """

    delivered: int
    interactions: pl.DataFrame
    outcomes: pl.DataFrame
    memories: pl.DataFrame
    quarantine: pl.DataFrame
    parts: tuple[RowsOfKind, ...] = ()

    def table(self, table: type[Landed]) -> pl.DataFrame:
        """The frame of one landed table."""
        return getattr(self, table.name)


@dataclass
class _Findings:
    """Reasons found per position of a chunk, in the order they were found."""

    by_position: dict[int, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, positions: Sequence[int], name: str, reasons: dict[int, str]) -> None:
        for i, reason in reasons.items():
            self.by_position[positions[i]].append((name, reason))

    def say_instead(self, position: int, name: str, reason: str) -> None:
        """One reason in place of those found so far."""
        self.by_position[position] = [(name, reason)]


def landed_rows(
    rows: DeliveredRows, kind: LandedTable | None = None, reading: ReadingOptions = AS_DELIVERED
) -> LandedRows:
    """Sort delivered rows into interactions, outcomes, memories and quarantine.

    `kind` says what every row is; None tells it from the fields: `prompt`, else `memory_id`, else `success` or
    `outcome_id`. An interaction with `success` makes an outcome too. Rows are first mapped as `reading` says; one that
    then has a field under another name, and lacks it, is quarantined unless unknown fields are kept on purpose.
    """
    delivered_count = len(rows)
    if reading.mapping is not None:
        rows = mapped_rows(rows, reading.mapping)
    findings = _Findings()
    positions = _positions_by_kind(rows, kind, findings)
    if not reading.keeps_unknown:
        kinds = _kinds(len(rows), positions)
        for i, (name, reason) in named_otherwise(rows, kinds, is_stated=kind is not None).items():
            findings.say_instead(i, name, reason)  # than that its kind is not known
    parts: dict[str, list[pl.DataFrame]] = {table.name: [] for table in LANDED}

    for with_outcome in (False, True):
        chosen = positions["interactions+outcome" if with_outcome else "interactions"]
        if not chosen:
            continue
        taken = rows.take(chosen)
        given = _coerced_frame(Interactions, taken, chosen, findings, with_outcome)
        interactions = completed_interactions(given)
        _find_blank("prompt", interactions, chosen, findings)
        if with_outcome:
            outcomes = _coerced_frame(Outcomes, taken, chosen, findings, only=_OUTCOME_ONLY)
            parts["outcomes"].append(inline_outcomes(outcomes, interactions, given["recorded_at"]))
        parts["interactions"].append(interactions)
    for table in (Outcomes, Memories):
        chosen = positions[table.name]
        if chosen:
            frame = _coerced_frame(table, rows.take(chosen), chosen, findings)
            if table is Memories:
                _find_blank("memory_id", frame, chosen, findings)
            parts[table.name].append(completed_outcomes(frame) if table is Outcomes else completed_memories(frame))

    quarantine = _quarantine(rows, findings)
    good = {table: _hashed_good_rows(table, parts[table.name], quarantine) for table in LANDED}
    understood = tuple(_parts(rows, positions, _own_names(reading)))
    return LandedRows(delivered_count, good[Interactions], good[Outcomes], good[Memories], quarantine, understood)


def readable_rows(
    rows: DeliveredRows, kind: LandedTable | None = None, reading: ReadingOptions = AS_DELIVERED
) -> LandedRows:
    """`landed_rows`, where a row is quarantined that cannot even be read, or that an import or the mapping refuses."""
    unreadable = rows.unreadable()
    faults = (
        unreadable
        | (refused_by_import(rows) if reading.is_import else {})
        | _mapping_refusals(rows, unreadable, reading)
    )
    if not faults:
        return landed_rows(rows, kind, reading)
    good = landed_rows(rows.take([i for i in range(len(rows)) if i not in faults]), kind, reading)
    refused = pl.DataFrame(
        [
            (rows.row_numbers[i], "", reason, *(("", False) if i in unreadable else (rows.raw(i), rows.is_whole(i))))
            for i, reason in sorted(faults.items())
        ],
        schema=QUARANTINE_SCHEMA,
        orient="row",
    )
    return replace(good, delivered=len(rows), quarantine=pl.concat([good.quarantine, refused]))


def _mapping_refusals(rows: DeliveredRows, unreadable: dict[int, str], reading: ReadingOptions) -> dict[int, str]:
    """Return why the mapping makes no row of a delivered one, by position."""
    mapping = reading.mapping
    if mapping is None or not (mapping.where or mapping.explode):
        return {}
    readable = [i for i in range(len(rows)) if i not in unreadable]
    if not readable:
        return {}
    reasons = [find_refusal(record, mapping) for record in rows.take(readable).as_records()]
    return {i: reason for i, reason in zip(readable, reasons, strict=True) if reason}


def _positions_by_kind(rows: DeliveredRows, kind: LandedTable | None, findings: _Findings) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    success = has_value(rows, "success")
    if kind is not None:
        for i in range(len(rows)):
            found["interactions+outcome" if kind == "interactions" and success[i] else kind].append(i)
        return found
    signs = zip(
        has_value(rows, "prompt"), has_value(rows, "memory_id"), success, has_value(rows, "outcome_id"), strict=True
    )
    for i, (prompt, memory_id, has_success, outcome_id) in enumerate(signs):
        if prompt:
            found["interactions+outcome" if has_success else "interactions"].append(i)
        elif memory_id:
            found["memories"].append(i)
        elif has_success or outcome_id:
            found["outcomes"].append(i)
        else:
            blank = next((name for name in ("prompt", "memory_id") if _has_key(rows, i, name)), "")
            reason = "the row has none of prompt, memory_id, success and outcome_id, so its kind cannot be told"
            findings.add([i], blank, {0: f"{blank} is blank" if blank else reason})
    return found


def _kinds(count: int, positions: dict[str, list[int]]) -> list[LandedTable | None]:
    """What each row is; None: it is not known."""
    found: list[LandedTable | None] = [None] * count
    for name, table in _TABLE_OF.items():
        for i in positions[name]:
            found[i] = table
    return found


def _own_names(reading: ReadingOptions) -> frozenset[str]:
    """Names that are known because a mapping reads them, of which a part may stay, or writes them."""
    if reading.mapping is None:
        return frozenset()
    exploded = {".".join(reading.mapping.explode)} if reading.mapping.explode else set()
    return frozenset(rule.parts[0] for rule in reading.mapping.rules if rule.path) | {PROVENANCE} | exploded


def _parts(rows: DeliveredRows, positions: dict[str, list[int]], own: frozenset[str]) -> Iterator[RowsOfKind]:
    """The rows by kind, those last whose kind is not known; `own`: names that are known besides."""
    told = 0
    for name, table in _TABLE_OF.items():
        if positions[name]:
            told += len(positions[name])
            yield RowsOfKind(table, rows.take(positions[name]), _KNOWN[name] | own)
    if told < len(rows):
        kinds = _kinds(len(rows), positions)
        yield RowsOfKind(None, rows.take([i for i, kind in enumerate(kinds) if kind is None]), frozenset(FIELDS) | own)


def _has_key(rows: DeliveredRows, position: int, name: str) -> bool:
    """Whether a row states the field at all, be it with null; a Parquet or CSV column is stated by every row."""
    records = getattr(rows, "records", None)
    return name in rows.fields if records is None else name in records[position]


def _coerced_frame(
    table: type[Landed],
    rows: DeliveredRows,
    positions: Sequence[int],
    findings: _Findings,
    with_outcome: bool = False,
    only: set[str] | None = None,
) -> pl.DataFrame:
    """Producer columns of `table` (or `only` some) for `rows`, plus `row_number` and, for memories, `clears`."""
    series = {ROW_NUMBER: pl.Series(ROW_NUMBER, rows.row_numbers, dtype=pl.Int64)}
    clears: dict[int, list[str]] = defaultdict(list)
    unfit: dict[int, set[str]] = defaultdict(set)
    for c in producer_columns(table):
        if (only is not None and c.name not in only) or c.name == "extra" or c is EXPIRES_AT:
            continue
        if c.name not in rows.fields:
            series[c.name] = pl.Series(c.name, [None] * len(rows), dtype=c.dtype)
            reasons: dict[int, str] = {}
        else:
            values = rows.values(c.name)
            if c.name in Memories.state and table is Memories and c.kind != "text":
                for i in _empty_texts(values):
                    clears[i].append(c.name)
            series[c.name], found = coerce_column(c, values)
            reasons = {} if c.is_lenient else found
            for i in found.keys() - reasons.keys():
                unfit[i].add(c.name)
        if c.required:
            missing = series[c.name].is_null().arg_true().to_list()
            reasons = reasons | {i: f"{c.name} is missing" for i in missing if i not in reasons}
        findings.add(positions, c.name, reasons | _zero_times(table, series[c.name]))
    series |= _expiry(table, rows, series, clears, unfit)
    if only is None:
        extras, reasons = _extras(table, rows, with_outcome, unfit)
        series |= extras
        findings.add(positions, "extra", reasons)
    if table is Memories:
        values = [sorted(clears[i]) if i in clears else None for i in range(len(rows))]
        series["clears"] = pl.Series("clears", values, dtype=pl.List(pl.String))
    return pl.DataFrame(series)


def _expiry(
    table: type[Landed],
    rows: DeliveredRows,
    series: dict[str, pl.Series],
    clears: dict[int, list[str]],
    unfit: dict[int, set[str]],
) -> dict[str, pl.Series]:
    """`expires_at` of memories; adds who clears it to `clears`, and values that are not read to `unfit`."""
    if table is not Memories:
        return {}
    stated = stated_expiry(rows, series["changed_at"])
    for i in stated.cleared:
        clears[i].append(EXPIRES_AT.name)
    for name, unread in stated.unread.items():
        for i in unread:
            unfit[i].add(name)
    return {EXPIRES_AT.name: stated.expires_at}


def _zero_times(table: type[Landed], times: pl.Series) -> dict[int, str]:
    """Return a reason for each event time that is the zero value of a clock."""
    if times.name != table.event_time:
        return {}
    return {
        i: f"{times.name} is {times[i].date()} at midnight, which programs write for a time that they do not know"
        for i in times.is_in([*ZERO_TIMES]).arg_true().to_list()
    }


def _extras(
    table: type[Landed], rows: DeliveredRows, with_outcome: bool, unfit: dict[int, set[str]]
) -> tuple[dict[str, pl.Series], dict[int, str]]:
    """`extra`, `extra_before` where that differs, and the rows that neither can hold, with reasons."""
    of_outcome = _first_known(Outcomes) if with_outcome else set()
    known = {c.name for c in producer_columns(table)} | of_outcome | _synonyms(table)
    extra, reasons = _extra(rows, known)
    extra, more = _with_unfit(extra, rows, known, unfit)
    before = _first_known(table) | of_outcome
    made = {"extra": extra}
    if known != before:
        is_any_new = not (known - before).isdisjoint(rows.fields)
        made[EXTRA_BEFORE] = _extra(rows, before)[0] if is_any_new else extra
    return made, more | reasons


def _synonyms(table: type[Landed]) -> frozenset[str]:
    """Other names under which fields of a table are read: only a value that was not read is in `extra`."""
    return frozenset(SYNONYMS) if table is Memories else frozenset()


def _first_known(table: type[Landed]) -> set[str]:
    """The fields that the first format knew: all others stood in `extra`, and are hashed there."""
    return {c.name for c in producer_columns(table)} - {c.name for c in from_extra(table)}


def _empty_texts(values: pl.Series | Sequence[object]) -> list[int]:
    if isinstance(values, pl.Series):
        return (values == "").arg_true().to_list() if values.dtype == pl.String else []
    return [i for i, value in enumerate(values) if isinstance(value, str) and not value]


def _extra(rows: DeliveredRows, known: set[str]) -> tuple[pl.Series, dict[int, str]]:
    """A producer's own `extra` stays inside the JSON object under that name."""
    unknown_to = known - {"extra"}
    reasons: dict[int, str] = {}
    try:
        values = rows.extra(unknown_to)
    except Unfit:  # now row by row, to learn which
        values = []
        for i in range(len(rows)):
            try:
                values += rows.take([i]).extra(unknown_to)
            except Unfit as unfit:
                values.append(None)
                reasons[i] = f"an unknown field {unfit}"
    return pl.Series("extra", values, dtype=pl.String), reasons


def _with_unfit(
    extra: pl.Series, rows: DeliveredRows, known: set[str], unfit: dict[int, set[str]]
) -> tuple[pl.Series, dict[int, str]]:
    """`extra` with the fields that have a column their value does not fit, and why one cannot even be kept there."""
    reasons: dict[int, str] = {}
    alike: dict[frozenset[str], list[int]] = defaultdict(list)
    for position, names in unfit.items():
        alike[frozenset(names)].append(position)
    for names, at in alike.items():
        kept, refused = _extra(rows.take(at), known - names)
        extra = extra.scatter(at, kept)
        reasons |= {at[i]: reason for i, reason in refused.items()}
    return extra, reasons


def _find_blank(name: str, frame: pl.DataFrame, positions: Sequence[int], findings: _Findings) -> None:
    blank = frame.select(pl.col(name).is_not_null() & is_blank(pl.col(name))).to_series().arg_true().to_list()
    findings.add(positions, name, dict.fromkeys(blank, f"{name} is blank"))


def _quarantine(rows: DeliveredRows, findings: _Findings) -> pl.DataFrame:
    found = sorted(findings.by_position.items())
    return pl.DataFrame(
        {
            ROW_NUMBER: [rows.row_numbers[i] for i, _ in found],
            "field": [reasons[0][0] for _, reasons in found],
            "reason": ["; ".join(dict.fromkeys(reason for _, reason in reasons)) for _, reasons in found],
            "raw_text": [rows.raw(i) for i, _ in found],
            "is_whole": [rows.is_whole(i) for i, _ in found],
        },
        schema=QUARANTINE_SCHEMA,
    ).unique(ROW_NUMBER, keep="first", maintain_order=True)  # of a row that was exploded, the first that is wrong


def _hashed_good_rows(table: type[Landed], parts: list[pl.DataFrame], quarantine: pl.DataFrame) -> pl.DataFrame:
    names = [name for name in polars_schema(table) if name not in {"row_hash", "key_hash"}]
    if not parts:
        schema = {ROW_NUMBER: pl.Int64(), **polars_schema(table)}
        return pl.DataFrame(schema=schema)
    for name, otherwise in _UNLESS_STATED.items():
        if any(name in part.columns for part in parts):
            parts = [part if name in part.columns else part.with_columns(otherwise) for part in parts]
            names.append(name)
    frame = pl.concat([part.select(ROW_NUMBER, *names) for part in parts])
    bad = quarantine[ROW_NUMBER].implode()
    frame = frame.filter(~pl.col(ROW_NUMBER).is_in(bad)).sort(ROW_NUMBER)
    former = [FORMER_HASH] if FORMER_HASH in names else []
    return with_row_hash(table, frame).select(ROW_NUMBER, *polars_schema(table), *former)
