"""Array types, named after their elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]  # scores, probabilities, weights
IntArray = NDArray[np.int32]  # numbers of words, symbols, rules and nodes
PlaceArray = NDArray[np.uint32]  # places that inner loops read: of signed ones, machine code asks if they are below 0
LongArray = NDArray[np.int64]  # offsets into other arrays, counts
BoolArray = NDArray[np.bool_]
