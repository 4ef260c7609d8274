"""Affiliates each target word with a source word (Devlin et al. 2014, section 2.1).

A linked word is affiliated with its source word, and a word without a link with the source word of the nearest linked
word of the target sentence; of two that are equally near, with that of the one to the right. The alignment models of
this package link a target word to at most one source word, so that there is no middle of several to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.core.arrays import LongArray

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel


def affiliations(alignment: WordAlignmentModel, source: str, targets: Sequence[str]) -> list[LongArray]:
    """The source word, from 0, of each word of each target text; an array of 0 words for a text without words."""
    words = alignment.words_of(source)
    sentences = [alignment.words_of(text) for text in targets]
    with_words = [sentence for sentence in sentences if sentence]
    if not words or not with_words:
        return [np.zeros(len(sentence), np.int64) for sentence in sentences]
    aligned = alignment.align(words, with_words, ln_p=False, backward=False)
    parts = iter(np.split(aligned.forward, np.cumsum([len(sentence) for sentence in with_words])[:-1]))
    return [filled(next(parts), len(words)) if sentence else np.zeros(0, np.int64) for sentence in sentences]


def filled(links: LongArray, length: int) -> LongArray:
    """The affiliations of words that have `links`, -1 for none; where no word has a link, of equal positions.

    `length` is the number of source words.
    """
    places = np.arange(len(links))
    linked = np.flatnonzero(links >= 0)
    if not len(linked):
        return np.minimum(places, length - 1)
    right = np.minimum(np.searchsorted(linked, places), len(linked) - 1)  # the first linked word at or after each
    left = np.maximum(right - 1, 0)
    left_is_nearer = np.abs(places - linked[left]) < np.abs(places - linked[right])
    return np.asarray(links[linked[np.where(left_is_nearer, left, right)]], np.int64)
