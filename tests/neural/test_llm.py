"""Ln p by servers on the loopback: values against a slow twin, refusals of those that would lie, keys, failures."""

import json
import pickle
import sys
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList
from rerank_plugins.core.identity import describe
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.neural import completions_server
from rerank_plugins.neural.given_text import token_ends
from rerank_plugins.neural.llm import ServerLanguageModel
from rerank_plugins.testing import check_feature_extractor, check_language_model
from tests.command_line import rerank
from tests.neural.loopback_servers import Behaviour, ln_p, serving, tokens_of

SENTENCES = [["the", "cat", "sat"], [], ["a"], ["étude", "in", "é", "."], ["the", "cat", "sat"]]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(completions_server, "BACKOFF", 0.001)


def naive(words, start="<s>", prompt="\n", end="\n"):
    """(words + 1) ln p of the characters of each word, one token at a time."""
    text = prompt + " ".join(words) + end
    owners = [-1] * len(prompt)
    for number, word in enumerate(words):
        owners += [number] * (len(word) + (number > 0))
    owners += [len(words)] * len(end)
    scores, before, at = np.zeros(len(words) + 1), [start] if start else [], 0
    for token in tokens_of(text):
        at += len(token)
        if owners[at - 1] >= 0:
            scores[owners[at - 1]] += ln_p(before, token)
        before.append(token)
    return scores


@pytest.mark.parametrize("start", ["<s>", ""])
def test_values_are_those_of_one_token_at_a_time(start):
    with serving(Behaviour(start=start)) as url:
        model = ServerLanguageModel("m", url, "Text:\\n", batch=2, at_once=3)
        scores = model.score(SENTENCES)
        for values, words in zip(scores, SENTENCES, strict=True):
            np.testing.assert_allclose(values, naive(words, start, "Text:\n"), atol=1e-12)
        np.testing.assert_allclose(model.values(SENTENCES)[:, 0], [values.sum() for values in scores])
        assert model.values(SENTENCES)[0, 1] == pytest.approx(scores[0].sum() / 4)


def test_the_value_is_ln_p_of_the_hypothesis_given_the_prompt_with_the_source():
    prompt = "Deutsch: {source}\\nEnglish:\\n"
    nbests = [
        NBestList("0", (Hypothesis("the cat"), Hypothesis("a cat"), Hypothesis("the cat")), source="die  Katze"),
        NBestList("1", (Hypothesis("the cat"),), source="ein Hund"),
    ]
    behaviour = Behaviour()
    with serving(behaviour) as url:
        model = ServerLanguageModel("m", url, prompt=prompt, end="")
        values = model.extract_all(nbests)
        for nbest, of_list in zip(nbests, values, strict=True):
            before = f"Deutsch: {' '.join(nbest.source.split())}\nEnglish:\n"
            wanted = [naive(text.split(), prompt=before, end="").sum() for text in nbest.texts]
            np.testing.assert_allclose(of_list[:, 0], wanted, atol=1e-12)
            np.testing.assert_allclose(of_list[:, 1], np.array(wanted) / 3, atol=1e-12)
        texts = [text for _, request, _ in behaviour.requests for text in request["prompt"] if "Deutsch" in text]
        assert len(texts) == 3  # equal pairs are scored once
        assert [len(scores) for scores in model.word_scores(nbests[0])] == [3, 3, 3]
        with pytest.raises(ConfigError, match="only hypotheses of lists with sources"):
            model.score([["a"]])
        with pytest.raises(ConfigError, match="segment 2 has no source sentence"):
            model.extract(NBestList("2", (Hypothesis("a"),)))


def test_contracts():
    with serving(Behaviour()) as url:
        model = Spec.read(
            "language_model", {"use": "llm", "model": "m", "url": url}, Names(load_plugins(installed=False))
        ).make()
        check_language_model(model)
        check_feature_extractor(model)


@pytest.mark.parametrize(
    ("kind", "fault", "message"),
    [
        ("chat", "", "0 tokens that do not spell the given text.*must support `echo` with `logprobs`"),
        ("generated", "", "1 tokens that do not spell the given text"),
        ("given", "order", "the words of a text in another order have the same ln p"),
        ("given", "zeros", "the words of a text in another order have the same ln p, 0"),
        ("given", "noise", "another ln p when it is scored again"),
        ("given", "later", "changes with the words after it"),
        ("given", "positive", "wanted finite numbers of at most 0"),
        ("given", "text", "wanted a completion in JSON"),
    ],
)
def test_a_server_that_would_lie_is_refused_in_one_line(kind, fault, message):
    with serving(Behaviour(kind, fault=fault)) as url:
        with pytest.raises(ModelError, match=message) as raised:
            ServerLanguageModel("m", url).score([["a", "cat"]])
        assert "\n" not in str(raised.value)
        assert url in str(raised.value)


def test_a_busy_server_and_one_that_closes_connections_are_asked_again():
    for kind in ("given", "dying"):
        behaviour = Behaviour(kind)
        behaviour.failures = 3
        with serving(behaviour) as url:
            np.testing.assert_allclose(ServerLanguageModel("m", url).score([["a"]])[0], naive(["a"]))
        assert behaviour.failures == 0


@pytest.mark.parametrize(
    ("kind", "message"),
    [("given", "429: slow down"), ("dying", "no answer after 3 trials"), ("moved", "302")],
)
def test_a_server_that_stays_broken_is_an_error_of_one_line(kind, message):
    behaviour = Behaviour(kind)
    behaviour.failures = 1000
    with serving(behaviour) as url, pytest.raises(ModelError, match=message) as raised:
        ServerLanguageModel("m", url, retries=2).score([["a"]])
    assert "\n" not in str(raised.value)


