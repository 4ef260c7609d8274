"""Structured vectorial semantics: states, headwords, the five models, files and commands."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rerank_plugins import ConfigError, FormatError, ModelError
from rerank_plugins.constituency.model_file import write_grammar
from rerank_plugins.constituency.treebank_grammar import encode_trees, treebank_grammar
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.trees.parseval import Parseval
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.svs import training, tree_posteriors
from rerank_plugins.svs.clustering import Clustering, cluster, expected, initial_parameters, maximised
from rerank_plugins.svs.clusters import clusters
from rerank_plugins.svs.model import EMBEDDED, compose, read_model, write_model
from rerank_plugins.svs.observed_trees import head_leaves, observe
from rerank_plugins.svs.parsing import SvsParser
from rerank_plugins.svs.states import category_and_relation, coarser, frame, gathered, named, state_forest, transitive
from rerank_plugins.svs.training import SvsSettings, train_svs
from tests.command_line import done, refused, says_what_it_wrote
from tests.model_files import check_damage_is_seen
from tests.random_trees import trees
from tests.svs import naive_svs_training as naive
from tests.svs.naive_svs_states import chains, state_trees
from tests.svs.svs_restoring import treebank_tree

BANK = """
(ROOT (S (NP (DT The) (NN dog)) (VP (VBD barked)) (. .)))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))) (. .)))
(ROOT (S (NP (PRP it)) (VP (VBD saw) (NP (PRP it)) (PP (IN in) (NP (DT the) (NN garden))))))
(ROOT (NP (NN dog)))
(ROOT (FRAG (NP (NP (DT a) (NN cat)) (SBAR (WHNP (WDT that)) (S (VP (VBD barked)))))))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBD barked) (PP (IN in) (NP (DT the) (NN garden)))) (. .)))
""".strip().splitlines()
SMALL = SvsSettings("en", ("klein-manning", "transitive"), rare=2, headwords=4)


@pytest.fixture(scope="module")
def bank():
    return list(read_trees(BANK))


def observed_of(found, rare=2, headwords=3, weights=None):
    cleaned = [clean(tree) for tree in found]
    states = state_trees(cleaned, named(["klein-manning"]), rare)
    return observe(encode_trees([state.tree for state in states], weights=weights), headwords)


forests = st.lists(trees.filter(lambda tree: len(tree.words()) <= 3), min_size=1, max_size=3)


def test_the_papers_figure_1():
    """Equation 4 on the matrices that Figure 1 prints gives 0.4 · 0.45 · 1 = 0.18; the paper prints 0.036."""
    rule = np.array([0.2, 0.1, 0.4])
    modifier = np.array([[0, 0.2, 0.8], [0, 0, 1], [0.1, 0.4, 0.5]])
    the, engineers = np.array([0, 1, 0.1]), np.array([0, 0, 1.0])
    np.testing.assert_allclose(compose(rule, modifier, the, np.eye(3), engineers), [0, 0, 0.18], atol=1e-15)


def test_symbols_of_a_tree():
    (tree,) = read_trees(["(ROOT (S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (PRP it)) (ADVP (RB then))) (. .)))"])
    (state,) = state_trees([tree], named(["transitive"]), rare=1)
    assert str(state.tree) == (
        "(ROOT (S/ID (NP/MOD:S< (DT/MOD:NP< The) (NN/ID dog)) (@S:VP|./ID (VP/ID (@VP:VBD-argNP|NP/ID "
        "(VBD-argNP/ID saw) (NP-U/MOD:VP> (PRP/ID it))) (ADVP-U/MOD:VP> (RB/ID then))) (./MOD:S> .))))"
    )
    assert state.between == ("", "", "")


def test_subcategorisation():
    (tree,) = read_trees(["(S (VP (VBD gave) (NP-TMP (NN today)) (NP (PRP her)) (, ,) (NP (NN it)) (PP (IN to))))"])
    vp = tree.subtrees[0]
    verb = vp.subtrees[0]
    assert (transitive(verb, (vp, tree)), frame(verb, (vp, tree))) == ("-argNP", "-argNP-NP")
    assert (transitive(vp, (tree,)), frame(vp.subtrees[2], (vp, tree))) == ("", "")


def test_names_give_way_one_mark_at_a_time():
    name, steps = "@VP-FIN-v:VBD-BE-argNP|PP", []
    while name is not None:
        steps.append(name)
        name = coarser(name)
    assert steps == [
        "@VP-FIN-v:VBD-BE-argNP|PP", "@VP-FIN-v:VBD-BE|PP", "@VP-FIN-v:VBD|PP", "@VP-FIN:VBD|PP", "@VP:VBD|PP",
        "@VP:VBD|", "@VP:|",
    ]  # fmt: skip
    assert coarser("-LRB-") is coarser("NP-U") is coarser("ROOT") is None
    assert coarser("NP-U-P") == "NP-U"


@given(st.dictionaries(st.sampled_from(["A", "A-x", "A-x-y", "A-z", "B-x", "B"]), st.integers(1, 20)))
def test_rare_names_are_gathered(counts):
    names = gathered(counts, coarser, 10)
    totals = Counter()
    for name, count in counts.items():
        totals[names[name]] += count
        assert name.startswith(names[name])
    assert all(total >= 10 or coarser(name) is None for name, total in totals.items())


@given(trees, st.sampled_from([1, 2, 100]))
def test_states_keep_the_tree(tree, rare):
    """Symbols lead back to the treebank's tree, in which one of two children is the head."""
    tree = clean(tree)
    states = state_trees([tree], named(["klein-manning", "frame"]), rare)
    pairs = {}
    unaries = [node for node in states[0].tree.nodes() if len(node.subtrees) == 1]
    for node, between in zip(unaries, states[0].between, strict=True):
        assume(pairs.setdefault((node.label, node.subtrees[0].label), between) == between)
    settings = SvsSettings("en", ("klein-manning", "frame"), rare, clustering=Clustering(1, 1))
    model = train_svs([[tree]], [1.0], settings)
    assert treebank_tree(states[0].tree, model) == tree
    for node in states[0].tree.nodes():
        roles = [category_and_relation(child.label)[1] for child in node.subtrees]
        assert roles in ([], ["ID"]) or sorted(role[:3] for role in roles) == ["ID", "MOD"]


