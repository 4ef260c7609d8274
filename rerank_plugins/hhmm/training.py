"""Trains the empirical model: counts of a treebank's reductions and expansions, with the grammar that smooths them.

Below ROOT, a unary chain is joined to one symbol with the node at its end (S over VP becomes S+VP), so that all phrases
have two children, as the right-corner transform requires; the parser splits these symbols again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import Tagged
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, plant_treebanks
from rerank_plugins.constituency.treebank_grammar import treebank_grammar
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.hhmm.event_counts import Events, count_events
from rerank_plugins.kit.trees.binarisation import JOINED, join_unaries


def counting_settings(language: str) -> GrammarSettings:
    """Return settings for counting: left binarisation, new symbols know one sibling, no latent splits."""
    return GrammarSettings(language, "left", horizontal=1, schedule=Schedule(rounds=0))


class Empirical(NamedTuple):
    """A grammar of trees with joined unary chains, and the event counts of the same trees."""

    grammar: Grammar
    events: Events


def joined(tree: Tree) -> Tree:
    """Return the tree with its unary chains joined, except for ROOT, which remains at the top.

    Raises FormatError for a label that contains +.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> str(joined(*read_trees(["(ROOT (S (VP (VB Go))))"])))
    '(ROOT (S+VP+VB Go))'
    """
    try:
        if len(tree.subtrees) == 1:
            return Tree(tree.label, (join_unaries(tree.subtrees[0]),))
        return join_unaries(tree)
    except ValueError as error:
        raise FormatError(f"{error}: unary chains cannot be joined") from None


def train_empirical(
    trees: Sequence[Sequence[Tree]],
    weights: Sequence[float],
    settings: GrammarSettings,
    depth: int = 4,
    strength: float = 1.0,
    tagged: Tagged | None = None,
) -> Empirical:
    """Train a model with a store of `depth` elements on treebanks; the trees of each count with its weight.

    `strength` is κ of the smoothing (interpolation.py); `tagged` words are added to the lexicon. Raises FormatError if
    there are no trees or none fits in the store, ConfigError for settings with latent splits, whose events cannot be
    counted in trees.
    """
    if settings.schedule.rounds:
        raise ConfigError(
            f"{settings.schedule.rounds} rounds of latent splits, wanted 0: their events cannot be counted"
        )
    planted = plant_treebanks(trees, weights, settings, tagged, joined)
    events = count_events(planted.forest, depth, strength)
    recorded = {**planted.settings, "unaries": JOINED}
    return Empirical(treebank_grammar(planted.forest, settings.smoothing, recorded, planted.tagged), events)
