"""`slowwave review`: list, show, promote, reject, merge, curate."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from slowwave.flows.cli.groups import examples, first_examples
from slowwave.flows.cli.shared import Decision, Output, RowFormat, ask, deciding, print_json, print_outcome, writing
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.transforms.core.vocabularies import ReviewKind

if TYPE_CHECKING:
    from slowwave.flows.decide.listed import ListedItems
    from slowwave.transforms.decisions.review.changes import ReviewCommand

EXAMPLES: dict[str, tuple[str, ...]] = {
    "list": (
        "slowwave review list",
        "slowwave review list --kind candidate --project shop --format json",
        "slowwave review list --user ada",
    ),
    "show": ("slowwave review show ITEM_ID", "slowwave review show ITEM_ID --format json"),
    "promote": (
        "slowwave review promote ITEM_ID",
        "slowwave review promote ITEM_ID ITEM_ID --yes --by ada",
        "slowwave review promote ITEM_ID --confidence 0.8",
        "slowwave review promote ITEM_ID --scope project",
    ),
    "reject": (
        "slowwave review reject ITEM_ID --reason 'said in jest'",
        "slowwave review reject ITEM_ID --memory MEMORY_ID",
    ),
    "merge": ("slowwave review merge ITEM_ID", "slowwave review merge ITEM_ID --into MEMORY_ID --dry-run"),
    "curate": ("slowwave review curate --dry-run --limit 3", "slowwave review curate --dry-run --format json"),
}
_SHOWN = 10
_SHOWN_CHARACTERS = 100
_SHOWN_PROJECT = 16
_CLEARED = {
    "superseded_by": "no longer superseded",
    "source_ids": "no sources",
    "confidence": "no confidence",
    "user_id": "for all users",
}
_SHOWN_PROMPT = 60
_THINGS = ("item", "items")

review = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=first_examples(EXAMPLES),
)


Items = Annotated[
    list[str], typer.Argument(help="Items of the queue, or a start of 6 characters or more.", metavar="ITEM_ID...")
]


@review.command("list", epilog=examples(EXAMPLES["list"]))
def list_items(
    output: Annotated[RowFormat, typer.Option("--format", help="How the queue is printed.")] = "table",
    kind: Annotated[ReviewKind | None, typer.Option(help="Only items of this kind.")] = None,
    project: Annotated[str | None, typer.Option(help="Only of this project; '' is none.", metavar="PROJECT")] = None,
    user: Annotated[str | None, typer.Option(help="Only what is this user's alone.", metavar="USER_ID")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many.")] = 20,
    skip: Annotated[int, typer.Option(min=0, help="Leave out so many first, to page on.")] = 0,
) -> None:
    """Show what waits: harm first, then ignored instructions, then the others by sessions, guessed merges last."""
    from slowwave.flows.ask.output import write_rows
    from slowwave.flows.decide.listed import listed_items

    listed = listed_items(settings_from_environment(), kind, project, user)
    rows = listed.rows[skip : skip + limit]
    names, page = (listed.names, rows) if output != "table" else _in_lines(listed, rows)
    write_rows(names, [page], output, can_cut_all=True)  # `review show` has all of it
    left = len(listed.rows) - skip - len(rows)
    if left > 0:
        typer.echo(f"slowwave: {left:,} more: --skip {skip + len(rows)}", err=True)
    decided = sum(row[-1] is not None for row in listed.rows)
    if decided:
        are = f"{decided:,} item{'s are' if decided > 1 else ' is'}"
        typer.echo(f"slowwave: {are} decided since the publish and will be gone from the next nightly on", err=True)


def _in_lines(listed: ListedItems, rows: list[tuple[Any, ...]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns a person needs to choose an item, as narrow as they can be; `user`, `decided` where there is one."""
    from slowwave.flows.kernel.terminal import shorten_to_width

    items = [dict(zip(listed.names, row, strict=True)) for row in rows]
    # an earlier release published no users
    optional = {"user": [item.get("user_id") or "" for item in items], "decided": [i["decided"] or "" for i in items]}
    user, decided = ([name] if any(optional[name]) else [] for name in optional)
    lines: list[tuple[Any, ...]] = []
    for at, item in enumerate(items):
        short = (item["rank"], item["item_id"][: listed.id_length], item["kind"])
        whose = (
            shorten_to_width(value, _SHOWN_PROJECT) for value in [item["project"], *(optional[n][at] for n in user)]
        )
        lines.append((*short, *whose, item["text"], item["rank_score"], *(optional[n][at] for n in decided)))
    return ["#", "item", "kind", "project", *user, "text", "sessions", *decided], lines


