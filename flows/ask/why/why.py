"""`slowwave why`: one screen about what an id names, or every count of it with the interactions behind it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

import duckdb

from slowwave.flows.ask.cells import json_bytes
from slowwave.flows.ask.connection import DuckDBConfig, error_lines, published_file
from slowwave.flows.ask.why.interaction import evidence_lines, run_text, words_lines
from slowwave.flows.ask.why.layout import screen_text, shown_argument
from slowwave.flows.ask.why.learning import learned_text, with_case_first
from slowwave.flows.ask.why.lookup import Publish
from slowwave.flows.ask.why.observations import curation_lines, observation_text
from slowwave.flows.ask.why.screens import screen_facts
from slowwave.flows.ask.why.text import interaction_text, memory_text
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.lake.files import check_format

Record = dict[str, Any]

_LIMIT = 5

_TEXTS: dict[str, Callable[[Record, int], str]] = {
    "memory": lambda found, limit: memory_text(found, limit, curation_lines(found)),
    "interaction": lambda found, _: interaction_text(found, words_lines(found), evidence_lines(found)),
    "strategy": learned_text,
    "error": learned_text,
    "family": learned_text,
    "outcome": learned_text,
    "observation": observation_text,
    "run": run_text,
}


def run_why(
    settings: Settings,
    id: str,  # noqa: A002 - what it is called
    *,
    output: str = "text",
    is_all: bool = False,
    limit: int | None = None,
    case: Mapping[str, str] | None = None,
) -> None:
    """Print one screen about what an id names: its state and why, the strongest evidence, the figures.

    Args:
        settings: of the home.
        id: of a memory, interaction, strategy (or one of its wordings), error, outcome, observation or run. Where it
            names several things, that which comes first in `Publish.looks` is shown and the others are named, on
            standard error and as `also`: `KIND:ID` chooses.
        output: `text`, or `json` with every row behind every count.
        is_all: print every count, with rows behind it, in place of the one screen.
        limit: so many rows of each count, 5 where none is given; giving it prints every count too.
        case: of a strategy, the `project`, `agent` and `task_type` to show first.

    Raises UserError when nothing is published, or nothing that is published has this id or this case, or when the lake
    was written by a newer version.
    """
    serving = published_file(settings)
    if serving is None:
        message = "nothing is published yet: run `slowwave nightly`"
        raise UserError(message)
    check_format(settings.lake_folder)
    config: DuckDBConfig = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    try:
        with closing(duckdb.connect(serving, read_only=True, config=config)) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            publish = Publish(connection, settings.lake_folder, serving.stem)
            found = publish.look_up_id(id)
    except duckdb.Error as error:
        raise UserError(error_lines(error)) from error
    if found.get("problem"):
        sys.stderr.write(f"slowwave: {found['problem']}\n")
    if found["also"]:
        others = " or ".join(f"`slowwave why {shown_argument(other)}`" for other in found["also"])
        sys.stderr.write(f"slowwave: this id names something else too: {others}\n")
    if case:
        found = with_case_first(found, case)
    if output == "json":
        sys.stdout.buffer.write(json_bytes(found) + b"\n")
    elif is_all or limit is not None:
        sys.stdout.write(_TEXTS[found["kind"]](found, limit or _LIMIT))
    else:
        sys.stdout.write(screen_text(screen_facts(found)))
    sys.stdout.flush()
