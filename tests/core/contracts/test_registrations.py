"""What plugins register: names, factories and options that fit a config; what features are called."""

import re

import pytest

from rerank_plugins import PluginError, option
from rerank_plugins.core.contracts import fault_of_components
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import RESERVED
from rerank_plugins.testing import check_feature_extractor
from tests.command_line import refused
from tests.core.test_plugins import PLUGIN
from tests.test_contracts import ENTRIES

METRIC = """
from dataclasses import dataclass
from rerank_plugins import Metric, Trainer, hookimpl, option

@dataclass
class Own(Metric):
    "A metric."
    NAME: str = option("", doc="an option")

    def statistics(self, hypotheses, references): ...
    def score(self, totals): ...
    def sentence_scores(self, statistics): ...
    def signature(self): ...

@hookimpl
def register_metrics(register):
    register("own", Own)
"""
TRAINER = """
from dataclasses import dataclass
from rerank_plugins import Trainer, hookimpl, option

@dataclass
class Own(Trainer):
    "Learn."
    reads = "text"
    uses = ("seed",)
    NAME: int = option(1, doc="an option")

    def train(self, data): ...

@hookimpl
def register_trainers(register):
    register("own", Own)
"""
STEPS = "the key names the text steps of the hypotheses; rename it"
WRONG = {
    "text": (PLUGIN.replace("letters", "text"), f"feature 'vowels': the option 'text' cannot be set: .* {STEPS}"),
    "label": (PLUGIN.replace("letters", "label"), "the option 'label' cannot be set: .* names the name of the feature"),
    "source_text": (PLUGIN.replace("letters", "source_text"), "the option 'source_text' cannot be set"),
    "use": (PLUGIN.replace("letters", "use"), "the option 'use' cannot be set: .* the key names the plugin"),
    "metric": (METRIC.replace("NAME", "label"), "metric 'own': the option 'label' cannot be set"),
    "trainer": (
        TRAINER.replace("NAME", "output"),
        "trainer 'own': the option 'output' cannot be set: .* the model file",
    ),
    "common": (TRAINER.replace("NAME", "seed"), "'seed' cannot be set: .* a common option, as `uses` has 'seed'"),
    "reads": (TRAINER.replace('"text"', '"words"'), "reads = 'words'; wanted one of text, pairs"),
    "uses": (TRAINER.replace('"seed",', '"seeds",'), "uses has 'seeds'; wanted some of text, held-out"),
    "no-trainer": (
        TRAINER.replace('register("own", Own)', 'register("own", dict)'),
        "wanted a class that derives from T",
    ),
    "spaces": (PLUGIN.replace('"vowels"', '"my vowels"'), "the name is 'my vowels'; wanted a word without spaces"),
    "number": (PLUGIN.replace('"vowels"', "7"), "the name is 7; wanted a word"),
    "factory": (PLUGIN.replace(", Vowels)", ", None)"), "the factory is None; wanted a class, or a function"),
}


@pytest.mark.parametrize(("code", "message"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused_when_it_is_loaded(code, message, tmp_path):
    (tmp_path / "own.py").write_text(code)
    with pytest.raises(PluginError, match=rf"plugin {re.escape(str(tmp_path))}/own\.py: .*{message}"):
        load_plugins(files=[tmp_path / "own.py"], installed=False)


def test_names_that_are_free_pass(tmp_path):
    for code in (TRAINER.replace("NAME", "jobs"), METRIC.replace("NAME", "margin")):
        (tmp_path / "own.py").write_text(code)
        load_plugins(files=[tmp_path / "own.py"], installed=False)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}-{entry.name}")
def test_no_built_in_option_has_the_name_of_a_key(entry):
    assert not RESERVED[entry.kind].keys() & {option.name for option in entry.options()}


COMPONENTS = {
    "('a b',)": "found the component 'a b', wanted names without spaces and =",
    "('a=b',)": "found the component 'a=b'",
    "('a', 'a')": "found components ('a', 'a'), wanted names that are all different",
    "()": "found no components, wanted one name or more",
    "'ab'": "components: found the str 'ab', wanted a tuple of texts",
    "('', 'a')": "wanted a name for each of several values",
    "(1,)": "wanted a tuple of texts",
}


@pytest.mark.parametrize("names", COMPONENTS)
def test_names_of_components(names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert COMPONENTS[names] in str(fault_of_components(eval(names)))
    (tmp_path / "own.py").write_text(PLUGIN.replace("    def extract", f"    components = {names}\n\n    def extract"))
    (tmp_path / "property.py").write_text(
        PLUGIN.replace(
            "    def extract", f"    @property\n    def components(self):\n        return {names}\n\n    def extract"
        )
    )
    (tmp_path / "test.nbest").write_text("0 ||| a ||| F= 1 ||| 1\n")
    for file in ("own.py", "property.py"):
        said = refused("--plugin", file, "extract", "test.nbest", "-f", "vowels", "-o", "test.npz")
        assert COMPONENTS[names] in said
        assert said.startswith("feature 'vowels'")
        assert f"of {file}" in said


def test_the_checks_for_authors_know_the_keys():
    from dataclasses import dataclass

    from rerank_plugins.lists.length import LengthFeature

    @dataclass(frozen=True)
    class Own(LengthFeature):
        text: str = option("", doc="a text")

    with pytest.raises(AssertionError, match="the option 'text' cannot be set"):
        check_feature_extractor(Own())
