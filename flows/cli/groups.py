"""The app's commands, each made when it is asked for: making all of them takes longer than most take to answer.

Also the options that several of them have.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

Function = TypeVar("Function", bound=Callable[..., None])

# What `slowwave --help` lists, under which titles.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Daily": ("demo", "land", "nightly", "status", "report", "dashboard", "sql", "why"),
    "Sources and sinks": ("import", "connect", "capture", "push", "publish-to", "mcp", "serve"),
    "Decide": ("memory", "review", "forget"),
    "Operate": ("doctor", "backfill", "lake", "inspect"),
}
# Groups that are rarely needed, named below the sections.
BESIDE = ("mapping", "token")
# Each goes at the next release, with whatever still calls a command by it.
OLD_NAMES = {
    **{name: f"lake {name}" for name in ("disk", "prune", "retain", "erase")},
    **{name: f"inspect {name}" for name in ("lineage", "methods", "schema", "compare", "diff", "export")},
    "curate": "review curate",
}

_INTEGER = re.compile(r"[0-9]{1,9}")
# Where a sentence may end early: before it, the rest only adds to what was said.
_MARK = re.compile(r"[,;:.](?= |$)| \(")


class PlainCommand(TyperCommand):
    """A command that takes plain arguments as they are: typer loads pydantic to look at each."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer's
        """The parameters, and the help option."""
        return _plainly_taken(super().get_params(ctx))


def _plainly_taken(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, (TyperArgument, TyperOption)) and "get_runtime_param" not in vars(param):
            vars(param)["get_runtime_param"] = partial(_Plain, param, param.get_runtime_param)
    return params


class _Plain:
    """Stands for typer's coercion of one parameter, and asks it wherever the value is not plainly what is declared."""

    def __init__(self, param: TyperArgument | TyperOption, typers: Callable[[], Any]) -> None:
        self._several = param.multiple or param.nargs == -1
        self._declared: Any = param.type_descriptor.annotation
        self._info = param.type_descriptor.parameter_info
        self._typers = typers

    def coerce(self, value: object, param: Any, ctx: Any) -> object:  # noqa: ANN401 - typer's
        """The value a parameter has from what was given for it (or from its default)."""
        if value is None:
            return () if self._several else None
        given = list(value) if self._several and isinstance(value, (list, tuple)) else [value]
        register_command = self._declared if not self._several else getattr(self._declared, "__args__", (None,))[0]
        if self._info.parser is None and all(isinstance(one, str) for one in given) and register_command is str:
            return given if self._several else value
        if not self._several:
            found = self._one(register_command, value)
            if found is not None:
                return found
        return self._typers().coerce(value, param=param, ctx=ctx)

    def _one(self, register_command: Any, value: Any) -> object:  # noqa: ANN401 - an annotation
        """One of the words declared or a number within its bounds; None for what is not plainly one."""
        if get_origin(register_command) is Literal:
            return next((word for word in get_args(register_command) if value == word), None)
        if register_command in {int, float}:
            number: Any = register_command(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else value
            low, high = self._info.min, self._info.max
            if type(number) is register_command and (low is None or number >= low) and (high is None or number <= high):
                return number
        return None


EXAMPLES: dict[str, Sequence[str]] = {}
"""Of each command of the app, and of each group, by its name, such as `sql` or `lake prune`."""
_FUNCTIONS: dict[str, Callable[..., None]] = {}
_GROUPS: dict[str, tuple[str, str]] = {}


def examples(lines: Sequence[str]) -> str:
    """The examples at the end of a command's help."""
    # \b keeps click from joining the lines
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def first_examples(commands: Mapping[str, Sequence[str]]) -> str:
    """The first example of each command of a group."""
    return examples([lines[0] for lines in commands.values()])


def command(*lines: str, within: str = "") -> Callable[[Function], Function]:
    """Make a function a command of the app, or of a group, with these examples; its name has - for _."""

    def register_command(function: Function) -> Function:
        name = f"{within} {function.__name__.rstrip('_').replace('_', '-')}".strip()
        _FUNCTIONS[name], EXAMPLES[name] = function, lines
        return function

    return register_command


def group(name: str, module: str, described: str, *lines: str) -> None:
    """Make what a module calls `name` a group of commands of the app, with these examples.

    '' as the module: its commands are those that `command` declares within it.
    """
    _GROUPS[name], EXAMPLES[name] = (module, described), lines


class Commands(TyperGroup):
    """The app, or a group, as typer sees it: names with what they are for; the one that is asked for is made then."""

    def __init__(self, within: str = "", **attributes: Any) -> None:  # noqa: ANN401 - typer's
        super().__init__(**attributes)
        self._within = within
        described = {path: inspect.getdoc(function) for path, function in _FUNCTIONS.items()}
        for path, text in {**described, **{path: text for path, (_, text) in _GROUPS.items()}}.items():
            group_name, _, name = path.rpartition(" ")
            if group_name == within:
                self.add_command(TyperCommand(name, help=text, rich_markup_mode=None))

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer's
        """The parameters, and the help option."""
        return _plainly_taken(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:  # noqa: ANN401 - typer's
        """The command that the first argument names, made, and the arguments left; an old name means the new one."""
        if not self._within and args[0] in OLD_NAMES:
            _say_new_name(args[0])
            args = [*OLD_NAMES[args[0]].split(), *args[1:]]
        name, found, rest = super().resolve_command(ctx, args)
        return name, found if name is None or found is None else _make_command(f"{self._within} {name}".strip()), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's
        """Write the commands in their sections, each with as much of its first sentence as its line holds."""
        sections = {"Commands": tuple(self.commands)} if self._within else SECTIONS
        width = max(len(name) for names in sections.values() for name in names)
        for title, names in sections.items():
            with formatter.section(title):
                rows = [(name, _brief(self.commands[name].help or "", formatter.width - width - 4)) for name in names]
                # the same column in every section
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in rows])


