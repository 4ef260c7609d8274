"""The names of the Python API, and reading lists from files."""

import ast
import inspect
import logging
import subprocess
import sys

import pytest

import rerank_adapters
from rerank_adapters import Pipeline, api, evaluate, read_nbest
from rerank_plugins import ConfigError, FormatError
from tests.command_line import done


@pytest.mark.slow
def test_the_example_in_its_documentation_runs(small, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tune.nbest").write_bytes((small / "tune.nbest").read_bytes())
    (tmp_path / "tune.ref").write_bytes((small / "tune.en").read_bytes())
    lines = inspect.getdoc(api).splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("    from "))
    code = inspect.cleandoc(
        "\n".join(
            lines[
                first : lines.index(
                    "Where a program has the hypotheses of one sentence at a time, a Reranker loads the models of weights once:"
                )
            ]
        )
    )
    ast.parse(code)
    exec(compile(code, "example", "exec"), {})
    assert "reranked  " in capsys.readouterr().out


def test_names():
    assert dir(rerank_adapters) == sorted(rerank_adapters.__all__)
    for name in rerank_adapters.__all__:
        assert inspect.getdoc(getattr(rerank_adapters, name)), name


def test_a_name_that_is_not_there_gets_the_close_match():
    with pytest.raises(AttributeError, match="did you mean 'Pipeline'"):
        getattr(rerank_adapters, "Pipelin")  # noqa: B009


def test_importing_the_package_loads_next_to_nothing():
    code = "import sys, rerank_adapters; print(any(name in sys.modules for name in ('numpy', 'numba', 'pydantic')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_one_file_stands_for_a_list_of_one(small):
    assert read_nbest(str(small / "test.nbest")) == read_nbest([small / "test.nbest"])
    first = {"1-best": [nbest[0].text for nbest in read_nbest(small / "test.nbest")]}
    assert evaluate(first, small / "test.en").to_dict() == evaluate(first, [small / "test.en"]).to_dict()


def test_formats_of_files(small, tmp_path):
    assert read_nbest(small / "test.nbest", format="moses") == read_nbest(small / "test.nbest")
    (tmp_path / "lists.json").write_text('{"id": "a", "hyps": ["so it is", "so is it"]}\n')
    for _ in range(2):  # the format that was guessed for other files is forgotten
        assert read_nbest(tmp_path / "lists.json")[0].texts == ["so it is", "so is it"]
        assert read_nbest(small / "test.nbest")[0].feature_names
    with pytest.raises(FormatError, match="none: no such file"):
        read_nbest(tmp_path / "none")


def test_what_belongs_to_other_lists_is_refused(small):
    lists, other = read_nbest(small / "tune.nbest"), read_nbest(small / "test.nbest")
    pipeline = Pipeline("length", tuner="mira,passes=1").fit(lists, small / "tune.en")
    table = pipeline.transform(lists)
    with pytest.raises(ConfigError, match="extracted from other lists"):
        pipeline.fit(other, small / "test.en", table=table)
    with pytest.raises(ConfigError, match="extracted from other lists"):
        pipeline.predict(other, table=table)


def test_it_prints_nothing(tmp_path, capfd, caplog, monkeypatch):
    """What the commands write to stderr (ranks, the costs of features) is in the log alone."""
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    caplog.set_level("INFO", "rerank_adapters")
    file, references = tmp_path / "lists", tmp_path / "ref"
    file.write_text('{"id": "a", "hyps": ["so it is", "so is it"]}\n{"id": "b", "hyps": ["oh no", "oh know"]}\n')
    references.write_text("a so it is\nb oh no\n")
    lists = read_nbest(file)
    pipeline = Pipeline("length", metric="wer", tuner="mira,passes=2", jobs=1)
    pipeline.transform(lists)
    lines = [line for line in caplog.messages if "CPU seconds" not in line]
    assert [line.partition(";")[0] for line in lines] == [
        "rerank: the lists have no scores: the feature reciprocal-rank, 1 / rank in the recogniser's order, is added",
    ]
    reranked = pipeline.fit(lists, references).predict(lists)
    evaluate({"reranked": reranked}, references, metrics=["wer"], nbests=lists)
    assert capfd.readouterr() == ("", "")
    ran = done("extract", file, "-f", "length", "-o", tmp_path / "table.npz")
    assert ran.err.splitlines()[:1] == lines
    assert not logging.getLogger("rerank_adapters").handlers
