"""`slowwave forget`: plan, apply, restore, hold, release."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from slowwave.flows.cli.groups import examples, first_examples
from slowwave.flows.cli.shared import (
    WAIT_SECONDS,
    Expect,
    Output,
    RowFormat,
    TextFormat,
    Wait,
    ask,
    check_said,
    print_json,
    print_outcome,
    writing,
)
from slowwave.flows.kernel.settings import settings_from_environment
from slowwave.transforms.core.vocabularies import ForgettingRule

EXAMPLES: dict[str, tuple[str, ...]] = {
    "plan": ("slowwave forget plan", "slowwave forget plan --rule untouched --format csv"),
    "apply": ("slowwave forget apply --dry-run", "slowwave forget apply --yes --limit 100"),
    "restore": (
        "slowwave forget restore MEMORY_ID",
        "slowwave forget restore MEMORY_ID --by ada --reason 'it is needed again'",
        "slowwave forget restore --run RUN_ID",
    ),
    "hold": ("slowwave forget hold MEMORY_ID --reason 'the audit needs it'",),
    "release": ("slowwave forget release MEMORY_ID --reason 'the audit is over'",),
}
_SHOWN = 10
_SEEN = ("seen", "from the next nightly on")

forget = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=first_examples(EXAMPLES),
)


Target = Literal["project", "memory"]
OneProject = Annotated[str | None, typer.Option(help="Only memories of this project; '' is none.", metavar="PROJECT")]
OneRule = Annotated[ForgettingRule | None, typer.Option(help="Only what this rule plans.")]
Reason = Annotated[str, typer.Option(help="Why; kept with the decision.", metavar="TEXT")]
Kind = Annotated[Target | None, typer.Option(help="What TARGET names. Default: whichever there is.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; land nothing.")]
By = Annotated[str, typer.Option(help="Who says so; kept with the decision.", metavar="NAME")]
Held = Annotated[str, typer.Argument(help="A project or the id of a memory.", metavar="TARGET")]


@forget.command("plan", epilog=examples(EXAMPLES["plan"]))
def plan(
    output: Annotated[RowFormat, typer.Option("--format", help="How the plan is printed.")] = "table",
    rule: OneRule = None,
    project: OneProject = None,
) -> None:
    """Show what the current publish would archive, by which rule and why; what should go first comes first."""
    from slowwave.flows.ask.output import write_rows
    from slowwave.flows.decide.forget import published_plan
    from slowwave.flows.kernel.progress import Screen
    from slowwave.transforms.core.schema import computed_schema
    from slowwave.transforms.decisions.forgetting.tables import ForgettingPlan

    published = published_plan(settings_from_environment())
    rows = published.select_rows(project, rule)
    names = computed_schema(ForgettingPlan).names()
    write_rows(names, [rows.select(names).rows()], output)
    screen = Screen()
    for quota in published.quotas.filter(~published.quotas["is_met"]).iter_rows(named=True):
        whose = f"project {quota['project']!r}" + (f", agent {quota['agent']!r}" if quota["agent"] else "")
        screen.note(f"quota not met, {whose}: {quota['reason']}")


@forget.command("apply", epilog=examples(EXAMPLES["apply"]))
def apply(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    rule: OneRule = None,
    project: OneProject = None,
    limit: Annotated[int | None, typer.Option(min=0, help="At most so many, the first of the plan.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen; archive nothing.")] = False,
) -> None:
    """Archive what is planned: each memory's whole state is kept first, and nothing that was used since goes."""
    from slowwave.flows.decide.forget import apply_plan, published_plan
    from slowwave.flows.kernel.progress import this_command
    from slowwave.flows.kernel.terminal import format_count

    published = published_plan(settings_from_environment())
    rows = published.select_rows(project, rule, limit)
    planned = format_count(rows.height, "memory", "memories")
    if rows.height and not (yes or dry_run):  # asked before anybody has to wait for the lock
        ask(f"archive {planned}?")
    with writing("forget apply") as (run, screen):
        screen.note(f"checking {planned} against the log as it is now")
        outcome = apply_plan(run, published, rows, dry_run=dry_run)
    done = format_count(len(outcome.changed), "memory", "memories")
    lines = [("would go" if dry_run else "archived", done)]
    if dry_run:
        changed = set(outcome.changed)
        going = [row for row in rows.select("memory_id", "rule").iter_rows() if row[0] in changed]
        lines += [("", f"{memory_id}: {rule}") for memory_id, rule in going[:_SHOWN]]
        lines += [("", f"and {len(going) - _SHOWN:,} more")] if len(going) > _SHOWN else []
    elif outcome.changed or outcome.shadowed:
        lines.append(_SEEN)
    if outcome.shadowed:
        lines.append(("in shadow", f"{format_count(len(outcome.shadowed), 'memory', 'memories')} left active"))
    back = [f"{this_command()} forget restore --run {run.run_id}"] if outcome.changed and not dry_run else []
    print_outcome(outcome, lines, back)


