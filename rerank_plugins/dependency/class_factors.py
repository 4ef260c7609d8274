"""The models of a dependency language model with classes (class_paths.py), as they are trained and scored.

Each is an ordinary back-off model of tuples with interpolated Kneser–Ney smoothing:

- words below their ancestors, the paper's model, estimated with p = 0 in the empty context, where the other two follow;
- classes of words, which ends in the uniform distribution over the classes;
- words in their classes, which ends in the uniform distribution over the words of K(w). K(w) is a part of the only
  symbol of its context, and determines them.

So the classes sum to one at every word of a tree, the words of each class too, and the whole over the vocabulary. A
class has an unknown word of its own, whose probability its types share.

Symbols are numbered so: first the unknown word of each class, then the words of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.logarithms import LN10
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.dependency.ancestor_paths import Corpus, TreePaths
from rerank_plugins.dependency.class_paths import ClassPaths
from rerank_plugins.dependency.floors import least_scores
from rerank_plugins.dependency.form_features import Features
from rerank_plugins.dependency.word_classes import WordClasses, learn_classes
from rerank_plugins.kit.backoff.estimation import Estimate
from rerank_plugins.kit.backoff.events import MAX_EVENTS
from rerank_plugins.kit.backoff.scoring import score_above, score_events
from rerank_plugins.kit.backoff.tables import BackoffTables, Tables
from rerank_plugins.kit.files.model_schema import Array, Part
from rerank_plugins.kit.vocabulary.unknown_types import types_of_unknown


@dataclass(frozen=True, eq=False)
class ClassFactors(PickledFields):
    """What a model with classes has besides the tables of words below their ancestors.

    `lexicon` is K, `tables` the model of classes, `members` that of words in their classes; `unknown_types` (C) are the
    types that the unknown word of each class stands for.
    """

    lexicon: Annotated[WordClasses, Part("lexicon.", C="C", W="V")]
    tables: Annotated[BackoffTables, Tables("C", "class_tables.")]
    members: Annotated[BackoffTables, Tables("S", "member_tables.")]
    unknown_types: Annotated[LongArray, Array("C", values="positive")]

    @cached_property
    def class_of(self) -> IntArray:
        """(symbols) the class of each symbol."""
        return symbol_classes(self.lexicon)

    def symbol_of(self, number: int, form: str) -> int:
        """The symbol of a word with this number in the vocabulary, or, where that is 0, of an unknown form."""
        return symbol_of(self.lexicon, number, form)

    def ln_p(self, tables: BackoffTables, paths: ClassPaths, forest: TreePaths) -> FloatArray:
        """(n) ln p of the words, of which unknown ones are not divided yet; `tables` are those below ancestors."""
        by_class = score_events(self.tables, paths.of_classes(forest))[0]
        by_class += score_events(self.members, paths.of_members(forest)[:, 1:])[0]
        return score_above(tables, paths.of_words(forest), by_class)

    def least(self, tables: BackoffTables) -> FloatArray:
        """(symbols) a lower bound of ln p of each symbol in all contexts, of which unknown ones are not divided."""
        by_class = least_scores(self.tables)[self.class_of] + least_scores(self.members)
        least: FloatArray = by_class + tables.weights.min() * LN10
        return least

    def ln_types(self, total: int) -> FloatArray:
        """(symbols) ln of the types that a symbol stands for, which are `total` over all unknown words."""
        types = np.maximum(self.unknown_types * (total / self.unknown_types.sum()), 1.0)
        return np.concatenate([np.log(types), np.zeros(len(self.class_of) - len(types))])


def symbol_of(lexicon: WordClasses, number: int, form: str) -> int:
    """The symbol of a word with this number in the vocabulary, or, where that is 0, of an unknown form."""
    return number + len(lexicon) - 1 if number else lexicon.of_unknown(form)


def symbol_classes(lexicon: WordClasses) -> IntArray:
    """(symbols) the class of each symbol."""
    return np.concatenate([np.arange(len(lexicon)), lexicon.of_word[1:]]).astype(np.int32)


def uniform_in_class(class_of: IntArray) -> FloatArray:
    """(symbols) one over the number of symbols in the class of each symbol."""
    return 1.0 / np.bincount(class_of)[class_of]


def train_factors(
    corpus: Corpus,
    features: Features,
    order: int,
    prune: Sequence[int],
    estimated: Callable[..., Estimate],
) -> tuple[Estimate, ClassFactors, dict[str, Any]]:
    """The estimate of the words below their ancestors; the other models; and what a model file records of them.

    `estimated(events, sizes, prune, lowest)` estimates a model of the blocks of events, with p of the empty context
    where `lowest` is given. Paths of words are pruned by their length, and the two longest contexts of classes, which
    have the class of the grandparent and the head itself, by the last of the cut-offs.
    """
    lexicon = learn_classes(corpus.tags, features, corpus.vocabulary.words)
    class_of, size = symbol_classes(lexicon), len(lexicon)
    numbered_forms = zip(corpus.forms, corpus.new_words.tolist(), strict=True)
    symbols = [symbol_of(lexicon, number, form) for form, number in numbered_forms]
    numbered = corpus.renumbered(np.array(symbols, np.int32))
    paths = ClassPaths.of(class_of, size, order, corpus.labels)
    words = estimated(map(paths.of_words, numbered.blocks()), paths.word_sizes, prune, np.zeros(len(class_of)))
    class_prune = [0] * (len(paths.class_sizes) - 2) + [*prune[-1:]] * 2
    classes = estimated(map(paths.of_classes, numbered.blocks()), paths.class_sizes, class_prune, None)
    members = estimated(
        map(paths.of_members, numbered.blocks()), paths.member_sizes, (0, 0, MAX_EVENTS), uniform_in_class(class_of)
    )
    recorded = {"classes": size, "class_ngrams": classes.ngrams, "member_ngrams": members.ngrams}
    types = _unknown_types(corpus, symbols, class_of)
    return words, ClassFactors(lexicon, classes.tables, _without_last(members.tables), types), recorded


def _without_last(tables: BackoffTables) -> BackoffTables:
    """Tables whose longest n-grams were all pruned, as those of the next lower order.

    A word in its class counts once for each head that it has, as lower orders do in Kneser–Ney smoothing.
    """
    return replace(tables, context_levels=tables.context_levels[:-1], event_levels=tables.event_levels[:-1])


def _unknown_types(corpus: Corpus, symbols: Sequence[int], class_of: IntArray) -> LongArray:
    """(classes) the types that the unknown word of each class stands for."""
    counts: dict[str, int] = {}
    for form, count in zip(corpus.forms, corpus.counts.tolist(), strict=True):
        counts[form] = counts.get(form, 0) + count
    symbol = dict(zip(corpus.forms, symbols, strict=True))
    of_form = class_of[[symbol[form] for form in counts]]
    size = int(class_of.max()) + 1
    known, count = np.array([symbol[form] >= size for form in counts]), np.array([*counts.values()], np.int64)
    types = [types_of_unknown(count[of_form == number], known[of_form == number]) for number in range(size)]
    return np.array(types, np.int64)
