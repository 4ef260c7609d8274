"""Classes of words by form: K(w), what the form of a word says about its inflection, whatever its context.

A tag in context would not do. In *the author laugh* a tagger makes *laugh* a noun, and thereby repairs what the class
is to show. So K(w) is a function of the form alone:

- a frequent form of a closed class (*has*, *these*, *who*) is a class of its own, other forms of a closed class have
  that of their part of speech;
- any other form has the class of its most frequent part of speech in the training trees, with the most frequent of the
  features that the form has with it in a treebank (form_features.py), or that forms with the same ending have;
- a form that the trees lack has the class of its shape and ending.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.dependency.ancestor_paths import UNKNOWN_NAME
from rerank_plugins.dependency.form_features import Features, joined_features
from rerank_plugins.kit.endings import endings
from rerank_plugins.kit.files.model_schema import Array, WordList

OPEN = {"ADJ", "ADV", "INTJ", "NOUN", "NUM", "PROPN", "SYM", "VERB", "X", "_"}  # UPOS of open classes, and none
OWN = 150  # forms of closed classes that are classes of their own
TYPES = 3  # forms that have an ending at least
SCARCE = 100  # occurrences up to which a form counts as an example of its ending: unknown words are rare ones
PRIOR, OF_ENDING = 2.0, 0.5  # weight of a shorter ending, in occurrences; and of the ending beside the form itself
Tags = Mapping[str, Mapping[str, int]]  # of a form: how often it has which UPOS


@dataclass(frozen=True, eq=False)
class WordClasses(PickledFields):
    """The class of every form: the names of classes, and the numbers of the classes of words, in order of precedence.

    `of_word` are those of the words of a vocabulary, `of_rare` those of other forms that their ending would mislead
    about, and `of_ending` those of shapes with endings, of which "" is one. The first word of `of_word` and of `rare`
    is the unknown word, whose class is not used.
    """

    names: Annotated[tuple[str, ...], WordList("C")]
    of_word: Annotated[IntArray, Array("W", below="C")]
    rare: Annotated[tuple[str, ...], WordList("R")]
    of_rare: Annotated[IntArray, Array("R", below="C")]
    endings: Annotated[tuple[str, ...], WordList("E")]
    of_ending: Annotated[IntArray, Array("E", below="C")]

    def __len__(self) -> int:
        return len(self.names)

    def of_unknown(self, form: str) -> int:
        """The class of a form that is not in the vocabulary."""
        known = self._of_rare.get(form)
        if known is not None:
            return known
        for ending in endings(form):
            known = self._of_ending.get(ending, known)
        return known or 0

    @cached_property
    def _of_rare(self) -> dict[str, int]:
        return dict(zip(self.rare, self.of_rare.tolist(), strict=True))

    @cached_property
    def _of_ending(self) -> dict[str, int]:
        return dict(zip(self.endings, self.of_ending.tolist(), strict=True))


def learn_classes(tags: Tags, features: Features, vocabulary: Sequence[str]) -> WordClasses:
    """The classes of the forms with these tags in the training trees; `vocabulary` has the unknown word first."""
    frequency = {form: sum(counts.values()) for form, counts in tags.items()}
    forms = sorted(tags, key=lambda form: (-frequency[form], form))
    class_name = _Namer(tags, features, forms)
    name_of = {form: class_name(form) for form in forms}
    names = tuple(dict.fromkeys(name_of.values()))
    number = {name: i for i, name in enumerate(names)}
    of_form = {form: number[name] for form, name in name_of.items()}
    scarce = [form for form in forms if frequency[form] <= SCARCE and form not in class_name.own]
    of_ending = _ending_classes({form: of_form[form] for form in scarce or forms})
    of_word = np.array([0, *(of_form.get(word, 0) for word in vocabulary[1:])], np.int32)
    classes = WordClasses(names, of_word, *_columns({UNKNOWN_NAME: 0}), *_columns(of_ending))
    known = set(vocabulary)
    certain = {form for form, _ in features}
    rare = {UNKNOWN_NAME: 0} | {
        form: of_form[form]
        for form in forms
        if form not in known and (frequency[form] > 1 or form in certain) and classes.of_unknown(form) != of_form[form]
    }
    return WordClasses(names, of_word, *_columns(rare), *_columns(of_ending))


def _columns(of_name: Mapping[str, int]) -> tuple[tuple[str, ...], IntArray]:
    ordered = sorted(of_name, key=lambda name: (name != UNKNOWN_NAME, name))
    return tuple(ordered), np.array([of_name[name] for name in ordered], np.int32)


def _ending_classes(of_form: Mapping[str, int]) -> dict[str, int]:
    """The class of each ending, unless it is that of the next shorter one: that of most of the forms that have it."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    shorter: dict[str, str] = {}
    for form, number in of_form.items():
        before = ""
        for ending in endings(form):
            counts[ending][number] += 1
            shorter[ending] = before
            before = ending
    best = {ending: min(each, key=lambda number: (-each[number], number)) for ending, each in counts.items()}
    kept: dict[str, int] = {}
    inherited: dict[str, int] = {}
    for ending in sorted(counts, key=len):
        above = inherited.get(shorter[ending]) if ending else None
        if above is None or (counts[ending].total() >= TYPES and best[ending] != above):
            kept[ending] = best[ending]
        inherited[ending] = kept.get(ending, -1 if above is None else above)
    return kept


class _Namer:
    """Names the class of a form: the form itself, its part of speech, or that with features."""

    def __init__(self, tags: Tags, features: Features, forms: Sequence[str]) -> None:
        self._tag = {form: min(tags[form], key=lambda tag: (-tags[form][tag], tag)) for form in forms}
        closed = [form for form in forms if self._tag[form] not in OPEN]
        self.own = set(closed[:OWN])
        joined = joined_features({key: counts for key, counts in features.items() if key[1] in OPEN})
        self._of_form: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._of_ending: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for (form, tag), counts in features.items():
            if tag not in OPEN:
                continue
            total = sum(counts.values())
            for bundle, count in counts.items():
                self._of_form[form, tag][joined[tag, bundle]] += count  # type: ignore[assignment]
                for ending in endings(form):
                    self._of_ending[tag, ending][joined[tag, bundle]] += count / total  # type: ignore[assignment]

    def __call__(self, form: str) -> str:
        """The name of the form's class."""
        tag = self._tag[form]
        if form in self.own:
            return form
        if tag not in OPEN or (tag, "") not in self._of_ending:
            return tag
        guess: dict[str, float] = {}
        for ending in endings(form):
            if not (counts := self._of_ending.get((tag, ending))):
                continue
            total = counts.total() + (PRIOR if guess else 0)
            guess = {
                bundle: (counts.get(bundle, 0) + PRIOR * guess.get(bundle, 0.0)) / total
                for bundle in {**guess, **counts}
            }
        own = self._of_form.get((form, tag), Counter())
        score = {bundle: own.get(bundle, 0) + OF_ENDING * guess.get(bundle, 0.0) for bundle in {**guess, **own}}
        return f"{tag} {min(score, key=lambda bundle: (-score[bundle], bundle))}"
