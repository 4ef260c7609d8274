"""Language models inside a search: they score as the models alone, in bounded memory, and a search by them is exact."""

import itertools
import pickle
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.decoding import BeamScorer, CtcLanguageModel
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.mixture import MixtureLanguageModel
from rerank_plugins.testing import check_incremental_lm
from tests.decoding.generated_ctc import labels_of, noisy_log_probs
from tests.decoding.naive_ctc import Silent, every_text, greedy, rescored, search, words_of_path
from tests.ngram.naive_features import CORPUS, write_arpa

LABELS = ["", " ", "a", "b"]
WORDS = ("a", "b", "ab", "ba", "aa", "abba", "x")
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=6)


@dataclass
class Whole:
    """A model whose p depends on all words so far, which counts its steps; in its states, the words."""

    asked: list[tuple[str, ...]] = field(default_factory=list)

    def start(self):
        return ()

    def advance(self, state, word):
        self.asked.append((*state, word))
        return -1.0 - len(word) / (1 + sum(map(len, state))), (*state, word)

    def finish(self, state):
        return -1.0 / (2 + len(state))


def total(model, words):
    """Ln p of a sentence by single steps of the model itself."""
    state, ln_p = model.start(), 0.0
    for word in words:
        step, state = model.advance(state, word)
        ln_p += step
    return ln_p + model.finish(state)


@pytest.fixture(scope="module")
def arpa(tmp_path_factory):
    return NgramLanguageModel(write_arpa(tmp_path_factory.mktemp("lm") / "small.arpa"))


@pytest.fixture(scope="module")
def letters(tmp_path_factory):
    from docs.results.scripts.texts import ngram_model

    text = [("a", "b"), ("ab", "b", "a"), ("b", "ab"), ("aa", "ba"), ("abba",), ("a", "ab", "a", "b")] * 3
    return ngram_model(text, 3, tmp_path_factory.mktemp("lm") / "letters")


@pytest.fixture(scope="module")
def hhmm():
    return HhmmLanguageModel(beam=10, threshold=1e-3)


@pytest.fixture(params=["ngram", "kenlm", "hhmm", "mixture"])
def model(request, arpa, hhmm):
    if request.param == "kenlm":
        request.getfixturevalue("kenlm")
    models = {"ngram": arpa, "hhmm": hhmm, "kenlm": KenlmBinary(arpa.model)}
    mixture = MixtureLanguageModel((arpa, hhmm), (0.7, 0.3))
    return (models | {"mixture": mixture})[request.param]


def test_a_scorer_gives_what_its_model_gives(model):
    """Sentence by sentence, and over all prefixes of all sentences at once."""
    scorer = BeamScorer(model)
    check_incremental_lm(scorer, CORPUS)
    check_incremental_lm(model, CORPUS)
    wanted = model.score(CORPUS)
    prefixes, place = [scorer.start() for _ in CORPUS], 0
    while going := [i for i, words in enumerate(CORPUS) if place < len(words)]:
        values, after = scorer([prefixes[i] for i in going], [CORPUS[i][place] for i in going])
        np.testing.assert_allclose(values, [wanted[i][place] for i in going], atol=1e-5)
        for i, prefix in zip(going, after, strict=True):
            prefixes[i] = prefix
        place += 1
    np.testing.assert_allclose(scorer.finish_all(prefixes), [values[-1] for values in wanted], atol=1e-5)
    assert [prefix.words for prefix in prefixes] == [tuple(words) for words in CORPUS]


@settings(max_examples=50, deadline=None)
@given(sentences=SENTENCES, kept=st.sampled_from([1, 2, 5, 1000]), rng=st.randoms(use_true_random=False))
def test_dropped_states_are_computed_again(sentences, kept, rng):
    """Whatever the order in which beams grow, and however few states are remembered."""
    scorer, model = BeamScorer(Whole(), kept), Whole()
    beams = [(scorer.start(), 0.0, list(words)) for words in sentences]
    while any(words for _, _, words in beams):
        growing = [i for i, beam in enumerate(beams) if beam[2]]
        chosen = rng.sample(growing, rng.randint(1, len(growing)))
        values, after = scorer([beams[i][0] for i in chosen], [beams[i][2][0] for i in chosen])
        for i, value, prefix in zip(chosen, values, after, strict=True):
            beams[i] = (prefix, beams[i][1] + value, beams[i][2][1:])
        assert len(scorer._recent) <= kept
    ends = scorer.finish_all([prefix for prefix, _, _ in beams])
    sums = [ln_p + end for (_, ln_p, _), end in zip(beams, ends, strict=True)]
    np.testing.assert_allclose(sums, [total(model, words) for words in sentences], rtol=1e-12)
    if kept == 1000:
        assert len(set(scorer.model.asked)) == len(scorer.model.asked), "a step was taken twice"


