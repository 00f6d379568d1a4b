"""`slowwave review`: list, show, promote, reject, merge."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.flows.command_groups import examples, first_examples
from slowwave.flows.command_lines import RowFormat, ask, tell, writing
from slowwave.flows.settings import settings_from_environment

if TYPE_CHECKING:
    from slowwave.flows.review import Reviewed
    from slowwave.flows.review_shown import ListedItems
    from slowwave.transforms.review_changes import Wish

EXAMPLES: dict[str, tuple[str, ...]] = {
    "list": ("slowwave review list", "slowwave review list --kind candidate --project shop --format json"),
    "show": ("slowwave review show ITEM_ID", "slowwave review show ITEM_ID --format json"),
    "promote": (
        "slowwave review promote ITEM_ID",
        "slowwave review promote ITEM_ID ITEM_ID --yes --by ada",
        "slowwave review promote ITEM_ID --confidence 0.8",
    ),
    "reject": (
        "slowwave review reject ITEM_ID --reason 'said in jest'",
        "slowwave review reject ITEM_ID --memory MEMORY_ID",
    ),
    "merge": ("slowwave review merge ITEM_ID", "slowwave review merge ITEM_ID --into MEMORY_ID --dry-run"),
}
_SHOWN = 10
_SHOWN_CHARACTERS = 100
_SHOWN_PROJECT = 16
_CLEARED = {"superseded_by": "no longer superseded", "source_ids": "no sources", "confidence": "no confidence"}
_SHOWN_PROMPT = 60
_THINGS = ("item", "items")

review = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=first_examples(EXAMPLES),
)


class TextFormat(StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"


class Kind(StrEnum):
    """Kinds of items."""

    harmful = "harmful"
    contradiction = "contradiction"
    outdated = "outdated"
    candidate = "candidate"
    merge = "merge"
    doubtful = "doubtful"
    fading = "fading"
    unused = "unused"


Items = Annotated[
    list[str], typer.Argument(help="Items of the queue, or a start of 6 characters or more.", metavar="ITEM_ID...")
]
By = Annotated[str, typer.Option(help="Who says so; kept with the decision.", metavar="NAME")]
Reason = Annotated[str | None, typer.Option(help="Why; kept with the decision.", metavar="TEXT")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask. Only two items or more are asked about.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; land nothing.")]
Output = Annotated[TextFormat, typer.Option("--format", help="How the answer is printed.")]


@review.command("list", epilog=examples(EXAMPLES["list"]))
def list_items(
    output: Annotated[RowFormat, typer.Option("--format", help="How the queue is printed.")] = RowFormat.table,
    kind: Annotated[Kind | None, typer.Option(help="Only items of this kind.")] = None,
    project: Annotated[str | None, typer.Option(help="Only of this project; '' is none.", metavar="PROJECT")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many.")] = 20,
    skip: Annotated[int, typer.Option(min=0, help="Leave out so many first, to page on.")] = 0,
) -> None:
    """Show what waits, first what most sessions speak for."""
    from slowwave.flows.query_output import write_rows
    from slowwave.flows.review_shown import listed_items

    listed = listed_items(settings_from_environment(), kind.value if kind else None, project)
    rows = listed.rows[skip : skip + limit]
    names, page = (listed.names, rows) if output is not RowFormat.table else _in_lines(listed, rows)
    write_rows(names, [page], output.value)
    left = len(listed.rows) - skip - len(rows)
    if left > 0:
        typer.echo(f"slowwave: {left:,} more: --skip {skip + len(rows)}", err=True)
    decided = sum(row[-1] is not None for row in listed.rows)
    if decided:
        are = f"{decided:,} item{'s are' if decided > 1 else ' is'}"
        typer.echo(f"slowwave: {are} decided since the publish and will be gone from the next nightly on", err=True)


def _in_lines(listed: ListedItems, rows: list[tuple[Any, ...]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns a person needs to choose an item, as narrow as they can be; `decided` where there is something."""
    from slowwave.flows.terminal import shortened

    is_decided = any(row[-1] for row in rows)
    lines: list[tuple[Any, ...]] = []
    for row in rows:
        item = dict(zip(listed.names, row, strict=True))
        short = (item["rank"], item["item_id"][: listed.id_length], item["kind"])
        line = (*short, shortened(item["project"], _SHOWN_PROJECT), item["text"], item["rank_score"])
        lines.append((*line, item["decided"] or "") if is_decided else line)
    return ["#", "item", "kind", "project", "text", "sessions", *(["decided"] if is_decided else [])], lines


