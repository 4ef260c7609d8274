"""Parsing with known tags: every word may only have the symbols of its tag.

If the grammar knows a word, but not with this tag, the word emits like the most specific of its signatures that has the
tag; if none has it, each symbol of the tag emits the word with a probability of 1e-6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.signatures import backed_off, signature

NEVER = 1e-6


class Emissions(NamedTuple):
    """The emissions of a sentence: those of word i are starts[i] to starts[i + 1] of `symbol` and `p`."""

    starts: IntArray
    symbol: IntArray
    p: FloatArray


def tag_symbols(grammar: Grammar) -> dict[str, IntArray]:
    """Return the symbols of each tag: the preterminals whose base is the tag once marks are removed."""
    by_tag: dict[str, list[int]] = {}
    for symbol in np.flatnonzero(grammar.preterminals).tolist():
        by_tag.setdefault(category(grammar.bases[grammar.base[symbol]]), []).append(symbol)
    return {tag: np.array(symbols, np.int32) for tag, symbols in by_tag.items()}


def tagged_emissions(grammar: Grammar, sentence: Sentence, tags: Sequence[str]) -> Emissions:
    """Return the emissions of a sentence with one tag per word. Raises ModelError for a tag that the grammar lacks."""
    known = tag_symbols(grammar)
    symbols: list[IntArray] = []
    ps: list[FloatArray] = []
    for position, (word, tag) in enumerate(zip(sentence, tags, strict=True)):
        if tag not in known:
            some = ", ".join(sorted(known)[:60])
            raise ModelError(f"tag {tag!r} (of {word!r}) is not in the grammar's tag set: {some}")
        emitting, p = _emitted(grammar, word, position, known[tag])
        symbols.append(emitting)
        ps.append(p)
    starts = np.cumsum([0, *map(len, symbols)]).astype(np.int32)
    return Emissions(starts, np.concatenate(symbols), np.concatenate(ps))


def _emitted(grammar: Grammar, word: str, position: int, wanted: IntArray) -> tuple[IntArray, FloatArray]:
    """Return those of the wanted symbols that emit the word, or else a signature of it, and p."""
    lexicon, word = grammar.lexicon, normal_form(word)
    for form in (word, *backed_off(signature(word, position == 0, word.lower() in lexicon))):
        if form in lexicon:
            symbols, logp = lexicon.emissions(form, position)
            fits = np.isin(symbols, wanted)
            if fits.any():
                return symbols[fits], np.exp(logp[fits])
    return wanted, np.full(len(wanted), NEVER)
