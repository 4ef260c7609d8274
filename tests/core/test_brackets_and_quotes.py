"""The one form of brackets and quotation marks (core/brackets_and_quotes.py): the same scores and models in every spelling."""

from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import LanguageModel
from rerank_plugins.core.brackets_and_quotes import BRACKETS, PLAIN, known_spelling, normal_form, normal_text, spellings
from rerank_plugins.core.constituency_tree import read_trees, write_tree
from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.dependency.model import read_model as read_dependency_lm
from rerank_plugins.dependency.parsers import TreebankParser
from rerank_plugins.missing_words import training as missing_words
from rerank_plugins.ngram.features import OovCountFeature
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel
from rerank_plugins.ngram.word_classes import WordClasses
from rerank_plugins.similarity import esa_training as esa_training
from rerank_plugins.similarity import random_indexing_training as vector_training
from rerank_plugins.similarity.esa_training import documents
from rerank_plugins.similarity.measures.sentence_parts import Lexicon
from rerank_plugins.similarity.random_indexing import write_model as write_vectors
from rerank_plugins.svs.model import EMBEDDED as EMBEDDED_SVS
from rerank_plugins.svs.model import read_model as read_svs
from rerank_plugins.testing import check_parser, sample_nbest
from rerank_plugins.treelet.headlex import read_model as read_headlex
from rerank_plugins.treelet.model import read_model as read_treelet
from tests.command_line import done

REGISTRY = load_plugins(BUILTIN, installed=False)
SENTENCES = ("He said ( quietly ) that it rained .", "It [ the rain ] fell {", ") said Mary Zyzx (")
NAMES = {character: name for name, character in BRACKETS.items()}
# letters as written; scores by line; the words of the user's own model or network, or of the user's own sentence pairs
OF_THE_TEXT_ITSELF = {
    *("character-length", "column", "ngram-lm", "language-model-ratio", "referential-lm"),
    *(
        "headlex",
        "mixture",
        "word-translation",
        "word-lexicon",
        "translation-memory",
        "expected-utility",
        "comet",
        "neural-causal",
        "neural-masked",
        "neural-translation",
        "llm",
    ),
}
OPTIONS = {"hhmm-lm": {"beam": 20}, "hhmm": {"beam": 20}, "random-indexing": {"model": "micro.ri"}}
EMBEDDED = ["unigram", "pcfg", "hhmm-lm", "treelet-lm", "dependency-lm"]  # language models


def respelled(text, small=False):
    """The text with the Penn Treebank's names for brackets, in capitals or small letters."""
    names = (NAMES.get(word, word) for word in text.split())
    return " ".join(name.lower() if small and name in BRACKETS else name for name in names)


@cache
def built(kind, name, folder=Path()):
    return Spec.read(kind, {"use": name, **OPTIONS.get(name, {})}, Names(REGISTRY, folder)).make()


@given(st.lists(st.sampled_from([*PLAIN, *PLAIN.values(), "-lrb-", "dog", "x-LRB-", "-LRB--RRB-"]), max_size=6))
def test_forms(words):
    text = "  ".join(words)
    assert normal_text(text) == "  ".join(map(normal_form, words))
    for word in words:
        assert normal_form(normal_form(word)) == normal_form(word) == spellings(word)[0]
        assert word in spellings(word)
        assert all(word in spellings(other) for other in spellings(word))
        assert known_spelling(word, spellings(word)) == normal_form(word)
    assert {normal_form(word) for word in ("-RCB-", "-rcb-", "}")} == {"}"}
    assert normal_form("``") == "``"  # direction is information


@pytest.mark.parametrize("small", [False, True], ids=["capitals", "small letters"])
@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_language_models(name, small):
    """One score in every spelling, and a bracket is in the vocabulary by its name if it is there at all."""
    model = built("language_model", name)
    scored = model.score if isinstance(model, LanguageModel) else model.totals
    plain = scored([text.split() for text in SENTENCES])
    named = scored([respelled(text, small).split() for text in SENTENCES])
    for one, other in zip(plain, named, strict=True):
        np.testing.assert_array_equal(one, other)
    for character, bracket in NAMES.items():
        assert (character in model) == (bracket in model) == (bracket.lower() in model)
    assert all(word in model for word in ("(", "-LRB-", "-rrb-", "[", '"', "``", "''"))


