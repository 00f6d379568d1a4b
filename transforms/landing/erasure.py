"""Which rows an erasure takes, and delivered rows that come again after one: they land no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import polars as pl

from slowwave.transforms.core.schema import Landed, choose_columns
from slowwave.transforms.core.vocabularies import EXPIRED_TEXT
from slowwave.transforms.landing.landed_rows import QUARANTINE_SCHEMA, ROW_NUMBER, LandedRows
from slowwave.transforms.landing.tables import LANDED, Interactions, Memories, Outcomes

# Whether the row of a landed table with this id was erased.
IsErased = Callable[[str, str], bool]

# The cells of CSV, by what stands between them.
_CELLS = [re.compile(rf'"((?:[^"]|"")*+)"(?![^{one}\r\n])|[^{one}\r\n]+') for one in (",", ";", r"\t", r"\|")]
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[^\s,;"\'{}\[\]()<>]+')


@dataclass(frozen=True)
class ErasureRequest:
    """What is to be erased, by id."""

    users: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    interactions: frozenset[str] = frozenset()
    memories: frozenset[str] = frozenset()


def find_erased_keys(asked: ErasureRequest, rows: Mapping[type[Landed], pl.LazyFrame]) -> dict[str, frozenset[str]]:
    """By landed table the ids whose rows go, in all their versions.

    An interaction goes that is named, or of which a version is of a named session or user; with it its outcomes, and
    those that are of such a session or user themselves; a memory that is named, or a change of which is of such a user.

    Args:
        asked: what was named.
        rows: all versions of all landed rows.
    """
    is_of = _in("user_id", asked.users) | _in("session_id", asked.sessions)
    interactions = _ids(Interactions, rows, _in("interaction_id", asked.interactions) | is_of)
    of_these = _in("interaction_id", interactions | asked.interactions)
    memories = _in("memory_id", asked.memories) | _in("user_id", asked.users)
    return {
        Interactions.name: interactions,
        Outcomes.name: _ids(Outcomes, rows, of_these | is_of),
        Memories.name: _ids(Memories, rows, memories),
    }


def _in(name: str, ids: frozenset[str]) -> pl.Expr:
    return pl.col(name).is_in(pl.Series(sorted(ids), dtype=pl.String).implode()).fill_null(value=False)


def _ids(table: type[Landed], rows: Mapping[type[Landed], pl.LazyFrame], goes: pl.Expr) -> frozenset[str]:
    return frozenset(rows[table].filter(goes).select(table.key[0]).unique().collect().to_series())


def refuse_erased(landed: LandedRows, is_erased: IsErased, reason: str) -> LandedRows:
    """`landed` without the rows of erased ids: they are refused for this reason, and nothing of them is kept.

    An outcome of an erased interaction is refused with it, under whatever id it comes.
    """
    gone = {number for table in LANDED for number in _numbers(table, landed.table(table), is_erased)}
    if not gone:
        return landed
    refused = pl.DataFrame([(number, "", reason, "", True) for number in sorted(gone)], QUARANTINE_SCHEMA, orient="row")
    stays = ~pl.col(ROW_NUMBER).is_in(refused[ROW_NUMBER].implode())
    frames = {table.name: landed.table(table).filter(stays) for table in LANDED}
    return replace(landed, **frames, quarantine=pl.concat([landed.quarantine, refused]))


def _numbers(table: type[Landed], rows: pl.DataFrame, is_erased: IsErased) -> Iterator[int]:
    names = [table.key[0]] + (["interaction_id"] if table is Outcomes else [])
    for number, own, *of in rows.select(ROW_NUMBER, *names).iter_rows():
        if is_erased(table.name, own) or (of and of[0] is not None and is_erased(Interactions.name, of[0])):
            yield number


def names_erased(text: str, is_erased: IsErased) -> bool:
    """Whether the text of a refused row, of whatever format, names an erased id."""
    return any(is_erased(table.name, token) for token in _tokens(text) for table in LANDED)


def _tokens(text: str) -> Iterator[str]:
    for cell in _CELLS:  # an id with spaces or quotes stands whole in one
        for match in cell.finditer(text):
            yield match[0] if match[1] is None else match[1].replace('""', '"')
    for match in _TOKEN.finditer(text):
        quoted = match[1]
        if quoted is None:
            yield match[0]
            continue
        try:
            yield json.loads(f'"{quoted}"')
        except ValueError:
            yield quoted


# Rows whose texts expired by their age: what of a row expires, and how such a row is recognised.

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
