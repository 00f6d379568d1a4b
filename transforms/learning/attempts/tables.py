"""What is carried from night to night of the messages of outcomes: kept in the lake and not published."""

from __future__ import annotations

from typing import ClassVar

from slowwave.transforms.core.schema import State, column


class ErrorReadings(State):
    """What each error message says by itself, carried from night to night: it follows from the message."""

    name: ClassVar[str] = "error_readings"
    key: ClassVar[tuple[str, ...]] = ("part",)

    part: str = column("Key: digest of the message.")
    masked: str | None = column("The line that tells the error, values in it by kind. NULL: the message is blank.")
    not_attempted: str | None = column("Why a failure with this message is no attempt. NULL: it does not say so.")
    made_of: str = column("Digest of the rules by which messages were read.")
