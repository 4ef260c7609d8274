"""docs/python.md is a session: its examples run in their order and print what the page says."""

import doctest
import re
import shutil
from importlib import import_module

import pytest

import rerank_adapters
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "python.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = (  # with examples of public names
    *("rerank_adapters.api", "rerank_adapters.job.models", "rerank_adapters.api.pipeline"),
    *("rerank_adapters.data.given", "rerank_adapters.api.evaluation", "rerank_adapters.reranker"),
    *("rerank_adapters.formats.frames", "rerank_plugins.core.nbest", "rerank_plugins.core.interfaces"),
    *("rerank_plugins.core.sentences", "rerank_plugins.core.feature_table", "rerank_adapters.weights.named_weights"),
    "rerank_adapters.evaluation.result",
)


class Rounded(doctest.OutputChecker):
    """Takes numbers for equal that other processors round in another way."""

    def check_output(self, want, got, optionflags):
        if super().check_output(want, got, optionflags):
            return True
        pattern = r"(?<![\w.])-?\d+\.\d+"
        wanted, found = (list(map(float, re.findall(pattern, text))) for text in (want, got))
        shapes = (re.sub(r"\s+", " ", re.sub(pattern, "#", text)) for text in (want, got))
        near = all(abs(a - b) <= max(0.01 * abs(a), 0.3 * (abs(a) > 1)) for a, b in zip(wanted, found, strict=False))
        return near and super().check_output(*shapes, optionflags)


@pytest.mark.slow
def test_the_page_is_a_session(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "example_nbest" / "mt", tmp_path / "example_nbest" / "mt")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)
    text = "\n".join(re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S))
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "page"}, "python.md", str(PAGE), 0)
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(Rounded(), optionflags=OPTIONS).run(test, out=report.append)
    assert not failed, "".join(report)
    assert tried > 30


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module):
    assert not doctest.testmod(import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE).failed


@pytest.mark.parametrize("name", sorted({*rerank_adapters.__all__} - {"locate"}))  # which needs a trained model
def test_public_names_have_examples(name):
    """In their own docstring, or in that of a method."""
    found = doctest.DocTestFinder().find(getattr(rerank_adapters, name), name)
    assert any(test.examples for test in found), name
