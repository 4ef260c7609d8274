"""The syntactic log-odds ratio over each kind of language model: unigrams of the model's own corpus and vocabulary."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from docs.results.scripts.acceptability_table import model_scores
from rerank_adapters.data.minimal_pairs import Pair
from rerank_plugins import Hypothesis, LanguageModel, ModelError, NBestList
from rerank_plugins.constituency.grammar import ln_unigrams
from rerank_plugins.constituency.language_model import LONGEST, PcfgLanguageModel
from rerank_plugins.constituency.model_file import write_grammar
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.mixture import MixtureLanguageModel
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.treelet import headlex
from rerank_plugins.treelet.headlex import write_model as write_headlex
from rerank_plugins.treelet.language_model import HeadlexLanguageModel, TreeletLanguageModel
from rerank_plugins.treelet.model import Settings
from rerank_plugins.treelet.model import write_model as write_treelet
from rerank_plugins.treelet.slr import SlrFeature
from rerank_plugins.treelet.training import collect, train
from tests.command_line import done
from tests.conftest import ROOT
from tests.hhmm.naive_hhmm import make_grammar, random_grammar
from tests.ngram.naive_features import CORPUS

TREES = list(
    read_trees(
        [
            "(ROOT (S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat)))))",
            "(ROOT (S (NP (DT the) (NN cat)) (VP (VBD ran))))",
            "(ROOT (S (NP (DT the) (NN dog)) (VP (VBD ran))))",
        ]
    )
)
ARPA = ROOT / "example_nbest/mt/lm.arpa"


def ratio(lm, *texts):
    return SlrFeature(lm).extract(NBestList("0", tuple(map(Hypothesis, texts))))[:, 0]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A small model of each kind, with the words of its vocabulary, signatures of unknown words among them."""
    folder = tmp_path_factory.mktemp("slr")
    (folder / "text").write_text("".join(" ".join(sentence) + "\n" for sentence in CORPUS), encoding="utf-8")
    done("train", "ngram", folder / "text", "--order", "3", "-o", folder / "m.ngram", "--arpa", folder / "m.arpa")
    arpa = folder / "m.arpa"
    write_grammar(random_grammar(3), folder / "small.pcfg")
    lexicon = ("w0", "w1", "w2", "UNK")
    write_treelet(train(collect(TREES, Settings()), Settings(), jobs=1), folder / "m.treelet")
    write_headlex(headlex.train(headlex.collect(TREES), headlex.Settings(), jobs=1), folder / "m.headlex")
    treelet = TreeletLanguageModel(model=folder / "m.treelet")
    heads = HeadlexLanguageModel(model=folder / "m.headlex")
    words = (*sorted({word for sentence in CORPUS for word in sentence}), "<unk>")
    ngram, unigram = NgramLanguageModel(folder / "m.ngram"), UnigramLanguageModel(arpa, "exact")
    return {
        "ngram-lm": (ngram, words),
        "unigram": (unigram, words),
        "mixture": (MixtureLanguageModel((ngram, unigram), (0.25, 0.75)), words),
        "pcfg": (PcfgLanguageModel(folder / "small.pcfg"), lexicon),
        "hhmm-lm": (HhmmLanguageModel(folder / "small.pcfg"), lexicon),
        "treelet-lm": (treelet, treelet.trees.vocabulary.words[1:]),
        "headlex": (heads, heads.trees.vocabulary.words[1:]),
    }


def test_every_language_model_is_here(models):
    # Neither a world nor a dependency model has counts of words, and a network has none of its text.
    without_unigrams = {"referential-lm", "dependency-lm", "neural-causal", "neural-masked", "llm"}
    assert models.keys() | without_unigrams == load_plugins().entries["language_model"].keys()


def test_unigrams_sum_to_one(models):
    """Over the vocabulary and the end of a sentence, each word in a later place than the first."""
    for name, (model, words) in models.items():
        scores = model.unigram_scores([(words[0], word) for word in words])
        total = sum(math.exp(values[1]) for values in scores) + math.exp(scores[0][2])
        assert total == pytest.approx(1, abs=1e-4), name


