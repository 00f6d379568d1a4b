"""What an id names in one publish, with the rows behind each of its counts.

What was published is read from the serving file, what a publish does not repeat from the partitions and landed changes
it was made from. DuckDB reads them all: loading Polars as well would take longer than the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from slowwave.flows.ask.why.interaction import WORDS, evidence_around, run_about
from slowwave.flows.ask.why.items import item_about
from slowwave.flows.ask.why.layout import shown_argument
from slowwave.flows.ask.why.learning import (
    error_about,
    family_about,
    outcome_about,
    strategies_named,
    strategy_about,
)
from slowwave.flows.ask.why.observations import CHANGED, CURATED, WAITS, observation_about
from slowwave.flows.ask.why.queries import (
    CHANGES,
    CHECKS,
    ELIGIBLE,
    ENDED,
    INTERACTION,
    IS_PROJECT,
    MEMORY,
    NEIGHBOURS,
    OF_INTERACTION,
    OUTCOMES_OF,
    PLANNED,
    REFERENCES,
    REVIEWED,
    STALE,
    Partitions,
    partitions_of,
)
from slowwave.flows.kernel.declared_columns import CARRIED, COUNTED, OF_CHANGE, READ
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.terminal import format_count, shorten_to_width
from slowwave.flows.lake.files import files_by_day
from slowwave.flows.lake.lifetime.horizons import read_horizon
from slowwave.flows.lake.lifetime.tombstones import read_tombstones
from slowwave.flows.lake.sql import NEAR_PUBLISHED, SHOWN_NEAR, no_globs

Record = dict[str, Any]
Records = Callable[..., list[Record]]

# What is told of every interaction: whose it is, is not.
_OF_INTERACTION = tuple(name for name in READ["replayed_interactions"] if name != "user_id")
# What an earlier release published has no passages, no basis and no citations.
_OF_USE = ("used_score", "passage", "passage_at")
_OF_END = ("outcome_id", "basis", "basis_method")
# What can be erased, and what its hashes are made of.
_ERASABLE = {
    "memory": "memories",
    "interaction": "interactions",
    "outcome": "outcomes",
    "user": "user",
    "session": "session",
}


# Shown for `item:ID` alone: a bare id leads to `slowwave review show`.
_ITEM = "item"


class Publish:
    """One run's serving file, and the lake it was made from; without a lake only what is published is told.

    `connection` may be locked: what is not in the published file is read by another one.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, lake: Path | None, run_id: str) -> None:
        self._connection = connection
        self._lake = lake
        self._run_id = run_id
        self._of_lake = None if lake is None else _lake_connection()
        run = self._rows("SELECT as_of FROM runs WHERE run_id = $run_id", run_id=run_id)
        if not run:
            message = "the published file is not named after its run: run `slowwave nightly` to publish anew"
            raise UserError(message)
        self._as_of = run[0][0]

    def looks(self) -> dict[str, Callable[[str], Record | None]]:
        """How each kind of thing is looked up; what an id names alone is shown in this order."""
        looks: dict[str, Callable[[str], Record | None]] = {
            "memory": self.memory,
            "interaction": self.interaction,
            "strategy": partial(strategy_about, self.records),
            "error": partial(error_about, self.records),
            "family": partial(family_about, self.records),
            "outcome": partial(outcome_about, self.records),
            "observation": partial(observation_about, self.records),
            _ITEM: partial(item_about, self.records),
        }
        if self._lake is not None:  # an agent asks, by a tool, about nothing that only says how things run
            looks["run"] = partial(run_about, self.records)
        return looks

    def look_up_id(self, given: str) -> Record:
        """What an id or `KIND:ID` names, with `also`: the other things it names, each as the `KIND:ID` that chooses it.

        Raises UserError when it names nothing.
        """
        kind, _, rest = given.partition(":")
        looks = self.looks()
        things = [(name, given, look(given)) for name, look in looks.items() if name != _ITEM]
        if kind in looks and rest:
            things.insert(0, (kind, rest, looks[kind](rest)))
        found = [(f"{name}:{id_}", thing) for name, id_, thing in things if thing is not None]
        if not found and kind in looks and rest:
            raise UserError(self.unknown(rest, kind))
        if not found:
            raise UserError(self.unknown(given))
        also = [name for name, _ in found[1:]]
        kind, shown = found[0][0].partition(":")[0], found[0][1]
        if kind == "strategy":
            also += [f"strategy:{id_}" for id_ in strategies_named(self.records, found[0][0].partition(":")[2])[1:]]
        return {"kind": kind, "as_of": self._as_of, "run_id": self._run_id, **shown, "also": also}

    def memory(self, memory_id: str) -> Record | None:
        """The memory as published, its counts, the interactions behind each (newest first), and its changes.

        `failed_with` are the failed attempts that it was injected into, whether or not they used it; `apart` those
        among its references that were inferred, and that nothing is learned from.
        `erased_at`: when it was erased, if it was, and rows of others still name it.
        `eligible` is None, and `problem` says why, where the partitions that tell are gone. None for an unknown id.
        """
        known = self.records(MEMORY, id=memory_id)
        if not known:
            return None
        state = known[0]
        references = self.records(REFERENCES, id=memory_id)
        injected = [_about(row) for row in references if row["is_injected"]]
        echoed = [_about(row, "echoed_in", "in_prompt") for row in references if row["is_echoed"]]
        used = [_about(row, *_OF_USE) for row in references if row["is_used"]]
        referenced = [_about(row, "methods") for row in references if row["is_echoed"] or row["is_used"]]
        attempts = self.records(ENDED, id=memory_id)
        deciding = [row for row in attempts if row["is_deciding"]]
        ended = [row for row in deciding if row["is_referenced"]]
        eligible, problem = self._eligible(memory_id, state["eligible_count"])
        # what an earlier release published does not say
        checks = self.records(CHECKS, id=memory_id) if "followed_count" in state else []
        return {
            "memory_id": memory_id,
            "memory": {k: v for k, v in state.items() if k not in {*COUNTED.values(), "memory_id"}},
            "counts": {name: state[column] for name, column in COUNTED.items() if column in state},
            "eligible": eligible,
            "injected": injected,
            "stale": self.records(STALE, id=memory_id) if "stale_injected_count" in state else [],
            "echoed": echoed,
            "used": used,
            "cited": [_about(row) for row in references if row.get("is_cited")],
            "references": referenced,
            "followed": [_about(row, "saw") for row in checks if row["is_followed"]],
            "not_followed": [_about(row, "saw") for row in checks if not row["is_followed"]],
            "confirmed": [_about(row, *_OF_END) for row in ended if row["success"]],
            "contradicted": [_about(row, *_OF_END) for row in ended if not row["success"]],
            "failed_with": [_about(row, *_OF_END) for row in deciding if row["is_injected"] and not row["success"]],
            "apart": [
                _about(row, *_OF_END, "success")
                for row in attempts
                if row["is_referenced"] and row.get("is_counted") is False
            ],
            "planned": next(iter(self.records(PLANNED, id=memory_id)), None),
            "changed": self.records(CHANGED, id=memory_id),
            "waits": self.records(WAITS, id=memory_id),
            "curated": self.records(CURATED, id=memory_id),
            "changes": self._changes(memory_id),
            "problem": problem,
            "erased_at": _erased_at(self._lake, "memories", memory_id),
        }

    def interaction(self, interaction_id: str) -> Record | None:
        """An interaction's prompt and answer, its memories and outcomes, and the evidence around it; None: unknown."""
        references = self.records(OF_INTERACTION, id=interaction_id)
        about = references or self._read_replayed_interaction(interaction_id)
        if not about:
            return None
        outcomes = self.records(OUTCOMES_OF, id=interaction_id)
        texts = read_horizon(self._lake, "texts") if self._lake is not None else None
        return {
            "interaction_id": interaction_id,
            **{name: about[0][name] for name in _OF_INTERACTION[1:]},
            **self._words(interaction_id, about[0]["occurred_at"]),
            "injected": [{"memory_id": row["memory_id"]} for row in references if row["is_injected"]],
            "echoed": [
                {name: row[name] for name in ("memory_id", "echoed_in", "in_prompt")}
                for row in references
                if row["is_echoed"]
            ],
            "used": [{name: row.get(name) for name in ("memory_id", *_OF_USE)} for row in references if row["is_used"]],
            "cited": [{"memory_id": row["memory_id"]} for row in references if row.get("is_cited")],
            "outcomes": outcomes,
            **evidence_around(self.records, self._published_by, interaction_id, about[0]["occurred_at"]),
            "neighbours": self._neighbours(about[0]),
            "is_text_let_go": bool(texts and about[0]["occurred_at"].date() < texts.before),
        }

    def unknown(self, given: str, kind: str = "") -> str:
        """What to say of an id that nothing has; `kind`: that no such thing has, while another may."""
        erased = _describe_erased_id(self._lake, given)
        if erased:
            return erased
        near = [memory_id for (memory_id,) in self._rows(NEAR_PUBLISHED, id=given, limit=SHOWN_NEAR)]
        has_shell = self._lake is not None  # without the lake it is an agent that asks, by a tool
        listed = (
            "`slowwave sql most_referenced` and `strategies` list some" if has_shell else "memory_health lists some"
        )
        hint = f"did you mean {' or '.join(near)}?" if near else listed
        if self._rows(REVIEWED, id=given):
            shown = f": `slowwave review show {shown_argument(given)}`" if has_shell else ", for a person to settle"
            hint = f"it is an item of review{shown}"
        if self._rows(IS_PROJECT, id=given):
            asked = shown_argument(f"project={given}")
            shown = f": `slowwave sql memories_of_project --param {asked}`" if has_shell else ""
            hint = f"it is a project{shown}"
        looks = self.looks().items() if kind else ()
        other = next((f"{name}:{given}" for name, look in looks if name != kind and look(given) is not None), "")
        if other:
            shown = f"`slowwave why {shown_argument(other)}`" if has_shell else shorten_to_width(other, 200)
            hint = f"it names another thing: {shown}"
        kinds = kind or "memory, observation, interaction, strategy, error, outcome or run"
        return f"no {kinds} {shorten_to_width(given, 200)!r} is known as of {self._as_of}Z: {hint}"

    def _eligible(self, memory_id: str, count: int) -> tuple[list[Record] | None, str]:
        if self._lake is None:
            return None, ""
        partitions = self._partitions()
        if partitions.missing is None:
            return (
                None,
                f"the ledger no longer says what run {self._run_id} was made from: run `slowwave nightly --full`",
            )
        if partitions.missing:
            missing = format_count(partitions.missing, "partition")
            return None, f"{missing} of run {self._run_id} cannot be found: run `slowwave nightly --full`"
        found: list[Record] = []
        if partitions.memory_eligibility:
            found = self._lake_records(
                ELIGIBLE,
                id=memory_id,
                replayed_interactions=partitions.replayed_interactions,
                memory_eligibility=partitions.memory_eligibility,
            )
        if partitions.listed_from and len(found) < count:
            return found, (
                f"{format_count(count - len(found), 'interaction')} in which it could have been used, before "
                f"{partitions.listed_from}, are counted and not listed: retention deleted that evidence"
            )
        if len(found) != count and partitions.memory_eligibility:
            listed = format_count(len(found), "interaction")
            return None, f"the partitions list {listed}, not {count:,}: run `slowwave nightly --full`"
        return found, ""

    def _read_replayed_interaction(self, interaction_id: str) -> list[Record]:
        paths = self._partitions().replayed_interactions
        return self._lake_records(INTERACTION, id=interaction_id, replayed_interactions=paths) if paths else []

    def _partitions(self) -> Partitions:
        if self._lake is None:
            return Partitions([], [], None)
        return partitions_of(self._lake, self._run_id, self._lake_rows)

    def _changes(self, memory_id: str) -> list[Record]:
        """Landed versions of the memory's changes, newest first; `changed` holds what each states anew: [from, to]."""
        changes, stated = [], {}
        for version in self._query_landed_versions(CHANGES, "memories", memory_id):
            row = version | _once_in_extra(version)
            given = {name: row[name] for name in CARRIED if row.get(name) is not None}
            given |= dict.fromkeys(row.get("clears") or [])
            changed = {name: [stated.get(name), new] for name, new in given.items() if stated.get(name) != new}
            changes.append({name: row[name] for name in (*OF_CHANGE, "is_winning")} | {"changed": changed})
            if row["is_winning"]:
                stated |= given
        return changes[::-1]

    def _words(self, interaction_id: str, occurred_at: datetime) -> Record:
        """The winning version's prompt and response; None where the lake does not have them."""
        found = self._query_landed_versions(WORDS, "interactions", interaction_id, occurred_at.date())
        return found[0] if found else {"prompt": None, "response": None}

    def _neighbours(self, about: Record) -> list[Record]:
        """The interactions before and after one in its session: `side`, `occurred_at`, `interaction_id`."""
        paths = self._partitions().replayed_interactions if about["session_id"] else []
        asked = {"id": about["interaction_id"], "at": about["occurred_at"], "session_id": about["session_id"]}
        known = {**asked, "project": about["project"], "replayed_interactions": paths}
        return self._lake_records(NEIGHBOURS, **known) if paths else []

    def _published_by(self, run_id: str) -> Records | None:
        """What the file of another run answers; None where it is not kept, or may not be read."""
        (path,) = self._rows("SELECT path FROM duckdb_databases() WHERE database_name = current_database()")[0]
        file = Path(path).parent / f"{run_id}.duckdb"
        if self._of_lake is None or not file.exists():
            return None
        attached = str(file).replace("'", "''")
        self._of_lake.execute(f"ATTACH IF NOT EXISTS '{attached}' AS \"{run_id}\" (READ_ONLY)")
        self._of_lake.execute(f'USE "{run_id}"')
        return self._lake_records

    def _query_landed_versions(self, sql: str, table: str, id_: str, on: date | None = None) -> list[Record]:
        """What a query on the landed versions of a table, `on` one day or all, answers."""
        lake = self._lake
        if lake is None:
            return []

        def read_versions() -> list[Record]:
            by_day = files_by_day(lake, table)
            paths = [file.path for day, files in by_day.items() if on in (None, day) for file in files]
            known = {"id": id_, "as_of": self._as_of, table: no_globs(paths)}
            return self._lake_records(sql, **known) if paths else []

        try:
            return read_versions()
        except duckdb.IOException:  # a compaction has merged a listed file into another
            return read_versions()

    def _rows(self, sql: str, **params: object) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, params).fetchall()

    def _lake_rows(self, sql: str, **params: object) -> list[tuple[Any, ...]]:
        return [] if self._of_lake is None else self._of_lake.execute(sql, params).fetchall()

    def records(self, sql: str, **params: object) -> list[Record]:
        """What a query on the published file answers."""
        return _rows_to_records(self._connection, self._rows(sql, **params))

    def _lake_records(self, sql: str, **params: object) -> list[Record]:
        """What a query on files beside the published one answers."""
        return [] if self._of_lake is None else _rows_to_records(self._of_lake, self._lake_rows(sql, **params))


