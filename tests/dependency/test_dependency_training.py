"""`rerank train dependency-lm`: from treebanks, from text, from references; bad input; what is parsed twice."""

import re

import numpy as np
import pytest

from rerank_plugins.core.dependency_tree import read_conllu, write_conllu
from rerank_plugins.dependency.ancestor_paths import TreeCollector
from rerank_plugins.dependency.model import Settings, read_model, train
from tests.command_line import done, refused
from tests.dependency.test_dependency_lm import chain

SENTENCES = ["a dog saw the cat", "the cat saw a dog", "a dog barks", "the cat sleeps", "a cat barks"] * 3
ROW = "{}\t{}\t_\tX\t_\t_\t{}\tdep\t_\t_\n"


@pytest.fixture
def files(tmp_path):
    """A treebank of chains, the same sentences as a text, and the parser that knows their trees."""
    trees = [chain(text.split()) for text in SENTENCES]
    (tmp_path / "bank.conllu").write_text("".join(map(write_conllu, trees)), encoding="utf-8")
    (tmp_path / "text.txt").write_text("".join(f"{text}\n" for text in SENTENCES) + "\n  \n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def parser(files, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(files / "cache"))
    return f"treebank,path={files / 'bank.conllu'}"


def read(path):
    with path.open(encoding="utf-8") as lines:
        return list(read_conllu(lines))


def trained(*arguments):
    ran = done("train", "dependency-lm", *arguments)
    return read_model(arguments[arguments.index("-o") + 1]), ran.err


def test_treebank_and_text_give_the_same_model(files, parser):
    options = ("--order", "3", "--min-count", "2", "--smoothing", "kneser-ney")
    bank, said = trained(files / "bank.conllu", *options, "-o", files / "bank.deplm")
    text, parsed = trained(files / "text.txt", *options, "-p", parser, "-j", "1", "-o", files / "text.deplm")
    assert bank.settings == text.settings == Settings(3, True, "kneser-ney", 2, prune=(0,))
    assert bank.vocabulary.words == text.vocabulary.words
    trees = read(files / "bank.conllu")
    np.testing.assert_array_equal(bank.totals(trees), text.totals(trees))
    collector = TreeCollector()
    collector.add(trees)
    np.testing.assert_array_equal(bank.totals(trees), train(collector, bank.settings, jobs=1).totals(trees))
    assert "15 trees, 57 words" in said
    assert "15 trees (5 parsed now), 57 words" in parsed
    assert bank.provenance["files"] == ["bank.conllu"]


def test_compact_files_are_rounded(files):
    exact, _ = trained(files / "bank.conllu", "-o", files / "bank.deplm")
    small, _ = trained(files / "bank.conllu", "--compact", "-o", files / "small.deplm")
    assert (files / "small.deplm").stat().st_size < (files / "bank.deplm").stat().st_size
    rounded, values = (model.tables.events["log10"] for model in (small, exact))
    np.testing.assert_allclose(rounded, values, atol=1 / 128)
    np.testing.assert_array_equal(rounded * 64 % 1, 0)


def test_a_second_training_parses_nothing(files, parser):
    for order, wanted in (("2", "5 parsed now"), ("4", "0 parsed now")):
        _, said = trained(files / "text.txt", "--order", order, "-p", parser, "-o", files / "m.deplm")
        assert wanted in said


def test_files_of_both_kinds_compressed_and_not(files, parser):
    import lzma

    packed = files / "bank.conllu.xz"
    packed.write_bytes(lzma.compress((files / "bank.conllu").read_bytes()))
    model, said = trained(packed, files / "text.txt", "--unlabelled", "-p", parser, "-o", files / "m.deplm")
    assert "30 trees" in said
    assert not model.settings.labelled


def test_text_steps_and_sentences_without_a_parse(files, parser):
    shouted = files / "shouted.txt"
    shouted.write_text("".join(f"{text.upper()}\n" for text in SENTENCES) + "NOT IN THE TREEBANK\n", encoding="utf-8")
    model, said = trained(shouted, "--text", "lowercase", "--min-count", "1", "-p", parser, "-o", files / "m.deplm")
    assert "15 trees (6 parsed now, 1 without a parse)" in said
    assert "dog" in model
    assert "treebank" not in model


def test_text_none_leaves_text_as_it_is_which_is_the_default(files, parser):
    default, _ = trained(files / "text.txt", "--min-count", "1", "-p", parser, "-o", files / "m.deplm")
    none, _ = trained(files / "text.txt", "--text", "none", "--min-count", "1", "-p", parser, "-o", files / "m.deplm")
    assert none.provenance == default.provenance
    assert none.vocabulary.words == default.vocabulary.words


def test_held_out_perplexity(files):
    model, said = trained(
        files / "bank.conllu", "--min-count", "1", "--smoothing", "kneser-ney", "--lowercase",
        "--prune", "0,1", "--held-out", files / "bank.conllu", "-o", files / "m.deplm",
    )  # fmt: skip
    trees = read(files / "bank.conllu")
    wanted = np.exp(-np.concatenate(model.score(trees)).mean())
    assert f"57 words, 0 unknown, perplexity of the others {wanted:.1f}" in said
    assert re.search(rf"\nwrote the model \([\d.]+ MB\) to {files / 'm.deplm'} in [\d.]+ s\n\Z", said)
    assert model.settings.prune == (0, 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROW.format(1, "a", 2) + ROW.format(2, "b", 1), "root|cycle"),
        (ROW.format(1, "a", 0) + ROW.format(2, "b", 0), "one root"),
        (ROW.format(1, "a", 0) + ROW.format(2, "b", "_"), "head '_'"),
        (ROW.format(1, "a", 0) + ROW.format(2, "b", 9), "outside|not in the sentence"),
        ("1\ta\n", "columns"),
    ],
)
def test_bad_treebanks_are_one_clear_line(files, rows, message):
    bad = files / "bad.conllu"
    bad.write_text(rows + "\n", encoding="utf-8")
    said = refused("train", "dependency-lm", bad, "-o", files / "m.deplm")
    assert said.startswith(f"{bad}:1: ") or said.startswith(f"{bad}:2: ")
    assert any(part in said for part in message.split("|"))
    assert not (files / "m.deplm").exists()