@given(trees)
def test_headwords_come_from_the_head_rules(tree):
    """Phrase by phrase as from the top down; intermediate nodes are left out."""
    tree = clean(tree)
    (state,) = state_trees([tree], [], rare=1)
    numbered = Tree("ROOT", state.tree.children)
    forest = encode_trees([numbered])
    relation = np.array([category_and_relation(label)[1] != "ID" for label in forest.labels], np.int32)
    leaves = np.flatnonzero(forest.word >= 0).tolist()
    heads, found, width = head_leaves(forest, relation), Counter(), [1] * len(forest.label)
    first = list(range(len(forest.label)))
    for node in range(len(forest.label)):
        if forest.right[node] >= 0:
            first[node] = first[forest.left[node]]
            width[node] = width[forest.left[node]] + width[forest.right[node]]
            if not forest.labels[forest.label[node]].startswith("@"):
                begin = leaves.index(first[node])
                found[begin, begin + width[node], tree.words()[leaves.index(heads[node])]] += 1
        elif forest.left[node] >= 0:
            first[node], width[node] = first[forest.left[node]], width[forest.left[node]]
    assert found == naive.phrase_heads(tree)


@pytest.mark.slow
@given(forests, st.integers(1, 3), st.integers(0, 9))
def test_expected_counts_are_those_of_all_assignments(found, concepts, seed):
    weights = [1.0, 0.5, 3.0][: len(found)]
    observed = observed_of(found, weights=weights)
    assume(concepts ** max(np.diff(observed.forest.offsets)) <= 3**7)
    parameters = initial_parameters(observed, Clustering(concepts), np.random.default_rng(seed))
    result = expected(observed, parameters, posteriors=True)
    for value, wanted in zip(result, naive.expectations(observed, parameters), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-12)


