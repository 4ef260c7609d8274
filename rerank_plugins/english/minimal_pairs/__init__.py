"""Makes minimal pairs from dependency trees: a good sentence, and one that breaks a rule of English grammar.

Each rule is a function from a Setting to pairs, named for its phenomenon. The good sentence is that of the tree, or is
made of it by a change that keeps it good (a question, an embedded clause). Rules are chosen by KINDS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from rerank_plugins import DependencyTree
from rerank_plugins.english.english_lexicon import Lexicon
from rerank_plugins.english.minimal_pairs import agreement, arguments, extraction, quantifiers
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting
from rerank_plugins.english.tree_view import TreeView

KINDS: dict[str, tuple[Callable[[Setting], Iterator[MinimalPair]], ...]] = {
    "agreement": (agreement.subject_verb, agreement.determiner_noun),
    "anaphors": (agreement.anaphors,),
    "binding": (agreement.places,),
    "case": (agreement.case,),
    "arguments": (arguments.objects, arguments.passives),
    "selection": (arguments.selection,),
    "verb-forms": (agreement.irregular_forms,),
    "polarity": (quantifiers.unlicensed, quantifiers.inserted),
    "quantifiers": (quantifiers.existentials, quantifiers.superlatives),
    "ellipsis": (quantifiers.nouns_left_out,),
    "control": (arguments.expletives, arguments.tough),
    "islands": (extraction.islands, extraction.complement_islands),
    "filler-gap": (extraction.fillers, extraction.stranding),
}


@dataclass
class PairMaker:
    """Makes at most one pair of each sentence, by the rule that has made the fewest so far, `each` per rule at most.

    Raises ValueError for an unknown kind.
    """

    lexicon: Lexicon
    kinds: Sequence[str] = tuple(KINDS)
    each: int | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise ValueError(f"kinds of pairs {', '.join(unknown)}: wanted some of {', '.join(KINDS)}")

    def pair(self, tree: DependencyTree, rng: np.random.Generator) -> MinimalPair | None:
        """A pair made of the sentence of a tree, or None where no rule applies, or all that do have made enough."""
        setting = Setting(TreeView(tree), self.lexicon, rng)
        pairs = [pair for kind in self.kinds for rule in KINDS[kind] for pair in rule(setting)]
        pairs = [pair for pair in pairs if pair.good != pair.bad and len(pair.bad) > 2]
        if self.each is not None:
            pairs = [pair for pair in pairs if self.counts[pair.rule] < self.each]
        if not pairs:
            return None
        fewest = min(self.counts[pair.rule] for pair in pairs)
        rarest = [pair for pair in pairs if self.counts[pair.rule] == fewest]
        pair = rarest[int(rng.integers(len(rarest)))]
        self.counts[pair.rule] += 1
        return pair
