"""The empirical model: a treebank's reductions and expansions counted, with the grammar that smooths them.

Below ROOT unary chains are one symbol with what they end in (S over VP is S+VP), so that all phrases have two children,
as the right-corner transform wants them; the parser takes them apart again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rerank_plugins.errors import ConfigError, FormatError
from rerank_plugins.models.hhmm.counting import Events, count_events
from rerank_plugins.models.pcfg.grammar import Grammar
from rerank_plugins.models.pcfg.split_merge import Schedule
from rerank_plugins.models.pcfg.tagged_words import Tagged
from rerank_plugins.models.pcfg.training import GrammarSettings, plant_treebanks
from rerank_plugins.models.pcfg.treebank_grammar import treebank_grammar
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.unaries import JOINED, join_unaries


def counting_settings(language: str) -> GrammarSettings:
    """How trees are binarised for counting: to the left, new symbols with a sibling, no latent splits."""
    return GrammarSettings(language, "left", horizontal=1, schedule=Schedule(rounds=0))


class Empirical(NamedTuple):
    """A grammar of joined trees, and the events of the same trees."""

    grammar: Grammar
    events: Events


def joined(tree: Tree) -> Tree:
    """The tree with its unary chains joined, but for ROOT, which stays at the top.

    Raises FormatError for a label with + in it.

    >>> from rerank_plugins.trees.constituency import read_trees
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
    """The model of treebanks, each of whose trees counts as often as its weight says; for a store of `depth` elements.

    Raises FormatError where there are no trees or none fits in the store, ConfigError for latent splits: they cannot be
    counted in trees.
    """
    if settings.schedule.rounds:
        raise ConfigError(f"{settings.schedule.rounds} rounds of latent splits: events are counted in trees without")
    planted = plant_treebanks(trees, weights, settings, tagged, joined)
    events = count_events(planted.forest, depth, strength)
    made = {**planted.settings, "unaries": JOINED}
    return Empirical(treebank_grammar(planted.forest, settings.smoothing, made, planted.tagged), events)
