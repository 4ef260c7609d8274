"""How frequent words are by a grammar: the unigram distribution of the sentences that it generates.

    p(w) = Σ_t E[t] p(w | t) / (1 + Σ_t E[t] Σ_w p(w | t))          p(</s>) = 1 / (1 + Σ_t E[t] Σ_w p(w | t))

with E[t] how often the preterminal t is expected in a tree (expectations.py). Of a grammar by relative frequencies
these are the relative frequencies of the words in its treebank (Chi 1999), and so they are of latent states after EM;
smoothed and added words have what the lexicon gives them. The bounds of an incremental parser's store are left out of
account.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.interfaces import Sentence
from rerank_plugins.models.pcfg.expectations import expected_counts
from rerank_plugins.models.pcfg.grammar import Grammar

NEVER = -30.0  # ln p of a word that no symbol emits


def ln_unigrams(grammar: Grammar) -> FloatArray:
    """(W + 1) ln p of each word of the lexicon, signatures among them, and of the end of a sentence."""
    lexicon = grammar.lexicon
    expected = expected_counts(grammar)[lexicon.symbols] * np.exp(lexicon.logp)
    counts = np.append(np.bincount(lexicon.word_of, expected, len(lexicon.words)), 1.0)
    with np.errstate(divide="ignore"):
        ln_p = np.log(counts / counts.sum())
    return np.asarray(np.maximum(ln_p, NEVER), np.float64)


def unigram_scores(
    grammar: Grammar, ln_p: FloatArray, sentences: Sequence[Sentence], longest: int | None = None
) -> list[FloatArray]:
    """Ln p of each word, the end of the sentence last, by `ln_unigrams`; unknown words are signatures.

    Where a sentence is cut after `longest` words, each piece begins like a sentence.
    """
    scores = []
    for sentence in sentences:
        step = longest or max(1, len(sentence))
        pieces = [grammar.lexicon.ids(sentence[start : start + step]) for start in range(0, len(sentence), step)]
        scores.append(ln_p[np.concatenate([*pieces, [-1]]).astype(np.int64)])
    return scores
