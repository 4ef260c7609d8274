"""Latent semantic analysis (Deerwester et al. 1990): another vector space over the words of random indexing.

The entries of the word-by-document matrix are (1 + ln tf) idf, with idf = ln(N / df). The vector of a word is its row
of U Σ in the truncated singular value decomposition U Σ Vᵀ (randomised; scikit-learn, from the extra `ml`). LSA has the
costs that random indexing avoids: it holds the whole matrix in memory and makes several passes over it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import IntArray, LongArray
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.similarity.random_indexing.context_sums import END

ITERATIONS = 3  # power iterations of the randomised decomposition


def lsa_vectors(tokens: IntArray, documents: LongArray, dimensions: int, seed: int) -> NDArray[np.float32]:
    """Compute (words, dimensions) vectors; `documents` (words) holds the document frequencies.

    Raises ConfigError if scikit-learn is not installed, ModelError unless there are more words and more documents than
    dimensions.
    """
    try:
        from scipy.sparse import coo_matrix
        from sklearn.utils.extmath import randomized_svd
    except ImportError:
        raise ConfigError("the space lsa needs scikit-learn: pip install 'rerank-plugins[ml]'") from None
    ends = tokens == END
    total = int(np.count_nonzero(ends))
    if dimensions >= min(total, len(documents)):
        sizes = f"{len(documents)} words and {total} documents"
        raise ModelError(f"lsa with {dimensions} dimensions needs more words and documents than that, found {sizes}")
    inside = tokens >= 0
    document = np.cumsum(ends)[inside]
    counts = coo_matrix((np.ones(len(document), np.float32), (tokens[inside], document)), (len(documents), total))
    matrix = counts.tocsr()
    matrix.sum_duplicates()
    idf = np.log(total / np.maximum(documents, 1)).astype(np.float32)
    matrix.data = (1 + np.log(matrix.data)) * np.repeat(idf, np.diff(matrix.indptr))
    left, values, _ = randomized_svd(matrix, dimensions, n_iter=ITERATIONS, random_state=seed)
    return np.asarray(left * values, np.float32)
