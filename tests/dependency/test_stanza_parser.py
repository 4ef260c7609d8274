"""The Stanza parser with micro models trained here; what it says without network, language, files or Stanza itself."""

import importlib.util
import json
import pickle
import shutil
import subprocess
import sys
from importlib.metadata import distributions, version

import pytest

from rerank_plugins import ModelError, Parse
from rerank_plugins.dependency.stanza_parser import LONGEST, StanzaParser
from rerank_plugins.kit.trees.parseval import Attachment, Parseval
from rerank_plugins.testing import check_parser
from tests.dependency.micro_parsers import phrases

needs_stanza = pytest.mark.skipif(
    importlib.util.find_spec("stanza") is None, reason="the extra stanza is not installed"
)


def one_line(caught):
    text = str(caught.value)
    assert "\n" not in text
    return text


@needs_stanza
@pytest.mark.release
def test_two_model_files(stanza_models, treebank):
    parser = StanzaParser(tagger=stanza_models[0], parser=stanza_models[1])
    sentences = [tree.words for tree in treebank]
    check_parser(parser, [*sentences[:20], (), ("unknown", "w-o-r-d-s", "U.S."), ("a",) * (LONGEST + 1)])
    scores = Attachment()
    for gold, parse in zip(treebank, parser.parse(sentences), strict=True):
        scores.add(gold, parse.dependencies)
    assert scores.percent()["UAS"] > 50
    assert scores.percent()["UPOS"] > 80
    again = pickle.loads(pickle.dumps(parser))
    assert again.parse(sentences[:5]) == parser.parse(sentences[:5])
    assert parser.parse([()]) == [Parse()]
    import torch

    assert torch.get_num_threads() == 1


@needs_stanza
@pytest.mark.release
def test_constituency_trees(stanza_models, stanza_constituency, treebank):
    tagger, dependencies = stanza_models
    model, vectors = stanza_constituency
    sentences = [tree.words for tree in treebank]
    parser = StanzaParser(tagger=tagger, constituency=model, vectors=vectors)
    check_parser(parser, [*sentences[:20], (), ("unknown", "w-o-r-d-s", "(", "U.S."), ("a",) * (LONGEST + 1)])
    scores = Parseval()
    for gold, parse in zip(treebank, parser.parse(sentences), strict=True):
        scores.add(phrases(gold), parse.tree)
        assert parse.dependencies is None
        assert len(parse.constituents) == 1
        assert -1000 < parse.constituents[0].log_probability < 0
    assert scores.percent()["F1"] > 8  # it learnt for seconds
    assert scores.percent()["coverage"] == 100
    both = StanzaParser(tagger=tagger, parser=dependencies, constituency=model, vectors=vectors)
    check_parser(both, sentences[:5])
    parse = both.parse(sentences[:1])[0]
    assert parse.tree == parser.parse(sentences[:1])[0].tree
    assert parse.dependencies is not None


@needs_stanza
@pytest.mark.release
def test_brackets_are_read_in_their_normal_form(stanza_models, stanza_constituency):
    """As in the treebanks that models come from; the tokens of the trees stay those that were given."""
    (tagger, dependencies), (model, vectors) = stanza_models, stanza_constituency
    parser = StanzaParser(tagger=tagger, parser=dependencies, constituency=model, vectors=vectors)
    sentences = [("the", opening, "cat", closing, "sat") for opening, closing in ("()", ("-LRB-", "-rrb-"))]
    pipeline, read = parser._pipeline, []

    def reading(texts, **options):
        read.extend(texts)
        return pipeline(texts, **options)

    reading.processors = pipeline.processors
    parser.__dict__["_pipeline"] = reading
    plain, named = parser.parse(sentences)
    assert read == [list(sentences[0])] * 2
    for parse, words in zip((plain, named), sentences, strict=True):
        assert parse.dependencies.words == parse.tree.words() == words
    assert plain.dependencies.heads == named.dependencies.heads
    assert plain.dependencies.tags == named.dependencies.tags
    assert plain.constituents[0].log_probability == pytest.approx(named.constituents[0].log_probability)


@needs_stanza
@pytest.mark.release
def test_the_log_probability_of_a_tree_is_that_of_its_transitions(stanza_models, stanza_constituency, treebank):
    """Stanza replays the transitions of our tree; their probabilities, one state at a time, multiply to ours."""
    import torch
    from stanza.models.constituency.transition_sequence import build_sequence
    from stanza.models.constituency.tree_reader import read_trees as stanza_trees

    parser = StanzaParser(tagger=stanza_models[0], constituency=stanza_constituency[0], vectors=stanza_constituency[1])
    for gold in treebank[:5]:
        scored = parser.parse([gold.words])[0].constituents[0]
        model = parser._pipeline.processors["constituency"]._model
        tree = stanza_trees(str(scored.tree))[0]
        states = model.initial_state_from_words(
            [[(leaf.children[0].label, leaf.label) for leaf in tree.yield_preterminals()]]
        )
        total = 0.0
        with torch.no_grad():
            for transition in build_sequence(tree, model.transition_scheme):
                logits = model.forward(states)[0]
                total += float(torch.softmax(logits, 0)[model.transitions.index(transition)].log())
                states = model.bulk_apply(states, [transition])
        assert scored.log_probability == pytest.approx(total, abs=1e-3)