def test_equal_steps_are_taken_once():
    scorer = BeamScorer(Whole())
    start = scorer.start()
    values, after = scorer([start] * 3, ["a", "b", "a"])
    assert scorer.model.asked == [("a",), ("b",)]
    assert after[0] is after[2]
    assert values[0] == values[2]
    scorer(after, ["a", "a", "a"])
    scorer([start], ["b"])
    assert scorer.model.asked[2:] == [("a", "a"), ("b", "a")]
    assert scorer([], [])[1] == []


def test_words_of_the_decoder_stand_for_words_of_the_model(letters):
    scorer = BeamScorer(letters, tokens=lambda word: [letter for letter in word.lower() if letter != "-"])
    values, prefixes = scorer([scorer.start()] * 3, ["AB", "-", "b"])
    single = letters.score([["a", "b"], ["b"]])
    np.testing.assert_allclose(values, [single[0][:2].sum(), 0.0, single[1][0]])
    np.testing.assert_allclose(
        scorer(prefixes, ["a-b"] * 3)[0] + scorer.finish_all(scorer(prefixes, ["a-b"] * 3)[1]) + values,
        letters.totals([["a", "b", "a", "b"], ["a", "b"], ["b", "a", "b"]]),
    )


def test_a_copy_in_another_process_scores_the_same(letters):
    scorer = BeamScorer(letters, 7)
    scorer([scorer.start()], ["ab"])
    copy = pickle.loads(pickle.dumps(scorer))
    assert copy.kept == 7
    assert copy.advance(copy.start(), "ab")[0] == scorer.advance(scorer.start(), "ab")[0]


def test_a_scorer_remembers_at_least_one_state(letters):
    with pytest.raises(ConfigError, match="kept is 0, wanted 1 or more states"):
        BeamScorer(letters, 0)


# pyctcdecode


def test_scores_for_pyctcdecode(letters):
    model = CtcLanguageModel(letters, ["a", "b", "ab"], alpha=0.5, beta=1.5, unk_score_offset=-10)
    start = model.get_start_state()
    first, second = letters.score([["ab", "x"]])[0][:2]
    score, state = model.score(start, "ab")
    assert score == pytest.approx(0.5 * first + 1.5)
    assert model.score(state, "x")[0] == pytest.approx(0.5 * (second - 10 * LN10) + 1.5)
    score, last = model.score(start, "ab", is_last_word=True)
    assert score == pytest.approx(0.5 * letters.totals([["ab"]])[0] + 1.5)
    assert model.score(last, "x")[0] == model.score(state, "x")[0], "decoding can go on after the end"
    assert model.score(last, "", is_last_word=True)[0] == pytest.approx(0.5 * letters.score([["ab"]])[0][-1])
    model.reset_params(alpha=2.0, score_boundary=False, unk_score_offset=0.0)
    assert model.score(state, "x", is_last_word=True)[0] == pytest.approx(2 * second + 1.5)
    assert model.score(state, "", is_last_word=True)[0] == 0.0
    assert model.beta == 1.5


def test_the_beginnings_of_known_words_are_known(letters):
    words = ["abba", "abbot", "tone", "interesting"]
    model = CtcLanguageModel(letters, words, unk_score_offset=-3.0)
    for word in words:
        for length in range(1, len(word) + 1):
            assert model.score_partial_token(word[:length]) == 0.0
    assert model.score_partial_token("abc") == -3.0
    assert model.score_partial_token("zz") == -3.0
    assert model.score_partial_token("interestinx") == -3.0 * 11 / 6
    assert CtcLanguageModel(letters).score_partial_token("zz") == 0.0


def test_words_are_known_by_the_unigrams_or_the_model(letters):
    assert CtcLanguageModel(letters).knows("ab")
    assert not CtcLanguageModel(letters).knows("zz")
    assert not CtcLanguageModel(letters, ["a"]).knows("ab")
    assert CtcLanguageModel(letters, tokens=lambda word: word.lower().split("-")).knows("AB-A")
    assert not CtcLanguageModel(letters, tokens=lambda word: word.lower().split("-")).knows("AB-C")
    assert CtcLanguageModel(Whole()).knows("anything")


