"""The dependency language model: the probability of the words of a sentence, given the shape of its tree.

P(S | T) over paths of ancestors (ancestor_paths.py; Gubbins and Vlachos 2013), estimated by the shared back-off core:
stupid backoff, as in the paper, or interpolated modified Kneser–Ney. Given the tree (and in the labelled model its
labels), Kneser–Ney probabilities sum to one over the vocabulary, `<unk>` included, at every word; there is no end of
sentence, because the tree determines the number of words. `<unk>` stands for all words of the training corpus below the
cut-off, and for those that it lacks; a word outside the vocabulary has one type's share of its probability
(kit/vocabulary/unknown_types.py). P(T) is not modelled, so scores of trees of different shape are not comparable.
Training and scoring are linear in words times order.

A word without a context has a floor: the least score that the model gives it in any context.
The score of a symbol in a context is that of its event there, or else the back-off weight of the context plus its score
in the next shorter one; each symbol of the context that is missing from the model costs `unseen`. So with

    drop(c) = min(unseen · (symbols by which a context may be longer than c),
                  min over the contexts d that extend c by one symbol of (backoff(d) + drop(d)))

no context that ends in c lowers the score of a symbol by more than drop(c) below its score in c, unless it has an event
for the symbol, and no score of x is below the minimum over its events (c, x) of log10 p(x | c) + drop(c). This is the
least score of x where x was not seen in the context that drop(c) comes from; elsewhere it is a bound. The time is
linear in the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.brackets_and_quotes import known_spelling, normal_form
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.dependency.ancestor_paths import UNKNOWN, Corpus, Ids, TreeCollector, lay_out, paths
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.backoff.scoring import LN10, score_events
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.kit.backoff.tables import BackoffTables, Tables, rounded
from rerank_plugins.kit.files.declared import ModelFile, Part, Setting
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.vocabulary.unknown_types import divide_unknown
from rerank_plugins.kit.vocabulary.word_numbers import Vocabulary
from rerank_plugins.kit.workspace import Workspace


def least_scores(tables: BackoffTables) -> FloatArray:
    """(symbols) a lower bound of ln p of each symbol over all contexts."""
    levels = tables.context_levels
    longest = tables.order - 1
    drop = np.repeat(tables.unseen * (longest - np.arange(tables.order, dtype=np.float64)), np.diff(levels))
    for level in range(longest, 0, -1):
        span = slice(int(levels[level]), int(levels[level + 1]))
        contexts = tables.contexts[span]
        np.minimum.at(drop, contexts["parent"], contexts["backoff"].astype(np.float64) + drop[span])
    context = np.repeat(np.arange(len(drop)), np.diff(tables.contexts["events"]))
    least = np.full(tables.sizes[0], np.inf)
    np.minimum.at(least, tables.events["symbol"], tables.events["log10"].astype(np.float64) + drop[context])
    return least * LN10


SMOOTHINGS: dict[str, type[Smoothing]] = {"stupid-backoff": StupidBackoff, "kneser-ney": KneserNey}
REMEMBERED = 16 * MEGABYTE  # of names and their numbers


@dataclass(frozen=True)
class Settings:
    """The settings of training.

    `subtypes`  whether labels such as nsubj and nsubj:pass differ; otherwise the part after the colon is removed
    `prune`     for each order, paths that occur at most this often are pruned (0 for the first)
    """

    order: int = 4
    labelled: bool = True
    smoothing: Literal["stupid-backoff", "kneser-ney"] = "stupid-backoff"
    min_count: int = 5
    lowercase: bool = False
    subtypes: bool = False
    prune: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.order <= 6:
            raise ConfigError(f"order {self.order}: dependency language models have order 1 to 6")
        if self.smoothing not in SMOOTHINGS:
            raise ConfigError(f"smoothing {self.smoothing!r}, wanted one of: {', '.join(SMOOTHINGS)}")
        if self.min_count < 1:
            raise ConfigError(f"a vocabulary cut-off of {self.min_count}, wanted 1 or more")

    def word(self, word: str) -> str:
        """The word in normal form (core/brackets_and_quotes.py), and in lower case if `lowercase` is set."""
        return self.fold(normal_form(word))

    def fold(self, word: str) -> str:
        """The word, in lower case if `lowercase` is set."""
        return word.lower() if self.lowercase else word

    def label(self, label: str) -> str:
        """The label, without its subtype unless `subtypes` is set."""
        return label if self.subtypes else label.partition(":")[0]


@dataclass(frozen=True, eq=False)
class DependencyModel(PickledFields):
    """A trained model: words and labels by number (0 is the unknown one), and the tables of the back-off model.

    `unknown_types` is the number of types that `<unk>` stands for, at least 1.
    """

    settings: Annotated[Settings, Setting()]
    vocabulary: Annotated[Vocabulary, Part()]
    labels: Annotated[tuple[str, ...], Setting()]
    tables: Annotated[BackoffTables, Tables("V", has_unseen=True)]
    unknown_types: Annotated[int, Setting()] = 1
    provenance: Annotated[dict[str, Any], Setting(versioned=True)] = field(default_factory=dict)

    def __contains__(self, word: str) -> bool:
        return self._word_number[word] > 0

    @cached_property
    def _word_number(self) -> _NumberCache:
        return _NumberCache(self.vocabulary.number, self._known)

    def _known(self, word: str) -> str:
        return known_spelling(word, self.vocabulary.number, self.settings.fold) or UNKNOWN

    @cached_property
    def _label_number(self) -> _NumberCache:
        return _NumberCache({label: i for i, label in enumerate(self.labels)}, self.settings.label)

    def events(self, trees: Sequence[DependencyTree]) -> tuple[Ids, LongArray]:
        """(n, order) the event of each word of the trees, in sentence order; (trees + 1) where each tree starts."""
        forest = lay_out(trees, self._word_number.__getitem__, self._label_number.__getitem__)
        return paths(forest, self.settings.order, len(self.vocabulary), self._labels), forest.offsets

    @property
    def _labels(self) -> int:
        return len(self.labels) if self.settings.labelled else 1

    def score(self, trees: Sequence[DependencyTree]) -> list[FloatArray]:
        """Ln p of each word of each tree given its context, in sentence order (scores, with stupid backoff)."""
        events, offsets = self.events(trees)
        scores = self._scores(events)
        return np.split(scores, offsets[1:-1]) if len(trees) else []

    def totals(self, trees: Sequence[DependencyTree]) -> FloatArray:
        """(trees) ln P(S | T); 0 for a tree without words."""
        events, offsets = self.events(trees)
        scores = self._scores(events)
        tree = np.repeat(np.arange(len(trees)), np.diff(offsets))
        # With bincount, a total does not depend on the trees before it.
        totals: FloatArray = np.bincount(tree, scores, len(trees)).astype(np.float64)
        return totals

    def floor(self, words: Sequence[str]) -> FloatArray:
        """(words) ln p of each word in its worst context: no tree gives it a lower one."""
        return self._least[[self._word_number[word] for word in words]]

    @cached_property
    def _least(self) -> FloatArray:
        """(vocabulary) the least ln p of each word."""
        least = least_scores(self.tables)
        least[0] -= np.log(self.unknown_types)
        return least

    def _scores(self, events: Ids) -> FloatArray:
        scores, _ = score_events(self.tables, events)
        divide_unknown(scores, events[:, -1] == 0, self.unknown_types)
        return scores


class _NumberCache(Remembered[str, int]):
    """A cache that maps each name to the number of the form of it that the model knows, or to 0."""

    def __init__(self, numbers: Mapping[str, int], form: Callable[[str], str]) -> None:
        super().__init__(REMEMBERED)
        self._numbers, self._form = numbers, form

    def __missing__(self, name: str) -> int:
        self.make_room()
        return self.keep(name, self._numbers.get(self._form(name), 0))


def train(collector: TreeCollector, settings: Settings, **estimation: Any) -> DependencyModel:
    """A model of the collected trees; the collector is emptied. `estimation` are the other arguments of `train_on`.

    The model does not depend on the order of the trees, nor on the memory of the workspace, which should be that of the
    collector. Raises ModelError if there are no trees.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a dependency language model on: no trees")
    return train_on(collector.finish(settings.min_count, settings.word, settings.label), settings, **estimation)


