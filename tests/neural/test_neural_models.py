"""Causal, masked and translation models of transformers, tiny and with random weights: values, sharing, errors."""

from pathlib import Path

import numpy as np
import pytest

from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.neural.causal import causal_scores
from rerank_plugins.testing import check_feature_extractor, check_language_model
from tests.command_line import rerank
from tests.neural import naive_neural as naive
from tests.neural.tiny_models import TEXTS, build, needs_transformers, write_models

pytestmark = [pytest.mark.slow, needs_transformers]  # importing transformers and making the models takes seconds

WORDS = [text.split() for text in TEXTS]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `gpt2`, `qwen`, `bert`, `t5` and `bart` of models in float32."""
    return write_models(tmp_path_factory.mktemp("models"))


def opened(models: Path, name: str, kind: str):
    import transformers

    model = (
        getattr(transformers, f"AutoModelFor{kind}")
        .from_pretrained(models / name, local_files_only=True)
        .double()
        .eval()
    )
    return model, transformers.AutoTokenizer.from_pretrained(models / name, local_files_only=True)


@pytest.mark.parametrize(("name", "share"), [("gpt2", True), ("gpt2", False), ("qwen", True)])
def test_causal_scores_are_those_of_one_piece_at_a_time(models, name, share) -> None:
    lm = build("language_model", "neural-causal", model=models / name, batch_tokens=40, share_prefixes=share)
    assert lm._shares == share
    pair = opened(models, name, "CausalLM")
    for values, words in list(zip(lm.score(WORDS), WORDS, strict=True))[1:5]:
        np.testing.assert_allclose(values, naive.causal(*pair, words, 0, 0), atol=1e-9)


@pytest.mark.parametrize("whole_words", [False, True])
def test_masked_scores_are_those_of_one_copy_at_a_time(models, whole_words) -> None:
    lm = build("language_model", "neural-masked", model=models / "bert", whole_words=whole_words, batch_tokens=60)
    model, tokenizer = opened(models, "bert", "MaskedLM")
    for values, words in zip(lm.word_values(WORDS), WORDS, strict=True):
        wanted = naive.masked(model, tokenizer, words, whole_words=whole_words)
        np.testing.assert_allclose(values, wanted, atol=1e-9)
    np.testing.assert_allclose(lm.totals(WORDS), [values.sum() for values in lm.word_values(WORDS)])
    assert "cat" in lm
    assert "ж" not in lm


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_translation_scores_in_both_directions(models, name) -> None:
    feature = build("feature", "neural-translation", model=models / name, reverse_model=models / name,
                    batch_tokens=90)  # fmt: skip
    lists = [
        NBestList("0", tuple(Hypothesis(text) for text in (*TEXTS[3:6], TEXTS[3])), source="die Katze"),
        NBestList("1", (Hypothesis("the dog"),), source="ein Hund , der"),
    ]
    assert feature.components == ("direct", "direct_per_word", "reverse", "reverse_per_word")
    pair = opened(models, name, "Seq2SeqLM")
    for nbest, values in zip(lists, feature.extract_all(lists), strict=True):
        direct = np.array([naive.translation(*pair, nbest.source, text) for text in nbest.texts])
        reverse = np.array([naive.translation(*pair, text, nbest.source) for text in nbest.texts])
        words = [len(text.split()) + 1 for text in nbest.texts]
        wanted = np.stack([direct, direct / words, reverse, reverse / (len(nbest.source.split()) + 1)], axis=1)
        np.testing.assert_allclose(values, wanted, atol=1e-9)


def test_contracts(models) -> None:
    for use, name in (("neural-causal", "gpt2"), ("neural-masked", "bert")):
        check_language_model(build("language_model", use, model=models / name))
        check_feature_extractor(build("feature", use, model=models / name), tolerance=1e-9)
    check_feature_extractor(build("feature", "neural-translation", model=models / "t5"), tolerance=1e-9)


def test_a_piece_that_is_predicted_once_sums_to_one_over_the_vocabulary(models) -> None:
    lm = build("language_model", "neural-causal", model=models / "gpt2")
    scores = causal_scores(lm._opened, [[5, 9, piece] for piece in range(300)], 0, 0, 512, share=True)
    assert sum(np.exp(values[2]) for values in scores) == pytest.approx(1)


def test_a_sentence_beyond_the_limit_is_read_in_windows(models) -> None:
    """The limit of `gpt2` is 48 pieces: the first 48 have all before them, the others between 24 and 47."""
    lm = build("language_model", "neural-causal", model=models / "gpt2")
    ids = np.random.default_rng(3).integers(2, 300, 110).tolist()
    values = causal_scores(lm._opened, [ids], 0, 0, 512, share=True)[0]
    model, _ = opened(models, "gpt2", "CausalLM")
    read, predicted = [0, *ids], [*ids, 0]
    for at in (0, 20, 47, 48, 71, 72, 100, 110):
        end = min(len(read), 48 + 24 * max(0, -(-(at + 1 - 48) // 24)))
        wanted = naive.distribution(model, read[max(0, end - 48) : at + 1], -1)[predicted[at]]
        assert values[at] == pytest.approx(float(wanted), abs=1e-9), at


@pytest.mark.parametrize(
    ("folder", "options", "error", "message"),
    [
        ("none", {}, ModelError, "no config.json"),
        ("bert", {}, ModelError, "wanted a causal one"),
        ("t5", {}, ModelError, "CausalLM"),
        ("gpt2", {"device": "cuda:77"}, ConfigError, "cannot be used"),
    ],
)
def test_errors_are_one_line(models, folder, options, error, message) -> None:
    lm = build("language_model", "neural-causal", model=models / folder, **options)
    with pytest.raises(error, match=message) as raised:
        lm.score([["a"]])
    assert "\n" not in str(raised.value)


def test_the_commands_know_them(models, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("the cat sat\nthe dog\n", encoding="utf-8")
    ran = rerank("lm", "surprisal", tmp_path / "text", "-M", f"neural-causal,model={models / 'gpt2'}")
    assert ran.code == 0, ran.err
    words = [line.split("\t")[2] for line in ran.out.splitlines()[1:]]
    assert words == ["the", "cat", "sat", "</s>", "the", "dog", "</s>"]
    ran = rerank("lm", "surprisal", tmp_path / "text", "-M", f"neural-masked,model={models / 'bert'}")
    assert ran.code == 2
    assert "no probabilities of single words" in ran.err
