"""Pruning by relative entropy: agreement with the definition, and probabilities that sum to one."""

import numpy as np
import pytest

from rerank_plugins.core.errors import ConfigError
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.events import TextEvents
from rerank_plugins.kit.backoff.scoring import score_text
from rerank_plugins.kit.backoff.stores import pack, unpack
from rerank_plugins.kit.elementary_functions import LN10
from rerank_plugins.ngram.entropy_pruning import prune
from rerank_plugins.ngram.training import NgramSettings, train
from tests.kit.test_backoff import same
from tests.ngram.naive_entropy_pruning import NaiveBackoff

WORDS = ("<unk>", "<s>", "</s>", "a", "b", "c", "d", "e")


def tables_of(seed, order, sentences=80):
    rng = np.random.default_rng(seed)
    tokens = np.array([x for _ in range(sentences) for x in (*np.minimum(rng.zipf(1.6, 6) + 2, 7), 2)], np.int32)
    return tokens, unpack(estimate(TextEvents(tokens, len(WORDS), order), never=[1]).tables)


def ngrams_of(tables):
    """The n-grams of a model, as tuples of words, with their probabilities; and the weights of its contexts."""
    names, weights, p = {0: ()}, {}, {}
    for context in range(len(tables.contexts) - 1):
        record = tables.contexts[context]
        if context:
            names[context] = (WORDS[record["symbol"]], *names[record["parent"]])
            weights[names[context]] = 10.0 ** float(record["backoff"])
        for event in tables.events[record["events"] : tables.contexts[context + 1]["events"]]:
            p[*names[context], WORDS[event["symbol"]]] = 10.0 ** float(event["log10"])
    return p, weights


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("threshold", [1e-5, 1e-3])
def test_pruning_agrees_with_the_definition(order, threshold):
    tokens, tables = tables_of(order, order)
    pruned = prune(tables, threshold)
    pruned.check("it")
    naive = NaiveBackoff(*ngrams_of(tables)).pruned(threshold)
    p, weights = ngrams_of(pruned)
    assert len(WORDS) < len(p) < len(tables.events) + (order == 2)
    assert set(p) == set(naive.p)
    assert set(weights) == set(naive.weight)
    for context, weight in weights.items():
        assert weight == pytest.approx(naive.weight[context], rel=1e-4)
    # The links, and the packed form with its missing contexts.
    same(unpack(pack(pruned)), pruned)
    scores, before = score_text(pruned, tokens)[0], []
    for score, token in zip(scores[:200], tokens[:200].tolist(), strict=True):
        context = ("<s>", *before)[-(order - 1) :]
        assert score == pytest.approx(np.log(naive.probability(context, WORDS[token])), abs=1e-4)
        before = [] if token == 2 else [*before, WORDS[token]]


def test_pruned_probabilities_sum_to_one():
    _, tables = tables_of(1, 4)
    pruned = prune(tables, 1e-4)
    p, weights = ngrams_of(pruned)
    model = NaiveBackoff(p, weights)
    for context in [(), *weights]:
        assert sum(model.probability(context, x) for x in WORDS if x != "<s>") == pytest.approx(1, abs=1e-5)


def test_more_is_pruned_by_a_higher_threshold_at_a_higher_perplexity():
    lines = [" ".join(WORDS[x] for x in np.minimum(np.random.default_rng(i).zipf(1.6, 9) + 2, 7)) for i in range(200)]
    models = [train([("text", lines)], NgramSettings(3, prune_entropy=share)) for share in (0.0, 1e-5, 1e-3)]
    sizes = [sum(model.ngrams.stored.sizes) for model in models]
    assert sizes[0] > sizes[1] > sizes[2]
    tokens = models[0].ngrams.vocabulary.encode([line.split() for line in lines])
    means = [float(score_text(model.ngrams.stored, tokens)[0].mean()) / LN10 for model in models]
    assert means[0] > means[1] > means[2]
    with pytest.raises(ConfigError, match="stupid backoff"):
        train([("text", lines)], NgramSettings(3, "stupid-backoff", prune_entropy=1e-5))