def test_sums_of_expected_counts_have_one_order(bank, monkeypatch):
    """Compiled for whatever processor, the kernel gives the numbers of the same lines in Python."""
    observed = observed_of(bank)
    parameters = initial_parameters(observed, Clustering(9), np.random.default_rng(1))
    counts = expected(observed, parameters)
    monkeypatch.setattr(tree_posteriors, "infer", tree_posteriors.infer.py_func)
    again = expected(observed, parameters)
    assert [values.tobytes() for values in again[1:]] == [values.tobytes() for values in counts[1:]]


@given(st.lists(trees, min_size=1, max_size=4), st.integers(1, 4), st.integers(0, 9), st.sampled_from([0.0, 0.5, 20.0]))
def test_em_never_lowers_the_likelihood(found, concepts, seed, prior):
    """Without a prior the likelihood, with one the likelihood times the prior."""
    observed = observed_of(found)
    steps = []
    settings = Clustering(concepts, 5, 1, seed, rule_prior=prior, head_prior=prior / 2)
    cluster(observed, settings, steps.append)
    objective = np.array([step.objective for step in steps])
    assert len(objective) == 6
    assert (np.diff(objective) >= -1e-9 * np.maximum(1, np.abs(objective[:-1]))).all()
    if not prior:
        np.testing.assert_array_equal(objective, [step.log_likelihood for step in steps])


def test_em_that_goes_wrong_is_noticed(bank, monkeypatch):
    observed = observed_of(bank)
    monkeypatch.setattr(
        "rerank_plugins.svs.clustering.maximised",
        lambda observed, found, settings: initial_parameters(
            observed, Clustering(2, noise=9.0), np.random.default_rng(1)
        ),
    )
    with pytest.raises(ModelError, match=r"EM went wrong: from -.* to -.* in iteration 2"):
        cluster(observed, Clustering(2, 5, noise=0.1))


def assert_proper(model):
    totals = model.totals()
    rewritten = totals.max(axis=1) > 0
    assert rewritten.all()
    np.testing.assert_allclose(totals[totals > 0], 1, rtol=1e-9)
    np.testing.assert_allclose(model.transfer.sum(axis=2), 1, rtol=1e-9)
    np.testing.assert_allclose([model.prior.sum(), model.root.sum()], 1, rtol=1e-9)
    owner = np.repeat(np.arange(len(model.symbols)), np.diff(model.heads.starts))
    heads = np.zeros_like(totals)
    np.add.at(heads, owner, model.heads.p)
    np.testing.assert_allclose(heads[model.prior > 0], 1, rtol=1e-9)


@pytest.mark.parametrize("prior", [0.0, 5.0])
@pytest.mark.parametrize("tagged", [None, {("bird", "NN"): 2.0, ("Dog", "NN"): 1.0, ("saw", "NN"): 1.0}])
def test_all_distributions_sum_to_one(bank, prior, tagged):
    settings = replace(SMALL, clustering=Clustering(3, 4, rule_prior=prior, head_prior=prior))
    model = train_svs([bank], [1.0], settings, tagged=tagged)
    assert_proper(model)
    assert (model.totals() > 0).all()
    assert ("bird" in model.lexicon) == bool(tagged)


def check_streamed(found, weights, rare):
    annotations = named(SMALL.annotations)
    states = state_trees(found, annotations, rare, weights)
    wanted = encode_trees([state.tree for state in states], weights=weights)
    forest, between = state_forest(iter(found), annotations, rare, weights=lambda _: np.array(weights))
    assert forest.labels == wanted.labels
    for name in ("label", "left", "right", "word", "offsets", "weights"):
        np.testing.assert_array_equal(getattr(forest, name), getattr(wanted, name))
    assert between == chains(states)


@pytest.mark.parametrize("rare", [1, 2, 5, 100])
def test_streamed_states_are_those_of_the_trees(bank, rare):
    clash = clean(*read_trees(["(S (NP (NP a)) (VP (VB (NP b)) (X (NP (NP c)) (SBAR d))))"]))
    check_streamed([*map(clean, bank), clash], [1.0] * 6 + [0.5], rare)


@settings(max_examples=20)
@given(forests)
def test_streamed_states_of_random_trees(found):
    check_streamed([clean(tree) for tree in found], [1.0] * len(found), 2)


