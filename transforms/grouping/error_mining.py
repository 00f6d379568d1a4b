"""Templates of masked error messages, the families of errors: which places of like texts vary.

A function of the set of distinct texts of a project, so neither the order nor the number of sightings matters (parsers
such as Drain read a stream and depend on both). Texts of one template have the same number of parts (Drain: He et al.,
ICWS 2017). Which places may vary together shows in how often their parts stand there: what belongs to the template
stands in all its texts, what varies in few (Brain: Yu et al., IEEE TSC 2023). Then each of these places must show by
itself that it varies, by how many different parts of which kind stand in it; the fewer words the texts share, the more.
Parts seen to vary in one template are values, and ask for less evidence in the next. Without evidence, different texts
are different errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from slowwave.transforms.core.arrays import Booleans, Integers
from slowwave.transforms.grouping.error_parts import (
    ANY,
    FIGURE,
    FIGURES_ONLY,
    IDENTIFIER,
    NAME,
    NO_PART,
    PLACEHOLDERS,
    VARIED,
    WORD,
    Parts,
    error_parts,
    is_word,
    part_codes,
)
from slowwave.transforms.grouping.params import ErrorParams

_Hashes = NDArray[np.uint64]
# Rows are compared in classes of at most so many parts: most texts are short, a few are long.
_WIDTHS = (8, 16, 32)
# How many sets of places are tried of each text, from its rarest part on.
_SETS = 12
# What a shared part weighs as evidence that texts are one: a word twice as much as a mark, a name or a placeholder.
_WORD_WEIGHT, _PART_WEIGHT = 2, 1
_LEAST_WEIGHT, _MUCH_WEIGHT = 2 * _WORD_WEIGHT, 4 * _WORD_WEIGHT
# Beside so many shared words, a place that holds a number in one text and a word in another varies.
_MIN_WORDS_BESIDE_FIGURE = 4


def _hash_values(values: Integers) -> _Hashes:
    """Well mixed 64 bits of each value (splitmix64); the hashes of a row's cells are added up."""
    with np.errstate(over="ignore"):
        mixed = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def _dense(values: NDArray[np.generic]) -> Integers:
    """Dense ids: equal where the values are."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class _Texts:
    """Distinct rows of part codes, and what is known of their cells."""

    scope: Integers  # equal where project and number of parts are
    rows: Integers
    kinds: Integers
    hashes: _Hashes

    @classmethod
    def of(cls, project: Integers, rows: Integers, parts: Parts) -> _Texts:
        width = rows.shape[1]
        place = np.arange(width, dtype=np.int64)
        scope = project * (width + 1) + (rows != NO_PART).sum(axis=1)
        return cls(scope, rows, parts.kinds(rows), _hash_values(rows * width + place))

    def weight(self) -> Integers:
        """What each cell weighs as evidence that texts that share it are one."""
        known = np.where(is_word(self.kinds), _WORD_WEIGHT, _PART_WEIGHT)
        return np.where((self.rows == NO_PART) | (self.rows == VARIED), 0, known)

    def whole(self) -> _Hashes:
        """One hash per row; and per scope."""
        with np.errstate(over="ignore"):
            return self.hashes.sum(axis=1, dtype=np.uint64) + _hash_values(-1 - self.scope)


@dataclass(frozen=True)
class _Seen:
    """How many different parts of which kind stand in one place of each group of texts."""

    values: Integers
    names: Integers
    identifiers: Integers
    figures: Integers
    varied: Integers

    @classmethod
    def of(cls, group: Integers, code: Integers, kind: Integers, groups: int) -> _Seen:
        """Of cells: their group, code and kind; a code counts once in a group."""
        first = np.unique(group * (int(code.max(initial=0)) + 1) + code, return_index=True)[1]
        group, code, kind = group[first], code[first], kind[first]

        def count(which: Booleans) -> Integers:
            return np.bincount(group[which], minlength=groups)

        return cls(
            values=np.bincount(group, minlength=groups),
            names=count((kind == NAME) | (kind == FIGURES_ONLY)),
            identifiers=count(kind == IDENTIFIER),
            figures=count(code == FIGURE),
            varied=count(code == VARIED),
        )

    def shows(self, weight: Integers, words: Integers, *, opens: Booleans, params: ErrorParams) -> Booleans:
        """Which places are shown to vary, by what the texts share besides: its weight, its words.

        `opens`: no shared word stands before the place.
        """
        names, looser = self.names, self.names + self.identifiers
        enough = np.where(weight >= _MUCH_WEIGHT, params.min_words_in_place, params.min_words_beside_few)
        enough = np.where(opens, np.maximum(enough, params.min_words_in_first_place), enough)
        return (
            (self.varied > 0)
            | ((self.figures > 0) & ((self.values == 1) | (words >= _MIN_WORDS_BESIDE_FIGURE)))
            | ((words >= params.min_words) & (self.values >= params.min_names) & (2 * names > self.values))
            | ((words >= params.min_words) & (self.values >= params.min_identifiers) & (2 * looser > self.values))
            | (self.values >= enough)
        )


def _loose_varied(texts: _Texts, params: ErrorParams) -> Integers:
    """Rows equal in all but names, identifiers and figures: the places where these differ vary, all at once."""
    rows, kinds = texts.rows, texts.kinds
    named = (kinds == NAME) | (kinds == FIGURES_ONLY)
    loose = named | (kinds == IDENTIFIER)
    with np.errstate(over="ignore"):
        group = _dense(texts.whole() - np.where(loose, texts.hashes, np.uint64(0)).sum(axis=1, dtype=np.uint64))
    worded = is_word(kinds).sum(axis=1) >= params.min_words
    varied = rows.copy()
    for place in np.flatnonzero(loose.any(axis=0)):
        at = np.flatnonzero(loose[:, place] & worded)
        seen = _Seen.of(group[at], rows[at, place], kinds[at, place], len(rows))
        shown = (seen.values >= params.min_names) & (2 * seen.names > seen.values)
        shown |= seen.values >= params.min_identifiers
        varied[at[shown[group[at]]], place] = VARIED
    return varied


def _places_varied(texts: _Texts, params: ErrorParams) -> Integers:
    """Rows with every place that is shown to vary by itself made variable; if too little would stay, the best shown."""
    rows, kinds, count = texts.rows, texts.kinds, len(texts.rows)
    word, weight, whole = is_word(kinds), texts.weight(), texts.whole()
    words, weights = word.sum(axis=1), weight.sum(axis=1)
    showing = np.zeros_like(rows)
    seen_word = np.zeros(count, np.bool_)
    for place in range(rows.shape[1]):
        with np.errstate(over="ignore"):
            group = _dense(whole - texts.hashes[:, place])
        can = (kinds[:, place] >= WORD) & (rows[:, place] != NO_PART)
        at = np.flatnonzero(can)
        seen = _Seen.of(group[at], rows[at, place], kinds[at, place], count)
        others, other_words = weights - weight[:, place], words - word[:, place]
        # what the texts of a group share is the same for all of them
        of_group = np.zeros((3, count), np.int64)
        of_group[:, group] = others, other_words, seen_word
        shown = seen.shows(of_group[0], of_group[1], opens=of_group[2] == 0, params=params) & (seen.values > 1)
        shown = shown[group] & can & (others >= _LEAST_WEIGHT) & (other_words > 0)
        showing[:, place] = np.where(shown & (rows[:, place] != VARIED), seen.values[group], 0)
        seen_word |= word[:, place]
    vary = showing > 0
    stays = (weight * ~vary).sum(axis=1) >= _LEAST_WEIGHT
    poor = np.flatnonzero(vary.any(axis=1) & ~(stays & (word & ~vary).any(axis=1)))
    vary[poor] = False
    vary[poor, showing[poor].argmax(axis=1)] = True
    return np.where(vary, VARIED, rows)


@dataclass(frozen=True)
class _Sets:
    """Sets of places that may vary together, several of each text.

    Those that vary already and the parts at most so rare, with or without figures.
    """

    row: Integers
    rarity: Integers
    with_figures: Booleans

    def places(self, place: int, rarity: Integers, rows: Integers) -> Booleans:
        """Which sets hold the place."""
        code = rows[self.row, place]
        return (rarity[self.row, place] <= self.rarity) | (code == VARIED) | (self.with_figures & (code == FIGURE))


def _rarity(texts: _Texts) -> Integers:
    """In how many texts of the same length each part stands here; for what cannot vary, more than there are."""
    rows, width = texts.rows, texts.rows.shape[1]
    rarity = np.empty_like(rows)
    for place in range(width):
        same = _dense(texts.scope * (int(rows.max(initial=0)) + 1) + rows[:, place])
        rarity[:, place] = np.bincount(same)[same]
    can = (texts.kinds >= WORD) & (rows != VARIED) & (rows != FIGURE) & (rows != NO_PART)
    return np.where(can, rarity, len(rows) + 1)


def _sets(texts: _Texts, rarity: Integers) -> _Sets:
    """The sets worth trying: what stays has a word and some weight, and more of it than words that vary."""
    rows, count = texts.rows, len(texts.rows)
    word, weight = is_word(texts.kinds), texts.weight()
    steps = np.sort(rarity, axis=1)
    free = np.flatnonzero((rows == VARIED).any(axis=1))
    found = [(free, np.zeros(len(free), np.int64))]
    for step in range(min(rows.shape[1], _SETS)):
        bound = steps[:, step]
        vary = rarity <= bound[:, None]
        stays = (weight * ~vary).sum(axis=1)
        worth = (
            (bound <= count)
            & (word & ~vary).any(axis=1)
            & (stays >= _LEAST_WEIGHT)
            & (stays >= _WORD_WEIGHT * (1 + (vary & (texts.kinds == WORD)).sum(axis=1)))
        )
        if step:
            worth &= bound > steps[:, step - 1]
        at = np.flatnonzero(worth)
        found.append((at, bound[at]))
    row, bound = (np.concatenate(column) for column in zip(*found, strict=True))
    figures = np.flatnonzero((rows == FIGURE).any(axis=1)[row])
    return _Sets(
        np.concatenate([row, row[figures]]),
        np.concatenate([bound, bound[figures]]),
        np.arange(len(row) + len(figures)) >= len(row),
    )


def _sets_varied(texts: _Texts, params: ErrorParams) -> Integers:
    """Rows that share all but a set of places, each of which is shown to vary: these places made variable."""
    rows, kinds, width = texts.rows, texts.kinds, texts.rows.shape[1]
    rarity = _rarity(texts)
    sets = _sets(texts, rarity)
    if len(sets.row) == 0:
        return rows
    word, weight = is_word(kinds), texts.weight()
    stay_words, stays, hashes = word.sum(axis=1)[sets.row], weight.sum(axis=1)[sets.row], texts.whole()[sets.row]
    size = np.zeros(len(sets.row), np.int64)
    for place in range(width):
        vary = sets.places(place, rarity, rows)
        cell = sets.row, np.full(len(vary), place)
        size += vary
        stay_words = stay_words - (word[cell] & vary)
        stays = stays - weight[cell] * vary
        varied = _hash_values(np.array([-2 - width - place], np.int64))
        with np.errstate(over="ignore"):
            # the same places must vary in all texts of a group, whatever stands there
            hashes = hashes + np.where(vary, varied - texts.hashes[cell], np.uint64(0))
    group = _dense(hashes)
    groups = int(group.max()) + 1
    of_group = np.zeros((2, groups), np.int64)
    of_group[:, group] = stays, stay_words
    good = (of_group[0] >= _LEAST_WEIGHT) & (of_group[1] > 0)
    differs, seen_word = np.zeros(groups, np.bool_), np.zeros(groups, np.bool_)
    for place in range(width):
        vary = sets.places(place, rarity, rows)
        at = np.flatnonzero(vary & good[group])
        code = rows[sets.row[at], place]
        seen = _Seen.of(group[at], code, kinds[sets.row[at], place], groups)
        good &= (seen.values == 0) | seen.shows(of_group[0], of_group[1], opens=~seen_word, params=params)
        differs |= seen.values > 1
        seen_word[group[~vary & word[sets.row, place]]] = True
    chosen = np.flatnonzero((good & differs)[group])
    # of each text the smallest set: what else varies is found in the next round
    order = chosen[np.lexsort((size[chosen], sets.row[chosen]))]
    chosen = order[np.unique(sets.row[order], return_index=True)[1]]
    chosen_sets = _Sets(sets.row[chosen], sets.rarity[chosen], sets.with_figures[chosen])
    varied = rows.copy()
    for place in range(width):
        varied[chosen_sets.row[chosen_sets.places(place, rarity, rows)], place] = VARIED
    return varied


def _generalise_rows(project: Integers, rows: Integers, parts: Parts, params: ErrorParams) -> Integers:
    """`rows` with all that varies replaced by its code; one template has one row."""
    of = np.arange(len(rows))

    def steps(texts: _Texts, step: int) -> Integers:
        if step == 0:
            return _loose_varied(texts, params)
        return _places_varied(texts, params) if step == 1 else _sets_varied(texts, params)

    step = 0
    while True:
        texts = _Texts.of(project, rows, parts)
        first, same = np.unique(texts.whole(), return_index=True, return_inverse=True)[1:]
        project, rows, of = project[first], rows[first], same[of]
        texts = _Texts(texts.scope[first], rows, texts.kinds[first], texts.hashes[first])
        varied = steps(texts, step)
        if step > 1 and np.array_equal(varied, rows):
            return rows[of]
        # a step is repeated until it finds nothing; after the last, all begins at the second again
        step = 1 if step > 1 else step + (step == 0 or np.array_equal(varied, rows))
        rows = varied


def _in_classes(length: Integers, max_parts: int) -> list[tuple[Integers, int]]:
    """Rows by width, none empty."""
    bounds = [*(width for width in _WIDTHS if width < max_parts), max_parts + 1]
    members = [
        (np.flatnonzero((length > below) & (length <= width)), width)
        for below, width in zip([-1, *bounds], bounds, strict=False)
    ]
    return [(rows, width) for rows, width in members if len(rows)]


def _varied_cells(project: Integers, coded: pl.DataFrame, parts: Parts, params: ErrorParams) -> Booleans:
    """Which parts stand in a variable place of their template."""
    row, place, code = (coded[name].to_numpy() for name in ("row", "place", "code"))
    length = np.bincount(row, minlength=len(project))
    classes = []
    for members, width in _in_classes(length, params.max_tokens):
        index = np.full(len(project), -1, np.int64)
        index[members] = np.arange(len(members))
        cells = np.flatnonzero(index[row] >= 0)
        rows = np.full((len(members), width), NO_PART, np.int64)
        rows[index[row[cells]], place[cells]] = code[cells]
        worded = is_word(parts.kind[rows]).any(axis=1, keepdims=True)
        figures = np.where((parts.kind[rows] == FIGURES_ONLY) & worded, FIGURE, rows)
        classes.append((members, cells, (index[row[cells]], place[cells]), rows, figures))

    def general(parts: Parts) -> list[Integers]:
        return [_generalise_rows(project[members], figures, parts, params) for members, _, _, _, figures in classes]

    found = general(parts)
    varied, constant = np.zeros((2, len(parts.kind)), np.int64)
    for (_, _, _, _, figures), rows in zip(classes, found, strict=True):
        varied += np.bincount(figures[rows == VARIED], minlength=len(varied))
        constant += np.bincount(figures[rows > FIGURE], minlength=len(varied))
    values = (parts.kind == WORD) & (varied >= params.min_names) & (varied > constant)
    if values.any():
        found = general(replace(parts, is_value=values))
    varies = np.zeros(len(code), np.bool_)
    for (members, cells, at, rows, _), rows_found in zip(classes, found, strict=True):
        # where placeholders of several kinds stand, the place varies as well
        mixed = _places_mixed(_Texts.of(project[members], rows_found, parts).whole(), rows)
        varies[cells] = ((rows_found == VARIED) | mixed)[at]
    return varies


def _places_mixed(template: _Hashes, rows: Integers) -> Booleans:
    """Which places of each row do not hold the same part in all rows of the template."""
    first, of = np.unique(template, return_index=True, return_inverse=True)[1:]
    mixed = np.zeros((len(first), rows.shape[1]), np.bool_)
    np.logical_or.at(mixed, of, rows != rows[first][of])
    return mixed[of]


def error_mined(masked: pl.DataFrame, params: ErrorParams) -> pl.DataFrame:
    """The template of each masked text, within its project.

    Args:
        masked: project, masked; distinct rows.
        params: how much evidence makes a place variable.

    Returns:
        In the order given: project, masked, template (masked text whose variable parts are `ANY`, several in a row
        one).
    """
    coded, parts = part_codes(error_parts(masked, params.max_tokens))
    project = masked["project"].rank("dense").cast(pl.Int64).to_numpy()
    varies = pl.Series("varies", _varied_cells(project, coded, parts, params))
    space = pl.col("spaced").str.head(pl.col("spaced").str.len_chars() - pl.col("part").str.len_chars())
    several = rf"{PLACEHOLDERS}(?:(?:, ?\+?| ){PLACEHOLDERS})+"
    texts = (
        coded.with_columns(varies)
        .with_columns(shown=pl.when("varies").then(pl.concat_str(space, pl.lit(ANY))).otherwise("spaced"))
        .group_by("row", maintain_order=True)
        .agg(template=pl.col("shown").str.join("").str.replace_all(several, ANY))
    )
    return (
        masked.with_columns(row=pl.int_range(pl.len(), dtype=pl.Int64))
        .join(texts, on="row", how="left", maintain_order="left")
        .with_columns(pl.col("template").fill_null(""))
        .drop("row")
    )
