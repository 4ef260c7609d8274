"""Training of a HEADLEX model on trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rerank_plugins.core.constituency_tree import ROOT, Tree
from rerank_plugins.core.errors import ModelError
from rerank_plugins.kit.backoff.estimation import Estimator, estimate
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.treelet.corpus import Corpus, TreeletCollector
from rerank_plugins.treelet.headlex_events import KINDS, factors, sizes
from rerank_plugins.treelet.headlex_heads import HeadFinder, find_heads
from rerank_plugins.treelet.headlex_model import HeadlexModel, Settings


def collect(trees: Iterable[Tree], workspace: Workspace | None = None) -> TreeletCollector:
    """A collector of the trees, untransformed."""
    collector = TreeletCollector(workspace)
    collector.add(trees)
    return collector


def train(
    collector: TreeletCollector,
    settings: Settings,
    *,
    workspace: Workspace | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
    estimator: Estimator = estimate,
) -> HeadlexModel:
    """A model of the collected trees; the collector is emptied.

    Raises ModelError if there are no trees, or no phrases under ROOT.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a head-lexicalised language model on: no trees")
    unknown = UnknownWords(settings.signatures_after, settings.signature_rate, settings.seed)
    corpus = collector.finish(unknown, settings.min_count)
    return train_on(corpus, settings, workspace=workspace, jobs=jobs, progress=progress, estimator=estimator)


def train_on(
    corpus: Corpus,
    settings: Settings,
    *,
    workspace: Workspace | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
    estimator: Estimator = estimate,
) -> HeadlexModel:
    """A model of a finished corpus of untransformed trees. Raises ModelError if there are no phrases under ROOT."""
    symbols, vocabulary = corpus.symbols, corpus.vocabulary
    columns, root = sizes(len(symbols), len(vocabulary)), symbols.numbers()[0][ROOT]
    sources = {kind: TupleEvents(columns[kind], workspace) for kind in KINDS}
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
        estimation = estimator(sources.pop(kind), never=never, workspace=workspace, jobs=jobs)
        tables[kind], ngrams[kind] = estimation.tables, list(estimation.ngrams)
    return HeadlexModel(settings, symbols, vocabulary, tables, provenance | {"ngrams": ngrams})
