"""Help, summaries, versions and plugins, as the command line shows them."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from rerank_adapters.cli.commands import CHAIN, GROUPS, program
from rerank_adapters.cli.groups import summary_at
from rerank_adapters.cli.options import PLUGIN_HELP
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_plugins import FeatureTable
from tests.command_line import RERANK, done, in_process_of_its_own, refused, rerank

COMMANDS = [(), *((name,) for name in CHAIN), *((name, below) for name in GROUPS for below in GROUPS[name])]
BY_HEADING = {"The chain": CHAIN, "Groups by task": GROUPS}


def test_plugins_as_text():
    text = done("plugins").out
    for name in ("consensus", "ngram-lm", "treebank", "bleu", "mert", "fairseq"):
        assert re.search(rf"^\w+ {name} ", text, re.M)
    assert re.search(r"^    C: float = 0.01  ", done("plugins", "mira").out, re.M)
    tuners = re.findall(r"^tuner (\S+) ", text, re.M)
    assert re.findall(r"^(\w+) (\S+) ", done("plugins", "--kind", "tuner").out, re.M) == [("tuner", t) for t in tuners]
    assert done("plugins", "bleu").lines[0].startswith("metric bleu ")
    assert refused("plugins", "bleo") == "no plugin named 'bleo'; did you mean 'bleu'?"
    assert refused("plugins", "bleu", "mra") == "no plugin named 'mra'; did you mean 'mira'?"


PLUGIN = """
import click
import numpy as np
from dataclasses import dataclass
from rerank_plugins import FeatureExtractor, hookimpl, option

@dataclass
class Vowels(FeatureExtractor):
    '''Number of vowels of the hypothesis.'''
    letters: str = option("aeiou", doc="what counts as a vowel")

    def extract(self, nbest):
        return np.array([[float(sum(text.count(v) for v in self.letters))] for text in nbest.texts]).reshape(-1, 1)

@hookimpl
def register_feature_extractors(register):
    register("vowels", Vowels)

@hookimpl
def register_commands(cli):
    @click.command("hello")
    @click.argument("name")
    def hello(name):
        '''Say hello.'''
        click.echo(f"hello {name}")
    cli.add_command(hello)
