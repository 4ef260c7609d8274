"""BLEU, chrF and TER give sacrebleu's scores to the last digit: real lists, several references, all options."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import HealthCheck, given, settings

from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF, ChrFPlusPlus
from rerank_adapters.metrics.sacrebleu_conventions import WORD_BY_WORD, bleu_tokenizer, full_signature
from rerank_adapters.metrics.ter import TER
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.metrics_and_tuners import Metric
from tests.metrics.metric_texts import hypotheses_and_references, odd_texts, segments

logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # it dislikes tokenised text

Case = tuple[Metric, Any]
CASES: dict[str, Case] = {
    "bleu": (Bleu(), sacrebleu.BLEU()),
    "bleu none": (Bleu("none"), sacrebleu.BLEU(tokenize="none")),
    "bleu intl lc": (Bleu("intl", lowercase=True), sacrebleu.BLEU(tokenize="intl", lowercase=True)),
    "bleu char": (Bleu("char"), sacrebleu.BLEU(tokenize="char")),
    "bleu zh": (Bleu("zh"), sacrebleu.BLEU(tokenize="zh")),
    "chrf": (ChrF(), sacrebleu.CHRF()),
    "chrf++": (ChrFPlusPlus(), sacrebleu.CHRF(word_order=2)),
    "chrf lc eps": (ChrF(lowercase=True, eps_smoothing=True), sacrebleu.CHRF(lowercase=True, eps_smoothing=True)),
    "chrf orders": (
        ChrF(char_order=3, word_order=1, beta=1, whitespace=True),
        sacrebleu.CHRF(char_order=3, word_order=1, beta=1, whitespace=True),
    ),
    "ter": (TER(), sacrebleu.TER()),
    "ter case": (TER(case_sensitive=True, no_punct=True), sacrebleu.TER(case_sensitive=True, no_punct=True)),
    "ter norm": (
        TER(normalized=True, asian_support=True, no_punct=True),
        sacrebleu.TER(normalized=True, asian_support=True, no_punct=True),
    ),
}
each = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def ragged(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """sacrebleu's layout: reference k of all segments, None where a segment has fewer."""
    most = max(map(len, references))
    return [[refs[k] if k < len(refs) else None for refs in references] for k in range(most)]


def check_against(case: Case, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Segment statistics and corpus score of all hypotheses, each standing for a segment of its own."""
    metric, theirs = case
    repeated = [refs for hyps, refs in zip(hypotheses, references, strict=True) for _ in hyps]
    flat = [text for hyps in hypotheses for text in hyps]
    ours = metric.statistics(hypotheses, references)
    if not flat:
        assert ours.shape[0] == 0
        return
    expected = theirs._extract_corpus_statistics(flat, ragged(repeated))
    np.testing.assert_array_equal(ours, np.array(expected, float))
    score = theirs.corpus_score(flat, ragged(repeated)).score
    assert float(metric.score(ours.sum(axis=0))) == pytest.approx(score, rel=1e-13, abs=1e-13)


@each
@given(data=segments)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_statistics_and_score_on_any_text(case: Case, data: list[tuple[list[str], list[str]]]) -> None:
    check_against(case, [hypotheses for hypotheses, _ in data], [references for _, references in data])


@each
def test_real_lists_with_one_and_several_references(case: Case, real_lists: dict[str, tuple[Path, Path]]) -> None:
    hypotheses, references = hypotheses_and_references(*real_lists["tune"])
    chosen = [texts[::40] for texts in hypotheses[::8]]
    check_against(case, chosen, references[::8])
    more = [
        [*refs, texts[7 % len(texts)], texts[-1]][: 1 + s % 3]
        for s, (refs, texts) in enumerate(zip(references, hypotheses, strict=True))
    ]
    check_against(case, [texts[:40:19] for texts in hypotheses[::10]], more[::10])


@each
def test_empty_texts(case: Case) -> None:
    check_against(case, [["", "a b"], [""], ["a b c d e"]], [["", "a"], [""], ["a b c d e"]])


@each
def test_signature(case: Case) -> None:
    metric, theirs = case
    theirs.corpus_score(["a"], [["a"], ["b"]])
    beta = f"|beta:{getattr(metric, 'beta', 2)}"  # which sacrebleu says in the metric's name
    assert full_signature(metric, 2).replace(beta, "") == str(theirs.get_signature())
    theirs.corpus_score(["a", "b"], [["a", "a"], ["b", None]])
    assert full_signature(metric, None).replace(beta, "") == str(theirs.get_signature())


@each
def test_score_of_many_totals_equals_the_score_of_each(case: Case) -> None:
    metric, theirs = case
    texts = [["a b c d e f", "f e d c b a", "x", "a b"], ["c d e f g h i", "", "h g f i e d c"]]
    statistics = metric.statistics(texts, [["a b c d f e", "a b"], ["c d e f g h i"]])
    grid = (statistics[:, None] + statistics[None]) * np.arange(4)[:, None, None, None]
    ours = metric.score(grid)
    assert ours.shape == grid.shape[:-1]
    for index in np.ndindex(ours.shape):
        expected = theirs._compute_score_from_stats([float(x) for x in grid[index]]).score
        assert ours[index] == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("name", sorted(WORD_BY_WORD))
@given(text=odd_texts)
@settings(max_examples=100, deadline=None)
def test_tokenizers_called_word_by_word_work_word_by_word(name: str, text: str) -> None:
    tokenizer = bleu_tokenizer(name)
    assert [token for word in text.split() for token in tokenizer(word).split()] == tokenizer(text.rstrip()).split()


def test_a_line_break_within_a_text_is_sacrebleus_business() -> None:
    text = "a hyphen-\nated word\nand more"
    check_against((Bleu(), sacrebleu.BLEU()), [[text, "a hyphenated word"]], [[text, "a hyphenated word"]])


def test_unknown_tokenizer_is_named() -> None:
    with pytest.raises(ConfigError, match=r"no tokenizer '13'; did you mean '13a'"):
        Bleu("13").statistics([["a"]], [["a"]])


def test_tokenizer_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise RuntimeError("Please install the Japanese dictionary.\nMore.")

    monkeypatch.setattr("sacrebleu.metrics.bleu._get_tokenizer", missing)
    bleu_tokenizer.cache_clear()
    with pytest.raises(ConfigError, match=r"'ja-mecab' cannot be used: Please install the Japanese dictionary\.$"):
        Bleu("ja-mecab").signature()
    bleu_tokenizer.cache_clear()
