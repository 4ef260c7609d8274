"""The HHMM from the outside: language model, feature and parser; `rerank lm surprisal` and `rerank train hhmm`."""

import json
import logging
import math
import re
from pathlib import Path

import numpy as np
import pytest
import zstandard

from rerank_plugins import ModelError
from rerank_plugins.constituency.model_file import read_grammar, write_grammar
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.hhmm.event_counts import END, HERE, WITHIN, counting_settings, train_empirical
from rerank_plugins.hhmm.language_model import HhmmLanguageModel, complexity, read_or_embedded
from rerank_plugins.hhmm.model_file import KIND, read_hhmm, write_empirical
from rerank_plugins.hhmm.parser import HhmmParser
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.language_models import walk
from rerank_plugins.ngram.language_model import NgramLanguageModel
from tests.command_line import done, one_line, refused, rerank, says_what_it_wrote
from tests.hhmm.naive_hhmm import random_grammar
from tests.hhmm.prefix_counts import prefixes
from tests.model_files import check_damage_is_seen
from tests.test_contracts import ARPA

TEXT = "The president meets the board on Friday .\n\nDogs bark .\n"
SENTENCES = [line.split() for line in TEXT.splitlines()]
TREEBANK = """\
(ROOT (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))
(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .)))
(ROOT (S (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (DT the) (NN garden)))) (VP (VBZ sleeps)) (. .)))
"""


@pytest.fixture(scope="module")
def english():
    return HhmmLanguageModel(beam=100)


def test_hypotheses_share_their_prefixes(english):
    """Together, alone, in another order: the same to the last bit, and each prefix is advanced once."""
    sentences = [
        ["the", "dog", "barks"], ["the", "dog", "barked"], ["the", "dog"], ["a", "dog", "barks"], [],
        ["the", "dog", "barks"],
    ]  # fmt: skip
    together = english.score(sentences)
    for sentence, scores in zip(sentences, together, strict=True):
        np.testing.assert_array_equal(english.score([sentence])[0], scores)
    for scores, again in zip(together, english.score(sentences[::-1])[::-1], strict=True):
        np.testing.assert_array_equal(again, scores)
    steps = []

    class Counting:
        def start(self):
            return ()

        def advance(self, state, word):
            steps.append(word)
            return 0.0, (*state, word)

        def finish(self, state):
            return 0.0

    for number, _, states in walk(Counting(), sentences):
        assert states[-1] == tuple(sentences[number])
    assert prefixes(sentences) == (14, len(steps))


def test_surprisal_is_minus_log2_of_score(english):
    measured = complexity(english, SENTENCES)
    for each, ln_p in zip(measured, english.score(SENTENCES), strict=True):
        np.testing.assert_allclose(each.surprisal, -ln_p / math.log(2), 1e-12)
    first = measured[0]
    assert first.depth[0] == first.entropy[0] == 0.0
    np.testing.assert_allclose(first.difference.sum(), first.depth[-1], 1e-12)
    np.testing.assert_array_equal(first.reduction, np.maximum(0, first.entropy[:-1] - first.entropy[1:]))
    assert (first.entropy >= 0).all()
    assert ((first.depth[1:] >= 1 - 1e-9) & (first.depth[1:] <= 4 + 1e-9)).all()


def test_the_entropy_of_stores(english):
    (plain,), (stores,) = (complexity(english, SENTENCES[:1], kind) for kind in ("derivations", "stores"))
    assert (stores.entropy <= plain.entropy + 1e-9).all()


def test_an_ngram_model_has_surprisal_alone():
    model = NgramLanguageModel(Path(ARPA))
    (measured,) = complexity(model, [["the", "dog"]])
    np.testing.assert_allclose(measured.surprisal, -model.score([["the", "dog"]])[0] / math.log(2))
    assert np.isnan(measured.entropy).all()
    assert np.isnan(measured.depth).all()


def test_surprisal_command(tmp_path):
    (tmp_path / "text").write_text(TEXT)
    lines = done("lm", "surprisal", tmp_path / "text", "-M", "hhmm-lm,beam=50").lines
    rows = [line.split("\t") for line in lines]
    header = "sentence position word surprisal entropy entropy_reduction depth depth_difference lost known"
    assert rows[0] == header.split()
    assert [row[2] for row in rows[1:]] == [*SENTENCES[0], "</s>", "</s>", *SENTENCES[2], "</s>"]
    assert all(len(row) == 10 and float(row[3]) >= 0 for row in rows[1:])
    assert rows[9][4:] == [*[""] * 5, "1"]
    objects = [
        json.loads(line) for line in done("lm", "surprisal", tmp_path / "text", "-M", ARPA, "--as", "json").lines
    ]
    assert [each["sentence"] for each in objects] == [1, 2, 3]
    assert set(objects[0]["words"][0]) == {"word", "surprisal", "known"}
    none = rerank("lm", "surprisal", tmp_path / "text", "-M", tmp_path / "none")
    assert "none: no such file; wanted a trained model" in one_line(none, 2)
    assert not none.out


