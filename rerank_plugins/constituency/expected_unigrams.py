"""The unigram distribution of the words in the sentences that a grammar generates.

    p(w) = Σ_t E[t] p(w | t) / (1 + Σ_t E[t] Σ_w p(w | t))          p(</s>) = 1 / (1 + Σ_t E[t] Σ_w p(w | t))

with E[t] the expected number of the preterminal t in a tree (expectations.py). For a grammar by relative frequencies,
these are the relative frequencies of the words in its treebank (Chi 1999), and so they are for latent states after EM;
smoothed and added words have the probabilities of the lexicon. The bounds of an incremental parser's store are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.constituency.expectations import expected_counts
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.interfaces import Sentence

NEVER = -30.0  # the least ln p, for a word that no symbol emits


def ln_unigrams(grammar: Grammar) -> FloatArray:
    """Return (W + 1) ln p of each word of the lexicon, including signatures, and of the end of a sentence."""
    lexicon = grammar.lexicon
    expected = expected_counts(grammar)[lexicon.symbols] * np.exp(lexicon.logp)
    counts = np.append(np.bincount(lexicon.word_of, expected, len(lexicon.words)), 1.0)
    with np.errstate(divide="ignore"):
        ln_p = np.log(counts / counts.sum())
    return np.asarray(np.maximum(ln_p, NEVER), np.float64)


def unigram_scores(
    grammar: Grammar, ln_p: FloatArray, sentences: Sequence[Sentence], longest: int | None = None
) -> list[FloatArray]:
    """Return ln p of each word by `ln_unigrams`, with the end of the sentence last; unknown words are signatures.

    A sentence is cut into pieces of `longest` words, if there is such a bound; each piece begins like a sentence.
    """
    scores = []
    for sentence in sentences:
        step = longest or max(1, len(sentence))
        pieces = [grammar.lexicon.ids(sentence[start : start + step]) for start in range(0, len(sentence), step)]
        scores.append(ln_p[np.concatenate([*pieces, [-1]]).astype(np.int64)])
    return scores
