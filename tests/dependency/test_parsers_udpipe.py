"""The UDPipe parser with a micro model: trees over the tokens given, and one line for every model that is none."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from rerank_plugins import ModelError, Parse
from rerank_plugins.dependency.parsers import UdpipeParser
from rerank_plugins.kit.trees.parseval import Attachment
from rerank_plugins.testing import check_parser
from tests.dependency.micro_parsers import train_udpipe


def test_trees_are_over_the_tokens_given(udpipe_model, treebank):
    parser = UdpipeParser(udpipe_model)
    sentences = [tree.words for tree in treebank]
    check_parser(parser, [*sentences, (), ("unknown", "w-o-r-d-s", "don't", "U.S."), ("two words", "in one")])
    scores = Attachment()
    for gold, parse in zip(treebank, parser.parse(sentences), strict=True):
        scores.add(gold, parse.dependencies)
    assert scores.percent()["UAS"] > 50
    assert scores.percent()["UPOS"] > 80


def test_brackets_are_read_in_their_normal_form(udpipe_model):
    """Treebanks of Universal Dependencies have the characters; the tokens of the tree stay those that were given."""
    sentences = [("the", opening, "black", "cat", closing, "sat") for opening, closing in ("()", ("-LRB-", "-rrb-"))]
    plain, named = (parse.dependencies for parse in UdpipeParser(udpipe_model).parse(sentences))
    assert (plain.words, named.words) == tuple(sentences)
    assert (plain.heads, plain.relations, plain.tags) == (named.heads, named.relations, named.tags)


def test_the_beam_is_used(udpipe_model, treebank):
    sentences = [tree.words for tree in treebank]
    assert UdpipeParser(udpipe_model, beam=1).parse(sentences) != UdpipeParser(udpipe_model, beam=10).parse(sentences)
    with pytest.raises(ValueError, match="beam must be at least 1"):
        UdpipeParser(udpipe_model, beam=0)


@pytest.mark.slow
def test_threads_and_copies_give_the_same(udpipe_model, treebank):
    parser = UdpipeParser(udpipe_model)
    sentences = [tree.words for tree in treebank]
    wanted = parser.parse(sentences)
    assert pickle.loads(pickle.dumps(parser)).parse(sentences) == wanted
    with ThreadPoolExecutor(4) as pool:
        assert all(found == wanted for found in pool.map(parser.parse, [sentences] * 8))


def test_text_that_is_no_text_has_no_parse(udpipe_model):
    parses = UdpipeParser(udpipe_model).parse([["\ud800"], ["a\x00b", "c"], []])
    assert parses[0] == parses[2] == Parse()
    assert parses[1].dependencies.words == ("a\x00b", "c")


@pytest.mark.parametrize(("end", "message"), [(None, "cannot be read"), (0, "not a UDPipe model"), (5000, "cut short")])
def test_files_that_are_no_models(udpipe_model, tmp_path, end, message):
    path = tmp_path / "model.udpipe"
    if end is not None:
        path.write_bytes(udpipe_model.read_bytes()[:end])
    with pytest.raises(ModelError, match=message) as caught:
        UdpipeParser(path).parse([["a"]])
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_text_is_no_model(tmp_path):
    path = tmp_path / "model.udpipe"
    path.write_text("# text")
    with pytest.raises(ModelError, match="not a UDPipe model"):
        UdpipeParser(path).parse([["a"]])


def test_published_models_of_another_language_are_refused(udpipe_model, tmp_path):
    german = tmp_path / "german-gsd-ud-2.5-191206.udpipe"
    german.write_bytes(udpipe_model.read_bytes())
    with pytest.raises(ModelError, match="a model for 'german', wanted 'english'"):
        UdpipeParser(german, "english").parse([["a"]])
    assert UdpipeParser(german, "german").parse([["a"]])[0].dependencies
    assert UdpipeParser(german).parse([["a"]])[0].dependencies


@pytest.mark.slow
def test_a_model_without_parser_says_so(treebank_path, tmp_path):
    path = tmp_path / "tagger.udpipe"
    path.write_bytes(train_udpipe(treebank_path, parser="none"))
    with pytest.raises(ModelError, match=r"tagger\.udpipe: No parser defined for the UDPipe model$"):
        UdpipeParser(path).parse([["a"]])