def _brief(text: str, width: int) -> str:
    """The longest beginning of a text that ends before a mark and is no longer than `width`."""
    first = " ".join(text.partition("\n\n")[0].split())
    ends = [found.start() for found in _MARK.finditer(first) if found.start() <= width]
    return first[: ends[-1]] if ends else first[: first.rfind(" ", 0, width - 2)] + "..."


def _say_new_name(old: str) -> None:
    """Name the new command to a person; a program that reads standard error, as of a schedule, reads what it did."""
    if sys.stderr.isatty():
        sys.stderr.write(f"slowwave: `slowwave {old}` is `slowwave {OLD_NAMES[old]}` now; the next release ends it\n")


def _make_command(path: str) -> Any:  # noqa: ANN401 - typer's
    name = path.rpartition(" ")[2]
    if path in _GROUPS:
        module, described = _GROUPS[path]
        if not module:
            shown = {"help": described, "epilog": examples(EXAMPLES[path]), "no_args_is_help": True}
            return Commands(path, name=name, rich_markup_mode=None, **shown)
        made = typer.main.get_group(getattr(import_module(module), path))
        made.name, made.help = name, described
        return made
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, cls=PlainCommand, epilog=examples(EXAMPLES[path]))(_FUNCTIONS[path])
    return typer.main.get_command(alone)


OfProject = Annotated[str | None, typer.Option("--project", help="Only what is of this project.", metavar="PROJECT")]
OfUser = Annotated[str | None, typer.Option("--user", help="Only what is of this user.", metavar="USER_ID")]
OfAgent = Annotated[str | None, typer.Option("--agent", help="Only what is of this agent.", metavar="AGENT")]
WithTag = Annotated[str | None, typer.Option("--tag", help="Only memories that have this tag.", metavar="TAG")]
AsOf = Annotated[
    str | None,
    typer.Option(
        help="What was known before this instant, such as 2026-03-10 (midnight UTC, exclusive).", metavar="TIME"
    ),
]
MaxRefused = Annotated[
    float,
    typer.Option(min=0, max=1, help="Exit 1 when more than this share of the rows, or a file whole, was refused."),
]
