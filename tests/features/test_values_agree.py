"""Each syntactic family gives a hypothesis one value, whatever surrounds it and whoever extracts it."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.features.extract import extract
from rerank_adapters.features.processes import Processes
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_plugins.core.loader import load_plugins

FAMILIES = {
    "dependency": ["dependency-lm"],
    "treelet": ["treelet-lm", "slr"],
    "hhmm": ["hhmm-lm,beam=50"],
    "svs": ['svs-similarity,to=["source"]'],  # `to = ["list"]` compares hypotheses with each other
}
EXTRA = ["", "colourless green", "-LRB- a `` b '' -RRB-", "the the the of", "Xyzzy plugh ."]
CLOSE = {"rtol": 1e-9, "atol": 1e-9}

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """Neither a parse nor a value of another extraction is there."""
    monkeypatch.setenv("RERANK_CACHE", "")


@pytest.fixture(scope="module")
def nbests(root):
    """Two lists of a decoder, shortened, each with five texts that are no sentences, a repeated one, and a source."""
    chosen = []
    for nbest in read_nbest([root / "example_nbest" / "mt" / "test.nbest"], FORMATS["moses"]())[3:5]:
        texts = [*nbest.texts[:5], *EXTRA, nbest.texts[2]]
        longer = nbest.select([row % len(nbest) for row in range(len(texts))]).with_texts(texts)
        chosen.append(replace(longer, source=nbest.texts[0]))
    return chosen


@pytest.fixture(scope="module")
def registry():
    return load_plugins(BUILTIN)


def values(registry, nbests, features, jobs=1, cached=None):
    """(rows, columns) by what `rerank extract` calls, with features that have not seen any text before."""
    job = Job.of(Config(feature=[plugin_table(feature) for feature in features]), registry)
    return extract(nbests, job.features(), Processes(jobs), cached=cached)


@pytest.mark.parametrize("features", FAMILIES.values(), ids=FAMILIES)
def test_in_a_list_alone_and_in_another_order(registry, nbests, features, monkeypatch):
    together = values(registry, nbests, features)
    assert len(np.unique(together.round(6), axis=0)) >= 12  # the values are not all the same
    order = np.random.default_rng(1).permutation(len(nbests[0])).tolist()
    shuffled = values(registry, [nbests[1], nbests[0].select(order)], features)
    np.testing.assert_allclose(shuffled[: len(nbests[1])], together[len(nbests[0]) :], **CLOSE)
    np.testing.assert_allclose(shuffled[len(nbests[1]) :], together[order], **CLOSE)
    monkeypatch.setattr("rerank_adapters.features.extract.ROWS_OF_FIRST_CHUNK", 1)  # each list is a chunk of its own
    monkeypatch.setattr("rerank_adapters.features.extract.MAX_ROWS_OF_CHUNK", 1)
    alone = values(registry, [nbests[0].select([row]) for row in range(len(nbests[0]))], features)
    np.testing.assert_allclose(alone, together[: len(nbests[0])], **CLOSE)


def test_by_other_processes_and_from_the_cache(registry, nbests, monkeypatch, tmp_path):
    """All families at once; a value in the cache is, bit by bit, the one that was extracted first."""
    features = [feature for family in FAMILIES.values() for feature in family]
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    together = values(registry, nbests, features)
    monkeypatch.setenv("RERANK_CACHE", "")
    monkeypatch.setattr("rerank_adapters.features.extract.ROWS_OF_FIRST_CHUNK", 1)
    halves = [nbest.select(range(start, len(nbest), 2)) for nbest in nbests for start in (0, 1)]
    by_workers = values(registry, halves, features, jobs=2)
    rows = np.split(np.arange(len(together)), [len(nbests[0])])
    np.testing.assert_allclose(
        by_workers, together[np.concatenate([part[start::2] for part in rows for start in (0, 1)])], **CLOSE
    )
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    changed, cached = [nbests[1], nbests[0].with_texts([*nbests[0].texts[:-1], "a new text"])], Counter()
    again = values(registry, changed, features, cached=cached)
    np.testing.assert_array_equal(again[: len(nbests[1])], together[len(nbests[0]) :])
    assert set(cached.values()) == {len(nbests[1])}
    monkeypatch.setenv("RERANK_CACHE", "")
    np.testing.assert_allclose(again, values(registry, changed, features), **CLOSE)