@pytest.mark.slow
def test_plot_of_a_sentence(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "text").write_text(TEXT)
    done(
        "lm",
        "surprisal",
        tmp_path / "text",
        "-M",
        "hhmm-lm,beam=20",
        "--plot",
        tmp_path / "plot.svg",
        "-o",
        tmp_path / "out",
    )
    assert "Friday" in (tmp_path / "plot.svg").read_text() or (tmp_path / "plot.svg").stat().st_size > 5000
    assert "no sentence to plot" in refused("lm", "surprisal", "-", "-M", ARPA, "--plot", tmp_path / "plot.svg")


def test_train_from_brackets(tmp_path):
    (tmp_path / "trees.ptb").write_text(TREEBANK)
    (tmp_path / "text").write_text("the cat barks .\n")
    ran = done(
        "train", "hhmm", tmp_path / "trees.ptb", "--language", "en", "--splits", 1, "-o", tmp_path / "small.pcfg",
        "--held-out", tmp_path / "text",
    )  # fmt: skip
    assert "trees that fit in a store" in ran.err
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", tmp_path / "small.pcfg")
    assert "perplexity" in ran.err
    assert read_grammar(tmp_path / "small.pcfg").settings["direction"] == "left"
    model = HhmmLanguageModel(tmp_path / "small.pcfg")
    likely, unlikely = model.totals([["the", "cat", "sees", "a", "dog", "."], ["cat", "the", "sees", "a", "dog", "."]])
    assert likely > unlikely
    (parse,) = HhmmParser(tmp_path / "small.pcfg", "en").parse([["the", "cat", "sees", "a", "dog", "."]])
    assert str(parse.constituents[0].tree) == (
        "(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .)))"
    )
    assert "a model for 'en'" in refused(
        "trees", "parse", tmp_path / "text", "-p", f"hhmm,model={tmp_path / 'small.pcfg'},language=de"
    )


def test_parts_where_nothing_is_complete(tmp_path, caplog):
    """A sentence that the grammar does not derive still gets a tree over its words, and is counted in the log."""
    write_grammar(random_grammar(3, unary=False), tmp_path / "random.pcfg")
    parser = HhmmParser(tmp_path / "random.pcfg", beam=3, depth=1)
    sentences = [["w0", "w1", "w2", "w0", "w0", "unknown"], ["w1"], []]
    with caplog.at_level(logging.WARNING):
        parses = parser.parse(sentences)
    assert [bool(parse.constituents) for parse in parses] == [True, True, False]
    for sentence, parse in zip(sentences[:2], parses, strict=False):
        assert list(parse.constituents[0].tree.words()) == sentence
    assert "no complete tree" in caplog.text


@pytest.mark.parametrize("text", ["", "zzyzx 🙂 42 1,000.5 -- ''", "( x ) -LRB- y -RRB-", "the " * 500])
def test_any_text_has_finite_values(text):
    feature = HhmmLanguageModel(beam=20)
    values = feature.extract(NBestList("0", (Hypothesis(text, (), 0.0, {}),)))
    assert np.isfinite(values).all()
    assert values[0, 0] < 0
    assert -1 <= values[0, 2] <= 0


def test_train_from_counted_events(tmp_path):
    (tmp_path / "trees.ptb").write_text(TREEBANK)
    (tmp_path / "text").write_text("the cat barks .\n")
    model = tmp_path / "small.hhmm"
    train = ("train", "hhmm", tmp_path / "trees.ptb", "--language", "en", "--estimation", "events", "-o", model)
    ran = done(*train, "--held-out", tmp_path / "text")
    assert "17 reductions" in ran.err
    assert says_what_it_wrote(ran, r"the model \([\d.]+ MB\)", model)
    assert "perplexity" in ran.err
    sentence = ["the", "cat", "sees", "a", "dog", "."]
    likely, unlikely = HhmmLanguageModel(model).totals([sentence, ["cat", "the", "sees", "a", "dog", "."]])
    assert likely > unlikely
    (parse,) = HhmmParser(model, "en").parse([sentence])
    assert str(parse.constituents[0].tree) == (
        "(ROOT (S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .)))"
    )
    lines = done("lm", "surprisal", tmp_path / "text", "-M", f"hhmm-lm,model={model}").lines
    assert [line.split("\t")[2] for line in lines] == ["word", "the", "cat", "barks", ".", "</s>"]
    assert done("lm", "score", tmp_path / "text", "-M", f"hhmm-lm,model={model}").out
    assert "latent splits cannot be counted" in refused(*train, "--splits", 2)
    assert "counted for 4 elements" in refused("lm", "score", tmp_path / "text", "-M", f"hhmm-lm,model={model},depth=3")
    assert "holds a hhmm model, wanted a grammar model" in refused(
        "trees", "parse", tmp_path / "text", "-p", f"pcfg,model={model}"
    )


