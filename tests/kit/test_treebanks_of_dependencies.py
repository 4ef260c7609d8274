"""Every trainer of tree models reads CoNLL-U of any language: here one that is made, whose words nothing knows."""

from __future__ import annotations

import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ModelError
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.core.dependency_tree import write_conllu
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.model_file import read_trained_on
from rerank_plugins.kit.trees.dependency_constituents import lift
from rerank_plugins.treelet.language_model import TreeletLanguageModel
from tests.command_line import done, refused

BRACKETS = "(ROOT (S (NP (ART die) (NN Katze)) (VP (VVFIN schläft))))\n"
XPOS = {"NOUN": "NN", "VERB": "V-fin", "DET": "$("}


@pytest.fixture(scope="module")
def made(tmp_path_factory, treebank):
    """A treebank of a made language, some words of it as text, a treebank in brackets, and one with other XPOS tags."""
    folder = tmp_path_factory.mktemp("made")
    blocks, lines = [], []
    for tree in treebank:
        words = [word if not word.isalnum() else word[::-1].lower() + "eth" for word in tree.words]
        block = write_conllu(tree)
        for old, new in zip(tree.words, words, strict=True):
            block = block.replace(f"\t{old}\t_", f"\t{new}\t_", 1)
        blocks.append(block)
        lines.append(" ".join(words) + "\n")
    plain = "".join(blocks)
    tagged = plain
    for upos in sorted({tag for tree in treebank for tag in tree.tags}):
        tagged = tagged.replace(f"\t{upos}\t_\t", f"\t{upos}\t{XPOS.get(upos, upos.lower())}\t")
    (folder / "made.conllu").write_text(plain, encoding="utf-8")
    (folder / "xpos.conllu").write_text(tagged, encoding="utf-8")
    (folder / "other.conllu").write_text(
        tagged.replace("\tNN\t", "\tNOM\t").replace("\tdet\t", "\tD\t", 1), encoding="utf-8"
    )
    (folder / "made.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "brackets.ptb").write_text(BRACKETS * 9, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def grammar(made):
    """A grammar of the made language."""
    path = made / "made.pcfg"
    done("train", "grammar", made / "made.conllu", "--splits", "0", "--language", "art", "-o", path)
    return path


def test_the_grammar_parses_with_labels_of_the_treebank(made, grammar, treebank):
    ran = done("trees", "parse", made / "made.txt", "-p", f"pcfg,model={grammar}", "--text", "none", "-j", "1")
    assert "(NOUN.nsubj (DET.det (DET " in ran.out
    crossed = sum(a != b for tree in treebank for a, b in zip(tree.heads, lift(tree.heads), strict=True))
    trained = done("train", "grammar", made / "made.conllu", "--splits", "1", "--language", "art", "-o", made / "g",
                   "--held-out", made / "made.conllu")  # fmt: skip
    assert f"{crossed} of {sum(len(tree.words) for tree in treebank)} arcs lifted" in trained.err
    assert ", UAS 8" in trained.err
    assert (read_trained_on(made / "g").language, read_trained_on(made / "g").labels) == ("art", "upos")


@pytest.mark.parametrize(
    ("train", "options", "labels"),
    [
        ("hhmm", ["--splits", "0"], "upos"),
        ("hhmm", ["--estimation", "events", "--tags", "xpos"], "xpos"),
        ("svs", ["--concepts", "2", "--restarts", "1", "--iterations", "2"], "upos"),
        ("treelet-lm", [], "upos"),
        ("treelet-lm", ["--variant", "headlex", "--tags", "xpos"], "xpos"),
    ],
)
def test_every_model_learns_it(made, train, options, labels):
    path = made / "model"
    done("train", train, made / "xpos.conllu", *options, "--language", "art", "-o", path)
    recorded = read_trained_on(path)
    assert (recorded.language, recorded.labels) == ("art", labels)


def test_a_treelet_model_goes_with_a_parser_of_the_same_labels(made, grammar):
    path, parser = made / "made.treelet", f"pcfg,model={grammar}"
    done("train", "treelet-lm", made / "made.conllu", made / "made.txt", "-p", parser, "--text", "none", "-j", "1",
         "--language", "art", "-o", path)  # fmt: skip
    model = Spec.read(
        "language_model", {"use": "treelet-lm", "model": str(path)}, Names(load_plugins(BUILTIN, installed=False))
    ).make()
    assert (model.totals([["eht", "."]]) < 0).all()  # parsed by the recorded parser
    xpos = ("--tags", "xpos", "--variant", "pcfg", "--language", "art")
    done("train", "treelet-lm", made / "xpos.conllu", *xpos, "-o", path)
    other = TreeletLanguageModel(model=path, parser=PcfgParser(grammar))
    with pytest.raises(
        ModelError, match=r"with XPOS tags, those of the parser labels made from .* UPOS tags: name the"
    ):
        other.totals([["eht"]])


def test_different_labels_are_not_mixed(made, grammar):
    brackets, conllu, xpos = made / "brackets.ptb", made / "made.conllu", made / "xpos.conllu"
    to = ("--language", "art", "-o", made / "never")
    kinds = f"{conllu} has dependencies, {brackets} trees in brackets: a model cannot mix their labels"
    for train in ("grammar", "hhmm", "svs"):
        assert refused("train", train, brackets, conllu, *to) == kinds
    assert refused("train", "grammar", conllu, "--tagged", brackets, *to) == kinds
    assert refused("train", "grammar", brackets, "--tags", "xpos", *to) == (
        f"--tags xpos: {brackets} has trees in brackets, wanted CoNLL-U"
    )
    assert "different tag sets" in refused("train", "grammar", xpos, conllu, "--tags", "xpos", *to)
    labels = "a model cannot mix them"
    to = ("--variant", "pcfg", *to)
    assert labels in refused("train", "treelet-lm", brackets, conllu, *to)
    assert labels in refused("train", "treelet-lm", brackets, made / "made.txt", "-p", f"pcfg,model={grammar}",
                             "--text", "none", "-j", "1", *to)  # fmt: skip
    assert not (made / "never").exists()


def test_what_is_english_refuses_another_language(made):
    brackets, conllu, xpos = made / "brackets.ptb", made / "made.conllu", made / "xpos.conllu"
    to = ("--language", "de", "-o", made / "never")
    heads = "the head rules for trees in brackets are English, and --language is 'de': train on dependencies (CoNLL-U)"
    assert f"--binarise head: {heads}" in refused("train", "grammar", brackets, "--binarise", "head", *to)
    assert f"svs: {heads}" in refused("train", "svs", brackets, *to)
    for train, trees in (("grammar", conllu), ("grammar", brackets), ("svs", conllu)):
        assert refused("train", train, trees, "--annotations", "klein-manning", *to) == (
            "--annotations klein-manning: these read the labels of English brackets: leave it out"
        )
    for trees, options in ((brackets, []), (brackets, ["--variant", "headlex"]), (xpos, ["--tags", "xpos"])):
        message = refused("train", "treelet-lm", trees, *options, *to)
        assert "by English rules, and the language is 'de': train on dependencies" in message
    done("train", "treelet-lm", brackets, "--variant", "pcfg", "--language", "de", "-o", made / "plain")
    assert not (made / "never").exists()
