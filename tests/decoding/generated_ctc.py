"""Log-probabilities as a recogniser of characters would give them, generated from a text with noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.arrays import FloatArray

BLANK = ""


def labels_of(sentences: Sequence[Sequence[str]]) -> list[str]:
    """The labels for these sentences: the blank, the space, and all their characters."""
    return [BLANK, " ", *sorted({character for words in sentences for word in words for character in word})]


def noisy_log_probs(
    words: Sequence[str],
    labels: Sequence[str],
    rng: np.random.Generator,
    *,
    certainty: float = 7.0,
    noise: float = 1.5,
    confused: float = 0.15,
) -> FloatArray:
    """(frames, labels) ln p of the text with spaces between words; each row sums to one.

    Each character has one or two frames and perhaps a blank frame after it, always one between equal characters. The
    logit of a frame's label is `certainty`, all logits get normal noise of standard deviation `noise`, and a share
    `confused` of the characters compete with another character whose logit is lower by one in all their frames.
    """
    number = {label: i for i, label in enumerate(labels)}
    text = " ".join(words)
    frames = []
    for place, character in enumerate(text):
        logits = np.zeros(len(labels))
        logits[number[character]] = certainty
        if rng.random() < confused:
            rival = rng.integers(1, len(labels))
            logits[rival] = max(logits[rival], certainty - 1)
        frames += [logits] * int(rng.integers(1, 3))
        if text[place + 1 : place + 2] == character or rng.random() < 0.3:
            blank = np.zeros(len(labels))
            blank[number[BLANK]] = certainty
            frames.append(blank)
    values = np.stack(frames) if frames else np.zeros((1, len(labels)))
    values = values + noise * rng.standard_normal(values.shape)
    normalised: FloatArray = values - np.logaddexp.reduce(values, axis=1, keepdims=True)
    return normalised
