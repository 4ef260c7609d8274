"""`rerank trees parse`: CoNLL-U of texts and lists, in order, on several processes, from the cache the second time."""

import re
import sys

import pytest

from rerank_adapters.applications.parsing.parse import print_scores
from rerank_plugins.core.dependency_tree import read_conllu
from tests.command_line import done, refused, rerank, says_what_it_wrote

TEXT = "she sings a song .\n\nthe cat sleeps .\nshe sings a song .\n"
PLUGIN = '''
from dataclasses import dataclass

from rerank_plugins import Parse, Parser, hookimpl, option
from rerank_plugins.core.dependency_tree import DependencyTree


@dataclass(frozen=True)
class Chain(Parser):
    """Each word depends on the one before it, unless it is an x."""

    relation: str = option("dep", doc="the relation of every word but the first")

    def parse(self, sentences):
        return [Parse(None if "x" in words or not words else self.tree(tuple(words))) for words in sentences]

    def tree(self, words):
        n = len(words)
        return DependencyTree(words, tuple(range(-1, n - 1)), ("root",) + (self.relation,) * (n - 1), ("X",) * n)


@hookimpl
def register_parsers(register):
    register("chain", Chain)
'''


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def chain(tmp_path):
    (tmp_path / "chain.py").write_text(PLUGIN)
    return tmp_path / "chain.py"


def trees(text):
    return list(read_conllu(text.splitlines(keepends=True)))


def test_words_that_the_parser_does_not_know_are_listed():
    ran = done("trees", "parse", "-", "--text", "none", stdin="she zorbles a table.\nshe sings .\n")
    assert [line for line in ran.lines if line.startswith("# unknown")] == ["# unknown_words = zorbles table."]
    assert says_what_it_wrote(ran, r"the parses of 2 sentences \(2 parsed now, 2 unknown words\)")


def test_a_text_is_parsed_line_by_line():
    ran = done("trees", "parse", "-", stdin=TEXT)
    assert [" ".join(tree.words) for tree in trees(ran.out)] == [line for line in TEXT.splitlines() if line]
    assert [line for line in ran.lines if line.startswith("#")][:2] == ["# sent_id = 1", "# text = she sings a song ."]
    assert [line for line in ran.lines if line.startswith("# sent_id")][1:] == ["# sent_id = 3", "# sent_id = 4"]
    assert says_what_it_wrote(ran, r"the parses of 3 sentences \(2 parsed now\)")
    assert len(ran.err.splitlines()) == 1
    assert trees(ran.out)[0].relations == ("nsubj", "root", "det", "obj", "punct")


def test_a_text_is_tokenised():
    """As by `acceptability`, while hypotheses are taken as they are."""
    line = "she can't sing.\n"
    words = [
        list(trees(done("trees", "parse", "-", *text, stdin=line).out)[0].words) for text in ((), ("--text", "none"))
    ]
    assert words == [["she", "ca", "n't", "sing", "."], ["she", "can't", "sing."]]


def test_a_second_run_parses_nothing():
    first, second = (done("trees", "parse", "-", stdin=TEXT) for _ in range(2))
    assert second.out == first.out
    assert says_what_it_wrote(second, r"the parses of 3 sentences \(0 parsed now\)")


def test_lists_are_parsed_by_distinct_hypotheses(small, tmp_path):
    out = tmp_path / "out.conllu.gz"
    ran = done("trees", "parse", "--nbest", small / "tune.nbest", "-o", out)
    assert ran.out == ""
    texts = [line.split(" ||| ")[1] for line in (small / "tune.nbest").read_text().splitlines()]
    distinct = list(dict.fromkeys(" ".join(text.split()) for text in texts))
    counts = rf"{len(distinct)} parsed now, \d+ unknown words"
    assert says_what_it_wrote(ran, rf"the parses of {len(distinct)} sentences \({counts}\)", out)
    import gzip

    text = gzip.decompress(out.read_bytes()).decode()
    assert [" ".join(tree.words) for tree in trees(text)] == distinct
    assert text.startswith("# sent_id = 0.1\n")
    (tmp_path / "one.nbest").write_text("0 ||| she sings. ||| lm= -1 ||| -1\n")
    words = [
        trees(done("trees", "parse", "--nbest", tmp_path / "one.nbest", *text).out)[0].words
        for text in ((), ("--text", "penn-tokenize"))
    ]
    assert words == [("she", "sings."), ("she", "sings", ".")]


