"""Trains a grammar on treebank trees: they are cleaned, annotated, binarised, counted, and split into latent states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, Tree, __version__
from rerank_plugins.constituency.annotation import annotate, named
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import Smoothing, Tagged, with_unknown
from rerank_plugins.constituency.marked_states import Marks
from rerank_plugins.constituency.split_merge import EmStep, Schedule, finished, split_merge
from rerank_plugins.constituency.treebank_grammar import CountedTrees, EncodedTrees, encode_trees, treebank_grammar
from rerank_plugins.kit.trees.binarisation import Binarisation
from rerank_plugins.kit.trees.features import FeatureRules, english_features, universal_features
from rerank_plugins.kit.trees.marked_labels import finish, keeping, unmarked
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean
from rerank_plugins.kit.vocabulary.signatures import UnknownWords

KEPT = ("TMP",)  # function tags that cleaning keeps, for an annotation


@dataclass(frozen=True)
class GrammarSettings:
    """The settings of training."""

    language: str
    # direction, horizontal, vertical: the binarisation (kit/trees/binarisation.py)
    direction: Literal["right", "left", "head"] = "right"
    horizontal: int | None = 0
    vertical: int = 1
    annotations: tuple[str, ...] = ()  # names of annotations (annotation.py)
    schedule: Schedule = field(default_factory=Schedule)  # the schedule of latent splits; 0 rounds for none
    # which words of the treebank are replaced by signatures
    unknown: UnknownWords = field(default_factory=UnknownWords)
    smoothing: Smoothing = field(default_factory=Smoothing)  # the smoothing of the lexicon
    features: tuple[str, ...] = ()  # names of features whose marks labels bear (kit/trees/features.py)
    universal: bool = False  # whether their table is that of Universal Dependencies, and not that of English

    def prepared(self, treebank: Iterable[Tree]) -> Iterator[Tree]:
        """Yield the trees in the form in which the grammar is read from them; trees without words are dropped."""
        annotations = named(self.annotations)
        binarisation = Binarisation(self.direction, self.horizontal, self.vertical)
        cleaned = (clean(tree, CRAFT_LABELS, KEPT) for tree in treebank)
        trees = (tree for tree in cleaned if tree is not None)
        # Words of dependencies bear FEATS until they are marked, and no function tags that annotations would read.
        annotated = trees if self.universal and not annotations else (annotate(tree, annotations) for tree in trees)
        if not self.features:
            return (binarisation.apply(tree) for tree in annotated)
        rules = self.rules()
        return (finish(binarisation.apply(rules.mark(tree))) for tree in annotated)

    def rules(self) -> FeatureRules:
        """The rules of the features."""
        return (universal_features() if self.universal else english_features()).chosen(self.features)

    def marks(self) -> Marks:
        """What takes the marks of the features off labels."""
        rules = self.rules()
        of_words = (rules.head_marks | rules.foot_marks) - rules.beside_marks
        return Marks(
            unmarked, *(partial(keeping, kept=marks) for marks in (rules.head_marks, rules.foot_marks, of_words))
        )


def train_grammar(
    trees: Sequence[Iterable[Tree]],
    weights: Sequence[float],
    settings: GrammarSettings,
    report: Callable[[EmStep], None] = lambda step: None,
    tagged: Tagged | None = None,
) -> Grammar:
    """Train a grammar on several treebanks; the trees of each count with its weight.

    `tagged` words (lexicon.py) are added to the lexicon, together with words that occur once in a treebank.

    Raises FormatError if there are no trees, ConfigError for an unknown annotation.
    """
    planted = encode_treebanks(trees, weights, settings, tagged)
    if settings.schedule.rounds == 0:
        return treebank_grammar(planted.forest, settings.smoothing, planted.settings, planted.tagged)
    part = planted.chosen(settings.schedule.learn_on)
    marked = settings.features and any(unmarked(label) != label for label in planted.forest.labels)
    marks = settings.marks() if marked else None
    latent, expected = split_merge(planted.forest, settings.schedule, report, part, marks)
    return finished(
        planted.forest, latent, expected, settings.schedule.least, settings.smoothing, planted.settings, planted.tagged,
        settings.schedule.rare / 1000 if marked else 0.0,
    )  # fmt: skip


class EncodedTreebanks(NamedTuple):
    """Treebanks laid out for counting: their forest, the settings to record, and tagged words for the lexicon."""

    forest: EncodedTrees
    settings: dict[str, Any]
    tagged: Tagged | None

    def chosen(self, most: int | None) -> BoolArray | None:
        """Return a mask of at most so many trees of each treebank, evenly spaced; None to choose all trees."""
        sizes: list[int] = self.settings["trees"]
        if most is None or max(sizes) <= most:
            return None
        masks = [(np.arange(size) * min(most, size)) % max(size, 1) < min(most, size) for size in sizes]
        return np.concatenate(masks)


def encode_treebanks(
    trees: Sequence[Iterable[Tree]],
    weights: Sequence[float],
    settings: GrammarSettings,
    tagged: Tagged | None = None,
    form: Callable[[Tree], Tree] = lambda tree: tree,
) -> EncodedTreebanks:
    """Lay out several treebanks as a forest; the trees of each count with its weight. No tree is kept.

    `form` is applied to the binarised trees. Raises FormatError if there are no trees, ConfigError for an unknown
    annotation.
    """
    counted = CountedTrees([settings.prepared(bank) for bank in trees], weights, tags=tagged is not None)
    forest = encode_trees(map(form, counted), settings.unknown)
    forest = replace(forest, weights=counted.tree_weights())
    recorded = {**asdict(settings), "trees": counted.sizes, "version": __version__}
    return EncodedTreebanks(forest, recorded, tagged and with_unknown(tagged, counted.tagged, forest.words))
