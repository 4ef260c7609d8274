"""Words in context: every word in its place by brute force, probabilities that sum to one, and the feature."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ModelError, Parse, Parser
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.kit.language_models import UNPARSED
from rerank_plugins.svs import meaning_in_context
from rerank_plugins.svs import words_in_context as fast
from rerank_plugins.svs.concept_model import EMBEDDED, read_model, read_or_embedded, write_model
from rerank_plugins.svs.concept_training import ConceptSettings, train_concepts
from rerank_plugins.svs.head_arcs import head_arcs, word_class
from rerank_plugins.svs.meaning_in_context import MeaningInContextFeature
from rerank_plugins.svs.model import EMBEDDED as VECTORS
from rerank_plugins.svs.model import read_or_embedded as read_vectors
from rerank_plugins.svs.words_in_context import WordsInContext
from tests.svs import naive_tree_posteriors
from tests.svs import naive_words_in_context as naive

BANK = """
(ROOT (S (NP (DT The) (NN dog)) (VP (VBD barked)) (. .)))
(ROOT (S (NP (DT the) (JJ old) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))
(ROOT (S (NP (PRP it)) (VP (VBD saw) (NP (PRP it)) (PP (IN in) (NP (DT the) (NN garden))))))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD was) (VP (VBN seen) (PP (IN by) (NP (DT the) (JJ old) (NN man))))) (. .)))
(ROOT (FRAG (DT the) (. .)))
""".strip().splitlines()
SMALL = ConceptSettings("en", concepts=2, least=1, dimensions=4, iterations=1, head_prior=0.5, relation_prior=0.5)


@pytest.fixture(scope="module")
def bank():
    return list(read_trees(BANK))


@pytest.fixture(scope="module")
def trained(bank):
    return train_concepts([bank], [1.0], SMALL)


def random_model(trained, seed, zeros=0.3):
    """The model with random parameters and counts, of which some are 0."""
    rng = np.random.default_rng(seed)

    def drawn(*shape):
        return rng.random(shape) * (rng.random(shape) >= zeros)

    used = drawn(len(trained.heads)) * 20
    return replace(
        trained,
        used=used,
        counts=used + drawn(len(used)) * 20,
        emission=(4 * drawn(*trained.emission.shape)).astype(np.float16),
        transfer=drawn(*trained.transfer.shape).astype(np.float16),
        root=rng.dirichlet(np.ones(trained.concepts)),
        unknown_types={name: int(rng.integers(1, 9)) for name in trained.heads if name.startswith("<unk>")},
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_words_in_context_are_sums_over_all_concepts_and_words(trained, bank, seed):
    model = random_model(trained, seed)
    words = WordsInContext(model, 1)
    found = words.of_trees(bank)
    p, alone = naive.emissions(model, fast.LEAST_COUNT, fast.LEAST_RATIO)
    transfer = naive.transfers(model, fast.LEAST_TRANSFER)
    layout, places = model.lay_out([head_arcs(tree) for tree in bank])
    wanted = naive.in_context(model, layout, p, transfer)
    np.testing.assert_allclose(found.ln_p[places], np.log(wanted), atol=1e-9)
    np.testing.assert_allclose(found.gain[places], np.log(wanted / alone[layout.rule]), atol=1e-9)
    assert set(np.flatnonzero(found.has_concept)) == set(places.tolist())
    assert not found.gain[found.has_concept == 0].any()
    _, logs = naive_tree_posteriors.posteriors(layout, p, transfer, model.root)
    owner = np.searchsorted(layout.offsets, np.arange(len(places)), side="right") - 1
    joint = logs - np.bincount(owner, np.log(alone[layout.rule]), len(bank))
    np.testing.assert_allclose(found.joint, joint, atol=1e-9)


def with_word(tree, place, word):
    """The tree with another word at a place."""
    count = -1

    def copied(node):
        nonlocal count
        if node.is_preterminal:
            count += 1
            return Tree(node.label, (word if count == place else node.word,))
        return Tree(node.label, tuple(map(copied, node.subtrees)))

    return copied(tree)


@pytest.mark.parametrize("seed", range(3))
def test_the_words_of_a_part_of_speech_sum_to_one_at_each_place(trained, bank, seed):
    """Each place of each tree, but for those of prepositions and auxiliaries, which are part of the tree."""
    model = random_model(trained, seed)
    words = WordsInContext(model)
    for tree in bank:
        before = words.of_trees([tree])
        for place, (tag, word) in enumerate(zip(head_arcs(tree).tags, tree.words(), strict=True)):
            if word in ("in", "by", "was"):
                continue
            names = [name for name in model.heads if name.endswith(f"/{word_class(tag)}")]
            options = ["zzz" if name.startswith("<unk>") else name.rpartition("/")[0] for name in names]
            read = words.of_trees([with_word(tree, place, option) for option in options])
            at = read.starts[:-1] + place
            types = np.array([model.unknown_types[name] if name.startswith("<unk>") else 1 for name in names])
            assert float(types @ np.exp(read.ln_p[at])) == pytest.approx(1)
            # What replacing the word changes in the joint gain is what it changes in the word's own gain.
            np.testing.assert_allclose(read.joint - before.joint, read.gain[at] - before.gain[place], atol=1e-9)


def test_unknown_words_share_the_probability_of_their_class(trained, bank):
    (tree,) = read_trees(["(ROOT (S (NP (DT the) (NN zebra)) (VP (VBD barked))))"])
    (one, many, stated) = (
        WordsInContext(replace(trained, unknown_types=types), number).of_trees([tree]).ln_p
        for types, number in (({}, None), ({"<unk>/NN": 50}, None), ({"<unk>/NN": 50}, 7))
    )
    np.testing.assert_allclose(one - many, [0, np.log(50), 0])
    np.testing.assert_allclose(one - stated, [0, np.log(7), 0])


def test_a_part_of_speech_that_the_model_does_not_have(trained):
    (tree,) = read_trees(["(ROOT (S (NP (FW zebra) (ODD x)) (VP (VBD barked))))"])
    words = WordsInContext(trained)
    read = words.of_trees([tree])
    assert read.has_concept.tolist() == [1, 0, 1]
    assert read.gain[0] == pytest.approx(0, abs=1e-12)
    assert read.ln_p[0] == pytest.approx(read.ln_p[1])
    assert np.isfinite(read.ln_p).all()


def test_no_trees(trained):
    read = WordsInContext(trained).of_trees([])
    assert (len(read.ln_p), len(read.joint), read.starts.tolist()) == (0, 0, [0])


def test_training_counts_the_types_of_rare_words(bank, tmp_path):
    model = train_concepts([bank], [1.0], replace(SMALL, least=2))
    # Of nouns, `dog` and `cat` occur twice; `garden` and `man` are rare, and two of each are expected to be unseen.
    assert model.unknown_types["<unk>/NN"] == 2 + round(2 * 1 / (2 * (2 + 1)))
    assert model.unknown_types["<unk>/DT"] == 1
    path = tmp_path / "small.concepts"
    write_model(model, path, compact=True)
    assert read_model(path).unknown_types == model.unknown_types


@pytest.mark.parametrize("types", [{"<unk>/NN": 0}, {"<unk>/NN": 1.5}, {"dog/NN": 2}])
def test_types_that_cannot_be(trained, types):
    with pytest.raises(ModelError, match="damaged model of concepts: unknown_types"):
        replace(trained, unknown_types=types)


class KnownTrees(Parser):
    """Parses the sentences of some trees."""

    def __init__(self, trees):
        self.trees = {tuple(tree.words()): tree for tree in trees}

    def parse(self, sentences):
        found = [self.trees.get(tuple(words)) for words in sentences]
        return [Parse(constituents=(ScoredTree(tree, -1.0),)) if tree else Parse() for tree in found]


def test_values_are_sums_over_the_words_of_each_tree(trained, bank, tmp_path, monkeypatch):
    """In batches of two sentences; one has a single word, one no content word, one no tree, and the last no word."""
    trees = [*read_trees(["(ROOT (FRAG (NN dog)))"]), *bank]
    monkeypatch.setattr(meaning_in_context, "BATCH", 2)
    write_model(trained, tmp_path / "bank.concepts")
    feature = MeaningInContextFeature(model=tmp_path / "bank.concepts", parser=KnownTrees(trees))
    words = WordsInContext(read_model(tmp_path / "bank.concepts"), None)
    read = [words.of_trees([tree]) for tree in trees]
    sentences = [["odd"], *(tree.words() for tree in trees), []]
    joint, gain, least, total = feature.values(sentences).T
    assert joint.tolist() == pytest.approx([0, *(one.joint[0] for one in read), 0])
    assert gain.tolist() == pytest.approx([0, *(one.gain.sum() for one in read), 0])
    content = [one.gain[one.has_concept > 0] for one in read]
    assert [len(gains) > 0 for gains in content] == [True, True, True, True, True, False]
    assert least.tolist() == pytest.approx([0, *(min(gains, default=0.0) for gains in content), 0])
    ln_p = [[UNPARSED], *(one.ln_p.tolist() for one in read), []]
    assert total.tolist() == pytest.approx([sum(each) for each in ln_p])
    for found, wanted in zip(feature.word_values(sentences), ln_p, strict=True):
        assert found.tolist() == pytest.approx(wanted)


@pytest.fixture(scope="module")
def feature():
    return MeaningInContextFeature()


def test_the_word_that_fits(feature):
    good, odd = (["He", "drank", "a", "cup", "of", "tea", "."], ["He", "drank", "a", "cup", "of", "law", "."])
    (better, worse) = feature.values([good, odd])
    columns = dict(zip(feature.components, better - worse, strict=True))
    assert all(columns[name] > 0 for name in ("joint", "gain", "least"))


def test_values_are_those_of_the_words(feature):
    sentences = [["Dogs", "bark", "."], [], ["the"], ["word"] * 81]
    values = feature.values(sentences)
    by_word = feature.word_values(sentences)
    assert [len(each) for each in by_word] == [3, 0, 1, 81]
    gain, least, total = values.T[1:]
    np.testing.assert_allclose(total, [each.sum() for each in by_word], rtol=1e-12)
    assert total[3] == pytest.approx(81 * UNPARSED)
    assert not np.delete(values, 3, axis=1)[1:, :3].any()
    assert least[0] <= gain[0] / 2
    only = MeaningInContextFeature(measures=("total", "joint"))
    np.testing.assert_array_equal(only.values(sentences), values[:, [3, 0]])
    assert only.components == ("total", "joint")
    assert MeaningInContextFeature(longest=2).values(sentences)[0, :3].tolist() == [0, 0, 0]


def test_options():
    for measures in ((), ("joint", "joint")):
        with pytest.raises(ValueError, match="one or more of joint, gain, least and total"):
            MeaningInContextFeature(measures=measures)
    with pytest.raises(ValueError, match="longest is 0"):
        MeaningInContextFeature(longest=0)
    with pytest.raises(ValueError, match="unknown_types = 0"):
        MeaningInContextFeature(unknown_types=0)


def test_a_model_of_vectors_is_refused_though_it_is_in_use():
    in_use = read_vectors(VECTORS)
    assert in_use.concepts
    with pytest.raises(ModelError, match=r"vectors\.svs"):
        MeaningInContextFeature(model=VECTORS).values([["a"]])


def test_the_embedded_model_has_the_types_of_its_rare_words():
    model = read_or_embedded(EMBEDDED)
    assert model.unknown_types["<unk>/NN"] > model.unknown_types["<unk>/RB"] > 100