@review.command("show", epilog=examples(EXAMPLES["show"]))
def show(
    item: Annotated[str, typer.Argument(help="An item, or a start of 6 characters or more.", metavar="ITEM_ID")],
    output: Output = TextFormat.text,
    limit: Annotated[int, typer.Option(min=1, help="Interactions shown, newest first; json lists all.")] = 10,
) -> None:
    """Show an item whole: what it says, the memories it is about, and the interactions behind its counts."""
    import sys

    from slowwave.flows.query_output import cell_text, json_bytes
    from slowwave.flows.review_shown import shown_item
    from slowwave.flows.screen import print_lines
    from slowwave.flows.terminal import counted, shortened
    from slowwave.flows.why_text import time_text

    found = shown_item(settings_from_environment(), item)
    if output is TextFormat.json:
        sys.stdout.buffer.write(json_bytes(found) + b"\n")
        return
    lines = [(name, cell_text(found[name])) for name in ("kind", "project", "memory_type", "text", "reason")]
    about = [f"{memory['memory_id']} ({memory['status']}): {memory['content']}" for memory in found["memories"]]
    lines += [("memory", memory) for memory in about]
    behind = found["interactions"]
    lines.append(
        ("stands on", f"{counted(len(behind), 'interaction')} in {counted(found['sessions_count'], 'session')}")
    )
    for row in behind[:limit]:
        ended = {True: "succeeded", False: "failed", None: "no outcome"}[row["success"]]
        told = [time_text(row["occurred_at"]), row["agent"] or "", ", ".join(row["rules"]), ended]
        told += ["repeats its prompt"] if row["in_prompt"] else []
        lines.append(("", "  ".join([row["interaction_id"], *filter(None, told)])))
        if row["prompt"]:
            lines.append(("", f"    asked: {shortened(' '.join(row['prompt'].split()), _SHOWN_PROMPT)}"))
    lines += [("", f"and {len(behind) - limit:,} more: --format json lists all")] if len(behind) > limit else []
    lines += [("decided", f"{found['decided']} since the publish")] if found["decided"] else []
    print_lines(shortened(found["item_id"], _SHOWN_CHARACTERS), lines, _next_commands(found))


def _next_commands(found: dict[str, Any]) -> list[str]:
    """What can be said of an item, and what tells more about its memories."""
    from slowwave.flows.screen import this_command

    item_id, ids, us = found["item_id"], found["memory_ids"], this_command()
    said = {"merge": ["merge", "reject"], "outdated": ["merge", "reject", "promote"]}.get(
        found["kind"], ["promote", "reject"]
    )
    needs = {"reject": " --memory MEMORY_ID"} if found["kind"] == "contradiction" else {}
    commands = [f"{us} review {word} {item_id}{needs.get(word, '')}" for word in said]
    behind = found["example_ids"]
    return [*commands, *[f"{us} why {shlex.quote(known)}" for known in ids or behind[:1]]]


