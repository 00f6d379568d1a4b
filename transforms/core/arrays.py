"""Types of arrays, by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
SmallIntegers = NDArray[np.int8]
SingleFloats = NDArray[np.float32]
