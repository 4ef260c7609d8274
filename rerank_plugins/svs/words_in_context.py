"""How probable each word of a sentence is, given its place in the tree, its part of speech and all other words.

In a model of concepts (concept_model.py) a word at the place v with the part of speech c is drawn from the concept of
v. The rest of the tree, without the word itself, predicts this concept by the outside vector of v and the messages of
the content words below it:

    q_v[i]      ∝ o_v[i] · Π_α (L(l_α) e_α)[i]                          the word's own P_H is left out
    P(h | rest) = Σ_i q_v[i] P_H(h | c, i)

All words that could be at v leave the tree as it is, so that Σ_h P(h | rest) = 1 over the words of the part of speech.
The posterior is p_v[i] ∝ q_v[i] P_H(h | c, i). Where P_H is positive, as it is here, q_v is therefore the posterior
divided by P_H, and one pass up and down the tree is enough for all places, O(nK²) for n content words:

    P(h | rest) = 1 / Σ_i p_v[i] / P_H(h | c, i)

The gain of a word is ln P(h | rest) - ln P(h | c), what the others tell about it. The joint gain of a sentence is ln
P(words | tree) - Σ ln P(h | c). If one word of a sentence is replaced by another and the tree stays as it is, then the
joint gain changes by as much as the gain of the word:

    P(words | tree) = P(h | rest) · P(other words | tree)

Function words have no concepts. They have P(h | c), the share of the word in the function words of c, and no gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray, Tree
from rerank_plugins.svs.concept_model import UNKNOWN_FORM, ConceptModel
from rerank_plugins.svs.head_arcs import head_arcs
from rerank_plugins.svs.tree_posteriors import UNKNOWN_ROW, inferred

LEAST_COUNT = 1.0  # of a headword as a content word or as a function word, so that each has a probability
LEAST_RATIO = 1e-6  # of P_H(h | c, i) to P(h | c)
LEAST_TRANSFER = 1e-9  # of P_L, so that a concept which no word with a relation had above it has some below it


class InContext(NamedTuple):
    """T trees of n words."""

    starts: LongArray  # (T + 1) tree t has the words starts[t] to starts[t + 1]
    ln_p: FloatArray  # (n) ln P(word | rest of its tree)
    gain: FloatArray  # (n) ln P(word | rest) - ln P(word | part of speech); 0 of function words
    has_concept: IntArray  # (n) 1 of content words, else 0
    joint: FloatArray  # (T) the joint gain of the content words of each tree


class WordsInContext:
    """The probabilities of words by a model of concepts.

    `types` is the number of types that the unknown words of a part of speech stand for, if not as the model says.
    """

    def __init__(self, model: ConceptModel, types: int | None = None) -> None:
        self.model = model
        names = [name.rpartition("/") for name in model.heads]
        numbers = {part: number for number, part in enumerate(sorted({part for _, _, part in names}))}
        self._part = np.array([numbers[part] for _, _, part in names], np.int64)
        self._ln_types = np.log(
            np.array(
                [
                    (types or model.unknown_types.get(name, 1)) if word == UNKNOWN_FORM else 1
                    for name, (word, _, _) in zip(model.heads, names, strict=True)
                ],
                np.float64,
            )
        )

    def _shares(self, counts: FloatArray) -> FloatArray:
        """(V) P(h | c) by counts of headwords."""
        counts = np.maximum(counts, LEAST_COUNT)
        return np.asarray(counts / np.bincount(self._part, counts)[self._part])

    @cached_property
    def content(self) -> FloatArray:
        """(V) P(h | c) of content words, before that of unknown ones is divided among their types."""
        return self._shares(self.model.used)

    @cached_property
    def _ln_content(self) -> FloatArray:
        return np.log(self.content) - self._ln_types

    @cached_property
    def _ln_function(self) -> FloatArray:
        """(V) ln P(h | c) of function words."""
        return np.log(self._shares(self.model.counts - self.model.used)) - self._ln_types

    @cached_property
    def ratios(self) -> FloatArray:
        """(V, K) P_H(h | c, i) / P(h | c), with which Σ_h P_H(h | c, i) is 1 in each part of speech and concept."""
        ratios = np.maximum(self.model.emission.astype(np.float64), LEAST_RATIO)
        sums = np.zeros((int(self._part.max()) + 1, self.model.concepts))
        np.add.at(sums, self._part, self.content[:, None] * ratios)
        return np.asarray(ratios / sums[self._part])

    @cached_property
    def _transfer(self) -> FloatArray:
        """(R, K, K) P_L, whose rows sum to 1 more closely than those of the file."""
        transfer = np.maximum(self.model.transfer.astype(np.float64), LEAST_TRANSFER)
        return np.asarray(transfer / transfer.sum(axis=2, keepdims=True))

    @property
    def _rarest(self) -> float:
        """Ln p of a word whose part of speech the model does not have."""
        return float(min(self._ln_content.min(), self._ln_function.min()))

    def of_trees(self, trees: Sequence[Tree]) -> InContext:
        """The words of trees in their contexts."""
        arcs = [head_arcs(tree) for tree in trees]
        starts = np.cumsum([0, *(len(arc.words) for arc in arcs)]).astype(np.int64)
        heads = np.array(
            [self.model.head_number(word, tag) for arc in arcs for word, tag in zip(arc.words, arc.tags, strict=True)],
            np.int64,
        )
        given, places = self.model.lay_out(arcs)
        posterior, joint = inferred(given, self.ratios, self._transfer, self.model.root)
        known = given.rule != UNKNOWN_ROW
        ratios = np.where(known[:, None], self.ratios[given.rule], 1.0)
        gain, has_concept = np.zeros(len(heads)), np.zeros(len(heads), np.int32)
        gain[places] = -np.log((posterior / ratios).sum(axis=1))
        has_concept[places] = 1
        alone = np.where(has_concept > 0, self._ln_content[heads], self._ln_function[heads])
        ln_p = np.where(heads == UNKNOWN_ROW, self._rarest, alone) + gain
        return InContext(starts, ln_p, gain, has_concept, joint)
