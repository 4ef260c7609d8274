"""The back-off core against its slow twins: counts, smoothing, cut-offs, contexts of two kinds of symbols, spilling."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.kit.backoff.estimation import cutoffs, estimate
from rerank_plugins.kit.backoff.events import NONE, EventLayout, TextEvents, TupleEvents, bucket_bounds, sort_buckets
from rerank_plugins.kit.backoff.scoring import matched_lengths, score_events, score_steps, score_text
from rerank_plugins.kit.backoff.smoothing import KneserNey, StupidBackoff
from rerank_plugins.kit.backoff.tables import STEPS, rounded
from tests.kit.naive_backoff import NaiveKneserNey, NaiveStupidBackoff, raw_counts

SIZE = 9  # symbols: 0 is never seen, 1 begins and 2 ends a sentence
TEXTS = st.lists(st.lists(st.sampled_from([3, 3, 3, 4, 4, 5, 6, 7]), max_size=7), min_size=1, max_size=25)
OTHERS = st.lists(st.lists(st.sampled_from([0, 3, 4, 5, 6, 7, 8]), max_size=7), max_size=6)
CUTS = st.sampled_from([(), (0, 0, 1), (0, 1, 2), (0, 1)])
ORDERS = st.integers(1, 6)


def tokens_of(sentences):
    return np.array([x for sentence in sentences for x in (*sentence, 2)], np.int32)


def events_of(sentences, order):
    events = []
    for sentence in sentences:
        words = [1, *sentence, 2]
        events += [(tuple(words[max(0, i - order + 1) : i]), words[i]) for i in range(1, len(words))]
    return events


def as_array(events, order):
    rows = [[NONE] * (order - 1 - len(context)) + [*context, x] for context, x in events]
    return np.array(rows, np.int64).reshape(-1, order)


def of_text(sentences, order, smoothing=None, prune=(), **others):
    source = TextEvents(tokens_of(sentences), SIZE, order)
    return estimate(source, smoothing, prune=prune[:order], never=[1], **others)


def same(left, right):
    for name in ("contexts", "events", "context_levels", "event_levels", "children"):
        assert getattr(left, name).tobytes() == getattr(right, name).tobytes(), name


@pytest.mark.slow
@given(TEXTS, OTHERS, ORDERS, CUTS)
@settings(max_examples=60)
def test_text_models_agree_with_the_definitions(sentences, others, order, prune):
    events, wanted = events_of(sentences, order), events_of(others, order)
    vocabulary = [x for x in range(SIZE) if x != 1]
    kneser_ney = NaiveKneserNey(events, order, vocabulary, prune[:order]).p
    stupid = NaiveStupidBackoff(events, order, prune[:order]).score
    for smoothing, naive in ((KneserNey(), kneser_ney), (StupidBackoff(), stupid)):
        tables = of_text(sentences, order, smoothing, prune).tables
        tables.check("here")
        scores, _ = score_text(tables, tokens_of(others))
        np.testing.assert_allclose(scores, [math.log(naive(*event)) for event in wanted], atol=2e-6)


@given(TEXTS, OTHERS, ORDERS, CUTS)
@settings(max_examples=40)
def test_tuples_of_words_make_the_same_model(sentences, others, order, prune):
    events, wanted = events_of(sentences, order), as_array(events_of(others, order), order)
    for smoothing in (KneserNey(), StupidBackoff()):
        source = TupleEvents((SIZE,) * order)
        for part in (events[1::2], events[::2]):  # in any order, in any number of blocks
            source.add(as_array(part, order))
        made = estimate(source, smoothing, prune=prune[:order], never=[1])
        text = of_text(sentences, order, smoothing, prune)
        assert made.discounts == text.discounts
        assert made.tables.sizes == text.tables.sizes
        scores, found = score_text(text.tables, tokens_of(others))
        other, other_found = score_events(made.tables, wanted)
        np.testing.assert_allclose(other, scores, atol=1e-9)
        np.testing.assert_array_equal(matched_lengths(made.tables, other_found), matched_lengths(text.tables, found))


@given(TEXTS, ORDERS, CUTS)
@settings(max_examples=40)
def test_kneser_ney_sums_to_one_in_every_context(sentences, order, prune):
    tables = of_text(sentences, order, prune=prune).tables
    contexts = np.repeat(np.arange(len(tables.contexts) - 1), SIZE)
    ln_p, _, _ = score_steps(tables, contexts, 0 * contexts, np.tile(np.arange(SIZE), len(tables.contexts) - 1))
    p = np.exp(ln_p).reshape(-1, SIZE)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=2e-6)
    assert p[:, 1].max() < 1e-80  # <s> is never predicted


@given(TEXTS, ORDERS)
@settings(max_examples=30)
def test_stupid_backoff_stores_its_denominators(sentences, order):
    """Scores of what was seen in a context sum to one over it: C(h x) over the sum of C(h ·), not over C(h)."""
    tables = of_text(sentences, order, StupidBackoff()).tables
    for context in range(1, len(tables.contexts) - 1):
        seen = tables.events[tables.contexts[context]["events"] : tables.contexts[context + 1]["events"]]
        assert (10.0 ** seen["log10"].astype(float)).sum() == pytest.approx(1, abs=1e-6)


@given(TEXTS, st.integers(2, 5), CUTS)
@settings(max_examples=25)
def test_models_do_not_depend_on_order_or_threads(sentences, order, prune):
    made = of_text(sentences, order, prune=prune)
    same(made.tables, of_text(sentences[::-1], order, prune=prune, jobs=1).tables)
    same(made.tables, of_text(sentences, order, prune=prune, jobs=3).tables)


def test_a_large_model_is_the_same_by_text_and_by_tuples():
    """Enough events for several buckets and threads."""
    rng = np.random.default_rng(1)
    tokens = np.minimum(rng.zipf(1.3, 300_000) + 1, 20_000).astype(np.int32)
    tokens[-1] = 2
    made = estimate(TextEvents(tokens, 20_001, 4), never=[1], jobs=2)
    same(made.tables, estimate(TextEvents(tokens, 20_001, 4), never=[1], jobs=3).tables)
    blocks = TupleEvents((20_001,) * 4)
    spread = np.full((len(tokens), 4), NONE)
    spread[:, 3] = tokens
    inside = np.ones(len(tokens), bool)
    for back in (1, 2, 3):
        shifted = np.concatenate([np.full(back, 2), tokens[:-back]])
        spread[inside, 3 - back] = np.where(shifted[inside] == 2, 1, shifted[inside])
        inside &= shifted != 2
    for block in np.array_split(spread, 50):
        blocks.add(block)
    tuples = estimate(blocks, never=[1], jobs=2).tables
    assert tuples.sizes == made.tables.sizes
    np.testing.assert_array_equal(tuples.events["log10"], made.tables.events["log10"])


def test_two_kinds_of_symbols_in_a_context():
    """A dependency path: each context symbol a pair of ancestor and relation, by one number; x a word."""
    rng = np.random.default_rng(2)
    events = []
    for _ in range(400):
        context = tuple(rng.integers(0, 30, rng.integers(0, 3)).tolist())
        events.append((context, int(rng.integers(0, 5)) if rng.random() < 0.5 else int(sum(context)) % 5))
    sizes = (5, 30, 30)
    for smoothing, naive in (
        (KneserNey(), NaiveKneserNey(events, 3, range(5)).p),
        (StupidBackoff(), NaiveStupidBackoff(events, 3).score),
    ):
        source = TupleEvents(sizes)
        source.add(as_array(events, 3))
        tables = estimate(source, smoothing).tables
        asked = [((int(a), int(b)), int(x)) for a, b, x in rng.integers(0, (35, 35, 5), (300, 3))]
        asked += [((), x) for x in range(5)] + [((a,), 3) for a in range(35)]
        scores, found = score_events(tables, as_array(asked, 3))
        np.testing.assert_allclose(scores, [math.log(naive(*event)) for event in asked], atol=2e-6)
        counts = raw_counts(events, 3)
        longest = [max(k for k in range(3) if not k or (c[len(c) - k :], x) in counts[k]) + 1 for c, x in asked]
        assert matched_lengths(tables, found).tolist() == longest


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_a_single_ngram_of_each_order(longest):
    events = [((1, 2, 1)[-longest:], 0)] * 3
    asked = [((a, b, c), x) for a in range(3) for b in range(3) for c in range(3) for x in range(3)]
    for smoothing, naive in (
        (KneserNey(), NaiveKneserNey(events, 4, range(3)).p),
        (StupidBackoff(), NaiveStupidBackoff(events, 4).score),
    ):
        source = TupleEvents((3,) * 4)
        source.add(as_array(events, 4))
        tables = estimate(source, smoothing).tables
        scores, _ = score_events(tables, as_array(asked, 4))
        np.testing.assert_allclose(scores, [math.log(naive(*event)) for event in asked], atol=2e-6)


def test_wide_ids_take_several_integers():
    layout = EventLayout((1 << 12, 1 << 30, 1 << 30, 1 << 21, 5, 5))
    assert layout.words == 2
    rng = np.random.default_rng(3)
    sizes = np.array(layout.sizes[::-1])
    events = rng.integers(0, 3, (500, 6)) * (sizes // 3)
    events[:200, :3] = NONE
    source = TupleEvents(layout.sizes)
    source.add(events)
    rows, starts = source.deal(2)
    sort_buckets(rows, starts, 0, len(starts) - 1, 2)
    back = [
        [int((row[w] >> s) & m) - (1 if column else 0) for column, (w, s, m) in enumerate(layout.places)][::-1]
        for row in rows
    ]
    assert back == sorted(events.tolist(), key=lambda row: row[::-1])


def test_buckets_never_split_a_bin():
    histogram = np.array([0, 10, 0, 3, 3, 3, 50, 0])
    bucket, starts = bucket_bounds(histogram, 10)
    assert (np.diff(bucket) >= 0).all()
    assert starts.tolist() == np.concatenate([[0], np.cumsum(np.bincount(bucket, histogram))]).tolist()


def test_bad_input_is_refused():
    layout = EventLayout((5, 5, 5))
    for rows, message in (
        ([[0, 1, 5]], "ids of column 0 go from 5 to 5"),
        ([[5, 1, 1]], "ids of column 2 go"),
        ([[1, NONE, 1]], "a context has a gap"),
        ([[1, 1]], r"shape \(1, 2\), wanted \(m, 3\)"),
    ):
        with pytest.raises(ValueError, match=message):
            layout.pack(np.array(rows))
    for sizes in ((5,) * 7, (0, 5), (1 << 31,)):
        with pytest.raises(ConfigError):
            EventLayout(sizes)
    with pytest.raises(ModelError, match="no events"):
        estimate(TupleEvents((3, 3)))
    for cut, message in (([1], "rare words"), ([0, 2, 1], "may not be lower"), ([0] * 4, "cut-offs for 4 orders")):
        with pytest.raises(ConfigError, match=message):
            cutoffs(cut, 3)
    assert cutoffs([0, 1], 4) == [0, 1, 1, 1]
    tables = estimate(_some()).tables
    with pytest.raises(ValueError, match="predicted symbols"):
        score_events(tables, np.array([[0, 3]]))
    with pytest.raises(ValueError, match="shape"):
        score_events(tables, np.array([[0, 0, 0]]))


def _some():
    source = TupleEvents((3, 3))
    source.add(np.array([[0, 1], [1, 2], [NONE, 0]]))
    return source


def test_tables_are_picklable():
    tables = estimate(_some()).tables
    same(pickle.loads(pickle.dumps(tables)), tables)


def test_rounded_values_are_the_nearest_multiples_of_a_step():
    tables = of_text([[3, 4, 3], [3], [5, 4]], 3).tables
    near = rounded(tables)
    for records, others, name in (
        (tables.events, near.events, "log10"),
        (tables.contexts, near.contexts, "backoff"),
    ):
        steps = others[name].astype(float) * STEPS
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)
        assert np.abs(records[name].astype(float) * STEPS - steps).max() <= 0.5 + 1e-3


def test_discounts_of_the_formula_and_of_little_data():
    made, enough = KneserNey().discounts_of(np.array([0, 100, 40, 20, 10]))
    y = 100 / 180
    assert enough
    np.testing.assert_allclose(made, [1 - 2 * y * 0.4, 2 - 3 * y * 0.5, 3 - 4 * y * 0.5])
    for counts in ([0, 5, 0, 1, 1], [0, 9, 5, 0, 1], [0, 10, 1, 300, 1]):
        made, enough = KneserNey().discounts_of(np.array(counts))
        assert (made.tolist(), enough) == ([0.5, 1.0, 1.5], False)