def test_unigrams_of_an_n_gram_model_are_relative_frequencies(models, tmp_path):
    """Not its 1-grams, by which Kneser–Ney counts contexts; also where `<unk>` stands for the rare words."""
    counts = Counter(word for sentence in CORPUS for word in sentence)
    events = counts.total() + len(CORPUS)
    wanted = [counts["cat"], 1, counts["the"], len(CORPUS)]
    found = models["ngram-lm"][0].unigram_scores([("cat", "zebra", "the")])[0]
    assert found == pytest.approx(np.log(wanted) - math.log(events + 1))
    done("train", "ngram", models["ngram-lm"][0].model.with_name("text"), "--min-count", "2", "-o", tmp_path / "cut")
    rare = sum(count for count in counts.values() if count < 2)
    cut = NgramLanguageModel(tmp_path / "cut")
    found = cut.unigram_scores([("zebra",)])[0]
    assert found == pytest.approx(np.log([rare / cut.ngrams.unknown_types, len(CORPUS)]) - math.log(events))


def test_a_model_without_counts_is_read_but_has_no_unigrams(models, tmp_path):
    """An ARPA file, and a model file of its n-grams."""
    replace(models["ngram-lm"][0].ngrams, counts=None).save(tmp_path / "uncounted.ngram")
    uncounted = NgramLanguageModel(tmp_path / "uncounted.ngram")
    sentence = [("the", "cat", "barked")]
    np.testing.assert_array_equal(uncounted.score(sentence)[0], models["ngram-lm"][0].score(sentence)[0])
    for lm in (uncounted, NgramLanguageModel(ARPA)):
        with pytest.raises(ModelError, match=f"{lm.model.name}: holds no counts of words.*option 'unigram'"):
            ratio(lm, "the cat")
        named = SlrFeature(lm, models["unigram"][0]).extract(NBestList("0", (Hypothesis("the cat"),)))
        assert np.isfinite(named).all()
    with pytest.raises(ValueError, match="WithoutUnigrams has no unigrams of its own: name some with 'unigram'"):
        SlrFeature(WithoutUnigrams())


def test_a_file_of_wrong_counts_is_damaged(models, tmp_path):
    ngrams = models["ngram-lm"][0].ngrams
    replace(ngrams, counts=ngrams.counts[:-1]).save(tmp_path / "x.ngram")
    with pytest.raises(ModelError, match=r"x\.ngram: damaged model: .* counts of shape"):
        NgramLanguageModel(tmp_path / "x.ngram").score([("the",)])


def test_unigrams_of_a_mixture_are_mixed_with_its_weights(models):
    one, other = models["ngram-lm"][0], UnigramLanguageModel()
    sentence = ("the", "cat", "barked")
    first, second = (np.exp(model.unigram_scores([sentence])[0]) for model in (one, other))
    found = MixtureLanguageModel((one, other), (0.3, 0.7)).unigram_scores([sentence])[0]
    assert found == pytest.approx(np.log(0.3 * first + 0.7 * second))


def binary_tree(draw, phrases, tags, words, depth):
    if depth == 0 or draw(st.booleans()):
        return Tree(draw(st.sampled_from(tags)), (draw(st.sampled_from(words)),))
    below = [binary_tree(draw, phrases, tags, words, depth - 1) for _ in range(draw(st.integers(1, 2)))]
    if len(below) == 1 and below[0].is_preterminal is False:
        below = list(below[0].subtrees)  # unary rules lead to preterminals only, so that none goes round
    return Tree(draw(st.sampled_from(phrases)), tuple(below))


@st.composite
def treebanks(draw):
    trees = [binary_tree(draw, "PQR", "TUV", ("a", "b", "c"), 4) for _ in range(draw(st.integers(1, 6)))]
    return [Tree("ROOT", (tree,)) for tree in trees]