@review.command("show", epilog=examples(EXAMPLES["show"]))
def show(
    item: Annotated[str, typer.Argument(help="An item, or a start of 6 characters or more.", metavar="ITEM_ID")],
    output: Output = "text",
    limit: Annotated[int, typer.Option(min=1, help="Interactions shown, newest first; json lists all.")] = 10,
) -> None:
    """Show an item whole: what it says, the memories it is about, and the interactions behind its counts."""
    import sys

    from slowwave.flows.ask.cells import cell_text, json_bytes
    from slowwave.flows.ask.why.text import basis_words
    from slowwave.flows.decide.listed import shown_item
    from slowwave.flows.kernel.progress import print_lines
    from slowwave.flows.kernel.terminal import format_count, shorten_to_width
    from slowwave.flows.kernel.times import utc_text

    found = shown_item(settings_from_environment(), item)
    if output == "json":
        sys.stdout.buffer.write(json_bytes(found) + b"\n")
        return
    names = ("kind", "project", *(["user_id"] if found.get("user_id") else []), "memory_type", "text", "reason")
    lines = [("user" if name == "user_id" else name, cell_text(found[name])) for name in names]
    about = [f"{memory['memory_id']} ({memory['status']}): {memory['content']}" for memory in found["memories"]]
    lines += [("memory", memory) for memory in about]
    behind = found["interactions"]
    lines.append(
        (
            "stands on",
            f"{format_count(len(behind), 'interaction')} in {format_count(found['sessions_count'], 'session')}",
        )
    )
    for row in behind[:limit]:
        ended = {True: "succeeded", False: "failed", None: "no outcome"}[row["success"]]
        ended += f" ({basis_words(row)})" if row.get("basis") else ""
        user = f"user {shorten_to_width(row['user_id'], _SHOWN_PROJECT)}" if row["user_id"] else ""
        told = [utc_text(row["occurred_at"]), row["agent"] or "", user, ", ".join(row["rules"]), ended]
        told += ["repeats its prompt"] if row["in_prompt"] else []
        lines.append(("", "  ".join([row["interaction_id"], *filter(None, told)])))
        if row["prompt"]:
            lines.append(("", f"    asked: {shorten_to_width(' '.join(row['prompt'].split()), _SHOWN_PROMPT)}"))
    lines += [("", f"and {len(behind) - limit:,} more: --format json lists all")] if len(behind) > limit else []
    lines.append(("what then", _meaning(found)))
    lines += [("decided", f"{found['decided']} since the publish")] if found["decided"] else []
    print_lines(shorten_to_width(found["item_id"], _SHOWN_CHARACTERS), lines, _next_commands(found))


def _meaning(found: dict[str, Any]) -> str:
    """What becomes of the memories of an item after each of its commands."""
    return {
        "candidate": "promote: in use; reject: invalid, for good",
        "contradiction": "promote: both stay; reject: the one that --memory names is invalid",
        "merge": f"merge: the others are superseded by {found['target_memory_id']}; reject: they are not one and stay",
        "outdated": "merge: the later supersedes the earlier; reject: the later is invalid; promote: both stay",
    }.get(found["kind"], "promote: it stays in use; reject: it is invalid")


def _next_commands(found: dict[str, Any]) -> list[str]:
    """What can be said of an item, and what tells more about its memories."""
    from slowwave.flows.kernel.progress import this_command

    item_id, ids, us = found["item_id"], found["memory_ids"], this_command()
    said = {"merge": ["merge", "reject"], "outdated": ["merge", "reject", "promote"]}.get(
        found["kind"], ["promote", "reject"]
    )
    needs = {"reject": " --memory MEMORY_ID"} if found["kind"] == "contradiction" else {}
    commands = [f"{us} review {word} {item_id}{needs.get(word, '')}" for word in said]
    behind = found["example_ids"]
    return [*commands, *[f"{us} why {shlex.quote(known)}" for known in ids or behind[:1]]]


@review.command("promote", epilog=examples(EXAMPLES["promote"]))
@deciding
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
    scope: Annotated[
        Literal["user", "project"] | None,
        typer.Option(
            help="Of a candidate: user, for the one user whose interactions state it, or project, for all of its"
            " project. Default: user where there is one user alone, else project."
        ),
    ] = None,
    *,
    decision: Decision,
) -> None:
    """Take a candidate into use; keep a memory, or both sides of a contradiction or of a replacement, as they are.

    Said of something rejected, it takes that back.
    """
    from slowwave.transforms.decisions.review.changes import PROMOTE, ReviewCommand

    wish = ReviewCommand(PROMOTE, confidence=confidence, scope=scope)
    _decide(wish, items, decision)


