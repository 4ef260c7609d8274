"""Events of the dependency language model with classes: the word below its ancestors, its class, the word in its class.

With the classes K of forms (word_classes.py), the probability of a word w below its ancestors a_1 (its head), a_2, …,
whose arcs down to it have the labels g_1, g_2, …, backs off on one fixed path (factored language models, Bilmes and
Kirchhoff 2003), first to fewer ancestors as in the paper, and then to classes instead of the unigram:

    P(w | a_1, g_1 … a_m, g_m)  ←  …  ←  P(w | a_1, g_1)  ←  P(K(w) | …) · P(w | K(w), g_1)

The class is predicted from the head, and then from classes alone:

    P(K(w) | a_1, (K(a_2), g_2), K*(a_1), (g_1, f(w)))  ←  … | (K(a_2), g_2), K*(a_1), (g_1, f(w))
        ←  … | K*(a_1), (g_1, f(w))  ←  … | (g_1, f(w))  ←  … | nothing

Each arrow loses one symbol of a context, so each of the three is a back-off model of tuples. The tree and its
labels are given, so both may look at labels anywhere in it:

- K*(a_1) is the class of the word that is inflected for a_1: its first auxiliary or copula (*has* of *has laughed*), if
  it has one other than w itself. So the auxiliary comes before the subject. No word is before itself: the product of
  all words is a probability of the sentence.
- f(w) says whether w has an auxiliary or copula, a subject, a marker (*to laugh*) and a determiner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rerank_plugins import IntArray
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.dependency.ancestor_paths import NONE, Ids, TreePaths, path_sizes, paths

INFLECTED = {"aux", "cop"}
FRAME = {"aux": 1, "cop": 1, "nsubj": 2, "csubj": 2, "expl": 2, "mark": 4, "det": 8}  # the bits of f(w)
FRAME_BITS, FRAMES = (1, 2, 4, 8), 16


@dataclass(frozen=True, eq=False)
class ClassPaths:
    """Makes the events. The numbers of words are those of `class_of` (symbols); ROOT follows them, and the classes.

    `is_inflected` and `frame` say by label whether it is that of an auxiliary or copula, and its bit of f.
    """

    class_of: IntArray
    classes: int
    order: int
    is_inflected: BoolArray
    frame: IntArray

    @classmethod
    def of(cls, class_of: IntArray, classes: int, order: int, labels: tuple[str, ...]) -> ClassPaths:
        """The events of a model of this order with these labels, subtypes or not."""
        names = [label.partition(":")[0] for label in labels]
        inflected, frame = [name in INFLECTED for name in names], [FRAME.get(name, 0) for name in names]
        return cls(class_of, classes, order, np.array(inflected, np.bool_), np.array(frame, np.int32))

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """The sizes of the columns of class events, K(w) first, then the nearest symbol of the context."""
        labels, kinds = len(self.frame), self.classes + 1
        sizes = (self.classes, labels * FRAMES, kinds, kinds * labels, len(self.class_of) + 1)
        return sizes if self.order > 2 else (*sizes[:3], sizes[4])

    @property
    def word_sizes(self) -> tuple[int, ...]:
        """The sizes of the columns of words below their ancestors, w first."""
        return path_sizes(self.order, len(self.class_of), len(self.frame))

    @property
    def member_sizes(self) -> tuple[int, int, int]:
        """The sizes of the columns of words in their classes, w first, and a_1 last."""
        symbols = len(self.class_of)
        return symbols, self.classes * len(self.frame), symbols + 1

    def of_classes(self, forest: TreePaths) -> Ids:
        """(n, 5, of order 2: 4) the event of each word's class: a_1, K(a_2) and g_2, K*(a_1), g_1 and f(w), K(w)."""
        words, heads, labels = forest.words, forest.heads, forest.labels
        root, count = len(self.class_of), len(self.frame)
        own = self.class_of[words]
        class_of = np.append(self.class_of, np.int32(self.classes))  # that of ROOT is the last one
        below = np.flatnonzero(heads >= 0)  # words that hang on a word
        frame = np.zeros(len(words), np.int32)
        bits = self.frame[labels[below]]
        for bit in FRAME_BITS:
            frame[heads[below[bits == bit]]] |= bit  # several such dependents of a word are one
        inflected = np.arange(len(words), dtype=np.int32)
        auxiliary = below[self.is_inflected[labels[below]]][::-1]
        inflected[heads[auxiliary]] = auxiliary  # the first one is written last
        bearer = inflected[heads[below]]
        bearer = np.where(bearer == below, heads[below], bearer)
        head_class = np.full(len(words), self.classes, np.int32)
        head_class[below] = own[bearer]
        columns = [head_class, labels * FRAMES + frame, own]
        head = np.full(len(words), NONE, np.int32)
        head[below] = words[heads[below]]
        if self.order > 2:
            above = np.full(len(words), NONE, np.int32)
            grandparent = forest.heads[heads[below]]
            symbol = np.where(grandparent >= 0, words[grandparent], root)
            above[below] = class_of[symbol] * count + labels[heads[below]]
            columns.insert(0, above)
        return np.stack([head, *columns], axis=1).astype(np.int32)

    def of_words(self, forest: TreePaths) -> Ids:
        """(n, order) the event of each word below its ancestors, as in the paper."""
        return paths(forest, self.order, len(self.class_of), len(self.frame))

    def of_members(self, forest: TreePaths) -> Ids:
        """(n, 3) the event of each word in its class, and where it counts: a_1, K(w) and g_1, w."""
        head = np.where(forest.heads >= 0, forest.words[forest.heads], len(self.class_of))
        kind = self.class_of[forest.words] * len(self.frame) + forest.labels
        return np.stack([head, kind, forest.words], axis=1).astype(np.int32)
