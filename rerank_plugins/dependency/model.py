"""The dependency language model: the probability of the words of a sentence, given the shape of its tree.

P(S | T) over paths of ancestors (ancestor_paths.py; Gubbins and Vlachos 2013), estimated by the shared back-off core:
stupid backoff, as in the paper, or interpolated modified Kneser–Ney. Given the tree (and in the labelled model its
labels), Kneser–Ney probabilities sum to one over the vocabulary, `<unk>` included, at every word; there is no end of
sentence, because the tree determines the number of words. `<unk>` stands for all words of the training corpus below the
cut-off, and for those that it lacks; a word outside the vocabulary has one type's share of its probability
(kit/vocabulary/unknown_types.py). P(T) is not modelled, so scores of trees of different shape are not comparable.
Training and scoring are linear in words times order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.brackets_and_quotes import known_spelling, normal_form
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.dependency.ancestor_paths import (
    UNKNOWN_NAME,
    Corpus,
    Ids,
    TreeCollector,
    TreePaths,
    lay_out,
    path_sizes,
    paths,
)
from rerank_plugins.dependency.class_factors import ClassFactors, train_factors
from rerank_plugins.dependency.class_paths import ClassPaths
from rerank_plugins.dependency.floors import least_scores
from rerank_plugins.dependency.form_features import Features
from rerank_plugins.kit.backoff.estimation import Estimate, estimate
from rerank_plugins.kit.backoff.events import TupleEvents
from rerank_plugins.kit.backoff.scoring import score_events
from rerank_plugins.kit.backoff.smoothing import KneserNey, Smoothing, StupidBackoff
from rerank_plugins.kit.backoff.tables import BackoffTables, Tables, rounded
from rerank_plugins.kit.files.model_schema import ModelFile, Part, Setting
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.vocabulary.unknown_types import divide_unknown
from rerank_plugins.kit.vocabulary.word_ids import Vocabulary

SMOOTHINGS: dict[str, type[Smoothing]] = {"stupid-backoff": StupidBackoff, "kneser-ney": KneserNey}
REMEMBERED = 16 * MEGABYTE  # of names and their numbers


@dataclass(frozen=True)
class Settings:
    """The settings of training.

    `subtypes`  whether labels such as nsubj and nsubj:pass differ; otherwise the part after the colon is removed
    `prune`     for each order, paths that occur at most this often are pruned (0 for the first)
    `classes`   whether the model backs off to classes of words (class_paths.py)
    """

    order: int = 4
    labelled: bool = True
    smoothing: Literal["stupid-backoff", "kneser-ney"] = "stupid-backoff"
    min_count: int = 5
    lowercase: bool = False
    subtypes: bool = False
    prune: tuple[int, ...] = ()
    classes: bool = False

    def __post_init__(self) -> None:
        if self.classes:
            self._check_classes()
        if not 1 <= self.order <= 6:
            raise ConfigError(f"order {self.order}: dependency language models have order 1 to 6")
        if self.smoothing not in SMOOTHINGS:
            raise ConfigError(f"smoothing {self.smoothing!r}, wanted one of: {', '.join(SMOOTHINGS)}")
        if self.min_count < 1:
            raise ConfigError(f"a vocabulary cut-off of {self.min_count}, wanted 1 or more")

    def _check_classes(self) -> None:
        """Raise ConfigError if a model with classes cannot have the other settings."""
        if self.smoothing != "kneser-ney":
            raise ConfigError(f"smoothing {self.smoothing!r}: a model with classes has kneser-ney")
        if not self.labelled:
            raise ConfigError("a model with classes is labelled: it tells subjects from objects")
        if self.order < 2:
            raise ConfigError(f"order {self.order}: a model with classes has order 2 or more")

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
    tables: Annotated[BackoffTables, Tables("*", has_unseen=True)]
    unknown_types: Annotated[int, Setting()] = 1
    provenance: Annotated[dict[str, Any], Setting(versioned=True)] = field(default_factory=dict)
    classes: Annotated[ClassFactors | None, Part("classes.", optional=True, V="V")] = None

    def __contains__(self, word: str) -> bool:
        return self._word_number[word] >= self._first_known

    @property
    def _first_known(self) -> int:
        """The number of the first known word; those before it are unknown words."""
        return len(self.classes.lexicon) if self.classes else 1

    @cached_property
    def _word_number(self) -> _NumberCache:
        """The number of each word: in the vocabulary, or with classes the symbol (class_factors.py)."""
        return _NumberCache(self._number)

    def _number(self, word: str) -> int:
        known = known_spelling(word, self.vocabulary.number, self.settings.fold) or UNKNOWN_NAME
        number = self.vocabulary.number.get(known, 0)
        return self.classes.symbol_of(number, self.settings.word(word)) if self.classes else number

    @cached_property
    def _label_number(self) -> _NumberCache:
        numbers = {label: i for i, label in enumerate(self.labels)}
        return _NumberCache(lambda label: numbers.get(self.settings.label(label), 0))

    def events(self, trees: Sequence[DependencyTree]) -> tuple[Ids, LongArray]:
        """(n, order) the event of each word of the trees, in sentence order; (trees + 1) where each tree starts.

        They are those of a model without classes.
        """
        forest = self._forest(trees)
        return paths(forest, self.settings.order, len(self.vocabulary), self._labels), forest.offsets

    def _forest(self, trees: Sequence[DependencyTree]) -> TreePaths:
        return lay_out(trees, self._word_number.__getitem__, self._label_number.__getitem__)

    @property
    def _labels(self) -> int:
        return len(self.labels) if self.settings.labelled else 1

    def score(self, trees: Sequence[DependencyTree]) -> list[FloatArray]:
        """Ln p of each word of each tree given its context, in sentence order (scores, with stupid backoff)."""
        forest = self._forest(trees)
        return np.split(self._scores(forest), forest.offsets[1:-1]) if len(trees) else []

    def totals(self, trees: Sequence[DependencyTree]) -> FloatArray:
        """(trees) ln P(S | T); 0 for a tree without words."""
        forest = self._forest(trees)
        scores = self._scores(forest)
        tree = np.repeat(np.arange(len(trees)), np.diff(forest.offsets))
        # With bincount, a total does not depend on the trees before it.
        totals: FloatArray = np.bincount(tree, scores, len(trees)).astype(np.float64)
        return totals

    def floor(self, words: Sequence[str]) -> FloatArray:
        """(words) ln p of each word in its worst context: no tree gives it a lower one."""
        return self._least[[self._word_number[word] for word in words]]

    @cached_property
    def _least(self) -> FloatArray:
        """(numbers of words) the least ln p of each word."""
        if self.classes:
            return self.classes.least(self.tables) - self._ln_types
        least = least_scores(self.tables)
        least[0] -= np.log(self.unknown_types)
        return least

    @cached_property
    def _ln_types(self) -> FloatArray:
        """(numbers of words) with classes, ln of the types that each stands for."""
        return self.classes.ln_types(self.unknown_types) if self.classes else np.zeros(0)

    @cached_property
    def _class_paths(self) -> ClassPaths:
        """The events of a model with classes."""
        assert self.classes
        return ClassPaths.of(self.classes.class_of, len(self.classes.lexicon), self.settings.order, self.labels)

    def _scores(self, forest: TreePaths) -> FloatArray:
        if self.classes:
            ln_p = self.classes.ln_p(self.tables, self._class_paths, forest)
            ln_p -= self._ln_types[forest.words]
            return ln_p
        scores, _ = score_events(self.tables, paths(forest, self.settings.order, len(self.vocabulary), self._labels))
        divide_unknown(scores, forest.words == 0, self.unknown_types)
        return scores


class _NumberCache(Remembered[str, int]):
    """A cache of the number of each name."""

    def __init__(self, number: Callable[[str], int]) -> None:
        super().__init__(REMEMBERED)
        self._number = number

    def __missing__(self, name: str) -> int:
        self.make_room()
        return self.keep(name, self._number(name))


def train(collector: TreeCollector, settings: Settings, **estimation: Any) -> DependencyModel:
    """A model of the collected trees; the collector is emptied. `estimation` are the other arguments of `train_on`.

    The model does not depend on the order of the trees. Raises ModelError if there are no trees.
    """
    if not collector.trees:
        raise ModelError("there is nothing to train a dependency language model on: no trees")
    return train_on(collector.finish(settings.min_count, settings.word, settings.label), settings, **estimation)


def train_on(
    corpus: Corpus,
    settings: Settings,
    *,
    features: Features | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] = lambda stage: None,
) -> DependencyModel:
    """A model of a corpus, which was finished with the cut-off and the forms of these settings.

    So several models, for instance of several orders, can be trained on trees that are read once. A model with classes
    learns them from the tags of the corpus, whose collector counted them, and from the `features` of forms.
    """
    vocabulary, labels, unknown = corpus.vocabulary, corpus.labels, corpus.unknown_types
    provenance: dict[str, Any] = {"words": len(corpus.rows), "trees": len(corpus.lengths)}
    provenance["unknown_words"] = int(corpus.counts[corpus.new_words == 0].sum())

    def estimated(
        events: Iterable[Ids], sizes: tuple[int, ...], prune: tuple[int, ...], lowest: FloatArray | None = None
    ) -> Estimate:
        source = TupleEvents(sizes)
        for block in events:
            source.add(block)
        return estimate(
            source, SMOOTHINGS[settings.smoothing](), prune=prune, lowest=lowest, jobs=jobs, progress=progress
        )

    classes = None
    if settings.classes:
        words, classes, recorded = train_factors(corpus, features or {}, settings.order, settings.prune, estimated)
        unknown = int(classes.unknown_types.sum())
        provenance |= recorded
    else:
        label_count = len(labels) if settings.labelled else 1
        sizes = path_sizes(settings.order, len(vocabulary), label_count)
        events = (paths(block, settings.order, len(vocabulary), label_count) for block in corpus.blocks())
        words = estimated(events, sizes, settings.prune)
    provenance |= {"ngrams": words.ngrams, "discounts": [list(values) for values in words.discounts]}
    return DependencyModel(settings, vocabulary, labels, words.tables, unknown, provenance, classes)


def check_sizes(model: DependencyModel) -> None:
    """Raise ContentsError for tables without the symbols and the orders that they must have."""
    order, words, labels = model.settings.order, len(model.vocabulary), model._labels
    if model.classes is None:
        model.tables.check_symbols("tables", path_sizes(order, words, labels))
        return
    paths = model._class_paths
    model.tables.check_symbols("tables", paths.word_sizes)
    model.classes.tables.check_symbols("class_tables", paths.class_sizes)
    model.classes.members.check_symbols("member_tables", paths.member_sizes[:2])


def _rounded(model: DependencyModel) -> DependencyModel:
    classes = model.classes
    if classes:
        classes = replace(classes, tables=rounded(classes.tables), members=rounded(classes.members))
    return replace(model, tables=rounded(model.tables), classes=classes)


FILE = ModelFile(
    DependencyModel,
    "dependency",
    "dependency language model",
    check=check_sizes,
    rounded=_rounded,
)
read_model, write_model = FILE.read, FILE.write