def test_the_order_says_which_beams_may_be_dropped(letters, hhmm):
    assert CtcLanguageModel(letters).order == 3
    assert CtcLanguageModel(hhmm).order == sys.maxsize
    assert CtcLanguageModel(MixtureLanguageModel((letters, letters), (0.5, 0.5))).order == 3
    assert CtcLanguageModel(MixtureLanguageModel((letters, hhmm), (0.5, 0.5))).order == sys.maxsize
    assert CtcLanguageModel(letters, tokens=str.split).order == sys.maxsize


def test_what_pyctcdecode_could_not_load_is_not_saved(letters, tmp_path):
    with pytest.raises(NotImplementedError, match="KenLM"):
        CtcLanguageModel(letters).save_to_dir(str(tmp_path))


# Searches


def test_words_of_paths():
    assert words_of_path([2, 2, 0, 2, 3, 1, 1, 0, 1, 3], LABELS) == ("aab", "b")
    assert words_of_path([0, 1, 0], LABELS) == ()


def log_probs(seed, frames=5):
    logits = 2 * np.random.default_rng(seed).standard_normal((frames, len(LABELS)))
    return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(4))
def test_an_exhaustive_search_sums_all_paths(seed):
    every = every_text(log_probs(seed), LABELS)
    assert np.logaddexp.reduce(list(every.values())) == pytest.approx(0.0, abs=1e-12)
    found = search(log_probs(seed), LABELS)
    assert {each.words: each.acoustic for each in found} == pytest.approx(every)
    assert [each.words for each in found] == sorted(every, key=every.get, reverse=True)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_pass_equals_rescoring_where_nothing_is_pruned(seed, letters):
    """Shallow fusion with the scorer, against sentences scored whole."""
    alpha, beta = (0.7, 0.5) if seed % 2 else (2.0, -1.0)
    first = search(log_probs(seed), LABELS, BeamScorer(letters), alpha, beta)
    plain = search(log_probs(seed), LABELS, Silent())
    second = rescored(plain, letters.totals([each.words for each in plain]), alpha, beta)
    wanted = {each.words: each.score(alpha, beta) for each in second}
    assert {each.words: each.score(alpha, beta) for each in first} == pytest.approx(wanted)
    assert first[0].words == second[0].words
    assert len(first) == len(second) > 60
    assert any(each.words != other.words for each, other in zip(plain, first, strict=True)), "the model has no say"


def test_a_narrow_first_pass_finds_what_a_list_has_lost(letters):
    """With a few beams the model inside is at least as good as rescoring, and strictly better somewhere."""
    better = 0
    for seed in range(12):
        values = log_probs(seed, frames=8)
        first = search(values, LABELS, BeamScorer(letters), 1.0, 0.5, beam=3)[0].score(1.0, 0.5)
        plain = search(values, LABELS, beam=3)
        second = rescored(plain, letters.totals([each.words for each in plain]), 1.0, 0.5)[0].score(1.0, 0.5)
        best = search(values, LABELS, BeamScorer(letters), 1.0, 0.5)[0].score(1.0, 0.5)
        assert max(first, second) <= best + 1e-9
        better += (first > second + 1e-9) - (first < second - 1e-9)
    assert better > 0


def test_generated_log_probs_are_of_their_text():
    sentences = [("the", "cat", "sees"), ("a", "bee")]
    labels = labels_of(sentences)
    assert labels[:2] == ["", " "]
    rng = np.random.default_rng(1)
    for words in sentences:
        values = noisy_log_probs(words, labels, rng, noise=0.5, confused=0.0)
        np.testing.assert_allclose(np.logaddexp.reduce(values, axis=1), 0, atol=1e-12)
        assert greedy(values, labels) == words
        assert search(values, labels, beam=5)[0].words == words
    worse = [greedy(noisy_log_probs(words, labels, rng, noise=3.0), labels) != words for words in sentences * 5]
    assert any(worse)
    assert len(noisy_log_probs((), labels, rng)) == 1


def test_pruned_searches_with_a_model_are_the_same_whatever_is_remembered(letters):
    """A state that was dropped during the search changes nothing."""
    values = log_probs(7, frames=12)
    searches = [
        search(values, LABELS, BeamScorer(letters, kept), 0.8, 0.3, beam=8, least=-4.0) for kept in (1, 3, 10_000)
    ]
    assert all(one == other for one, other in itertools.pairwise(searches))