@forget.command("restore", epilog=examples(EXAMPLES["restore"]))
def restore(
    memories: Annotated[list[str] | None, typer.Argument(help="Ids of memories.")] = None,
    command_id: Annotated[
        str | None, typer.Option("--run", help="All that one `forget apply` archived.", metavar="ID")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that `forget apply` ever archived.")] = False,
    by: Annotated[str | None, typer.Option(help="Who says so. Default: forgetting itself.", metavar="NAME")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; kept with the decision.", metavar="TEXT")] = None,
    output: Output = "text",
    expect: Expect = None,
    wait: Wait = WAIT_SECONDS,
    dry_run: DryRun = False,
) -> None:
    """Bring archived memories back exactly as they were."""
    from slowwave.flows.decide import forget as forgetting
    from slowwave.flows.kernel.terminal import format_count

    if sum((bool(memories), command_id is not None, everything)) != 1:
        message = "name memories, or give --run ID, or --all: one of the three"
        raise typer.BadParameter(message)
    check_said(by=by, reason=reason)
    with writing("forget restore", wait) as (run, _):
        outcome = forgetting.restore(
            run,
            memories or [],
            command_id=command_id,
            everything=everything,
            by=by,
            reason=reason,
            expect=expect,
            dry_run=dry_run,
        )
    if output == "json":
        print_json(outcome, "memory_id", dry_run=dry_run, restored=outcome.changed)
        return
    seen = [_SEEN] if outcome.changed and not dry_run else []
    done = "would be restored" if dry_run else "restored"
    print_outcome(outcome, [(done, format_count(len(outcome.changed), "memory", "memories")), *seen], [])


@forget.command("hold", epilog=examples(EXAMPLES["hold"]))
def hold(
    target: Held,
    reason: Reason,
    kind: Kind = None,
    by: By = "person",
    output: Output = "text",
    expect: Expect = None,
    wait: Wait = WAIT_SECONDS,
    dry_run: DryRun = False,
) -> None:
    """Keep a memory, or all memories of a project, from ever being planned or archived."""
    from slowwave.transforms.decisions.effects import HOLD

    _decide(HOLD, target, kind, reason, wait, output, by=by, expect=expect, dry_run=dry_run)


@forget.command("release", epilog=examples(EXAMPLES["release"]))
def release(
    target: Held,
    reason: Reason,
    kind: Kind = None,
    by: By = "person",
    output: Output = "text",
    expect: Expect = None,
    wait: Wait = WAIT_SECONDS,
    dry_run: DryRun = False,
) -> None:
    """End a hold."""
    from slowwave.transforms.decisions.effects import RELEASE

    _decide(RELEASE, target, kind, reason, wait, output, by=by, expect=expect, dry_run=dry_run)


def _decide(
    command: str,
    target: str,
    kind: Target | None,
    reason: str,
    wait: float,
    output: TextFormat,
    *,
    by: str,
    expect: str | None,
    dry_run: bool,
) -> None:
    import sys
    from dataclasses import asdict

    from slowwave.flows.ask.cells import json_bytes
    from slowwave.flows.decide.decisions import decide_hold
    from slowwave.flows.kernel.terminal import terminal_safe

    check_said(by=by, reason=reason, todo="say why")
    with writing(command, wait) as (run, _):
        outcome = decide_hold(run, command, target, kind, reason, by=by, expect=expect, dry_run=dry_run)
    if output == "json":
        told = {"target": target, "command": command, "dry_run": dry_run, **asdict(outcome)}
        sys.stdout.buffer.write(json_bytes(told) + b"\n")
    else:
        typer.echo(terminal_safe(outcome.says))
