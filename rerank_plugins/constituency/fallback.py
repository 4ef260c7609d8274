"""Trees for sentences that the grammar cannot parse: long ones are parsed in pieces, others get a flat tree.

- A sentence of more than `longest` words is cut, after a punctuation mark in the second half of a piece if there is
  one. The pieces are parsed, and their trees are siblings under X; ln p is the sum over the pieces.
- A sentence or piece without a derivation gets a flat tree: the most probable tag of each word, under X. Its ln p is
  that of the words given these tags, plus FLOOR for each word in place of the rules.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.core.constituency_tree import ROOT, Tree
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.kit.trees.treebank_cleaning import category

FLOOR = -10.0  # ln p per word in place of the rules, which cost about -3
LABEL = "X"  # the Penn Treebank's label of phrases that could not be bracketed
PUNCTUATION = frozenset(",.;:?!-–—…")


def pieces(sentence: Sentence, longest: int) -> Iterator[slice]:
    """Yield the slices of a sentence that are its pieces of at most `longest` words."""
    start = 0
    while len(sentence) - start > longest:
        later = range(start + longest, start + (longest + 1) // 2, -1)
        end = next((end for end in later if sentence[end - 1] in PUNCTUATION), start + longest)
        yield slice(start, end)
        start = end
    yield slice(start, len(sentence))


def joined(parsed: Sequence[ScoredTree]) -> ScoredTree:
    """Join the trees of pieces: ROOT over X over the children of their roots."""
    below = tuple(child for tree, _ in parsed for child in tree.subtrees)
    return ScoredTree(Tree(ROOT, (Tree(LABEL, below),)), sum(logp for _, logp in parsed))


def flat(grammar: Grammar, sentence: Sentence, tags: Sequence[str] | None = None) -> ScoredTree:
    """Return the flat tree of a sentence; without `tags`, each word has the tag that most probably emits it."""
    preterminals, total = [], 0.0
    for position, word in enumerate(sentence):
        symbols, logp = grammar.lexicon.emissions(word, position)
        best = int(logp.argmax())
        tag = category(grammar.bases[grammar.base[symbols[best]]])
        preterminals.append(Tree(tags[position] if tags else tag, (word,)))
        total += FLOOR + float(logp[best])
    return ScoredTree(Tree(ROOT, (Tree(LABEL, tuple(preterminals)),)), total)


def in_pieces(sentence: Sentence, longest: int, parse: Callable[[slice], ScoredTree]) -> ScoredTree:
    """Parse a sentence that is too long in pieces; `parse` returns the tree of a piece."""
    return joined([parse(piece) for piece in pieces(sentence, longest)])


def warn(logger: logging.Logger, flat: Sequence[Sentence], long: Sequence[Sentence], longest: int) -> None:
    """Log a warning with the number of sentences that got flat trees, or were parsed in pieces, if there are any."""
    for some, what in ((long, f"of more than {longest} words parsed in pieces"), (flat, "got flat trees")):
        if some:
            logger.warning("%d sentences %s (first: %r)", len(some), what, " ".join(some[0])[:60])
