"""The resampling tests against loops, against sacrebleu's PairedTest on the same resamples, and on null data."""

import math

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from rerank_adapters.evaluation import Resampling, evaluate, significance
from rerank_adapters.evaluation.significance import (
    Interval,
    bootstrap_p_value,
    bootstrap_totals,
    percentile_interval,
    randomisation_p_value,
    swapped_totals,
)
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF
from rerank_adapters.metrics.ter import TER as Ter
from tests.evaluation import naive_evaluation as naive
from tests.metrics.metric_texts import hypotheses_and_references

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "tree",
    "and",
    "then",
    "it",
    "was",
    "very",
    "old",
    "not",
    "seen",
    "again",
    ".",
]


def noisy(rng, text, rate):
    return " ".join(w if rng.random() > rate else str(rng.choice(WORDS)) for w in text.split())


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(7)
    references = [" ".join(rng.choice(WORDS, rng.integers(4, 15))) for _ in range(60)]
    return references, {
        "baseline": [noisy(rng, r, 0.35) for r in references],
        "better": [noisy(rng, r, 0.2) for r in references],
        "alike": [noisy(rng, r, 0.33) for r in references],
    }


def paired_statistics(corpus, metric):
    references, systems = corpus
    return {name: metric.statistics([[t] for t in texts], [[r] for r in references]) for name, texts in systems.items()}


def test_bootstrap_equals_loops(corpus):
    metric = naive.WordF()
    statistics = paired_statistics(corpus, metric)["better"]
    fast = metric.score(bootstrap_totals(statistics, 50, np.random.default_rng(3)))
    assert fast == pytest.approx(naive.bootstrap_scores(statistics, 50, metric, np.random.default_rng(3)), abs=1e-12)


def test_swapping_equals_loops(corpus):
    metric = naive.WordF()
    both = paired_statistics(corpus, metric)
    baseline, system = both["baseline"], both["better"]
    moved = swapped_totals(system - baseline, 50, np.random.default_rng(3))
    fast = metric.score(system.sum(0) - moved) - metric.score(baseline.sum(0) + moved)
    slow = naive.randomised_differences(baseline, system, 50, metric, np.random.default_rng(3))
    assert fast == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("draw", [bootstrap_totals, swapped_totals])
def test_blocks_draw_what_one_block_draws(draw, monkeypatch):
    statistics = np.random.default_rng(0).integers(0, 9, (7, 3)).astype(float)
    whole = draw(statistics, 1000, np.random.default_rng(5))
    monkeypatch.setattr(significance, "BLOCK_CELLS", 7 * 100)
    assert np.array_equal(draw(statistics, 1000, np.random.default_rng(5)), whole)


def test_interval_is_percentiles():
    assert percentile_interval(np.arange(1000.0)[::-1]) == Interval(25.0, 974.0)
    assert percentile_interval(np.array([4.0])) == Interval(4.0, 4.0)
    assert Interval(1.0, 2.0).half_width == 0.5


def test_p_values_of_hand_made_differences():
    # sizes 1 3 1 3, mean 2, centred -1 1 -1 1: two of them reach 1
    assert bootstrap_p_value(np.array([1.0, -3.0, -1.0, 3.0]), 1.0) == pytest.approx(3 / 5)
    assert randomisation_p_value(np.array([1.0, -3.0, -1.0, 3.0]), -3.0) == pytest.approx(3 / 5)
    assert randomisation_p_value(np.array([1.0, -3.0, -1.0, 3.0]), 3.5) == pytest.approx(1 / 5)


METRICS = {"BLEU": (BLEU, {"tokenize": "none"}, True), "chrF2": (CHRF, {}, True), "TER": (TER, {}, False)}


@pytest.mark.parametrize("name", METRICS)
def test_agrees_with_sacrebleu(corpus, name, monkeypatch):
    """Same seed, same resamples: scores, intervals and p-values are sacrebleu's, ties apart (theirs are never larger)."""
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    references, systems = corpus
    make, options, higher = METRICS[name]
    ours = evaluate(
        systems,
        [[r] for r in references],
        {name: naive.Sacrebleu(make(**options), higher)},
        Resampling(seed=12345, bootstrap=200, randomisation=500),
    ).metrics[0]
    theirs = {
        kind: PairedTest(list(systems.items()), {name: make(**options)}, [references], kind, samples)()[1][name]
        for kind, samples in (("bs", 200), ("ar", 500))
    }
    for system, bootstrapped, randomised in zip(ours.systems, theirs["bs"], theirs["ar"], strict=True):
        assert system.score == pytest.approx(bootstrapped.score, abs=1e-9)
        assert system.interval.half_width == pytest.approx(bootstrapped.ci, abs=1e-4)  # sacrebleu sums float32
        if system.comparison is not None:
            assert system.comparison.bootstrap_p == pytest.approx(bootstrapped.p_value, abs=1e-12)
            ties = 0.05 if name == "TER" else 0  # whole edits over a fixed length tie often
            assert -1e-12 <= system.comparison.randomisation_p - randomised.p_value <= ties + 1e-12


