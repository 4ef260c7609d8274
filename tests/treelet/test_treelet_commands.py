"""`rerank train treelet-lm` and `rerank lm sample`; the language models and features over treelet models; SLR."""

import pickle

import numpy as np
import pytest

from rerank_adapters.decoding import BeamScorer
from rerank_adapters.features.extract import extract
from rerank_adapters.features.feature import Feature
from rerank_plugins import ConfigError, Hypothesis, LanguageModel, NBestList, Parse, Parser
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.languages import embedded
from rerank_plugins.kit.files.model_file import model_kind, write_model
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.testing import check_feature_extractor, check_language_model
from rerank_plugins.treelet import language_model as parsed_lm
from rerank_plugins.treelet import model as treelet_model
from rerank_plugins.treelet.headlex import read_model as read_headlex
from rerank_plugins.treelet.language_model import HeadlexLanguageModel, TreeletLanguageModel
from rerank_plugins.treelet.model import TreeletModel, read_model
from rerank_plugins.treelet.slr import SlrFeature
from tests.command_line import done, refused, says_what_it_wrote
from tests.treelet.test_treelet import BANK, TREES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A treebank, its sentences as text, and models of it."""
    folder = tmp_path_factory.mktemp("treelet")
    (folder / "bank.ptb").write_text(BANK, encoding="utf-8")
    (folder / "text.txt").write_text("".join(" ".join(t.words()) + "\n" for t in TREES) + "\n", encoding="utf-8")
    for variant in ("treelet", "headlex"):
        done("train", "treelet-lm", folder / "bank.ptb", "--variant", variant, "-o", folder / f"bank.{variant}")
    return folder


class KnownTrees(Parser):
    """The trees of the treebank, twice each and once more with another label; no parse of other sentences."""

    def parse(self, sentences):
        known = {tree.words(): tree for tree in TREES}
        return [self._parse(known.get(tuple(words))) for words in sentences]

    @staticmethod
    def _parse(tree):
        if tree is None:
            return Parse()
        other = next(read_trees([str(tree).replace("(S (", "(SQ (")]))
        return Parse(constituents=tuple(ScoredTree(each, -1.0) for each in (tree, tree, other)))


def test_treebank_and_text_give_the_same_model(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    parser = f"treebank,path={folder / 'bank.ptb'}"
    for number, (wanted, text) in enumerate([("9 parsed now", ()), ("0 parsed now", ("--text", "none"))]):
        out = tmp_path / f"{number}.treelet"
        ran = done("train", "treelet-lm", folder / "text.txt", "-p", parser, "-j", "1", *text, "-o", out)
        assert wanted in ran.err
    bank, text = read_model(folder / "bank.treelet"), read_model(out)
    np.testing.assert_array_equal(bank.score_trees(TREES), text.score_trees(TREES))
    assert bank.provenance["files"] == ["bank.ptb"]


def test_settings_and_held_out_trees(folder, tmp_path):
    out = tmp_path / "m"
    ran = done(
        *("train", "treelet-lm", folder / "bank.ptb", "--variant", "treelet-rule", "--min-rule-count", "2", "-o", out),
        *(
            "--prune",
            "0,0,1",
            "--prune-rules",
            "0 0 1",
            "--prune-yields",
            "0,1",
            "--held-out",
            folder / "bank.ptb",
            "--seed",
            "3",
        ),
    )
    model = read_model(out)
    assert (model.settings.variant, model.settings.seed) == ("treelet-rule", 3)
    assert (model.settings.prune_words, model.settings.prune_rules) == ((0, 0, 1), (0, 0, 1))
    assert model.settings.prune_yields == (0, 1)
    words = sum(len(tree.words()) for tree in TREES)
    wanted = np.exp(-model.score_trees(TREES).sum() / (words + len(TREES)))
    assert f"{len(TREES)} sentences, {words} words" in ran.err
    assert f"perplexity {wanted:.1f} by one tree each" in ran.err
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", out)
    assert read_headlex(folder / "bank.headlex").provenance["trees"] == len(TREES)


def test_compact_files_are_rounded(folder, tmp_path):
    done("train", "treelet-lm", folder / "bank.ptb", "--compact", "-o", tmp_path / "m")
    small, exact = read_model(tmp_path / "m"), read_model(folder / "bank.treelet")
    assert small.provenance == exact.provenance
    assert (tmp_path / "m").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"  # compressed
    rounded, values = (model.word_tables.events["log10"] for model in (small, exact))
    np.testing.assert_allclose(rounded, values, atol=1 / 128)
    np.testing.assert_array_equal(rounded * 64 % 1, 0)
    np.testing.assert_allclose(small.score_trees(TREES), exact.score_trees(TREES), rtol=0.01)


def test_what_cannot_be_trained_is_one_clear_line(folder, tmp_path):
    bad = tmp_path / "bad.ptb"
    bad.write_text("(ROOT (NP (NN dog))\n", encoding="utf-8")
    assert "bad.ptb:1" in refused("train", "treelet-lm", bad, "-o", tmp_path / "m")
    bad.write_text("", encoding="utf-8")
    assert "no trees" in refused("train", "treelet-lm", bad, "-o", tmp_path / "m")
    assert "not to stdout" in refused("train", "treelet-lm", bad, "-o", "-")
    said = refused("train", "treelet-lm", folder / "bank.ptb", "--variant", "headlex", "--prune", "0,1", "-o", "x")
    assert "is neither pruned nor compact" in said
    assert not (tmp_path / "m").exists()


def test_samples(folder):
    lm = f"treelet-lm,model={folder / 'bank.treelet'}"
    drawn = done("lm", "sample", lm, "-n", "5", "--length", "2-6", "--seed", "7").lines
    assert len(drawn) == 5
    assert all(2 <= len(line.split()) <= 6 for line in drawn)
    assert drawn == done("lm", "sample", lm, "-n", "5", "--length", "2-6", "--seed", "7").lines
    trees = list(
        read_trees(done("lm", "sample", lm, "-n", "5", "--length", "2-6", "--seed", "7", "--as", "trees").lines)
    )
    assert [" ".join(tree.words()) for tree in trees] == drawn
    done("train", "ngram", folder / "text.txt", "--order", "2", "-o", folder / "text.ngram")
    ngram = f"ngram-lm,model={folder / 'text.ngram'}"
    assert len(done("lm", "sample", ngram, "-n", "3").lines) == 3
    assert "trees cannot be drawn" in refused("lm", "sample", ngram, "--as", "trees")
    assert "sentences cannot be drawn" in refused("lm", "sample", "unigram")
    assert "wanted words, as 7 or 15-20" in refused("lm", "sample", lm, "--length", "5-3")


@pytest.mark.parametrize(
    ("kind", "file"), [(TreeletLanguageModel, "bank.treelet"), (HeadlexLanguageModel, "bank.headlex")]
)
def test_a_sentence_is_the_sum_of_its_distinct_parses(folder, kind, file):
    """Equal trees count once; floors without a parse; no probabilities of words."""
    path = folder / file
    lm = kind(model=path, parser=KnownTrees(), k=3)
    check_language_model(lm)
    sentences = [TREES[0].words(), ("who", "?"), (), TREES[5].words()]
    found = lm.totals(sentences)
    model = lm.trees
    first, _, other = (each.tree for each in KnownTrees().parse(sentences)[0].constituents)
    assert found[0] == pytest.approx(np.logaddexp(*model.score_trees([first, other])))
    assert found[1:3] == pytest.approx(model.floor(sentences[1:3]))
    one = kind(model=path, parser=KnownTrees(), k=1).totals(sentences)
    assert one[0] == pytest.approx(model.score_trees([first])[0])
    assert not isinstance(lm, LanguageModel)
    assert "dog" in lm
    assert "zebra" not in lm
    with pytest.raises(ValueError, match="k is 0"):
        kind(model=path, k=0)


def test_what_needs_words_refuses_a_model_of_sentences(folder, tmp_path):
    """Each command with one line; `score` prints the sentences in a table."""
    lm = f"treelet-lm,model={folder / 'bank.treelet'},k=1"
    reason = "gives no probabilities of single words, only of whole sentences; wanted a language model of words"
    for command in (
        ("lm", "surprisal", folder / "text.txt", "-M", lm),
        ("lm", "score", folder / "text.txt", "-M", lm),
        ("lm", "score", folder / "text.txt", "-M", lm, "--as", "tsv", "-d", "2"),
        ("lm", "mix", folder / "text.txt", "-M", lm, "-M", "unigram", "-o", tmp_path / "mix.toml"),
    ):
        assert reason in refused(*command)
    config = tmp_path / "mix.toml"
    config.write_text(
        f'[language_model.trees]\nuse = "treelet-lm"\nmodel = "{folder}/bank.treelet"\n'
        '[language_model.both]\nuse = "mixture"\nmodels = ["trees", "unigram"]\nweights = [0.5, 0.5]\n'
    )
    said = refused("lm", "score", folder / "text.txt", "-c", config, "-M", "both")
    assert f"[language_model.both]: option 'models' is 'trees': the model {reason}" in said
    with pytest.raises(ConfigError, match="reads no words from left to right"):
        BeamScorer(TreeletLanguageModel(model=folder / "bank.treelet"))
    rows = [line.split("\t") for line in done("lm", "score", folder / "text.txt", "-M", lm, "--as", "tsv").lines[1:]]
    sentences = [line.split() for line in (folder / "text.txt").read_text().splitlines()]
    totals = TreeletLanguageModel(model=folder / "bank.treelet", k=1).totals(sentences)
    assert [float(row[3]) for row in rows] == pytest.approx(totals.tolist())


@pytest.mark.parametrize("variant", ["treelet", "headlex"])
def test_a_model_file_is_known_by_its_header(folder, variant):
    """The file alone names the language model that reads it."""
    name = {"treelet": "treelet-lm", "headlex": "headlex"}[variant]
    path = folder / f"bank.{variant}"
    flags = ("lm", "score", folder / "text.txt", "--as", "tsv")
    assert done(*flags, "-M", path).out == done(*flags, "-M", f"{name},model={path}").out


def test_a_model_file_of_another_kind_is_no_language_model(folder, tmp_path):
    write_model(tmp_path / "words.lexicon", "word-lexicon", {}, {"words": np.zeros(1)})
    assert [model_kind(embedded(name)) for name in ("grammar.pcfg", "unigrams.tsv.xz")] == ["grammar", None]
    said = refused("lm", "score", folder / "text.txt", "-M", tmp_path / "words.lexicon")
    assert "words.lexicon: holds a model of the kind 'word-lexicon', which is not read by a language model" in said
    (tmp_path / "short").write_bytes((folder / "bank.treelet").read_bytes()[:40])
    assert "its header cannot be read" in refused("lm", "score", folder / "text.txt", "-M", tmp_path / "short")


def test_parses_that_become_equal_are_one_tree(folder):
    """(NP (NP …) (PP …)) and the flat NP are one tree of the treelet model, and two of HEADLEX."""
    nested, flat = read_trees(
        [
            "(ROOT (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT the) (NN dog)))))",
            "(ROOT (NP (DT the) (NN man) (PP (IN with) (NP (DT the) (NN dog)))))",
        ]
    )
    treelet, headlex = read_model(folder / "bank.treelet"), read_headlex(folder / "bank.headlex")
    assert treelet.score_sentences([[nested, flat]]) == pytest.approx(treelet.score_trees([nested]))
    both = headlex.score_trees([nested, flat])
    assert headlex.score_sentences([[nested, flat]]) == pytest.approx([np.logaddexp(*both)])


def nbest(*texts):
    return NBestList("0", tuple(map(Hypothesis, texts)))


def test_treelet_feature(folder, caplog):
    extractor = TreeletLanguageModel(model=folder / "bank.treelet", parser=CachedParser(KnownTrees()))
    check_feature_extractor(extractor)
    hypotheses = nbest("the cat ran", "who is it", "", "the cat ran")
    values = extractor.extract(hypotheses)
    model = read_model(folder / "bank.treelet")
    assert values[:, 1] * [3, 3, 1, 3] == pytest.approx(values[:, 0])
    assert values[1:3, 0] == pytest.approx(model.floor([("who", "is", "it"), ()]))
    assert "have no parse" in caplog.text
    assert (pickle.loads(pickle.dumps(extractor)).extract(hypotheses) == values).all()
    assert extractor.extract_all([]) == []
    with pytest.raises(ValueError, match="k is 0"):
        TreeletLanguageModel(k=0)


def test_slr_is_the_papers_ratio(folder):
    """(ln p_model - ln p_unigram) / |s|, unigrams from the model's own corpus, or others that are named."""
    lm = TreeletLanguageModel(model=folder / "bank.treelet", parser=KnownTrees(), k=3)
    sentences = [TREES[0].words(), TREES[5].words(), ()]
    hypotheses = nbest(*(" ".join(words) for words in sentences))
    own = [values.sum() for values in lm.trees.vocabulary.unigram_scores(sentences)]
    wanted = (lm.totals(sentences) - own) / [5, 2, 1]
    extractor = SlrFeature(lm)
    check_feature_extractor(extractor)
    assert extractor.extract(hypotheses)[:, 0] == pytest.approx(wanted)
    words = UnigramLanguageModel()
    other = SlrFeature(lm, words).extract(hypotheses)[:, 0]
    assert other == pytest.approx((lm.totals(sentences) - words.totals(sentences)) / [5, 2, 1])
    assert SlrFeature(words).extract(hypotheses)[:, 0] == pytest.approx([0, 0, 0])
    assert extractor.extract_all([]) == []


