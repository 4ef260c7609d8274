"""Properties of all metrics, their slow twins, sentence scores and pairwise scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.metrics import plugin
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF, ChrFPlusPlus
from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_adapters.metrics.ter import TER
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.metrics_and_tuners import Metric
from tests.metrics import naive_metrics as naive
from tests.metrics.metric_texts import references, segments, texts

METRICS: dict[str, Metric] = {
    "bleu": Bleu("none"),
    "bleu-length": Bleu("none", sentence="bleu+1-length"),
    "chrf": ChrF(),
    "chrf++": ChrFPlusPlus(),
    "ter": TER(),
    "wer": WER(),
    "cer": CER(),
}
each = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())
quick = settings(max_examples=25, deadline=None)


def test_all_are_registered() -> None:
    registered: dict[str, Any] = {}
    plugin.register_metrics(registered.__setitem__)
    del registered["accuracy"]  # of answers, not of text: tests/applications/test_completion.py
    del registered["column"]  # scores computed elsewhere: tests/lists/test_columns.py
    del registered["mean"]  # of other metrics: tests/metrics/test_mean.py
    del registered["ser"]  # the same of utterances: tests/metrics/test_speech_errors.py
    classes = {"bleu": Bleu, "chrf": ChrF, "chrf++": ChrFPlusPlus, "ter": TER, "wer": WER, "cer": CER}
    assert registered == {name: f"{each.__module__}:{each.__qualname__}" for name, each in classes.items()}


@each
@given(data=segments)
@quick
def test_statistics_of_segments_are_those_of_each_hypothesis_alone(metric: Metric, data: list[Any]) -> None:
    together = metric.statistics([h for h, _ in data], [r for _, r in data])
    alone = [metric.statistics([[text]], [refs])[0] for hypotheses, refs in data for text in hypotheses]
    assert together.dtype == np.float64
    assert together.shape[0] == len(alone)
    if alone:
        np.testing.assert_array_equal(together, alone)
        assert np.isfinite(metric.score(together)).all()
        assert np.isfinite(metric.sentence_scores(together)).all()
        assert np.isfinite(metric.score(together.sum(axis=0)))


@each
@given(texts, references, st.randoms(use_true_random=False))
@quick
def test_order_of_references_changes_no_score(metric: Metric, text: str, refs: list[str], random: Any) -> None:
    shuffled = random.sample(refs, len(refs))
    one, other = metric.statistics([[text]], [refs]), metric.statistics([[text]], [shuffled])
    if not isinstance(metric, ChrF):  # which takes the first of equally good references, as sacrebleu does
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(metric.score(one), metric.score(other))


@each
@given(st.lists(texts.filter(lambda text: len(text.split()) > 3), min_size=1, max_size=4))
@quick
def test_the_reference_itself_is_perfect(metric: Metric, refs: list[str]) -> None:
    statistics = metric.statistics([[refs[-1]]], [refs])
    assert metric.score(statistics)[0] == pytest.approx(100 if metric.higher_is_better else 0)


@each
@given(st.lists(texts, max_size=6))
@quick
def test_pairwise_equals_the_plain_loop(metric: Metric, hypotheses: list[str]) -> None:
    pairs = metric.pairwise(hypotheses)
    assert pairs.shape == (len(hypotheses), len(hypotheses))
    if hypotheses:
        np.testing.assert_allclose(pairs, Metric.pairwise(metric, hypotheses), rtol=1e-14)


@each
def test_a_long_pairwise_matrix_is_computed_in_blocks(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    hypotheses = [f"a b {i} c {i % 3}" for i in range(17)]
    whole = metric.pairwise(hypotheses)
    for module in ("bleu", "chrf"):
        monkeypatch.setattr(f"rerank_adapters.metrics.{module}.PAIRS_AT_ONCE", 50)
    np.testing.assert_array_equal(metric.pairwise(hypotheses), whole)


@each
def test_threads_change_nothing(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    lists = [
        [" ".join(rng.choice(list("abcdef"), rng.integers(12))) for _ in range(rng.integers(9))] for _ in range(40)
    ]
    refs = [[" ".join(rng.choice(list("abcdef"), 9)) for _ in range(rng.integers(1, 4))] for _ in range(40)]
    one = metric.statistics(lists, refs)
    monkeypatch.setattr("rerank_adapters.metrics.encoded_texts.MIN_LOOKUPS", 1)
    monkeypatch.setattr("rerank_adapters.metrics.ter.MIN_CELLS", 1)
    monkeypatch.setattr("rerank_plugins.core.threads.cores", lambda: 3)
    np.testing.assert_array_equal(metric.statistics(lists, refs), one)


@each
def test_no_segments_and_no_hypotheses(metric: Metric) -> None:
    width = metric.statistics([["a"]], [["a"]]).shape[1]
    assert metric.statistics([], []).shape == (0, width)
    assert metric.statistics([[], []], [["a"], ["b", "c"]]).shape == (0, width)


@each
def test_bad_segments(metric: Metric) -> None:
    with pytest.raises(FormatError, match="segment 2 of 2 has no reference"):
        metric.statistics([["a"], ["b"]], [["a"], []])
    with pytest.raises(FormatError, match="1 segments, but references for 2"):
        metric.statistics([["a"]], [["a"], ["b"]])
    for hypotheses, gold in [
        ([["a"]], ["a"]),
        (["a b"], [["a"]]),
        (["a", "b"], ["a", "b"]),
        ("ab", [["a"], ["b"]]),
    ]:
        with pytest.raises(
            TypeError, match=r"(hypotheses|references): expected a sequence of texts .* found .*a single text"
        ):
            metric.statistics(hypotheses, gold)


@pytest.mark.parametrize("metric", [m for m in METRICS.values() if m.decomposes], ids=lambda m: type(m).__name__)
@given(data=st.lists(st.tuples(st.lists(texts, min_size=1, max_size=3), references), min_size=1, max_size=3))
@quick
def test_where_a_metric_decomposes_no_choice_beats_the_best_of_each_segment(metric: Metric, data: list[Any]) -> None:
    statistics = [metric.statistics([hypotheses], [refs]) for hypotheses, refs in data]
    sign = 1 if metric.higher_is_better else -1
    oracle = metric.score(np.sum([s[np.argmax(sign * metric.sentence_scores(s))] for s in statistics], axis=0))
    for choice in np.ndindex(*map(len, statistics)):
        chosen = metric.score(np.sum([s[i] for s, i in zip(statistics, choice, strict=True)], axis=0))
        assert sign * oracle >= sign * chosen - 1e-12


@given(texts, references)
@settings(max_examples=100, deadline=None)
def test_bleu_statistics_equal_the_twin(text: str, refs: list[str]) -> None:
    ours = Bleu("none").statistics([[text]], [refs])
    assert ours[0].tolist() == naive.bleu_statistics(text, refs)
    for metric, longer_by in ((Bleu("none"), 0), (Bleu("none", sentence="bleu+1-length"), 1)):
        expected = naive.bleu_plus_one(ours[0].tolist(), longer_by)
        assert metric.sentence_scores(ours)[0] == pytest.approx(expected, rel=1e-12)


@given(texts, texts)
@settings(max_examples=100, deadline=None)
def test_chrf_statistics_equal_the_twin(text: str, reference: str) -> None:
    assert ChrF().statistics([[text]], [[reference]])[0].tolist() == naive.chrf_statistics(text, reference)


def test_sentence_bleu_equals_sacrebleus_add_one() -> None:
    import sacrebleu

    theirs = sacrebleu.BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False)
    lists, refs = [["a b c d e", "a x c", "y", "", "b a"]], [["a b c d f", "a b"]]
    ours = Bleu("none").sentence_scores(Bleu("none").statistics(lists, refs))
    expected = [theirs.sentence_score(text, refs[0]).score for text in lists[0]]
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@given(texts, references)
@quick
def test_sentence_bleu_of_sacrebleu(text: str, refs: list[str]) -> None:
    import sacrebleu

    metric = Bleu(sentence="sacrebleu")
    expected = sacrebleu.BLEU(effective_order=True).sentence_score(text, refs).score
    assert metric.sentence_scores(metric.statistics([[text]], [refs]))[0] == pytest.approx(expected, rel=1e-12)


def test_smoothed_length_prefers_longer_hypotheses_of_equal_precision() -> None:
    statistics = Bleu("none").statistics([["a b c d", "a b c d e f g h"]], [["a b c d e f g h"]])
    plain, smoothed = (Bleu("none", sentence=s).sentence_scores(statistics) for s in ("bleu+1", "bleu+1-length"))
    assert smoothed[1] / smoothed[0] > plain[1] / plain[0]
    assert smoothed[1] < plain[1] == 100


def test_options_out_of_range() -> None:
    with pytest.raises(ValueError, match="char_order 0"):
        ChrF(char_order=0)
