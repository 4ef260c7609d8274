"""The memory: sentence pairs in two languages, and the retrieval of those whose source is nearest to a sentence.

An inverted index finds the pairs with the highest BM25 scores (Robertson and Zaragoza 2009) against the words q of the
sentence; then the fuzzy-match score s of these candidates decides (Koehn and Senellart 2010):

    score(d) = sum_w #_w(q) idf(w) #_w(d) (k1 + 1) / (#_w(d) + k1 (1 - b + b |d| / mean |d|)),
    idf(w) = ln(1 + (N - n_w + 0.5) / (n_w + 0.5)),    s(q, d) = 1 - edit distance(q, d) / max(|q|, |d|),

for N pairs, n_w of which have w on the source side. A word's BM25 weight in a sentence, its impact, is stored as an
integer of 16 bits relative to the highest one (Anh, de Kretser and Moffat 2001), so that sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray, ModelError, PickledFields
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, Part, Setting
from rerank_plugins.kit.vocabulary.word_ids import Numbering
from rerank_plugins.translation.memory_matches import compare
from rerank_plugins.translation.words import UNKNOWN_WORD, Sentences, split_words

HIGHEST = 65_535  # the highest impact: the largest integer of 16 bits


@dataclass(frozen=True, eq=False)
class Postings:
    """Where each source word occurs: in sentences `documents[starts[w] : starts[w + 1]]`, ascending, with `impacts`.

    `highest` (V) is the highest impact of each word, which nothing reads.
    """

    starts: Annotated[LongArray, Offsets("V", "E")]
    documents: Annotated[IntArray, Array("E", below="D")]
    impacts: Annotated[NDArray[np.uint16], Array("E")]
    highest: Annotated[NDArray[np.uint16], Array("V")]


@dataclass(frozen=True, eq=False)
class Matches:
    """The pairs nearest to a sentence, the nearest first: their numbers, and their fuzzy-match scores from 0 to 1."""

    pairs: LongArray
    similarities: FloatArray

    def __len__(self) -> int:
        return len(self.pairs)


@dataclass(frozen=True, eq=False)
class TranslationMemory(PickledFields):
    """Pairs of a `source` and a `target` sentence, which have the same number, and the `postings` of source words."""

    source: Annotated[Sentences, Part("source.", D="D")]
    target: Annotated[Sentences, Part("target.", D="D")]
    postings: Annotated[Postings, Part(V="source.V", D="D")]
    settings: Annotated[Mapping[str, Any], Setting()]
    provenance: Annotated[Mapping[str, Any], Setting(versioned=True)] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"translation memory of {len(self):,} pairs"

    @property
    def lowercase(self) -> bool:
        """Whether words are compared in lower case."""
        return bool(self.settings["lowercase"])

    def nearest(self, text: str, most: int, *, candidates: int = 50, copies: bool = True) -> Matches:
        """The at most `most` pairs whose source is nearest to a tokenised text.

        They are chosen among the `candidates` of highest BM25 score (ties: the earlier pair) by their fuzzy-match score
        (ties: the order of the candidates). Without `copies`, pairs whose
        source has the same words as the text are left out. Pairs without a word of the text are never near.
        """
        query, _ = self.source.encoded([text], lowercase=self.lowercase)
        found = self.by_bm25(query, candidates, copies=copies)[0]
        distances, _ = compare(query, np.array([0, len(query)]), self.source, found)
        lengths = np.maximum(self.source.lengths[found], len(query))
        similarities = 1.0 - distances[0] / np.maximum(lengths, 1)
        order = np.argsort(-similarities, kind="stable")[:most]
        return Matches(found[order], similarities[order])

    def by_bm25(self, query: IntArray, most: int, *, copies: bool = True) -> tuple[LongArray, LongArray]:
        """The at most `most` pairs with the highest scores against the words of a query, and the scores.

        Scores are sums of 16-bit impacts. Equal ones are in the order of the pairs.
        """
        terms, counts = np.unique(query[query != UNKNOWN_WORD], return_counts=True)
        starts, totals = self.postings.starts, np.zeros(len(self), np.int64)
        for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
            within = slice(starts[term], starts[term + 1])
            totals[self.postings.documents[within]] += count * self.postings.impacts[within].astype(np.int64)
        if not copies:
            totals[self._copies(query, terms)] = 0
        found = np.flatnonzero(totals)
        if len(found) > most:
            lowest = np.partition(totals[found], len(found) - most)[len(found) - most]
            found = found[totals[found] >= lowest]
        found = found[np.argsort(-totals[found], kind="stable")[:most]]
        return found, totals[found]

    def _copies(self, query: IntArray, terms: IntArray) -> LongArray:
        """The pairs whose source side has exactly the words of a query; `terms` are its distinct known words."""
        if not len(query) or UNKNOWN_WORD in query:
            return np.zeros(0, np.int64)
        starts = self.postings.starts
        rarest = terms[np.argmin(starts[terms + 1] - starts[terms])]
        within = self.postings.documents[starts[rarest] : starts[rarest + 1]].astype(np.int64)
        within = within[self.source.lengths[within] == len(query)]
        words = self.source.tokens[self.source.offsets[within, None] + np.arange(len(query))]
        return np.asarray(within[(words == query).all(axis=1)], np.int64)


FILE = ModelFile(
    TranslationMemory,
    "translation-memory",
    "translation memory",
    first=("postings",),
    check=lambda memory: isinstance(memory.settings["lowercase"], bool),
)
read_model, write_model = FILE.read, FILE.write


@dataclass(frozen=True)
class Settings:
    """The settings of a memory: BM25's saturation `k1` and normalisation by length `b`, from 0 to 1."""

    lowercase: bool = True
    k1: float = 1.2
    b: float = 0.75