def test_the_embedded_model_prefers_grammatical_sentences():
    """Minimal pairs of our own, by the embedded grammar and model."""
    pairs = [
        ("The men walk to the house .", "The men walks to the house ."),
        ("He has seen the old house .", "He has saw the old house ."),
        ("She gave him the book .", "She gave him book the ."),
        ("There is a man in the garden .", "There is man a in the garden ."),
        ("They went to the city .", "They to the city went ."),
    ]
    values = SlrFeature().extract(nbest(*(text for pair in pairs for text in pair)))[:, 0]
    assert (values[::2] > values[1::2]).sum() >= 4


def test_features_of_one_model_load_it_once_and_score_a_sentence_once(folder, monkeypatch, tmp_path):
    path = tmp_path / "copy.treelet"
    path.write_bytes((folder / "bank.treelet").read_bytes())
    scored, loaded = [], []
    score, read = TreeletModel.score_sentences, treelet_model.read_model
    monkeypatch.setattr(
        TreeletModel, "score_sentences", lambda self, parses: scored.extend(parses) or score(self, parses)
    )
    monkeypatch.setattr(treelet_model, "read_model", lambda path: loaded.append(path) or read(path))
    parser = CachedParser(KnownTrees())
    lists = [nbest("the cat ran", "who is it", "the cat ran"), nbest("who is it", "", "the dogs ran")]

    def extracted(**features):
        scored.clear()
        loaded.clear()
        return extract(lists, [Feature(label, e) for label, e in features.items()]), len(scored), len(loaded)

    both, *work = extracted(
        total=TreeletLanguageModel(model=path, parser=parser),
        odds=SlrFeature(TreeletLanguageModel(model=path, parser=parser)),
    )
    assert work == [4, 1]  # distinct sentences, models
    total, *_ = extracted(total=TreeletLanguageModel(model=path, parser=parser))
    odds, *_ = extracted(odds=SlrFeature(TreeletLanguageModel(model=path, parser=parser)))
    np.testing.assert_array_equal(both, np.hstack([total, odds]))

    model = TreeletLanguageModel(model=path, parser=parser)
    one, other = pickle.loads(pickle.dumps((model, SlrFeature(model))))
    assert one._shared is other._lm
    assert one._shared is not TreeletLanguageModel(model=path, parser=CachedParser(KnownTrees()))._shared
    assert one._shared is not TreeletLanguageModel(model=path, parser=one.parser, k=9)._shared
    before = one._shared.trees
    path.write_bytes((folder / "bank.headlex").read_bytes())
    assert TreeletLanguageModel(model=path, parser=one.parser)._shared is not one._shared
    assert one._shared.trees is before


def test_remembered_sentences_are_forgotten_in_time(folder, monkeypatch):
    monkeypatch.setattr(parsed_lm, "REMEMBERED", 1)
    lm = TreeletLanguageModel(model=folder / "bank.treelet", parser=KnownTrees(), k=3)
    sentences = [tree.words() for tree in TREES]
    for _ in range(2):
        np.testing.assert_array_equal(lm.totals(sentences), [lm.totals([words])[0] for words in sentences])
    assert len(lm._totals) <= 2
    assert lm.totals([]).shape == (0,)
