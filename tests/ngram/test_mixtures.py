"""Mixtures of language models: the weighted mean of probabilities, and the weights that held-out words want."""

import math

import numpy as np
import pytest

from rerank_plugins.ngram.mixture import MixtureLanguageModel, fit_weights, mixed
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel

TABLES = ({"a": 0.5, "b": 0.25, "<unk>": 0.05, "</s>": 0.2}, {"a": 0.125, "b": 0.5, "<unk>": 0.25, "</s>": 0.125})


@pytest.fixture
def models(tmp_path):
    """Two models of unigrams, of which only the first knows the word c."""
    for number, table in enumerate((TABLES[0] | {"c": 1e-9}, TABLES[1])):
        lines = "".join(f"{math.log10(p)}\t{word}\n" for word, p in table.items())
        header = f"\\data\\\nngram 1={len(table) + 1}\n\n\\1-grams:\n"
        (tmp_path / f"{number}.arpa").write_text(f"{header}-99\t<s>\n{lines}\n\\end\\\n")
    return tuple(UnigramLanguageModel(tmp_path / f"{number}.arpa", case="exact") for number in range(2))


def test_unigrams_in_total_and_per_word(models):
    """The end of the sentence counts as a language model's last word, not in the feature."""
    model = models[0]
    values = model.values([["a", "b", "zebra"], ["a"], []])
    total = math.log(0.5 * 0.25 * 0.05)
    wanted = [[total, total / 3], [math.log(0.5)] * 2, [0.0, math.log(0.05)]]
    np.testing.assert_allclose(values, wanted, rtol=1e-6)
    np.testing.assert_allclose(model.score([["b", "a"]])[0], np.log([0.25, 0.5, 0.2]), rtol=1e-6)
    np.testing.assert_allclose(model.word_values([["b", "a"], []])[0], np.log([0.25, 0.5]), rtol=1e-6)


@pytest.mark.parametrize("weights", [(0.3, 0.7), (1.0, 0.0)])
def test_the_probability_is_the_weighted_mean(models, weights):
    mixture = MixtureLanguageModel(models, weights)
    sentence = ["a", "zebra", "b", "</s>"]
    (found,) = mixture.score([sentence[:-1]])
    ps = [[table.get(word, table["<unk>"]) for table in TABLES] for word in sentence]
    np.testing.assert_allclose(np.exp(found), np.array(ps) @ weights, rtol=1e-6)
    np.testing.assert_allclose(mixture.unigram_scores([sentence[:-1]])[0], found)
    assert [word in mixture for word in ("a", "c", "zebra")] == [True, True, False]


def test_weights_that_are_no_proportions(models):
    MixtureLanguageModel(models, (0.5004, 0.5004))
    MixtureLanguageModel(models, (0.0, 1.0))
    for weights in ((0.5, 0.502), (0.5, 0.498), (-0.1, 1.1), (1.0,)):
        with pytest.raises(ValueError, match="weights"):
            MixtureLanguageModel(models, weights)


def test_the_fitted_weights_are_the_best_of_a_grid():
    """The likelihood is concave: no other weights in steps of 1/200 give held-out words a higher one."""
    rng = np.random.default_rng(3)
    ln_p = np.log(rng.random((400, 3)) ** np.array([1.0, 2.0, 8.0]))
    reports = []
    weights = fit_weights(ln_p, report=lambda weights, mean: reports.append((weights.tolist(), mean)))
    assert weights.sum() == pytest.approx(1)

    def mean(weights):
        return float(np.log(np.exp(ln_p) @ weights).mean())

    grid = [np.array([i, j, 200 - i - j]) / 200 for i in range(201) for j in range(201 - i)]
    assert mean(weights) >= max(map(mean, grid)) - 1e-9
    assert mixed(ln_p, weights).mean() == pytest.approx(mean(weights))
    assert reports[0] == (pytest.approx([1 / 3] * 3), pytest.approx(mean(np.full(3, 1 / 3))))
    assert [value for _, value in reports] == sorted(value for _, value in reports)
    few = fit_weights(ln_p, most=1)  # one step of EM: the mean of the posteriors
    posteriors = np.exp(ln_p) / np.exp(ln_p).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(few, posteriors.mean(axis=0))
    assert fit_weights(np.zeros((0, 4))).tolist() == [0.25] * 4
    assert fit_weights(np.array([[0.0, -1000.0], [-3000.0, -2000.0]])).tolist() == [0.5, 0.5]  # one word for each