def _lake_connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def _rows_to_records(connection: duckdb.DuckDBPyConnection, rows: list[tuple[Any, ...]]) -> list[Record]:
    names = [column[0] for column in connection.description or []]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _describe_erased_id(lake: Path | None, given: str) -> str:
    """What to say of an id that was erased; '' where none of this name was."""
    for kind, table in _ERASABLE.items():
        at = _erased_at(lake, table, given)
        if at is not None:
            return f"{kind} {shorten_to_width(given, 200)!r} was erased on {at:%Y-%m-%d}: nothing of it is kept"
    return ""


def _erased_at(lake: Path | None, table: str, given: str) -> datetime | None:
    keys = read_tombstones(lake) if lake is not None else None
    return keys.erased_at(table, given) if keys else None


def _once_in_extra(row: Record) -> Record:
    """Fields of a landed change that stood in its `extra`: it landed before they were declared."""
    extra = row["extra"] or ""
    if not any(f'"{name}":' in extra for name in CARRIED):
        return {}
    from slowwave.transforms.landing.schema_changes import taken_from_extra
    from slowwave.transforms.landing.tables import Memories  # slow to load

    return taken_from_extra(Memories, row)


def _about(row: Record, *more: str) -> Record:
    return {name: row.get(name) for name in (*_OF_INTERACTION, *more)}
