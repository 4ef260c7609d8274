"""Training: text is numbered, then each space adds up index vectors of contexts (Wu et al. 2013, section 2.2).

    document      v_t = Σ over the occurrences of t of Σ_{u in its document} e_u
    window        v_t = Σ over the occurrences of t of Σ_{0 < |j| <= r} e_{t+j}
    directional   the same with twice the dimensions, left neighbours in the first half, right ones in the second
    positional    Σ Π^j e_{t+j}, where Π^j rotates a vector by j places: each position has a permutation of its own
    lsa           no random indexing, but what it stands in for: see lsa.py

A document is a line (a sentence, most often), or a block of lines between empty ones; windows end with it. Index
vectors of context words have a weight, `context_weight = "sif"`: a / (a + p(u)), a = 0.001, since otherwise a few
function words fill all vectors; `none` is the paper's. `centre` takes the mean vector (of all tokens) away from each
word's, for the same reason. Vectors are then given unit length, and stored in half precision.

The result depends on text, settings and seed alone: each space is added up by one thread in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import IntArray
from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.vocabulary import EOS, UNK, TextCollector
from rerank_plugins.models.backoff.workspace import Workspace
from rerank_plugins.models.random_indexing.accumulating import (
    END,
    UNKNOWN,
    add_documents,
    add_neighbours,
    count_documents,
)
from rerank_plugins.models.random_indexing.index_vectors import index_vectors
from rerank_plugins.models.random_indexing.model import SIF, SPACES, RandomIndexModel, Space
from rerank_plugins.trees.penn import normal_text

SPECIAL = 3  # numbers of <unk>, <s> and </s> come before those of words


@dataclass(frozen=True)
class Settings:
    """How a model is trained; the defaults of `dimensions`, `nonzero` and `radius` are the paper's."""

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
                f"{self.nonzero} of {self.dimensions} places cannot be non-zero: wanted 1 or more, not more"
            )
        if not 0 < self.radius < self.dimensions:
            raise ModelError(
                f"a radius of {self.radius} words: wanted from 1 to below the {self.dimensions} dimensions"
            )


def train(
    texts: Iterable[tuple[str, Iterable[str]]],
    settings: Settings,
    *,
    jobs: int = 1,
    workspace: Workspace | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> RandomIndexModel:
    """A model of (name, lines) texts. Raises ModelError where no word is left."""
    collector = TextCollector(workspace or Workspace())
    for name, lines in texts:
        progress(f"reading {name}")
        lines = map(normal_text, lines)
        collector.add(map(str.lower, lines) if settings.lowercase else lines, name)
    vocabulary, numbered, _ = collector.finish(settings.min_count, settings.most_words)
    words = vocabulary.words[SPECIAL:]
    if not words:
        raise ModelError(f"no word occurs {settings.min_count} times in the text: give more text, or a lower minimum")
    tokens = in_documents(numbered, settings.documents)
    counts = np.bincount(tokens[tokens >= 0], minlength=len(words)).astype(np.int64)
    documents = np.zeros(len(words), np.int64)
    count_documents(tokens, np.full(len(words), -1, np.int64), documents)
    places, signs = index_vectors(words, settings.dimensions, settings.nonzero, settings.seed)
    share = (counts / counts.sum()).astype(np.float32)
    values = signs if settings.context_weight == "none" else signs * (SIF / (SIF + share))[:, None]

    def space(kind: Space) -> NDArray[np.float16]:
        if kind == "lsa":
            from rerank_plugins.models.random_indexing.lsa import lsa_vectors

            return _unit(lsa_vectors(tokens, documents, settings.dimensions, settings.seed)).astype(np.float16)
        sums = _sums(kind, tokens, places, values.astype(np.float32), settings, len(words))
        if settings.centre:
            sums -= (share @ _unit(sums))[None, :] * _lengths(sums)  # the mean direction of the text's words
        return _unit(sums).astype(np.float16)

    progress("adding up contexts")
    with ThreadPoolExecutor(jobs) as pool:
        spaces: dict[str, NDArray[np.float16]] = dict(
            zip(settings.spaces, pool.map(space, settings.spaces), strict=True)
        )
    total = int(np.count_nonzero(tokens == END))
    trained_on = {"words": collector.tokens, "lines": collector.sentences}
    return RandomIndexModel(words, counts, documents, total, spaces, asdict(settings), trained_on)


def in_documents(numbered: IntArray, documents: str) -> IntArray:
    """Tokens as the kernels want them: words from 0, UNKNOWN, and END where a document ends."""
    ends = numbered == EOS
    tokens = np.where(ends, END, np.where(numbered == UNK, UNKNOWN, numbered - SPECIAL)).astype(np.int32)
    empty_line = ends & np.concatenate([[True], ends[:-1]])
    if documents == "lines":
        return np.asarray(tokens[~empty_line], np.int32)
    keep = ~ends | empty_line
    return np.append(tokens[keep], np.int32(END))


def _sums(
    kind: Space,
    tokens: IntArray,
    places: IntArray,
    values: NDArray[np.float32],
    settings: Settings,
    words: int,
) -> NDArray[np.float32]:
    """(words, dimensions) sums of the index vectors of all contexts."""
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
