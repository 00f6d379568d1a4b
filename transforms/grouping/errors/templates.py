"""Templates of masked error messages: texts that differ only where a name or value stands become one.

Works on the set of distinct texts, so neither the order nor the number of sightings matters (parsers such as Drain read
a stream and depend on its order). Two ideas of the log parsing literature are used: texts of one template have the same
number of tokens (Drain: He et al., ICWS 2017), and a place is variable when many texts agree in all the rest (the
wildcards of LogCluster, Vaarandi & Pihelgas, CNSM 2015; the words in common of Brain, Yu et al., IEEE TSC 2023). What
is not shown to vary stays: without evidence, different texts are different errors.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Booleans, Integers
from slowwave.transforms.grouping.errors.params import ErrorParams
from slowwave.transforms.grouping.errors.placeholders import ANY
from slowwave.transforms.grouping.errors.tokens import (
    CODES,
    IDENTIFIERS,
    NAMES,
    NO_TOKEN,
    PLACEHOLDER,
    PLACEHOLDERS_ONLY,
    VARIED,
    VARIED_PLACES,
    WORDS,
    Tokens,
    error_tokens,
    token_codes,
)

# A text that reports so many figures, and is also said of a success (200, 302), is not named by its status.
_MIN_FIGURES_OF_REPORT = 3
# Rows are compared in classes of at most so many tokens: most texts are short, a few are long.
_WIDTHS = (8, 16, 32)


def ranked(*columns: Integers) -> Integers:
    """Dense ids of rows: equal where all columns are."""
    ids = np.unique(columns[0], return_inverse=True)[1]
    for column in columns[1:]:
        ids = np.unique(ids * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return ids


def _without_one(project: Integers, rows: Integers) -> list[Integers]:
    """For each place, ids of rows: equal where all other places are."""
    after = [np.zeros(len(rows), np.int64)]
    for place in range(rows.shape[1] - 1, 0, -1):
        after.append(ranked(after[-1], rows[:, place]))
    before = project
    ids = []
    for place in range(rows.shape[1]):
        ids.append(ranked(before, after[-1 - place]))
        before = ranked(before, rows[:, place])
    return ids


def _names_varied(project: Integers, rows: Integers, tokens: Tokens, params: ErrorParams) -> Integers:
    """Rows equal in all but names and identifiers: the places where these differ become variable, all at once."""
    kind = tokens.kind[rows]
    loose = (kind == NAMES) | (kind == IDENTIFIERS)
    group = ranked(project, *np.where(loose, VARIED, rows).T)
    worded = tokens.is_word(rows).sum(axis=1) >= params.min_words
    varied = rows.copy()
    for place in np.flatnonzero(loose.any(axis=0)):
        at = np.flatnonzero(loose[:, place] & worded)
        first = at[np.unique(ranked(group[at], rows[at, place]), return_index=True)[1]]
        values = np.bincount(group[first], minlength=len(rows))
        names = np.bincount(group[first][kind[first, place] == NAMES], minlength=len(rows))
        vary = ((values >= params.min_names) & (2 * names > values)) | (values >= params.min_identifiers)
        varied[at[vary[group[at]]], place] = VARIED
    return varied


def _texts_showing(
    ids: Integers, rows: Integers, place: int, words: Integers, figures: Integers, tokens: Tokens, params: ErrorParams
) -> Integers:
    """For each row, how many rows equal but for `place` show that place to be variable; 0: they do not show it."""
    kind = tokens.kind[rows[:, place]]

    def count(which: Booleans) -> Integers:
        return np.bincount(ids[which], minlength=len(rows))[ids]

    can = kind >= WORDS
    values = count(can)
    names = count((kind == NAMES) | (kind == PLACEHOLDERS_ONLY))
    looser = names + count(kind == IDENTIFIERS)
    others = words - (kind == WORDS)
    named = tokens.name_follows[rows[:, place - 1]] if place else np.zeros(len(rows), np.bool_)
    shown = (
        ((count(kind == VARIED_PLACES) > 0) & (values > 1))
        | ((values >= params.min_names) & (2 * names > values))
        | ((values >= params.min_identifiers) & (2 * looser > values))
        | (named & (values >= params.min_named_words))
        | ((values >= params.min_words_in_place) & (others >= params.min_words_for_words))
    )
    is_code = kind == CODES
    reported = is_code & (count(tokens.is_success[rows[:, place]]) > 0) & (figures >= _MIN_FIGURES_OF_REPORT)
    shown = (shown & can & (others >= params.min_words)) | (reported & (words > params.min_words))
    return np.where(shown & (kind != VARIED_PLACES), np.where(is_code, count(is_code), values), 0)


def _places_varied(project: Integers, rows: Integers, tokens: Tokens, params: ErrorParams) -> Integers:
    """Rows with every place that is shown to vary made variable; if too few words would stay, only the best shown."""
    is_word = tokens.is_word(rows)
    words = is_word.sum(axis=1)
    kind = tokens.kind[rows]
    figures = ((kind == PLACEHOLDERS_ONLY) | (kind == VARIED_PLACES)).sum(axis=1)
    showing = np.empty_like(rows)
    for place, ids in enumerate(_without_one(project, rows)):
        showing[:, place] = _texts_showing(ids, rows, place, words, figures, tokens, params)
    vary = showing > 0
    poor = np.flatnonzero(vary.any(axis=1) & ((is_word & ~vary).sum(axis=1) < params.min_words))
    vary[poor] = False
    vary[poor, showing[poor].argmax(axis=1)] = True
    return np.where(vary, VARIED, rows)


def _generalised(project: Integers, rows: Integers, tokens: Tokens, params: ErrorParams) -> Integers:
    """`rows` with placeholders and all that varies replaced by their codes; one template has one row."""
    worded = tokens.is_word(rows).any(axis=1, keepdims=True)
    rows = np.where((tokens.kind[rows] == PLACEHOLDERS_ONLY) & worded, PLACEHOLDER, rows)
    step = _names_varied
    of = np.arange(len(rows))
    while True:
        first, same = np.unique(ranked(project, *rows.T), return_index=True, return_inverse=True)[1:]
        project, rows, of = project[first], rows[first], same[of]
        varied = step(project, rows, tokens, params)
        if step is _places_varied and np.array_equal(varied, rows):
            return rows[of]
        rows, step = varied, _places_varied


def _places_mixed(template: Integers, rows: Integers) -> Booleans:
    """Which places of each row do not hold the same token in all rows of the template."""
    first, of = np.unique(template, return_index=True, return_inverse=True)[1:]
    mixed = np.zeros((len(first), rows.shape[1]), np.bool_)
    np.logical_or.at(mixed, of, rows != rows[first][of])
    return mixed[of]


def _varied_cells(project: Integers, coded: pl.DataFrame, tokens: Tokens, params: ErrorParams) -> Booleans:
    """Which tokens stand in a variable place of their template."""
    row, place, code = (coded[name].to_numpy() for name in ("row", "place", "code"))
    length = np.bincount(row, minlength=len(project))
    varies = np.zeros(len(code), np.bool_)
    shorter = -1
    for width in (*(w for w in _WIDTHS if w < params.max_tokens), params.max_tokens + 1):
        chosen = (length > shorter) & (length <= width)
        shorter = width
        members = np.flatnonzero(chosen)
        if len(members) == 0:
            continue
        cells = np.flatnonzero(chosen[row])
        at = (np.searchsorted(members, row[cells]), place[cells])
        rows = np.full((len(members), width), NO_TOKEN, np.int64)
        rows[at] = code[cells]
        general = _generalised(project[members], rows, tokens, params)
        # where placeholders of several kinds stand, the place varies as well
        mixed = _places_mixed(ranked(project[members], *general.T), rows)
        varies[cells] = ((general == VARIED) | mixed)[at]
    return varies


def error_templates(masked: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """The template of each masked text, within its project.

    Args:
        masked: project, masked; distinct rows.
        params: how much evidence makes a place variable.

    Returns:
        In the order given: project, masked, template (masked text whose variable tokens are `ANY`), places
        (the variable tokens' numbers, from 1, with what stands there in this text; '' = none), texts (how many masked
        texts have this template).
    """
    coded, tokens = token_codes(error_tokens(masked, params.max_tokens))
    project = masked["project"].rank("dense").cast(pl.Int64).to_numpy()
    varies = pl.Series("varies", _varied_cells(project, coded, tokens, params))
    space = pl.col("spaced").str.head(pl.col("spaced").str.len_chars() - pl.col("token").str.len_chars())
    texts = (
        coded.with_columns(varies)
        .with_columns(
            shown=pl.when("varies").then(pl.concat_str(space, pl.lit(ANY))).otherwise("spaced"),
            place=pl.when("varies").then(pl.format("{} ({})", pl.col("place") + 1, "token")),
        )
        .group_by("row", maintain_order=True)
        .agg(template=pl.col("shown").str.join(""), places=pl.col("place").str.join(", "))
    )
    return (
        masked.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
        .join(texts, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("template", "places").fill_null(""))
        .with_columns(texts=pl.len().over("project", "template").cast(pl.Int64))
        .drop("row")
    )
