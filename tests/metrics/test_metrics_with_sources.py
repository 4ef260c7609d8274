"""Metrics that read the source sentences get them wherever statistics are counted or hypotheses are compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

import rerank_adapters
from rerank_adapters.applications.mbr import mbr
from rerank_adapters.metrics.mean import MeanMetric
from rerank_adapters.tuners.mbr import Mbr
from rerank_plugins import ConfigError, Hypothesis, Metric, NBestList, check_texts
from tests.command_line import rerank

PLUGIN = """
from tests.metrics.test_metrics_with_sources import CopiedWords
from rerank_plugins import hookimpl

@hookimpl
def register_metrics(register):
    register("copied-words", CopiedWords)
"""


@dataclass(frozen=True)
class CopiedWords(Metric):
    """The proportion of words that are in the source, and half a point for those of the reference."""

    _sources: tuple[str | None, ...] | None = None

    def with_sources(self, sources):
        return replace(self, _sources=tuple(sources))

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]):
        check_texts(hypotheses, references)
        if hypotheses and (self._sources is None or None in self._sources):
            raise ConfigError("copied-words: there are no sources")
        assert not hypotheses or len(self._sources) == len(hypotheses)
        rows = [
            (100 * sum((w in s.split()) + 0.5 * (w in r[0].split()) for w in h.split()) / max(1, len(h.split())), 1.0)
            for hyps, r, s in zip(hypotheses, references, self._sources or (), strict=True)
            for h in hyps
        ]
        return np.array(rows, np.float64).reshape(-1, 2)

    def score(self, totals):
        return np.asarray(totals[..., 0] / np.maximum(totals[..., 1], 1))

    def sentence_scores(self, statistics):
        return self.score(statistics)

    def signature(self):
        return "copied:words"


SOURCES = [f"s{n}" for n in range(40)]
LISTS = [
    NBestList(str(n), tuple(Hypothesis(text, score=float(k)) for k, text in enumerate(["x y", f"{source} z", "q"])), source=source)
    for n, source in enumerate(SOURCES)
]  # fmt: skip
REFERENCES = [(f"{source} z", source, "x", "q")[n % 4] for n, source in enumerate(SOURCES)]
WITHOUT = [replace(nbest, source=None) for nbest in LISTS]


@pytest.fixture
def plugin(tmp_path):
    (tmp_path / "own.py").write_text(PLUGIN, encoding="utf-8")
    return tmp_path / "own.py"


def test_tuning_and_evaluating_have_the_sources():
    pipeline = rerank_adapters.Pipeline(["reciprocal-rank", "length"], tuner="mira", metric=CopiedWords()).fit(
        LISTS, REFERENCES
    )
    assert [one.best for one in pipeline.predict(LISTS)] == [nbest.texts[1] for nbest in LISTS]
    systems = {"first": [nbest.texts[0] for nbest in LISTS], "second": [nbest.texts[1] for nbest in LISTS]}
    wanted = np.mean([50 + 25 * words for words in (2, 1, 0, 0)])  # half of the words are copied
    by_lists = rerank_adapters.evaluate(systems, REFERENCES, metrics=CopiedWords(), nbests=LISTS)
    by_sources = rerank_adapters.evaluate(systems, REFERENCES, metrics=CopiedWords(), sources=SOURCES)
    for result in (by_lists, by_sources):
        assert result.metrics[0].of("second").score == pytest.approx(wanted)
    assert by_lists.metrics[0].oracle.best >= wanted
    with pytest.raises(ConfigError, match="no sources"):
        rerank_adapters.evaluate(systems, REFERENCES, metrics=CopiedWords())
    with pytest.raises(ConfigError, match="no sources"):
        rerank_adapters.Pipeline(["reciprocal-rank", "length"], tuner="mira", metric=CopiedWords()).fit(
            WITHOUT, REFERENCES
        )


def test_mbr_has_the_source_of_each_list():
    rows = mbr(LISTS, utility=CopiedWords())
    assert [row["choice"] for row in rows] == [nbest.texts[1] for nbest in LISTS]
    pipeline = rerank_adapters.Pipeline(["reciprocal-rank"], tuner=Mbr("start"), metric=CopiedWords()).fit(
        LISTS, REFERENCES
    )
    assert [one.best for one in pipeline.predict(LISTS)] == [nbest.texts[1] for nbest in LISTS]
    texts = [nbest.texts for nbest in LISTS]
    assert list(mbr(texts, CopiedWords(), sources=SOURCES)["choice"]) == [row["choice"] for row in rows]
    with pytest.raises(ConfigError, match="found 1 sources, wanted those of 40 segments"):
        mbr(texts, CopiedWords(), sources=["a"])
    with pytest.raises(ConfigError, match="no sources"):
        mbr(WITHOUT, utility=CopiedWords())


def test_a_mean_has_the_sources_of_its_metrics():
    mean = MeanMetric((CopiedWords(), CopiedWords())).with_sources(["a"])
    np.testing.assert_allclose(mean.pairwise(["a b", "b"]), CopiedWords().with_sources(["a"]).pairwise(["a b", "b"]))


def test_commands_have_the_sources(plugin, tmp_path):
    lines = [
        f"{n} ||| {text} ||| f= {k} ||| {k}\n"
        for n in range(len(LISTS))
        for k, text in enumerate(LISTS[n].texts)
    ]  # fmt: skip
    files = {"lists": lines, "source": [f"{nbest.source}\n" for nbest in LISTS], "refs": [f"{r}\n" for r in REFERENCES]}
    for name, texts in files.items():
        (tmp_path / name).write_text("".join(texts), encoding="utf-8")
    lists, source, refs, weights = (tmp_path / name for name in ("lists", "source", "refs", "weights.toml"))
    own = ("--plugin", plugin)
    ran = rerank(*own, "tune", lists, "-r", refs, "--source", source, "-m", "copied-words", "-t", "mira", "-o", weights)
    assert ran.code == 0, ran.err
    ran = rerank(*own, "evaluate", "-r", refs, "--source", source, "--nbest", lists, "-m", "copied-words")
    assert ran.code == 0, ran.err
    ran = rerank(*own, "evaluate", "-r", refs, "--nbest", lists, "-m", "copied-words")
    assert (ran.code, "no sources" in ran.err) == (2, True)
    ran = rerank(*own, "lists", "mbr", lists, "--source", source, "-m", "copied-words")
    assert ran.out.splitlines()[:2] == [LISTS[0].texts[1], LISTS[1].texts[1]], ran.err
    ran = rerank(*own, "explain", "2", lists, "-r", refs, "--source", source, "-w", weights)
    assert ran.code == 0, ran.err
