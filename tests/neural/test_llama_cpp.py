"""The language model `llama-cpp` against a slow twin, by a stand-in for llama-cpp-python; and what it refuses."""

import sys

import numpy as np
import pytest

from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.neural.llama_cpp import LlamaCppLanguageModel
from rerank_plugins.testing import check_feature_extractor, check_language_model
from tests.neural import fake_llama
from tests.neural.tiny_gguf import write_gguf

SENTENCES = [["the", "cat", "sat"], [], ["a"], ["étude", "in", "é", "."], ["the", "cat", "sat"], ["the", "cat"]]


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "m.gguf").write_bytes(b"")

    def made(faults=(), **options):
        monkeypatch.setitem(sys.modules, "llama_cpp", fake_llama.module(**dict(faults)))
        return LlamaCppLanguageModel(tmp_path / "m.gguf", **options)

    return made


def naive(words, prompt="\n", end="\n", begins=True, space=b""):
    """(words + 1) ln p of each word, one token at a time, the place of each token counted in bytes."""
    made = fake_llama.Llama("", 512, 8, logits_all=True, verbose=False)
    made.begins, made.space = begins, space
    parts = [prompt.encode(), *(b" " * (at > 0) + word.encode() for at, word in enumerate(words)), end.encode()]
    owners = [number - 1 for number, part in enumerate(parts) for _ in part]
    tokens = made.tokenize(b"".join(parts))
    scores, at = np.zeros(len(words) + 1), -len(space)
    for number, token in enumerate(tokens):
        if not token:
            continue
        at += len(fake_llama.PIECES[token])
        if at > 0 and owners[at - 1] >= 0:
            logits = fake_llama.logits_after(tokens[:number]).astype(np.float64)
            scores[owners[at - 1]] += logits[token] - np.log(np.exp(logits).sum())
    return scores


@pytest.mark.parametrize("begins", [True, False])
@pytest.mark.parametrize("space", [b"", b" "])
def test_values_are_those_of_one_token_at_a_time(model, begins, space):
    own = model({"begins": begins, "space": space}, prompt="Text:\\n")
    scores = own.score(SENTENCES)
    for values, words in zip(scores, SENTENCES, strict=True):
        np.testing.assert_allclose(values, naive(words, "Text:\n", begins=begins, space=space), atol=1e-5)
    np.testing.assert_allclose(own.values(SENTENCES)[:, 0], [values.sum() for values in scores])


def test_shared_beginnings_are_read_once(model):
    prompt = "Deutsch: {source}\\nEnglish:\\n"
    nbest = NBestList(
        "0", (Hypothesis("the cat sat"), Hypothesis("the cat"), Hypothesis("the man")), source="die  Katze"
    )
    for recurrent in (False, True):
        own = model({"recurrent": recurrent}, prompt=prompt, end="")
        opened = own._opened
        assert opened.shares is not recurrent
        opened.read = 0
        values = own.extract(nbest)
        before = "Deutsch: die Katze\nEnglish:\n"
        wanted = [naive(text.split(), before, "").sum() for text in nbest.texts]
        np.testing.assert_allclose(values[:, 0], wanted, atol=1e-5)
        lengths = [len(opened.llama.tokenize((before + text).encode())) for text in nbest.texts]
        assert opened.read == (
            lengths[0] + 1 if not recurrent else sum(lengths)
        )  # " sat", " cat" and " man" are tokens


def test_contracts(model):
    check_language_model(model())
    check_feature_extractor(model())


@pytest.mark.parametrize(
    ("faults", "options", "sentence", "message"),
    [
        ({"fault": "file"}, {}, "a", "llama.cpp cannot read it: Failed to load model from file"),
        ({"fault": "spelling"}, {}, "a", "tokens do not spell the text"),
        ({"fault": "order"}, {}, "a", "words of a text in another order have the same ln p"),
        ({}, {"context": 128}, "a " * 200, "a text of .* tokens, wanted at most 128: set 'context'"),
        ({"begins": False}, {"prompt": ""}, "a", "there is no ln p for some tokens of a text: set 'prompt'"),
    ],
)
def test_what_would_be_wrong_is_refused_in_one_line(model, faults, options, sentence, message):
    with pytest.raises(ModelError, match=message) as raised:
        model(faults, **options).score([sentence.split()])
    assert "\n" not in str(raised.value)


def test_what_is_missing_is_said(model, tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="only hypotheses of lists with sources"):
        model(prompt="{source}").score([["a"]])
    with pytest.raises(ConfigError, match="segment 2 has no source sentence"):
        model(prompt="{source}").extract(NBestList("2", (Hypothesis("a"),)))
    own = model()
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ModelError, match="needs llama_cpp, which is not installed: pip install llama-cpp-python"):
        own.score([["a"]])
    with pytest.raises(ModelError, match=r"none\.gguf: there is no such file"):
        LlamaCppLanguageModel(tmp_path / "none.gguf").score([["a"]])


@pytest.mark.parametrize("space", [False, True])
def test_values_are_those_that_the_library_reports(space, tmp_path):
    """By the log probabilities of an echoed prompt, with a tiny model of random weights."""
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    pytest.importorskip("gguf", reason="gguf is not installed")
    write_gguf(tmp_path / "m.gguf", space=space)
    own = LlamaCppLanguageModel(tmp_path / "m.gguf", context=128)
    assert own._opened.shares
    texts = ["\n" + " ".join(words) + "\n" for words in SENTENCES]
    for found, text in zip(own.given(texts), texts, strict=True):
        llama = own._opened.llama
        llama.reset()
        answer = llama.create_completion(text, echo=True, logprobs=1, max_tokens=1, temperature=0)
        wanted = answer["choices"][0]["logprobs"]["token_logprobs"]  # of the tokens after that of the beginning
        assert found.ends[-1] == len(text)
        np.testing.assert_allclose(found.ln_p[2:], wanted[1 : len(found.ln_p) - 1], atol=1e-4)
    with pytest.raises(ModelError, match="wanted at most 128: set 'context'"):
        own.score([["abc"] * 60])
