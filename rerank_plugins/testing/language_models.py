"""The contract of language models, from left to right and of sentences."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.contracts import checked_scores, checked_totals
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import BatchedLM, HasUnigrams, IncrementalLM, LanguageModel, Sentence, SentenceModel
from rerank_plugins.testing.samples import SENTENCES, assertions, check_options


@assertions
def check_language_model(model: SentenceModel, sentences: Iterable[Sentence] = ()) -> None:
    """Check that a language model keeps its contract; `sentences` are samples of your own, checked beside ours.

    - `totals` are natural logs: float64, finite and not above 0 (to 1e-6), also for unknown words and no words.
    - A `LanguageModel` gives n + 1 such logs for n words, that of `</s>` last, and `totals` are their sums.
    - Scores do not depend on the order of the sentences; a pickled copy gives the same.
    - The unigram scores of a model that has them (`HasUnigrams`, without a ModelError) have the same shape and range,
      do not depend on the surrounding words, and give `</s>` the same value in every sentence.
    """
    check_options("language_model", model)
    texts = [*sentences, *(text.split() for text in SENTENCES)]
    scores = _values(model, texts)
    for sentence, values in zip(texts, scores, strict=True):
        _check_ln(sentence, values, len(sentence) + 1 if isinstance(model, LanguageModel) else 1)
    sums = [values.sum() for values in scores]
    np.testing.assert_allclose(model.totals(texts), sums, 1e-5, 1e-4, err_msg="totals must be the sums of score")
    whole, turned = np.concatenate(scores), np.concatenate(_values(model, texts[::-1])[::-1])
    np.testing.assert_allclose(turned, whole, 1e-9, err_msg="scores must not depend on the order of sentences")
    copied = _values(pickle.loads(pickle.dumps(model)), texts)
    np.testing.assert_allclose(np.concatenate(copied), whole, 1e-9, err_msg="a pickled copy must agree")
    if isinstance(model, HasUnigrams):
        _check_unigrams(model, texts)


def _values(model: SentenceModel, texts: Sequence[Sentence]) -> list[FloatArray]:
    """Ln p of the words of each sentence, or of the sentence alone where the model has no words."""
    if isinstance(model, LanguageModel):
        return checked_scores(model, texts)
    return list(checked_totals(model, texts)[:, None])


def _check_ln(sentence: Sentence, values: FloatArray, wanted: int) -> None:
    """Check that there are so many values, and that each is the natural log of a probability."""
    assert values.shape == (wanted,), f"{sentence}: {values.shape[0]} values, wanted {wanted}"
    assert values.dtype == np.float64, f"{sentence}: type {values.dtype}, wanted float64"
    assert np.isfinite(values).all(), f"{sentence}: ln p must be finite, found {values}"
    assert (values <= 1e-6).all(), f"{sentence}: ln p must not be above 0, found {values.max()}"


def _check_unigrams(model: HasUnigrams, texts: Sequence[Sentence]) -> None:
    try:
        whole = checked_scores(model, texts, "unigram_scores")
    except ModelError:  # this model's file has none
        return
    turned = model.unigram_scores([[*text[:1], *text[:0:-1]] for text in texts])  # all words but the first reversed
    for sentence, values, others in zip(texts, whole, turned, strict=True):
        _check_ln(sentence, values, len(sentence) + 1)
        assert values[-1] == whole[0][-1], "the unigram ln p of </s> must be the same in all sentences"
        same = np.concatenate([others[:1], others[1:-1][::-1], others[-1:]]) if sentence else others
        np.testing.assert_array_equal(same, values, "unigram ln p must not depend on the surrounding words")


@assertions
def check_incremental_lm(model: IncrementalLM[Any], sentences: Iterable[Sentence] = (), atol: float = 1e-4) -> None:
    """Check that an incremental language model keeps its contract; `sentences` are samples of your own.

    - States are values: advancing from a state does not change it, so advancing again gives the same ln p.
    - The ln p of a word is not above 0 (to 1e-6).
    - The values of `advance` and `finish` sum to those of `score`, within `atol`, if the model is a `LanguageModel`.
    - Steps from many states in one call, if the model is a `BatchedLM`, have the values of single steps, within `atol`.
    """
    steps: list[tuple[Any, str]] = []
    for sentence in [*sentences, *(text.split() for text in SENTENCES)]:
        state, total = model.start(), 0.0
        for word in sentence:
            first, following = model.advance(state, word)
            model.advance(state, "another")
            second, _ = model.advance(state, word)
            assert first == second, f"advance({word!r}) changed the state that it started from"
            assert first <= 1e-6, f"ln p({word!r}) must not be above 0, found {first}"
            steps.append((state, word))
            state, total = following, total + first
        total += model.finish(state)
        if isinstance(model, LanguageModel):
            whole = float(model.score([sentence])[0].sum())
            assert abs(whole - total) <= atol, f"{sentence}: steps sum to {total}, the sentence has {whole}"
    if isinstance(model, BatchedLM):
        _check_batches(model, steps, atol)


def _check_batches(model: Any, steps: Sequence[tuple[Any, str]], atol: float) -> None:
    states, words = [state for state, _ in steps], [word for _, word in steps]
    values, following = model.advance_all(states, words)
    assert len(following) == len(steps), f"advance_all: {len(following)} states after {len(steps)} steps"
    alone = [model.advance(state, word) for state, word in steps]
    np.testing.assert_allclose(values, [ln_p for ln_p, _ in alone], 0, atol, err_msg="advance_all and advance differ")
    np.testing.assert_allclose(
        model.finish_all(following), [model.finish(state) for _, state in alone], 0, atol,
        err_msg="after advance_all and after advance, the states differ",
    )  # fmt: skip
    assert len(model.advance_all([], [])[0]) == len(model.finish_all([])) == 0, "of no states there are no values"
