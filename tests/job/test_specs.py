"""Config tables become objects; every wrong option is named with the table it stands in."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import ConfigError, FeatureExtractor, Parse, Parser, PluginError, option
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import Entry, Registry
from rerank_plugins.kit.files.cached_parser import CachedParser


@dataclass(frozen=True)
class Everything(FeatureExtractor):
    """Has an option of each kind."""

    model: Path = option(doc="a file")
    order: int = option(3, doc="a number")
    mode: Literal["sum", "mean"] = option("sum", doc="a choice")
    parser: Parser | None = option(None, doc="a parser, by name")

    def __post_init__(self):
        if self.order < 1:
            raise ValueError("order must be at least 1")

    def extract(self, nbest):
        return np.zeros((len(nbest), 1))


@dataclass
class CountingParser(Parser):
    """Counts how many sentences it was asked for."""

    asked: int = 0

    def parse(self, sentences):
        self.asked += len(sentences)
        return [Parse() for _ in sentences]


@pytest.fixture
def registry() -> Registry:
    registry = load_plugins(installed=False)
    registry.entries["feature"]["everything"] = Entry("feature", "everything", Everything, "test")
    registry.entries["parser"]["counting"] = Entry("parser", "counting", CountingParser, "test")
    return registry


def test_paths_are_relative_to_the_config(registry, tmp_path):
    made = Spec.read("feature", {"use": "everything", "model": "lm.arpa"}, Names(registry, tmp_path)).make()
    assert made == Everything(tmp_path / "lm.arpa")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"model": "x"}, "missing key 'use'"),
        ({"use": "everything"}, r"needs the option 'model' \(a file\)"),
        ({"use": "everything", "model": "x", "ordr": 3}, "no option 'ordr'; did you mean 'order'"),
        ({"use": "everything", "model": "x", "order": "three"}, "option 'order' is 'three'; wanted int"),
        ({"use": "everything", "model": "x", "order": 0}, "order must be at least 1"),
        ({"use": "everything", "model": "x", "mode": "max"}, "option 'mode' is 'max'"),
        (
            {"use": "everything", "model": "x", "parser": "countin"},
            "no parser named 'countin'; did you mean 'counting'",
        ),
    ],
)
def test_wrong_options(registry, table, message):
    with pytest.raises(ConfigError, match=message) as caught:
        Spec.read("feature", table, Names(registry), "[[feature]] 2").make()
    assert str(caught.value).startswith("[[feature]] 2: ")


def test_unknown_plugin(registry):
    with pytest.raises(
        PluginError, match=r"\[\[feature\]\] 1: no feature named 'everthing'; did you mean 'everything'"
    ):
        Spec.read("feature", {"use": "everthing"}, Names(registry), "[[feature]] 1").make()


def test_a_named_parser_is_built_once_and_cached(registry):
    names = Names(registry, tables={"parser": {"mine": {"use": "counting"}}})
    first = Spec.read("feature", {"use": "everything", "model": "a", "parser": "mine"}, names).make()
    second = Spec.read("feature", {"use": "everything", "model": "b", "parser": "mine"}, names).make()
    assert first.parser is second.parser
    assert isinstance(first.parser, CachedParser)
    sentences = [["a", "b"], ["c"], ["a", "b"]]
    first.parser.parse(sentences)
    second.parser.parse(sentences)
    assert first.parser.parser.asked == 2


def test_an_option_that_is_a_plugin_takes_its_table(registry):
    names = Names(registry)
    tables = [{"use": "everything", "model": str(n), "parser": {"use": "counting", "asked": 7}} for n in range(2)]
    first, second = (Spec.read("feature", table, names).make() for table in tables)
    assert first.parser is second.parser
    assert first.parser.parser == CountingParser(7)
    wrong = {"use": "everything", "model": "x", "parser": {"use": "counting", "askd": 7}}
    with pytest.raises(ConfigError, match=r"\[\[feature\]\] 1: parser: counting has no option 'askd'"):
        Spec.read("feature", wrong, names, "[[feature]] 1").make()
    with pytest.raises(ConfigError, match="option 'parser' is 3; wanted the name or the table of a parser"):
        Spec.read("feature", {"use": "everything", "model": "x", "parser": 3}, names).make()


def test_a_job_and_its_copies_share_equal_objects():
    registry = load_plugins(BUILTIN)
    config = Config(feature=[{"use": "length"}, {"use": "word-posteriors"}])
    job = Job.of(config, registry)
    copies = job.changed(jobs=3), job.without(["word-posteriors"]), Job.of(config, registry)
    assert all(copy.feature("length").extractor is job.feature("length").extractor for copy in copies)
    assert all(copy.measures[0].metric is job.measures[0].metric and copy.tuner is job.tuner for copy in copies)
    changed = job.changed(tuner={"use": "pro"}, metric=[{"use": "ter"}])
    assert changed.tuner != job.tuner
    assert changed.measures[0].metric != job.measures[0].metric


def test_a_plugin_file_that_is_loaded_again_has_objects_of_its_new_class(tmp_path):
    """Workers that are spawned find the class by its name, and pickle refuses an object of the former one."""
    (tmp_path / "vowels.py").write_text(
        "from dataclasses import dataclass\n"
        "from rerank_plugins import FeatureExtractor, hookimpl\n"
        "@dataclass\n"
        "class Vowels(FeatureExtractor):\n"
        "    'Counts vowels.'\n"
        "    extract = len\n"
        "@hookimpl\n"
        "def register_feature_extractors(register):\n"
        "    register('vowels', Vowels)\n"
    )
    made = []
    for _ in range(2):
        registry = load_plugins(BUILTIN, [tmp_path / "vowels.py"])
        made.append(Spec.read("feature", "vowels", Names(registry)).make())
        pickle.dumps(made[-1])
