"""What lists are like, against sums by hand, and when two sets of lists differ."""

import itertools
import math

import numpy as np
import pytest

from rerank_adapters.data.unlike import (
    MIN_ERRORS,
    MIN_FACTOR,
    MIN_FACTOR_OF_CHANGES,
    MIN_LISTS,
    ListFacts,
    differences,
    unlike_tuning,
)
from rerank_plugins import FeatureTable, Hypothesis, NBestList


def lists_of(rng, count, *, spread=1.0, distinct=5):
    """Lists of 4 to 8 hypotheses with two features, of which the second is constant within lists."""
    sizes = rng.integers(4, 9, count)
    offsets = np.cumsum([0, *sizes])
    values = np.stack([spread * rng.normal(size=offsets[-1]), np.repeat(rng.normal(size=count), sizes)], axis=1)
    nbests = [
        NBestList(str(number), tuple(Hypothesis(f"h {i % distinct}") for i in range(size)))
        for number, size in enumerate(sizes)
    ]
    return nbests, FeatureTable.dense(("varying", "constant"), values, offsets)


def test_facts_are_those_by_hand():
    nbests, table = lists_of(np.random.default_rng(1), 40)
    facts = ListFacts.of(nbests, table)
    lists = [table.values[i:j, 0] for i, j in zip(table.offsets[:-1], table.offsets[1:], strict=True)]
    squares = np.array([((values - values.mean()) ** 2).sum() for values in lists])
    sizes = np.array([len(values) for values in lists])
    square = squares.sum() / sizes.sum()
    spreads, relative = facts.spreads()
    assert spreads[0] == pytest.approx(math.sqrt(square))
    assert spreads[1] == pytest.approx(0, abs=1e-9)
    # The standard error of a ratio of sums is this deviation over the root of the number of lists.
    deviation = math.sqrt(((squares - square * sizes) ** 2).sum() / len(lists)) / sizes.mean() / square
    assert relative[0] == pytest.approx(deviation)
    distinct = [len(set(nbest.texts)) for nbest in nbests]
    assert facts.sizes() == (
        pytest.approx(np.mean(distinct)),
        pytest.approx(max(np.std(distinct), 0.1 * np.mean(distinct))),
    )


def test_the_deviation_predicts_how_much_spreads_vary():
    rng = np.random.default_rng(2)
    facts = [ListFacts.of(*lists_of(rng, 100)) for _ in range(60)]
    squares = [one.spreads()[0][0] ** 2 for one in facts]
    predicted = np.mean([one.spreads()[1][0] for one in facts]) / math.sqrt(100)
    assert np.std(squares) / np.mean(squares) == pytest.approx(predicted, rel=0.25)


def test_only_lists_of_another_kind_differ():
    rng = np.random.default_rng(3)
    record = ListFacts.of(*lists_of(rng, 300)).for_provenance(0.1)
    for _ in range(20):
        same = ListFacts.of(*lists_of(rng, MIN_LISTS))
        same.changed = MIN_LISTS // 10
        assert differences(record, same) == []
    same.changed = MIN_LISTS // 2
    (changed,) = differences(record, same)
    assert changed == "50 % of the 1-bests changed (10 % on held-out tuning lists)"
    other = ListFacts.of(*lists_of(rng, MIN_LISTS, spread=2.0, distinct=2))
    other.changed = MIN_LISTS // 10
    size, spread = differences(record, other)
    assert size.startswith("2 distinct hypotheses a list (4.")
    assert spread.startswith("varying spreads by ")


def test_limits_of_differences_between_lists():
    """Each limit is a factor, and a number of standard errors of a difference between two samples."""
    rng = np.random.default_rng(5)
    facts = ListFacts.of(*lists_of(rng, MIN_LISTS))
    usual = ListFacts.of(*lists_of(rng, 300)).for_provenance(0.1) | {"lists": 300}
    (own, own_deviation), parts = facts.sizes(), 1 / 300 + 1 / MIN_LISTS
    found, wanted = [], []
    for changed in range(MIN_LISTS + 1):  # a test of two proportions, with the pooled one for the error
        facts.changed = changed
        one, other, pooled = changed / MIN_LISTS, 0.1, (changed + 30) / (MIN_LISTS + 300)
        far = max(one, other) >= MIN_FACTOR_OF_CHANGES * min(one, other)
        wanted.append(far and abs(one - other) > MIN_ERRORS * math.sqrt(pooled * (1 - pooled) * parts))
        found.append(bool(differences(usual, facts)))
    assert found == wanted
    assert {*found} == {True, False}
    facts.changed = MIN_LISTS // 10
    found, wanted = [], []
    for mean, deviation in itertools.product(own * np.array([0.3, 0.4, 0.6, 0.9, 1.5, 2.5, 4]), (0.01, 2.0, 9.0, 30.0)):
        far = max(mean, own) >= MIN_FACTOR * min(mean, own)
        wanted.append(far and abs(mean - own) > MIN_ERRORS * max(deviation, own_deviation) * math.sqrt(parts))
        found.append(bool(differences(usual | {"distinct": [mean, deviation]}, facts)))
    assert found == wanted
    assert {*found} == {True, False}
    (spread, _), (relative, _) = facts.spreads()
    found, wanted = [], []
    for other, deviation in itertools.product(spread * np.array([0.3, 0.4, 0.6, 0.9, 1.5, 2.5, 4]), (0.01, 2.0, 9.0)):
        far = max(other, spread) >= MIN_FACTOR * min(other, spread)
        errors = abs(spread**2 / other**2 - 1) / (max(relative, deviation) * math.sqrt(parts))
        wanted.append(far and errors > MIN_ERRORS)
        record = usual | {"spread": {"varying": other}, "spread_deviation": {"varying": deviation}}
        found.append(bool(differences(record, facts)))
    assert found == wanted
    assert {*found} == {True, False}


def test_features_that_later_lists_lack_are_constant_there():
    facts = ListFacts()
    nbest = NBestList("0", (Hypothesis("a"), Hypothesis("b")))
    facts.add(nbest, ("a", "b"), np.array([[0.0, 0.0], [2.0, 4.0]]))
    facts.add(nbest, ("b", "c"), np.array([[0.0, 9.0], [4.0, 0.0]]))
    assert facts.names == ("a", "b")
    assert facts.spreads()[0].tolist() == pytest.approx([math.sqrt(0.5), 2.0])


@pytest.mark.parametrize("record", [None, {}, {"lists": 0}, {"lists": 9, "distinct": 3}, "text", {"distinct": [1]}])
def test_a_record_that_is_missing_or_edited_gives_no_warning(record):
    facts = ListFacts.of(*lists_of(np.random.default_rng(4), MIN_LISTS))
    assert unlike_tuning({} if record is None else {"tuning_lists": record}, facts) is None
