r"""Markdown answers cut into blocks: a heading, a list item, or the joined lines of a paragraph.

What others wrote or ran is left out: fenced and indented code, quotations (`>`), tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

# Longest fence first; an unclosed one reaches to the end, as Markdown has it.
_FENCED = (
    r"(?ms)^[ \t]*(?:````+.*?(?:^[ \t]*````+[^\n]*$|\z)|```.*?(?:^[ \t]*```[^\n]*$|\z)|~~~.*?(?:^[ \t]*~~~[^\n]*$|\z))"
)
_LIST_MARK = r"(?:[-*+•‣–]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
_OF_OTHERS = r"^[ \t]*[>|]"
_INDENTED = r"^(?: {4}|\t)[ \t]*[^\s\-*+•‣–\d(]"
_HEADING = r"^[ \t]{0,3}#{1,6}[ \t]+"
_LABEL = r"^[ \t]*(?:\*\*|__)?\p{L}[\p{L} ]{0,30}\d{0,3}(?:\*\*|__)?[ \t]*[:\uff1a]"
_ENDS = r"[.!?:;\u3002\uff01\uff1f][\"'”’)\]*_`]*[ \t]*$"
# A line as long as this was wrapped if the text goes on in the next.
_WRAPPED_BYTES = 50


def blocks(texts: pl.DataFrame, wanted: Sequence[str]) -> pl.DataFrame:
    """The blocks of each text in order.

    Args:
        texts: text_id, text, is_whole: false where only blocks with one of the `wanted` words are asked for.
        wanted: words, in any case.

    Returns:
        text_id, block (in order), text (without marks before it), is_heading, is_item, is_whole.
    """
    # few have code or other line ends, and to look for their expressions takes longer than for these
    is_raw = pl.col("text").str.contains_any(["\r", "```", "~~~"])
    cleaned = pl.col("text").str.replace_all("\r\n?", "\n").str.replace_all(_FENCED, "\n")
    sought = list(wanted)
    # what stands between empty lines is cut into blocks alike, whatever stands before and behind it
    told = pl.concat([texts.filter(~is_raw), texts.filter(is_raw).with_columns(cleaned)]).lazy()
    parts = (
        told.filter(~pl.col("is_whole"))
        .with_columns(pl.col("text").str.split("\n\n"))
        .explode("text", empty_as_null=False)
        .filter(pl.col("text").str.contains_any(sought, ascii_case_insensitive=True))
    )
    lines = (
        pl.concat([told.filter("is_whole"), parts])
        .with_row_index("part")
        .select("part", "text_id", "is_whole", pl.col("text").str.split("\n").alias("line"))
        .explode("line", empty_as_null=False)
        .with_columns(
            (pl.col("line").str.strip_chars() == "").alias("is_blank"),
            pl.col("line").str.contains(_HEADING).alias("is_heading"),
            pl.col("line").str.contains(rf"^[ \t]*{_LIST_MARK}").alias("is_item"),
            pl.col("line").str.contains(_LABEL).alias("is_label"),
            pl.col("line").str.contains(_OF_OTHERS).alias("is_foreign"),
            pl.col("line").str.contains(_INDENTED).alias("is_indented"),
            pl.col("line").str.contains(_ENDS).alias("ends"),
            pl.col("line").str.contains(r"^[ \t]*\p{Ll}").alias("goes_on"),
        )
    )
    is_first = pl.col("part").ne_missing(pl.col("part").shift())
    # indented text is code, unless it goes on with a paragraph or is an item of a list
    after_gap = (pl.col("is_blank") | pl.col("is_indented")).shift() | is_first
    is_code = pl.col("is_indented") & after_gap
    before = [pl.col(name).shift().fill_null(value=True) for name in ("is_blank", "is_heading", "is_foreign", "ends")]
    is_wrapped = (pl.col("line").shift().str.len_bytes() >= _WRAPPED_BYTES) | pl.col("goes_on")
    starts = pl.any_horizontal("is_heading", "is_item", "is_label", *before) | is_first | ~is_wrapped
    return (
        lines.with_columns(is_foreign=pl.col("is_foreign") | is_code)
        .with_columns(starts.cum_sum().alias("block"))
        .filter(~pl.col("is_blank"), ~pl.col("is_foreign"))
        .filter(
            pl.col("is_whole")
            | pl.col("line").str.contains_any(sought, ascii_case_insensitive=True).any().over("block")
        )
        .group_by("block", maintain_order=True)
        .agg(
            pl.col("text_id", "is_whole").first(),
            pl.col("line").str.strip_chars().str.join(" ").alias("text"),
            pl.col("is_heading", "is_item").first(),
        )
        .with_columns(pl.col("text").str.replace(rf"^(?:#{{1,6}}[ \t]+|{_LIST_MARK})+", ""))
        .select("text_id", "block", "text", "is_heading", "is_item", "is_whole")
        .collect(engine="in-memory")
    )
