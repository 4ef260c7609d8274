"""From trees to a HEADLEX model."""

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
    """The trees as they are."""
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
    """A model of the collected trees, which are gone from the collector afterwards. Raises ModelError for no trees,
    and for trees without phrases.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a head-lexicalised language model on: no trees")
    unknown = UnknownWords(settings.signatures_after, settings.signature_rate, settings.seed)
    symbols, vocabulary, forest = collector.finish(unknown, settings.min_count)
    heads = find_heads(forest, HeadFinder(symbols))
    made = factors(forest, heads, symbols.numbers()[0][ROOT], len(symbols), len(vocabulary))
    if not len(made.events["head"]):
        raise ModelError("the trees have no phrases under ROOT: there are no heads to learn")
    tables, ngrams = {}, {}
    for kind in KINDS:
        progress(kind)
        source = TupleEvents(sizes(len(symbols), len(vocabulary))[kind])
        source.add(made.events[kind])
        found = estimate(source, never=[0] if kind == "word" else [], jobs=jobs)
        tables[kind], ngrams[kind] = found.tables, list(found.ngrams)
    words = int((forest.word >= 0).sum())
    return HeadlexModel(
        settings, symbols, vocabulary, tables, {"trees": forest.trees, "words": words, "ngrams": ngrams}
    )