"""


def test_a_plugin_file_adds_features_and_commands(small, tmp_path):
    (tmp_path / "vowels.py").write_text(PLUGIN)
    plugin = ("--plugin", tmp_path / "vowels.py")
    assert done(*plugin, "hello", "you").out == "hello you\n"
    assert "hello" in done(*plugin, "--help").out
    assert "hello" not in done("--help").out
    assert refused("hello", "you").startswith("no such command 'hello'")
    assert "letters: str = 'aeiou'" in done(*plugin, "plugins", "vowels").out
    extract = ("extract", small / "tune.nbest", "-f", "vowels,letters=ae", "-o", tmp_path / "t.npz")
    done(*plugin, *extract)
    table = FeatureTable.load(tmp_path / "t.npz")
    texts = [text for nbest in read_nbest([small / "tune.nbest"], FORMATS["moses"]()) for text in nbest.texts]
    assert table.values[:, -1].tolist() == [text.count("a") + text.count("e") for text in texts]
    tune = (
        "tune",
        small / "tune.nbest",
        "--table",
        tmp_path / "t.npz",
        "-r",
        small / "tune.en",
        "-o",
        tmp_path / "w.toml",
    )
    done(*tune, "-t", "mira,passes=2")
    best = done("apply", small / "test.nbest", "-w", tmp_path / "w.toml").out  # weights remember the plugin
    assert done(*plugin, "apply", small / "test.nbest", "-w", tmp_path / "w.toml").out == best


# --- help


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(command) or "rerank" for command in COMMANDS])
def test_help_shows_an_example_in_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = done(*command, "--help").out
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert text.startswith(f"Usage: rerank {' '.join(command)}".rstrip())
    assert re.search(rf"^ +(.*[|] )?rerank {' '.join(command) or 'init'}( \S|$)", text, re.M), "no example"
    assert done(*command, "-h").out == text


def test_rerank_alone_shows_its_help():
    ran = rerank()
    assert ran.code == 2
    assert ran.err.startswith("Usage: rerank")
    assert {*CHAIN, *GROUPS} <= set(ran.err.split())


def test_version():
    assert re.fullmatch(r"rerank, version \d+\.\d+\S*\n", done("--version").out)


def sections(text: str) -> dict[str, str]:
    """The lines below each heading of a help text."""
    return dict(re.findall(r"^(\S[^\n]*):\n((?:  [^\n]*\n)+)", text, re.M))


def test_help_lists_whole_summaries_under_headings(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = done("--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("...") == 1  # that of [ARGS]...: no summary is cut short
    assert len(text.splitlines()) <= 37
    headings = ["The chain", "Groups by task"]
    listed = sections(text)
    assert list(listed) == [*headings, "Options"]
    lines = [line for heading in headings for line in listed[heading].splitlines()]
    assert all(re.fullmatch(r"  [a-z-]+ +[A-Z].*\.", line) for line in lines)  # none is wrapped
    for heading in headings:
        assert [line.split()[0] for line in listed[heading].splitlines()] == list(BY_HEADING[heading])


def test_summaries_are_the_first_lines_of_the_commands_docstrings():
    top = program()
    context = top.make_context("rerank", ["run", "never"])
    assert {"run", "plugins", *GROUPS} <= set(top.list_commands(context))
    assert set(GROUPS["tools"]) == {"text", "weights", "cache", "new-plugin"}
    for group in (top, *(top.commands[name] for name in GROUPS)):
        for name, place in group.lazy.items():
            command = group.get_command(context, name)
            assert command.name == name
            assert command.help.splitlines()[0] == summary_at(place)


def test_a_summary_does_not_end_within_a_citation(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = done("train", "--help").out
    assert "Train a discriminative word lexicon (Mauser et al. 2009) on tokenised sentence pairs." in text
    assert "et al.\n" not in text


def test_the_help_of_train_says_what_each_trainer_reads():
    text, listed = done("train", "--help").out.split("\nCommands:\n")
    told = re.findall(r"^  [A-Z][a-z, ]+: +(.*)$", re.sub(r",\n +", ", ", text), re.M)
    trainers = [line.split()[0] for line in listed.splitlines() if re.match(r"  [a-z]", line)]
    assert sorted(", ".join(told).split(", ")) == sorted(trainers)


def commands_of(group, context, path=""):
    """The names and commands of a group, with those of its subgroups."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, click.Context(command, parent=context), f"{path}{name} ")


def test_each_option_that_names_a_plugin_is_completed():
    top = program()
    options = {
        (name, parameter.name): parameter
        for name, command in commands_of(top, click.Context(top))
        for parameter in command.params
        if PLUGIN_HELP in (getattr(parameter, "help", None) or "")
    }
    assert {("lm score", "model"), ("train treelet-lm", "parser")} <= options.keys()
    assert [where for where, option in options.items() if option._custom_shell_complete is None] == []


def test_commands_of_plugins_have_a_heading(tmp_path):
    file = tmp_path / "hello.py"
    file.write_text(
        "import click\nfrom rerank_plugins import hookimpl\n@click.command('hello')\ndef hello():\n    'Say hello.'\n"
        "@hookimpl\ndef register_commands(cli):\n    cli.add_command(hello)\n"
    )
    text = done("--plugin", file, "--help").out
    assert re.fullmatch(r"  hello +Say hello\.\n", sections(text)["Commands of plugins"])
    assert "hello" not in done("--help").out


HEAVY = ("numba", "kenlm", "sacrebleu", "torch", "stanza", "matplotlib", "rich", "pydantic", "rerank_plugins.lists")


def test_help_is_fast_and_loads_nothing_heavy():
    script = (
        "import sys, time\nfrom rerank_adapters.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(time.process_time(), *sys.modules, file=sys.stderr)"
    )
    seconds = []
    for _ in range(2):  # the first may write byte code
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        taken, *modules = ran.stderr.split()
        seconds.append(float(taken))
    assert set(HEAVY) & set(modules) == set()
    assert min(seconds) < 0.4


def test_in_a_process_of_its_own(small):
    ran = in_process_of_its_own("lists", "merge", "-", stdin=(small / "tune.nbest").read_bytes())
    assert ran.code == 0
    assert ran.out == (small / "tune.nbest").read_text()
    assert ran.err.startswith("wrote 20 segments, 200 hypotheses to stdout in ")
    assert RERANK[0] == sys.executable
    assert Path(RERANK[0]).exists()