@pytest.mark.parametrize("prior", [0.0, 20.0])
def test_one_concept_is_the_treebank_grammar(bank, prior):
    settings = replace(SMALL, clustering=Clustering(1, 3, rule_prior=prior, head_prior=prior))
    model = train_svs([bank, bank[:2]], [1.0, 0.5], settings)
    cleaned = [clean(tree) for tree in bank]
    weights = [1.0] * 6 + [0.5] * 2
    states = state_trees([*cleaned, *cleaned[:2]], named(SMALL.annotations), SMALL.rare, weights)
    grammar = treebank_grammar(encode_trees([state.tree for state in states], weights=weights))
    assert model.symbols == grammar.symbols
    np.testing.assert_array_equal(model.binary, grammar.binary)
    np.testing.assert_array_equal(model.unary, grammar.unary)
    np.testing.assert_allclose(model.binary_p[:, 0], np.exp(grammar.binary_logp), rtol=1e-14)
    np.testing.assert_allclose(model.unary_p[:, 0], np.exp(grammar.unary_logp), rtol=1e-14)
    np.testing.assert_array_equal(model.lexicon.symbols, grammar.lexicon.symbols)
    np.testing.assert_allclose(model.lexicon.p[:, 0], np.exp(grammar.lexicon.logp), rtol=1e-14)


def test_words_of_a_class_share_its_concepts(bank):
    """P(w | lci) = P_H(h | lci) · P(w | h, lc): case makes no difference to concepts, rare words are all unk."""
    settings = replace(SMALL, annotations=(), headwords=6, clustering=Clustering(3, 5, noise=2.0))
    model = train_svs([bank], [1.0], settings, tagged={("DOG", "NN"): 2.0, ("bird", "NN"): 2.0, ("cow", "NN"): 1.0})
    assert "dog" in model.heads.headwords

    def vector(word):
        entries = model.lexicon.entries(word, 1)
        symbols, p = model.lexicon.symbols[entries], model.lexicon.p[entries]
        row = p[[model.symbols[s] for s in symbols].index("NN/ID")]
        return row / row.sum()

    np.testing.assert_allclose(vector("dog"), vector("DOG"), rtol=1e-12)
    np.testing.assert_allclose(vector("bird"), vector("cow"), rtol=1e-12)
    assert np.abs(vector("dog") - vector("cow")).max() > 1e-3


def test_priors_are_expected_shares_of_all_constituents(bank):
    settings = replace(SMALL, clustering=Clustering(2, 3))
    model = train_svs([bank[:2]], [1.0], settings)
    observed = observed_of(bank[:2], rare=2, headwords=4)
    states = state_trees([clean(tree) for tree in bank[:2]], named(SMALL.annotations), SMALL.rare)
    observed = observe(encode_trees([state.tree for state in states]), 4)
    parameters, _ = cluster(observed, settings.clustering)
    *_, roots, posterior = naive.expectations(observed, parameters)
    shares = np.array([posterior[observed.forest.label == s].sum(axis=0) for s in range(len(model.symbols))])
    np.testing.assert_allclose(model.prior, shares / shares.sum(), rtol=1e-9)
    np.testing.assert_allclose(model.root, parameters.root, rtol=1e-12)
    np.testing.assert_allclose(maximised(observed, expected(observed, parameters), settings.clustering).root, roots / 2)


def test_a_seed_gives_a_model_and_restarts_the_best(bank):
    def trained(**given):
        steps = []
        settings = replace(SMALL, clustering=Clustering(3, 4, **given))
        return train_svs([bank], [1.0], settings, steps.append), steps

    one, steps = trained(restarts=4, seed=3)
    again, _ = trained(restarts=4, seed=3)
    other, _ = trained(restarts=4, seed=4)
    np.testing.assert_array_equal(one.binary_p, again.binary_p)
    assert not np.array_equal(one.binary_p, other.binary_p)
    assert sum(step.iteration == 5 for step in steps) == 4
    observed = observed_of(bank)  # an initialisation does not depend on how many there are
    kept = []
    for restarts in (1, 2, 4):
        seen = []
        cluster(observed, Clustering(3, 4, restarts, 3), seen.append)
        parameters, found = cluster(observed, Clustering(3, 4, restarts, 3))
        ends = [(step.objective, step.log_likelihood) for step in seen if step.iteration == 5]
        assert found.log_likelihood == max(ends)[1]
        assert expected(observed, parameters).log_likelihood == found.log_likelihood
        kept.append(ends)
    assert kept[2][:2] == kept[1]
    assert kept[1][:1] == kept[0]
    seen = []
    cluster(observed, Clustering(1, 4, 4, 3), seen.append)
    assert [step.restart for step in seen] == [1] * 5  # one concept has one run