@review.command("promote", epilog=examples(EXAMPLES["promote"]))
def promote(
    items: Items,
    confidence: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="0-1",
            help="Of a candidate: how sure one is of it. Default: its own, else that of the attempts behind it.",
        ),
    ] = None,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Take a candidate into use; keep a memory, or both sides of a contradiction or of a replacement, as they are.

    Said of something rejected, it takes that back.
    """
    from slowwave.transforms.review_changes import Wish
    from slowwave.transforms.review_decisions import PROMOTE

    _decide(Wish(PROMOTE, confidence=confidence), items, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


@review.command("reject", epilog=examples(EXAMPLES["reject"]))
def reject(
    items: Items,
    memory: Annotated[
        str | None, typer.Option(help="Of a contradiction: the memory that is wrong.", metavar="MEMORY_ID")
    ] = None,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Say that a candidate, a memory or what would replace one is wrong, or that memories to merge are not one.

    Said of something merged, it takes that back. A rejected candidate never returns.
    """
    from slowwave.transforms.review_changes import Wish
    from slowwave.transforms.review_decisions import REJECT

    _decide(Wish(REJECT, memory_id=memory), items, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


@review.command("merge", epilog=examples(EXAMPLES["merge"]))
def merge(
    item: Annotated[str, typer.Argument(help="An item, or a start of 6 characters or more.", metavar="ITEM_ID")],
    into: Annotated[
        str | None, typer.Option(help="The memory that stays. Default: the one proposed.", metavar="MEMORY_ID")
    ] = None,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Let one memory stand for several: the others are superseded, and it gains their sources. No text is changed.

    Of an outdated memory: the later one stands for it, without its sources.
    """
    from slowwave.transforms.review_changes import Wish
    from slowwave.transforms.review_decisions import MERGE

    _decide(Wish(MERGE, into=into), [item], by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


def _decide(
    wish: Wish, items: list[str], *, by: str, reason: str | None, yes: bool, dry_run: bool, output: TextFormat
) -> None:
    from slowwave.flows import review as reviewing
    from slowwave.flows.terminal import counted
    from slowwave.transforms.blank import says_nothing

    for name, said in (("--by", by), ("--reason", reason)):
        if said is not None and says_nothing(said):
            message = "say who" if name == "--by" else "say why, or leave it out"
            raise typer.BadParameter(message, param_hint=f"'{name}'")
    verb = wish.command.removeprefix("review ")
    if len(items) > 1 and not (yes or dry_run):  # asked before anybody has to wait for the lock
        ask(f"{verb} {counted(len(items), *_THINGS)}?")
    try:
        with writing(wish.command) as (run, _):
            outcome = reviewing.review(run, wish, items, by=by, reason=reason, dry_run=dry_run)
    except reviewing.WrongUseError as error:
        raise typer.BadParameter(str(error)) from error
    if output is TextFormat.json:
        _print_json(outcome, dry_run=dry_run)
    else:
        done = {"promote": "promoted", "reject": "rejected", "merge": "merged"}[verb]
        items_decided = counted(len(outcome.decided), *_THINGS)
        lines = [("would", f"{verb} {items_decided}") if dry_run else (done, items_decided)]
        lines += [("", _told(change)) for change in outcome.changes[:_SHOWN]]
        lines += [("", f"{memory_id}: stays as it is") for memory_id in outcome.kept[:_SHOWN]]
        lines += [("seen", "from the next nightly on")] if outcome.decided and not dry_run else []
        tell(outcome, lines, [], _THINGS)


def _told(change: dict[str, Any]) -> str:
    from slowwave.flows.terminal import counted, shortened

    said = [f"{name} {value}" for name, value in change.items() if name in {"status", "superseded_by"} and value]
    if change.get("source_ids"):
        said.append(counted(len(change["source_ids"]), "source"))
    if change.get("confidence") is not None:
        said.append(f"confidence {change['confidence']}")
    said += [_CLEARED[name] for name in change.get("clears") or []]
    made = "" if change["before"] else f", new: {shortened(change['content'], _SHOWN_CHARACTERS)}"
    return f"{change['memory_id']}: {', '.join(said)}{made}"


def _print_json(outcome: Reviewed, *, dry_run: bool) -> None:
    import sys

    from slowwave.flows.query_output import json_bytes

    told = {
        "dry_run": dry_run,
        "decided": outcome.decided,
        "already": outcome.already,
        "kept": outcome.kept,
        "changes": [{name: value for name, value in change.items() if name != "before"} for change in outcome.changes],
        "skipped": [{"item_id": item_id, "reason": why} for item_id, why in outcome.skipped],
        "refused": [{"item_id": item_id, "reason": why} for item_id, why in outcome.refused],
    }
    sys.stdout.buffer.write(json_bytes(told) + b"\n")
    if outcome.refused:
        raise typer.Exit(1)
