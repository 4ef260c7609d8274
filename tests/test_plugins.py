"""The loader: one door for all plugins, and every mistake named with its owner."""

from pathlib import Path

import pytest

from rerank_plugins import PluginError, hookspecs
from rerank_plugins.plugins import KINDS, load_plugins

PLUGIN = """
from dataclasses import dataclass
import numpy as np
from rerank_plugins import FeatureExtractor, hookimpl, option

@dataclass(frozen=True)
class Vowels(FeatureExtractor):
    "Number of vowels."
    letters: str = option("aeiou", doc="which letters count")

    def extract(self, nbest):
        return np.array([[float(sum(h.text.count(v) for v in self.letters))] for h in nbest]).reshape(-1, 1)

@hookimpl
def register_feature_extractors(register):
    register("vowels", Vowels)
"""


def write(tmp_path: Path, text: str, name: str = "vowels.py") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_is_a_plugin(tmp_path):
    registry = load_plugins(files=[write(tmp_path, PLUGIN)], installed=False)
    entry = registry.get("feature", "vowels")
    assert entry.summary == "Number of vowels."
    assert entry.owner.endswith("vowels.py")
    (letters,) = entry.options()
    assert (letters.name, letters.type_name, letters.default, letters.doc) == (
        "letters",
        "str",
        "aeiou",
        "which letters count",
    )
    assert not letters.required


def test_each_call_gives_a_fresh_registry(tmp_path):
    assert "vowels" in load_plugins(files=[write(tmp_path, PLUGIN)], installed=False).entries["feature"]
    assert "vowels" not in load_plugins(installed=False).entries["feature"]


def test_every_hook_has_a_built_in_that_uses_it():
    registry = load_plugins(
        ["rerank_adapters.formats", "rerank_adapters.metrics", "rerank_adapters.tuners"], installed=False
    )
    for kind in KINDS:
        assert registry.entries[kind], f"nothing built in registers a {kind}"
    hooks = {name for name in vars(hookspecs) if name.startswith("register_")}
    assert hooks == {*KINDS.values(), "register_commands"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PLUGIN.replace("register_feature_extractors", "register_feature_extractor"),
            "did you mean 'register_feature_extractors'",
        ),
        (PLUGIN.replace("(register)", "(register=None)"), "must not have a default"),
        (PLUGIN + "import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
        (PLUGIN.replace('"vowels"', '"length"'), "registered by both"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_mistakes_name_the_plugin(tmp_path, text, message):
    with pytest.raises(PluginError, match=message) as caught:
        load_plugins(files=[write(tmp_path, text)], installed=False)
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(PluginError, match=r"nothing\.py: no such Python file"):
        load_plugins(files=[tmp_path / "nothing.py"], installed=False)


def test_unknown_names_get_the_close_match(tmp_path):
    registry = load_plugins(files=[write(tmp_path, PLUGIN)], installed=False)
    with pytest.raises(PluginError, match="no feature named 'vowles'; did you mean 'vowels'"):
        registry.get("feature", "vowles")
