"""TER's edits are sacrebleu's in all corners of the search; WER and CER are jiwer's."""

from pathlib import Path

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from rerank_adapters.metrics.edit_rate import CER, WER
from rerank_adapters.metrics.ter import TER
from tests.metrics import naive_metrics as naive
from tests.metrics.metric_texts import hypotheses_and_references, texts


def check_edits(pairs: list[tuple[list[str], list[str]]]) -> None:
    hypotheses = [[" ".join(hypothesis)] for hypothesis, _ in pairs]
    ours = TER(case_sensitive=True).statistics(hypotheses, [[" ".join(reference)] for _, reference in pairs])
    assert ours[:, 0].tolist() == [translation_edit_rate(*pair)[0] for pair in pairs]


@given(st.lists(st.sampled_from("abcde"), max_size=14), st.lists(st.sampled_from("abcde"), max_size=14))
@settings(max_examples=100, deadline=None)
def test_ter_of_short_texts_over_few_words(hypothesis: list[str], reference: list[str]) -> None:
    check_edits([(hypothesis, reference)])
    edits = TER().statistics([[" ".join(hypothesis)]], [[" ".join(reference)]])[0, 0]
    assert naive.bag_distance(hypothesis, reference) <= edits <= naive.levenshtein(hypothesis, reference)


def shuffled_blocks(rng: np.random.Generator, length: int, words: int, noise: float) -> tuple[list[str], list[str]]:
    """A reference, and a hypothesis made of it by cutting, exchanging blocks and replacing words."""
    reference = rng.integers(words, size=length)
    cuts = np.sort(rng.integers(length + 1, size=rng.integers(1, 6)))
    blocks = np.split(reference, cuts)
    hypothesis = np.concatenate([blocks[i] for i in rng.permutation(len(blocks))])
    wrong = rng.random(length) < noise
    hypothesis = np.where(wrong, rng.integers(2 * words, size=length), hypothesis)[rng.random(length) > noise / 2]
    return [str(word) for word in hypothesis], [str(word) for word in reference]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "words", "noise", "count"),
    [(20, 12, 0.2, 40), (40, 30, 0.3, 8), (63, 200, 0.2, 2), (64, 200, 0.2, 2), (65, 200, 0.2, 2), (90, 150, 0.5, 2)],
)
def test_ter_of_shifted_blocks(length: int, words: int, noise: float, count: int) -> None:
    rng = np.random.default_rng(length)
    check_edits([shuffled_blocks(rng, length, words, noise) for _ in range(count)])


@pytest.mark.slow
def test_ter_where_the_limit_of_trials_is_reached() -> None:
    rng = np.random.default_rng(5)
    check_edits([(list(rng.choice(list("abc"), 34)), list(rng.choice(list("abc"), 31))) for _ in range(3)])


@pytest.mark.slow
@pytest.mark.parametrize(("own", "other"), [(1, 70), (2, 120), (70, 1), (90, 40), (30, 95), (0, 5), (5, 0), (0, 0)])
def test_ter_where_the_band_matters(own: int, other: int) -> None:
    """Lengths far apart; and blocks whose places are further apart than the band is wide."""
    rng = np.random.default_rng(own)
    check_edits([(list(rng.choice(list("abcdefghij"), own)), list(rng.choice(list("abcdefghij"), other)))])


@pytest.mark.parametrize("length", [2, 4, 7])
def test_ter_of_a_word_near_the_ends_of_the_band(length: int) -> None:
    """The band of a short text is 25 words wide on either side, however long the reference, up to 50 times as long."""
    reference = [str(i) for i in range(90)]
    others = [f"x{i}" for i in range(length - 1)]
    check_edits([([reference[place], *others], reference) for place in range(20, 90, 3)])


@pytest.mark.slow
def test_ter_with_blocks_moved_out_of_the_band() -> None:
    words = [str(i) for i in range(70)]
    check_edits([(words[by:] + words[:by], words) for by in (26, 51)])


@pytest.mark.slow
def test_ter_of_many_real_hypotheses(real_lists: dict[str, tuple[Path, Path]]) -> None:
    hypotheses, references = hypotheses_and_references(*real_lists["test"])
    pairs = [(h.split(), r[0].split()) for texts, r in zip(hypotheses, references, strict=True) for h in texts[::12]]
    assert len(pairs) >= 5 * len(references)
    check_edits(pairs)


real_words = texts.filter(lambda text: text.split())


@given(real_words, real_words)
@settings(max_examples=60, deadline=None)
def test_wer_and_cer_equal_jiwer(text: str, reference: str) -> None:
    text, reference = " ".join(text.split()), " ".join(reference.split())
    for metric, theirs in ((WER(), jiwer.wer), (CER(), jiwer.cer)):
        ours = metric.score(metric.statistics([[text]], [[reference]]))[0]
        assert ours == pytest.approx(100 * theirs(reference, text), rel=1e-12)


def test_corpus_wer_equals_jiwer_on_real_hypotheses(real_lists: dict[str, tuple[Path, Path]]) -> None:
    hypotheses, references = hypotheses_and_references(*real_lists["tune"])
    firsts, refs = [texts[0] for texts in hypotheses], [r[0] for r in references]
    for metric, theirs in ((WER(), jiwer.wer), (CER(), jiwer.cer)):
        ours = metric.score(metric.statistics([[text] for text in firsts], references).sum(axis=0))
        assert float(ours) == pytest.approx(100 * theirs(refs, firsts), rel=1e-12)


@given(texts, st.lists(texts, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_edits_to_the_closest_reference_over_the_mean_length(text: str, refs: list[str]) -> None:
    words, others = text.split(), [reference.split() for reference in refs]
    expected = [min(naive.levenshtein(words, other) for other in others), np.mean([len(other) for other in others])]
    assert WER().statistics([[text]], [refs])[0].tolist() == expected


def test_options() -> None:
    assert WER(lowercase=True).statistics([["A b"]], [["a B"]])[0, 0] == 0
    assert CER().statistics([[" a  b"]], [["ab"]]).tolist() == [[2, 2]]  # jiwer counts both spaces
    assert CER(whitespace=False, lowercase=True).statistics([["A  b"]], [["ab"]]).tolist() == [[0, 2]]
    assert WER().signature().startswith("case:mixed|tok:none|version:")
    assert CER(lowercase=True).signature().startswith("case:lc|tok:char|space:yes|version:")


def test_rate_of_empty_references() -> None:
    """TER of an empty corpus is 100 with any edits, as in sacrebleu; WER and CER count 100 for each, as in jiwer."""
    for metric in (TER(), WER(), CER()):
        statistics = metric.statistics([["a b", ""]], [[""]])
        each = [100 * statistics[0, 0], 0]
        assert metric.score(statistics).tolist() == ([100, 0] if isinstance(metric, TER) else each)
        assert metric.sentence_scores(statistics).tolist() == each
