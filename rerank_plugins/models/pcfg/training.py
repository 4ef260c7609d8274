"""Trains a grammar on treebank trees: they are cleaned, annotated, binarised, counted, and split into latent states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from rerank_plugins import __version__
from rerank_plugins.errors import FormatError
from rerank_plugins.models.pcfg.annotation import annotate, named
from rerank_plugins.models.pcfg.forest import Forest, plant
from rerank_plugins.models.pcfg.grammar import Grammar
from rerank_plugins.models.pcfg.lexicon_smoothing import Smoothing
from rerank_plugins.models.pcfg.split_merge import EmStep, Schedule, finished, split_merge
from rerank_plugins.models.pcfg.tagged_words import Tagged, with_own_words
from rerank_plugins.models.pcfg.treebank_grammar import treebank_grammar
from rerank_plugins.models.vocabulary.signatures import UnknownWords
from rerank_plugins.trees.binarisation import Binarisation
from rerank_plugins.trees.cleaning import CRAFT_LABELS, clean
from rerank_plugins.trees.constituency import Tree

KEPT = ("TMP",)  # function tags that cleaning keeps, for an annotation


@dataclass(frozen=True)
class GrammarSettings:
    """The settings of training.

    `direction`, `horizontal`, `vertical`  the binarisation (trees/binarisation.py)
    `annotations`    names of annotations (annotation.py)
    `schedule`       the schedule of latent splits; 0 rounds for none
    `unknown`        which words of the treebank are replaced by signatures
    `smoothing`      the smoothing of the lexicon
    """

    language: str
    direction: Literal["right", "left", "head"] = "right"
    horizontal: int | None = 0
    vertical: int = 1
    annotations: tuple[str, ...] = ()
    schedule: Schedule = field(default_factory=Schedule)
    unknown: UnknownWords = field(default_factory=UnknownWords)
    smoothing: Smoothing = field(default_factory=Smoothing)

    def prepared(self, trees: Iterable[Tree]) -> list[Tree]:
        """Return the trees in the form in which the grammar is read from them; trees without words are dropped."""
        annotations = named(self.annotations)
        binarisation = Binarisation(self.direction, self.horizontal, self.vertical)
        cleaned = (clean(tree, CRAFT_LABELS, KEPT) for tree in trees)
        return [binarisation.apply(annotate(tree, annotations)) for tree in cleaned if tree is not None]


def train_grammar(
    trees: Sequence[Sequence[Tree]],
    weights: Sequence[float],
    settings: GrammarSettings,
    report: Callable[[EmStep], None] = lambda step: None,
    tagged: Tagged | None = None,
) -> Grammar:
    """Train a grammar on several treebanks; the trees of each count with its weight.

    `tagged` words (tagged_words.py) are added to the lexicon, together with words that occur once in a treebank.

    Raises FormatError if there are no trees, ConfigError for an unknown annotation.
    """
    planted = plant_treebanks(trees, weights, settings, tagged)
    if settings.schedule.rounds == 0:
        return treebank_grammar(planted.forest, settings.smoothing, planted.settings, planted.tagged)
    latent, expected = split_merge(planted.forest, settings.schedule, report)
    return finished(
        planted.forest, latent, expected, settings.schedule.least, settings.smoothing, planted.settings, planted.tagged
    )


class Planted(NamedTuple):
    """Treebanks laid out for counting: their forest, the settings to record, and tagged words for the lexicon."""

    forest: Forest
    settings: dict[str, Any]
    tagged: Tagged | None


def plant_treebanks(
    trees: Sequence[Sequence[Tree]],
    weights: Sequence[float],
    settings: GrammarSettings,
    tagged: Tagged | None = None,
    form: Callable[[Tree], Tree] = lambda tree: tree,
) -> Planted:
    """Lay out several treebanks as a forest; the trees of each count with its weight.

    `form` is applied to the binarised trees. Raises FormatError if there are no trees, ConfigError for an unknown
    annotation.
    """
    prepared = [settings.prepared(treebank) for treebank in trees]
    if not any(prepared):
        raise FormatError("no trees to learn a grammar from")
    counts = [weight for treebank, weight in zip(prepared, weights, strict=True) for _ in treebank]
    forest = plant([form(tree) for treebank in prepared for tree in treebank], settings.unknown, counts)
    recorded = {**asdict(settings), "trees": [len(treebank) for treebank in prepared], "version": __version__}
    if tagged:
        tagged = with_own_words(tagged, prepared, weights, forest.words)
    return Planted(forest, recorded, tagged)
