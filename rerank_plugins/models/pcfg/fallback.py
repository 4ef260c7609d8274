"""Trees for sentences that the grammar does not parse: too long ones in pieces, underivable ones flat.

- A sentence of more than `longest` words is cut after punctuation (in the second half of a piece, where there is some),
  its pieces are parsed, and stand side by side under X: ln p is that of the pieces, summed.
- A sentence (or piece) without a derivation is its words' likeliest tags under X: ln p is that of the words given these
  tags, and FLOOR for each word in place of the rules.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from rerank_plugins.interfaces import ScoredTree, Sentence
from rerank_plugins.models.pcfg.grammar import Grammar
from rerank_plugins.trees.cleaning import category
from rerank_plugins.trees.constituency import ROOT, Tree

FLOOR = -10.0  # ln p a word: rules cost about 3
LABEL = "X"  # the Penn Treebank's label for what nobody can bracket
PUNCTUATION = frozenset(",.;:?!-–—…")


def pieces(sentence: Sentence, longest: int) -> Iterator[slice]:
    """Cuts of a sentence into pieces of at most `longest` words."""
    start = 0
    while len(sentence) - start > longest:
        later = range(start + longest, start + (longest + 1) // 2, -1)
        end = next((end for end in later if sentence[end - 1] in PUNCTUATION), start + longest)
        yield slice(start, end)
        start = end
    yield slice(start, len(sentence))


def joined(parsed: Sequence[ScoredTree]) -> ScoredTree:
    """Trees of pieces as one: ROOT over X over what is below their roots."""
    below = tuple(child for tree, _ in parsed for child in tree.subtrees)
    return ScoredTree(Tree(ROOT, (Tree(LABEL, below),)), sum(logp for _, logp in parsed))


def flat(grammar: Grammar, sentence: Sentence, tags: Sequence[str] | None = None) -> ScoredTree:
    """The flat tree of a sentence: for every word the tag that most probably emits it, or the one that is given."""
    preterminals, total = [], 0.0
    for position, word in enumerate(sentence):
        symbols, logp = grammar.lexicon.emissions(word, position)
        best = int(logp.argmax())
        tag = category(grammar.bases[grammar.base[symbols[best]]])
        preterminals.append(Tree(tags[position] if tags else tag, (word,)))
        total += FLOOR + float(logp[best])
    return ScoredTree(Tree(ROOT, (Tree(LABEL, tuple(preterminals)),)), total)


def in_pieces(sentence: Sentence, longest: int, parse: Callable[[slice], ScoredTree]) -> ScoredTree:
    """The tree of a sentence that is too long; `parse` gives that of a piece."""
    return joined([parse(piece) for piece in pieces(sentence, longest)])


def warn(logger: logging.Logger, flat: Sequence[Sentence], long: Sequence[Sentence], longest: int) -> None:
    """Say in the log how many sentences got such trees, where there are some."""
    for some, what in ((long, f"of more than {longest} words parsed in pieces"), (flat, "got flat trees")):
        if some:
            logger.warning("%d sentences %s (first: %r)", len(some), what, " ".join(some[0])[:60])
