"""Training of a HEADLEX model on trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.estimation import estimate
from rerank_plugins.models.backoff.events import TupleEvents
from rerank_plugins.models.headlex.events import KINDS, factors, sizes
from rerank_plugins.models.headlex.heads import HeadFinder, find_heads
from rerank_plugins.models.headlex.model import HeadlexModel, Settings
from rerank_plugins.models.treelet.collecting import TreeletCollector
from rerank_plugins.models.vocabulary.signatures import UnknownWords
from rerank_plugins.trees.constituency import ROOT, Tree


def collect(trees: Iterable[Tree]) -> TreeletCollector:
    """A collector of the trees, untransformed."""
    collector = TreeletCollector()
    collector.add(trees)
    return collector


def train(
    collector: TreeletCollector,
    settings: Settings,
    *,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> HeadlexModel:
    """A model of the collected trees; the collector is emptied.

    Raises ModelError if there are no trees, or no phrases under ROOT.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a head-lexicalised language model on: no trees")
    unknown = UnknownWords(settings.signatures_after, settings.signature_rate, settings.seed)
    symbols, vocabulary, forest = collector.finish(unknown, settings.min_count)
    heads = find_heads(forest, HeadFinder(symbols))
    all_factors = factors(forest, heads, symbols.numbers()[0][ROOT], len(symbols), len(vocabulary))
    if not len(all_factors.events["head"]):
        raise ModelError("the trees have no phrases under ROOT: there are no heads to learn")
    tables, ngrams = {}, {}
    for kind in KINDS:
        progress(kind)
        source = TupleEvents(sizes(len(symbols), len(vocabulary))[kind])
        source.add(all_factors.events[kind])
        estimation = estimate(source, never=[0] if kind == "word" else [], jobs=jobs)
        tables[kind], ngrams[kind] = estimation.tables, list(estimation.ngrams)
    words = int((forest.word >= 0).sum())
    return HeadlexModel(
        settings, symbols, vocabulary, tables, {"trees": forest.trees, "words": words, "ngrams": ngrams}
    )
