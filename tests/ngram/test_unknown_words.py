"""An unknown word has the share of one type of the probability of `<unk>`, by every way to score it."""

import math

import numpy as np
import pytest

from rerank_plugins.kit.vocabulary.unknown_types import types_of_signatures
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, UNK, TextCollector, Vocabulary
from rerank_plugins.ngram.kenlm_binary import KenlmBinary
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.mixture import MixtureLanguageModel
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.trainer import write_arpa
from rerank_plugins.ngram.training import NgramSettings, train
from tests.command_line import done, refused
from tests.conftest import ROOT

LINES = ["the cat saw the dog", "the dog saw a bird", "a cow saw the cat", "the owl saw the dog", "a fox sat"] * 2 + [
    "the lynx ran", "the gnu ran", "the yak sat", "an emu sat"
]  # fmt: skip
SENTENCES = [["the", "lynx", "saw", "zzgrblx"], [], ["dog", "</s>", "cat"], ["the", "cat"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model whose words occur twice or more, one of all words, and the first one as an ARPA file."""
    folder = tmp_path_factory.mktemp("models")
    cut = train([("text", LINES)], NgramSettings(3, min_count=2)).ngrams
    cut.save(folder / "cut.ngram")
    write_arpa(cut, folder / "cut.arpa")
    train([("text", LINES)], NgramSettings(3)).ngrams.save(folder / "all.ngram")
    return folder


def unknown_words(sentences, model):
    number_of = model.ngrams.vocabulary.number_of
    return np.array([sum(number_of(word) == UNK for word in words) for words in sentences])


def test_the_types_are_counted_and_estimated(files):
    counts = {}
    for line in LINES:
        for word in line.split():
            counts[word] = counts.get(word, 0) + 1
    once, twice = (sum(count == n for count in counts.values()) for n in (1, 2))
    assert once == 5  # lynx, gnu, yak, an, emu
    wanted = once + round(once * (once - 1) / (2 * (twice + 1)))
    assert NgramModel.load(files / "cut.ngram").unknown_types == wanted > once
    assert NgramModel.load(files / "all.ngram").unknown_types == 1  # a share of the uniform distribution, as KenLM's


def test_a_mark_in_a_sentence_is_an_unknown_word(files, kenlm):
    models = [NgramLanguageModel(files / "cut.ngram"), NgramLanguageModel(ROOT / "tests" / "golden" / "corpus.kenlm")]
    for model in models:
        for mark in ("<s>", "</s>"):
            assert mark not in model
            marked, unknown = ["the", mark, "cat"], ["the", "zz", "cat"]
            np.testing.assert_array_equal(*model.score([marked, unknown]))
            np.testing.assert_array_equal(*model.totals([marked, unknown]))
            np.testing.assert_array_equal(*model.values([marked, unknown]))
            assert model.advance(model.start(), mark)[0] == model.advance(model.start(), "zz")[0]


def test_a_vocabulary_without_marks_knows_all_its_words():
    """As that of dependency trees, whose first words have the numbers that the marks have elsewhere."""
    vocabulary = Vocabulary(("<unk>", "hill", "mr"))
    assert [word in vocabulary for word in ("hill", "mr", "<unk>", "<s>", "</s>")] == [True, True, False, False, False]


@pytest.mark.parametrize("state", [[], ["the"], ["the", "lynx"], ["saw", "the", "dog"]], ids=" ".join)
def test_the_known_words_and_all_types_sum_to_one(files, state):
    model = NgramLanguageModel(files / "cut.ngram")
    words = [word for i, word in enumerate(model.ngrams.vocabulary.words) if i not in (UNK, BOS, EOS)]
    scored = model.score([[*state, word] for word in [*words, "zzgrblx"]])
    p = np.exp([ln_p[len(state)] for ln_p in scored])
    end = math.exp(model.score([state])[0][-1])
    assert p[:-1].sum() + end + model.ngrams.unknown_types * p[-1] == pytest.approx(1, abs=1e-6)
    ln_unigrams = model.unigram_scores([[*words, "zzgrblx"]])[0]
    sums = np.exp(ln_unigrams)
    assert sums.sum() + (model.ngrams.unknown_types - 1) * sums[-2] == pytest.approx(1)


def test_all_ways_of_scoring_agree(files):
    model, whole = (NgramLanguageModel(files / "cut.ngram", types) for types in (None, 1))
    types = model.ngrams.unknown_types
    wanted = whole.totals(SENTENCES) - np.log(types) * unknown_words(SENTENCES, model)
    np.testing.assert_allclose(model.totals(SENTENCES), wanted)
    np.testing.assert_allclose([scores.sum() for scores in model.score(SENTENCES)], wanted)
    for sentence, total in zip(SENTENCES, wanted, strict=True):
        state, steps = model.start(), 0.0
        for word in sentence:
            (step,), (state,) = model.advance_all([state], [word])
            steps += step
        assert steps + model.finish(state) == pytest.approx(total)
    mixture = MixtureLanguageModel((model, NgramLanguageModel(files / "all.ngram")), (0.5, 0.5))
    own, other = (np.exp(lm.score([["lynx"]])[0][0]) for lm in mixture.models)
    assert math.exp(mixture.score([["lynx"]])[0][0]) == pytest.approx((own + other) / 2)


def test_an_arpa_file_has_one_type_unless_the_option_gives_their_number(files):
    arpa, model = files / "cut.arpa", NgramLanguageModel(files / "cut.ngram")
    types = model.ngrams.unknown_types
    whole = NgramLanguageModel(files / "cut.ngram", 1).totals(SENTENCES)
    np.testing.assert_allclose(NgramLanguageModel(arpa).totals(SENTENCES), whole, rtol=1e-5)
    np.testing.assert_allclose(NgramLanguageModel(arpa, types).totals(SENTENCES), model.totals(SENTENCES), rtol=1e-5)
    with pytest.raises(ValueError, match="unknown_types = 0: wanted 1 or more"):
        NgramLanguageModel(arpa, 0)


def test_kenlm_agrees_by_default_and_takes_the_option(kenlm, files):
    arpa, sentences = files / "cut.arpa", [words for words in SENTENCES if "</s>" not in words]
    for types in (1, 50):
        binary, own = KenlmBinary(arpa, types), NgramLanguageModel(arpa, types)
        np.testing.assert_allclose(binary.totals(sentences), own.totals(sentences), atol=1e-4)
        np.testing.assert_allclose([s.sum() for s in binary.score(sentences)], own.totals(sentences), atol=1e-4)
        assert binary.advance(binary.start(), "lynx")[0] == pytest.approx(own.advance(own.start(), "lynx")[0], abs=1e-4)


def test_a_model_without_the_number_has_one_type(files, tmp_path):
    ngrams = NgramModel.load(files / "cut.ngram")
    settings = {name: value for name, value in ngrams.settings.items() if name != "unknown_types"}
    NgramModel(ngrams.vocabulary, ngrams.tables, settings).save(tmp_path / "without.ngram")
    without, whole = NgramLanguageModel(tmp_path / "without.ngram"), NgramLanguageModel(files / "cut.ngram", 1)
    assert without.totals(SENTENCES).tolist() == whole.totals(SENTENCES).tolist()


def test_the_trainer_says_the_number_and_options_are_checked(files, tmp_path):
    (tmp_path / "text").write_text("\n".join(LINES) + "\n")
    result = done("train", "ngram", tmp_path / "text", "--min-count", "2", "-o", tmp_path / "lm")
    types = NgramModel.load(files / "cut.ngram").unknown_types
    assert (
        f"5 words (8.62%) are unknown, because the vocabulary is cut off; <unk> stands for {types} types" in result.err
    )
    assert "unknown_types = 0: wanted 1 or more" in refused(
        "lm", "score", tmp_path / "text", "-M", f"ngram-lm,model={tmp_path / 'lm'},unknown_types=0"
    )


def test_the_embedded_model_prefers_a_word_to_a_non_word():
    lynx, non_word = NgramLanguageModel().totals(
        [f"the veterinarian examined the {word} .".split() for word in ("lynx", "zzgrblx")]
    )
    assert lynx > non_word


def test_signatures_stand_for_their_own_types():
    counts = {("cat", False): 9, ("cat", True): 1, ("Owl", True): 1, ("yaks", False): 1, ("bats", False): 1}
    assert types_of_signatures(counts, {"cat", "UNK", "UNK-LC-s", "UNK-LC"}) == {"UNK-LC-s": 3, "UNK": 1}


def test_a_text_may_have_more_words_than_there_is_room_for_at_first():
    collector = TextCollector()
    collector.add([" ".join(f"w{i}" for i in range(70_000)), "w0 w69999"])
    vocabulary, tokens, counts = collector.finish(min_count=2)
    assert vocabulary.words[3:] == ("w0", "w69999")
    assert counts.tolist() == [69_998, 2, 2, 2, 2]
    assert np.bincount(tokens).tolist() == [69_998, 0, 2, 2, 2]