def train(
    pairs: Iterable[tuple[str, str]], settings: Settings, *, progress: Callable[[str], None] = lambda stage: None
) -> TranslationMemory:
    """The memory of tokenised sentence pairs (source, target).

    Of pairs that are the same in the form in which words are compared, the first is kept; pairs with an empty side are
    left out. Raises ModelError where no pair is left.
    """
    progress("reading")
    seen: set[tuple[str, str]] = set()
    total = 0
    numberings = Numbering(), Numbering()
    tokens: tuple[list[IntArray], list[IntArray]] = ([], [])
    for pair in pairs:
        total += 1
        source, target = (split_words(text, settings.lowercase) for text in pair)
        key = " ".join(source), " ".join(target)
        if not (source and target) or key in seen:
            continue
        seen.add(key)
        for side, numbering, words in zip(tokens, numberings, (source, target), strict=True):
            side.append(numbering.numbers_of(words, len(words)))
    if not seen:
        raise ModelError(f"no sentence pairs to remember: {total} pairs, none with words on both sides")
    progress("indexing")
    source_side, target_side = (
        Sentences.numbered(numbering, side) for numbering, side in zip(numberings, tokens, strict=True)
    )
    postings = index(source_side, settings.k1, settings.b)
    return TranslationMemory(source_side, target_side, postings, asdict(settings), {"pairs": total})


def index(sentences: Sentences, k1: float, b: float) -> Postings:
    """The sentences of each word, with the word's BM25 weight in each of them as an integer from 1 to HIGHEST."""
    number, lengths = len(sentences), sentences.lengths
    of_token = np.repeat(np.arange(number, dtype=np.int64), lengths)
    # A word in a sentence is one number, so that sorting brings the occurrences of each together.
    entries, counts = np.unique(sentences.tokens.astype(np.int64) * number + of_token, return_counts=True)
    words, documents = np.divmod(entries, number)
    frequency: LongArray = np.bincount(words, minlength=len(sentences.words)).astype(np.int64)
    idf = np.log1p((number - frequency + 0.5) / (frequency + 0.5))
    norm = k1 * (1 - b + b * lengths[documents] / lengths.mean())
    weights = idf[words] * counts * (k1 + 1) / (counts + norm)
    impacts = np.maximum(np.rint(weights * (HIGHEST / weights.max())), 1).astype(np.uint16)
    starts = np.concatenate([[0], np.cumsum(frequency)]).astype(np.int64)
    return Postings(starts, documents.astype(np.int32), impacts, np.maximum.reduceat(impacts, starts[:-1]))