@pytest.mark.slow
def test_processes_and_batches_change_nothing(chain, tmp_path, monkeypatch):
    from rerank_adapters.applications.parsing import parses

    monkeypatch.setattr(parses, "SENTENCES_OF_BATCH", 7)
    text = "".join(f"w{i} is {i % 17} {'x' if i % 10 == 3 else '.'}\n" for i in range(100))
    (tmp_path / "text").write_text(text)
    found = []
    for jobs in (1, 2):
        monkeypatch.setenv("RERANK_CACHE", str(tmp_path / f"cache{jobs}"))
        ran = done("--plugin", chain, "trees", "parse", tmp_path / "text", "-p", "chain,relation=obj", "-j", jobs)
        assert says_what_it_wrote(ran, r"the parses of 100 sentences \(100 parsed now, 10 without a parse\)")
        found.append(ran.out)
    assert found[0] == found[1]
    assert len(trees(found[0])) == 90
    assert "obj" in found[0]


def test_an_interrupted_run_goes_on_where_it_stopped(chain, tmp_path, monkeypatch):
    from rerank_adapters.applications.parsing import parses

    monkeypatch.setattr(parses, "SENTENCES_OF_BATCH", 10)
    lines = [f"word {i}\n" for i in range(50)]
    (tmp_path / "text").write_bytes("".join(lines[:35]).encode() + b"\xff\n" + "".join(lines[35:]).encode())
    arguments = ("--plugin", chain, "trees", "parse", tmp_path / "text", "-p", "chain", "-j", 1, "-o", tmp_path / "out")
    assert rerank(*arguments).code == 2  # in the middle of the text
    assert not (tmp_path / "out").exists()
    (tmp_path / "text").write_text("".join(lines))
    assert says_what_it_wrote(done(*arguments), r"the parses of 50 sentences \(20 parsed now\)", tmp_path / "out")


def test_no_worker_starts_for_sentences_whose_parses_are_in_the_cache(chain, tmp_path, monkeypatch):
    from rerank_adapters.applications.parsing import parses
    from rerank_adapters.features.processes import Processes

    monkeypatch.setattr(parses, "SENTENCES_OF_BATCH", 10)
    monkeypatch.setattr(Processes, "_workers", lambda *_: pytest.fail("a worker has started"))
    (tmp_path / "text").write_text("".join(f"word {i}\n" for i in range(50)))
    arguments = ("--plugin", chain, "trees", "parse", tmp_path / "text", "-p", "chain", "-j")
    one, two = (done(*arguments, jobs).out for jobs in (1, 2))
    assert one == two


def test_a_parser_of_a_config(chain, tmp_path):
    config = tmp_path / "job.toml"
    config.write_text(f'plugins = ["{chain.name}"]\n[parser.mine]\nuse = "chain"\nrelation = "nmod"\n')
    ran = done("trees", "parse", "-", "-c", config, "-p", "mine", stdin="a b\n")
    assert trees(ran.out)[0].relations == ("root", "nmod")


def test_evaluation_prints_a_row_for_each_file(treebank_path, tmp_path):
    header, row = done("trees", "parse", "--evaluate", treebank_path).lines
    assert header == "gold\tsentences\twords\tUPOS\tUAS\tLAS\tsentences/s"
    name, sentences, words, *scores = row.split("\t")
    assert (name, sentences, words) == ("small.conllu", "100", "782")
    assert all(80 < float(score) <= 100 for score in scores[:3])
    assert float(scores[3]) > 0
    again = done(
        "trees",
        "parse",
        "--evaluate",
        treebank_path,
        "--evaluate",
        treebank_path,
        "-p",
        f"treebank,path={treebank_path}",
    )
    for row in again.lines[1:]:
        assert row.split("\t")[3:6] == ["100.00"] * 3
    assert says_what_it_wrote(again, "the scores of 2 treebanks")