def layout(folder, models, language="en"):
    """A folder as Stanza fills it, with our models in a package of its own."""
    known = {name: {"own": {}} for name in ("tokenize", "pos", "depparse")}
    package = dict.fromkeys(("tokenize", "pos", "depparse"), "own")
    entry = {"lang_name": "English", "packages": {"own": package}, "lemma": {"identity": {}}, **known}
    folder.mkdir()
    (folder / "resources.json").write_text(json.dumps({language: entry}))
    for name, model in zip(("pos", "depparse"), models, strict=True):
        (folder / language / name).mkdir(parents=True)
        shutil.copy(model, folder / language / name / "own.pt")
    return folder


@needs_stanza
@pytest.mark.release
def test_a_folder_of_models(stanza_models, treebank, tmp_path):
    folder = layout(tmp_path / "models", stanza_models)
    sentences = [tree.words for tree in treebank[:10]]
    ours = StanzaParser(package="own", folder=folder)
    check_parser(ours, sentences)
    assert ours.parse(sentences) == StanzaParser(tagger=stanza_models[0], parser=stanza_models[1]).parse(sentences)
    with pytest.raises(ModelError, match="no models for the language 'xx' here") as caught:
        StanzaParser("xx", folder=folder).parse([["a"]])
    assert one_line(caught).startswith(str(folder))
    (folder / "en" / "depparse" / "own.pt").unlink()
    with pytest.raises(ModelError, match="cannot load its models for 'en'") as caught:
        StanzaParser(package="own", folder=folder).parse([["a"]])
    assert "own.pt" in one_line(caught)


@needs_stanza
@pytest.mark.release
def test_a_model_file_that_is_cut_short(stanza_models, tmp_path):
    cut = tmp_path / "cut.pt"
    cut.write_bytes(stanza_models[1].read_bytes()[:3000])
    with pytest.raises(ModelError, match=r"cut\.pt: Stanza cannot load its models for 'en'") as caught:
        StanzaParser(tagger=stanza_models[0], parser=cut).parse([["a"]])
    one_line(caught)


@needs_stanza
@pytest.mark.release
def test_no_network_is_one_line(monkeypatch, tmp_path):
    import requests

    def refuse(*given, **named):
        raise requests.exceptions.ConnectionError("Failed to resolve\nsomething")

    monkeypatch.setattr(requests.Session, "request", refuse)
    monkeypatch.setattr(requests, "get", refuse)
    monkeypatch.setattr("stanza.resources.common.DEFAULT_MODEL_DIR", str(tmp_path))
    monkeypatch.setattr("stanza.pipeline.core.DEFAULT_MODEL_DIR", str(tmp_path))
    monkeypatch.setattr("stanza.pipeline.core.Pipeline.__init__.__defaults__", defaults(tmp_path), raising=False)
    with pytest.raises(ModelError, match=r"Stanza's models for 'en' cannot be downloaded \(no network\)") as caught:
        StanzaParser().parse([["a"]])
    one_line(caught)


def defaults(folder):
    from stanza.pipeline.core import Pipeline

    first, _, *rest = Pipeline.__init__.__defaults__
    return (first, str(folder), *rest)


@pytest.mark.release
@needs_stanza
def test_missing_files_are_named(tmp_path):
    there = tmp_path / "there.pt"
    there.write_bytes(b"")
    missing = tmp_path / "missing.pt"
    for given in ({"tagger": missing, "parser": there}, {"tagger": there, "parser": missing}):
        with pytest.raises(ModelError, match=r"missing\.pt: no such file"):
            StanzaParser(**given).parse([["a"]])
    with pytest.raises(ModelError, match=r"resources\.json: no such file"):
        StanzaParser(folder=tmp_path).parse([["a"]])


def test_options_go_together(tmp_path):
    with pytest.raises(ValueError, match="give 'tagger' together"):
        StanzaParser(tagger=tmp_path)
    with pytest.raises(ValueError, match="dependencies, constituents or both, not 'all'"):
        StanzaParser(trees="all")
    with pytest.raises(ValueError, match="leave out 'trees'"):
        StanzaParser(tagger=tmp_path, parser=tmp_path, trees="both")
    with pytest.raises(ValueError, match="not both"):
        StanzaParser(tagger=tmp_path, parser=tmp_path, folder=tmp_path)


def test_without_stanza_it_says_how_to_install_it():
    script = (
        "import sys; sys.modules['stanza'] = None\n"
        "from rerank_plugins.dependency.stanza_parser import StanzaParser\n"
        "StanzaParser().parse([['a']])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "ModelError: the parser 'stanza' needs Stanza: pip install 'rerank-plugins[stanza]'" in ran.stderr


def test_no_gpu_libraries_came_with_torch():
    """The constraints choose a PyTorch without gigabytes of GPU libraries."""
    if not importlib.util.find_spec("torch"):
        pytest.skip("torch is not installed")
    if not version("torch").endswith("+cpu"):
        pytest.skip("for this Python the index has no build of torch without GPU libraries")
    names = {str(distribution.metadata["Name"]).lower() for distribution in distributions()}
    assert not {name for name in names if name.startswith(("nvidia-", "triton"))}
