"""Trains random indexing: each space sums the index vectors of the contexts of words (Wu et al. 2013, section 2.2).

    document      v_t = Σ over the occurrences of t of Σ_{u in its document} e_u
    window        v_t = Σ over the occurrences of t of Σ_{0 < |j| <= r} e_{t+j}
    directional   the same in twice the dimensions: left neighbours in the first half, right ones in the second
    positional    Σ Π^j e_{t+j}, where Π^j rotates a vector by j elements: each position has its own permutation
    lsa           the rows of U Σ in the truncated SVD U Σ Vᵀ of (1 + ln tf) ln(N / df) (Deerwester et al. 1990)

A document is a line or a block of lines between empty lines; windows do not extend beyond it. With `context_weight =
"sif"`, the index vector of a context word u is weighted by a / (a + p(u)), a = 0.001. `centre` subtracts the mean
direction of all tokens. Vectors are scaled to unit length and stored in half precision. The result depends only on the
text, the settings and the seed: one thread adds up each space in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ConfigError, IntArray, LongArray, ModelError
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.kit.vocabulary.word_ids import EOS, UNK, TextCollector
from rerank_plugins.similarity.context_sums import (
    END_OF_DOCUMENT,
    UNKNOWN_WORD,
    add_documents,
    add_neighbours,
    count_documents,
    index_vectors,
)
from rerank_plugins.similarity.random_indexing import SIF, SPACES, RandomIndexModel, Space

ITERATIONS = 3  # power iterations of the randomised decomposition
SPECIAL = 3  # the numbers of <unk>, <s> and </s> precede those of words


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
    ends = tokens == END_OF_DOCUMENT
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


@dataclass(frozen=True)
class Settings:
    """The settings of training; the defaults of `dimensions`, `nonzero` and `radius` are the paper's.

    Raises ModelError for `nonzero` or `radius` out of range.
    """

    spaces: tuple[Space, ...] = SPACES
    dimensions: int = 200
    nonzero: int = 5
    radius: int = 6
    documents: Literal["lines", "blocks"] = "lines"
    min_count: int = 5
    most_words: int | None = None
    lowercase: bool = True
    context_weight: Literal["none", "sif"] = "sif"
    centre: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.nonzero <= self.dimensions:
            raise ModelError(
                f"index vectors with {self.nonzero} non-zero elements: wanted 1 to {self.dimensions}, the dimensions"
            )
        if not 0 < self.radius < self.dimensions:
            raise ModelError(
                f"a radius of {self.radius} words: wanted 1 or more, and less than the {self.dimensions} dimensions"
            )


def train(
    texts: Iterable[tuple[str, Iterable[str]]],
    settings: Settings,
    *,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda stage: None,
) -> RandomIndexModel:
    """Train a model on (name, lines) texts. Raises ModelError if no word occurs `min_count` times."""
    collector = TextCollector()
    for name, lines in texts:
        progress(f"reading {name}")
        lines = map(normal_text, lines)
        collector.add(map(str.lower, lines) if settings.lowercase else lines, name)
    vocabulary, numbered, _ = collector.finish(settings.min_count, settings.most_words)
    words = vocabulary.words[SPECIAL:]
    if not words:
        raise ModelError(f"no word occurs {settings.min_count} times in the text: use more text or a lower minimum")
    tokens = in_documents(numbered, settings.documents)
    counts = np.bincount(tokens[tokens >= 0], minlength=len(words)).astype(np.int64)
    documents = np.zeros(len(words), np.int64)
    count_documents(tokens, np.full(len(words), -1, np.int64), documents)
    places, signs = index_vectors(words, settings.dimensions, settings.nonzero, settings.seed)
    frequencies = (counts / counts.sum()).astype(np.float32)
    values = signs if settings.context_weight == "none" else signs * (SIF / (SIF + frequencies))[:, None]

    def space(kind: Space) -> NDArray[np.float16]:
        if kind == "lsa":
            return _unit(lsa_vectors(tokens, documents, settings.dimensions, settings.seed)).astype(np.float16)
        sums = _sums(kind, tokens, places, values.astype(np.float32), settings, len(words))
        if settings.centre:
            sums -= (frequencies @ _unit(sums)) * _lengths(sums)  # without the mean direction of all tokens
        return _unit(sums).astype(np.float16)

    progress("adding up contexts")
    with ThreadPoolExecutor(jobs) as pool:
        spaces: dict[str, NDArray[np.float16]] = dict(
            zip(settings.spaces, pool.map(space, settings.spaces), strict=True)
        )
    total = int(np.count_nonzero(tokens == END_OF_DOCUMENT))
    trained_on = {"words": collector.tokens, "lines": collector.sentences}
    return RandomIndexModel(words, counts, documents, total, spaces, asdict(settings), trained_on)


def in_documents(numbered: IntArray, documents: str) -> IntArray:
    """Convert vocabulary numbers to the tokens of the kernels: words from 0, UNKNOWN_WORD and END_OF_DOCUMENT."""
    ends = numbered == EOS
    tokens = np.where(ends, END_OF_DOCUMENT, np.where(numbered == UNK, UNKNOWN_WORD, numbered - SPECIAL)).astype(
        np.int32
    )
    empty_line = ends & np.concatenate([[True], ends[:-1]])
    if documents == "lines":
        return np.asarray(tokens[~empty_line], np.int32)
    keep = ~ends | empty_line
    return np.append(tokens[keep], np.int32(END_OF_DOCUMENT))


def _sums(
    kind: Space, tokens: IntArray, places: IntArray, values: NDArray[np.float32], settings: Settings, words: int
) -> NDArray[np.float32]:
    """The (words, dimensions) sums of the index vectors of all contexts; `directional` has twice the dimensions."""
    size, radius = settings.dimensions, settings.radius
    sums = np.zeros((words, 2 * size if kind == "directional" else size), np.float32)
    if kind == "document":
        add_documents(tokens, places, values, np.zeros(size, np.float32), sums)
        return sums
    distances = np.arange(-radius, radius + 1)
    shifts = distances % size if kind == "positional" else np.zeros_like(distances)
    offsets = np.where(distances > 0, size, 0) if kind == "directional" else np.zeros_like(distances)
    add_neighbours(tokens, places, values, size, shifts.astype(np.int32), offsets.astype(np.int32), sums)
    return sums


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None], np.float32)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = _lengths(vectors)
    return np.asarray(vectors / np.where(lengths > 0, lengths, np.float32(1)), np.float32)
