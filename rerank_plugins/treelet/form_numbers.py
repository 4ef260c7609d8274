"""Marks of the number that the form of a noun or verb shows: NOUN-pl of *Senatoren*, VERB-sg of *lacht*.

English tags of the Penn Treebank have the number of words, NNS and VBZ, and universal ones have not. So the tag of an
open class gets a mark where nearly all occurrences of the form are of one number: *Lehrer*, which may be either, gets
none, and the determiner in its phrase decides. The context has no say, since in *der Senator lachen* the subject would
repair what the mark of the verb is to show. Non-finite occurrences are left out of account: *lachen* is plural wherever
it has a number, and *gelacht* has none.

Numbers of occurrences are those of FEATS, or what inflection (kit/trees/inflection.py) finds in a parser's trees. Of
nouns, subjects alone are counted, since *Kunden* is singular only as an object. A form that no tree has gets the mark
of its ending.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np

from rerank_plugins import FloatArray, IntArray, PickledFields
from rerank_plugins.constituency.treebank_files import inflected_sentences, read_inflection
from rerank_plugins.kit.endings import endings
from rerank_plugins.kit.files.model_schema import Array, WordList
from rerank_plugins.kit.trees.features import universal_features
from rerank_plugins.kit.trees.inflection import Chain
from rerank_plugins.kit.trees.inflection_estimates import Observations, estimate
from rerank_plugins.kit.trees.marked_labels import MARK

TAGS = frozenset({"NOUN", "PROPN", "VERB"})
CERTAIN = 0.7  # the proportion of a form's finite or nominal occurrences that have the number of its mark
NONE_OF = 0.95  # the proportion of occurrences without number from which on a form has no mark
SEEN = 2  # occurrences of a form that has an entry of its own, beside that of its ending


def _chain(tag: str, form: str) -> Chain:
    """The keys of a form, the least specific first: its part of speech, its endings, and the form itself."""
    return [(tag,), *((f"{tag}-{ending}",) for ending in list(endings(form))[1:]), (f"{tag}/{form}",)]


def _spelt(tag: str, word: str) -> str:
    """The form of a word: verbs may begin a sentence."""
    return word.lower() if tag == "VERB" else word


@dataclass(frozen=True, eq=False)
class FormNumbers(PickledFields):
    """The marks of forms and endings; those that have the mark of a shorter ending are not listed."""

    marks: Annotated[tuple[str, ...], WordList("M")]
    keys: Annotated[tuple[str, ...], WordList("K")]
    mark_of_key: Annotated[IntArray, Array("K", below="M")]

    @cached_property
    def _known(self) -> dict[str, str]:
        marks = ("", *self.marks[1:])  # the first one is none
        return {key: marks[mark] for key, mark in zip(self.keys, self.mark_of_key.tolist(), strict=True)}

    def marked(self, tag: str, word: str) -> str:
        """The tag of a word with its mark, if it has one."""
        if tag not in TAGS:
            return tag
        mark = ""
        for (key,) in _chain(tag, _spelt(tag, word)):
            mark = self._known.get(key, mark)
        return f"{tag}{MARK}{mark}" if mark else tag


def learn_form_numbers(paths: Sequence[Path]) -> FormNumbers:
    """Learn from CoNLL-U files, of which some have FEATS. Raises FormatError, and ConfigError if none has any."""
    inflection = read_inflection(paths)
    words = (
        (tag, _spelt(tag, word), frozenset(f"{name}:{value}" for name, value in feats.items()))
        for tree, found in inflected_sentences(paths, inflection)
        for word, tag, relation, feats in zip(tree.words, tree.tags, tree.relations, found, strict=True)
        if tag == "VERB" or (tag in TAGS and relation.startswith("nsubj"))
    )
    (number,) = universal_features().chosen(["number"]).features

    def value(feats: frozenset[str]) -> str:
        return next((mark for needed, mark in number.feats if needed <= feats), "")

    return of_occurrences((tag, form, value(feats)) for tag, form, feats in words)


def of_occurrences(occurrences: Iterable[tuple[str, str, str]]) -> FormNumbers:
    """The marks of forms from the part of speech, form and number of each of their occurrences."""
    observations, rows, values = Observations(), list[int](), list[str | None]()
    for tag, form, value in occurrences:
        rows.append(observations.number(_chain(tag, form)))
        values.append(value)
    if not any(values):
        return FormNumbers(("_",), ("_",), np.zeros(1, np.int32))
    estimates = estimate(observations, np.array(rows, np.int32).reshape(-1, 1), values)
    seen = np.bincount(rows, minlength=len(observations.above))
    decided = _decided(estimates.values, np.exp(estimates.ln_prior))
    inherited = list(decided)  # of each observation, the mark that its listed key or a more general one gives
    entries = {}
    for (key, *_), observation in list(observations.numbers.items())[1:]:
        above = inherited[observations.above[observation]] if observations.depth[observation] > 1 else ""
        if "/" in key and seen[observation] < SEEN:
            inherited[observation] = above
        elif decided[observation] != above:
            entries[key] = decided[observation]
    marks = ("_", *sorted(set(entries.values()) - {""}))
    number = {mark: i for i, mark in enumerate(("", *marks[1:]))}
    keys = tuple(sorted(entries))
    return FormNumbers(marks, keys, np.array([number[entries[key]] for key in keys], np.int32))


def _decided(values: Sequence[str], p: FloatArray) -> list[str]:
    """The mark of each observation, from the probabilities (O, B) of the values, of which "" is none."""
    names = np.array([*values, ""])
    has_number = np.array([bool(value) for value in values])
    total = p @ has_number
    best = np.where(has_number, p, -1.0).argmax(axis=1)
    certain = (p[np.arange(len(p)), best] >= CERTAIN * total) & (total > 1 - NONE_OF)
    return [str(name) for name in np.where(certain, names[best], "")]
