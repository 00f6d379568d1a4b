"""A seeded source of choices for the sample logs, and the forms in which texts, times and files are written.

Only ``random.Random.random`` is drawn from, whose sequence Python promises to keep, so text is the same on any machine.
"""

import datetime
import random
import re
import struct
import textwrap
import zlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Seeded choices. Equal keys give equal sequences; different keys give independent ones."""

    def __init__(self, *key: object) -> None:
        self._random = random.Random("/".join(str(part) for part in key))  # noqa: S311 (sample text, no secrets)

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random.random() < probability

    def between(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """Return one item, each as likely."""
        return items[int(self._random.random() * len(items))]

    def weighted(self, weights: dict[T, int]) -> T:
        """Return one key, as likely as its weight."""
        left = self._random.random() * sum(weights.values())
        for item, weight in weights.items():
            left -= weight
            if left < 0:
                return item
        return next(reversed(weights.keys()))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return up to ``count`` different items in a random order."""
        rest = list(items)
        return [rest.pop(int(self._random.random() * len(rest))) for _ in range(min(count, len(rest)))]

    def hexadecimal(self, digits: int) -> str:
        """Return hexadecimal digits, as ids and addresses have them."""
        return "".join(self.pick("0123456789abcdef") for _ in range(digits))


def normalise(text: str) -> str:
    """Return the text in lower case, with runs of white space as one space and none at the ends."""
    return re.sub(r"\s+", " ", text.lower()).strip()


def echo_text(draw: Draw, content: str) -> str:
    """Return ``content``, or at least its first 80 characters, as people quote: in other spacing, or in capitals."""
    words = re.sub(r"\s+", " ", content).strip()
    end = words.find(" ", draw.between(81, 120)) if draw.chance(0.2) else -1
    words = words if end < 0 else f"{words[:end]} …"
    style = draw.pick(("same", "same", "same", "quote", "small", "shouted" if draw.chance(0.2) else "wrapped"))
    if style == "shouted":
        words = "".join(c.upper() if c.isascii() else c for c in words)
    elif style == "small":
        words = words[0].lower() + words[1:] if words[0].isascii() else words
    elif style == "wrapped":
        words = "\n".join(textwrap.wrap(words, 60))
    elif style == "quote":
        words = f"“{words}”"
    return words


def moment_of(microseconds: int) -> datetime.datetime:
    """Return a whole number of microseconds since 1970 as a moment in UTC."""
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(microseconds=microseconds)


def time_text(time: int, style: str) -> str | int:
    """Return a time in one of the forms that landing accepts."""
    moment = moment_of(time).replace(tzinfo=None)
    if style.startswith("epoch"):
        return time // (1_000_000 if style == "epoch_s" else 1_000)
    if style == "offset":
        return (moment + datetime.timedelta(hours=2)).isoformat(timespec="milliseconds") + "+02:00"
    if style == "zulu":
        return moment.isoformat(timespec="milliseconds") + "Z"
    if style == "date" and moment.time() == datetime.time():
        return moment.date().isoformat()
    return moment.isoformat("T" if style == "naive" else " ", "milliseconds" if time % 1_000_000 else "seconds")


def gzip_bytes(content: bytes) -> bytes:
    """Return a gzip file of stored blocks: compressed bytes would depend on the machine's zlib."""
    blocks = [content[at : at + 65_535] for at in range(0, len(content), 65_535)]
    parts = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff"]
    for number, block in enumerate(blocks, start=1):
        parts.append(struct.pack("<BHH", number == len(blocks), len(block), len(block) ^ 0xFFFF) + block)
    return b"".join([*parts, struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)])
