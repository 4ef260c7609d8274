"""The inverted index of a collection (Gabrilovich and Markovitch 2009, section 3).

A word's weight in a document is (1 + ln tf) ln(N / df), divided by the length of the document's vector; a word keeps
its `most` strongest documents, in place of the paper's pruning of what is weak. Documents that are too short say
little, and are left out (the paper: less than 100 words), as are words in one document alone.

The text, as numbers, is spilled to disk beyond the workspace's memory; the index is made of some documents at a time,
and holds at most words x `most` entries and those of that piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.vocabulary import TextCollector
from rerank_plugins.models.backoff.workspace import Workspace
from rerank_plugins.models.esa.documents import Document
from rerank_plugins.models.esa.kernels import index_documents
from rerank_plugins.models.esa.model import EsaModel
from rerank_plugins.models.random_indexing.accumulating import END, count_documents
from rerank_plugins.models.random_indexing.training import SPECIAL, in_documents
from rerank_plugins.trees.penn import normal_text

PIECE = 1 << 22  # tokens indexed at a time


@dataclass(frozen=True)
class Settings:
    """How an index is made; documents of fewer than `shortest` words are left out."""

    most: int = 500
    shortest: int = 100
    min_count: int = 3
    most_words: int | None = None
    lowercase: bool = True


Entries = tuple[LongArray, IntArray, NDArray[np.float32]]  # words, documents, weights


def train(
    collection: Iterable[Document],
    settings: Settings,
    *,
    workspace: Workspace | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> EsaModel:
    """An index of the documents. Raises ModelError where no document or no word is left."""
    collector, titles = TextCollector(workspace or Workspace()), list[str]()

    def lines() -> Iterator[str]:
        for document in collection:
            titles.append(document.title)
            lines = map(normal_text, document.lines)
            yield from map(str.lower, lines) if settings.lowercase else lines
            yield ""

    progress("reading")
    collector.add(lines())
    vocabulary, numbered, _ = collector.finish(settings.min_count, settings.most_words)
    words = vocabulary.words[SPECIAL:]
    tokens = in_documents(numbered, "blocks")
    ends = np.flatnonzero(tokens == END)[: len(titles)]
    lengths = np.diff(ends, prepend=-1) - 1
    kept = lengths >= settings.shortest
    if not kept.any():
        longest = lengths.max(initial=0)
        raise ModelError(f"no document has {settings.shortest} words or more: {len(titles)}, the longest of {longest}")
    frequency = np.zeros(len(words), np.int64)
    count_documents(tokens, np.full(len(words), -1, np.int64), frequency)
    total = len(titles)
    idf = np.where(frequency > 1, np.log(total / np.maximum(frequency, 1)), 0.0)
    progress("indexing")
    entries = _indexed(tokens, ends, idf, settings)
    if not len(entries[0]):
        raise ModelError(f"no word is in two documents, but not in all: {total} documents are too few, or too alike")
    number = np.cumsum(kept) - 1  # documents left out have no number
    starts = np.concatenate([[0], np.cumsum(np.bincount(entries[0], minlength=len(words)))])
    documents = number[entries[1]].astype(np.int32)
    named = tuple(title for title, keep in zip(titles, kept, strict=True) if keep)
    trained_on = {"words": collector.tokens, "documents": total}
    return EsaModel(words, idf, named, starts, documents, entries[2], asdict(settings), trained_on)


def _indexed(tokens: IntArray, ends: LongArray, idf: FloatArray, settings: Settings) -> Entries:
    """The entries of all documents, by word and document; pruned after each piece, which changes nothing in the end."""
    entries: Entries = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    first = 0
    while first < len(ends):
        start = ends[first - 1] + 1 if first else 0
        last = max(first + 1, int(np.searchsorted(ends, start + PIECE)))
        piece, own = tokens[start : ends[last - 1]], ends[first:last] - start
        words, weights = np.empty(len(piece), np.int64), np.empty(len(piece), np.float32)
        sizes = np.zeros(len(own), np.int64)
        count = index_documents(piece, own, idf, settings.shortest, words, weights, sizes)
        documents = np.repeat(np.arange(first, last, dtype=np.int32), sizes)
        found = (words[:count], documents, weights[:count])
        entries = _strongest(entries, found, settings.most)
        first = last
    return entries


def _strongest(old: Entries, new: Entries, most: int) -> Entries:
    """The `most` entries of greatest weight of each word (of equal ones those of earlier documents), by document."""
    told = new[2] > 0
    words, documents = np.concatenate([old[0], new[0][told]]), np.concatenate([old[1], new[1][told]])
    weights = np.concatenate([old[2], new[2][told]])
    order = np.lexsort((documents, -weights, words))
    begins = np.searchsorted(words[order], words[order])
    kept = order[np.arange(len(order)) - begins < most]
    kept = kept[np.lexsort((documents[kept], words[kept]))]
    return words[kept], documents[kept], weights[kept]