def test_ties_count_for_chance(corpus, monkeypatch):
    """Identical systems: sacrebleu calls them significantly different, we do not."""
    references, systems = corpus
    same = {"baseline": systems["better"], "copy": systems["better"]}
    comparison = (
        evaluate(same, [[r] for r in references], {"f": naive.WordF()}, Resampling(bootstrap=99, randomisation=99))
        .metrics[0]
        .of("copy")
        .comparison
    )
    assert comparison.difference == 0
    assert comparison.interval == Interval(0, 0)
    assert comparison.bootstrap_p == comparison.randomisation_p == 1
    assert comparison.better == 0
    theirs = PairedTest(list(same.items()), {"BLEU": BLEU(tokenize="none")}, [references], "ar", 99)()[1]["BLEU"]
    assert theirs[1].p_value == pytest.approx(1 / 100)


def test_randomisation_is_calibrated_under_the_null():
    """Systems that differ by chance alone: p-values are uniform."""
    metric, rng = naive.WordErrors(), np.random.default_rng(11)
    p_values = []
    for _ in range(300):
        both = np.stack([rng.binomial(20, 0.3, (2, 80)).astype(float), np.full((2, 80), 20.0)], axis=-1)
        totals = both.sum(1)
        observed = float(metric.score(totals[1]) - metric.score(totals[0]))
        moved = swapped_totals(both[1] - both[0], 199, rng)
        p_values.append(
            randomisation_p_value(metric.score(totals[0] + moved) - metric.score(totals[1] - moved), observed)
        )
    for level in (0.05, 0.2, 0.5):
        share = np.mean(np.array(p_values) <= level)
        assert share <= level + 3 * math.sqrt(level * (1 - level) / 300)
        assert share >= level - 3 * math.sqrt(level * (1 - level) / 300) - 0.06  # ties make the test cautious


def test_interval_covers_the_truth():
    """About 95 % of bootstrap intervals hold the true error rate."""
    metric, rng, held = naive.WordErrors(), np.random.default_rng(2), 0
    for _ in range(200):
        statistics = np.stack([rng.binomial(20, 0.3, 100).astype(float), np.full(100, 20.0)], axis=-1)
        interval = percentile_interval(metric.score(bootstrap_totals(statistics, 200, rng)))
        held += interval.low <= 30 <= interval.high
    assert 0.88 <= held / 200 <= 0.99


@pytest.mark.slow
def test_real_systems_get_sacrebleu_s_verdict(real_lists, monkeypatch):
    """Ranks 1, 2 and 10 of real lists by our own BLEU, chrF and TER, the same seed as sacrebleu."""
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    lists, segments = hypotheses_and_references(*real_lists["test"])
    references = [reference for (reference,) in segments]
    systems = {f"rank{r}": [texts[min(r, len(texts)) - 1] for texts in lists] for r in (1, 2, 10)}
    ours = evaluate(
        systems,
        [[r] for r in references],
        {"BLEU": Bleu(tokenize="none"), "chrF2": ChrF(), "TER": Ter()},
        Resampling(seed=12345, bootstrap=300, randomisation=300),
    )
    makers = {"BLEU": BLEU(tokenize="none"), "chrF2": CHRF(), "TER": TER()}
    for kind in ("bs", "ar"):
        theirs = PairedTest(list(systems.items()), makers, [references], kind, 300)()[1]
        for metric in ours.metrics:
            for system, result in zip(metric.systems, theirs[metric.name], strict=True):
                assert system.score == pytest.approx(result.score, abs=1e-9)
                if kind == "bs":
                    assert system.interval.half_width == pytest.approx(result.ci, abs=1e-3)
                if system.comparison is not None:
                    p = system.comparison.bootstrap_p if kind == "bs" else system.comparison.randomisation_p
                    assert p == pytest.approx(result.p_value, abs=0.02)
