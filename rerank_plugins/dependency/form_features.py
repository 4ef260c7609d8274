"""The morphological features of word forms in treebanks, as far as the forms themselves show them.

A treebank says *they laugh* (plural, present), *you laugh* and *to laugh*, but the form is the same. So of the FEATS of
CoNLL-U, those of inflection are kept (XPOS where a word has none), and within a part of speech bundles of features are
joined that the forms hardly distinguish. Take two bundles, and predict for each occurrence of a form with one of them
which one it is, from the other occurrences of the form. The bundles are joined while this explains less than
`DISTINCT` of the entropy of the choice, the least distinct pair first, and bundles of fewer than `RARE` occurrences
before all others. In English the singular and the plural of nouns remain, and of verbs four forms: *laugh*, *laughs*,
*laughed* and *laughing*.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.dependency_tree import read_conllu_lines
from rerank_plugins.kit.files.text import open_text

INFLECTION = {"Number", "Person", "Gender", "Case", "Tense", "Mood", "VerbForm", "Degree"}
DISTINCT, RARE = 0.5, 30
SNIFFED = 1000  # sentences in which a treebank with features shows one
NONE = "_"  # an empty column of CoNLL-U
Features = Mapping[tuple[str, str], Mapping[str, float]]  # of a form and its UPOS: how often it has which features


def read_features(paths: Iterable[Path], form: Callable[[str], str]) -> Features:
    """The features of the forms in these treebanks; `form` is applied to each word. Words without any are left out.

    A treebank without features in its first `SNIFFED` sentences, such as a parser writes, is not read to its end.
    Raises FormatError as `read_conllu` does.
    """
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for path in paths:
        has_features = False
        with open_text(path) as lines:
            for number, sentence in enumerate(read_conllu_lines(lines, str(path))):
                for _, (_, word, _, upos, xpos, feats, *_) in sentence.rows:
                    if feats != NONE or xpos != NONE:
                        counts[form(word), upos][_inflection(feats) or xpos] += 1
                        has_features = True
                if number >= SNIFFED and not has_features:
                    break
    return counts


def _inflection(feats: str) -> str:
    """The features of inflection among those of a column.

    >>> _inflection("Case=Nom|Number=Sing|PronType=Prs")
    'Case=Nom|Number=Sing'
    """
    return "|".join(feat for feat in feats.split("|") if feat.partition("=")[0] in INFLECTION)


def joined_features(features: Features) -> dict[tuple[str, str], str]:
    """The most frequent of the bundles that each one is joined with, by part of speech and bundle."""
    by_tag: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (form, tag), bundles in features.items():
        for bundle, count in bundles.items():
            by_tag[tag][bundle][form] = count
    return {(tag, bundle): name for tag, forms in by_tag.items() for bundle, name in _joined(forms).items()}


def _joined(forms: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    """The name of each bundle of a part of speech, whose counts are by bundle and form."""
    number = {form: i for i, form in enumerate(dict.fromkeys(form for counts in forms.values() for form in counts))}
    columns = {}
    for bundle, counts in forms.items():
        columns[bundle] = np.zeros(len(number))
        columns[bundle][[number[form] for form in counts]] = list(counts.values())
    names = {bundle: bundle for bundle in columns}
    distances: dict[tuple[str, str], float] = {}
    while len(columns) > 1:
        ranked = sorted(columns, key=lambda bundle: (-columns[bundle].sum(), bundle))
        pairs = [(a, b) for i, a in enumerate(ranked) for b in ranked[i + 1 :]]
        for a, b in pairs:
            if (a, b) not in distances:
                rare = columns[b].sum() < RARE
                distances[a, b] = distinctness(columns[a], columns[b]) - rare
        a, b = min(pairs, key=lambda pair: distances[pair])
        if distances[a, b] >= DISTINCT:
            break
        columns[a] = columns[a] + columns.pop(b)
        names = {bundle: a if name == b else name for bundle, name in names.items()}
        distances = {pair: value for pair, value in distances.items() if not {a, b} & set(pair)}
    return names


def distinctness(one: FloatArray, other: FloatArray) -> float:
    """How well forms tell two bundles apart, from their (forms) counts: 1 if each form has one, about 0 by chance.

    The share of the entropy of the choice that the other occurrences of a form explain, among forms that occur twice.

    >>> distinctness(np.array([8.0, 0.0]), np.array([0.0, 8.0])) > 0.9
    True
    >>> distinctness(np.array([4.0, 4.0]), np.array([4.0, 4.0])) < 0.1
    True
    """
    total = one + other
    often = total >= 2
    if not often.any():
        return 0.0
    chance = one.sum() / total.sum()
    explained = possible = 0.0
    for counts, prior in ((one[often], chance), (other[often], 1 - chance)):
        seen = counts > 0
        rest = (counts[seen] - 1 + prior / 2) / (total[often][seen] - 1 / 2)
        explained -= float((counts[seen] * np.log(rest)).sum())
        possible -= float(counts[seen].sum() * np.log(prior))
    return 1 - explained / possible if possible else 0.0
