"""Builds the inverted index of a collection of documents (Gabrilovich and Markovitch 2009, section 3).

The weight of a word in a document is (1 + ln tf) ln(N / df), divided by the Euclidean length of the document's vector.
A word keeps the `most` documents of greatest weight. Short documents and words of one document are left out. Documents
are `lines` (`title<TAB>text`, or text alone), `blocks` between empty lines (the first line may be `# title`), or every
N lines. The index is built one piece of the collection at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, FormatError, IntArray, LongArray, ModelError
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.words import split_words
from rerank_plugins.kit.vocabulary.word_ids import TextCollector
from rerank_plugins.similarity.context_sums import END_OF_DOCUMENT, count_documents
from rerank_plugins.similarity.esa_model import EsaModel, index_documents
from rerank_plugins.similarity.random_indexing_training import SPECIAL, in_documents

PIECE = 1 << 22  # tokens indexed at a time
Entries = tuple[LongArray, IntArray, NDArray[np.float32]]  # words, documents, weights


@dataclass(frozen=True)
class Document:
    """The title of a document and the lines of its text."""

    title: str
    lines: tuple[str, ...]


def documents(name: str, lines: Iterable[str], form: str) -> Iterator[Document]:
    """Yield the documents of a file that are not empty; `form` is `lines`, `blocks` or a number.

    Raises FormatError for a line that contains the word `<s>` or `</s>`, which are reserved as sentence boundaries.
    """
    numbered = ((number, _checked_line(line.strip("\r\n"), name, number)) for number, line in enumerate(lines, 1))
    if form == "lines":
        for number, line in numbered:
            title, tab, text = line.partition("\t")
            yield from _document(title.strip() if tab else "", [text if tab else line], name, number)
    elif form == "blocks":
        yield from _blocks(numbered, name)
    else:
        while piece := list(islice(numbered, int(form))):
            yield from _document("", [line for _, line in piece], name, piece[0][0])


def _blocks(numbered: Iterable[tuple[int, str]], name: str) -> Iterator[Document]:
    title, text, first = "", list[str](), 1
    for number, line in numbered:
        if not line.strip():
            yield from _document(title, text, name, first)
            title, text = "", []
        elif line.startswith("# ") and not text:
            title = line[2:].strip()
        else:
            first = first if text else number
            text.append(line)
    yield from _document(title, text, name, first)


def _document(title: str, text: list[str], name: str, first: int) -> Iterator[Document]:
    """Yield the document of these lines, unless all are empty; `first` is the number of its first line."""
    kept = tuple(line for line in text if line.strip())
    if kept:
        yield Document(title or f"{name}:{first}", kept)


def _checked_line(line: str, name: str, number: int) -> str:
    """Return the line. Raises FormatError if it contains a reserved word."""
    for mark in ("<s>", "</s>"):
        if mark in line and mark in split_words(line):
            raise FormatError(f"{mark} is a reserved word, which a text may not contain", path=name, line=number)
    return line


@dataclass(frozen=True)
class Settings:
    """The settings of an index; documents of fewer than `shortest` words are left out."""

    most: int = 500
    shortest: int = 100
    min_count: int = 3
    most_words: int | None = None
    lowercase: bool = True


def train(
    collection: Iterable[Document],
    settings: Settings,
    *,
    progress: Callable[[str], None] = lambda stage: None,
) -> EsaModel:
    """Build an index of the documents. Raises ModelError if no document or no word is left."""
    collector, titles = TextCollector(), list[str]()

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
    ends = np.flatnonzero(tokens == END_OF_DOCUMENT)[: len(titles)]
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
        raise ModelError(f"no word is in two documents, but not in all: {total} documents are too few or too similar")
    number = np.cumsum(kept) - 1  # documents left out have no number
    starts = np.concatenate([[0], np.cumsum(np.bincount(entries[0], minlength=len(words)))])
    documents = number[entries[1]].astype(np.int32)
    kept_titles = tuple(title for title, keep in zip(titles, kept, strict=True) if keep)
    trained_on = {"words": collector.tokens, "documents": total}
    return EsaModel(words, idf, kept_titles, starts, documents, entries[2], asdict(settings), trained_on)


def _indexed(tokens: IntArray, ends: LongArray, idf: FloatArray, settings: Settings) -> Entries:
    """The entries of all documents, sorted by word and document; pruning after each piece keeps the same entries."""
    entries: Entries = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    first = 0
    while first < len(ends):
        start = ends[first - 1] + 1 if first else 0
        last = max(first + 1, int(np.searchsorted(ends, start + PIECE)))
        piece, piece_ends = tokens[start : ends[last - 1]], ends[first:last] - start
        words, weights = np.empty(len(piece), np.int64), np.empty(len(piece), np.float32)
        sizes = np.zeros(len(piece_ends), np.int64)
        count = index_documents(piece, piece_ends, idf, settings.shortest, words, weights, sizes)
        documents = np.repeat(np.arange(first, last, dtype=np.int32), sizes)
        entries = _strongest(entries, (words[:count], documents, weights[:count]), settings.most)
        first = last
    return entries


def _strongest(old: Entries, new: Entries, most: int) -> Entries:
    """The `most` entries of greatest weight of each word (ties: the earlier document), sorted by word and document."""
    positive = new[2] > 0
    words, documents = np.concatenate([old[0], new[0][positive]]), np.concatenate([old[1], new[1][positive]])
    weights = np.concatenate([old[2], new[2][positive]])
    order = np.lexsort((documents, -weights, words))
    firsts = np.searchsorted(words[order], words[order])
    kept = order[np.arange(len(order)) - firsts < most]
    kept = kept[np.lexsort((documents[kept], words[kept]))]
    return words[kept], documents[kept], weights[kept]
