"""A long training says how long it takes, after the first of its parts; the trees of a text are counted before it."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from rerank_adapters.applications.training import opened_data as module
from rerank_adapters.applications.training.common_options import CommonOptions
from rerank_adapters.applications.training.opened_data import opened_data
from rerank_adapters.applications.training.tree_source import DEPENDENCIES, NamedParser, TreeSource
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.job.specs import Names
from rerank_plugins import Trained, Trainer
from rerank_plugins.core.loader import load_plugins
from tests.conftest import ROOT


@dataclass
class Slow(Trainer):
    """Learns in so many parts of so many seconds."""

    seconds: float
    clock: list[float]
    parts: int = 5

    def train(self, data):
        data.progress("learning", parts=(0, self.parts))
        for part in range(1, self.parts + 1):
            self.clock[0] += self.seconds
            data.progress(f"epoch {part} of {self.parts}", parts=(part, self.parts))
        return Trained(lambda path: path.write_text("a model"))


@pytest.mark.parametrize(("seconds", "said"), [(90.0, ["epoch 1 of 5, about 6 min 0 s left"]), (10.0, [])])
def test_a_long_training_says_how_long_it_takes(tmp_path, monkeypatch, seconds, said):
    clock, lines = [0.0], []
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    trainer = Slow(seconds, clock)
    opened_data(
        trainer, [], tmp_path / "model", CommonOptions(), Names(load_plugins(BUILTIN, installed=False)), lines.append
    ).train()
    assert lines == said


def test_sentences_of_texts_are_counted_before_they_are_parsed(tmp_path):
    (tmp_path / "text").write_text("She sings .\n\nIt rains .\n")
    source = TreeSource(DEPENDENCIES, NamedParser("none", "none", lambda: pytest.fail("not needed")))
    assert source.count([tmp_path / "text", tmp_path / "text"]) == 4
    assert source.count([tmp_path / "text", ROOT / "tests" / "treebank" / "small.conllu"]) is None
    assert source.count([Path("/dev/null")]) is None  # a pipe can be read only once