def test_scores_fit_a_terminal_of_80_columns(capsys, monkeypatch):
    """On a terminal, the files stand side by side, so that many scores do not break any word."""
    rows = [
        dict.fromkeys(("sentences", "words", "LP", "LR", "F1", "exact", "tags", "coverage", "sentences/s"), "99.99")
    ]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    print_scores([{"gold": f"gum-{part}.ptb", **row} for part in ("dev", "test", "train") for row in rows])
    shown = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, shown)) <= 80
    assert any(re.search(r"sentences/s.*99.99.*99.99.*99.99", line) for line in shown)
    assert any(re.search(r"gold.*gum-dev.ptb.*gum-test.ptb.*gum-train.ptb", line) for line in shown)


BRACKETS = """( (S (NP-SBJ (DT the) (NN cat))
   (VP (VBD sat) (NP (-NONE- *))) (. .)))
(ROOT (INTJ (UH oh) (. .)))
"""
K_BEST = """1 ||| (ROOT (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))) ||| -3.5
1 ||| (ROOT (S (DT the) (NN cat) (VBD sat) (. .))) ||| -7.25
"""


@pytest.fixture
def bracketed(tmp_path):
    (tmp_path / "gold.ptb").write_text(BRACKETS)
    (tmp_path / "k-best").write_text(K_BEST)
    (tmp_path / "text").write_text("no tree\nthe cat sat .\noh .\n")
    return tmp_path


def test_brackets_are_written(bracketed):
    ran = done("trees", "parse", bracketed / "text", "-p", f"treebank,path={bracketed / 'k-best'}")
    assert ran.out == "\n(ROOT (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)))\n\n"
    assert says_what_it_wrote(ran, r"the parses of 3 sentences \(3 parsed now, 2 without a parse\)")
    ran = done("trees", "parse", bracketed / "text", "-p", f"treebank,path={bracketed / 'k-best'}", "--k-best")
    assert ran.out == K_BEST.replace("1 |||", "2 |||")
    ran = done(
        "trees", "parse", "-", "-p", f"treebank,path={bracketed / 'gold.ptb'}", "--as", "brackets", stdin="oh .\n"
    )
    assert ran.out == "(ROOT (INTJ (UH oh) (. .)))\n"


def test_either_kind_of_trees_where_a_parser_gives_both(bracketed, treebank_path, treebank):
    text = " ".join(treebank[0].words)
    flat = " ".join(f"(X {word})" for word in treebank[0].words)
    (bracketed / "flat").write_text(f"(ROOT {flat})\n")
    parser = f"treebank,path={bracketed / 'flat'},second={treebank_path}"
    assert trees(done("trees", "parse", "-", "-p", parser, stdin=text).out) == [treebank[0]]
    assert done("trees", "parse", "-", "-p", parser, "--as", "brackets", stdin=text).out == f"(ROOT {flat})\n"
    message = "the parser produces no constituents: --as conllu writes what it produces"
    assert message in refused("trees", "parse", "-", "-p", f"treebank,path={treebank_path}", "--k-best", stdin=text)
    message = "the parser produces no dependencies: --as brackets writes what it produces"
    assert message in refused(
        "trees", "parse", "-", "-p", f"treebank,path={bracketed / 'flat'}", "--as", "conllu", stdin=text
    )


