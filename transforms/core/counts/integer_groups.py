"""Rows of integers in groups: sorted once, by one number where there are enough of them, and counted by arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.transforms.core.arrays import Integers

_MOST = 2**63  # more numbers than there are


@dataclass(frozen=True)
class KeyGroups:
    """Rows that have the same keys, in the order of these: the rows' `order`, and where in it each group begins."""

    order: Integers
    starts: Integers

    @staticmethod
    def of(*keys: Integers) -> KeyGroups:
        """By these keys, the first of which comes first; at least one."""
        if not len(keys[0]):
            return KeyGroups(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        number, many = np.zeros(len(keys[0]), dtype=np.int64), 1
        for key in keys:
            least, most = int(key.min()), int(key.max())
            many *= most - least + 1
            if many >= _MOST:
                return KeyGroups._in_order(np.lexsort(keys[::-1]), keys)
            number = number * (most - least + 1) + (key - least)
        return KeyGroups._in_order(np.argsort(number, kind="stable"), (number,))

    @staticmethod
    def _in_order(order: Integers, keys: tuple[Integers, ...]) -> KeyGroups:
        is_first = np.zeros(len(order), dtype=bool)
        is_first[0] = True
        for key in keys:
            ordered = key[order]
            is_first[1:] |= ordered[1:] != ordered[:-1]
        return KeyGroups(order, np.flatnonzero(is_first))

    @property
    def first(self) -> Integers:
        """The first row of each group."""
        return self.order[self.starts]

    @property
    def sizes(self) -> Integers:
        """How many rows each group has."""
        return np.diff(self.starts, append=len(self.order))

    def sums(self, values: Integers) -> Integers:
        """The sum of each group's values."""
        return np.add.reduceat(values[self.order], self.starts) if len(self.starts) else values[:0]

    def most(self, values: Integers) -> Integers:
        """The greatest of each group's values."""
        return np.maximum.reduceat(values[self.order], self.starts) if len(self.starts) else values[:0]

    def of_each(self, told: Integers) -> Integers:
        """What is told of groups, of each of their rows."""
        found = np.empty(len(self.order), dtype=told.dtype)
        found[self.order] = np.repeat(told, self.sizes)
        return found


# Sums of floats that do not depend on the order of rows.

_FIXED_POINT = 2.0**60
_LIMIT = 1e20


def ordered_sum(values: pl.Expr) -> pl.Expr:
    """Sum of `values` in 2^-60 fixed point: the same to the last bit in any order of rows.

    NULL where their sizes add up to 1e20 or more, or a value is not finite: 128 bits would not hold it.
    """
    fixed = (values * _FIXED_POINT).round().cast(pl.Int128, strict=False).sum().cast(pl.Float64) / _FIXED_POINT
    return pl.when(values.abs().sum() < _LIMIT).then(fixed)