def test_counted_events_come_back_from_their_file(tmp_path):
    made = train_empirical([list(read_trees(TREEBANK.splitlines()))], [1.0], counting_settings("en"), 3, 2.0)
    write_empirical(made, tmp_path / "model")
    grammar, events = read_hhmm(tmp_path / "model")
    assert (events.depth, events.strength) == (3, 2.0)
    for name in ("reductions", "reduced", "expansions", "expanded"):
        np.testing.assert_array_equal(getattr(events, name), getattr(made.events, name))
    np.testing.assert_allclose(grammar.binary_logp, made.grammar.binary_logp, atol=1e-6)
    with pytest.raises(ModelError, match="wanted 'de'"):
        read_or_embedded(tmp_path / "model", "de")
    with pytest.raises(ModelError, match="cannot be read"):
        read_hhmm(tmp_path / "none")
    check_damage_is_seen(tmp_path / "model", read_hhmm, ModelError, flips=120)
    settings, arrays = model_file.read_model(tmp_path / "model", KIND)
    for change, message in (
        (
            {"reductions5": arrays["reductions5"] + 1000},
            "reductions5 has an index out of range: 1005 at 0, wanted -1 to 6",
        ),
        ({"reduced": -arrays["reduced"]}, "reduced has -3 at 0, wanted a finite number above 0"),
        ({"expanded": arrays["expanded"] + np.inf}, "expanded has inf at 0, wanted a finite number above 0"),
        ({"expanded": arrays["expanded"][1:]}, "expansions0 has the length"),
        ({"expansions0": arrays["expansions0"][1:]}, "expansions0 has the length"),
        *((change, "has an index out of range") for change in out_of_range(arrays, grammar)),
    ):
        model_file.write_model(tmp_path / "damaged", KIND, settings, {**arrays, **change})
        with pytest.raises(ModelError, match=message):
            read_hhmm(tmp_path / "damaged")


def out_of_range(arrays, grammar):
    """The arrays of events of a store of 3 elements, a value at a time next to the least and the greatest allowed one."""
    limits = {
        "reductions": ([0, 0, 0, 0, 0, END], [2, *[grammar.size - 1] * 3, WITHIN, len(grammar.binary) - 1]),
        "expansions": ([0, 0, 0, HERE], [3, *[grammar.size - 1] * 3]),
    }
    for name, (least, most) in limits.items():
        for column, (low, high) in enumerate(zip(least, most, strict=True)):
            for value in (low - 1, high + 1):
                changed = arrays[f"{name}{column}"].copy()
                changed[0] = value
                yield {f"{name}{column}": changed}


@pytest.mark.parametrize("kind", ["grammar", "events"])
def test_a_model_of_another_version_is_refused(tmp_path, kind):
    made = train_empirical([list(read_trees(TREEBANK.splitlines()))], [1.0], counting_settings("en"))
    path = tmp_path / "model"
    (write_grammar(made.grammar, path) if kind == "grammar" else write_empirical(made, path))
    plain = bytearray(zstandard.ZstdDecompressor().decompress(path.read_bytes()))
    plain[8:12] = (99).to_bytes(4, "little")
    path.write_bytes(plain)
    (tmp_path / "text").write_text("the cat barks .\n")
    assert "version 99, wanted version" in refused("lm", "score", tmp_path / "text", "-M", f"hhmm-lm,model={path}")


@pytest.mark.slow
def test_mixed_with_an_ngram_model(tmp_path):
    """Weights that are tuned on held-out text: the mixture is no worse there than either model."""
    (tmp_path / "text").write_text("the cat barks .\nthe dog sees the cat .\n" * 3)
    held_out, mixture = tmp_path / "text", tmp_path / "mixture.toml"
    ran = done("lm", "mix", held_out, "-M", ARPA, "-M", "hhmm-lm,beam=20", "-o", mixture)
    assert "hhmm" in ran.err
    lms = {"mixture": ("-c", mixture, "-M", "mixture"), "arpa": ("-M", ARPA), "hhmm": ("-M", "hhmm-lm,beam=20")}
    totals = {
        name: float(re.search(r"logprob= (\S+)", done("lm", "score", held_out, *lm).out)[1]) for name, lm in lms.items()
    }
    assert totals["mixture"] >= max(totals["arpa"], totals["hhmm"]) - 1e-3
