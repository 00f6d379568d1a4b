"""The options of `slowwave memory edit`: one for each field of a memory that is declared to be edited."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Literal

import typer

from slowwave.flows.kernel.columns.declared import CLEARABLE, EDITS, EditOption

_TYPES = {"text": str, "time": str, "number": float}


def with_edit_options(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command take an option for each field, and `--clear`.

    `function` is given them by their columns' names, after its first argument, and as `clear` the names of those to
    clear.
    """
    own = inspect.signature(function, eval_str=True).parameters
    first, *others = (one for one in own.values() if one.kind != one.VAR_KEYWORD and one.name != "clear")
    options = [_parameter(name, _annotation(of), None) for name, of in EDITS.items()]
    said = "A field it shall be without."
    options.append(_parameter("clear", Annotated[list[_clearable()], typer.Option(help=said)], ()))

    def command(**given: Any) -> None:  # noqa: ANN401 - whatever the command takes
        function(**{**given, "clear": [each.value for each in given["clear"]]})

    command.__doc__ = function.__doc__
    vars(command)["__signature__"] = inspect.Signature([first, *options, *others])
    return command


def _parameter(name: str, annotation: Any, default: object) -> inspect.Parameter:  # noqa: ANN401 - an annotation
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _annotation(of: EditOption) -> Any:  # noqa: ANN401 - an annotation
    taken: Any = Literal[of.choices] if of.choices else _TYPES[of.kind]
    option = typer.Option(of.option, help=of.help, metavar=of.metavar, min=of.low, max=of.high)
    return Annotated[taken | None, option]


def _clearable() -> Any:  # noqa: ANN401 - a type; typer takes no list of Literal
    return Enum("Clearable", {name: name for name in CLEARABLE}, type=str)