@pytest.mark.slow
def test_long_sentences_do_not_underflow():
    words = " ".join(f"(NN w{i})" for i in range(1500))
    observed = observed_of(list(read_trees([f"(ROOT (NP {words}))", "(ROOT (NP (NN w1) (NN w2)))"])), rare=1)
    found = cluster(observed, Clustering(3, 2))[1]
    assert np.isfinite(found.log_likelihood)
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1, rtol=1e-9)


def test_the_file_gives_the_model_back(bank, tmp_path):
    model = train_svs([bank], [1.0], replace(SMALL, clustering=Clustering(3, 3, noise=2.0)))
    for compact, off in ((False, 1e-5), (True, 0.02)):
        write_model(model, tmp_path / "m.svs", compact=compact)
        again = read_model(tmp_path / "m.svs")
        assert (again.symbols, again.between, again.relations) == (model.symbols, model.between, model.relations)
        assert again.settings["clustering"]["concepts"] == 3
        np.testing.assert_array_equal(again.unary, model.unary)
        for name in ("binary_p", "unary_p", "transfer", "prior", "root"):
            np.testing.assert_allclose(getattr(again, name), getattr(model, name), rtol=off, atol=1e-12)
        np.testing.assert_allclose(again.lexicon.p, model.lexicon.p, rtol=off)
        assert_proper(again)


def test_files_that_are_no_models(bank, tmp_path):
    path = tmp_path / "m.svs"
    write_model(train_svs([bank], [1.0], SMALL), path)
    check_damage_is_seen(path, read_model, ModelError)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"m.svs: .*cut short"):
        read_model(path)
    write_grammar(treebank_grammar(encode_trees([clean(tree) for tree in bank])), path)
    with pytest.raises(ModelError, match=r"m.svs: holds a grammar model, wanted a svs model"):
        read_model(path)


def test_settings_that_make_no_sense(bank):
    with pytest.raises(ConfigError, match="concepts and restarts are 1 or more"):
        Clustering(0)
    with pytest.raises(ConfigError, match="pseudo-counts are 0 or more"):
        Clustering(2, rule_prior=-1)
    with pytest.raises(ConfigError, match="unknown annotation 'base-mp'"):
        named(["base-mp"])
    with pytest.raises(FormatError, match="no trees to learn from"):
        train_svs([[]], [1.0], SMALL)
    with pytest.raises(FormatError, match="label '@NP' begins with @"):
        train_svs([list(read_trees(["(ROOT (@NP (NN a) (NN b)))"]))], [1.0], SMALL)


def test_a_tag_with_the_name_of_a_phrase():
    model = train_svs([list(read_trees(["(ROOT (S (X (X a) (NN b)) (X c)))"] * 2))], [1.0], SMALL)
    assert {name[:4] for name in model.symbols if name.startswith("X")} == {"X/ID", "X-T-"}
    parents = {*model.binary[:, 0].tolist(), *model.unary[:, 0].tolist()}
    assert not parents & set(np.flatnonzero(model.preterminals).tolist())


def test_clusters_of_a_category(bank):
    model = train_svs([bank], [1.0], replace(SMALL, clustering=Clustering(2, 5, noise=2.0)))
    found = clusters(model, "VBD")
    assert sum(cluster.proportion for cluster in found) == pytest.approx(1)
    assert [cluster.proportion for cluster in found] == sorted((cluster.proportion for cluster in found), reverse=True)
    for each in found:
        assert sum(head.p for head in each.heads) == pytest.approx(1)
        assert {head.headword for head in each.heads} <= set(model.heads.headwords)
    shares = {cluster.concept: {head.headword: head.of_headword for head in cluster.heads} for cluster in found}
    for word in shares[1].keys() & shares[2].keys():
        assert shares[1][word] + shares[2][word] == pytest.approx(1)
    assert len(clusters(model, "NN", top=1)[0].heads) == 1
    symbol = next(name for name in model.symbols if name.startswith("NN"))
    assert clusters(model, symbol)
    with pytest.raises(ConfigError, match=r"no category 'VVFIN' in the model; its tags are .*VBD"):
        clusters(model, "VVFIN")


