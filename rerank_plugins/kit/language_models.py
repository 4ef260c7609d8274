"""Uses of language models: required abilities, steps for many states, and scores over a trie of prefixes.

In sorted order, a sentence shares its longest common prefix with the sentence just before it, so that a stack of
states represents the whole trie: each distinct prefix is advanced once, and memory is that of one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.interfaces import BatchedLM, HasUnigrams, IncrementalLM, LanguageModel, Sentence, SentenceModel
from rerank_plugins.core.sentences import check_sentences

UNPARSED = math.log(1e-4)
UNFINISHED = math.log(1e-6)


class ScoredSentence(NamedTuple):
    """A sentence of the walk: its number, ln p of each word, and the states, `start` first.

    The walk changes both lists in place when it goes on to the next sentence.
    """

    number: int
    ln_p: list[float]
    states: list[Any]


def walk(model: IncrementalLM[Any], sentences: Sequence[Sentence]) -> Iterator[ScoredSentence]:
    """Yield every sentence in sorted order; each distinct prefix is advanced once.

    >>> class Length:
    ...     def start(self): return 0
    ...     def advance(self, state, word): print(word); return -1.0, state + 1
    ...     def finish(self, state): return 0.0
    >>> for number, ln_p, states in walk(Length(), [["b", "c"], ["a"], ["b"]]):
    ...     print(number, ln_p, states)
    a
    1 [-1.0] [0, 1]
    b
    2 [-1.0] [0, 1]
    c
    0 [-1.0, -1.0] [0, 1, 2]
    """
    check_sentences(sentences)
    words: list[str] = []
    ln_p: list[float] = []
    states = [model.start()]
    for number in sorted(range(len(sentences)), key=lambda i: tuple(sentences[i])):
        sentence = sentences[number]
        shared = 0
        while shared < min(len(words), len(sentence)) and words[shared] == sentence[shared]:
            shared += 1
        del words[shared:], ln_p[shared:], states[shared + 1 :]
        for word in sentence[shared:]:
            value, state = model.advance(states[-1], word)
            words.append(word)
            ln_p.append(value)
            states.append(state)
        yield ScoredSentence(number, ln_p, states)


def with_words(model: SentenceModel, where: str) -> LanguageModel:
    """Return the model if it gives probabilities to words, and raise ConfigError, which begins with `where`, if not."""
    if not isinstance(model, LanguageModel):
        raise ConfigError(
            f"{where}: the model gives no probabilities of single words, only of whole sentences; wanted a language "
            "model of words, such as ngram-lm, hhmm-lm or pcfg"
        )
    return model


def with_unigrams(model: SentenceModel) -> HasUnigrams:
    """Return the model if it has unigrams of its own, and raise ModelError otherwise."""
    if not isinstance(model, HasUnigrams):
        raise ModelError(
            f"the language model {type(model).__name__} has no unigrams of its own (the method 'unigram_scores'): "
            "name a unigram model with the option 'unigram'"
        )
    return model


def advance_all(model: IncrementalLM[Any], states: Sequence[Any], words: Sequence[str]) -> tuple[FloatArray, list[Any]]:
    """(n) states and their next words -> (n) ln p(word | state), and the (n) states after them."""
    if isinstance(model, BatchedLM):
        return model.advance_all(states, words)
    ln_p, after = np.empty(len(states)), []
    for i, (state, word) in enumerate(zip(states, words, strict=True)):
        ln_p[i], next_state = model.advance(state, word)
        after.append(next_state)
    return ln_p, after


def finish_all(model: IncrementalLM[Any], states: Sequence[Any]) -> FloatArray:
    """(n) states -> (n) ln p(</s> | state)."""
    if isinstance(model, BatchedLM):
        return model.finish_all(states)
    return np.array([model.finish(state) for state in states], np.float64)
