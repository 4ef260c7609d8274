"""Latent semantic analysis (Deerwester et al. 1990), beside random indexing as one more space over the same words.

The matrix of words by documents has (1 + ln tf) idf, with idf = ln(N / df); its truncated singular value decomposition
U Σ Vᵀ (randomised, scikit-learn: the extra `ml`) gives each word its row of U Σ. It costs what random indexing saves:
the whole matrix in memory, and several passes over it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import IntArray, LongArray
from rerank_plugins.errors import ConfigError, ModelError
from rerank_plugins.models.random_indexing.accumulating import END

ITERATIONS = 3


def lsa_vectors(tokens: IntArray, documents: LongArray, dimensions: int, seed: int) -> NDArray[np.float32]:
    """(words, dimensions) vectors; `documents` (words) says in how many documents each word is.

    Raises ConfigError where scikit-learn is not installed, ModelError for more dimensions than words or documents.
    """
    try:
        from scipy.sparse import coo_matrix
        from sklearn.utils.extmath import randomized_svd
    except ImportError:
        raise ConfigError("the space lsa needs scikit-learn: pip install 'rerank-plugins[ml]'") from None
    ends = tokens == END
    total = int(np.count_nonzero(ends))
    if dimensions >= min(total, len(documents)):
        found = f"{len(documents)} words and {total} documents"
        raise ModelError(f"lsa with {dimensions} dimensions needs more words and documents than that, found {found}")
    inside = tokens >= 0
    document = np.cumsum(ends)[inside]
    counts = coo_matrix((np.ones(len(document), np.float32), (tokens[inside], document)), (len(documents), total))
    matrix = counts.tocsr()
    matrix.sum_duplicates()
    idf = np.log(total / np.maximum(documents, 1)).astype(np.float32)
    matrix.data = (1 + np.log(matrix.data)) * np.repeat(idf, np.diff(matrix.indptr))
    left, values, _ = randomized_svd(matrix, dimensions, n_iter=ITERATIONS, random_state=seed)
    return np.asarray(left * values, np.float32)
