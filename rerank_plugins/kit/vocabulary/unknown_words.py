"""The number of words of a sentence that a vocabulary lacks, as values of features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.interfaces import Sentence


def minus_unknown(sentences: Sequence[Sentence], vocabulary: Words) -> FloatArray:
    """(n) minus the number of words of each sentence that are not in the vocabulary."""
    unknown = {word for word in set().union(*sentences) if word not in vocabulary}
    return 0.0 - np.array([sum(word in unknown for word in words) for words in sentences], np.float64)