def test_multiword_tokens_and_empty_nodes_are_passed_over(files):
    bank = files / "mwt.conllu"
    rows = "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n" + ROW.format(1, "do", 0) + ROW.format(2, "n't", 1)
    rows += "2.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_\n"
    bank.write_text(rows + "\n", encoding="utf-8")
    model, _ = trained(bank, "--min-count", "1", "-o", files / "m.deplm")
    assert sorted(model.vocabulary.words) == ["<unk>", "do", "n't"]


def test_what_training_refuses(files):
    empty = files / "empty.conllu"
    empty.write_text("\n", encoding="utf-8")
    target = files / "m.deplm"
    assert "no trees" in refused("train", "dependency-lm", empty, "-o", target)
    assert "no such file" in refused("train", "dependency-lm", files / "absent.txt", "-o", target)
    assert "not to stdout" in refused("train", "dependency-lm", files / "bank.conllu", "-o", "-")
    assert "may not be lower" in refused(
        "train", "dependency-lm", files / "bank.conllu", "--prune", "0,2,1", "-o", target
    )
    text = files / "text.txt"
    assert "did you mean 'english'?" in refused("train", "dependency-lm", text, "-p", "englsh", "-o", target)


def test_text_with_nuls_and_long_lines(files, parser):
    strange = files / "strange.txt"
    strange.write_text("a \0 dog\n" + "word " * 10_000 + "\na dog barks\n", encoding="utf-8")
    _, said = trained(strange, "--min-count", "1", "-p", parser, "-o", files / "m.deplm")
    assert "1 tree (3 parsed now, 2 without a parse)" in said