@review.command("reject", epilog=examples(EXAMPLES["reject"]))
@deciding
def reject(
    items: Items,
    memory: Annotated[
        str | None, typer.Option(help="Of a contradiction: the memory that is wrong.", metavar="MEMORY_ID")
    ] = None,
    *,
    decision: Decision,
) -> None:
    """Say that a candidate, a memory or what would replace one is wrong, or that memories to merge are not one.

    Said of something merged, it takes that back. A rejected candidate never returns.
    """
    from slowwave.transforms.decisions.review.changes import REJECT, ReviewCommand

    _decide(ReviewCommand(REJECT, memory_id=memory), items, decision)


@review.command("merge", epilog=examples(EXAMPLES["merge"]))
@deciding
def merge(
    items: Items,
    into: Annotated[
        str | None, typer.Option(help="The memory that stays. Default: the one proposed.", metavar="MEMORY_ID")
    ] = None,
    *,
    decision: Decision,
) -> None:
    """Let one memory stand for several: the others are superseded, and it gains their sources. No text is changed.

    Of an outdated memory: the later one stands for it, without its sources.
    """
    from slowwave.transforms.decisions.review.changes import MERGE, ReviewCommand

    _decide(ReviewCommand(MERGE, into=into), items, decision)


def _decide(wish: ReviewCommand, items: list[str], decision: Decision) -> None:
    from slowwave.flows.decide import review as reviewing
    from slowwave.flows.kernel.terminal import format_count

    verb = wish.command.removeprefix("review ")
    if len(items) > 1 and not (decision.yes or decision.dry_run):  # asked before anybody has to wait for the lock
        ask(f"{verb} {format_count(len(items), *_THINGS)}?")
    try:
        with writing(wish.command, decision.wait) as (run, _):
            outcome = reviewing.review(
                run,
                wish,
                items,
                by=decision.by,
                reason=decision.reason,
                expect=decision.expect,
                dry_run=decision.dry_run,
            )
    except reviewing.WrongUseError as error:
        raise typer.BadParameter(str(error)) from error
    if decision.output == "json":
        told = {name: getattr(outcome, name) for name in ("decided", "kept", "changed", "changes")}
        print_json(outcome, "item_id", dry_run=decision.dry_run, **told)
    else:
        done = {"promote": "promoted", "reject": "rejected", "merge": "merged"}[verb]
        items_decided = format_count(len(outcome.decided), *_THINGS)
        lines = [("would", f"{verb} {items_decided}") if decision.dry_run else (done, items_decided)]
        lines += [("", _describe_change(change)) for change in outcome.changes[:_SHOWN]]
        lines += [("", f"{memory_id}: stays as it is") for memory_id in outcome.kept[:_SHOWN]]
        lines += [("seen", "from the next nightly on")] if outcome.decided and not decision.dry_run else []
        print_outcome(outcome, lines, [], _THINGS)


def _describe_change(change: dict[str, Any]) -> str:
    from slowwave.flows.kernel.terminal import format_count, shorten_to_width

    said = [f"{name} {value}" for name, value in change.items() if name in {"status", "superseded_by"} and value]
    if change.get("source_ids"):
        said.append(format_count(len(change["source_ids"]), "source"))
    if change.get("confidence") is not None:
        said.append(f"confidence {change['confidence']}")
    if change.get("user_id"):
        said.append(f"for user {shorten_to_width(change['user_id'], _SHOWN_PROJECT)} alone")
    said += [_CLEARED[name] for name in change.get("clears") or []]
    made = "" if change["before"] else f", new: {shorten_to_width(change['content'], _SHOWN_CHARACTERS)}"
    return f"{change['memory_id']}: {', '.join(said)}{made}"


@review.command("curate", epilog=examples(EXAMPLES["curate"]))
def curate(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the prompts and about what they cost; send nothing.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=0, help="At most so many questions, the newest.")] = None,
    output: Output = "text",
) -> None:
    """Ask a language model about new memories now, as `nightly` does; needs SLOWWAVE_LLM_URL and SLOWWAVE_LLM_MODEL."""
    from slowwave.flows.cli.curate import run_curate

    run_curate(settings_from_environment(), dry_run=dry_run, limit=limit, output=output)
