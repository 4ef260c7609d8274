"""Trains a treelet model: counts the events of yields, words and symbols, and estimates each distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, ModelError, Tree
from rerank_plugins.kit.backoff.estimation import Estimate, estimate
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.treelet.corpus import Corpus, TransformedCollector, TreeletCollector
from rerank_plugins.treelet.events import YieldModel, rule_events, train_yields, word_events
from rerank_plugins.treelet.form_numbers import FormNumbers
from rerank_plugins.treelet.model import Settings, TreeletModel, sizes
from rerank_plugins.treelet.rule_numbers import Rules, count_rules, rules_of

LEAST_UNKNOWN_P = 1e-9  # of all unknown yields of a phrase together; rounding may otherwise make it 0 or less


def collect(trees: Iterable[Tree], settings: Settings, numbers: FormNumbers | None = None) -> TreeletCollector:
    """A collector of the trees of a treebank or parser, transformed, with `numbers`, if the settings require it."""
    collector = TransformedCollector(numbers) if settings.transformed else TreeletCollector()
    collector.add(trees)
    return collector


def train(collector: TreeletCollector, settings: Settings, **estimation: Any) -> TreeletModel:
    """A model of the collected trees; the collector is emptied. `estimation` are the other arguments of `train_on`.

    Raises ModelError if there are no trees.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a treelet language model on: no trees")
    unknown = UnknownWords(settings.signatures_after, settings.signature_rate, settings.seed, settings.english)
    return train_on(collector.finish(unknown, settings.min_count), settings, **estimation)


def train_on(
    corpus: Corpus,
    settings: Settings,
    *,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> TreeletModel:
    """A model of a finished corpus of trees, which were transformed if the settings require it."""
    symbols, vocabulary = corpus.symbols, corpus.vocabulary
    progress("yields")
    counted = count_rules(corpus.blocks())
    rules, number = counted.numbered(len(symbols), settings.min_rule_count)
    types = counted.starts, counted.symbols
    yields = train_yields(types, len(symbols), settings.prune_yields, jobs=jobs)
    # The events of both models, which a block of trees gives at the same time.
    rule_order, word_order = settings.orders
    rule_sizes, word_sizes = sizes(len(symbols), len(vocabulary), len(rules), settings)
    by_rule, by_word = TupleEvents(rule_sizes), TupleEvents(word_sizes)
    for forest in corpus.blocks():
        phrases, starts, flat = rules_of(forest)
        numbers = number[counted.find(starts, flat)]
        by_rule.add(rule_events(forest, phrases, numbers)[:, -rule_order:])
        by_word.add(word_events(forest, phrases, numbers)[1][:, -word_order:])
    provenance: dict[str, object] = {"trees": len(corpus.lengths), "words": len(by_word)}
    del corpus, counted, types, number  # their memory is needed for the estimation
    progress("rules")
    lowest = _lowest(yields, rules)
    rule_model = estimate(by_rule, prune=settings.prune_rules, lowest=lowest, jobs=jobs)
    progress("words")
    word_model = estimate(by_word, prune=settings.prune_words, never=[0], jobs=jobs)
    provenance |= {
        "rule_types": len(rules) - rules.unknown,
        "rules": _described(rule_model),
        "word_events": _described(word_model),
    }
    return TreeletModel(settings, symbols, vocabulary, rules, yields, rule_model.tables, word_model.tables, provenance)


def _lowest(yields: YieldModel, rules: Rules) -> FloatArray:
    """(rules) p of each yield by the lowest order; that of unknown rules is what the phrase's known rules leave."""
    p = np.exp(yields.score(rules.starts, rules.symbols))
    parents = rules.symbols[rules.starts[rules.unknown : -1]]
    known = np.bincount(parents, p[rules.unknown :], rules.unknown)
    p[: rules.unknown] = np.maximum(1.0 - known, LEAST_UNKNOWN_P)
    return np.asarray(p, np.float64)


def _described(estimation: Estimate) -> dict[str, list[object]]:
    return {"ngrams": list(estimation.ngrams), "discounts": [list(values) for values in estimation.discounts]}
