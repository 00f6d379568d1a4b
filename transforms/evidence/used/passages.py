"""Passages of memories: `used/3` compares an answer with the sentences of a long memory, one after the other.

A long memory holds many facts, of which an answer uses one or two: compared whole, the others dilute what is shared.
"""

from __future__ import annotations

import polars as pl

from slowwave.transforms.language.word_runs import WORD

# A memory of no more is one passage: that much is compared whole (`used_pool`).
ONE_PASSAGE_CODE_POINTS = 300
ONE_PASSAGE_WORDS = 48
# A sentence of fewer words goes with the next one, unless so many more of the memory have come together.
_LEAST_WORDS = 8
_WORDS_TOGETHER = 16
# A longer sentence, or a text without any, is cut.
_MOST_TOKENS = 40
# To the end of a sentence and the space behind it, or of a line, or of the text: no code point is between two.
_SENTENCE = r"(?s).+?(?:[.!?…]+[\"'”’»)\]]*\s+|[。！？]+[」』”’)\]]*\s*|\n\s*|\z)"  # noqa: RUF001 - full-width marks
_TOKENS = rf"\s*(?:\S+\s*){{1,{_MOST_TOKENS}}}"


def is_long(content: pl.Expr) -> pl.Expr:
    """Whether a text is looked at by passages: almost always it has several."""
    # the words of others are not counted
    many = pl.when(content.str.len_chars() > ONE_PASSAGE_CODE_POINTS).then(content)
    return (many.str.count_matches(WORD) > ONE_PASSAGE_WORDS).fill_null(value=False)


def passages(contents: pl.Series) -> pl.DataFrame:
    """The passages of those long texts that have several, in order.

    A passage is a sentence with the short ones before it: eight words or more, so that what is left of a text at its
    end goes with the passage before. Lines end sentences, too, and what has no end is cut after forty words.

    Args:
        contents: texts without NULL.

    Returns:
        text (place in `contents`), passage, passage_at (code points of the text before it): sorted.
    """
    texts = contents.rename("content").to_frame().with_row_index("text").lazy().filter(is_long(pl.col("content")))
    sentences = texts.select("text", pl.col("content").str.extract_all(_SENTENCE).alias("part")).explode("part")
    parts = sentences.with_columns(pl.col("part").str.extract_all(_TOKENS)).explode("part").collect()
    counted = parts.with_columns(
        pl.col("part").str.count_matches(WORD).cast(pl.Int64).alias("words"),
        pl.col("part").str.len_chars().cast(pl.Int64).alias("size"),
    )
    so_far, words = pl.col("words").cum_sum().over("text"), pl.col("words")
    many_together = so_far // _WORDS_TOGETHER > (so_far - words) // _WORDS_TOGETHER
    left = words.sum().over("text") - so_far
    is_last = (left >= _LEAST_WORDS) & ((words >= _LEAST_WORDS) | many_together)
    numbered = counted.with_columns(
        is_last.cast(pl.Int64).alias("is_last"), (pl.col("size").cum_sum().over("text") - pl.col("size")).alias("at")
    ).with_columns((pl.col("is_last").cum_sum().over("text") - pl.col("is_last")).alias("passage_number"))
    whole = numbered.group_by("text", "passage_number", maintain_order=True).agg(
        pl.col("part").str.join("").alias("raw"), pl.col("at").first()
    )
    space = pl.col("raw").str.len_chars() - pl.col("raw").str.strip_chars_start().str.len_chars()
    return (
        whole.select(
            pl.col("text").cast(pl.Int64),
            pl.col("raw").str.strip_chars().alias("passage"),
            (pl.col("at") + space.cast(pl.Int64)).alias("passage_at"),
        )
        .filter(pl.len().over("text") > 1)
        .sort("text", "passage_at")
    )


def compared_texts(contents: pl.Series) -> pl.DataFrame:
    """What of each text is compared: its passages, or all of it where it is one.

    Returns:
        text (place in `contents`), read (what is compared), passage and passage_at (as above; NULL: all of it): by
        text, then by place.
    """
    texts = contents.rename("content").to_frame().with_row_index("text").with_columns(pl.col("text").cast(pl.Int64))
    found = passages(contents)
    each = texts.join(found, on="text", how="left", maintain_order="left_right")
    return each.select("text", pl.coalesce("passage", "content").alias("read"), "passage", "passage_at")
