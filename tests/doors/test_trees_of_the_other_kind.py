"""Trees of one kind where those of the other are wanted: converted without loss, or refused; never scored as zeros."""

import pytest

from tests.command_line import done, refused

GERMAN = """1\tder\tder\tDET\tART\t_\t2\tdet\t_\t_
2\tHund\tHund\tNOUN\tNN\t_\t3\tnsubj\t_\t_
3\tschläft\tschlafen\tVERB\tVVFIN\t_\t0\troot\t_\t_

"""
PHRASES = "(ROOT (VERB.root (NOUN.nsubj (DET.det (DET der)) (NOUN Hund)) (VERB schläft)))\n"
ENGLISH = "(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .)))\n"


@pytest.fixture
def put(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def german(put):
    return put("de.toml", 'language = "de"\n')


def scores(ran):
    header, row = (line.split("\t") for line in ran.lines)
    return dict(zip(header, row, strict=True))


def test_a_grammar_of_dependencies_beside_dependencies(put, german):
    """Its phrases become dependencies, so that words are counted as right that are."""
    found = scores(done("trees", "parse", "--evaluate", put("gold.conllu", GERMAN), "-p", "pcfg", "-c", german))
    assert float(found["UPOS"]) > 0
    assert float(found["UAS"]) > 0


def test_a_parser_of_dependencies_beside_phrases_made_from_them(put, german):
    found = scores(done("trees", "parse", "--evaluate", put("gold.ptb", PHRASES), "-p", "biaffine", "-c", german))
    assert (found["F1"], found["exact"], found["tags"]) == ("100.00", "100.00", "100.00")


def test_trees_that_cannot_be_compared(put, german):
    brackets, dependencies = put("gold.ptb", ENGLISH), put("gold.conllu", GERMAN)
    assert "gold.ptb: has constituents with labels of a treebank in brackets, and the parser gives dependencies" in (
        refused("trees", "parse", "--evaluate", brackets)
    )
    assert "gold.conllu: has dependencies, and the parser gives constituents with labels of a treebank in brackets" in (
        refused("trees", "parse", "--evaluate", dependencies, "-p", "pcfg")
    )
    assert "labels made from dependencies with UPOS tags" in (
        refused("trees", "parse", "--evaluate", brackets, "-p", "pcfg", "-c", german)
    )


def test_an_empty_sentence_keeps_its_line_in_brackets(put):
    text = put("text.en", "it rains .\n\nthe dog sleeps .\n\n")
    lines = done("trees", "parse", text, "-p", "pcfg", "--as", "brackets").out.split("\n")
    assert [line[:5] for line in lines] == ["(ROOT", "", "(ROOT", "", ""]
    found = done("trees", "parse", text)
    assert [line for line in found.lines if line.startswith("# sent_id")] == ["# sent_id = 1", "# sent_id = 3"]
    assert "the parses of 2 sentences" in found.err


def test_a_treebank_is_one_whatever_its_name(put, tmp_path):
    """Its rows are not parsed as sentences."""
    rows = GERMAN * 5
    for name in ("trees.txt", "trees.conllu"):
        ran = done(
            "train",
            "dependency-lm",
            put(name, rows),
            "--language",
            "de",
            "--min-count",
            "1",
            "-o",
            tmp_path / name[-3:],
        )
        assert "5 trees" in ran.err
        assert "parsed now" not in ran.err
    ran = done(
        "train", "treelet-lm", put("brackets.txt", ENGLISH * 3), "--language", "en", "-o", tmp_path / "x.treelet"
    )
    assert "3 trees, 12 words" in ran.err
    message = refused("train", "dependency-lm", put("trees.ptb", ENGLISH), "--language", "en", "-o", tmp_path / "x")
    assert "trees.ptb: holds trees in brackets; wanted dependencies (CoNLL-U), or text to parse" in message
