"""`slowwave review`: list, show, promote, reject, merge."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.flows.command_lines import RowFormat, ask, examples, first_examples, tell, writing
from slowwave.flows.settings import settings_from_environment

if TYPE_CHECKING:
    from slowwave.flows.review import Reviewed
    from slowwave.transforms.review_changes import Wish

EXAMPLES: dict[str, tuple[str, ...]] = {
    "list": ("slowwave review list", "slowwave review list --kind candidate --project shop --format json"),
    "show": ("slowwave review show ITEM_ID", "slowwave review show ITEM_ID --format json"),
    "promote": ("slowwave review promote ITEM_ID", "slowwave review promote ITEM_ID ITEM_ID --yes --by ada"),
    "reject": (
        "slowwave review reject ITEM_ID --reason 'said in jest'",
        "slowwave review reject ITEM_ID --memory MEMORY_ID",
    ),
    "merge": ("slowwave review merge ITEM_ID", "slowwave review merge ITEM_ID --into MEMORY_ID --dry-run"),
}
_SHOWN = 10
_SHOWN_CHARACTERS = 100
_LIST = ("rank", "item_id", "kind", "project", "text", "rank_score", "succeeded_count", "failed_count", "reason")
_THINGS = ("item", "items")

review = typer.Typer(
    help="Settle what waits for a person's word: candidates, contradictions, merges, harmful and fading memories.",
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
    candidate = "candidate"
    merge = "merge"
    fading = "fading"


Items = Annotated[
    list[str], typer.Argument(help="Items of the queue, or a start of 6 characters or more.", metavar="ITEM_ID...")
]
By = Annotated[str, typer.Option(help="Who says so; kept with the decision.", metavar="NAME")]
Reason = Annotated[str | None, typer.Option(help="Why; default: the reason the queue gives.", metavar="TEXT")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
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

    names, rows = listed_items(settings_from_environment(), kind.value if kind else None, project)
    page = rows[skip : skip + limit]
    shown = names if output is not RowFormat.table else list(_LIST)
    at = [names.index(name) for name in shown]
    write_rows(shown, [[tuple(row[place] for place in at) for row in page]], output.value)
    left = len(rows) - skip - len(page)
    if left > 0:
        typer.echo(f"slowwave: {left:,} more: --skip {skip + len(page)}", err=True)


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
    from slowwave.flows.screen import counted, print_lines
    from slowwave.flows.terminal import shortened

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
        note = ", repeats its prompt" if row["in_prompt"] else ""
        lines.append(("", f"{row['interaction_id']}  {cell_text(row['occurred_at'])}  {ended}{note}"))
    lines += [("", f"and {len(behind) - limit:,} more: --format json lists all")] if len(behind) > limit else []
    print_lines(shortened(found["item_id"], _SHOWN_CHARACTERS), lines)


@review.command("promote", epilog=examples(EXAMPLES["promote"]))
def promote(
    items: Items,
    reason: Reason = None,
    by: By = "person",
    yes: Yes = False,
    dry_run: DryRun = False,
    output: Output = TextFormat.text,
) -> None:
    """Take a candidate into use; keep a harmful or fading memory, or both sides of a contradiction, as they are.

    Said of something rejected, it takes that back.
    """
    from slowwave.transforms.review_changes import Wish
    from slowwave.transforms.review_decisions import PROMOTE

    _decide(Wish(PROMOTE), items, by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


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
    """Say that a candidate or a memory is wrong, or that memories proposed for a merge are not one.

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
    """Let one memory stand for several: the others are superseded, and it gains their sources. No text is changed."""
    from slowwave.transforms.review_changes import Wish
    from slowwave.transforms.review_decisions import MERGE

    _decide(Wish(MERGE, into=into), [item], by=by, reason=reason, yes=yes, dry_run=dry_run, output=output)


def _decide(
    wish: Wish, items: list[str], *, by: str, reason: str | None, yes: bool, dry_run: bool, output: TextFormat
) -> None:
    from slowwave.flows import review as reviewing
    from slowwave.flows.screen import counted

    for name, said in (("--by", by), ("--reason", reason)):
        if said is not None and not said.strip():
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
        label = f"would {verb}" if dry_run else {"promote": "promoted", "reject": "rejected", "merge": "merged"}[verb]
        lines = [(label, counted(len(outcome.decided), *_THINGS))]
        lines += [("", _told(change)) for change in outcome.changes[:_SHOWN]]
        lines += [("seen", "from the next nightly on")] if outcome.decided and not dry_run else []
        tell(outcome, lines, [], _THINGS)


def _told(change: dict[str, Any]) -> str:
    from slowwave.flows.terminal import shortened

    said = [f"{name} {value}" for name, value in change.items() if name in {"status", "superseded_by"} and value]
    if change.get("source_ids"):
        said.append(f"{len(change['source_ids']):,} sources")
    made = "" if change["before"] else f", new: {shortened(change['content'], _SHOWN_CHARACTERS)}"
    return f"{change['memory_id']}: {', '.join(said)}{made}"


def _print_json(outcome: Reviewed, *, dry_run: bool) -> None:
    import sys

    from slowwave.flows.query_output import json_bytes

    told = {
        "dry_run": dry_run,
        "decided": outcome.decided,
        "already": outcome.already,
        "changes": [{name: value for name, value in change.items() if name != "before"} for change in outcome.changes],
        "skipped": [{"item_id": item_id, "reason": why} for item_id, why in outcome.skipped],
        "refused": [{"item_id": item_id, "reason": why} for item_id, why in outcome.refused],
    }
    sys.stdout.buffer.write(json_bytes(told) + b"\n")
    if outcome.refused:
        raise typer.Exit(1)
