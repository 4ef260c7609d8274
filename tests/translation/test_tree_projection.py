"""Projected trees and their agreement: beside the twin, on an example, in the feature and in the command."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, Hypothesis, NBestList, Parse, Parser
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu, tree_fault, write_conllu
from rerank_plugins.translation.alignment.model import write_model
from rerank_plugins.translation.alignment.training import Settings, train
from rerank_plugins.translation.dependency_agreement import DependencyAgreementFeature
from rerank_plugins.translation.projection_through_links import project
from tests.command_line import done, refused, says_what_it_wrote
from tests.translation import naive_tree_projection as naive

GERMAN = DependencyTree(
    ("er", "hat", "den", "Hund", "gesehen", "."),
    (4, 4, 3, 4, -1, 4),
    ("nsubj", "aux", "det", "obj", "root", "punct"),
)
ENGLISH = DependencyTree(
    ("he", "saw", "the", "dog", "."),
    (1, -1, 3, 1, 1),
    ("nsubj", "root", "det", "obj:x", "punct"),
    ("PRON", "VERB", "DET", "NOUN", "PUNCT"),
)


@st.composite
def trees(draw, most=6):
    """A random tree: each word hangs on one that was attached before it, in a random order."""
    size = draw(st.integers(1, most))
    order = draw(st.permutations(range(size)))
    heads = [-1] * size
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))]
    relations = draw(st.lists(st.sampled_from(["a", "b"]), min_size=size, max_size=size))
    return DependencyTree(tuple(f"w{i}" for i in range(size)), tuple(heads), tuple(relations))


def links_to(size, number):
    return st.lists(st.integers(-1, size - 1), min_size=number, max_size=number)


@dataclass
class Known(Parser):
    """A parser that knows some sentences."""

    trees: dict[tuple[str, ...], DependencyTree]

    def parse(self, sentences):
        found = [self.trees.get(tuple(words)) for words in sentences]
        return [Parse(tree and replace(tree, words=tuple(words))) for tree, words in zip(found, sentences, strict=True)]


def with_links(feature, links):
    """The feature with links of its own in place of those of an alignment model."""
    object.__setattr__(feature, "_links", lambda source, sentences: np.array(links, np.int64))
    return feature


@settings(max_examples=20)
@given(st.data())
def test_agreement_is_that_of_the_twin(data):
    source, *own = (data.draw(trees()) for _ in range(3))
    links = [data.draw(links_to(len(source.words), len(tree.words))) for tree in own]
    sentences = [tuple(f"{i}{word}" for word in tree.words) for i, tree in enumerate(own)]
    known = dict(zip(sentences, own, strict=True))
    if data.draw(st.booleans()):
        known.pop(sentences[1])
    flat = [link for row in links for link in row]
    feature = DependencyAgreementFeature("model", Known({source.words: source}), Known(known))
    nbest = NBestList("1", tuple(Hypothesis(" ".join(words)) for words in sentences), source=" ".join(source.words))
    found = with_links(feature, flat).extract(nbest)
    for row, (words, own_links) in enumerate(zip(sentences, links, strict=True)):
        tree = known.get(words)
        expected = naive.agreement(
            source.heads, source.relations, own_links, tree and tree.heads, tree.relations if tree else ()
        )
        np.testing.assert_allclose(found[row], expected, atol=1e-12)


@settings(max_examples=20)
@given(st.data())
def test_what_is_projected_is_a_tree(data):
    other = data.draw(trees())
    words = data.draw(st.lists(st.sampled_from(["a", ",", "b"]), min_size=1, max_size=6))
    forward = data.draw(links_to(len(words), len(other.words)))
    backward = data.draw(links_to(len(other.words), len(words)))
    projected = project(words, other, forward, backward)
    partner = {i: j for i, j in enumerate(backward) if j >= 0 and forward[j] == i}
    assert (projected is None) == (not partner)
    if projected is not None:
        assert tree_fault(projected.tree.heads) is None
        assert 0 <= projected.density <= 1
        for i, j in partner.items():  # an arc between linked words is kept
            if other.heads[j] in partner.values():
                assert backward[projected.tree.heads[i]] == other.heads[j]
            assert projected.tree.relations[i] in (other.relations[j], "root", "dep")


def test_the_relation_is_the_partners_where_its_head_is_passed_over():
    """`saw [the roof of] the house`: `house` depends on `sah`, but is no object."""
    other = DependencyTree(
        ("he", "saw", "roofs", "of", "houses"), (1, -1, 1, 4, 2), ("nsubj", "root", "obj", "case", "nmod")
    )
    projected = project(("er", "sah", "Häuser"), other, [0, 1, -1, -1, 2], [0, 1, 4])
    assert projected.tree.heads == (1, -1, 1)
    assert projected.tree.relations == ("nsubj", "root", "nmod")


def test_a_projected_tree():
    """`hat` was aligned to `saw`, which has `gesehen`; `.` has its link; `den` has none and depends on `Hund`."""
    projected = project(GERMAN.words, ENGLISH, [0, 4, 3, 3, 5], [0, 1, -1, 3, 1, 4])
    assert projected.tree.heads == GERMAN.heads
    assert projected.tree.relations == ("nsubj", "dep", "dep", "obj:x", "root", "punct")
    assert projected.tree.tags == ("PRON", "X", "X", "NOUN", "VERB", "PUNCT")
    assert projected.density == 3 / 5
    assert project(("a",), ENGLISH, [-1] * 5, [0]) is None


def test_agreement_of_an_example():
    links = [0, 4, 2, 3, 5]
    wrong = DependencyTree(ENGLISH.words[::-1], (3, 0, 3, -1, 3), ("punct", "obj", "det", "root", "nsubj"))
    source, good, bad = (" ".join(tree.words) for tree in (GERMAN, ENGLISH, wrong))
    feature = DependencyAgreementFeature(
        "model", Known({GERMAN.words: GERMAN}), Known({ENGLISH.words: ENGLISH, wrong.words: wrong})
    )
    nbest = NBestList("1", (Hypothesis(good), Hypothesis(bad), Hypothesis("")), source=source)
    values = with_links(feature, [*links, *links[::-1]]).extract(nbest)
    np.testing.assert_allclose(values[0], [1, 1, 1, 0, 0, 0])
    # `dog` depends on `.`, and `the` on `saw`; `he`, `saw` and `.` are right.
    np.testing.assert_allclose(values[1], [3 / 5, 3 / 5, 3 / 5, -2, 0, 0])
    np.testing.assert_array_equal(values[2], 0)
    unparsed = DependencyAgreementFeature("model", Known({}), Known({ENGLISH.words: ENGLISH}))
    values = with_links(unparsed, links).extract(NBestList("1", (Hypothesis(good),), source=source))
    np.testing.assert_array_equal(values, [[0, 0, 0, -5, 0, 0]])
    with pytest.raises(ConfigError, match="has none"):
        feature.extract(NBestList("1", (Hypothesis(good),)))


WORDS = [("er", "he"), ("sah", "saw"), ("den", "the"), ("Hund", "dog"), (".", ".")]
PAIRS = [("er sah den Hund .", "he saw the dog ."), ("den Hund", "the dog"), *WORDS]


@pytest.fixture(scope="module")
def alignment(tmp_path_factory):
    path = tmp_path_factory.mktemp("alignment") / "model"
    write_model(train(PAIRS, Settings("ibm1", 5)), path)
    return path


def test_links_of_both_directions_or_of_one(alignment):
    parser = Known({})
    both = DependencyAgreementFeature(alignment, parser, parser)
    forward = DependencyAgreementFeature(alignment, parser, parser, links="forward")
    source, texts = PAIRS[0][0].split(), [["he", "saw", "the", "dog", "."], [], ["dog", "dog"]]
    mutual, one_way = both._links(source, texts), forward._links(source, texts)
    assert mutual[:5].tolist() == [0, 1, 2, 3, 4]
    assert one_way[5:].tolist() == [3, 3]
    assert sorted(mutual[5:].tolist()) == [-1, 3]


def test_the_command(tmp_path, monkeypatch, alignment):
    monkeypatch.chdir(tmp_path)
    lines = [*PAIRS[:1], ("den", "the"), ("", "x"), ("zu lang", "far too long"), ("den Hund", "the dog")]
    (tmp_path / "pairs").write_text("".join(f"{a} ||| {b}\n" for a, b in lines), encoding="utf-8")
    dog = DependencyTree(("the", "dog"), (1, -1), ("det", "root"), ("DET", "NOUN"))
    (tmp_path / "en.conllu").write_text(write_conllu(ENGLISH) + write_conllu(dog), encoding="utf-8")
    arguments = ("trees", "project", "pairs", "--alignment", alignment, "--trees", "en.conllu")
    ran = done(*arguments, "-o", "de.conllu")
    assert "5 pairs, 2 with a tree of up to 40 words on both sides; mean density of the trees kept 1.00" in ran.err
    assert says_what_it_wrote(ran, r"2 trees of 7 words", "de.conllu")
    text = (tmp_path / "de.conllu").read_text(encoding="utf-8")
    first, second = read_conllu(text.splitlines())
    assert (first.words, first.heads) == (("er", "sah", "den", "Hund", "."), ENGLISH.heads)
    assert (second.relations, second.tags) == (dog.relations, dog.tags)
    assert [line for line in text.splitlines() if "sent_id" in line] == ["# sent_id = 1", "# sent_id = 5"]
    (tmp_path / "en.conllu").write_text(write_conllu(dog) + write_conllu(ENGLISH), encoding="utf-8")
    assert refused(*arguments, "-o", "y") == (
        "en.conllu: tree 2 is of no target sentence, in the order of the pairs: 'he saw the dog .'"
    )
    assert not (tmp_path / "y").exists()


def test_the_command_parses(tmp_path, monkeypatch, alignment):
    monkeypatch.chdir(tmp_path)
    for side, name in enumerate(("de", "en")):
        (tmp_path / name).write_text(f"{PAIRS[0][side]}\n", encoding="utf-8")
    out = done("trees", "project", "de", "en", "--alignment", alignment, "-j", 1).out
    (tree,) = read_conllu(out.splitlines())
    assert tree.heads == ENGLISH.heads
    assert tree.tags == ENGLISH.tags
