"""`slowwave why`: one screen about what an id names, or every count of it with the interactions behind it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import duckdb

from slowwave.flows.ask.cells import json_bytes
from slowwave.flows.ask.connection import DuckDBConfig, error_lines, published_file
from slowwave.flows.ask.why.interaction import (
    evidence_lines,
    file_words,
    landed_words,
    moved_words,
    run_text,
    run_words,
    words_lines,
)
from slowwave.flows.ask.why.items import all_command, item_facts, look_next, why_command
from slowwave.flows.ask.why.layout import Fact, FactRow, one_line, screen_text, short_id, shown_argument
from slowwave.flows.ask.why.learning import learned_text, with_case_first
from slowwave.flows.ask.why.learning_screens import error_facts, outcome_facts, strategy_facts
from slowwave.flows.ask.why.lookup import Publish
from slowwave.flows.ask.why.observations import changed_words, curation_lines, observation_text
from slowwave.flows.ask.why.strongest import (
    evidence_fact,
    interaction_memories,
    memory_evidence,
    observation_evidence,
    refused_files,
)
from slowwave.flows.ask.why.text import (
    confidence_words,
    ended_words,
    identity_words,
    interaction_text,
    lift_words,
    memory_text,
    planned_words,
    use_words,
    use_words_here,
)
from slowwave.flows.kernel.errors import UserError
from slowwave.flows.kernel.settings import Settings
from slowwave.flows.kernel.terminal import format_count
from slowwave.flows.kernel.times import utc_text
from slowwave.flows.lake.files import check_format
from slowwave.transforms.core.vocabularies import EXPIRED_TEXT

_REASONS = 4
_FILES = 3
_IDS = 6


def screen_facts(found: Record) -> list[Fact]:
    """Return what the one screen says of a thing that was found: a label and texts each."""
    *facts, last = _FACTS[found["kind"]](found)
    as_of = [] if found["kind"] == "run" else [Fact("as of", [utc_text(found["as_of"])])]
    return [*facts, *as_of, last]


def memory_facts(found: Record) -> list[Fact]:
    """Return the facts of a memory."""
    state, counts = found["memory"], found["counts"]
    memory_id = found["memory_id"]
    evidence = memory_evidence(found)
    waits = found["waits"][:1]
    named = ", ".join(f"{name} {counts[key]:,}" for name, key in _COUNTED.items() if key in counts)
    late = f" ({counts['stale']:,} after a correction)" if counts.get("stale") else ""
    expected = state["contradicted_expected"]
    ended = f"quoted or used in {counts['confirmed']:,} successful attempts and {counts['contradicted']:,} failed ones"
    return [
        Fact(
            "memory",
            [
                f"{short_id(memory_id)}: {identity_words(state, found['erased_at'])}",
                _describe_authors(found["changes"]),
            ],
        ),
        Fact("text", [one_line(state["content"], "(its text is not known)")]),
        Fact("verdict", _verdict(state)),
        Fact("", [planned_words(found["planned"])] if found["planned"] else []),
        Fact("", [changed_words(one) for one in found["changed"][:1]]),
        Fact("needs review", [], [_waiting_row(item) for item in waits]),
        evidence_fact(evidence, "interaction"),
        Fact(
            "figures",
            [
                f"injected {counts['injected']:,}{late}, {named}",
                _describe_following(counts, state),
                ended if expected is None else f"{ended} ({expected:.1f} expected)",
                confidence_words(state),
                lift_words(state),
                use_words(state, found["as_of"]),
            ],
        ),
        Fact(
            "look next",
            look_next(
                "memory",
                [
                    all_command(found, memory_id),
                    *(why_command(one.id) for one in evidence[:1]),
                    *(f"slowwave review show {item['item_id']}" for item in waits),
                ],
                memory_id=memory_id,
            ),
        ),
    ]


def _describe_following(counts: Record, state: Record) -> str:
    """Return how many of the checked answers follow an instruction, with the interval; '' where none was checked."""
    if state.get("followed_low") is None:
        return ""
    checked = format_count(counts["followed"] + counts["not_followed"], "answer")
    interval = f"{state['followed_low']:.2f} to {state['followed_high']:.2f}"
    return f"followed in {counts['followed']:,} of {checked} checked (90 % credible interval {interval})"


def _describe_authors(changes: Sequence[Record]) -> str:
    """Return who wrote a memory and who changed it last; '' where no change of it is known."""
    winning = [change for change in changes if change["is_winning"]]
    if not winning:
        return ""
    newest, oldest = winning[0], winning[-1]
    again = f"changed {format_count(len(winning) - 1, 'time')}, last {_by(newest)}"
    return f"written {_by(oldest)}, {again if len(winning) > 1 else 'not changed since'}"


def _by(change: Record) -> str:
    by = f" by {change['changed_by']}" if change["changed_by"] else ""
    return f"{change['changed_at']:%Y-%m-%d}{by}"


def _waiting_row(item: Record) -> FactRow:
    says = f"{item['kind']}: {item['reason']}"
    return FactRow(f"item:{item['item_id']}", None, says, says)


_COUNTED = {"quoted": "echoed", "used": "used", "cited": "cited", "eligible": "eligible"}


def _verdict(state: Record) -> list[str]:
    reasons = state["reasons"][:_REASONS]
    return [f"{state['verdict']}: {reasons[0]}" if reasons else state["verdict"], *reasons[1:]]


def interaction_facts(found: Record) -> list[Fact]:
    """Return the facts of an interaction: its words, how it ended, and what became of each memory."""
    interaction_id, memories = found["interaction_id"], interaction_memories(found)
    about = ", ".join(f"{name} {found[key]}" for name, key in _ABOUT.items() if found[key])
    outcomes = sorted(found["outcomes"], key=lambda row: not row["is_deciding"])
    known_text = f"({EXPIRED_TEXT})" if found["is_text_let_go"] else "(not known)"
    by_use = {
        "injected": found["injected"],
        "quoted": found["echoed"],
        "used": found["used"],
        "cited": found["cited"],
    }
    none = [name for name, rows in by_use.items() if not rows]
    return [
        Fact(
            "interaction", [short_id(interaction_id), f"{utc_text(found['occurred_at'])}{', ' if about else ''}{about}"]
        ),
        Fact("prompt", [one_line(found["prompt"], known_text)]),
        Fact("answer", [one_line(found["response"], known_text)]),
        Fact("ended", [] if outcomes else ["no outcome is known"], [_outcome_row(row) for row in outcomes]),
        Fact(
            "memories", [f"{name} {_ids([row['memory_id'] for row in rows])}" for name, rows in by_use.items() if rows]
        ),
        Fact("" if memories else "memories", [f"{', '.join(none)}: none"] if none else []),
        Fact(
            "evidence",
            ["counts before → with this interaction:"] if memories else [],
            [_memory_row(row) for row in memories],
        ),
        Fact("session", [], [_neighbour_row(row) for row in found["neighbours"]]),
        Fact(
            "look next",
            look_next(
                "interactions",
                [
                    all_command(found, interaction_id),
                    *(why_command(row["memory_id"]) for row in memories[:1]),
                    *(why_command(row["strategy_id"]) for row in outcomes[:1] if row["strategy_id"]),
                ],
                open=f"interaction:{interaction_id}",
            ),
        ),
    ]


_ABOUT = {"project": "project", "agent": "agent", "session": "session_id"}


def _outcome_row(row: Record) -> FactRow:
    ended = ended_words(row)
    return FactRow(f"outcome:{row['outcome_id']}", None, ended, f"{ended}: {short_id(row['outcome_id'])}")


def _memory_row(row: Record) -> FactRow:
    says = f"{use_words_here(row)}: {moved_words(row) or 'nothing counted'}"
    return FactRow(f"memory:{row['memory_id']}", None, says, f"{short_id(row['memory_id'])}, {says}")


def _neighbour_row(row: Record) -> FactRow:
    id_, at, says = row["interaction_id"], row["occurred_at"], f"{row['side']} it"
    return FactRow(f"interaction:{id_}", at, says, f"{says}: {short_id(id_)}, {utc_text(at)}")


def _ids(ids: Sequence[str]) -> str:
    more = f", and {len(ids) - _IDS:,} more" if len(ids) > _IDS else ""
    return f"{len(ids):,}: {', '.join(map(short_id, ids[:_IDS]))}{more}"


def observation_facts(found: Record) -> list[Fact]:
    """Return the facts of an observation."""
    row, counts = found["observation"], found["counts"]
    evidence = observation_evidence(found)
    answers = [piece for piece in evidence if piece.id in {one["interaction_id"] for one in found["references"]}]
    confidence = "not known" if row["confidence"] is None else f"{row['confidence']:.2f}"
    journey = found["journey"] or []
    return [
        Fact("observation", [f"{found['observation_id']}, {row['project'] or 'no project'}, {row['scope']}"]),
        Fact("text", [one_line(row["text"])]),
        Fact(
            "state",
            [
                f"{row['freshness']}: last evidence {utc_text(row['last_evidence_at'])}; trend {row['trend']}",
                (
                    f"{format_count(counts['memories'], 'active memory states', 'active memories state')} it "
                    f"({row['method']})"
                ),
                *([f"it has changed {format_count(len(journey) - 1, 'time')}"] if journey else []),
            ],
        ),
        Fact("contradicts", [], [_stating_row(one) for one in found["contradicts"]]),
        Fact("memories", [], [_stating_row(one) for one in found["memories"]]),
        evidence_fact(evidence, "answer or source", "answers and sources"),
        Fact(
            "figures",
            [
                f"confidence {confidence} (the mean of its memories)",
                f"sources {counts['sources']:,}, memories {counts['memories']:,} ({counts['superseded']:,} superseded)",
                f"answers that quote or use one of its memories {counts['references']:,}",
            ],
        ),
        Fact(
            "look next",
            look_next(
                "observations",
                [
                    all_command(found, found["observation_id"]),
                    why_command(row["best_memory_id"]),
                    *(why_command(piece.id) for piece in answers[:1]),
                ],
                open=f"observation:{found['observation_id']}",
            ),
        ),
    ]


def _stating_row(row: Record) -> FactRow:
    id_, says = row["memory_id"], one_line(row["content"])
    return FactRow(f"memory:{id_}", row["created_at"], says, f"{short_id(id_)}: {says}")


def run_facts(found: Record) -> list[Fact]:
    """Return the facts of a run."""
    run, refused = found["run"], refused_files(found)
    first = {row["source"]: row for row in reversed(found["refused"])}
    return [
        Fact("run", [f"{run['run_id']}: {run_words(run)}"]),
        Fact("state", [" ".join(run["message"].split()) if run["message"] else "nothing is noted"]),
        Fact(
            "evidence",
            [
                file_words(row) + (f"; first: {first[row['source']]['reason']}" if row["source"] in first else "")
                for row in refused[:_FILES]
            ]
            or ["no row was refused"],
        ),
        Fact(
            "figures",
            [
                landed_words(run),
                (
                    f"{format_count(run['days_count'], 'day')} with evidence, {run['days_built_count']:,} of them "
                    "built by it"
                ),
                f"slowwave {run['version']}",
            ],
        ),
        Fact(
            "look next",
            look_next(
                "runs",
                [all_command(found, run["run_id"]), "slowwave sql quarantine_reasons"],
                open=f"run:{run['run_id']}",
            ),
        ),
    ]


_FACTS: dict[str, Callable[[Record], list[Fact]]] = {
    "memory": memory_facts,
    "interaction": interaction_facts,
    "strategy": strategy_facts,
    "error": error_facts,
    "family": error_facts,
    "outcome": outcome_facts,
    "observation": observation_facts,
    "run": run_facts,
    "item": item_facts,
}


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
