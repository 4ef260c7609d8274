"""The HEADLEX model: p(T) from head-lexicalised rules (headlex_events.py), each factor by interpolated Kneser–Ney.

    p(T) = Π_P p(H | P, w, t) Π_{modifiers and STOP, both sides} p(C | …) p(t_C | …) p(w_C | …)

Scoring is linear in nodes. Unknown labels have the probability that smoothing reserves for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from rerank_plugins import ROOT, ConfigError, FloatArray, ModelError, PickledFields, Tree
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.kit.backoff.tables import BackoffTables, Tables
from rerank_plugins.kit.files.model_schema import ModelFile, Part, Setting
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.treelet.closed_vocabulary import ClosedVocabulary, Sentence
from rerank_plugins.treelet.corpus import Corpus, TreeletCollector
from rerank_plugins.treelet.headlex_events import KINDS, HeadFinder, factors, find_heads, sizes
from rerank_plugins.treelet.tree_arrays import Symbols, TreeArrays, flat, numbered, sum_distinct


@dataclass(frozen=True)
class Settings:
    """The settings of training; `min_count` and the signatures are as in the treelet model."""

    min_count: int = 1
    signatures_after: int = 10_000
    signature_rate: float = 0.1
    seed: int = 1
    english: bool = True  # whether signatures have English endings

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise ConfigError("words occur at least once: a minimal count must be 1 or more")


@dataclass(frozen=True, eq=False)
class HeadlexModel(PickledFields):
    """A trained model: symbols, words, and the tables of each kind of factor."""

    settings: Annotated[Settings, Setting()]
    symbols: Annotated[Symbols, Part()]
    vocabulary: Annotated[ClosedVocabulary, Part()]
    tables: Annotated[Mapping[str, BackoffTables], Tables("*", keys=KINDS)]
    provenance: Annotated[dict[str, Any], Setting(versioned=True)] = field(default_factory=dict)

    @cached_property
    def _finder(self) -> HeadFinder:
        return HeadFinder(self.symbols)

    def forest(self, trees: Sequence[Tree]) -> TreeArrays:
        """The trees in numbers."""
        return numbered(trees, self.symbols, self.vocabulary)

    def score_forest(self, forest: TreeArrays) -> FloatArray:
        """(trees) ln p(T), words included."""
        heads = find_heads(forest, self._finder)
        root = self.symbols.numbers()[0].get(ROOT, -1)
        all_factors = factors(forest, heads, root, len(self.symbols), len(self.vocabulary))
        totals = np.zeros(forest.trees)
        for kind in KINDS:
            scores, _ = score_events(self.tables[kind], all_factors.events[kind])
            totals += np.bincount(all_factors.trees[kind], scores, forest.trees)
        tags = np.flatnonzero(forest.word >= 0)
        unknown = self.vocabulary.ln_types[forest.word[tags]]  # one type's share of the probability of a signature
        return totals - np.bincount(forest.tree[tags], unknown, forest.trees)

    def score_trees(self, trees: Sequence[Tree]) -> FloatArray:
        """(trees) ln p(T), words included."""
        return self.score_forest(self.forest(trees))

    def score_sentences(self, parses: Sequence[Sequence[Tree]]) -> FloatArray:
        """(n) ln Σ p(T) over the distinct trees of each sentence; -inf for a sentence without trees."""
        forest = self.forest([tree for trees in parses for tree in trees])
        return sum_distinct(self.score_forest(forest), forest, parses)

    def floor(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of a flat tree of unknown labels over each sentence: the score of unparsed and empty sentences."""
        return self.score_trees(list(map(flat, sentences)))


def check_sizes(model: HeadlexModel) -> None:
    """Raise ContentsError for tables without the symbols and the orders that they must have."""
    wanted = sizes(len(model.symbols), len(model.vocabulary))
    for kind, tables in model.tables.items():
        tables.check_symbols(kind, wanted[kind])


FILE = ModelFile(HeadlexModel, "headlex", "head-lexicalised model", check=check_sizes)
read_model, write_model = FILE.read, FILE.write


def collect(trees: Iterable[Tree]) -> TreeletCollector:
    """A collector of the trees, untransformed."""
    collector = TreeletCollector()
    collector.add(trees)
    return collector


def train(collector: TreeletCollector, settings: Settings, **estimation: Any) -> HeadlexModel:
    """A model of the collected trees; the collector is emptied. `estimation` are the other arguments of `train_on`.

    Raises ModelError if there are no trees, or no phrases under ROOT.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a head-lexicalised language model on: no trees")
    unknown = UnknownWords(settings.signatures_after, settings.signature_rate, settings.seed, settings.english)
    return train_on(collector.finish(unknown, settings.min_count), settings, **estimation)


def train_on(
    corpus: Corpus,
    settings: Settings,
    *,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> HeadlexModel:
    """A model of a finished corpus of untransformed trees. Raises ModelError if there are no phrases under ROOT."""
    symbols, vocabulary = corpus.symbols, corpus.vocabulary
    columns, root = sizes(len(symbols), len(vocabulary)), symbols.numbers()[0][ROOT]
    sources = {kind: TupleEvents(columns[kind]) for kind in KINDS}
    finder = HeadFinder(symbols)
    for forest in corpus.blocks():
        events = factors(forest, find_heads(forest, finder), root, len(symbols), len(vocabulary)).events
        for kind in KINDS:
            sources[kind].add(events[kind])
    provenance: dict[str, object] = {"trees": len(corpus.lengths), "words": len(corpus.tokens)}
    del corpus  # its memory is needed for the estimation
    if not len(sources["head"]):
        raise ModelError("the trees have no phrases under ROOT: there are no heads to learn")
    tables, ngrams = {}, {}
    for kind in KINDS:
        progress(kind)
        never = [0] if kind == "word" else []
        estimation = estimate(sources.pop(kind), never=never, jobs=jobs)
        tables[kind], ngrams[kind] = estimation.tables, list(estimation.ngrams)
    return HeadlexModel(settings, symbols, vocabulary, tables, provenance | {"ngrams": ngrams})
