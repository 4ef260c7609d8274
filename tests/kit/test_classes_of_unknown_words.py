"""Grammars and models of trees: an unknown word has the share of one type of its signature's probability."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.constituency.model_file import read_grammar, write_grammar
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, train_grammar
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.hhmm.model import EXCESS
from rerank_plugins.kit.vocabulary.signatures import known_form
from rerank_plugins.kit.vocabulary.unknown_types import unseen_types
from rerank_plugins.svs.clustering import Clustering
from rerank_plugins.svs.model import read_model as read_svs
from rerank_plugins.svs.model import write_model as write_svs
from rerank_plugins.svs.parsing import SvsParser
from rerank_plugins.svs.training import SvsSettings, train_svs
from rerank_plugins.treelet import headlex, training
from rerank_plugins.treelet.headlex import write_model as write_headlex
from rerank_plugins.treelet.language_model import HeadlexLanguageModel, TreeletLanguageModel
from rerank_plugins.treelet.model import Settings
from rerank_plugins.treelet.model import write_model as write_treelet
from rerank_plugins.treelet.slr import SlrFeature

NOUNS = ["dog", "cat", "dog", "cat", "cow", "cow", "owls", "owls", "yaks", "bats", "lynx", "emu", "gnu", "Ann"]
TREES = [
    *read_trees([f"(ROOT (S (NP (DT the) (NN {noun})) (VP (VBD saw) (NP (DT a) (NN dog)))))" for noun in NOUNS]),
    *read_trees(["(ROOT (S (NP (NN Zebras)) (VP (VBD saw) (NP (DT the) (NN cat)))))", "(ROOT (S (VP (VBD saw))))"]),
]
SENTENCES = [("the", "zzgrblx", "saw", "a", "dog"), ("Wombats", "saw", "the", "gnu"), ("the", "dog", "saw"), ()]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Models of these trees, in which words that occur once have become signatures."""
    folder = tmp_path_factory.mktemp("models")
    whole = Schedule(rounds=0)
    write_grammar(train_grammar([TREES], [1.0], GrammarSettings("en", schedule=whole)), folder / "right.pcfg")
    write_grammar(train_grammar([TREES], [1.0], GrammarSettings("en", "left", schedule=whole)), folder / "left.pcfg")
    write_treelet(training.train(training.collect(TREES, Settings()), Settings()), folder / "treelet")
    write_headlex(headlex.train(headlex.collect(TREES), headlex.Settings()), folder / "headlex")
    settings = SvsSettings("en", (), 1, 5, Clustering(2, 2, 1, 1))
    write_svs(train_svs([TREES], [1.0], settings), folder / "model.svs")
    return folder


def words_with_types(lexicon):
    """The words and signatures of a lexicon, each with the number of types that it stands for."""
    return [(word, lexicon.unknown_types.get(word, 1)) for word in lexicon.words]


def test_the_types_of_a_signature_are_counted_and_estimated(files):
    lexicon = read_grammar(files / "right.pcfg").lexicon
    counts = Counter((word, place == 0) for tree in TREES for place, word in enumerate(tree.words()))
    totals = Counter(word for tree in TREES for word in tree.words())
    of_class = {(word, first): known_form(word, 0 if first else 1, lexicon.index) for word, first in counts}
    for form in ("UNK-LC-s", "UNK-LC", "UNK-CAPS", "UNK-INITC-s"):
        ones = sum(form == of and totals[word] == 1 for (word, _), of in of_class.items())
        twos = {"UNK-LC-s": 1, "UNK-LC": 1}.get(form, 0)  # owls; cow
        assert lexicon.unknown_types[form] == ones + round(unseen_types(ones, twos)), form
    assert lexicon.unknown_types["UNK-LC"] == 5  # lynx, emu and gnu, and 1.5 more
    assert np.exp(lexicon.ln_types).sum() == pytest.approx(sum(types for _, types in words_with_types(lexicon)))