def test_evaluation_with_brackets(bracketed, treebank_path):
    gold, parser = bracketed / "gold.ptb", f"treebank,path={bracketed / 'k-best'}"
    header, row = done("trees", "parse", "--evaluate", gold, "-p", parser).lines
    assert header == "gold\tsentences\twords\tLP\tLR\tF1\texact\ttags\tcoverage\tsentences/s"
    assert row.split("\t")[:9] == ["gold.ptb", "2", "6", "100.00", "75.00", "85.71", "50.00", "75.00", "50.00"]
    rows = done(
        "trees",
        "parse",
        "--evaluate",
        gold,
        "--evaluate",
        treebank_path,
        "--max-length",
        5,
        "-p",
        f"treebank,path={gold}",
    ).lines
    assert [row.split("\t")[0] for row in rows] == ["gold", "gold.ptb", "gold", "small.conllu"]
    assert rows[1].split("\t")[1:9] == ["2", "6", *["100.00"] * 6]
    assert 0 < int(rows[3].split("\t")[1]) < 50
    assert "holds no trees of up to 1 words" in refused(
        "trees", "parse", "--evaluate", gold, "--max-length", 1, "-p", parser
    )
    (bracketed / "broken").write_text("(ROOT (X (Y a))\n")
    assert refused("trees", "parse", "--evaluate", bracketed / "broken").endswith(
        "broken:1: 1 opening brackets of the tree that begins here are not closed"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-", "--k-best", "--as", "conllu"), "--k-best writes brackets"),
        ((), "give one of: a TEXT"),
        (("-", "--evaluate", "x"), "give one of: a TEXT"),
        (("-", "-p", "englsh"), "--parser englsh: no parser named 'englsh'; did you mean 'english'"),
        (("-", "-p", "biaffine"), "biaffine needs the option 'model'"),
        (("-", "-p", "biaffine,model=none.biaffine"), "none.biaffine: cannot be read"),
        (("none.txt",), "none.txt: no such file"),
        (("--evaluate", "none.conllu"), "none.conllu: no such file"),
        (("-", "-o", "/nowhere/out"), "there is no folder /nowhere"),
    ],
)
def test_wrong_usage_is_one_line(arguments, message):
    assert message in refused("trees", "parse", *arguments, stdin="a b\n")


def test_gold_trees_must_be_trees(tmp_path):
    (tmp_path / "gold.conllu").write_text("1\ta\t_\tX\t_\t_\t1\tdep\t_\t_\n")
    assert refused("trees", "parse", "--evaluate", tmp_path / "gold.conllu").endswith(
        "gold.conllu:1: a sentence has one root (head 0); found 0"
    )
    (tmp_path / "empty.conllu").write_text("")
    assert "holds no trees" in refused("trees", "parse", "--evaluate", tmp_path / "empty.conllu")


def test_odd_text_ends_well():
    ran = done("trees", "parse", "-", stdin="a\x00b c\n" + "word " * 10_000 + "\n\x0c\n")
    assert len(trees(ran.out)) == 1
    assert says_what_it_wrote(ran, r"the parses of 2 sentences \(2 parsed now, 1 without a parse, 1 unknown words\)")


@pytest.mark.slow
def test_training_writes_a_model_that_parses(treebank_path, tmp_path):
    (tmp_path / "text").write_text("the cat sleeps .\n" * 5)
    model = tmp_path / "own.biaffine"
    ran = done(
        "train", "dependency-parser", treebank_path, tmp_path / "text", "--language", "en", "--epochs", 2, "-o", model
    )  # fmt: skip
    lines = ran.err.splitlines()
    assert lines[0].startswith("100 trees, ")
    assert [line.partition(":")[0] for line in lines[1:3]] == ["epoch 1 of 2", "epoch 2 of 2"]
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", model)
    out = done("trees", "parse", "-", "-p", f"biaffine,model={model},language=en", stdin="the cat sleeps .\n").out
    assert trees(out)[0].words == ("the", "cat", "sleeps", ".")
    assert "a model for 'en', wanted 'de'" in refused(
        "trees", "parse", "-", "-p", f"biaffine,model={model},language=de", stdin="a\n"
    )


def test_training_needs_trees(tmp_path):
    (tmp_path / "text").write_text("the cat sleeps .\n")
    given = ("train", "dependency-parser", tmp_path / "text", "--language", "en", "-o", tmp_path / "model")
    assert "no trees to learn from" in refused(*given)
