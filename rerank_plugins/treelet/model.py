"""The treelet language model: the probability of a tree and its words, from overlapping windows of the tree.

    p(T) = Π_{r in T} p(C_1 … C_d | P, P', r') · Π_{words} p(w | P, R, r', w_-1, w_-2)        (Pauls and Klein 2012)

over trees after the transformations of their section 3 (transformations.py). Both kinds of factors are back-off
models (events.py), estimated by the shared core; that of the yields gives every tree a
probability. Unknown words are signatures in all windows; as the word w, one has one type's share of the probability of
its signature (kit/vocabulary/unknown_types.py). Σ_T p(T) = 1 over all trees, with all types of words that signatures
stand for, if the model is consistent. The variants,
the paper's baselines, are the same model with smaller contexts:

    pcfg            p(C_1 … C_d | P), p(w | P), over untransformed trees
    treelet-trans   the same over transformed trees
    treelet-rule    p(C_1 … C_d | P, P', r'), p(w | P, R, r')
    treelet         all contexts

Scoring is linear in nodes. Unknown labels have the probability that smoothing reserves for them. A rule without a
number of its own has a part of the probability of its phrase's unknown rules,

    p(C_1 … C_d | h) = p(unknown | h) · b(C_1 … C_d | P) / Σ_{unknown yields of P} b
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from rerank_plugins import ConfigError, FloatArray, IntArray, PickledFields, Tree
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.kit.backoff.tables import BackoffTables, Tables, rounded
from rerank_plugins.kit.files.model_schema import ModelFile, Part, Setting
from rerank_plugins.treelet.closed_vocabulary import SENTENCE_START, ClosedVocabulary, Sentence
from rerank_plugins.treelet.events import RULE_ORDER, SYMBOL_ORDER, WORD_ORDER, YieldModel, rule_events, word_events
from rerank_plugins.treelet.form_numbers import FormNumbers
from rerank_plugins.treelet.rule_numbers import Rules, StoredRules, rules_of, selected
from rerank_plugins.treelet.tree_arrays import Symbols, TreeArrays, flat, numbered, sum_distinct

if TYPE_CHECKING:
    from rerank_plugins.treelet.transformations import ArrayTransformations

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

    `min_count`       words that occur less often become signatures of unknown words
    `min_rule_count`  rules that occur less often get no number of their own
    `prune_words`     for each order, n-grams of word events that occur at most this often are pruned
    `prune_rules`     the same for n-grams of rules
    `prune_yields`    the same for the n-grams of symbols, which are counted over distinct rules (events.py)
    `signatures_after`, `signature_rate`, `seed`, `english`   settings of `UnknownWords`
    """

    variant: Variant = "treelet"
    min_count: int = 1
    min_rule_count: int = 1
    prune_words: tuple[int, ...] = ()
    prune_rules: tuple[int, ...] = ()
    prune_yields: tuple[int, ...] = ()
    signatures_after: int = 10_000
    signature_rate: float = 0.1
    seed: int = 1
    english: bool = True

    def __post_init__(self) -> None:
        if self.variant not in ORDERS:
            raise ConfigError(f"variant {self.variant!r}, wanted one of: {', '.join(ORDERS)}")
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


class WordNumbers:
    """The numbers in a vocabulary of the words of a list: as first words of sentences, and as others.

    Between calls, words are added to the list, or it is another list.
    """

    def __init__(self, vocabulary: ClosedVocabulary) -> None:
        self._vocabulary = vocabulary
        self._words: list[str] = []
        self._first = self._inner = np.zeros(0, np.int32)

    def __call__(self, words: list[str]) -> tuple[IntArray, IntArray]:
        """(W), (W) the numbers of the words."""
        if words is not self._words:
            self._words, self._first, self._inner = words, np.zeros(0, np.int32), np.zeros(0, np.int32)
        new = words[len(self._first) :]
        if new:
            encode = self._vocabulary.encode
            self._first = np.append(self._first, encode([(word,) for word in new]))
            self._inner = np.append(self._inner, encode([(SENTENCE_START, *new)])[1:])
        return self._first, self._inner


