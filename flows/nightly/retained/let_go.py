"""What a rule of `[retention]` lets go of, counted."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class LetGo:
    """How many of each thing go, and bytes; how many days are old enough and left for a later night."""

    things: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    waiting_days: int = 0

    def note(self, thing: str, size: int, count: int = 1) -> None:
        """Note so many of one thing."""
        self.things[thing] = self.things.get(thing, 0) + count
        self.bytes += size
