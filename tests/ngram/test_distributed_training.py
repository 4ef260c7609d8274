"""N-gram models trained by tasks that share files: the same bytes as those of training in one process."""

import pickle
from contextlib import contextmanager

import numpy as np
import pytest

from rerank_plugins.core.errors import ConfigError, FormatError, ModelError
from rerank_plugins.kit.workspace import Workspace
from rerank_plugins.ngram.distributed_training import shards_folder, train_shards
from rerank_plugins.ngram.training import NgramSettings, train


@contextmanager
def opened(piece):
    yield "text", iter(piece)


def share(task, items, name):
    """Each task works on a copy of itself, as on another machine, and later items come first."""
    results = {i: pickle.loads(pickle.dumps(task))(item) for i, item in reversed(list(enumerate(items)))}
    return [results[i] for i in range(len(results))]


def text(seed, sentences=120, words=40):
    rng = np.random.default_rng(seed)
    zipf = np.minimum(rng.zipf(1.3, (sentences, 12)), words)
    return [" ".join(f"w{n}" for n in row[: rng.integers(0, 13)]) + "\n" for row in zipf]


def pieces_of(lines, pieces):
    return [lines[len(lines) * i // pieces : len(lines) * (i + 1) // pieces] for i in range(pieces)]


def check(tmp_path, lines, settings, pieces=3, parts=4, memory=1 << 20):
    """Train in both ways, and compare the files and what is said of them."""
    workspace = Workspace(memory, tmp_path)
    sharded = train_shards(pieces_of(lines, pieces), opened, settings, workspace=workspace, each=share, parts=parts)
    whole = train([("text", lines)], settings)
    whole.ngrams.save(tmp_path / "whole")
    sharded.ngrams.save(tmp_path / "sharded")
    assert sharded.ngrams.settings == whole.ngrams.settings
    for name in ("ngrams", "discounts", "enough"):
        assert getattr(sharded.estimated, name) == getattr(whole.estimated, name)
    assert (tmp_path / "sharded").read_bytes() == (tmp_path / "whole").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"whole", "sharded"}


@pytest.mark.parametrize(
    "settings",
    [
        NgramSettings(5),
        NgramSettings(1),
        NgramSettings(2, closed=True),
        NgramSettings(3, prune=(0, 0, 1), min_count=2),
        NgramSettings(4, prune=(0, 1), quantise=6),
        NgramSettings(3, "stupid-backoff", most_words=20),
        NgramSettings(4, "stupid-backoff", prune=(0, 1, 2)),
        NgramSettings(3, prune_entropy=1e-3),
    ],
    ids=str,
)
def test_the_model_is_the_same_to_the_last_byte(tmp_path, settings):
    check(tmp_path, text(1), settings)


@pytest.mark.parametrize(("pieces", "parts"), [(1, 1), (7, 2), (2, 50)])
def test_pieces_and_parts_do_not_matter(tmp_path, pieces, parts):
    check(tmp_path, text(2), NgramSettings(4), pieces, parts)


def test_the_memory_decides_on_the_parts(tmp_path):
    check(tmp_path, text(3), NgramSettings(3), parts=1, memory=20_000)


@pytest.mark.parametrize("lines", [["a\n"], ["a b\n", "\n", "<unk> a\n"], ["a\n", "b\n", "b a b a b a\n"]])
def test_little_text(tmp_path, lines):
    check(tmp_path, lines, NgramSettings(5), pieces=2, parts=3)


def test_folders_of_killed_processes_are_removed(tmp_path):
    with shards_folder(tmp_path) as running:
        (running.with_name(running.name[:-8] + "deadbeef") / "rows").mkdir(parents=True)
        (tmp_path / ".shards-ofothers.deadbeef").mkdir()
        with shards_folder(tmp_path) as another:
            assert {each.name for each in tmp_path.iterdir() if each.is_dir()} == {
                running.name,
                another.name,
                ".shards-ofothers.deadbeef",
            }
    assert [each.name for each in tmp_path.iterdir()] == [".shards-ofothers.deadbeef"]


def test_texts_that_cannot_be_trained_on(tmp_path):
    def refused(lines, settings, error, message):
        with pytest.raises(error, match=message):
            check(tmp_path, lines, settings)
        assert not any(tmp_path.iterdir())

    refused(["\n", "\n"], NgramSettings(2), ModelError, "the texts are empty")
    refused(["a b\n"] * 3 + ["a </s>\n"], NgramSettings(2), FormatError, "may not be in the text")
    refused(["a b\n"] * 3, NgramSettings(2, closed=True, most_words=1), ConfigError, "3 words of the text are out")
    refused(["a b\n"] * 3, NgramSettings(7), ConfigError, "orders 1 to 6")