def test_a_server_that_is_not_there_or_slow_is_named():
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9/v1: no answer after 2 trials"):
        ServerLanguageModel("m", "http://127.0.0.1:9/v1", retries=1).score([["a"]])
    with serving(Behaviour(fault="slow")) as url, pytest.raises(ModelError, match="no answer after 1 trial:"):
        ServerLanguageModel("m", url, timeout=0.1, retries=0).score([["a"]])


def test_requests_are_sent_at_once_and_bounded():
    behaviour = Behaviour()
    with serving(behaviour) as url:
        ServerLanguageModel("m", url, at_once=4, batch=1).score([[f"w{number}"] for number in range(20)])
    assert 2 <= behaviour.most <= 4


def test_the_key_is_sent_and_shown_nowhere(monkeypatch):
    monkeypatch.setenv("RERANK_LLM_KEY", "secret-123")
    with serving(Behaviour(key="secret-123")) as url:
        model = ServerLanguageModel("m", url)
        model.score([["a"]])
        for shown in (repr(model), json.dumps(describe(model)), repr(model._server)):
            assert "secret" not in shown
        assert b"secret" not in pickle.dumps(model)
    with serving(Behaviour(key="other")) as url, pytest.raises(ModelError, match="401: wrong key") as raised:
        ServerLanguageModel("m", url).score([["a"]])
    assert "secret" not in str(raised.value)
    echoed = Behaviour(key="secret-123")
    echoed.answer = lambda path, request: {"key": "Bearer secret-123"}
    with serving(echoed) as url, pytest.raises(ModelError, match="wanted a completion") as raised:
        ServerLanguageModel("m", url).score([["a"]])
    assert "secret" not in str(raised.value)
    for wrong in ("http://me:secret@localhost/v1", "http://localhost/v1?key=secret"):
        with pytest.raises(ConfigError, match="the key belongs in the environment") as raised:
            ServerLanguageModel("m", wrong)
        assert "secret" not in str(raised.value)
    with pytest.raises(ConfigError, match="wanted an address"):
        ServerLanguageModel("m", "localhost:8000")


def test_values_belong_to_the_model_and_not_to_the_server():
    one, other = ServerLanguageModel("m", "http://a/v1"), ServerLanguageModel("m", "http://b/v1", at_once=1, retries=0)
    assert describe(one) == describe(other)
    assert describe(one) != describe(ServerLanguageModel("n", "http://a/v1"))
    assert describe(one) != describe(ServerLanguageModel("m", "http://a/v1", prompt="x"))


@pytest.mark.slow
def test_an_interrupted_extraction_goes_on(tmp_path, monkeypatch):
    """The first chunks of values are kept when the server dies, and are not asked for again."""
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    lines = [f"{segment} ||| word{segment} number {n} ||| F= 1 ||| 1\n" for segment in range(40) for n in range(5)]
    (tmp_path / "test.nbest").write_text("".join(lines), encoding="utf-8")
    behaviour = Behaviour()
    with serving(behaviour) as url:
        options = f"llm,model=m,url={url},retries=0,batch=1,at_once=1"
        asked = ("extract", tmp_path / "test.nbest", "-f", options, "-o", tmp_path / "test.npz", "-j", 1)
        answer = Behaviour.answer

        def dying(self, path, request):
            if len(self.requests) > 150:
                raise OSError
            return answer(self, path, request)

        monkeypatch.setattr(Behaviour, "answer", dying)
        ran = rerank(*asked)
        assert ran.code == 2, ran.err
        first = {text for _, request, _ in behaviour.requests for text in request["prompt"]}
        monkeypatch.setattr(Behaviour, "answer", answer)
        behaviour.requests.clear()
        ran = rerank(*asked)
        assert ran.code == 0, ran.err
        second = [request["prompt"][0] for _, request, _ in behaviour.requests if "word" in request["prompt"][0]]
    assert len(first) > 100
    assert 0 < len(second) <= 140


@pytest.mark.parametrize(
    ("tokens", "text", "wanted"),
    [
        (["<s>", "\n", "The", " cat", " x"], "\nThe cat", [0, 1, 4, 8]),
        (["▁the", "▁cat"], "the cat", [3, 7]),
        (["▁", "<0x0A>", "a"], "\na", [1, 1, 2]),
        (["a", "�", "�", " b"], "aé b", [1, 2, 2, 4]),
        (["a", "", "é", " b"], "aé b", [1, 2, 2, 4]),
        (["<|begin|>", "a"], "a", [0, 1]),
        ([" x"], "\nThe cat", [0]),
        ([], "a", []),
    ],
)
def test_places_of_tokens(tokens, text, wanted):
    assert token_ends(tokens, text) == wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["choices", "index", "logprobs", "tokens", "token_logprobs"]), inner)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def arbitrary():
    """A server, and the list of which it sends the last item."""
    behaviour, answers = Behaviour(), []
    behaviour.answer = lambda path, request: answers[-1]
    with serving(behaviour) as url:
        yield url, answers


@given(answer=st.dictionaries(st.just("choices"), JSON))
def test_no_answer_raises_anything_else(arbitrary, answer):
    url, answers = arbitrary
    answers.append(answer)
    with suppress(ModelError):
        ServerLanguageModel("m", url).score([["a", "b"]])


def test_without_urllib3_the_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(ModelError, match="needs urllib3, which is not installed: pip install urllib3"):
        ServerLanguageModel("m").score([["a"]])