def train_on(
    corpus: Corpus,
    settings: Settings,
    *,
    workspace: Workspace | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> DependencyModel:
    """A model of a corpus, which was finished with the cut-off and the forms of these settings.

    So several models, for instance of several orders, can be trained on trees that are read once.
    """
    vocabulary, labels, unknown = corpus.vocabulary, corpus.labels, corpus.unknown_types
    label_count = len(labels) if settings.labelled else 1
    contexts = ((len(vocabulary) + 1) * label_count,) * (settings.order - 1)
    source = TupleEvents((len(vocabulary), *contexts), workspace)
    provenance: dict[str, Any] = {"words": len(corpus.rows), "trees": len(corpus.lengths), "unknown_words": 0}
    for block in corpus.blocks():
        source.add(paths(block, settings.order, len(vocabulary), label_count))
        provenance["unknown_words"] += int(np.count_nonzero(block.words == 0))
    del corpus  # unless the caller needs it, its memory is free for the estimation
    estimation = estimate(
        source,
        SMOOTHINGS[settings.smoothing](),
        prune=settings.prune,
        workspace=workspace,
        jobs=jobs,
        progress=progress,
    )
    provenance |= {"ngrams": estimation.ngrams, "discounts": [list(values) for values in estimation.discounts]}
    return DependencyModel(settings, vocabulary, labels, estimation.tables, unknown, provenance)


FILE = ModelFile(
    DependencyModel,
    "dependency",
    "dependency language model",
    check=lambda model: model.tables.order == model.settings.order,
    rounded=lambda model: replace(model, tables=rounded(model.tables)),
)
read_model, write_model = FILE.read, FILE.write
