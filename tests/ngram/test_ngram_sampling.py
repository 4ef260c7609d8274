"""Sampling from n-gram models: the distribution of what is drawn is the model's own."""

import itertools

import numpy as np
import pytest

from rerank_plugins import ModelError
from rerank_plugins.ngram.sampling import NgramSampler
from rerank_plugins.ngram.training import NgramSettings, train

TEXT = ["a b c", "a b", "b b a c", "c", "a c b", "b a", "a b c a", "c c b"] * 3 + ["a a d"]


def trained(order=3, **settings):
    return train([("text", TEXT)], NgramSettings(order, **settings), jobs=1).ngrams


def ln_p(ngrams, sentences):
    from rerank_plugins.kit.backoff.scoring import score_text

    return [score_text(ngrams.tables, ngrams.vocabulary.encode([words]))[0].sum() for words in sentences]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("prune", [(), (0, 2)])
def test_frequencies_are_the_models_probabilities(order, prune):
    """Chi-square over all sentences of up to 2 words, the rest together: 4 standard deviations above the mean at most."""
    ngrams = trained(order, prune=prune[:order])
    words = [w for w in ngrams.vocabulary.words if w not in ("<s>", "</s>")]
    short = [each for n in range(3) for each in itertools.product(words, repeat=n)]
    number = 15_000
    drawn = NgramSampler(ngrams, shortest=0, longest=200, unknown=True).sample(number, np.random.default_rng(7))
    p = np.exp(ln_p(ngrams, short))
    counts = dict.fromkeys(short, 0)
    for each in drawn:
        if each in counts:
            counts[each] += 1
    seen = np.array([*counts.values(), number - sum(counts.values())])
    wanted = np.append(p, 1 - p.sum()) * number
    rare = wanted < 5  # are one case with the rest
    seen, wanted = (np.append(v[~rare][:-1], v[rare].sum() + v[-1]) for v in (seen, wanted))
    chi2 = ((seen - wanted) ** 2 / wanted).sum()
    freedom = len(wanted) - 1
    assert chi2 < freedom + 4 * np.sqrt(2 * freedom)


def test_unseen_words_of_a_context_are_drawn():
    """What was never seen together comes as often as the model says: here `d` at the start of a sentence."""
    ngrams = trained(3)
    drawn = NgramSampler(ngrams, unknown=True).sample(20_000, np.random.default_rng(0))
    first = sum(each[0] == "d" for each in drawn) / len(drawn)
    from rerank_plugins.kit.backoff.scoring import score_text

    start = np.exp(score_text(ngrams.tables, ngrams.vocabulary.encode([("d",), ()]))[0])
    wanted = start[0] / (1 - start[2])  # given that the sentence is not empty
    assert first == pytest.approx(wanted, abs=4 * np.sqrt(wanted / len(drawn)))


def test_lengths_seed_and_unknown_words():
    ngrams = trained(2)
    sampler = NgramSampler(ngrams, shortest=3, longest=5)
    first = sampler.sample(500, np.random.default_rng(3))
    assert {len(each) for each in first} == {3, 4, 5}
    assert first == sampler.sample(500, np.random.default_rng(3))
    assert first != sampler.sample(500, np.random.default_rng(4))
    assert not {"<unk>", "<s>", "</s>"} & set().union(*first)
    open_ = NgramSampler(ngrams, unknown=True).sample(3000, np.random.default_rng(3))
    assert "<unk>" in set().union(*open_)
    assert sampler.sample(0, np.random.default_rng(3)) == []


def test_what_cannot_be_drawn_from_is_an_error():
    with pytest.raises(ModelError, match="stupid backoff"):
        NgramSampler(trained(smoothing="stupid-backoff"))
    with pytest.raises(ModelError, match="none of them has 5000 to 5001 words"):
        NgramSampler(trained(), 5000, 5001).sample(1, np.random.default_rng(1))
    with pytest.raises(ValueError, match="wanted 0 <= shortest <= longest"):
        NgramSampler(trained(), 5, 4)
