"""Strategy texts that say the same thing, as groups.

Two texts are in one group when they have one key (`strategy_key`), so a group depends on its texts alone: not on the
order of rows, not on batches, not on what other texts there are, and no chain of small differences can join two
strategies. A score of similarity takes no part: in static embeddings "use a larger model" and "use a smaller model"
are nearer to each other than most paraphrases are.
"""

from __future__ import annotations

from collections import Counter

import polars as pl

from slowwave.transforms.core.hashing import digest
from slowwave.transforms.grouping.strategies.key import StrategyKey, strategy_key

_ID_CHARACTERS = 16


def strategy_id(key: str) -> str:
    """Short digest of a strategy's key; the same in every project."""
    return digest([key])[:_ID_CHARACTERS]


def _only_in(these: tuple[str, ...], others: tuple[str, ...]) -> str:
    return " ".join((Counter(these) - Counter(others)).elements())


def reason(text: str, read: StrategyKey, representative: str, representative_read: StrategyKey) -> str:
    """What a text and the representative of its group differ in.

    "same text", "case and punctuation", "small words" (articles, auxiliaries, contractions, number words),
    "inflection", "word order" or both, or "paraphrase" with the words that differ.
    """
    if text == representative:
        return "same text"
    if [c for c in text.casefold() if c.isalnum()] == [c for c in representative.casefold() if c.isalnum()]:
        return "case and punctuation"
    mine, other = read.uninflected, representative_read.uninflected
    if sorted(mine) != sorted(other):
        said, instead_of = _only_in(mine, other), _only_in(other, mine)
        return f'paraphrase ("{said}" for "{instead_of}")' if said and instead_of else "paraphrase"
    reasons = [] if sorted(read.written) == sorted(representative_read.written) else ["inflection"]
    reasons += [] if mine == other else ["word order"]
    return ", ".join(reasons) or "small words"


def strategy_groups(texts: pl.DataFrame) -> pl.DataFrame:
    """The group of each strategy text, sorted by project and strategy.

    Args:
        texts: project, strategy: distinct raw texts, none blank; perhaps is_apart: one that stands for no other text,
            unless all of its group are apart.

    Returns:
        project, strategy; strategy_id: digest of what is said, the same in every project; representative: the shortest
        text of the group in that project, of equals the first; reason: how the text differs from it, see `reason`.
    """
    is_apart = pl.col("is_apart") if "is_apart" in texts.columns else pl.lit(value=False)
    rows = texts.select("project", "strategy", is_apart.alias("is_apart")).unique()
    distinct = rows["strategy"].unique().sort().to_list()
    readings = {text: strategy_key(text) for text in distinct}
    ids = pl.DataFrame(
        {"strategy": distinct, "strategy_id": [strategy_id(readings[text].key) for text in distinct]},
        schema={"strategy": pl.String, "strategy_id": pl.String},
    )
    grouped = rows.join(ids, on="strategy", how="left", maintain_order="left").with_columns(
        pl.col("strategy")
        .sort_by("is_apart", pl.col("strategy").str.len_chars(), "strategy")
        .first()
        .over("project", "strategy_id")
        .alias("representative")
    )
    reasons = [
        reason(text, readings[text], shown, readings[shown])
        for text, shown in grouped.select("strategy", "representative").iter_rows()
    ]
    told = grouped.drop("is_apart").with_columns(pl.Series("reason", reasons, dtype=pl.String))
    return told.sort("project", "strategy")
