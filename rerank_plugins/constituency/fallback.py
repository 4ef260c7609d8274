"""Trees for sentences that the grammar cannot parse: long ones are parsed in pieces, others get a flat tree.

A long sentence is cut, after a punctuation mark in the second half of a piece if there is one; the trees of its pieces
are siblings under X, and their ln p add up. A sentence or piece without a derivation gets the most probable tag of
each word under X; its ln p is that of the words given these tags, plus FLOOR for each word in place of the rules.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

from rerank_plugins import ROOT, Parse, Parser, ScoredTree, Sentence, Tree
from rerank_plugins.constituency.grammar import NEVER, Grammar
from rerank_plugins.kit.trees.treebank_cleaning import category

FLOOR = -10.0  # ln p per word in place of the rules, which cost about -3
LABEL = "X"  # the Penn Treebank's label of phrases that could not be bracketed
PUNCTUATION = frozenset(",.;:?!-–—…")
logger = logging.getLogger(__name__)


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


def flat_tree(grammar: Grammar, sentence: Sentence, tags: Sequence[str] | None = None) -> ScoredTree:
    """Return the flat tree of a sentence; without `tags`, each word has the tag that most probably emits it.

    A word that no symbol emits has the tag X.
    """
    preterminals, total = [], 0.0
    for position, word in enumerate(sentence):
        symbols, logp = grammar.lexicon.emissions(word, position)
        tag, ln_p = LABEL, NEVER
        if len(symbols):
            best = int(logp.argmax())
            tag, ln_p = category(grammar.bases[grammar.base[symbols[best]]]), max(float(logp[best]), NEVER)
        preterminals.append(Tree(tags[position] if tags else tag, (word,)))
        total += FLOOR + ln_p
    return ScoredTree(Tree(ROOT, (Tree(LABEL, tuple(preterminals)),)), total)


def in_pieces(sentence: Sentence, longest: int, parse: Callable[[slice], ScoredTree]) -> ScoredTree:
    """Parse a sentence that is too long in pieces; `parse` returns the tree of a piece."""
    return joined([parse(piece) for piece in pieces(sentence, longest)])


def warn(logger: logging.Logger, flat: Sequence[Sentence], long: Sequence[Sentence], longest: int) -> None:
    """Log a warning with the number of sentences that got flat trees, or were parsed in pieces, if there are any."""
    for some, what in ((long, f"of more than {longest} words parsed in pieces"), (flat, "got flat trees")):
        if some:
            logger.warning("%d sentences %s (first: %r)", len(some), what, " ".join(some[0])[:60])


class EverySentence(Parser):
    """A parser that cuts longer sentences into pieces of at most `longest` tokens, at punctuation marks if possible.

    A subclass parses one piece at a time, in `piece`.
    """

    longest: int

    @abstractmethod
    def piece(self, tokens: Sentence, flat: list[Sentence]) -> Sequence[ScoredTree]:
        """One or more trees of a sentence or piece, best first; the words of a flat tree are appended to `flat`."""

    def words(self, tokens: Sentence) -> tuple[str, ...]:
        """The words of the tokens, at which long sentences are cut."""
        return tuple(tokens)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; only an empty sentence has none (`Parse()`)."""
        from rerank_plugins.kit.charts.inside import sharing_order

        parses = [Parse()] * len(sentences)
        flat: list[Sentence] = []
        long: list[Sentence] = []
        for place in sharing_order(sentences):
            tokens = tuple(sentences[place])
            if len(tokens) > self.longest:
                long.append(tokens)
                cut = in_pieces(self.words(tokens), self.longest, lambda at: self.piece(tokens[at], flat)[0])  # noqa: B023
                parses[place] = Parse(None, (cut,))
            elif tokens:
                parses[place] = Parse(None, self.piece(tokens, flat))
        warn(logger, flat, long, self.longest)
        return parses
