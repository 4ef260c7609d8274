"""Statistics of n-best lists against sacrebleu called per hypothesis; pairwise scores against the plain loop.

`pytest tests/bench/test_metrics_speed.py -m bench -n0 -s` prints the figures.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from pytest_benchmark.fixture import BenchmarkFixture

from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF, ChrFPlusPlus
from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_adapters.metrics.ter import TER
from rerank_plugins.core.metrics_and_tuners import Metric
from tests.bench.timing import seconds
from tests.metrics.metric_texts import tatoeba
from tests.metrics.naive_metrics import levenshtein

logging.getLogger("sacrebleu").setLevel(logging.ERROR)

SEGMENTS, SIZE = 40, 50


@pytest.fixture(scope="module")
def lists() -> tuple[list[list[str]], list[list[str]]]:
    """Lists as a decoder makes them: each hypothesis is the reference with a few words replaced or exchanged."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    hypotheses, references = [], []
    for _ in range(SEGMENTS):
        reference = words[rng.integers(2000, size=rng.integers(8, 20))]
        references.append([" ".join(reference)])
        texts = []
        for _ in range(SIZE):
            text = reference.copy()
            text[rng.integers(len(text), size=3)] = words[rng.integers(2000, size=3)]
            cut = rng.integers(len(text))
            texts.append(" ".join(np.roll(text, 2) if rng.random() < 0.3 else np.delete(text, cut)))
        hypotheses.append(texts)
    return hypotheses, references


def per_sentence_levenshtein(text: str, references: list[str]) -> int:
    return min(levenshtein(text.split(), reference.split()) for reference in references)


BASELINES: dict[str, tuple[Metric, Callable[[str, list[str]], Any], float]] = {
    "bleu": (Bleu("none"), sacrebleu.BLEU(tokenize="none", effective_order=True).sentence_score, 3),
    "bleu 13a": (Bleu(), sacrebleu.BLEU(effective_order=True).sentence_score, 3),
    "chrf": (ChrF(), sacrebleu.CHRF().sentence_score, 10),
    "chrf++": (ChrFPlusPlus(), sacrebleu.CHRF(word_order=2).sentence_score, 10),
    "ter": (TER(), sacrebleu.TER().sentence_score, 10),
    "wer": (WER(), per_sentence_levenshtein, 3),
    "cer": (CER(), lambda text, refs: min(levenshtein(text, reference) for reference in refs), 10),
}


@pytest.mark.parametrize(("metric", "baseline", "at_least"), BASELINES.values(), ids=BASELINES.keys())
def test_statistics(
    benchmark: BenchmarkFixture,
    lists: tuple[list[list[str]], list[list[str]]],
    metric: Metric,
    baseline: Callable[[str, list[str]], Any],
    at_least: float,
) -> None:
    hypotheses, references = lists
    metric.statistics(hypotheses[:1], references[:1])  # compiles
    few = slice(0, SEGMENTS // 8)
    theirs = seconds(
        lambda: [baseline(h, refs) for hyps, refs in zip(hypotheses[few], references[few], strict=True) for h in hyps]
    )
    ours = seconds(lambda: metric.statistics(hypotheses, references), 3) / 8
    benchmark.extra_info["times faster than per sentence"] = round(theirs / ours, 1)
    benchmark.extra_info["hypotheses per CPU second"] = round(SEGMENTS * SIZE / 8 / ours)
    benchmark(metric.statistics, hypotheses, references)
    print(f"{type(metric).__name__}: {benchmark.extra_info}")
    assert theirs > at_least * ours


@pytest.mark.parametrize("metric", [Bleu("none"), ChrF(), TER(), WER()], ids=lambda metric: type(metric).__name__)
def test_pairwise(benchmark: BenchmarkFixture, lists: tuple[list[list[str]], list[list[str]]], metric: Metric) -> None:
    hypotheses = lists[0][0]
    metric.pairwise(hypotheses[:2])
    loop = seconds(lambda: Metric.pairwise(metric, hypotheses))
    ours = seconds(lambda: metric.pairwise(hypotheses), 3)
    benchmark.extra_info["times faster than a loop over references"] = round(loop / ours, 1)
    benchmark(metric.pairwise, hypotheses)
    print(f"{type(metric).__name__} pairwise: {benchmark.extra_info}, {ours * 1e3:.2f} CPU ms for {SIZE} hypotheses")
    assert loop > ours


@pytest.mark.parametrize(("metric", "baseline", "at_least"), BASELINES.values(), ids=BASELINES.keys())
def test_real_lists(
    shared_data: Path, metric: Metric, baseline: Callable[[str, list[str]], Any], at_least: float
) -> None:
    hypotheses, references = tatoeba(shared_data)
    metric.statistics(hypotheses[:1], references[:1])
    whole = seconds(lambda: metric.statistics(hypotheses, references), 2)
    pairs = seconds(lambda: [metric.pairwise(texts) for texts in hypotheses[:5]]) / 5
    some = [(texts[0], refs) for texts, refs in zip(hypotheses, references, strict=True)][::4]
    theirs = seconds(lambda: [baseline(text, refs) for text, refs in some]) / len(some)
    rows = sum(map(len, hypotheses))
    print(f"{type(metric).__name__}: {rows} hypotheses in {whole:.2f} CPU s ({theirs * rows / whole:.0f} times faster")
    print(f"  than per sentence); pairs of a list of about 100 in {pairs * 1e3:.1f} CPU ms")
    assert theirs * rows > at_least * whole
