"""The Python API: five lines do what the commands do."""

import ast
import inspect
import logging

import pytest

import rerank_adapters
from rerank_adapters import api, evaluate, extract_features, read_nbest, rerank, tune
from rerank_adapters.weights import read_weights, write_weights
from rerank_plugins import ConfigError, FormatError, PluginError
from tests.command_line import done

BLEU = "bleu,tokenize=none"


@pytest.fixture(scope="module")
def lists(small):
    return read_nbest([small / "tune.nbest"], source=small / "tune.de")


@pytest.fixture(scope="module")
def table(lists, small):
    return extract_features(lists, ["length", f"ngram-lm,model={small}/lm.arpa"], jobs=1)


def test_it_does_what_the_commands_do(lists, table, small, tmp_path):
    weights = tune(lists, table, [small / "tune.en"], metric=BLEU, tuner="mira,passes=4", seed=2)
    best = rerank(lists, table, weights)
    source = ("--source", small / "tune.de")
    features = ("-f", "length", "-f", f"ngram-lm,model={small}/lm.arpa")
    done(
        *("tune", small / "tune.nbest", *source, *features, "-r", small / "tune.en", "-m", BLEU, "-t", "mira,passes=4"),
        *("--seed", 2, "-o", tmp_path / "w.toml"),
    )
    assert dict(weights.dense) == read_weights(tmp_path / "w.toml").dense
    assert done("apply", small / "tune.nbest", *source, "-w", tmp_path / "w.toml").lines == best


def test_weights_of_the_api_are_weights_of_the_commands(lists, table, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a table in memory names its models relative to the working folder
    table = extract_features(lists, ["length", f"ngram-lm,model={small}/lm.arpa"], jobs=1)
    weights = tune(lists, table, [small / "tune.en"], metric=BLEU, tuner="mira,passes=2")
    write_weights(weights, "w.toml")
    assert done("apply", small / "tune.nbest", "-w", "w.toml").lines == rerank(lists, table, weights)


def test_evaluation(lists, small):
    first = [nbest[0].text for nbest in lists]
    last = [nbest[-1].text for nbest in lists]
    result = evaluate({"first": first, "last": last}, [small / "tune.en"], metrics=[BLEU, "ter"], nbests=lists, seed=5)
    assert result.systems == ("first", "last")
    assert [metric.name for metric in result.metrics] == ["bleu", "ter"]
    bleu, ter = result.metrics
    assert bleu.oracle.best >= bleu.of("first").score >= bleu.oracle.worst
    assert ter.oracle.best <= ter.of("first").score <= ter.oracle.worst
    assert "seed:5" in bleu.signature
    assert evaluate({"x": first}, [small / "tune.en"]).metrics[0].of("x").score > 0


def test_what_it_refuses(lists, table, small, tmp_path):
    other = read_nbest([small / "test.nbest"])
    with pytest.raises(ConfigError, match="extracted from other lists"):
        tune(other, table, [small / "test.en"])
    weights = tune(lists, table, [small / "tune.en"], tuner="mira,passes=1")
    with pytest.raises(ConfigError, match="extracted from other lists"):
        rerank(other, table, weights)
    with pytest.raises(ConfigError, match=r"not the weights for these lists: segment 0: .*lacks feature"):
        rerank(other, extract_features(other), weights)
    with pytest.raises(PluginError, match=r"no feature named .lenght.; did you mean .length."):
        extract_features(lists, ["lenght"])
    with pytest.raises(FormatError, match="none: no such file"):
        read_nbest([tmp_path / "none"])


@pytest.mark.slow
def test_the_example_in_its_documentation_runs(small, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tune.nbest").write_bytes((small / "tune.nbest").read_bytes())
    (tmp_path / "tune.ref").write_bytes((small / "tune.en").read_bytes())
    lines = inspect.getdoc(api).splitlines()
    code = "\n".join(lines[lines.index(next(line for line in lines if line.startswith("from "))) :])
    ast.parse(code)
    exec(compile(code, "example", "exec"), {})
    assert "reranked  " in capsys.readouterr().out


def test_names(lists):
    assert set(rerank_adapters.__all__) >= {"evaluate", "extract_features", "read_nbest", "rerank", "tune"}
    for name in ("evaluate", "extract_features", "read_nbest", "rerank", "tune"):
        assert inspect.getdoc(getattr(rerank_adapters, name))


def test_one_file_stands_for_a_list_of_one(small):
    assert read_nbest(str(small / "test.nbest")) == read_nbest([small / "test.nbest"])
    first = {"1-best": [nbest[0].text for nbest in read_nbest(small / "test.nbest")]}
    assert evaluate(first, small / "test.en").to_dict() == evaluate(first, [small / "test.en"]).to_dict()


def test_it_prints_nothing(tmp_path, capfd, caplog):
    """What the commands write to stderr (ranks, the costs of features) is in the log alone."""
    caplog.set_level("INFO", "rerank_adapters")
    file, references = tmp_path / "lists", tmp_path / "ref"
    file.write_text('{"id": "a", "hyps": ["so it is", "so is it"]}\n{"id": "b", "hyps": ["oh no", "oh know"]}\n')
    references.write_text("a so it is\nb oh no\n")
    lists = read_nbest(file)
    table = extract_features(lists, ["length"], jobs=1)
    best = rerank(lists, table, tune(lists, table, references, metric="wer", tuner="mira,passes=2"))
    evaluate({"reranked": best}, references, metrics=["wer"], nbests=lists)
    assert capfd.readouterr() == ("", "")
    lines = [line for line in caplog.messages if "CPU seconds" not in line]
    assert [line.partition(";")[0] for line in lines] == [
        "rerank: the lists have no scores: the feature reciprocal-rank, 1 / rank in the recogniser's order, is added",
    ]
    ran = done("extract", file, "-f", "length", "-o", tmp_path / "table.npz")
    assert ran.err.splitlines()[:1] == lines
    assert not logging.getLogger("rerank_adapters").handlers
