"""Which lines of an error message say what went wrong."""

from __future__ import annotations

import polars as pl

from slowwave.transforms.grouping.errors.params import ErrorParams

_BETWEEN = " ⏎ "
_LINE_ENDS = r"\r\n?|[\x0b\x0c\x{85}\x{2028}\x{2029}]"
_CONTROLS = r"[\x00-\x08\x0e-\x1f\x7f]+"
_EXCEPTION = (
    r"^(?:[|>E] +)?(?:Caused by: )?[A-Za-z_][\w.$]*(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Group)(?::|\s*$)"
)
_FAILURE = (
    r"(?i)\b(?:errors?|fatal|fail(?:ed|s|ure)?|exception|panic(?:ked)?|abort(?:ed)?|denied|refused|cannot|could not"
    r"|couldn't|unable|invalid|undefined|unknown|unexpected|not found|no such|does not|timed out|timeout|killed)\b"
)
_SAYS_LITTLE = r"(?i)^(?:exit(?:ed)?(?: with)?(?: code| status)?|errors?|stderr|failed)\W*[0-9]*\W*$"
_TRACEBACK = "Traceback (most recent call last)"


def error_summary(errors: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """`errors` (error_message, never blank) with the column summary: the line that matters, or two.

    The first line says what was done, the other what went wrong: the last exception line of a traceback (its frames
    change with the code that calls), else the first further line that speaks of a failure, else, below a line that
    says no more than an exit code, the next one. Where a message starts with a traceback, its last exception line alone
    is kept. Blank lines do not count; long messages and lines are cut (`params`).
    """
    text = pl.col("error_message").str.replace_all(_CONTROLS, " ").str.strip_chars()
    size, width = params.max_code_points, params.max_line_code_points
    both_ends = pl.concat_str(text.str.head(size), pl.lit("\n"), text.str.tail(size))
    line = pl.col("line")
    lines = (
        errors.select(
            row=pl.int_range(pl.len(), dtype=pl.Int64),
            line=pl.when(text.str.len_chars() > 2 * size)
            .then(both_ends)
            .otherwise(text)
            .str.replace_all(_LINE_ENDS, "\n")
            .str.split("\n"),
        )
        .explode("line", empty_as_null=True, keep_nulls=True)
        .filter(line.str.contains(r"\S"))
        # what is cut is not indentation: a line never becomes blank
        .with_columns(
            pl.when(line.str.len_chars() > width).then(line.str.strip_chars().str.head(width)).otherwise(line)
        )
        .with_columns(line.str.strip_chars_end())
    )
    first = line.first()
    exception = line.filter(line.str.contains(_EXCEPTION)).last()
    failure = line.slice(1).filter(line.slice(1).str.contains(_FAILURE)).first()
    next_one = pl.when(first.str.contains(_SAYS_LITTLE)).then(line.slice(1).first())
    other = pl.coalesce(exception, failure, next_one)
    summaries = lines.group_by("row", maintain_order=True).agg(
        summary=pl.when(other.is_null() | (other == first))
        .then(first)
        .when(first.str.starts_with(_TRACEBACK))
        .then(other)
        .otherwise(pl.concat_str(first, pl.lit(_BETWEEN), other.str.strip_chars()))
    )
    return errors.with_columns(summaries["summary"])
