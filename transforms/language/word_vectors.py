"""Static word vectors, as integers: sums and products of them are exact, whatever the engine and its threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

# words -> len(words) x dimensions, int16
WordVectors = Callable[[pl.Series], "np.ndarray[Any, np.dtype[np.int16]]"]
