"""Substitutes by upper-bound queues equal those of an exhaustive search, ties included."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, UNK
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.substitutes import fastsubs as queue_files
from rerank_plugins.substitutes.fastsubs import FastSubs
from rerank_plugins.substitutes.ngram_filters import may_have
from rerank_plugins.substitutes.queues import Queues
from tests.substitutes.naive_fastsubs import NaiveModel, yuret_search

WORDS = ("<unk>", "<s>", "</s>", "a", "b", "c", "d", "e")
LEVELS = (-0.25, -0.5, -1.0, -2.0, -99.0)  # few values, so that many scores are equal; all exact in binary
WEIGHTS = (0.5, 0.0, -0.25, -1.0)


def arpa(ngrams, weights, words=WORDS):
    order = max(map(len, ngrams))
    by_order = [sorted(ngram for ngram in ngrams if len(ngram) == n) for n in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={len(some)}" for n, some in enumerate(by_order, 1)), ""]
    for n, some in enumerate(by_order, 1):
        lines.append(f"\\{n}-grams:")
        for ngram in some:
            weight = f"\t{weights[ngram]}" if n < order else ""
            lines.append(f"{ngrams[ngram]}\t{' '.join(words[w] for w in ngram)}{weight}")
        lines.append("")
    return "\n".join([*lines, "\\end\\", ""])


@st.composite
def models(draw):
    """A random model: each n-gram has its beginning, as ARPA files demand, but not always its end (a pruned model)."""
    order = draw(st.integers(1, 4))
    count = draw(st.integers(5, len(WORDS)))
    random = draw(st.randoms(use_true_random=False))
    ngrams = {(w,): random.choice(LEVELS) for w in range(count)}
    before = list(ngrams)
    for _ in range(order - 1):
        longer = [(*ngram, w) for ngram in before if ngram[-1] != EOS for w in range(count) if w != BOS]
        before = random.sample(longer, min(len(longer), random.randint(1, 40)))
        ngrams |= {ngram: random.choice(LEVELS) for ngram in before}
    weights = {ngram: random.choice(WEIGHTS) for ngram in ngrams if len(ngram) < order or order == 1}
    length = random.randint(1, 6)
    sentence = (BOS, *(random.choice([UNK, *range(3, count)]) for _ in range(length)), EOS)
    return ngrams, weights, count, sentence


@settings(deadline=None, max_examples=25)
@given(models(), st.integers(1, 8), st.booleans())
def test_random_models_exhaustively(tmp_path_factory, model, k, unknown):
    ngrams, weights, count, sentence = model
    path = tmp_path_factory.mktemp("arpa") / "random.arpa"
    path.write_text(arpa(ngrams, weights))
    substitutes = FastSubs(NgramModel.load(path), unknown)
    naive = NaiveModel(ngrams, weights)
    tokens = np.array(sentence, np.int32)
    best = substitutes.top_places(tokens, np.arange(1, len(sentence) - 1), k)
    candidates = [*([UNK] if unknown else []), *range(3, count)]
    for row, place in enumerate(range(1, len(sentence) - 1)):
        wanted = naive.best(sentence, place, k, candidates)
        some = best.words[row] >= 0
        assert best.words[row][some].tolist() == [word for word, _ in wanted]
        np.testing.assert_allclose(best.ln_p[row][some] / LN10, [score for _, score in wanted], rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(models(), st.integers(1, 5))
def test_queues_as_printed(model, k):
    ngrams, weights, count, sentence = model
    naive = NaiveModel(ngrams, weights)
    for place in range(1, len(sentence) - 1):
        best, pops = yuret_search(naive, sentence, place, k, range(3, count))
        assert best == naive.best(sentence, place, k, range(3, count))
        assert pops >= min(k, count - 3)


TEXT = [
    "the old man sat in the house by the sea",
    "the old woman sat in the garden by the house",
    "the man went to the sea and the woman went to the garden",
    "a dog and a cat sat by the old man in the garden",
    "the dog went in and the cat went out of the house",
    "an old house by the sea and a garden of the old woman",
]


def small_model(order=4, **options):
    return train([("text", TEXT * 2)], NgramSettings(order=order, **options)).ngrams


@pytest.mark.parametrize("options", [{}, {"order": 1}, {"order": 2}, {"order": 3, "prune": (0, 2)},
                                     {"smoothing": "stupid-backoff"}, {"order": 6}, {"most_words": 8}])  # fmt: skip
def test_trained_models_exhaustively(options):
    model = small_model(**options)
    substitutes = FastSubs(model)
    tokens = substitutes.encode([line.split() for line in TEXT] + [["zebra", "sat"], ["the"]])
    places = np.flatnonzero((tokens != BOS) & (tokens != EOS))
    candidates = np.arange(3, len(model.vocabulary), dtype=np.int32)
    best = substitutes.top_places(tokens, places, 5)
    for row, place in enumerate(places):
        scores = substitutes.scores(tokens, np.full(len(candidates), place), candidates)
        order = np.argsort(-scores, kind="stable")[:5]
        assert best.words[row].tolist() == candidates[order].tolist()
        assert best.ln_p[row].tolist() == scores[order].tolist()
    shared = substitutes.top_places(tokens, places, 5, jobs=3)
    assert (shared.words == best.words).all()
    assert (shared.ln_p == best.ln_p).all()


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(3, 5), st.integers(1, 6))
def test_random_texts_exhaustively(seed, order, k):
    """Unpruned models, in which words are seen between all kinds of neighbours."""
    numbers = np.minimum(np.random.default_rng(seed).zipf(1.4, (40, 7)), 30)
    text = [" ".join(f"w{i}" for i in row) for row in numbers.tolist()]
    substitutes = FastSubs(train([("text", text)], NgramSettings(order=order, most_words=12)).ngrams)
    assert substitutes.queues.closed.all()
    tokens = substitutes.encode([line.split() for line in text[:6]])
    places = np.flatnonzero((tokens != BOS) & (tokens != EOS))
    best = substitutes.top_places(tokens, places, k)
    candidates = np.arange(3, 15, dtype=np.int32)
    for row, place in enumerate(places):
        scores = substitutes.scores(tokens, np.full(len(candidates), place), candidates)
        assert best.words[row].tolist() == candidates[np.argsort(-scores, kind="stable")[:k]].tolist()


@pytest.mark.parametrize("smoothing", ["kneser-ney", "stupid-backoff"])
def test_scores_rank_whole_sentences(smoothing, tmp_path):
    """S(w) differs from the score of the whole sentence by a constant."""
    from rerank_plugins.ngram.language_model import NgramLanguageModel

    model = small_model(smoothing=smoothing)
    model.save(tmp_path / "model")
    words = ["the", "old", "man", "went", "to", "the", "house"]
    for position in range(len(words)):
        ids, ln_p = FastSubs(model).top(words, position, 6)
        lists = [[*words[:position], model.vocabulary.words[i], *words[position + 1 :]] for i in ids]
        whole = NgramLanguageModel(tmp_path / "model").totals(lists)
        np.testing.assert_allclose(whole - ln_p, whole[0] - ln_p[0], atol=1e-9)


def test_filters_deny_nothing_that_is_there():
    model = small_model()
    tables, queues = model.tables, Queues.build(model.tables)
    owner = np.repeat(np.arange(len(tables.contexts) - 1), np.diff(tables.contexts["events"]))
    for event in range(tables.event_levels[1], tables.event_levels[3]):
        context = tables.contexts[owner[event]]
        word = int(tables.events[event]["symbol"])
        if event < tables.event_levels[2]:
            assert may_have(queues.pairs, -1, int(context["symbol"]), word)
        else:
            nearest = int(tables.contexts[context["parent"]]["symbol"])
            assert may_have(queues.triples, int(context["symbol"]), nearest, word)
    denied = sum(not may_have(queues.pairs, -1, a, b) for a in range(3, 30) for b in range(3, 30))
    assert denied > 0.5 * 27 * 27


def test_pops_fall_short_of_the_vocabulary():
    numbers = np.random.default_rng(1).zipf(1.3, (2000, 12)) % 3000
    text = [" ".join(f"w{i}" for i in row) for row in numbers.tolist()]
    substitutes = FastSubs(train([("text", text)], NgramSettings(order=3)).ngrams)
    tokens = substitutes.encode([line.split() for line in text[:20]])
    best = substitutes.top_places(tokens, np.flatnonzero((tokens != BOS) & (tokens != EOS)), 3)
    assert best.pops.mean() < 0.05 * len(substitutes.ngrams.vocabulary)


def test_more_substitutes_than_words():
    model = small_model()
    ids, ln_p = FastSubs(model).top(["the", "sea"], 0, 1000)
    assert sorted(ids) == list(range(3, len(model.vocabulary)))
    assert (np.diff(ln_p) <= 0).all()


def test_bad_places():
    substitutes = FastSubs(small_model())
    with pytest.raises(ValueError, match="position 2: the sentence has 2 words, counted from 0"):
        substitutes.top(["the", "sea"], 2, 3)
    with pytest.raises(ValueError, match="k = 0: wanted at least 1"):
        substitutes.top(["the", "sea"], 0, 0)
    with pytest.raises(ValueError, match="the sentence has 0 words"):
        substitutes.top([], 0, 3)


def test_queues_are_kept(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    model = tmp_path / "model"
    small_model().save(model)
    first = FastSubs.load(model)
    kept = queue_files.queue_file(model)
    assert kept is not None
    assert kept.is_file()
    monkeypatch.setattr(Queues, "build", lambda tables: pytest.fail("sorted again"))
    again = FastSubs.load(model)
    for ours, theirs in zip(first.queues.arrays, again.queues.arrays, strict=True):
        assert (ours == theirs).all()
    monkeypatch.undo()
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    kept.write_bytes(kept.read_bytes()[:-100])
    damaged = FastSubs.load(model)
    assert "the queues are sorted again" in caplog.text
    assert damaged.top(["the", "sea"], 0, 3)[0].tolist() == first.top(["the", "sea"], 0, 3)[0].tolist()


def test_no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    model = tmp_path / "model"
    small_model().save(model)
    assert queue_files.queue_file(model) is None
    assert len(FastSubs.load(model).top(["the", "sea"], 0, 3)[0]) == 3


def test_kenlm_binary(tmp_path):
    path = tmp_path / "lm.binary"
    path.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0")
    with pytest.raises(ModelError, match="KenLM does not list the n-grams of its binaries: give the ARPA file"):
        FastSubs.load(path)
    with pytest.raises(ModelError, match="cannot be read"):
        FastSubs.load(Path("missing.ngram"))


def test_model_without_unknown_word(tmp_path):
    ngrams = {(w,): -1.0 for w in range(1, 6)} | {(3, 4): -0.25, (4, 5): -0.5}
    path = tmp_path / "closed.arpa"
    path.write_text(arpa(ngrams, dict.fromkeys(ngrams, -0.5)))
    substitutes = FastSubs(NgramModel.load(path))
    ids, ln_p = substitutes.top(["a", "zebra", "unheard-of"], 1, 2)
    assert [substitutes.ngrams.vocabulary.words[i] for i in ids] == ["b", "a"]
    assert np.isfinite(ln_p).all()
