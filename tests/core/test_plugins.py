"""The loader: one door for all plugins, and every mistake named with its owner."""

import os
import re
import secrets
from pathlib import Path

import pytest

from rerank_adapters import read_nbest
from rerank_plugins import PluginError
from rerank_plugins.core import hookspecs
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import KINDS
from tests.command_line import done, refused, rerank
from tests.conftest import ROOT

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


def test_a_language_model_is_a_feature():
    registry = load_plugins(installed=False)
    assert registry.get("feature", "pcfg") is registry.get("language_model", "pcfg")


# --- installed plugins that fail: named, left out, an error only where they are asked for


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a module an installed distribution with an entry point, as pip would."""

    def installed(name: str, code: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        module = f"{name}_{secrets.token_hex(4)}"  # another one in each test
        (folder / f"{module}.py").write_text(code)
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[rerank_plugins]\n{name} = {module}\n")
        monkeypatch.syspath_prepend(folder)

    return installed


COMMANDS = """
import click
from rerank_plugins import hookimpl

@click.command("hello")
def hello():
    "Say hello."
    click.echo("hello")

@hookimpl
def register_commands(cli):
"""
BROKEN = {
    "import": ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
    "exit": ("import sys\nsys.exit('go away')", "SystemExit: go away"),
    "syntax": ("def broken(:", "SyntaxError: "),
    "hook's name": (
        PLUGIN.replace("register_feature_extractors", "register_features"),
        "unknown hook 'register_features'; did you mean 'register_feature_extractors'?",
    ),
    "hook without its decorator": (
        PLUGIN.replace("@hookimpl\n", ""),
        "register_feature_extractors is not decorated: wanted `@hookimpl` on the line before it",
    ),
    "no hook": ("def rates(register): pass", "found no hook function, wanted one of register_commands, register_feat"),
    "hook's default": (PLUGIN.replace("(register)", "(register=None)"), "must not have a default"),
    "hook's argument": (PLUGIN.replace("(register)", "(registrar)"), "PluginValidationError: "),
    "error in a hook": (PLUGIN.replace('register("vowels", Vowels)', "1 / 0"), "ZeroDivisionError: division by zero"),
    "clash": (
        PLUGIN.replace('"vowels"', '"length"'),
        "feature 'length' is registered by both rerank_plugins.lists and bad (bad)",
    ),
    "options": (PLUGIN.replace("letters: str", "letters: 'Nowhere'"), "NameError: name 'Nowhere' is not defined"),
    "commands": (COMMANDS + '    cli.add_command(hello)\n    cli.commands["trian"]', "KeyError: 'trian'"),
    "group": (COMMANDS + '    cli.subgroup("trian")', "no group of commands named 'trian'; did you mean 'train'?"),
    "taken command": (COMMANDS + '    cli.add_command(hello, "tune")', "a command named 'tune' already exists"),
    "taken subcommand": (
        COMMANDS + '    cli.subgroup("train").add_command(hello, "ngram")',
        "a command named 'ngram' already exists",
    ),
}


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_installed_plugin_is_one_warning(code, reason, install):
    install("bad", code)
    install("good", PLUGIN.replace("vowels", "other-vowels"))
    for arguments in (("--help",), ("plugins", "length"), ("tools", "text", "lowercase")):
        ran = rerank(*arguments)
        assert ran.code == 0, ran.err
        (warning,) = ran.err.splitlines()
        assert re.fullmatch(r"rerank: warning: .*plugin bad \(bad\) is left out: .*", warning)
        assert reason in warning
    ran = rerank("plugins", "other-vowels")
    assert ran.out.startswith("feature other-vowels ")
    assert "hello" not in rerank("--help").out


def test_a_broken_plugin_is_an_error_where_it_is_asked_for(install):
    install("bad", COMMANDS + "    1 / 0\nimport no_such_module_anywhere")
    why = "the plugin bad (bad) is left out: ModuleNotFoundError: No module named 'no_such_module_anywhere'"
    for arguments in (("hello",), ("train", "hello"), ("plugins", "vowels")):
        assert said_last(*arguments).endswith(why)
    lists, output = ROOT / "example_nbest" / "mt" / "tune.nbest", "never.npz"
    said = said_last("extract", lists, "-f", "vowels", "-o", output)
    assert said.startswith("[[feature]] vowels: no feature named 'vowels'")
    assert said.endswith(why)


def said_last(*arguments: object) -> str:
    ran = rerank(*arguments)
    assert ran.code == 2, ran.err
    return ran.err.splitlines()[-1].removeprefix("rerank: ")


def test_a_name_of_two_installed_plugins_is_neithers(install):
    install("one", PLUGIN)
    install("two", PLUGIN)
    registry = load_plugins()
    (failure,) = registry.failures
    assert "registered by both" in str(failure)
    with pytest.raises(PluginError, match=r"'vowels' is registered by both (one|two)"):
        registry.get("feature", "vowels")
    assert registry.get("feature", "length").owner == "rerank_plugins.lists"


def test_a_built_in_keeps_its_name(install):
    install("bad", PLUGIN.replace('"vowels"', '"length"'))
    assert load_plugins().get("feature", "length").owner == "rerank_plugins.lists"


def test_what_is_installed_meanwhile_is_loaded(install, tmp_path):
    install("one", PLUGIN)
    assert "others" not in load_plugins().entries["feature"]
    (tmp_path / "one" / "others.py").write_text(PLUGIN.replace('"vowels"', '"others"'))
    info = tmp_path / "one" / "two-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rerank_plugins]\ntwo = others\n")
    os.utime(tmp_path / "one", (0, 0))  # times of files are too coarse for a test
    assert load_plugins().entries["feature"].keys() >= {"vowels", "others"}


def test_the_python_interface_warns(install):
    install("bad", "import no_such_module_anywhere")
    with pytest.warns(UserWarning, match="the plugin bad"):
        read_nbest([ROOT / "example_nbest" / "mt" / "tune.nbest"])


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_file_is_an_error(code, reason, tmp_path):
    file = write(tmp_path, code, "bad.py")
    said = refused("--plugin", file, "plugins")
    assert reason.replace("bad (bad)", str(file)) in said
    assert str(file) in said


# --- commands in groups


def test_a_plugin_adds_commands_to_groups(install, tmp_path):
    install("good", COMMANDS + '    cli.add_command(hello)\n    cli.subgroup("train").add_command(hello)\n')
    assert done("hello").out == "hello\n"
    assert done("train", "hello").out == "hello\n"
    assert re.search(r"^  hello +Say hello\.$", done("train", "--help").out, re.M)
    assert "ngram" in done("train", "--help").out


def test_commands_of_a_file_are_gone_in_the_next_run(tmp_path):
    file = write(tmp_path, COMMANDS + '    cli.commands["train"].add_command(hello)\n')  # as click has it
    assert done("--plugin", file, "train", "hello").out == "hello\n"
    assert "hello" not in done("train", "--help").out
    assert refused("train", "hello").startswith("no such command 'hello'")


COUNTS = r"""
import click

from rerank_plugins import hookimpl


@click.command("counts")
@click.argument("text", type=click.File())
def train_counts(text):
    from collections import Counter

    for word, times in Counter(text.read().split()).most_common():
        click.echo(f"{word}\t{times}")


@hookimpl
def register_commands(cli):
    cli.subgroup("train").add_command(train_counts)
"""


def test_a_plugin_adds_a_subcommand(tmp_path):
    assert done("--plugin", write(tmp_path, COUNTS), "train", "counts", "-", stdin="a b a").out == "a\t2\nb\t1\n"
