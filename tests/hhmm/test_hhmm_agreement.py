"""Scores of the HHMM do not depend on how the work is done: processes, order of the list, trie; at beams that prune.

Where nothing but the order of the work differs, values are the same to the last bit.
"""

import os
from dataclasses import dataclass

import numpy as np
import pytest

from rerank_adapters.features.extract import extract
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.processes import Processes
from rerank_plugins import FeatureExtractor
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.hhmm import successors
from rerank_plugins.hhmm.event_counts import counting_settings, train_empirical
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.hhmm.model_file import write_empirical
from rerank_plugins.hhmm.parser import HhmmParser

NARROW = 3  # stores
SENTENCES = [
    "The president meets the board on Friday .",
    "The president meets the board on the Friday .",
    "The presidents met with the board of the bank on Friday .",
    "The president , who met the board , said that the bank on the river had been sold on Friday .",
    "the the of , zzyzx 42 🙂 .",
    "The president",
    "",
    "The president meets the board on Friday .",
]
TREEBANK = """\
(ROOT (S (NP (DT the) (NN president)) (VP (VBZ meets) (NP (NP (DT the) (NN board)) (PP (IN on) (NP (NN Friday))))) (. .)))
(ROOT (S (NP (DT The) (NN president)) (VP (VP (VBZ meets) (NP (DT the) (NN board))) (PP (IN on) (NP (NNP Friday)))) (. .)))
(ROOT (S (NP (NP (DT The) (NN board)) (PP (IN of) (NP (NP (DT the) (NN bank)) (PP (IN on) (NP (DT the) (NN river)))))) (VP (VBZ meets) (PP (IN on) (NP (NNP Friday)))) (. .)))
"""


@pytest.fixture(scope="module", params=["grammar", "events"])
def path(request, tmp_path_factory):
    """A model of either estimation: the embedded grammar, events of two trees."""
    if request.param == "grammar":
        return None
    trees = list(read_trees(TREEBANK.splitlines()))
    file = tmp_path_factory.mktemp("model") / "events.hhmm"
    write_empirical(train_empirical([trees], [1.0], counting_settings("en")), file)
    return file


def lists(number):
    """Lists of hypotheses, each of other sentences and in another order."""
    rng = np.random.default_rng(1)
    return [
        NBestList(str(i), tuple(Hypothesis(SENTENCES[j]) for j in rng.permutation(len(SENTENCES))[: 4 + i % 4]))
        for i in range(number)
    ]


@dataclass(frozen=True)
class Where(FeatureExtractor):
    """The process that extracts."""

    def extract(self, nbest):
        return np.full((len(nbest), 1), float(os.getpid()))


@pytest.mark.release
def test_one_process_or_two(path, monkeypatch):
    monkeypatch.setattr("rerank_adapters.features.extract.ROWS_OF_FIRST_CHUNK", 10)
    monkeypatch.setattr("rerank_adapters.features.extract.MAX_ROWS_OF_CHUNK", 20)
    monkeypatch.setenv("RERANK_CACHE", "")
    features = {
        "narrow": HhmmLanguageModel(path, beam=NARROW),
        "wide": HhmmLanguageModel(path, beam=50),
        "where": Where(),
    }
    own = [Feature(label, extractor) for label, extractor in features.items()]
    one, two = (extract(lists(12), own, Processes(jobs)) for jobs in (1, 2))
    assert one[:, :-1].tobytes() == two[:, :-1].tobytes()
    assert len(set(one[:, -1])) == 1 < len(set(two[:, -1]))


@pytest.mark.parametrize("beam", [NARROW, 50])
def test_any_order_of_the_list(path, beam):
    feature = HhmmLanguageModel(path, beam=beam)
    values = feature.extract(NBestList("0", tuple(map(Hypothesis, SENTENCES))))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(SENTENCES))
        shuffled = feature.extract(NBestList("0", tuple(Hypothesis(SENTENCES[i]) for i in order)))
        assert shuffled.tobytes() == values[order].tobytes()


@pytest.mark.parametrize("beam", [NARROW, 50])
def test_prefix_trie_or_sentence_by_sentence(path, beam):
    model = HhmmLanguageModel(path, beam=beam)
    sentences = [tuple(sentence.split()) for sentence in SENTENCES]
    for sentence, together in zip(sentences, model.score(sentences), strict=True):
        state, alone = model.start(), []
        for word in sentence:
            ln_p, state = model.advance(state, word)
            alone.append(ln_p)
        assert together.tobytes() == np.array([*alone, model.finish(state)]).tobytes()


@pytest.mark.parametrize("beam", [NARROW, 50])
def test_any_amount_of_memory(path, beam, monkeypatch):
    """Tables that are doubled in the middle of a sentence, and lists of rules that are forgotten after every few."""
    sentences = [tuple(sentence.split()) for sentence in SENTENCES]
    scores = HhmmLanguageModel(path, beam=beam).score(sentences)
    monkeypatch.setattr(successors, "LISTS", 4)
    monkeypatch.setattr(successors, "ENTRIES", 1)
    model = HhmmLanguageModel(path, beam=beam)
    tables = model.hhmm.tables
    tables.search = tables.new_search(1)
    for ln_p, again in zip(scores, model.score(sentences), strict=True):
        assert ln_p.tobytes() == again.tobytes()
    assert len(tables.search.order) > 1
    assert tables.memory.state[successors.BASE] > 4  # forgotten more than once


@pytest.mark.slow
def test_keeping_entropies_or_derivations_changes_no_score(path):
    model = HhmmLanguageModel(path, beam=20)
    sentences = [tuple(sentence.split()) for sentence in SENTENCES if sentence]
    scores = model.score(sentences)
    for ln_p, measured in zip(scores, model.complexity(sentences), strict=True):
        np.testing.assert_array_equal(measured.surprisal, 0.0 - ln_p / np.log(2.0))
    parses = HhmmParser(path, beam=20).parse(sentences)
    again = HhmmParser(path, beam=20).parse(sentences[::-1])[::-1]
    assert parses == again
    for sentence, parse in zip(sentences, parses, strict=True):
        assert parse.constituents[0].tree.words() == sentence
    # A tree has classes of unknown words as its words, and not one type of each.
    for of_classes, parse in zip(
        HhmmLanguageModel(path, beam=20, unknown_types=1).score(sentences), parses, strict=True
    ):
        assert parse.constituents[0].log_probability <= of_classes.sum() + 1e-9


@pytest.mark.slow
def test_the_beams_here_do_prune(path):
    """Else the tests above would say little: a narrow beam leaves out what a wide one keeps."""
    sentences = [tuple(sentence.split()) for sentence in SENTENCES]
    narrow, wide = (HhmmLanguageModel(path, beam=beam, threshold=0.0).totals(sentences) for beam in (NARROW, 500))
    assert (narrow < wide - 1e-6).any()