def test_commands(tmp_path):
    bank, model = tmp_path / "bank.ptb", tmp_path / "m.svs"
    bank.write_text("\n".join(BANK * 4), encoding="utf-8")
    few = ("--concepts", 2, "--max-headwords", 5, "--iterations", 3, "--restarts", 2)
    ran = done("train", "svs", bank, "--language", "en", *few, "-o", model, "--held-out", bank)
    assert "restart 2 of 2: ln p of trees and headwords -" in ran.err
    assert "24 sentences, F1 " in ran.err
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", model)
    # file, two restarts, the one that is kept, the model, a warning of the same file, the test, the file
    assert len(ran.err.splitlines()) == 8
    assert "bank.ptb: the model is trained on this very file" in ran.err
    shown = done("lm", "clusters", model, "--category", "VBD")
    assert shown.out.startswith("Clusters of VBD")
    assert max(map(len, shown.lines)) <= 80
    assert len(shown.lines) <= 24
    rows = done("lm", "clusters", model, "--category", "VBD", "--as", "tsv", "--top", 3).lines
    assert rows[0].split("\t")[:4] == ["category", "concept", "share", "rank"]
    records = json.loads(done("lm", "clusters", model, "--category", "NN", "--as", "json").out)
    assert {record["headword"] for record in records} <= {"dog", "cat", "garden", "unk", "saw", "barked", "in"}
    assert "no category 'VVFIN'" in refused("lm", "clusters", model, "--category", "VVFIN")
    empty = tmp_path / "empty.ptb"
    empty.touch()
    assert "empty.ptb: the file holds no trees" in refused("train", "svs", empty, "--language", "en", "-o", model)
    named_wrong = refused("train", "svs", bank, "--language", "en", "--annotations", "base-mp", "-o", model)
    assert "unknown annotation 'base-mp'" in named_wrong
    done("train", "svs", bank, "--language", "en", *few, "-o", model, "--compact")
    assert read_model(model).concepts == 2


def test_the_embedded_model():
    model = read_model(EMBEDDED)
    assert EMBEDDED.stat().st_size < 3e6
    assert (model.settings["language"], model.concepts, len(model.heads.headwords)) == ("en", 10, 1001)
    assert_proper(model)
    best = {cluster.concept: {head.headword for head in cluster.heads} for cluster in clusters(model, "VBD")}
    assert any({"said", "thought", "wrote", "observed"} <= heads for heads in best.values())
    assert any({"wanted", "began", "started", "seemed"} <= heads for heads in best.values())


@pytest.mark.slow
def test_clusters_help_parsing(shared_data, monkeypatch):
    """Trained on GUM train, tested on GUM dev: better trees than the same states without concepts."""
    forests = []

    def same_states(*arguments):
        """The states of both models, which do not depend on the concepts and take most of the time."""
        if not forests:
            forests.append(state_forest(*arguments))
        return forests[0]

    monkeypatch.setattr(training, "state_forest", same_states)
    train = list(read_trees((shared_data / "treebank_gum/gum-train.ptb").read_text("utf-8").splitlines()))
    dev = list(read_trees((shared_data / "treebank_gum/gum-dev.ptb").read_text("utf-8").splitlines()))
    dev = [tree for tree in map(clean, dev) if tree and len(tree.words()) <= 40][::4]
    f1 = []
    for concepts in (1, 10):
        settings = SvsSettings("en", clustering=Clustering(concepts, restarts=1))
        parser, found = SvsParser(train_svs([train], [1.0], settings)), Parseval()
        for tree in dev:
            found.add(tree, parser.parse(tree.words()).tree())
        f1.append(found.percent()["F1"])
    assert f1[0] > 79
    assert f1[1] > f1[0] + 0.2