@pytest.mark.parametrize("name", sorted(REGISTRY.known("feature").keys() - OF_THE_TEXT_ITSELF))
def test_features(name, tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    if name == "random-indexing":
        settings = vector_training.Settings(min_count=1)
        write_vectors(vector_training.train([("text", SENTENCES)], settings), tmp_path / "micro.ri")
    extractor = built("feature", name, tmp_path)
    nbests = [
        [sample_nbest([spelled(text) for text in SENTENCES])]
        for spelled in (str, respelled, lambda s: respelled(s, True))
    ]
    plain, *named = (extractor.extract_all(lists)[0] for lists in nbests)
    for values in named:
        np.testing.assert_array_equal(plain, values)


def test_no_quotation_mark_is_unknown_to_an_embedded_model():
    svs = read_svs(EMBEDDED_SVS).lexicon
    models = [svs, *(built("language_model", name) for name in EMBEDDED)]
    for model in models:
        assert all(mark in model for mark in ('"', "``", "''"))


def test_embedded_vocabularies_hold_no_names():
    words = {
        "treelet-lm": built("language_model", "treelet-lm").trees.vocabulary.words,
        "dependency-lm": built("language_model", "dependency-lm")._model.vocabulary.words,
        "pcfg": built("language_model", "pcfg").grammar.lexicon.words,
        "hhmm-lm": built("language_model", "hhmm-lm").hhmm.grammar.lexicon.words,
        "svs": read_svs(EMBEDDED_SVS).lexicon.words,
        "unigram": built("language_model", "unigram")._unigrams.table,
    }
    assert {name: [word for word in each if normal_form(word) != word] for name, each in words.items()} == {
        name: [] for name in words
    }
    treelet = built("language_model", "treelet-lm").trees.symbols
    assert not [label for label in (*treelet.tags, *treelet.phrases) if "lrb-" in label or "LSB" in label]


BANK = """\
(ROOT (S (NP (PRP He)) (VP (VBD said) (PRN (-LRB- -LRB-) (ADVP (RB quietly)) (-RRB- -RRB-)))))
(ROOT (S (NP (PRP He)) (VP (VBD left) (PRN (-LRB- -LSB-) (ADVP (RB quietly)) (-RRB- -RSB-)))))
(ROOT (S (NP (PRP He)) (VP (VBD said) (PRN (-LRB- -LRB-) (ADVP (RB now)) (-RRB- -RRB-)))))
"""
TEXT = "He said -LRB- quietly -RRB-\nHe left -LSB- quietly -RSB-\nHe said -LRB- now -RRB-\n"
CONLLU = """\
1\tHe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tsaid\t_\tVERB\t_\t_\t0\troot\t_\t_
3\t(\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_
4\tquietly\t_\tADV\t_\t_\t2\tadvmod\t_\t_
5\t)\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_

"""


@pytest.fixture
def bank(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", "")
    (tmp_path / "bank.ptb").write_text(BANK, encoding="utf-8")
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "bank.conllu").write_text(CONLLU * 3, encoding="utf-8")
    (tmp_path / "deps.txt").write_text(TEXT.splitlines(keepends=True)[0] * 3, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(("variant", "read"), [("treelet", read_treelet), ("headlex", read_headlex)])
def test_treebank_and_text_give_one_model_of_trees(bank, variant, read):
    parser = ("-p", f"treebank,path={bank / 'bank.ptb'}", "-j", "1")
    done("train", "treelet-lm", bank / "bank.ptb", "--variant", variant, "-o", bank / "from-trees")
    done("train", "treelet-lm", bank / "text.txt", "--variant", variant, *parser, "-o", bank / "from-text")
    trees, text = read(bank / "from-trees"), read(bank / "from-text")
    assert trees.symbols == text.symbols
    assert trees.vocabulary.words == text.vocabulary.words
    assert {"(", ")"} <= set(text.vocabulary.words)
    some = list(read_trees(BANK.splitlines()))
    np.testing.assert_array_equal(trees.score_trees(some), text.score_trees(some))


def test_treebank_and_text_give_one_dependency_lm(bank):
    parser = ("-p", f"treebank,path={bank / 'bank.conllu'}", "-j", "1", "--min-count", "1")
    done("train", "dependency-lm", bank / "bank.conllu", "--min-count", "1", "-o", bank / "from-trees")
    done("train", "dependency-lm", bank / "deps.txt", *parser, "-o", bank / "from-text")
    trees, text = (read_dependency_lm(bank / name) for name in ("from-trees", "from-text"))
    assert trees.vocabulary.words == text.vocabulary.words
    some = list(read_conllu(CONLLU.splitlines(keepends=True)))
    np.testing.assert_array_equal(trees.totals(some), text.totals(some))


def test_stored_trees_are_found_in_every_spelling(bank):
    """They stand over exactly the tokens that were asked for."""
    parser = TreebankParser(path=bank / "bank.ptb", second=bank / "bank.conllu")
    sentences = [tuple(spelled.split()) for spelled in ("He said ( quietly )", TEXT.splitlines()[0])]
    check_parser(parser, sentences)
    plain, named = parser.parse(sentences)
    assert named.constituents[0].tree.words() == named.dependencies.words == sentences[1]
    assert write_tree(plain.constituents[0].tree) == write_tree(named.constituents[0].tree)
    assert plain.dependencies.heads == named.dependencies.heads


def test_word_lists_classes_and_texts(tmp_path):
    (tmp_path / "words").write_text("(\n-RRB-\n``\n")
    asked = sample_nbest(["( -LRB- -lrb- ) -RRB- -rrb-", "``", '"', "[", "''"])
    assert OovCountFeature(words=tmp_path / "words").extract(asked)[:5].ravel().tolist() == [0, 0, 0, -1, -1]
    classes = WordClasses.of_treebank([[("(", "-LRB-"), ("-LRB-", "-LRB-")]])  # together seen often enough
    assert classes.apply("( -LRB- -lrb-") == "( ( ("
    of = Lexicon().text
    assert of(["Bo", "(", "-LRB-", ")", "ran"]) == of(["Bo", "-LRB-", "-lrb-", "-RRB-", "ran"])
    assert of(["-LRB-"]).words == of(["-LRB-"]).names == ()


def test_tokens_shared_with_the_source():
    nbest = replace(sample_nbest(["-LRB- a -RRB-", "( a )"]), source="( a -rrb-")
    for name, wanted in [("lexical-overlap", [[1, 1], [1, 1]]), ("untranslated", [[-1], [-1]])]:
        assert built("feature", name).extract(nbest)[:2].tolist() == wanted


def test_indexes_of_documents():
    settings = esa_training.Settings(min_count=1, shortest=1)
    texts = ["a ( b", "a ( c", "d )"]
    plain, named = (
        esa_training.train(documents("text", lines, "lines"), settings) for lines in (texts, map(respelled, texts))
    )
    assert plain.words == named.words
    assert plain.cosines([(["("], ["a"])]) == plain.cosines([(["-lrb-"], ["a"])]) > 0


def test_missing_words_know_brackets_in_every_spelling():
    """The same model of the same text, and the same gaps and words of the same sentences."""
    texts = SENTENCES * 4
    settings = missing_words.Settings(min_count=1)
    plain, *named = (
        missing_words.train([("text", map(spelled, texts))], settings, held_out=[spelled(SENTENCES[0]).split()])
        for spelled in (str, respelled, partial(respelled, small=True))
    )
    sentences = [SENTENCES[1].split(), respelled(SENTENCES[1]).split()]
    for model in (plain, *named):
        assert model.vocabulary.words == plain.vocabulary.words
        np.testing.assert_array_equal(model.mixture, plain.mixture)
        np.testing.assert_array_equal(*model.locate(sentences))
        np.testing.assert_array_equal(*np.stack(model.neighbours(sentences, [0, 0]), axis=1))
        assert "[" in model.vocabulary
        assert "-lsb-" in model.vocabulary


@pytest.mark.parametrize("spelled", [str, respelled])
def test_an_n_gram_model_reads_a_bracket_that_it_lacks_as_the_one_it_has(spelled, tmp_path):
    train([("text", map(spelled, SENTENCES))], NgramSettings(3)).ngrams.save(tmp_path / "own.ngram")
    lm = NgramLanguageModel(tmp_path / "own.ngram")
    own, *others = (f(SENTENCES[0]).split() for f in (spelled, str, respelled, partial(respelled, small=True)))
    for words in others:
        np.testing.assert_array_equal(lm.score([words])[0], lm.score([own])[0])
        assert "-RRB-" in lm
        state, steps = lm.start(), []
        for word in words:
            ln_p, state = lm.advance(state, word)
            steps.append(ln_p)
        np.testing.assert_allclose([*steps, lm.finish(state)], lm.score([own])[0])


def test_marks_of_the_model_are_no_words_of_a_sentence():
    model = UnigramLanguageModel()
    for mark in ("<s>", "</s>", "<unk>"):
        assert mark not in model
        assert model.ln(mark) == model.ln("zzyzx-never-seen")
    ends = model.score([["</s>"], []])
    assert ends[0][1] == ends[1][0] > ends[0][0]
    assert (
        "1 sentences, 1 words, 1 OOVs"
        in done("lm", "score", "-", "-M", "unigram", "--text", "none", stdin="</s>\n").out
    )


def test_a_plain_quotation_mark_is_either_directed_one():
    model = UnigramLanguageModel()
    assert model.ln('"') == pytest.approx(np.logaddexp(model.ln("``"), model.ln("''")))


@pytest.mark.parametrize("lm", ["pcfg", "unigram"])
def test_scored_text_has_the_same_counts(lm):
    first, *others = (
        done("lm", "score", "-", "-M", lm, "--as", "kenlm", stdin=text + "\n").out.split("\n", 1)[-1]
        for text in (SENTENCES[0], respelled(SENTENCES[0]), respelled(SENTENCES[0], small=True))
    )
    assert others == [first] * 2
