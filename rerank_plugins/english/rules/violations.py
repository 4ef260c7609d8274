"""Computes the values of the feature `grammar-violations` from the dependency tree of a sentence.

Rules count what they violate, so that their values are minus counts; the others are sums of ln probabilities.
"""

from __future__ import annotations

from collections.abc import Callable

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.lexicon.frames import animacy, bare_nouns, frames
from rerank_plugins.english.rules.agreement import determiner_noun, reflexives, subject_verb
from rerank_plugins.english.rules.binding import unbound_reflexives, wrong_case
from rerank_plugins.english.rules.extraction import extraction, severed_determiners
from rerank_plugins.english.rules.polarity import unlicensed_polarity_items
from rerank_plugins.english.rules.quantifiers import adjectives_without_noun, negated_superlatives, strong_existentials
from rerank_plugins.english.rules.raising import expletives_with_roles, wrong_gaps_of_adjectives
from rerank_plugins.english.rules.verb_forms import wrong_verb_forms
from rerank_plugins.english.tree_view import TreeView

RULES: dict[str, Callable[[TreeView, Lexicon], int]] = {
    "subject_verb": subject_verb,
    "determiner_noun": determiner_noun,
    "reflexive_agreement": reflexives,
    "reflexive_place": unbound_reflexives,
    "case": wrong_case,
    "verb_form": wrong_verb_forms,
    "polarity": lambda view, _: unlicensed_polarity_items(view),
    "existential": lambda view, _: strong_existentials(view),
    "superlative": lambda view, _: negated_superlatives(view),
    "ellipsis": lambda view, _: adjectives_without_noun(view),
    "expletive": expletives_with_roles,
    "tough": wrong_gaps_of_adjectives,
    "left_branch": lambda view, _: severed_determiners(view),
}
OTHERS = ("islands", "stranded", "fillers", "frames", "animacy", "bare_nouns")
VALUES = (*RULES, *OTHERS)


def grammar_values(tree: DependencyTree, lexicon: Lexicon) -> list[float]:
    """VALUES of a tree: minus the number of violations, then ln probabilities; all at most 0."""
    view = TreeView(tree)
    moved = extraction(view, lexicon)
    return [
        *(0.0 - rule(view, lexicon) for rule in RULES.values()),
        0.0 - moved.islands,
        0.0 - moved.stranded,
        moved.ln_p,
        frames(view, lexicon, moved.gaps),
        animacy(view, lexicon),
        bare_nouns(view, lexicon),
    ]
