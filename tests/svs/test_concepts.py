"""Concepts of headwords: arcs and roles, trees of content words, the model, its training and its file."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from rerank_plugins import ConfigError, FormatError, ModelError
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.files.model_file import read_model as read_container
from rerank_plugins.kit.files.model_file import write_model as write_container
from rerank_plugins.svs.clusters import concept_clusters
from rerank_plugins.svs.concept_model import form, read_model, write_model
from rerank_plugins.svs.concept_training import (
    ConceptSettings,
    Parameters,
    expected,
    first_guess,
    head_vectors,
    maximised,
    train_concepts,
)
from rerank_plugins.svs.context_vectors import (
    SparseRows,
    cluster_centres,
    positive_information,
    relation_contexts,
    singular_vectors,
    unit_rows,
    window_contexts,
)
from rerank_plugins.svs.head_arcs import content_tree, head_arcs
from rerank_plugins.svs.head_forest import head_forest
from tests.command_line import done, one_line, refused, rerank
from tests.model_files import check_damage_is_seen
from tests.random_trees import trees
from tests.svs import naive_tree_posteriors as naive
from tests.svs.test_svs_training import BANK

SMALL = ConceptSettings("en", concepts=3, least=1, dimensions=4, iterations=2, head_prior=0.5, relation_prior=0.5)


def arcs_of(brackets):
    (tree,) = read_trees([brackets])
    return head_arcs(tree)


def by_word(arcs):
    return {word: (role, arcs.words[above] if above >= 0 else "")
            for word, role, above in zip(arcs.words, arcs.roles, arcs.above, strict=True)}  # fmt: skip


def test_roles_of_active_and_passive():
    active = by_word(arcs_of(
        "(ROOT (S (NP (PRP He)) (VP (MD will) (VP (VB give) (NP (NNP Mary)) (NP (DT a) (NN book)))) (. .)))"
    ))  # fmt: skip
    assert (active["He"], active["Mary"], active["book"]) == (("subject", "give"), ("to", "give"), ("object", "give"))
    other = by_word(arcs_of(
        "(ROOT (S (NP (PRP He)) (VP (VBD gave) (NP (DT a) (NN book)) (PP (TO to) (NP (NNP Mary))))))"
    ))  # fmt: skip
    assert (other["Mary"], other["book"]) == (("to", "gave"), ("object", "gave"))
    passive = by_word(arcs_of(
        "(ROOT (S (NP (DT The) (NN book)) (VP (VBZ has) (VP (VBN been) (VP (VBN given) (PP (TO to) (NP (NNP Mary)))"
        " (PP (IN by) (NP (PRP him))))))))"
    ))  # fmt: skip
    assert (passive["book"], passive["Mary"], passive["him"]) == (
        ("object", "given"), ("to", "given"), ("subject", "given")
    )  # fmt: skip
    recipient = by_word(arcs_of(
        "(ROOT (S (NP (NNP Mary)) (VP (VBD was) (VP (VBN given) (NP (DT a) (NN book)) (PP (IN by) (NP (PRP him)))))))"
    ))  # fmt: skip
    assert (recipient["Mary"], recipient["book"]) == (("to", "given"), ("object", "given"))


def test_roles_that_are_no_passive():
    perfect = by_word(arcs_of("(ROOT (S (NP (PRP She)) (VP (VBZ has) (VP (VBN sold) (NP (PRP it))))))"))
    assert (perfect["She"], perfect["it"]) == (("subject", "sold"), ("object", "sold"))
    near = by_word(arcs_of("(ROOT (S (NP (PRP She)) (VP (VBD stood) (PP (IN by) (NP (DT the) (NN sea))))))"))
    assert near["sea"] == ("by", "stood")
    clause = by_word(arcs_of(
        "(ROOT (S (NP (PRP I)) (VP (VBP think) (SBAR (IN that) (S (NP (PRP she)) (VP (VBD slept)))))))"
    ))  # fmt: skip
    assert clause["slept"] == ("MOD:VP>", "think")
    german = by_word(arcs_of("(ROOT (VERB.root (NOUN.nsubj (NOUN Hunde)) (AUX.aux (AUX haben)) (VERB gebellt)))"))
    assert german == {"Hunde": ("MOD:nsubj", "gebellt"), "haben": ("MOD:aux", "gebellt"), "gebellt": ("ID", "")}


def test_the_tree_of_content_words():
    arcs = arcs_of(
        "(ROOT (S (NP (NP (DT All)) (PP (IN of) (NP (DT the) (NNS men)))) (VP (VBD were) (VP (VBN seen) (PP (IN in)"
        " (NP (NN town))))) (. .)))"
    )
    found = content_tree(arcs)
    words = [arcs.words[place] for place in found.places]
    above = [words[node] if node >= 0 else "" for node in found.parent]
    assert dict(zip(words, zip(found.relations, above, strict=True), strict=True)) == {
        "seen": ("ID", ""), "men": ("object", "seen"), "town": ("in", "seen"),
    }  # fmt: skip
    assert words[-1] == "seen"
    assert content_tree(arcs_of("(ROOT (X (DT the) (. .)))")) == ((), (), ())


@settings(max_examples=60)
@given(trees)
def test_arcs_are_a_tree(tree):
    arcs = head_arcs(Tree("ROOT", (tree,)))
    assert arcs.words == tree.words()
    assert sum(above < 0 for above in arcs.parent) == 1
    for word in range(len(arcs.words)):
        steps, above = 0, word
        while above >= 0:
            steps, above = steps + 1, arcs.parent[above]
            assert steps <= len(arcs.words)
    content = content_tree(arcs)
    assert all(above > node for node, above in enumerate(content.parent[:-1]))
    assert content.parent[-1:] in ((), (-1,))


@pytest.fixture(scope="module")
def bank():
    return list(read_trees(BANK))


def forest_of(bank):
    return head_forest([bank, bank[:2]], [1.0, 0.5], most=100, least=1, common=1)


def test_the_forest(bank):
    forest = forest_of(bank)
    counts = dict(zip(forest.heads, forest.counts.tolist(), strict=True))
    assert (counts["the/DT"], counts["dog/NN"], counts["<unk>/NN"]) == (7.5, 4, 0)
    used = dict(zip(forest.heads, forest.used.tolist(), strict=True))
    assert (used["the/DT"], used["dog/NN"], used["saw/VB"]) == (0, 4, 2.5)
    assert set(forest.relations) >= {"MOD", "subject", "object", "in"}
    few = head_forest([bank], [1.0], most=2, least=1, common=10**6)
    assert few.relations == ("MOD",)
    assert few.counts.sum() == sum(len(tree.words()) for tree in bank)


def test_expected_counts_are_sums_over_all_assignments(bank):
    forest = forest_of(bank)
    rng = np.random.default_rng(1)
    now = first_guess(forest, unit_rows(rng.standard_normal((len(forest.heads), 4))), SMALL, rng)
    total, counts = expected(forest, now, lambda done: None)
    posterior, logs = naive.posteriors(forest.trees, now.emission, now.transfer, now.root)
    assert total == pytest.approx(float(forest.weights @ logs))
    heads = np.zeros_like(now.emission)
    np.add.at(heads, forest.trees.rule, posterior * forest.node_weights[:, None])
    np.testing.assert_allclose(counts.heads, heads, atol=1e-9)
    tops = forest.trees.parent < 0
    np.testing.assert_allclose(counts.roots, (posterior * forest.node_weights[:, None])[tops].sum(axis=0), atol=1e-9)
    assert counts.flows.sum() == pytest.approx(float(forest.node_weights[~tops].sum()))


def test_em_without_pseudo_counts_never_lowers_the_likelihood(bank):
    forest, rng = forest_of(bank), np.random.default_rng(2)
    exact = replace(SMALL, head_prior=0.0, relation_prior=0.0)
    now: Parameters = first_guess(forest, head_vectors(forest, None, 4, rng), exact, rng)
    totals = []
    for _ in range(6):
        total, counts = expected(forest, now, lambda done: None)
        totals.append(total)
        now = maximised(forest, counts, exact)
    assert all(after >= before - 1e-6 for before, after in pairwise(totals))
    assert totals[-1] > totals[0]
    np.testing.assert_allclose(now.transfer.sum(axis=2), 1)


def test_windows_and_arcs_by_hand():
    number = {form(word): i for i, word in enumerate(["a", "b", "c"])}
    matrix = window_contexts(["a x b", "B c", "c", ""], number)
    counts = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], float)  # x is between a and b, and the lines are apart
    row, column = np.nonzero(counts)
    wanted = positive_information(row, column, counts[row, column], counts.shape)
    for found, expected_ in zip(matrix, wanted, strict=True):
        np.testing.assert_array_equal(found, expected_)
    smoothed = np.array([1, 2, 1]) ** 0.75
    wanted = np.log(1 / (1 * smoothed[1] / smoothed.sum()))
    assert matrix.values[0] == pytest.approx(wanted)
    few = relation_contexts(np.array([1]), np.array([0]), np.array([0]), np.array([2.0]), 3)
    assert len(few.values) == 0  # contexts that occur less than three times are left out


def test_singular_vectors_are_those_of_the_dense_matrix():
    rng = np.random.default_rng(3)
    dense = rng.random((12, 9)) * (rng.random((12, 9)) < 0.5)
    row, column = np.nonzero(dense)
    starts = np.searchsorted(row, np.arange(13)).astype(np.int64)
    found = singular_vectors(SparseRows(starts, column.astype(np.int32), dense[row, column], 9), 4, rng)
    u, s, _ = np.linalg.svd(dense)
    wanted = u[:, :4] * np.sqrt(s[:4])
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-8)


def test_clusters_of_well_separated_vectors():
    rng = np.random.default_rng(4)
    vectors = unit_rows(np.repeat(np.eye(3), 5, axis=0) + 0.01 * rng.standard_normal((15, 3)))
    centres = cluster_centres(vectors, np.ones(15), 3, rng)
    own = (vectors @ centres.T).argmax(axis=1).reshape(3, 5)
    assert sorted(set(own.ravel().tolist())) == [0, 1, 2]
    assert (own == own[:, :1]).all()


@pytest.fixture(scope="module")
def model(bank):
    return train_concepts([bank], [1.0], SMALL, ["the dog barked", "the cat saw it"])


def test_the_model(model, bank):
    arcs = [head_arcs(tree) for tree in bank]
    found, places = model.of_trees(bank, arcs)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    words = [word for tree in bank for word in tree.words()]
    assert {words[place].lower() for place in places} == {"dog", "barked", "cat", "saw", "garden"}
    assert "Dog" in model
    assert "unheard" not in model
    known, unknown = model.information(["the", "unheard"])
    assert known < unknown
    assert model.head_number("unheard", "NNS") == model.heads.index("<unk>/NN")
    assert model.head_number("unheard", "STRANGE") == -1


def test_the_file(model, tmp_path):
    path = tmp_path / "small.concepts"
    write_model(model, path, compact=True)
    again = read_model(path)
    for name in ("emission", "transfer", "root", "prior", "counts", "used"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert (again.heads, again.relations) == (model.heads, model.relations)
    check_damage_is_seen(path, read_model, ModelError)
    write_model(replace(model), path)
    settings, arrays = read_container(path, "concepts")
    write_container(path, "concepts", settings, {**arrays, "root": -arrays["root"]})
    with pytest.raises(ModelError, match=r"small\.concepts: .*: root has -.*, wanted a probability"):
        read_model(path)
    with pytest.raises(ModelError, match="its first relation is not MOD"):
        replace(model, relations=("subject",))


def test_the_command(tmp_path):
    bank = tmp_path / "bank.ptb"
    bank.write_text("\n".join(BANK) + "\n", encoding="utf-8")
    text = tmp_path / "text.txt"
    text.write_text("the dog barked\nthe cat saw it\n", encoding="utf-8")
    output = tmp_path / "x.concepts"
    options = ["--language", "en", "--concepts", "2", "--min-count", "0.01", "-o", output]
    ran = done("train", "svs-concepts", bank, "--text-file", text, *options)
    assert "2 concepts" in ran.out + ran.err
    assert read_model(output).concepts == 2
    many = rerank("train", "svs-concepts", bank, *options, "--concepts", "1000")
    assert "wanted fewer concepts" in one_line(many, 2, after=True)
    assert "the head rules for trees in brackets are English" in refused(
        "train", "svs-concepts", bank, "--language", "de", "-o", output
    )


def test_what_cannot_be(bank):
    with pytest.raises(FormatError, match="no trees to learn from"):
        train_concepts([[]], [1.0], SMALL)
    with pytest.raises(ConfigError, match="1 or more"):
        replace(SMALL, concepts=0)
    with pytest.raises(ConfigError, match="0 or more"):
        replace(SMALL, head_prior=-1)


def test_clusters(model, tmp_path):
    found = concept_clusters(model, "NN", top=2)
    assert len(found) == model.concepts
    assert sum(cluster.proportion for cluster in found) == pytest.approx(1)
    assert {head.headword for cluster in found for head in cluster.heads} <= {"dog", "cat", "garden"}
    path = tmp_path / "small.concepts"
    write_model(model, path)
    shown = done("lm", "clusters", path, "--category", "VB", "--as", "tsv").lines
    assert {line.split("\t")[4] for line in shown[1:]} == {"barked", "saw"}
    assert "no part of speech 'XX'" in refused("lm", "clusters", path, "--category", "XX")
