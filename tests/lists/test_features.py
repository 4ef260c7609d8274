import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestList
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.lists.decoder_order import DecoderScoreFeature, ReciprocalRankFeature
from rerank_plugins.lists.length import CharacterLengthFeature, LengthFeature
from rerank_plugins.ngram.features import OovCountFeature, read_words
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.translation.copied_words import LexicalOverlapFeature, UntranslatedFeature
from tests.ngram.naive_features import overlap, write_arpa

SENTENCES = st.lists(st.sampled_from(["a", "A", "b", "B", "Die", "die", "42", ","]), max_size=8).map(" ".join)


def one(texts, source=None, scores=None):
    hypotheses = (Hypothesis(t, score=None if scores is None else scores[i]) for i, t in enumerate(texts))
    return NBestList("7", tuple(hypotheses), source=source)


def test_lengths():
    nbest = one(["a bc d", "", "  x  yz "])
    np.testing.assert_array_equal(LengthFeature().extract(nbest)[:, 0], [3, 0, 2])
    np.testing.assert_array_equal(CharacterLengthFeature().extract(nbest)[:, 0], [4, 0, 3])


def test_decoder_score_and_rank():
    nbest = one(["a", "b"], scores=[-1.5, -2.0])
    np.testing.assert_array_equal(DecoderScoreFeature().extract(nbest), [[-1.5], [-2.0]])
    np.testing.assert_array_equal(ReciprocalRankFeature().extract(nbest), [[1.0], [0.5]])
    with pytest.raises(ConfigError, match="hypothesis 2 of segment 7 has no total"):
        DecoderScoreFeature().extract(one(["a", "b"], scores=[-1.0, None]))


def test_oov_count(tmp_path):
    (tmp_path / "words").write_text("a\nb 17\n\nc\r\n", encoding="utf-8")
    assert read_words(tmp_path / "words") == {"a", "b", "c"}
    extractor = OovCountFeature(words=tmp_path / "words")
    np.testing.assert_array_equal(extractor.extract(one(["a b c", "x a x", ""]))[:, 0], [0, -2, 0])
    assert OovCountFeature().extract(one(["the zzyzx"]))[0, 0] == -1
    lm = NgramLanguageModel(write_arpa(tmp_path / "lm.arpa"))
    assert OovCountFeature(lm=lm).extract(one(["the zebra zebra"]))[0, 0] == -2
    with pytest.raises(ValueError, match="not both"):
        OovCountFeature(lm=lm, words=tmp_path / "words")


def test_word_list_errors(tmp_path):
    with pytest.raises(FormatError, match=r"none: no such file"):
        OovCountFeature(words=tmp_path / "none").extract(one(["a"]))
    (tmp_path / "latin").write_bytes("Bär".encode("latin-1"))
    with pytest.raises(FormatError, match="latin:1: byte 2 of the line"):
        OovCountFeature(words=tmp_path / "latin").extract(one(["a"]))


def test_unigram():
    model = UnigramLanguageModel()
    values = UnigramLanguageModel().extract(one(["the cat", "", "zzyzx"]))
    total = model.ln("the") + model.ln("cat")
    unknown = model.ln("<unk>")
    np.testing.assert_allclose(values, [[total, total / 2], [0, unknown], [unknown, unknown]])
    once, twice = 95_655 - 55_503, 11_939  # types that occur once and twice among 8,579,699 tokens
    types = once + once * (once - 1) / (2 * (twice + 1))
    assert unknown == pytest.approx(math.log(once / types / 8_579_699))


@given(st.lists(SENTENCES, min_size=1, max_size=6), SENTENCES, st.booleans())
def test_overlap_agrees_with_crossing_out(texts, source, ignore_case):
    values = LexicalOverlapFeature(ignore_case=ignore_case).extract(one(texts, source))
    wanted = [overlap(text, source, ignore_case=ignore_case) for text in texts]
    np.testing.assert_allclose(values, wanted)
    assert ((values >= 0) & (values <= 1)).all()


@given(st.lists(SENTENCES, min_size=1, max_size=6), SENTENCES)
def test_untranslated_agrees_with_crossing_out(texts, source):
    words = [word for word in source.split() if word.isalpha()]
    wanted = [-round(overlap(text, " ".join(words))[1] * len(words)) for text in texts]
    np.testing.assert_array_equal(UntranslatedFeature().extract(one(texts, source))[:, 0], wanted)


def test_untranslated_options():
    source = "die Katze von Tom hat 42 Ideen ."
    nbest = one(["the katze of Tom has 42 Ideen ."], source)
    assert UntranslatedFeature().extract(nbest)[0, 0] == -3  # Katze, Tom, Ideen; not 42 nor the full stop
    assert UntranslatedFeature(ignore_case=False).extract(nbest)[0, 0] == -2
    assert UntranslatedFeature(names=False).extract(nbest)[0, 0] == 0
    assert UntranslatedFeature(lm=UnigramLanguageModel()).extract(nbest)[0, 0] == -2  # English has Tom, too


@pytest.mark.parametrize("extractor", [LexicalOverlapFeature(), UntranslatedFeature()])
def test_a_missing_source_is_named(extractor):
    with pytest.raises(ConfigError, match="segment 7 has none"):
        extractor.extract(one(["a"]))
    assert extractor.extract(NBestList("8", ())).shape == (0, len(extractor.components))


def test_options_that_do_not_go_together_name_their_table(tmp_path):
    names = Names(load_plugins(installed=False), Path(tmp_path))
    with pytest.raises(ConfigError, match=r"\[\[feature\]\] 1: language-model-ratio: give one of"):
        Spec.read("feature", {"use": "language-model-ratio"}, names, "[[feature]] 1").make()
