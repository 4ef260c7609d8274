"""The dependency language model: events as in the paper, estimates against slow twins, properties, files."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, Hypothesis, ModelError, NBestList, Parse, Parser
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.dependency.ancestor_paths import NONE, TreeCollector, lay_out, paths
from rerank_plugins.dependency.language_model import DependencyLanguageModel
from rerank_plugins.dependency.model import DependencyModel, Settings, read_model, train, write_model
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.kit.backoff.tables import LOG_ZERO
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.testing import check_feature_extractor
from tests.dependency.naive_dependency_lm import NaiveKneserNey, NaiveStupidBackoff, breadth_first, events
from tests.model_files import check_damage_is_seen, content_of, write_content

NAIVE = {"stupid-backoff": NaiveStupidBackoff, "kneser-ney": NaiveKneserNey}
SMOOTHINGS = list(NAIVE)


def tree(text: str) -> DependencyTree:
    """`the/2/det dog/3/nsubj barks/0/root`: word, head from 1 (0: root), label."""
    rows = [token.split("/") for token in text.split()]
    words, heads, labels = zip(*rows, strict=True)
    return DependencyTree(words, tuple(int(head) - 1 for head in heads), labels)


def trained(trees, **settings) -> DependencyModel:
    collector = TreeCollector()
    collector.add(trees)
    return train(collector, Settings(**settings), jobs=1)


@st.composite
def random_trees(draw, words="abcde", labels="xyz", largest=7):
    """Any tree over few words and labels: each word hangs on one placed before it in a random order."""
    size = draw(st.integers(1, largest))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for k in range(1, size):
        heads[order[k]] = order[draw(st.integers(0, k - 1))]
    pick = st.lists(st.sampled_from(words), min_size=size, max_size=size)
    arcs = st.lists(st.sampled_from(labels), min_size=size, max_size=size)
    return DependencyTree(tuple(draw(pick)), tuple(heads), tuple(draw(arcs)))


forests = st.lists(random_trees(), min_size=1, max_size=12)
ATE = [
    tree("the/2/det dog/3/nsubj ate/0/root the/5/det bone/3/obj"),
    tree("the/2/det dog/3/nsubj ate/0/root it/3/obj"),
    tree("the/2/det man/3/nsubj ate/0/root the/5/det bread/3/obj"),
    tree("a/2/det dog/3/nsubj ate/0/root the/5/det man/3/obj"),
]


def test_paths_are_those_of_the_paper():
    """`dog` in "I saw the dog" of order 3: ancestors ROOT and saw, each with the label of the arc to its child."""
    sentence = tree("I/2/nsubj saw/0/root the/4/det dog/2/obj")
    words = {"I": 1, "saw": 2, "the": 3, "dog": 4}
    labels = {"nsubj": 1, "root": 2, "det": 3, "obj": 4}
    forest = lay_out([sentence], words.__getitem__, labels.__getitem__)
    root, size = 5, 5
    wanted = [
        [root * size + 2, 2 * size + 1, 1],
        [NONE, root * size + 2, 2],
        [2 * size + 4, 4 * size + 3, 3],  # the: below saw -obj-> dog -det->
        [root * size + 2, 2 * size + 4, 4],
    ]
    assert paths(forest, 3, root, size).tolist() == wanted
    assert paths(forest, 3, root, 1).tolist() == [[5, 2, 1], [NONE, 5, 2], [2, 4, 3], [5, 2, 4]]
    assert paths(forest, 1, root, size).tolist() == [[1], [2], [3], [4]]


def test_breadth_first_enumeration_of_the_twin():
    assert breadth_first(tree("the/2/det dog/3/nsubj ate/0/root the/5/det bone/3/obj")) == [2, 1, 4, 0, 3]


@given(forests, st.integers(1, 5), st.booleans())
def test_events_agree_with_the_twin(trees, order, labelled):
    words, labels = {w: i for i, w in enumerate("?abcde")}, {g: i for i, g in enumerate("?xyz")}
    size = len(labels) if labelled else 1
    forest = lay_out(trees, words.__getitem__, labels.__getitem__)
    found = paths(forest, order, len(words), size)
    number = {**words, "ROOT": len(words)}
    for start, each in zip(forest.offsets, trees, strict=False):
        for i, (context, word) in zip(breadth_first(each), events(each, order, labelled), strict=True):
            symbols = [number[w] * size + (labels[g] if labelled else 0) for w, g in context]
            padded = [NONE] * (order - 1 - len(symbols)) + symbols
            assert found[start + i].tolist() == [*padded, words[word]]


NOTHING_LEFT = [
    DependencyTree(("d", "a", "a"), (-1, 0, 1), ("x",) * 3),
    DependencyTree(("d", "b", "a", "a", "a", "c"), (-1, 0, 0, 0, 1, 0), ("x",) * 6),
]


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@given(
    trees=forests,
    asked=random_trees("abcdef", "xyzw"),
    order=st.integers(1, 5),
    labelled=st.booleans(),
    cut=st.integers(1, 3),
)
@example(trees=NOTHING_LEFT, asked=DependencyTree(("a",), (-1,), ("x",)), order=2, labelled=False, cut=1)
def test_probabilities_agree_with_the_twin(smoothing, trees, asked, order, labelled, cut):
    check_against_the_twin(smoothing, trees, asked, order, labelled, cut)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize(("order", "labelled", "cut"), [(1, True, 1), (3, True, 1), (4, False, 2)])
def test_an_example_agrees_with_the_twin(smoothing, order, labelled, cut):
    asked = tree("a/2/det cat/3/nsubj ate/0/root the/6/det big/6/amod bone/3/obj it/6/nmod")
    check_against_the_twin(smoothing, ATE, asked, order, labelled, cut)


def check_against_the_twin(smoothing, trees, asked, order, labelled, cut):
    model = trained(trees, order=order, labelled=labelled, smoothing=smoothing, min_count=cut)
    naive = NAIVE[smoothing](trees, order, labelled, cut)
    for each in [*trees[:3], asked]:
        probability, total = naive.probability(each), model.totals([each])[0]
        if probability > 0:
            assert total == pytest.approx(math.log(probability), abs=1e-5)
        else:  # where the discounts of few events are 0, nothing is left for others
            assert total < LN10 * (LOG_ZERO + 1)


@pytest.mark.slow
@given(forests, st.integers(1, 5), st.booleans(), st.integers(1, 2))
def test_kneser_ney_sums_to_one_at_every_node(trees, order, labelled, cut):
    model = trained(trees, order=order, labelled=labelled, smoothing="kneser-ney", min_count=cut)
    rows, _ = model.events(trees)
    for row in rows:
        every = np.repeat(row[None], len(model.vocabulary), 0)
        every[:, -1] = np.arange(len(model.vocabulary))
        assert np.exp(score_events(model.tables, every)[0]).sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("labelled", [True, False])
def test_a_fixed_tree_is_a_distribution_over_its_words(labelled):
    """Over all ways of filling a tree of three words, by brute force."""
    model = trained(ATE, order=3, labelled=labelled, smoothing="kneser-ney", min_count=2)
    fillings = [
        DependencyTree(words, (1, -1, 1), ("nsubj", "root", "obj"))
        for words in itertools.product(model.vocabulary.words, repeat=3)
    ]
    stands_for = [model.unknown_types ** each.words.count("<unk>") for each in fillings]
    unseen = 4 * 3 / (2 * (1 + 1))  # `man` occurs twice
    assert model.unknown_types == 4 + unseen  # a, bone, bread, it
    assert np.dot(np.exp(model.totals(fillings)), stands_for) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_only_labels_tell_who_ate_whom(smoothing):
    dog_ate = tree("the/2/det dog/3/nsubj ate/0/root the/5/det man/3/obj")
    man_ate = tree("the/2/det man/3/nsubj ate/0/root the/5/det dog/3/obj")
    unlabelled = trained(ATE, order=3, labelled=False, smoothing=smoothing, min_count=1)
    labelled = trained(ATE, order=3, labelled=True, smoothing=smoothing, min_count=1)
    assert unlabelled.totals([dog_ate])[0] == pytest.approx(unlabelled.totals([man_ate])[0], abs=1e-9)
    assert labelled.totals([dog_ate])[0] > labelled.totals([man_ate])[0] + 0.5


@pytest.mark.slow
@given(forests, st.randoms(use_true_random=False), st.sampled_from(SMOOTHINGS))
def test_the_order_of_processing_does_not_matter(trees, rng, smoothing):
    shuffled = list(trees)
    rng.shuffle(shuffled)
    first, second = (trained(each, order=3, smoothing=smoothing, min_count=1) for each in (trees, shuffled))
    assert first.vocabulary.words == second.vocabulary.words
    alone = np.array([first.totals([each])[0] for each in trees])
    np.testing.assert_array_equal(first.totals(trees), alone)
    np.testing.assert_array_equal(second.totals(trees), alone)
    np.testing.assert_array_equal(np.array([scores.sum() for scores in first.score(trees)]).round(9), alone.round(9))


def test_denominators_count_children_and_not_occurrences():
    """`dog` occurs twice and has three children: C(dog ·) = 3, so S(the | dog) = 1/3, not 1/2."""
    trees = [tree("the/3/det old/3/amod dog/0/root"), tree("a/2/det dog/0/root")]
    model = trained(trees, order=2, labelled=False, min_count=1)
    assert np.exp(model.score(trees)[0]) == pytest.approx([1 / 3, 1 / 3, 1.0], rel=1e-5)


def test_unknown_words_and_labels():
    model = trained(ATE, order=3, min_count=2)
    assert "ate" in model
    assert "bone" not in model
    strange = tree("zebra/2/nsubj ate/0/root zebra/2/vocative")
    scores = model.score([strange])[0]
    assert np.isfinite(scores).all()
    lower = trained(ATE, order=3, min_count=2, lowercase=True)
    assert "ATE" in lower
    shouted = DependencyTree(("THE", "Dog", "ate"), (1, 2, -1), ("det", "nsubj", "root"))
    quiet = DependencyTree(("the", "dog", "ate"), (1, 2, -1), ("det", "nsubj", "root"))
    assert lower.totals([shouted])[0] == lower.totals([quiet])[0]
    assert model.totals([shouted])[0] != model.totals([quiet])[0]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@given(
    trees=forests,
    asked=random_trees("abcdef", "xyzw"),
    order=st.integers(1, 5),
    labelled=st.booleans(),
    cut=st.integers(1, 3),
    prune=st.sampled_from([(), (0, 1), (0, 0, 1)]),
)
def test_no_tree_scores_below_the_floor_of_its_words(smoothing, trees, asked, order, labelled, cut, prune):
    prune = prune[:order]
    model = trained(trees, order=order, labelled=labelled, smoothing=smoothing, min_count=cut, prune=prune)
    for each in [*trees[:3], asked]:
        assert (model.score([each])[0] >= model.floor(each.words) - 1e-9).all()


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@given(trees=st.lists(random_trees("abc", "xy", 5), min_size=1, max_size=6), order=st.integers(1, 3))
@settings(max_examples=30)
def test_the_floor_is_the_least_over_all_contexts(smoothing, trees, order):
    """By brute force, unseen ancestors among the contexts; exactly for `<unk>`, which no context has been seen with."""
    model = trained(trees, order=order, labelled=False, smoothing=smoothing, min_count=1)
    naive = NAIVE[smoothing](trees, order, False, 1)
    ancestors = [(word, None) for word in (*naive.known, "ROOT", "never seen")]
    contexts = [each for length in range(order) for each in itertools.product(ancestors, repeat=length)]
    for word in (*naive.known, "<unk>"):
        scores = [naive.score(context, word) for context in contexts]
        assume(min(scores) > 0)  # the model has a least probability where Kneser-Ney leaves none
        least = math.log(min(scores))
        assert model.floor([word])[0] <= least + 1e-5
    assert model.floor(["<unk>"])[0] == pytest.approx(least, abs=1e-5)


def test_subtypes_of_labels_are_one_label_unless_told_apart():
    passive = [DependencyTree(t.words, t.heads, tuple(r + ":pass" for r in t.relations)) for t in ATE]
    together, apart = (trained(ATE, order=3, min_count=1, subtypes=subtypes) for subtypes in (False, True))
    np.testing.assert_array_equal(together.totals(ATE), together.totals(passive))
    assert (apart.totals(ATE) > apart.totals(passive)).all()
    assert trained(passive, order=3, min_count=1).labels == together.labels


def test_nothing_to_train_on_and_wrong_settings():
    with pytest.raises(ModelError, match="no trees"):
        trained([])
    with pytest.raises(ConfigError, match="order 7"):
        Settings(order=7)
    with pytest.raises(ConfigError, match="wanted one of: stupid-backoff, kneser-ney"):
        Settings(smoothing="good-turing")
    with pytest.raises(ConfigError, match="cut-off of 0"):
        Settings(min_count=0)


def test_pickled_models_score_the_same():
    model = trained(ATE, order=4, min_count=1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).totals(ATE), model.totals(ATE))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_save_and_load_are_identities(tmp_path, smoothing):
    model = trained(ATE, order=4, smoothing=smoothing, min_count=1, lowercase=True)
    first, second = tmp_path / "a.bin", tmp_path / "b.bin"
    assert write_model(model, first) == first.stat().st_size
    found = read_model(first)
    assert found.settings == model.settings
    assert (found.vocabulary.words, found.labels) == (model.vocabulary.words, model.labels)
    np.testing.assert_array_equal(found.totals(ATE), model.totals(ATE))
    write_model(found, second)
    assert first.read_bytes() == second.read_bytes()


def test_files_that_are_no_model_are_one_clear_line(tmp_path):
    good, bad = tmp_path / "good.bin", tmp_path / "bad.bin"
    write_model(trained(ATE, order=3, min_count=1), good)
    check_damage_is_seen(good, read_model, ModelError)
    whole = content_of(good)
    with pytest.raises(ModelError, match=r"absent\.bin: cannot be read"):
        read_model(tmp_path / "absent.bin")
    cases = {
        b"": "not a model file",
        b"\\data\\\n": "not a model file",
        whole[:12]: "cut short",
        whole[:200]: "cut short",
        whole[: len(whole) // 2]: "cut short",
        whole[:8] + b"\x63" + whole[9:]: "version 99, wanted version 2",
        whole.replace(b'"dependency"', b'"something_"', 1): "holds a something_ model, wanted a dependency model",
        whole.replace(b'"order": 3', b'"order": 4', 1): "tables has 3 columns and predicts 9 symbols, wanted 4 and 9",
        whole.replace(b'"lowercase"', b'"uppercase"', 1): "damaged dependency language model",
    }
    for content, message in cases.items():
        write_content(bad, content)
        with pytest.raises(ModelError, match=message) as caught:
            read_model(bad)
        assert "\n" not in str(caught.value)


class ChainParser(Parser):
    """Each word hangs on the one before it; sentences with `%` have no parse."""

    def parse(self, sentences):
        return [Parse(chain(words) if words and "%" not in words else None) for words in sentences]


def chain(words) -> DependencyTree:
    size = len(words)
    return DependencyTree(tuple(words), tuple(range(-1, size - 1)), ("root", *["dep"] * (size - 1)))


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("deplm") / "chain.deplm"
    words = "a dog saw the cat", "the cat saw a dog", "a dog barks"
    write_model(trained([chain(text.split()) for text in words], order=3, min_count=1), path)
    return path


def test_feature_values(model_file):
    extractor = DependencyLanguageModel(model_file, ChainParser())
    check_feature_extractor(extractor)
    model = read_model(model_file)
    texts = "a dog saw a zebra", "a dog %", "", "a dog saw a zebra"
    nbest = NBestList("0", tuple(map(Hypothesis, texts)))
    values = extractor.extract(nbest)
    tree_total = model.totals([chain(texts[0].split())])[0]
    floor = model.floor(["a", "dog", "%"]).sum()
    unknown = model.floor(["zebra"])[0]
    np.testing.assert_allclose(
        values,
        [[tree_total, tree_total / 5, -1], [floor, floor / 3, -1], [0, unknown, 0], [tree_total, tree_total / 5, -1]],
    )
    assert (extractor.extract_all([nbest, nbest])[1] == values).all()
    assert (pickle.loads(pickle.dumps(extractor)).extract(nbest) == values).all()
    assert extractor.extract_all([]) == []
    assert [word in extractor.vocabulary for word in ("dog", "zebra")] == [True, False]


def test_hypotheses_without_parse_are_counted_in_the_log(model_file, caplog):
    extractor = DependencyLanguageModel(model_file, CachedParser(ChainParser()))
    extractor.extract(NBestList("0", tuple(map(Hypothesis, ["a dog %", "a dog", "% %"]))))
    assert "2 sentences have no parse" in caplog.text


def test_text_that_cannot_be_parsed_is_not_above_a_parse():
    """The embedded model: the same random words, too many to be parsed, and few enough."""
    rng = np.random.default_rng(1)
    words = rng.choice(["the", "of", "dog", "river", "because", "walked", "under", ",", "she", "xqzzv", "sing"], 320)
    long, short = " ".join(words), " ".join(words[:250])
    unparsed, parsed = DependencyLanguageModel().extract(NBestList("0", (Hypothesis(long), Hypothesis(short))))[:, 1]
    assert unparsed < parsed


def test_a_corpus_in_blocks_gives_the_same_model(tmp_path, monkeypatch):
    given = {"order": 3, "min_count": 2, "smoothing": "kneser-ney"}
    write_model(trained(ATE * 2, **given), tmp_path / "whole")
    monkeypatch.setattr("rerank_plugins.dependency.ancestor_paths.TREES_A_BLOCK", 3)
    write_model(trained(ATE * 2, **given), tmp_path / "blocks")
    assert (tmp_path / "blocks").read_bytes() == (tmp_path / "whole").read_bytes()
