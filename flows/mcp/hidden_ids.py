"""Ids that an answer does not tell: of what was erased and others still name, and of other users' interactions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from slowwave.flows.kernel.columns.declared import IDS
from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.flows.mcp.current_publish import NarrowedPublish

ERASED = "(erased)"
ANOTHERS = "(another user's)"
_INTERACTION = "interactions"
Id = tuple[str, str]
"""A landed table, and an id of it."""


def hide_ids(asked: NarrowedPublish, value: Any) -> Any:  # noqa: ANN401 - whatever an answer holds
    """An answer, with a word in place of each id that is not told, and of the session of such an interaction."""
    hidden = _find_hidden_ids(asked, set(_ids(value)))
    return _without(value, hidden) if hidden else value


def _find_hidden_ids(asked: NarrowedPublish, ids: Collection[Id]) -> dict[Id, str]:
    erased = read_tombstones(asked.lake)
    gone = {one: ERASED for one in ids if erased is not None and erased.is_erased(*one)}
    if asked.narrowed.user is None:
        return gone
    interactions = {name for table, name in ids if table == _INTERACTION}
    own = _seen_by(asked, interactions) if interactions else set[str]()
    return {(_INTERACTION, name): ANOTHERS for name in interactions - own} | gone


def _seen_by(asked: NarrowedPublish, interactions: Collection[str]) -> set[str]:
    """Those of these interactions that are of the user who is asked about, or of nobody."""
    import polars as pl  # slow to load

    from slowwave.flows.lake.lake import Lake
    from slowwave.transforms.landing.tables import Interactions

    lake = Lake(asked.lake)
    files = [file for of_day in lake.files(Interactions.name).values() for file in of_day]
    versions = lake.scan_rows(Interactions, files)
    now = versions.filter(pl.col("interaction_id").is_in(list(interactions))).sort("recorded_at", "row_hash")
    users = now.group_by("interaction_id").agg(pl.col("user_id").last())
    seen = users.filter(pl.col("user_id").is_null() | (pl.col("user_id") == pl.lit(asked.narrowed.user)))
    return set(seen.collect()["interaction_id"])


def _ids(value: Any) -> Iterator[Id]:  # noqa: ANN401 - as above
    if isinstance(value, list):
        for each in value:
            yield from _ids(each)
    elif isinstance(value, dict):
        for name, held in value.items():
            table = _table(value, name)
            if table is None:
                yield from _ids(held)
            else:
                yield from (
                    (table, one) for one in (held if isinstance(held, list) else [held]) if isinstance(one, str)
                )


def _table(row: Mapping[str, Any], name: str) -> str | None:
    if name == "example_id":  # of what_changed
        return _INTERACTION if row.get("topic") == "use" else "memories"
    return IDS.get(name)


def _without(value: Any, hidden: Mapping[Id, str]) -> Any:  # noqa: ANN401 - as above
    if isinstance(value, list):
        return [_without(each, hidden) for each in value]
    if not isinstance(value, dict):
        return value
    made = {name: _replace_hidden(held, _table(value, name), hidden) for name, held in value.items()}
    if "session_id" in made and made.get("interaction_id") in (ERASED, ANOTHERS):
        made["session_id"] = made["interaction_id"]
    return made


def _replace_hidden(held: Any, table: str | None, hidden: Mapping[Id, str]) -> Any:  # noqa: ANN401 - as above
    if table is None:
        return _without(held, hidden)
    if isinstance(held, list):
        return [hidden.get((table, one), one) for one in held]
    return hidden.get((table, held), held)
