"""A grammar from treebank trees: cleaned, annotated, binarised, counted, split."""

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

KEPT = ("TMP",)  # function tags that an annotation looks at


@dataclass(frozen=True)
class GrammarSettings:
    """How a grammar is made.

    `direction`, `horizontal`, `vertical`  of the binarisation (trees/binarisation.py)
    `annotations`    by name (annotation.py)
    `schedule`       of latent splits; 0 rounds: none
    `unknown`        which words of the treebank become signatures
    `smoothing`      of the lexicon
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
        """Treebank trees as the grammar is read from them; those without words are left out."""
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
    """The grammar of several treebanks, each of whose trees counts as often as its weight says.

    `tagged` words (tagged_words.py) are added to the lexicon, and with them the words that a treebank has once.

    Raises FormatError where there are no trees, ConfigError for an annotation that does not exist.
    """
    planted = plant_treebanks(trees, weights, settings, tagged)
    if settings.schedule.rounds == 0:
        return treebank_grammar(planted.forest, settings.smoothing, planted.settings, planted.tagged)
    latent, expected = split_merge(planted.forest, settings.schedule, report)
    return finished(
        planted.forest, latent, expected, settings.schedule.least, settings.smoothing, planted.settings, planted.tagged
    )


class Planted(NamedTuple):
    """Treebanks as a grammar is counted on them: their forest, how it was made, tagged words for the lexicon."""

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
    """The forest of several treebanks, each of whose trees counts as often as its weight says.

    `form` changes the binarised trees once more. Raises FormatError where there are no trees, ConfigError for an
    annotation that does not exist.
    """
    prepared = [settings.prepared(treebank) for treebank in trees]
    if not any(prepared):
        raise FormatError("no trees to learn a grammar from")
    counts = [weight for treebank, weight in zip(prepared, weights, strict=True) for _ in treebank]
    forest = plant([form(tree) for treebank in prepared for tree in treebank], settings.unknown, counts)
    made = {**asdict(settings), "trees": [len(treebank) for treebank in prepared], "version": __version__}
    if tagged:
        tagged = with_own_words(tagged, prepared, weights, forest.words)
    return Planted(forest, made, tagged)
