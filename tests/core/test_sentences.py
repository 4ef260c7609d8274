"""A text is refused wherever a sentence, a sequence of words, is wanted; so are other things than n-best lists."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from rerank_adapters import Pipeline, Reranker, evaluate
from rerank_adapters.features.extract import extract
from rerank_adapters.features.feature import Feature
from rerank_plugins import FeatureExtractor, LanguageModel, NBestList, Parse, Parser
from rerank_plugins.core.nbest import Hypothesis
from rerank_plugins.core.sentences import check_sentences
from rerank_plugins.similarity.measures.table import Measures
from tests.test_documentation import REGISTRY

TEXTS = ("the dog sleeps", ["the dog sleeps"], ("a b", ("c",)))
WORDS = [["the", "dog", "sleeps"], ("a",), []]
METHODS = ("totals", "score", "values", "word_values", "unigram_scores")
LIST = NBestList("1", (Hypothesis("the dog"), Hypothesis("a dog")))


def embedded(kind):
    without = ("language-model-ratio", "neural-translation")  # which need one of several options
    entries = REGISTRY.entries[kind].items()
    return [name for name, entry in entries if not entry.needs_options and name not in without]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", embedded("language_model"))
def test_language_models_refuse_texts(name, text):
    model = REGISTRY.get("language_model", name).factory()
    for method in METHODS:
        if hasattr(model, method):
            with pytest.raises(TypeError, match="sentence"):
                getattr(model, method)(text)
            with pytest.raises(TypeError, match="sentence"):
                getattr(model, method)(sentences=text)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", embedded("parser"))
def test_parsers_refuse_texts(name, text):
    with pytest.raises(TypeError, match="sentence"):
        REGISTRY.get("parser", name).factory().parse(text)


@pytest.mark.parametrize("name", embedded("feature"))
def test_an_extraction_refuses_other_things_than_lists(name):
    feature = Feature(name, REGISTRY.get("feature", name).factory())
    for wrong in ("the dog", LIST, ["the dog"], [[LIST]]):
        with pytest.raises(TypeError, match=r"n-best|NBestList"):
            extract(wrong, [feature])


@dataclass
class Other(LanguageModel):
    """A plugin of somebody else, who calls the argument as he likes."""

    def score(self, of):
        return [np.zeros(len(words) + 1) for words in of]

    def __contains__(self, word):
        return True


class OtherParser(Parser):
    def parse(self, texts):
        return [Parse() for _ in texts]


class OtherFeature(FeatureExtractor):
    def extract(self, hypotheses):
        return np.zeros((len(hypotheses), 1))


def test_plugins_of_others_are_checked_too():
    other = pickle.loads(pickle.dumps(Other()))
    for text in TEXTS:
        for method in (other.score, other.totals, other.values, OtherParser().parse):
            with pytest.raises(TypeError, match="sentence"):
                method(text)
    with pytest.raises(TypeError, match="NBestList"):
        extract([["the dog"]], [Feature("other", OtherFeature())])
    assert other.totals(WORDS).tolist() == [0, 0, 0]
    assert OtherFeature().extract_all([LIST])[0].shape == (2, 1)


def test_measures_refuse_texts():
    with pytest.raises(TypeError, match="a sentence is a sequence of words"):
        Measures().columns([("the dog", "a dog")])


def test_the_python_interface_takes_lists():
    with pytest.raises(TypeError, match="NBestList"):
        Pipeline("length").transform(["the dog"])
    with pytest.raises(TypeError, match="n-best lists"):
        Pipeline("length").transform(LIST)
    with pytest.raises(TypeError, match="system 'a': wanted a list of outputs"):
        evaluate({"a": "the dog"}, "references.txt")
    with pytest.raises(TypeError, match="expected a sequence of texts, found a single text"):
        Reranker.rerank(object(), "the dog")  # before anything of the reranker is used


def test_sentences_of_other_types_pass():
    check_sentences(WORDS)
    check_sentences(iter(["any"]))
    check_sentences([np.array(["a", "b"])])