@dataclass(frozen=True, eq=False)
class TreeletModel(PickledFields):
    """A trained model: symbols, words and rules by number, and the distributions of yields (as rules) and words."""

    settings: Annotated[Settings, Setting()]
    symbols: Annotated[Symbols, Part()]
    vocabulary: Annotated[ClosedVocabulary, Part()]
    rules: Annotated[Rules, StoredRules()]
    yields: Annotated[YieldModel, Part()]
    rule_tables: Annotated[BackoffTables, Tables("R", "rules.")]
    word_tables: Annotated[BackoffTables, Tables("V", "words.")]
    provenance: Annotated[dict[str, Any], Setting(versioned=True)] = field(default_factory=dict)
    numbers: Annotated[FormNumbers | None, Part("numbers.", optional=True)] = None

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary

    def forest(self, trees: Sequence[Tree], transformed: bool = False) -> TreeArrays:
        """The trees as arrays, transformed if the model requires it and `transformed` is false."""
        return self._forest([trees], transformed)

    def _forest(self, parses: Sequence[Sequence[Tree]], transformed: bool = False) -> TreeArrays:
        """The trees of all parses as arrays."""
        if self.settings.transformed and not transformed:
            return self._transformed(parses)
        return numbered(chain.from_iterable(parses), self.symbols, self.vocabulary)

    def _transformed(self, parses: Sequence[Sequence[Tree]]) -> TreeArrays:
        """The transformed trees in numbers."""
        from rerank_plugins import SharedTrees

        shared = [trees if isinstance(trees, SharedTrees) else SharedTrees.of(trees) for trees in parses]
        arrays = self._transformations(shared)
        first, inner = self._word_numbers(arrays.words)
        tags = np.flatnonzero(arrays.word >= 0)
        word = np.full(len(arrays.word), -1, np.int32)
        word[tags] = inner[arrays.word[tags]]
        initial = tags[np.searchsorted(tags, arrays.offsets[:-1])]  # the first tag of each tree
        word[initial] = first[arrays.word[initial]]
        return TreeArrays(arrays.symbol, arrays.parent, word, arrays.offsets)

    @cached_property
    def _transformations(self) -> ArrayTransformations:
        from rerank_plugins.treelet.transformations import ArrayTransformations

        return ArrayTransformations(*self.symbols.lookups(), self.numbers)

    @cached_property
    def _word_numbers(self) -> WordNumbers:
        return WordNumbers(self.vocabulary)

    def score_nodes(self, forest: TreeArrays) -> FloatArray:
        """(N) ln p of the yield of each phrase and of the word of each tag, given its context."""
        phrases, starts, symbols = rules_of(forest)
        rules = self.rules.find(starts, symbols)
        rule_order, word_order = self.settings.orders
        scores = np.empty(len(forest.symbol))
        scores[phrases] = score_events(self.rule_tables, rule_events(forest, phrases, rules)[:, -rule_order:])[0]
        unknown = np.flatnonzero(rules < self.rules.unknown)
        if len(unknown):  # the proportion of the yield in the mass of all unknown yields
            ln_b = self.yields.score(*selected(starts, symbols, unknown))
            scores[phrases[unknown]] += ln_b - LN10 * self.rule_tables.events["log10"][rules[unknown]]
        tags, events = word_events(forest, phrases, rules)
        scores[tags] = score_events(self.word_tables, events[:, -word_order:])[0]
        scores[tags] -= self.vocabulary.ln_types[forest.word[tags]]
        return scores

    def score_trees(self, trees: Sequence[Tree], transformed: bool = False) -> FloatArray:
        """(trees) ln p(T), words included; `transformed` is whether the trees are transformed already."""
        return self._totals(self.forest(trees, transformed))

    def _totals(self, forest: TreeArrays) -> FloatArray:
        return np.asarray(np.bincount(forest.tree, self.score_nodes(forest), forest.trees), np.float64)

    def score_sentences(self, parses: Sequence[Sequence[Tree]]) -> FloatArray:
        """(n) ln Σ p(T) over the distinct trees that the parses of a sentence become; -inf for one without parses."""
        forest = self._forest(parses)
        return sum_distinct(self._totals(forest), forest, parses)

    def floor(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of a flat tree of unknown labels over each sentence: the score of unparsed and empty sentences."""
        return self.score_trees(list(map(flat, sentences)), transformed=True)

    def score_words(self, trees: Sequence[Tree | None], sentences: Sequence[Sentence]) -> list[FloatArray]:
        """For each sentence, (words) what each word adds to ln p(T): its own ln p, and that of the rules before it.

        The rules before a word are those that a derivation from the left applies between the word before it and this
        one. A sentence whose tree is None has the flat tree of `floor`.
        """
        scores = []
        for tree, sentence in zip(trees, sentences, strict=True):
            if not sentence:
                scores.append(np.zeros(0))
                continue
            forest = self.forest([flat(sentence) if tree is None else tree], transformed=tree is None)
            tags = np.flatnonzero(forest.word >= 0)
            following = np.searchsorted(tags, np.arange(len(forest.symbol)))  # the first tag from each node on
            scores.append(np.bincount(following, self.score_nodes(forest), len(tags)).astype(np.float64))
        return scores


def compact(model: TreeletModel) -> TreeletModel:
    """The model with rounded tables; the probabilities of unknown rules remain exact."""
    rules, unknown = rounded(model.rule_tables), model.rules.unknown
    rules.events["log10"][:unknown] = model.rule_tables.events["log10"][:unknown]
    yields = replace(model.yields, given_parent=rounded(model.yields.given_parent), alone=rounded(model.yields.alone))
    return replace(model, rule_tables=rules, word_tables=rounded(model.word_tables), yields=yields)


def sizes(symbols: int, words: int, rules: int, settings: Settings) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes of the columns of rule events and of word events, the predicted ones first, for so many of each."""
    rule_order, word_order = settings.orders
    rule_sizes, word_sizes = (rules, symbols, symbols, rules), (words, symbols, symbols, rules, words, words)
    return rule_sizes[:rule_order], word_sizes[:word_order]


def check_sizes(model: TreeletModel) -> None:
    """Raise ContentsError for tables without the symbols and the orders that they must have."""
    symbols = len(model.symbols)
    rule_sizes, word_sizes = sizes(symbols, len(model.vocabulary), len(model.rules), model.settings)
    model.rule_tables.check_symbols("rules", rule_sizes)
    model.word_tables.check_symbols("words", word_sizes)
    model.yields.given_parent.check_symbols("given_parent", (symbols,) * SYMBOL_ORDER)
    model.yields.alone.check_symbols("alone", (symbols,) * (SYMBOL_ORDER - 1))


FILE = ModelFile(
    TreeletModel,
    "treelet",
    "treelet language model",
    first=("vocabulary", "rules", "rule_tables", "word_tables"),
    check=check_sizes,
    rounded=compact,
)
read_model, write_model = FILE.read, FILE.write