@given(treebanks())
@settings(max_examples=40)
def test_a_relative_frequency_grammar_gives_words_their_relative_frequencies(trees):
    """The twin counts the words of the treebank; the model is asked for what its rules make of them."""
    names = ["ROOT", *"PQRTUV"]
    number = {name: i for i, name in enumerate(names)}
    used = Counter()
    for tree in trees:
        for node in tree.nodes():
            below = (node.word,) if node.is_preterminal else tuple(number[child.label] for child in node.subtrees)
            used[number[node.label], *below] += 1
    totals = Counter()
    for (parent, *_), count in used.items():
        totals[parent] += count
    p = {rewriting: count / totals[rewriting[0]] for rewriting, count in used.items()}
    grammar = make_grammar(
        names,
        {each: value for each, value in p.items() if len(each) == 3},
        {each: value for each, value in p.items() if len(each) == 2 and isinstance(each[1], int)},
        {(each[1], each[0]): value for each, value in p.items() if isinstance(each[1], str)},
    )
    words = Counter(word for tree in trees for word in tree.words())
    events = sum(words.values()) + len(trees)  # words and ends of sentences
    found = dict(zip((*grammar.lexicon.words, "</s>"), np.exp(ln_unigrams(grammar)), strict=True))
    wanted = {**{word: count / events for word, count in words.items()}, "</s>": len(trees) / events}
    assert {word: found[word] for word in wanted} == pytest.approx(wanted, abs=1e-8)
    assert sum(found.values()) == pytest.approx(1, abs=1e-8)


def test_words_are_replaced_as_the_model_replaces_them(models):
    """Unknown words by signatures, and at the beginning of each piece of a long sentence as at its beginning."""
    for name, word in (("pcfg", "UNK"), ("hhmm-lm", "UNK"), ("treelet-lm", "UNK-LC"), ("headlex", "UNK-LC")):
        model = models[name][0]
        np.testing.assert_array_equal(model.unigram_scores([("zebra",)])[0], model.unigram_scores([(word,)])[0])
    long = PcfgLanguageModel().unigram_scores([("the",) * LONGEST + ("Zorgus",)])[0]
    assert long[-2] == PcfgLanguageModel().unigram_scores([("Zorgus",)])[0][0]
    assert long[-2] != PcfgLanguageModel().unigram_scores([("the", "Zorgus")])[0][1]


def test_the_ratio_is_over_the_models_own_unigrams(models):
    for name in ("ngram-lm", "mixture", "pcfg", "hhmm-lm"):
        model, words = models[name]
        sentences = [[*words[:3], "zebra"], ["zebra"], []]
        own = np.array([values.sum() for values in model.unigram_scores(sentences)])
        wanted = (model.totals(sentences) - own) / [4, 1, 1]
        assert ratio(model, *map(" ".join, sentences)) == pytest.approx(wanted), name


@pytest.mark.parametrize("lm", [HhmmLanguageModel(), PcfgLanguageModel(), NgramLanguageModel()])
def test_a_string_of_odd_words_is_no_better_than_a_sentence(lm):
    """With unigrams of another vocabulary, brackets and unknown words alone would lift the ratio above a sentence's."""
    sentence, *odd = ratio(lm, "The old man went down to the river .", "( ( ( ( (", "xqzzv brrtk qwxel zzkop")
    assert max(odd) < sentence


def test_the_published_table_has_the_ratio_of_the_feature(models):
    lm, _ = models["ngram-lm"]
    pairs = [Pair("the old man went home", "the old man home went"), Pair("we took a taxi", "taxi a took we")]
    table = model_scores({"3-gram": f"ngram-lm,model={lm.model}"}, pairs, (), 1)
    texts = [text for pair in pairs for text in (pair.good, pair.bad)]
    assert table.names == ("3-gram", "SLR-3-gram")
    np.testing.assert_array_equal(table.values[:, 0], lm.totals([text.split() for text in texts]))
    np.testing.assert_array_equal(table.values[:, 1], ratio(lm, *texts))


class WithoutUnigrams(LanguageModel):
    """A language model of somebody's that says nothing about single words."""

    def score(self, sentences):
        return [np.full(len(sentence) + 1, -1.0) for sentence in sentences]

    def __contains__(self, word):
        return True


def test_a_model_without_unigrams_needs_others(models):
    with pytest.raises(ValueError, match="WithoutUnigrams has no unigrams of its own: name some with 'unigram'"):
        SlrFeature(WithoutUnigrams())
    with pytest.raises(ModelError, match="WithoutUnigrams has no unigrams of its own"):
        ratio(MixtureLanguageModel((models["ngram-lm"][0], WithoutUnigrams()), (0.5, 0.5)), "the cat")
    words = models["unigram"][0]
    found = SlrFeature(WithoutUnigrams(), words).extract(NBestList("0", (Hypothesis("the cat"),)))
    assert found == pytest.approx((-3 - words.totals([("the", "cat")])[None]) / 2)