@pytest.mark.parametrize(
    "before", [(), ("the",), ("the", "dog"), ("the", "zzgrblx", "saw"), ("Wombats",)], ids=" ".join
)
def test_the_words_and_types_that_follow_sum_to_one(files, before):
    pcfg, hhmm = PcfgLanguageModel(files / "right.pcfg"), HhmmLanguageModel(files / "left.pcfg", beam=0, threshold=0)
    for model, lexicon in ((pcfg, pcfg.grammar.lexicon), (hhmm, hhmm.hhmm.grammar.lexicon)):
        words, types = zip(*words_with_types(lexicon), strict=True)
        following = [scores[len(before)] for scores in model.score([(*before, word) for word in words])]
        end = model.score([before])[0][-1]
        total = np.exp(following) @ types + math.exp(end)
        assert 1 - 1e-6 <= total <= EXCESS
        unigrams = np.exp(model.unigram_scores([words])[0])
        assert unigrams[:-1] @ types + unigrams[-1] == pytest.approx(1)


@pytest.mark.parametrize(("name", "kind"), [("right.pcfg", PcfgLanguageModel), ("left.pcfg", HhmmLanguageModel)])
def test_all_ways_of_scoring_agree_and_one_type_is_the_signature(files, name, kind):
    model, whole = kind(files / name), kind(files / name, unknown_types=1)
    lexicon = read_grammar(files / name).lexicon
    ln_types = [sum(lexicon.ln_types[lexicon.ids(words)]) for words in SENTENCES]
    assert min(ln_types[:2]) > 0 == ln_types[2]
    wanted = whole.totals(SENTENCES) - ln_types
    np.testing.assert_allclose(model.totals(SENTENCES), wanted)
    np.testing.assert_allclose([scores.sum() for scores in model.score(SENTENCES)], wanted)
    for words, total in zip(SENTENCES, wanted, strict=True):
        state, steps = model.start(), 0.0
        for word in words:
            step, state = model.advance(state, word)
            steps += step
        assert steps + model.finish(state) == pytest.approx(total)
    np.testing.assert_allclose(SlrFeature(model).values(SENTENCES), SlrFeature(whole).values(SENTENCES))
    stated = kind(files / name, unknown_types=100)
    unknown = np.array([sum(word not in model for word in words) for words in SENTENCES])
    np.testing.assert_allclose(stated.totals(SENTENCES), whole.totals(SENTENCES) - np.log(100) * unknown)
    with pytest.raises(ValueError, match="unknown_types = 0: wanted 1 or more"):
        kind(files / name, unknown_types=0)


@pytest.mark.parametrize(("name", "kind"), [("treelet", TreeletLanguageModel), ("headlex", HeadlexLanguageModel)])
def test_trees_with_unknown_words_and_their_log_odds(files, name, kind):
    model, whole = kind(model=files / name), kind(model=files / name, unknown_types=1)
    vocabulary = model.trees.vocabulary
    tree = "(ROOT (S (NP (DT the) (NN {})) (VP (VBD saw) (NP (DT a) (NN dog)))))"
    trees = [next(iter(read_trees([tree.format(word)]))) for word in vocabulary.words[1:]]
    ln_p, of_classes = model.trees.score_trees(trees), whole.trees.score_trees(trees)
    types = [vocabulary.unknown_types.get(word, 1) for word in vocabulary.words[1:]]
    assert max(types) > 1
    assert np.exp(ln_p) @ types == pytest.approx(np.exp(of_classes).sum())
    np.testing.assert_allclose(SlrFeature(model).values(SENTENCES), SlrFeature(whole).values(SENTENCES))
    unigrams = np.exp(vocabulary.ln_unigram)
    assert unigrams[0] + unigrams[1:] @ types == pytest.approx(1, abs=0.02)  # a signature that never occurs counts as 1


def test_sentences_by_structured_vectors(files):
    model = read_svs(files / "model.svs")
    one = replace(model, lexicon=replace(model.lexicon, unknown_types={}))
    assert model.lexicon.unknown_types == read_grammar(files / "right.pcfg").lexicon.unknown_types
    words = SENTENCES[0]
    ln_types = model.lexicon.ln_types[model.lexicon.number("zzgrblx", 1)]
    wanted = SvsParser(one).log_probability(words) - ln_types
    assert SvsParser(model).log_probability(words) == pytest.approx(wanted)


def test_a_flat_tree_of_an_unparsed_sentence_is_divided_too(files):
    model, whole = (TreeletLanguageModel(model=files / "treelet", unknown_types=types) for types in (None, 1))
    floors = model.trees.floor([("zzgrblx",)]), whole.trees.floor([("zzgrblx",)])
    ln_types = model.trees.vocabulary.ln_types[model.trees.vocabulary.encode([("zzgrblx",)])]
    assert floors[0] == pytest.approx(floors[1] - ln_types)
