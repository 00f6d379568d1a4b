"""What others do about the same logs, each in a process of its own (see `measured.py`): prints what it took as JSON."""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from measured import STEPS, Said, cpu_seconds, main

if TYPE_CHECKING:
    import polars as pl

_LONG_ENOUGH = 12
_Read = TypeVar("_Read")


def atocore_first(folder: str, rows: str) -> Said:
    """AtoCore's first rule: the first 80 characters of a memory, normalised, stand in the answer."""

    def said(text: str) -> str:
        return " ".join(text.lower().split())

    def is_there(content: str, answer: str) -> bool:
        prefix = said(content)[:80]
        return len(prefix) >= _LONG_ENOUGH and prefix in answer

    return _atocore_loop(folder, int(rows), said, is_there)


def atocore_last(folder: str, rows: str) -> Said:
    """AtoCore's last rule: 70 % of a memory's stems stand in the answer, of a long one 35 % and at least 12."""

    def stems(text: str) -> set[str]:
        return {_stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _STOP_WORDS}

    def is_there(content: str, answer: set[str]) -> bool:
        wanted = stems(content)
        shared = len(wanted & answer)
        if len(wanted) > _LONG_MEMORY:
            return shared >= _SHARED_OF_LONG and shared >= 0.35 * len(wanted)
        return bool(wanted) and shared >= 0.7 * len(wanted)

    return _atocore_loop(folder, int(rows), stems, is_there)


_LONG_MEMORY, _SHARED_OF_LONG = 15, 12
_COMMON = (
    "a an and are as at be but by for from has have in is it its not of on or that the this to was we will with you"
)
_STOP_WORDS = frozenset(_COMMON.split(" "))


def _stem(word: str) -> str:
    for end in ("ing", "ed", "s"):
        if word.endswith(end) and len(word) - len(end) > 2:
            return word[: -len(end)]
    return word


def _atocore_loop(folder: str, rows: int, read: Callable[[str], _Read], is_there: Callable[[str, _Read], bool]) -> Said:
    """A rule as a plain loop: every active memory of the project and of everybody, tried in every answer.

    One interaction at a time, as it is captured: nothing is kept between two of them but the memories.
    """
    import polars as pl

    held: dict[str, list[str]] = {}
    active = _memories(folder).filter(pl.col("status") == "active").select("project", "content")
    for project, content in active.collect().iter_rows():
        held.setdefault(project, []).append(content)
    answers = _interactions(folder).head(rows).collect()
    begun, found = cpu_seconds(), 0
    for project, response, summary in answers.iter_rows():
        answer = read(f"{response or ''} {summary or ''}")
        found += sum(is_there(content, answer) for content in (*held.get(project, ()), *held.get("", ())))
    return {"each": (cpu_seconds() - begun) / answers.height, "rows": answers.height, "found": found}


def alma_learn(folder: str, rows: str) -> Said:
    """alma-memory's learn() over the first outcomes, as its users call it: SQLite, no embedder."""
    import polars as pl
    from alma.learning.protocols import LearningProtocol
    from alma.storage.sqlite_local import SQLiteStorage

    logging.disable(logging.CRITICAL)
    outcomes = pl.scan_parquet(sorted(Path(folder).glob("outcomes-*.parquet"))).head(int(rows)).collect()
    with tempfile.TemporaryDirectory() as temporary:
        protocol = LearningProtocol(SQLiteStorage(Path(temporary) / "alma.db"), scopes={})
        begun = cpu_seconds()
        for row in outcomes.iter_rows(named=True):
            try:
                protocol.learn(
                    agent=row["agent"],
                    project_id=row["project"],
                    task=row["task"],
                    outcome=row["success"],
                    strategy_used=row["strategy"],
                    task_type=row["task_type"],
                    duration_ms=int(row["duration_ms"]),
                    error_message=row["error_message"],
                )
            except Exception as error:
                if type(error).__name__ != "ScopeViolationError":
                    raise
        return {"each": (cpu_seconds() - begun) / outcomes.height, "rows": outcomes.height}


def learned(home: str, as_of: str) -> Said:
    """Everything that a publish learns from the outcomes of a home, read from its lake."""
    from slowwave.flows.kernel.settings import Settings
    from slowwave.flows.kernel.times import parse_as_of
    from slowwave.flows.nightly.nightly import make_plan, start_run
    from slowwave.flows.publish.publish import PublishShell
    from slowwave.flows.publish.runner import Runner
    from slowwave.transforms.graph import NODES, PUBLISHED
    from slowwave.transforms.learning.tables import CountedOutcomes

    run = start_run(Settings(Path(home)), "nightly")
    plan = make_plan(run, parse_as_of(as_of))
    begun = cpu_seconds()
    shell = PublishShell(plan, run.run_id)
    counted = Runner(NODES, PUBLISHED, shell, run.params, plan.log.as_of).value(CountedOutcomes)
    return {"each": cpu_seconds() - begun, "rows": counted.height}


# What an engineer would write first for the echo: no index, no state in time, no white space evened out.
_DUCKDB = """
SELECT count(*)
FROM read_parquet($interactions) AS said
JOIN (
    SELECT memory_id, project, lower(left(content, 80)) AS prefix80
    FROM read_parquet($memories, union_by_name = true)
    WHERE status = 'active' AND length(content) >= 12
) AS held ON held.project = said.project AND contains(lower(said.response), held.prefix80)
"""


def plain_duckdb(folder: str) -> Said:
    """The echo as one plain DuckDB query."""
    import duckdb

    files = {
        name: [str(path) for path in sorted(Path(folder).glob(f"{name}-*"))] for name in ("interactions", "memories")
    }
    with duckdb.connect() as connection:
        ((found,),) = connection.execute(_DUCKDB, files).fetchall()
    return {"found": found}


def plain_polars(folder: str) -> Said:
    """The echo as one plain Polars query."""
    import polars as pl

    held = _memories(folder).filter(pl.col("status") == "active", pl.col("content").str.len_chars() >= _LONG_ENOUGH)
    found = (
        _interactions(folder)
        .join(held.select("project", prefix80=pl.col("content").str.slice(0, 80).str.to_lowercase()), on="project")
        .filter(pl.col("response").str.to_lowercase().str.contains(pl.col("prefix80"), literal=True))
        .select(pl.len())
    )
    return {"found": found.collect().item()}


def _memories(folder: str) -> pl.LazyFrame:
    import polars as pl

    files = sorted(Path(folder).glob("memories-*.parquet"))
    return (
        pl.scan_parquet(files, missing_columns="insert")
        .filter(pl.col("content").is_not_null(), pl.col("project").is_not_null())
        .select("project", "content", "status")
    )


def _interactions(folder: str) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(sorted(Path(folder).glob("interactions-*.parquet"))).select(
        "project", "response", "response_summary"
    )


if __name__ == "__main__":
    main(
        {
            **STEPS,
            **{
                step.__name__: step
                for step in (atocore_first, atocore_last, alma_learn, learned, plain_duckdb, plain_polars)
            },
        }
    )
