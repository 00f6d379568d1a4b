"""Numbers as they stand in a sentence, and words in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

import polars as pl

from slowwave.flows.kernel.terminal import format_count, shorten_to_width, terminal_safe
from slowwave.transforms.core.vocabularies import SETTLED_STATUSES, Verdict

# verdicts of what is in use, and states of memories, in the order in which pages show them
URGENT_FIRST: tuple[Verdict, ...] = ("harmful", "forget", "review", "unproven", "keep")
NEVER_LANDED = "never landed"
STATES = ("active", "candidate", *SETTLED_STATUSES, NEVER_LANDED)

_SHOWN_CHARACTERS = 80
_SMALLEST_PART = 0.005


def number_of(count: int, one: str, many: str = "") -> str:
    """As `format_count`, but in a sentence of its own there are none: `1 memory`, `2 memories`, `no memories`."""
    return format_count(count, one, many) if count else f"no {many or one + 's'}"


def shown_of(caption: str, shown: int, total: int) -> str:
    """A caption with how many of all rows are shown, where these are not all: `Facts at odds: 100 of 2,300`."""
    return f"{caption}: {shown:,} of {total:,}" if shown < total else caption


def attempts_words(attempts: int, inferred: int) -> str:
    """How many attempts, and how many of them nobody reported: `17 attempts, 3 of them inferred`."""
    return number_of(attempts, "attempt") + (f", {inferred:,} of them inferred" if inferred else "")


def not_tried_lately(trend: str | None) -> str:
    """What to say after a strategy that is stale; '' of any other."""
    if trend != "stale":
        return ""
    return " It was not tried lately, and the older attempts are, the less they distinguish strategies."


def part(value: float) -> str:
    """A share or probability to two digits: `0.60`, `1.00`, `−0.07`."""
    text = f"{abs(value):.2f}"
    return f"−{text}" if value < 0 and float(text) else text


def small_part(value: float) -> str:
    """A share as `part` says it; one that would round to nothing is `below 0.01`."""
    return "below 0.01" if 0 < value < _SMALLEST_PART else part(value)


def percent(value: float) -> str:
    """A share such as `60 %`, `−3 %`."""
    text = f"{abs(100 * value):.0f} %"
    return f"−{text}" if value < 0 and text != "0 %" else text


def _small_percent(value: float) -> str:
    """A share as `percent` says it; one that would be said as nothing with a digit more, for its side of 0 tells."""
    text = percent(value)
    more = f"{abs(100 * value):.1f} %"
    return text if text != "0 %" or more == "0.0 %" else f"{'−' if value < 0 else ''}{more}"


def points(value: float) -> str:
    """A distance of two shares in points of a hundred: `9.6`; one that would round to nothing is `below 0.1`."""
    text = f"{100 * value:.1f}"
    return "below 0.1" if value > 0 and text == "0.0" else text


def signed_points(value: float) -> str:
    """A difference of two shares in points of a hundred, with its sign: `+0.7`, `−12.0`."""
    return f"{'−' if round(value, 3) < 0 else '+'}{abs(100 * value):.1f}"


def signed_percent(value: float) -> str:
    """A relative change with its sign: `+12 %`."""
    return f"{'+' if value >= 0 else ''}{percent(value)}"


def in_short(count: float) -> str:
    """A large count in three digits: `940`, `12.3k`, `4.1M`."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}" if count < 999.5 * size else f"{count / size:,.0f}{letter}"
    return f"{count:.0f}"


def beside_base_rate(skill: float, low: float | None, high: float | None) -> str:
    """How much better or worse than the base rate a forecast is; the interval in the same sense.

    `is 3 % better than the base rate, by log loss (90 % interval −1 % to 16 %)`, `is 3 % worse than the base rate, by
    log loss (90 % interval 1 % to 16 %)`.
    """
    is_worse = percent(skill).startswith("−")
    ends = None if low is None or high is None else (-high, -low) if is_worse else (low, high)
    limits = "" if ends is None else f" (90 % interval {_small_percent(ends[0])} to {_small_percent(ends[1])})"
    said = f"{percent(-skill)} worse" if is_worse else f"{percent(skill)} better"
    return f"is {said} than the base rate, by log loss{limits}"


def change(value: float, digits: int = 3) -> str:
    """A difference, with its sign: `+0.005`, `−0.012`."""
    text = f"{abs(value):.{digits}f}"
    return f"{'−' if value < 0 and float(text) else '+'}{text}"


def interval(low: float, high: float, write: Callable[[float], str] = part) -> str:
    """`0.60–0.95`; where an end is below 0 or written with its sign `−0.10 to 0.20`."""
    first, last = write(low), write(high)
    return f"{first}{'–' if first[:1].isdigit() else ' to '}{last}"


def sum_of(frame: pl.DataFrame, column: str = "rows") -> int:
    """The sum of a column of counts, 0 without rows."""
    return int(frame[column].sum())


def join_words(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def quote_text(text: str | None) -> str:
    """The beginning of a text from a log, in quotation marks, on one line."""
    return f"“{shorten_to_width(terminal_safe(shorten_to_width(text or '', _SHOWN_CHARACTERS)), _SHOWN_CHARACTERS)}”"


def project_label(project: str | None) -> str:
    """A project's name on one line; what belongs to none says so."""
    return (
        shorten_to_width(terminal_safe(shorten_to_width(project or "", _SHOWN_CHARACTERS)), _SHOWN_CHARACTERS)
        or "no project"
    )


def dates(first: date, last: date) -> str:
    """`2026-03-24 to 2026-03-30`; of one day `2026-03-30`."""
    return f"{first}" if first == last else f"{first} to {last}"


def sentence(text: str) -> str:
    """`text` with a capital at its beginning and a full stop at its end."""
    ended = text if text.endswith((".", "!", "?", "…")) else f"{text}."
    return ended[:1].upper() + ended[1:]
