"""The treelet language model: the probability of a tree and its words, from overlapping windows of the tree.

    p(T) = Π_{r in T} p(C_1 … C_d | P, P', r') · Π_{words} p(w | P, R, r', w_-1, w_-2)        (Pauls and Klein 2012)

over trees after the transformations of their section 3 (trees/treelet_transforms). Both kinds of factors are back-off
models (events.py), estimated by the shared core; the lowest order of the yields is in yields.py, and gives every tree a
probability. Σ_T p(T) = 1 over all trees with words of the closed vocabulary, if the model is consistent. The variants,
the paper's baselines, are the same model with smaller contexts:

    pcfg            p(C_1 … C_d | P), p(w | P), over untransformed trees
    treelet-trans   the same over transformed trees
    treelet-rule    p(C_1 … C_d | P, P', r'), p(w | P, R, r')
    treelet         all contexts

Scoring is linear in nodes. Unknown labels have the probability that smoothing reserves for them. A rule without a
number of its own has a share of the probability of its phrase's unknown rules,

    p(C_1 … C_d | h) = p(unknown | h) · b(C_1 … C_d | P) / Σ_{unknown yields of P} b
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ConfigError
from rerank_plugins.models.backoff.scoring import LN10, score_events
from rerank_plugins.models.backoff.tables import BackoffTables
from rerank_plugins.models.treelet.events import RULE_ORDER, WORD_ORDER, rule_events, word_events
from rerank_plugins.models.treelet.forest import UNSEEN, Symbols, TreeArrays, lay_out, place_words, sentences_of, shapes
from rerank_plugins.models.treelet.rules import Rules, rules_of, selected
from rerank_plugins.models.treelet.summing import sum_distinct
from rerank_plugins.models.treelet.yields import YieldModel
from rerank_plugins.models.vocabulary.closed import ClosedVocabulary, Sentence
from rerank_plugins.pickling import PickledFields
from rerank_plugins.trees.constituency import ROOT, Tree

if TYPE_CHECKING:
    from rerank_plugins.models.treelet.transforming import ArrayTransformations

ORDERS = {  # of the models of rules and of words
    "pcfg": (2, 2),
    "treelet-trans": (2, 2),
    "treelet-rule": (RULE_ORDER, WORD_ORDER - 2),
    "treelet": (RULE_ORDER, WORD_ORDER),
}
Variant = Literal["pcfg", "treelet-trans", "treelet-rule", "treelet"]


@dataclass(frozen=True)
class Settings:
    """The settings of training.

    `yield_counts`    whether the lowest order of the yields counts distinct rules or all their occurrences (yields.py)
    `min_count`       words that occur less often become signatures of unknown words
    `min_rule_count`  rules that occur less often get no number of their own
    `prune_words`     for each order, n-grams of word events that occur at most this often are pruned
    `prune_rules`     the same for n-grams of rules
    `signatures_after`, `signature_rate`, `seed`   settings of `UnknownWords`
    """

    variant: Variant = "treelet"
    yield_counts: Literal["types", "tokens"] = "types"
    min_count: int = 1
    min_rule_count: int = 1
    prune_words: tuple[int, ...] = ()
    prune_rules: tuple[int, ...] = ()
    signatures_after: int = 10_000
    signature_rate: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        if self.variant not in ORDERS:
            raise ConfigError(f"variant {self.variant!r}, wanted one of: {', '.join(ORDERS)}")
        if self.yield_counts not in ("types", "tokens"):
            raise ConfigError(f"yields counted over {self.yield_counts!r}, wanted types or tokens")
        if min(self.min_count, self.min_rule_count) < 1:
            raise ConfigError("words and rules occur at least once: a minimal count must be 1 or more")
        if not 0 <= self.signature_rate <= 1:
            raise ConfigError(f"share {self.signature_rate} of new words that become signatures, wanted 0 to 1")

    @property
    def transformed(self) -> bool:
        """Whether the model is one of transformed trees."""
        return self.variant != "pcfg"

    @property
    def orders(self) -> tuple[int, int]:
        """The lengths of the events of rules and of words, with the predicted symbol."""
        return ORDERS[self.variant]


@dataclass(frozen=True, eq=False)
class TreeletModel(PickledFields):
    """A trained model: symbols, words and rules by number, and the distributions of yields (as rules) and words."""

    settings: Settings
    symbols: Symbols
    vocabulary: ClosedVocabulary
    rules: Rules
    yields: YieldModel
    rule_tables: BackoffTables
    word_tables: BackoffTables
    provenance: dict[str, Any] = field(default_factory=dict)

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def forest(self, trees: Sequence[Tree], transformed: bool = False) -> TreeArrays:
        """The trees as arrays, transformed if the model requires it and `transformed` does not say that they are."""
        if self.settings.transformed and not transformed:
            from rerank_plugins.models.treelet.transforming import UnusualLabelError

            try:
                return self._transformed(trees)
            except UnusualLabelError:
                from rerank_plugins.trees.treelet_transforms import Transformations

                trees = list(map(Transformations(), trees))
        symbol, parent, words, offsets = lay_out(trees, *self.symbols.lookups())
        ids = self.vocabulary.encode(sentences_of(words, offsets))
        return TreeArrays(symbol, parent, place_words(words, ids), offsets)

    def _transformed(self, trees: Sequence[Tree]) -> TreeArrays:
        """The transformed trees in numbers; the words of each distinct sentence are looked up once."""
        arrays = self._transformations(trees)
        sentences = arrays.sentences()
        number = {sentence: i for i, sentence in enumerate(dict.fromkeys(sentences))}
        ends = np.cumsum([0, *map(len, number)])
        ids = self.vocabulary.encode(list(number))
        places = [np.arange(ends[i], ends[i + 1]) for i in map(number.__getitem__, sentences)]
        word = np.full(len(arrays.symbol), -1, np.int32)
        word[arrays.tag >= 0] = ids[np.concatenate([*places, np.zeros(0, np.int64)])]
        return TreeArrays(arrays.symbol, arrays.parent, word, arrays.offsets)

    @cached_property
    def _transformations(self) -> ArrayTransformations:
        from rerank_plugins.models.treelet.transforming import ArrayTransformations

        return ArrayTransformations(*self.symbols.lookups())

    def score_nodes(self, forest: TreeArrays) -> FloatArray:
        """(N) ln p of the yield of each phrase and of the word of each tag, given its context."""
        phrases, starts, symbols = rules_of(forest)
        rules = self.rules.find(starts, symbols)
        rule_order, word_order = self.settings.orders
        scores = np.empty(len(forest.symbol))
        scores[phrases] = score_events(self.rule_tables, rule_events(forest, phrases, rules)[:, -rule_order:])[0]
        unknown = np.flatnonzero(rules < self.rules.unknown)
        if len(unknown):  # the share of the yield in all unknown yields
            ln_b = self.yields.score(*selected(starts, symbols, unknown))
            scores[phrases[unknown]] += ln_b - LN10 * self.rule_tables.events["log10"][rules[unknown]]
        tags, events = word_events(forest, phrases, rules)
        scores[tags] = score_events(self.word_tables, events[:, -word_order:])[0]
        return scores

    def score_trees(self, trees: Sequence[Tree], transformed: bool = False) -> FloatArray:
        """(trees) ln p(T), words included; `transformed` says that the trees are transformed already."""
        return self._totals(self.forest(trees, transformed))

    def _totals(self, forest: TreeArrays) -> FloatArray:
        return np.asarray(np.bincount(forest.tree, self.score_nodes(forest), forest.trees), np.float64)

    def score_sentences(self, parses: Sequence[Sequence[Tree]], transformed: bool = False) -> FloatArray:
        """(n) ln Σ p(T) over the distinct trees that the parses of a sentence become; -inf for one without parses."""
        forest = self.forest([tree for trees in parses for tree in trees], transformed)
        sentence = np.repeat(np.arange(len(parses)), [len(trees) for trees in parses])
        return sum_distinct(self._totals(forest), sentence, shapes(forest), len(parses))

    def floor(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of a flat tree of unknown labels over each sentence: the score of unparsed and empty sentences."""
        flat = [Tree(ROOT, tuple(Tree(UNSEEN, (word,)) for word in sentence)) for sentence in sentences]
        return self.score_trees(flat, transformed=True)
