"""Comparing systems, oracles and buckets: by hand, by brute force, and what must hold of any lists."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.evaluation import (
    Comparison,
    Evaluation,
    Resampling,
    SegmentFacts,
    evaluate,
    most_changed,
    oracle,
)
from rerank_adapters.evaluation.compare import Texts
from rerank_adapters.evaluation.groups import length_buckets
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.within_lists import one_best
from rerank_plugins import ConfigError, FormatError, RerankError
from tests.evaluation import naive_evaluation as naive

LOWER = TextPipeline(("lowercase",))
TEXT = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(" ".join)
LISTS = st.lists(st.tuples(st.lists(TEXT, min_size=1, max_size=4), TEXT), min_size=1, max_size=5)
REFERENCES = [["the cat sat"], ["a dog ran away"], ["it was old"], ["so it was then"]]
BASELINE = ["the cat sat", "a dog sat", "it is old", "so"]
SYSTEM = ["the cat sat", "a dog ran away", "it was", "then"]


def counted(lists, metric):
    statistics = metric.statistics([texts for texts, _ in lists], [[ref] for _, ref in lists])
    return statistics, np.cumsum([0, *(len(texts) for texts, _ in lists)])


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(
        {"decoder": BASELINE, "reranked": SYSTEM},
        REFERENCES,
        [Measure("errors", naive.WordErrors(), LOWER), Measure("f", naive.WordF(), LOWER)],
        Resampling(bootstrap=50, randomisation=60),
        SegmentFacts(nbests=[[b, s] for b, s in zip(BASELINE, SYSTEM, strict=True)], sources=["s1", "s2", None, "s4"]),
    )


@settings(max_examples=60, deadline=None)
@given(LISTS)
def test_oracle_of_a_decomposable_metric_is_the_best_of_all_choices(lists):
    metric = naive.WordErrors()
    statistics, offsets = counted(lists, metric)
    every = naive.every_choice(statistics, offsets, metric)
    best, worst = (oracle(statistics, offsets, metric, best=which) for which in (True, False))
    assert best.kind == "exact"
    assert (best.score, worst.score) == pytest.approx((min(every), max(every)))


@settings(max_examples=60, deadline=None)
@given(LISTS, st.integers(0, 10**6))
def test_any_reranking_lies_between_oracle_and_anti_oracle(lists, seed):
    metric = naive.WordErrors()
    statistics, offsets = counted(lists, metric)
    rows = one_best(np.random.default_rng(seed).normal(size=len(statistics)), offsets)
    reranked = float(metric.score(statistics[rows].sum(0)))
    best, worst = (oracle(statistics, offsets, metric, best=which).score for which in (True, False))
    assert best - 1e-9 <= reranked <= worst + 1e-9


@settings(max_examples=60, deadline=None)
@given(LISTS)
def test_oracle_search_is_a_local_optimum_no_worse_than_the_1_best(lists):
    metric = naive.WordF()
    statistics, offsets = counted(lists, metric)
    found = oracle(statistics, offsets, metric)
    assert found.kind == "search"
    assert max(naive.every_choice(statistics, offsets, metric)) >= found.score - 1e-9
    assert found.score >= float(metric.score(statistics[offsets[:-1]].sum(0))) - 1e-9
    for segment, (start, end) in enumerate(itertools.pairwise(offsets)):
        for row in range(start, end):
            other = found.rows.copy()
            other[segment] = row
            assert metric.score(statistics[other].sum(0)) <= found.score + 1e-6


def test_oracle_search_usually_finds_the_best_of_all_choices():
    rng, metric, found = np.random.default_rng(4), naive.WordF(), 0
    for _ in range(50):

        def text():
            return " ".join(rng.choice(list("abcdefgh"), rng.integers(2, 7)))

        lists = [([text() for _ in range(4)], text()) for _ in range(5)]
        statistics, offsets = counted(lists, metric)
        every = naive.every_choice(statistics, offsets, metric)
        best, worst = (oracle(statistics, offsets, metric, best=which).score for which in (True, False))
        assert min(every) - 1e-9 <= worst <= best <= max(every) + 1e-9
        found += abs(best - max(every)) < 1e-9
    assert found >= 48


class Distance(naive.WordF):
    """How far the sum of the statistics is from a number: with one changed, the sum comes nearer."""

    def __init__(self, number, higher_is_better):
        self.number, self.higher_is_better = number, higher_is_better

    def score(self, totals):
        distance = np.abs(totals[..., 0] - self.number)
        return distance if self.higher_is_better else -distance

    def sentence_scores(self, statistics):
        return statistics[:, 0] if self.higher_is_better else -statistics[:, 0]


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize(("number", "total"), [(1.9, 4), (2.1, 0)])
def test_oracle_search_starts_from_the_better_of_two_choices(number, total, higher_is_better):
    """The 1-bests have the sum 0, the best sentence scores 4; no change to one segment makes either any better."""
    metric = Distance(number, higher_is_better)
    found = oracle(np.array([[0.0], [1.0]] * 4), np.arange(5) * 2, metric)
    assert found.score == metric.score(np.array([float(total)]))
    assert found.rows.tolist() == [2 * segment + (total > 0) for segment in range(4)]


def test_oracle_search_changes_lists_of_two():
    """Neither choice that the search starts from is a local optimum: the sum should be 2 of 4."""
    metric = Distance(2.0, higher_is_better=True)
    found = oracle(np.array([[0.0], [1.0]] * 4), np.arange(5) * 2, metric, best=False)
    assert found.score == 0


def test_resamples_in_which_a_system_is_better_are_counted():
    """Half of the differences are below 1 point."""
    metric = naive.WordF()
    references = [[f"a b c d {number}"] for number in range(400)]
    one = [f"a b c d {number if number % 9 else 'x'}" for number in range(400)]
    two = [f"a b c d {number if number % 10 else 'x'}" for number in range(400)]
    result = evaluate({"one": one, "two": two}, references, {"f": metric}, Resampling(bootstrap=60, randomisation=0))
    statistics = [metric.statistics([[text] for text in texts], references) for texts in (one, two)]
    scores = [naive.bootstrap_scores(rows, 60, metric, np.random.default_rng(1)) for rows in statistics]
    comparison = result.metrics[0].of("two").comparison
    assert 0 < comparison.difference < 1
    assert comparison.better == np.mean(scores[1] > scores[0])
    assert 0.5 < comparison.better < 1


def test_below_a_level_is_not_at_it():
    comparison = Comparison(1.0, None, 0.05, 0.03, None, 1, 0, 0)
    assert not comparison.below(0.05)
    assert comparison.below(0.0500001)
    assert not dataclasses.replace(comparison, bootstrap_p=0.02).below(0.03)


def test_scores_by_hand(evaluation):
    errors, f = evaluation.metrics
    # words per reference 3 4 3 4; errors of the decoder 0 2 1 3, reranked 0 0 1 4
    assert errors.of("decoder").score == pytest.approx(100 * 6 / 14)
    assert errors.of("reranked").score == pytest.approx(100 * 5 / 14)
    comparison = errors.of("reranked").comparison
    assert comparison.difference == pytest.approx(-100 / 14)
    assert (comparison.wins, comparison.losses, comparison.ties) == (1, 1, 2)
    assert comparison.interval.low <= comparison.difference <= comparison.interval.high
    assert errors.of("decoder").comparison is None
    assert (errors.oracle.best, errors.oracle.worst) == pytest.approx((100 * 4 / 14, 100 * 7 / 14))
    assert (errors.oracle.kind, f.oracle.kind) == ("exact", "search")
    assert errors.gain(-2.0) == 2.0
    assert f.gain(-2.0) == -2.0
    assert evaluation.length_ratios == pytest.approx((10 / 14, 10 / 14))


def test_sentence_and_bucket_scores_belong_to_their_segments(evaluation):
    errors = evaluation.metrics[0]
    assert errors.of("decoder").sentence_scores == pytest.approx((0, 50, 100 / 3, 75))
    assert [(b.label, b.segments) for b in evaluation.buckets] == [("3", (0, 2)), ("4", (1, 3))]
    assert errors.of("decoder").bucket_scores == pytest.approx((100 / 6, 100 * 5 / 8))


def test_signature_has_all_settings(evaluation):
    assert evaluation.metrics[0].signature == "nrefs:1|bs:50|ar:60|seed:1|naive:word-errors|text:lowercase"
    two = evaluate(
        {"a": ["x", "y"]}, [["x"], ["y", "z"]], {"f": naive.WordF()}, Resampling(bootstrap=0, randomisation=0)
    )
    assert two.metrics[0].signature == "nrefs:var|naive:word-f"


def test_same_seed_same_result(evaluation):
    def run(seed):
        return evaluate(
            {"a": BASELINE, "b": SYSTEM}, REFERENCES, {"f": naive.WordF()}, Resampling(seed=seed, bootstrap=40)
        )

    assert run(3) == run(3)
    assert run(3).metrics[0].systems[0].interval != run(4).metrics[0].systems[0].interval


def test_without_tests_there_are_no_p_values():
    only = evaluate(
        {"a": BASELINE, "b": SYSTEM}, REFERENCES, {"f": naive.WordF()}, Resampling(bootstrap=0, randomisation=0)
    )
    comparison = only.metrics[0].of("b").comparison
    assert only.metrics[0].of("a").interval is None
    assert (comparison.bootstrap_p, comparison.randomisation_p, comparison.interval, comparison.better) == (None,) * 4
    assert not comparison.below(1.1)


def test_a_result_prints_one_line_a_system(evaluation):
    lines = str(evaluation).splitlines()
    assert repr(evaluation) == str(evaluation)
    assert len(lines) == 1 + len(evaluation.systems)
    assert all(line.startswith(name) for line, name in zip(lines[1:], evaluation.systems, strict=True))
    for metric in evaluation.metrics:
        assert all(
            f"{metric.name} {metric.of(name).score:.2f}" in line
            for name, line in zip(evaluation.systems, lines[1:], strict=True)
        )
    assert all(len(repr(scores)) < 400 for metric in evaluation.metrics for scores in metric.systems)


def plain_types(value):
    """The types inside a value of dictionaries and lists."""
    if type(value) is dict:
        return {type(key) for key in value} | set().union(*map(plain_types, value.values()))
    if type(value) is list:
        return set().union(*map(plain_types, value))
    return {type(value)}


def test_a_result_is_a_dictionary_of_plain_types(evaluation):
    found = evaluation.to_dict()
    assert plain_types(found) <= {str, int, float, bool, type(None)}
    assert json.loads(json.dumps(found)) == found
    assert found["metrics"][0]["systems"][1]["sentence_scores"] == list(
        evaluation.metrics[0].systems[1].sentence_scores
    )
    assert Evaluation.from_json(json.dumps(found)) == evaluation


def test_baseline_may_be_any_system():
    other = evaluate(
        {"a": BASELINE, "b": SYSTEM}, REFERENCES, {"f": naive.WordF()}, Resampling(bootstrap=40), baseline="b"
    )
    assert other.metrics[0].of("b").comparison is None
    assert other.metrics[0].of("a").comparison.difference == pytest.approx(
        other.metrics[0].of("a").score - other.metrics[0].of("b").score
    )


def test_json_round_trip(evaluation):
    assert Evaluation.from_json(evaluation.to_json()) == evaluation
    plain = json.loads(evaluation.to_json())
    assert plain["seed"] == 1
    assert plain["bootstrap"] == 50
    with pytest.raises(FormatError, match=r"old\.json: not an evaluation"):
        Evaluation.from_json("{}", "old.json")
    with pytest.raises(FormatError, match="not an evaluation: JSON"):
        Evaluation.from_json("{", "cut.json")


def test_most_changed_segments(evaluation):
    errors = evaluation.metrics[0]
    changes = most_changed(evaluation, errors, "reranked", 2)
    assert [(c.segment.segment_id, c.baseline_score, c.system_score) for c in changes] == [("1", 50, 0), ("3", 75, 100)]
    assert (changes[0].baseline, changes[0].system) == ("a dog sat", "a dog ran away")
    everything = most_changed(evaluation, errors, "reranked", 99)
    assert [c.segment.segment_id for c in everything] == ["1", "3", "2"]  # 2 changed its text, not its score; 0 neither


@given(st.lists(st.integers(0, 60), min_size=1, max_size=80), st.integers(1, 7))
def test_buckets_partition_the_segments(lengths, count):
    buckets = length_buckets(np.array(lengths), count)
    assert sorted(s for bucket in buckets for s in bucket.segments) == list(range(len(lengths)))
    assert 1 <= len(buckets) <= count
    for one, two in itertools.pairwise(buckets):
        assert one.longest < two.shortest
    for bucket in buckets:
        assert {bucket.shortest <= lengths[s] <= bucket.longest for s in bucket.segments} == {True}


def test_shared_outputs_are_counted_once():
    class Counting(naive.WordF):
        rows = 0

        def statistics(self, hypotheses, references):
            self.rows += sum(map(len, hypotheses))
            return super().statistics(hypotheses, references)

    metric = Counting()
    statistics = Texts([BASELINE, SYSTEM, BASELINE], REFERENCES, None).statistics(metric)
    assert metric.rows == 7
    for system, texts in zip(statistics, [BASELINE, SYSTEM, BASELINE], strict=True):
        assert np.array_equal(system, naive.WordF().statistics([[t] for t in texts], REFERENCES))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"systems": {}}, "no system to evaluate"),
        ({"references": []}, "no segments"),
        ({"references": [["a"], [], ["b"], ["c"]]}, r"segment 1 .* no reference"),
        ({"systems": {"short": ["x"]}}, "system 'short' has 1 segments, the references have 4"),
        ({"facts": SegmentFacts(sources=["x"])}, "the source has 1 segments"),
        ({"facts": SegmentFacts(nbests=[["x"]])}, "n-best lists has 1 segments"),
        ({"facts": SegmentFacts(nbests=[["x"], ["x"], [], ["x"]])}, r"n-best list of segment 2 .* is empty"),
    ],
)
def test_input_that_does_not_fit_together(arguments, message):
    given = {"systems": {"a": BASELINE}, "references": REFERENCES, "metrics": {"f": naive.WordF()}} | arguments
    with pytest.raises(RerankError, match=message):
        evaluate(**given)


def test_unknown_baseline_names_the_close_match():
    with pytest.raises(ConfigError, match=r"'decodr'.*did you mean 'decoder'"):
        evaluate({"decoder": BASELINE}, REFERENCES, {"f": naive.WordF()}, baseline="decodr")
