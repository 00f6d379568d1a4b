"""The shell lines of a turn that ran, with what they ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from slowwave.transforms.imports.adapter import Call, Turn
from slowwave.transforms.imports.inferred.shell_lines import Command, ShellLine, shell_line


@dataclass(frozen=True)
class RunLine:
    """A call that ran a shell line, the line read, and the places of the commands that were looked for."""

    call: Call
    line: ShellLine
    places: tuple[int, ...]

    @property
    def commands(self) -> Iterator[Command]:
        """The commands that were looked for."""
        return (self.line.commands[place] for place in self.places)


def last_run(turn: Turn, is_wanted: Callable[[tuple[str, ...]], object]) -> RunLine | None:
    """The last call of the turn whose line runs such a program; None where there is none, or one may be unseen.

    A call that was refused, or never ran because another failed, is none; one that was interrupted is. A line that
    cannot be read may run anything: what ran before it was perhaps not the last.
    """
    for call in reversed(turn.calls):
        if not call.command or call.end in {"refused", "cascade"}:
            continue
        line = shell_line(call.command)
        if line is None:
            return None
        places = tuple(place for place, words in enumerate(line.programs) if is_wanted(words))
        if places:
            return RunLine(call, line, places)
    return None
