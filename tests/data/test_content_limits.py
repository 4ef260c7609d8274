"""Which words texts share, by the definition, and the limits from which on these speak against the references."""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.data.content import doubts, largest_sum, sampled
from rerank_adapters.data.shared_words import SharedWords

TEXT = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)
PAIRS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=8)


def shared_words(left, right):
    """A function of two segments: the proportion of words that the left and the right text share."""
    n = len(left)
    counts = [[Counter(text.split()) for text in texts] for texts in (left, right)]
    with_word = Counter(word for a, b in zip(*counts, strict=True) for word in a.keys() | b.keys())
    idf = {word: math.log((n + 1) / number) for word, number in with_word.items()}

    def shared(i, j):
        one, other = counts[0][i], counts[1][j]
        sums = [sum(idf[word] * count for word, count in bag.items()) for bag in (one, other)]
        return sum(idf[word] * count for word, count in (one & other).items()) / max(sums) if max(sums) > 0 else 0.0

    return shared


@given(PAIRS)
def test_words_that_texts_share(pairs):
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    found, shared, n = SharedWords.of(left, right), shared_words(left, right), len(pairs)
    assert set(found.distances) == set(range(1, n))
    assert found.own == pytest.approx([shared(i, i) for i in range(n)])
    for column, distance in enumerate(found.distances):
        assert found.others[:, column] == pytest.approx([shared(i, (i + distance) % n) for i in range(n)])
    assert found.words == min(sum(len(text.split()) for text in texts) for texts in (left, right))
    rates = [Counter(" ".join(texts).split()) for texts in (left, right)]
    totals = [max(1, counts.total()) for counts in rates]
    common = sum(min(rates[0][word] / totals[0], rates[1][word] / totals[1]) for word in "abcd")
    assert found.common == pytest.approx(common)


def test_of_many_segments_each_is_compared_with_neighbours_and_four_others():
    texts = [str(number) for number in range(60)]
    assert set(SharedWords.of(texts, texts).distances) == {1, 59, 2, 58, 30, 20, 40, 12}
    assert set(SharedWords.of(texts[:16], texts[:16]).distances) == set(range(1, 16))
    assert set(SharedWords.of(texts[:17], texts[:17]).distances) == {1, 16, 2, 15, 8, 5, 12, 3}


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_the_largest_sum_of_consecutive_values(values):
    found = largest_sum(np.array(values, float))
    sums = {(i, j): sum(values[i:j]) for i, j in itertools.combinations(range(len(values) + 1), 2)}
    largest = max([0, *sums.values()])
    assert found[2] == largest
    assert found[2] == sum(values[found[0] : found[1]])
    if not largest:
        assert found == (0, 0, 0.0)


def test_of_many_segments_runs_at_equal_distances_are_compared():
    assert sampled(5000).tolist() == list(range(5000))
    places = sampled(7450)
    starts = [150 * number for number in range(50)]  # of 50 runs of 100; the last one ends with the last segment
    assert places.tolist() == [start + place for start in starts for place in range(100)]


def of_common(words, common):
    """Texts with so many running words, of which so many are common to both sides, in other segments."""
    left = [*(f"c{i}" for i in range(common)), *(f"l{i}" for i in range(words - common))]
    right = [*(f"c{i}" for i in range(common)), *(f"r{i}" for i in range(words - common))]
    return [" ".join(left)], [" ".join(right)]


@pytest.mark.parametrize(
    ("words", "least"),
    [(80, 12), (320, 72)],  # 0.3 · (1 - √(20 / words)) of the words: 0.15 and 0.225
)
def test_the_fewest_common_words_of_one_language(words, least):
    assert doubts(*of_common(words, least)) == []
    (doubt,) = doubts(*of_common(words, least - 1))
    assert f"they have {100 * (least - 1) / words:.0f} % of their words in common" in doubt.text


def test_of_twenty_words_none_need_be_common():
    assert doubts(*of_common(20, 0)) == []
    assert len(doubts(*of_common(21, 0))) == 1


def judged(own):
    """The doubts about segments of two words, of which some share these with their references, others no word."""
    left = [f"w{number} v{number}" for number in range(len(own))]
    return doubts(left, [left[n] if shared else f"x{n} y{n}" for n, shared in enumerate(own)])


def test_a_part_without_references_of_its_own_is_named():
    """Segments that are ahead of no other have 1/2: each is 0.2 behind 0.7, and more than 4 in all are a doubt."""
    (doubt,) = judged([True] * 100 + [False] * 21 + [True] * 60)
    assert re.search(r"the 21 segments from '100' to '120' share 0 % .* and 0 % with those of other", doubt.text)
    assert judged([True] * 100 + [False] * 19 + [True] * 60) == []


@pytest.mark.parametrize(("own", "certain"), [(16, None), (15, False), (9, False), (8, True)])
def test_the_mean_over_all_segments_has_two_limits(own, certain):
    """Of 36 segments some are ahead of all others: the mean is 1/2 + own / 72, here 0.722, 0.708, 0.625 and 0.611.

    The limits are 0.8 and 0.7 less 0.5 / √36: 0.717 and 0.617.
    """
    places = {number * 36 // own for number in range(own)}
    assert [doubt.certain for doubt in judged([n in places for n in range(36)])] == (
        [] if certain is None else [certain]
    )
