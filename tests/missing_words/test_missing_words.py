"""Missing words: counts, votes, the five contexts, weights, training and the model file."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, ModelError
from rerank_plugins.kit.files.model_file import read_model as read_any
from rerank_plugins.kit.files.model_file import write_model as write_any
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS
from rerank_plugins.missing_words.gap_words import COMPONENTS, FIRST, Gaps
from rerank_plugins.missing_words.model import (
    METHODS,
    Location,
    MissingWordsModel,
    ln_posteriors,
    read_model,
    write_model,
)
from rerank_plugins.missing_words.tables import CONTEXTS, KEYS, gap_offsets, log_odds, pieces, vote_scores
from rerank_plugins.missing_words.training import EVERY, Settings, train
from rerank_plugins.missing_words.tuning import (
    Removed,
    cone,
    fit_mixture,
    fit_weights,
    log_likelihood,
    remove_inner_word,
    remove_words,
)
from tests.missing_words import naive_missing_words as naive

SENTENCE = st.lists(st.sampled_from("abcd"), max_size=7).map(tuple)
TEXTS = st.lists(SENTENCE, max_size=8).map(lambda sentences: [("a", "b", "b", "a"), *sentences])
WEIGHTS = np.array([0.1, 0.3, 0.2, 0.15, 0.05, 0.2])
HELD_OUT = (("a", "b", "a"), ("b", "a", "b", "c"), ("a", "a", "a"))


def gaps_of(tokens):
    """The neighbours of all gaps of sentences, each ended by `</s>`, in order."""
    padded = np.concatenate([np.array([EOS], np.int32), tokens, np.array([EOS], np.int32)])
    at = np.flatnonzero((padded[1:-1] != EOS) & (padded[2:] != EOS)) + 1  # the position of a1 in `padded`
    a2 = padded[at - 1]
    return Gaps(np.where(a2 == EOS, np.int32(BOS), a2), padded[at], padded[at + 1], padded[at + 2])


def model_of(sentences, window=4, min_count=1):
    lines = [" ".join(sentence) for sentence in sentences]
    return train([("text", lines)], Settings(min_count, None, window, (0.01,)), held_out=HELD_OUT)


def known(model, sentences):
    """The sentences with `<unk>` for words that the model does not know."""
    words = set(model.vocabulary.words[FIRST:])
    return [tuple(word if word in words else "<unk>" for word in sentence) for sentence in sentences]


@settings(max_examples=25)
@given(TEXTS, st.lists(SENTENCE, min_size=1, max_size=3), st.sampled_from([2, 4, 6]), st.integers(1, 2), st.booleans())
def test_votes_are_the_counts_of_the_equations(text, incomplete, window, min_count, edges):
    model = model_of(text, window, min_count)
    counts, half = naive.distances(known(model, text)), window // 2
    tokens = model.encode(incomplete)
    votes = model.pairs.votes(tokens, half, edges=edges)
    for ours, function in (
        (vote_scores(*votes, 0.01), lambda yes, no: naive.score(yes, no, 0.01)),
        (log_odds(*votes, 0.5), lambda yes, no: naive.log_odds(yes, no, 0.5)),
    ):
        wanted = [
            [[row[a, b] for b in range(half)] for a in range(half)]
            for sentence in known(model, incomplete)
            for row in naive.pair_features(counts, sentence, half, function, edges=edges)
        ]
        assert len(ours) == gap_offsets(tokens)[-1]
        np.testing.assert_allclose(ours, np.array(wanted).reshape(-1, half, half), atol=1e-12)


def test_more_votes_count_more_only_by_a_positive_exponent():
    """The example of the paper: 80 against 20 votes at one gap, 8 against 2 at another."""
    plain = vote_scores(np.array([80, 8]), np.array([20, 2]), 0.0)
    assert plain == pytest.approx([0.6, 0.6])
    many, few = vote_scores(np.array([80, 8]), np.array([20, 2]), 0.01)
    assert many > few > 0.6
    assert vote_scores(np.array([0]), np.array([0]), 0.01).item() == 0.0


@settings(max_examples=25)
@given(TEXTS, st.integers(1, 2))
def test_each_context_gives_a_distribution(text, min_count):
    model = model_of(text, min_count=min_count)
    sentences = known(model, text)
    vocabulary = model.vocabulary.words
    for context in CONTEXTS:
        table = model.tables[context]
        wanted = naive.trigrams_with(sentences, KEYS[context])
        assert table.counts.sum() == sum(wanted.values())
        keys = sorted({key[:-1] for key in wanted})
        neighbours = np.array([[vocabulary.index(word) for word in key] for key in keys], np.int32)
        rows = table.contexts_of(neighbours.reshape(len(keys), len(KEYS[context])))
        assert len(table.starts) == len(vocabulary) + 1
        if len(KEYS[context]) == 1:  # a context has the number of its neighbour
            assert table.starts.tolist() == list(range(len(vocabulary) + 1))
        for key, row in zip(keys, rows.tolist(), strict=True):
            p, some = np.zeros(len(vocabulary)), slice(table.rows[row], table.rows[row + 1])
            p[table.words[some]] = table.counts[some] / table.totals[row]
            assert p.sum() == pytest.approx(1.0)
            total = sum(count for found, count in wanted.items() if found[:-1] == key)
            assert p == pytest.approx([wanted[(*key, word)] / total for word in vocabulary])


@settings(max_examples=25)
@given(TEXTS, st.lists(st.sampled_from("abcdx"), min_size=2, max_size=6), st.integers(1, 6), st.integers(1, 2))
def test_fillings_are_the_best_words_of_all(text, words, k, min_count):
    model = model_of(text, min_count=min_count)
    model = MissingWordsModel(
        model.vocabulary, model.counts, model.pairs, model.tables, model.locations, WEIGHTS, model.settings
    )
    vocabulary = list(model.vocabulary.words[FIRST:])
    filled = model.fill(gaps_of(model.encode([words])), k)
    sentences, (incomplete,) = known(model, text), known(model, [words])
    assert filled.words.shape == (len(words) - 1, k)
    for gap in range(len(words) - 1):
        wanted = naive.fill(sentences, vocabulary, incomplete, gap, WEIGHTS)[:k]
        numbers = filled.words[gap].tolist()
        assert numbers[len(wanted) :] == [-1] * (k - len(wanted))
        assert filled.p[gap, : len(wanted)] == pytest.approx([p for _, p in wanted])
        both = dict(naive.fill(sentences, vocabulary, incomplete, gap, WEIGHTS))
        chosen = [model.vocabulary.words[number] for number in numbers[: len(wanted)]]
        assert len(set(chosen)) == len(chosen)
        assert [both[word] for word in chosen] == pytest.approx([p for _, p in wanted])
        parts = {**naive.five(sentences, vocabulary, incomplete, gap)}
        for i, name in enumerate(CONTEXTS):
            assert filled.parts[gap, : len(chosen), i] == pytest.approx([parts[name].get(w, 0.0) for w in chosen])


@settings(max_examples=25)
@given(TEXTS)
def test_the_mixture_sums_to_one(text):
    """Over the vocabulary and `<unk>`, for which no word is filled in."""
    model = model_of(text, min_count=2)
    some = gaps_of(model.encode([("a", "b"), ("d", "c", "a")]))
    filled = model.fill(some, len(model.vocabulary))
    of_unknown = model.vocabulary.words.index("<unk>")
    from rerank_plugins.missing_words.gap_words import components_seen, contexts_of_gaps, parts_of_words

    contexts = contexts_of_gaps(model.tables, some)
    parts = parts_of_words(model.tables, model.unigrams, contexts, np.full(len(contexts), of_unknown, np.int32))
    unknown = (parts @ model.mixture) / (components_seen(contexts) @ model.mixture)
    assert filled.p.sum(axis=1) + unknown == pytest.approx(np.ones(len(contexts)))


def test_words_of_equal_probability_come_by_falling_frequency():
    model = model_of([("b", "a", "c"), ("a", "a"), ("c", "b")])
    even = MissingWordsModel(
        model.vocabulary, model.counts, model.pairs, model.tables, model.locations, np.eye(6)[1], model.settings
    )
    filled = even.fill(gaps_of(model.encode([("x", "y")])), 3)  # new contexts: nothing but ties
    assert filled.words[0].tolist() == [FIRST, FIRST + 1, FIRST + 2]


@given(st.integers(1, 3), st.data())
def test_the_cone_has_the_monotone_weights_and_no_others(half, data):
    distance = np.add.outer(np.arange(half), np.arange(half)).ravel()
    generators = cone(half)
    theta = np.array(data.draw(st.lists(st.floats(0, 2), min_size=len(generators), max_size=len(generators))))
    weights = theta @ generators
    assert is_monotone(weights.reshape(half, half))
    # Any monotone weights are a sum: cell by cell from the greatest down, the set of all cells so far is a generator.
    values = np.array(data.draw(st.lists(st.floats(0, 2), min_size=half * half, max_size=half * half)))
    monotone = np.empty(half * half)
    monotone[np.lexsort((np.arange(half * half), distance))] = np.sort(values)[::-1]
    order = np.lexsort((-monotone, distance))
    steps = np.append(monotone[order], 0.0)
    rebuilt = np.zeros(half * half)
    known_sets = {tuple(row.astype(bool)) for row in generators}
    for rank in range(half * half):
        chosen = np.zeros(half * half, bool)
        chosen[order[: rank + 1]] = True
        assert tuple(chosen) in known_sets
        rebuilt += (steps[rank] - steps[rank + 1]) * chosen
    assert rebuilt == pytest.approx(monotone)


def is_monotone(weights):
    half = len(weights)
    cells = [(a + b, weights[a, b]) for a in range(half) for b in range(half)]
    return all(near >= far - 1e-12 for d, near in cells for e, far in cells if d < e) and weights.min() >= 0


@pytest.fixture(scope="module")
def problem():
    """Gaps whose right one has higher features of the near pairs, and lower ones of a far pair."""
    rng = np.random.default_rng(3)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 8, 200))])
    right = offsets[:-1] + rng.integers(0, np.diff(offsets))
    features = rng.normal(size=(offsets[-1], 2, 2))
    features[right] += np.array([[0.4, 0.6], [0.1, -0.5]])
    return features, offsets, right


def test_fitted_weights_are_monotone_and_the_best_of_those(problem):
    features, offsets, right = problem
    rows = features.reshape(len(features), -1)
    weights, factors, value = fit_weights(features, offsets, right)
    assert is_monotone(weights)
    assert weights.ravel() == pytest.approx(factors @ cone(2))
    assert weights[0, 0] == pytest.approx(weights[0, 1], abs=0.02), "the constraint binds"
    assert weights[1, 1] == 0.0
    rng = np.random.default_rng(4)
    for scale in (0.01, 0.1, 1.0):
        for _ in range(50):
            other = np.maximum(factors + scale * rng.normal(size=len(factors)), 0) @ cone(2)
            assert log_likelihood(rows, offsets, right, other)[0] <= value + 1e-5
    again, _, from_there = fit_weights(features, offsets, right, factors)
    assert from_there == pytest.approx(value, abs=1e-5)
    assert again == pytest.approx(weights, abs=0.02)


def test_the_gradient_is_that_of_the_likelihood(problem):
    features, offsets, right = problem
    rows, here = features.reshape(len(features), -1), np.array([0.3, -0.2, 0.5, 0.1])
    _, gradient = log_likelihood(rows, offsets, right, here)
    for i, step in enumerate(np.eye(4) * 1e-5):
        above, below = (log_likelihood(rows, offsets, right, here + sign * step)[0] for sign in (1, -1))
        assert gradient[i] == pytest.approx((above - below) / 2e-5, rel=1e-5)


def test_mixture_weights_raise_the_likelihood_to_its_maximum():
    rng = np.random.default_rng(5)
    seen = rng.random((300, 3)) < [0.4, 0.8, 1.0]
    parts = np.where(seen, rng.random((300, 3)) ** [1, 3, 6], 0.0)
    parts[:, 2] += 1e-3

    def likelihood(weights):
        return float((np.log(parts @ weights) - np.log(seen @ weights)).mean())

    weights = fit_mixture(parts, seen)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    grid = [np.array([a, b, 1 - a - b]) for a in np.arange(0.02, 1, 0.02) for b in np.arange(0.02, 1 - a - 0.01, 0.02)]
    assert likelihood(weights) >= max(map(likelihood, grid)) - 1e-4


@given(st.lists(st.sampled_from("abc"), max_size=8), st.integers(0, 5))
def test_one_inner_word_is_removed(words, seed):
    removed = remove_inner_word(words, np.random.default_rng(seed))
    assert (removed is None) == (len(words) < 3)
    if removed:
        assert removed.complete == tuple(words)
        assert len(removed.words) == len(words) - 1
        assert 0 <= removed.gap < len(removed.words) - 1, "words stand on both sides"


def test_every_inner_word_is_removed_equally_often():
    removed = remove_words([("a", "b", "c", "d")] * 3000, 1)
    assert np.mean([one.gap for one in removed]) == pytest.approx(0.5, abs=0.05)
    assert removed == remove_words([("a", "b", "c", "d")] * 3000, 1)
    assert removed != remove_words([("a", "b", "c", "d")] * 3000, 2)


@given(st.lists(st.sampled_from([3, 4, EOS]), max_size=30), st.integers(1, 9))
def test_pieces_are_whole_sentences(numbers, size):
    tokens = np.array([*numbers, EOS], np.int32)
    cut = list(pieces(tokens, size))
    assert np.concatenate(cut).tolist() == tokens.tolist()
    assert all(piece[-1] == EOS for piece in cut)


@pytest.fixture(scope="module")
def trained():
    """A model of a small language in which one word always lies between two others."""
    rng = np.random.default_rng(7)
    lines = []
    for _ in range(600):
        subject, verb, thing = (rng.choice(choice) for choice in (["dogs", "cats"], ["see", "hear"], ["birds", "mice"]))
        lines.append(f"the {subject} often {verb} the small {thing}")
    return train([("text", lines)], Settings(seed=3))


def test_a_small_language_is_restored(trained):
    incomplete = ["the dogs see the small mice", "the cats often hear small birds", "the dogs often see the mice"]
    sentences = [line.split() for line in incomplete]
    assert [int(ln_p.argmax()) for ln_p in trained.locate(sentences)] == [1, 3, 4]
    for method in METHODS:
        assert is_monotone(trained.locations[method].weights)
        for ln_p in trained.locate(sentences, method):
            assert np.exp(ln_p).sum() == pytest.approx(1.0)
    filled = trained.fill(trained.neighbours(sentences, [1, 3, 4]), 2)
    words = trained.vocabulary.words
    assert [words[row[0]] for row in filled.words] == ["often", "the", "small"]
    assert trained.settings["held_out"] == 600 // EVERY
    assert trained.settings["sentences"] == 600 - 600 // EVERY


def test_sentences_without_gaps_have_no_locations(trained):
    located = trained.locate([(), ("dogs",), ("the", "dogs"), ()])
    assert [len(ln_p) for ln_p in located] == [0, 0, 1, 0]
    assert [len(ln_p) for ln_p in trained.locate([(), ("dogs",)])] == [0, 0]
    assert trained.locate([]) == []


def test_the_model_does_not_depend_on_pieces_or_threads(trained, monkeypatch):
    from rerank_plugins.missing_words import tables as windows

    lines = [f"{a} x {b} y {a}" for a in "abc" for b in "abc"] * 3
    whole = train([("text", lines)], Settings(), jobs=1)
    monkeypatch.setattr(windows.pieces, "__defaults__", (20,))
    parts = train([("text", lines)], Settings(), jobs=2)
    assert (parts.pairs.counts == whole.pairs.counts).all()
    for context in CONTEXTS:
        for name, ours in vars(parts.tables[context]).items():
            assert (ours == getattr(whole.tables[context], name)).all()


def test_a_model_is_read_as_it_was_written(trained, tmp_path):
    size = write_model(trained, tmp_path / "m.mw")
    assert size == (tmp_path / "m.mw").stat().st_size
    read = read_model(tmp_path / "m.mw")
    sentences = [("the", "dogs", "see", "the", "mice")]
    assert [row.tolist() for row in read.locate(sentences)] == [row.tolist() for row in trained.locate(sentences)]
    ours, theirs = (model.fill(model.neighbours(sentences, [1]), 4) for model in (read, trained))
    assert (ours.words == theirs.words).all()
    assert (ours.p == theirs.p).all()
    assert read.settings == {**trained.settings, "gammas": list(trained.settings["gammas"])}


def test_forged_tables_are_refused(trained, tmp_path):
    """Arrays that are shorter than others need, though each is in order by itself."""
    write_model(trained, tmp_path / "good.mw")
    settings, arrays = read_any(tmp_path / "good.mw", "missing-words")
    narrow = np.ascontiguousarray(arrays["pairs.counts"][:, :1])
    cases = {"around.seconds": arrays["around.seconds"][:-1], "pairs.counts": narrow, "left1.totals": np.zeros(0, int)}
    for name, array in cases.items():
        write_any(tmp_path / "bad.mw", "missing-words", settings, {**arrays, name: array})
        with pytest.raises(ModelError, match=r"bad\.mw: damaged model of missing words"):
            read_model(tmp_path / "bad.mw")


def test_files_that_are_no_models_are_refused(trained, tmp_path):
    write_any(tmp_path / "other.lm", "ngram", {}, {})
    with pytest.raises(ModelError, match=r"other\.lm: .*ngram"):
        read_model(tmp_path / "other.lm")
    write_any(tmp_path / "hollow.mw", "missing-words", {"training": {}, "locations": {}, "mixture": []}, {})
    with pytest.raises(ModelError, match=r"hollow.mw: damaged model of missing words \(KeyError: 'words'\)"):
        read_model(tmp_path / "hollow.mw")
    write_model(trained, tmp_path / "m.mw")
    content = bytearray((tmp_path / "m.mw").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "m.mw").write_bytes(content)
    with pytest.raises(ModelError, match=r"m\.mw: damaged"):
        read_model(tmp_path / "m.mw")


def test_settings_and_texts_that_do_not_do():
    for options, said in (({"window": 3}, "window of 3"), ({"window": 12}, "2 to 10"), ({"gammas": (-1.0,)}, "γ")):
        with pytest.raises(ConfigError, match=said):
            Settings(**options)
    with pytest.raises(ModelError, match="no word occurs 2 times"):
        train([("text", ["a b c"])], Settings())
    with pytest.raises(ModelError, match="no held-out sentence has three words"):
        train([("text", ["a b c"] * 10)], Settings())
    with pytest.raises(ModelError, match="none of the words removed"):
        train([("text", ["a b c"] * 10)], Settings(), held_out=[("a", "z", "c")])


def test_more_candidates_than_words_are_refused(trained):
    gaps = trained.neighbours([("the", "dogs")], [0])
    with pytest.raises(ConfigError, match="100 candidates are more than the 9 words of the model"):
        trained.fill(gaps, 1, candidates=100)
    few = trained.fill(gaps, 5, candidates=2)
    assert (few.words[:, 2:] == -1).all()
    assert (few.words[:, :2] < FIRST + 2).all()


def test_a_window_wider_than_the_counts_is_refused(trained):
    with pytest.raises(ValueError, match="wanted 1 to 2"):
        trained.pairs.votes(trained.encode([("the", "dogs")]), 3)


def test_posteriors_are_a_softmax():
    scores, offsets = np.array([1.0, 2.0, 0.0, 500.0, 500.0]), np.array([0, 3, 5])
    ln_p = ln_posteriors(scores, offsets)
    assert np.add.reduceat(np.exp(ln_p), offsets[:-1]) == pytest.approx([1.0, 1.0])
    assert ln_p[3:] == pytest.approx(np.log([0.5, 0.5]))


def test_names():
    assert COMPONENTS == ("left2", "around", "right2", "left1", "right1", "unigram")
    assert Removed(("a", "c"), 0, "b").complete == ("a", "b", "c")
    assert Location("votes", 0.01, np.ones((2, 2)), True).half == 2
