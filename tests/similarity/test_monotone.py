"""Regressions under which no copy of a sentence in another order gains, and identical sentences have the highest score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.applications.similarity.learning import SimilaritySettings, train_similarity
from rerank_adapters.applications.similarity.monotone import constrained, differences_of, non_negative_least_squares
from rerank_adapters.applications.similarity.scorers import SimilaritySystem
from rerank_adapters.applications.similarity.shrinkage import shrink
from rerank_plugins.similarity.measures.table import UNBOUNDED, Measures
from tests.conftest import ROOT

PAIRS = ROOT / "example_nbest" / "similarity" / "pairs.tsv"
MEASURES = Measures()
SENTENCES = ("the old man saw a small dog", "a young woman sold the red car", "the boy saw a bird in the tree .")


@given(st.integers(0, 10_000))
def test_non_negative_least_squares_has_the_conditions_of_its_minimum(seed):
    rng = np.random.default_rng(seed)
    matrix, target = rng.normal(size=(6, rng.integers(1, 12))), rng.normal(size=6)
    x = non_negative_least_squares(matrix, target)
    gradient = matrix.T @ (target - matrix @ x)
    assert (x >= 0).all()
    assert (gradient <= 1e-8).all()
    assert np.abs(gradient[x > 0]).max(initial=0) <= 1e-8


@given(st.integers(0, 10_000))
def test_constrained_weights_are_those_of_a_slow_search(seed):
    """The projection of many random directions on the constraints: none is better than what was found."""
    rng = np.random.default_rng(seed)
    root, right, rows = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=(2, 3))
    square = root.T @ root + 0.1 * np.eye(3)

    def value(w):
        return 0.5 * w @ square @ w - right @ w

    w = constrained(square, right, rows)
    assert (rows @ w >= -1e-9).all()
    for other in w + rng.normal(size=(200, 3)) * 10.0 ** rng.uniform(-3, 1, size=(200, 1)):
        assert (rows @ other < 0).any() or value(other) >= value(w) - 1e-9
    np.testing.assert_allclose(constrained(square, right, np.zeros((0, 3))), np.linalg.solve(square, right), atol=1e-9)


def test_a_weight_that_rewards_disorder_is_bounded():
    """Shuffling keeps the first measure and lowers the second, to which least squares gives a negative weight."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=300)
    values = np.column_stack([truth + 0.3 * rng.normal(size=300), truth + rng.normal(size=300)])
    scores, one = 2 * values[:, 0] - 0.5 * values[:, 1], np.zeros(300, np.int64)
    settings = {"penalty": 1e-6, "rng": np.random.default_rng(1)}
    free = dict(zip(*_columns(shrink(values, scores, one, "ab", **settings)), strict=True))
    assert free["b"] == pytest.approx(-0.5, abs=0.01)
    held = dict(
        zip(*_columns(shrink(values, scores, one, "ab", differences=np.array([[0.0, 0.4]]), **settings)), strict=True)
    )
    assert held.get("b", 0.0) == pytest.approx(0.0, abs=1e-9)


def _columns(regression):
    return regression.columns, regression.weights


def test_copies_lose_in_order_and_keep_their_words():
    differences = differences_of([sentence.split() for sentence in SENTENCES], MEASURES, np.random.default_rng(2))
    assert differences.shape == (6, len(MEASURES.names))
    by_name = dict(zip(MEASURES.names, differences.T, strict=True))
    assert (by_name["ngrams.jaccard_2"] >= 0).all()
    assert by_name["ngrams.jaccard_2"].max() > 0
    np.testing.assert_allclose(by_name["tfidf.words"], 0, atol=1e-12)
    assert differences_of([["a", "b"]], MEASURES, np.random.default_rng(2)).shape == (0, len(MEASURES.names))


@pytest.mark.parametrize("learner", ["shrunk", "paper"])
def test_identical_sentences_have_the_highest_score(learner):
    model = train_similarity({"example": [PAIRS]}, MEASURES, SimilaritySettings(learner=learner))
    assert learner != "shrunk" or not set(model.names) & UNBOUNDED
    rng = np.random.default_rng(3)
    pairs = []
    for sentence in SENTENCES:
        words = sentence.split()
        pairs += [(sentence, sentence), *((sentence, " ".join(rng.permutation(words))) for _ in range(4))]
        pairs += [(sentence, sentence.replace("the", "a")), (sentence, f"{sentence} again")]
    scores = SimilaritySystem(model=model).scores(pairs).reshape(len(SENTENCES), -1)
    assert (scores[:, 0] == model.scale[1]).all()
    assert (scores[:, 1:].max(axis=1) <= scores[:, 0]).all()
    if learner == "shrunk":
        assert (scores[:, 1:5] < scores[:, :1]).all(), "a shuffled sentence has less"
