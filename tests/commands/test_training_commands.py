"""`rerank train`, and the other commands of language models and parsers: what they have in common."""

import gzip
import subprocess
import sys

import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_plugins.core.loader import load_plugins
from tests.command_line import done, in_process_of_its_own, refused, says_what_it_wrote


def test_help_of_a_command_imports_no_algorithm():
    """The commands are made of the fields of trainers; numba and what trains are imported when they are used."""
    loading = (
        "import sys\n"
        "from rerank_adapters.applications.training.commands import trainer_command\n"
        "from rerank_adapters.builtin import BUILTIN\n"
        "from rerank_plugins.core.loader import load_plugins\n"
        "entries = load_plugins(BUILTIN, installed=False).entries['trainer'].values()\n"
        "print(len([trainer_command(entry) for entry in entries]), *sys.modules)"
    )
    number, *loaded = subprocess.run(
        [sys.executable, "-c", loading], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(number) == len(MODELS)
    own = [name for name in loaded if not name.startswith("rerank_adapters.")]
    assert not [name for name in own if name == "numba" or name.endswith(".training")]


MODELS = load_plugins(BUILTIN, installed=False).entries["trainer"]
COMMANDS = [*(("train", model) for model in MODELS), ("trees", "parse")]
COMMANDS += [("lm", name) for name in ("score", "surprisal", "mix", "sample", "ground", "clusters")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_fits_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = done(*command, "--help").lines
    assert [line for line in lines if len(line) > 80] == []


def test_help_in_a_process_of_its_own():
    assert in_process_of_its_own("train", "ngram", "--help").out.startswith("Usage: ")


PLUGIN = r"""
from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from rerank_plugins import Trained, Trainer, counted, hookimpl, open_atomic, option


@dataclass
class CountsTrainer(Trainer):
    '''Count the words of TEXT, the most frequent ones first.'''

    uses = ("text", "language", "seed")

    least: Annotated[int, Field(ge=1, le=9)] = option(1, short="l", doc="Leave out rarer words.")
    skip: tuple[str, ...] = option((), doc="Leave out this word. Repeatable.")
    order: Literal["count", "word"] = option("count", doc="What the words are ordered by.")
    reverse: bool = option(False, doc="Reverse the order.")

    def train(self, data):
        counts = Counter(word for _, lines in data.examples() for line in lines for word in line.split())
        key = {"count": lambda word: (-counts[word], word), "word": str}[self.order]
        words = sorted((w for w in counts if counts[w] >= self.least and w not in self.skip), key=key)
        lines = [f"{word}\t{counts[word]}\n" for word in (words[::-1] if self.reverse else words)]

        def save(path):
            with open_atomic(path) as out:
                out.writelines(lines)

        return Trained(save, [f"{counted(len(words), 'word')} of {data.names}, {data.language}, seed {data.seed}"])


@hookimpl
def register_trainers(register):
    register("counts", CountsTrainer)
"""


@pytest.fixture
def foreign(tmp_path):
    """A plugin file with a trainer, and a compressed text to train on."""
    (tmp_path / "counts.py").write_text(PLUGIN)
    with gzip.open(tmp_path / "text.gz", "wt") as text:
        text.write("The cat saw the dog\nthe end\n")
    return tmp_path


def test_a_plugin_registers_a_trainer(foreign):
    plugin, output = ("--plugin", foreign / "counts.py"), foreign / "counts"
    options = ("--text", "lowercase", "-l", 1, "--skip", "end", "--skip", "cat", "--language", "en", "--seed", 3)
    ran = done(*plugin, "train", "counts", foreign / "text.gz", *options, "-o", output)
    assert output.read_text() == "the\t3\ndog\t1\nsaw\t1\n"
    report, _ = ran.err.splitlines()
    assert report == f"3 words of ['{foreign / 'text.gz'}'], en, seed 3"
    assert says_what_it_wrote(ran, r"the model \(0\.00 MB\)", output)
    assert "Count the words of TEXT, the most frequent ones first." in done(*plugin, "train", "--help").out
    assert "-l, --least INTEGER RANGE" in done(*plugin, "train", "counts", "--help").out
    assert "range 1<=x<=9" in refused(*plugin, "train", "counts", "text", "--least", 0, "-o", output)
    assert "trainer counts" in done(*plugin, "plugins", "counts").out
    assert refused("train", "counts", "text", "-o", output).startswith("no such command 'counts'")


def test_a_config_trains_the_model_of_a_plugin(foreign):
    config = foreign / "job.toml"
    model = 'plugins = ["counts.py"]\n[[model]]\ntrain = "counts"\ninputs = ["text.gz"]\noutput = "counts"\n'
    config.write_text(f'{model}options = {{ order = "word", reverse = true }}\n')
    done("prepare", config)
    assert (foreign / "counts").read_text().split()[::2] == ["the", "saw", "end", "dog", "cat", "The"]
    for options, message in (
        ("ordr = 1", "counts has no option 'ordr'; did you mean 'order'?"),
        ('least = "two"', "option 'least' is 'two'; wanted int"),
    ):
        config.write_text(f"{model}options = {{ {options} }}\n")
        (foreign / "counts").unlink(missing_ok=True)
        assert message in refused("prepare", config)
        assert not (foreign / "counts").exists()
