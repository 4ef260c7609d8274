"""Concepts of headwords: a model of structured vectors for meaning alone, without the syntax of its states.

It is the model of model.py with two restrictions. Its rules are those of a grammar without concepts, so that P_M says
nothing about them; and L(ID) is the identity, so that all constituents of a headword have its concept. What is left is
a tree of headwords h with a concept each,

    P(tree) ∝ a_T[i_root] · Π P_L(i | i_above, l) · Π P_H(h | c, i)

where l is the relation of the headword's constituent to the one above, and c the part of speech of the headword. Many
concepts and headwords fit in a small file, since there are no rules and the states of a headword share its emissions.

Stored are the ratios P_H(h | c, i) / P_H(h | c): posteriors depend on P_H through them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, ModelError, PickledFields, Tree
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.kit.files.array_values import ContentsError
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Setting, WordList
from rerank_plugins.svs.head_arcs import HeadArcs, content_tree, word_class
from rerank_plugins.svs.states import MODIFIER
from rerank_plugins.svs.tree_posteriors import UNKNOWN_ROW, GivenTrees, posteriors

EMBEDDED = embedded("concepts.svs")
UNKNOWN_FORM = "<unk>"  # stands for the rare headwords of a part of speech
NUMBER = "<num>"  # stands for all tokens with a digit


def form(word: str) -> str:
    """The form of a word as a headword: in lower case, all numbers alike, brackets as characters.

    >>> form("The"), form("1,000"), form("B2"), form("-LRB-")
    ('the', '<num>', '<num>', '(')
    """
    return NUMBER if any(map(str.isdigit, word)) else normal_form(word).lower()


def head_name(word: str, tag: str) -> str:
    """The name of a headword with its part of speech.

    >>> head_name("Dogs", "NNS")
    'dogs/NN'
    """
    return f"{form(word)}/{word_class(tag)}"


@dataclass(frozen=True, eq=False)
class ConceptModel(PickledFields):
    """V headwords h, R relations l, K concepts i. All probabilities are plain, not logarithms."""

    # (V) names h/c, the most frequent first; <unk>/c stands for the rare ones of a part of speech
    heads: Annotated[tuple[str, ...], WordList("V")]
    # (V) how often each occurs, times the weight of its treebank; and how often as a content word, which has a concept
    counts: Annotated[FloatArray, Array("V", values="not negative")]
    used: Annotated[FloatArray, Array("V", values="not negative")]
    relations: Annotated[tuple[str, ...], WordList("R")]  # (R) names; the first, MOD, stands for rare ones
    # (V, K) P_H(h | c, i) / P_H(h | c)
    emission: Annotated[NDArray[np.float16], Array("V", "K", values="not negative")]
    # (R, K, K) P_L(i | i above, l)
    transfer: Annotated[NDArray[np.float16], Array("R", "K", "K", values="probabilities")]
    root: Annotated[FloatArray, Array("K", values="probabilities")]  # (K) a_T
    prior: Annotated[FloatArray, Array("K", values="positive")]  # (K) P(i), the mean posterior of all headwords
    # how many types <unk>/c stands for, by its name
    unknown_types: Annotated[Mapping[str, int], Setting()] = field(default_factory=dict)
    settings: Annotated[Mapping[str, Any], Setting("training", versioned=True)] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.relations or self.relations[0] != MODIFIER:
            raise ModelError("damaged model of concepts: its first relation is not MOD")
        for name, types in self.unknown_types.items():
            if not (name.startswith(f"{UNKNOWN_FORM}/") and isinstance(types, int) and types > 0):
                raise ModelError(f"damaged model of concepts: unknown_types has {types!r:.20} for {name!r:.40}")

    @property
    def concepts(self) -> int:
        """K, the number of concepts."""
        return len(self.root)

    @cached_property
    def _heads(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.heads)}

    @cached_property
    def _relations(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.relations)}

    @cached_property
    def _parameters(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.emission.astype(np.float64), self.transfer.astype(np.float64), self.root

    @cached_property
    def _information(self) -> dict[str, float]:
        """The information of each form, -ln P(form), summed over its parts of speech."""
        totals: dict[str, float] = {}
        for name, count in zip(self.heads, self.counts.tolist(), strict=True):
            word = name.rpartition("/")[0]
            if word != UNKNOWN_FORM and count > 0:
                totals[word] = totals.get(word, 0.0) + count
        values = np.log(np.array(list(totals.values())) / self.counts.sum())
        return dict(zip(totals, (-values).tolist(), strict=True))

    @cached_property
    def _most_information(self) -> float:
        """The information of the rarest form."""
        return max(self._information.values())

    def __contains__(self, word: object) -> bool:
        """Whether the model has the word as a headword of any part of speech."""
        return isinstance(word, str) and form(word) in self._information

    def information(self, words: Sequence[str]) -> FloatArray:
        """(n) -ln P(word); of a word that is rare or unknown, the information of the rarest known one."""
        known, most = self._information, self._most_information
        return np.array([known.get(form(word), most) for word in words], np.float64)

    def head_number(self, word: str, tag: str) -> int:
        """The number of a headword, or of the rare ones of its part of speech; UNKNOWN_ROW if the model has none."""
        number = self._heads.get(head_name(word, tag))
        return self._heads.get(f"{UNKNOWN_FORM}/{word_class(tag)}", UNKNOWN_ROW) if number is None else number

    def lay_out(self, trees: Sequence[HeadArcs]) -> tuple[GivenTrees, IntArray]:
        """The content words of trees as nodes, and (nodes) their places among the words of all trees."""
        return lay_out(trees, self.head_number, lambda name: self._relations.get(name, 0))

    @property
    def mean(self) -> FloatArray:
        """(K) P(i), the mean posterior in the trees of training."""
        return self.prior

    def of_trees(self, trees: Sequence[Tree], arcs: Sequence[HeadArcs]) -> tuple[FloatArray, IntArray]:  # noqa: ARG002
        """(m, K) the posteriors of the content words of trees, and (m) their places among the words of all trees.

        `arcs` are those of the trees.
        """
        given, places = self.lay_out(arcs)
        return posteriors(given, *self._parameters), places


def lay_out(
    trees: Sequence[HeadArcs], head_number: Callable[[str, str], int], relation_number: Callable[[str], int]
) -> tuple[GivenTrees, IntArray]:
    """The content words of trees as nodes, and (nodes) their places among all words, sentence after sentence.

    The functions give the numbers of headwords, by word and tag, and of relations.
    """
    parent, relation, rule, places, offsets, begin = list[int](), list[int](), list[int](), list[int](), [0], 0
    for tree in trees:
        content, first = content_tree(tree), len(parent)
        parent += [first + above if above >= 0 else -1 for above in content.parent]
        relation += map(relation_number, content.relations)
        rule += [head_number(tree.words[place], tree.tags[place]) for place in content.places]
        places += [begin + place for place in content.places]
        offsets.append(len(parent))
        begin += len(tree.words)
    columns = (np.array(column, np.int32) for column in (parent, relation, rule))
    return GivenTrees(np.array(offsets, np.int64), *columns), np.array(places, np.int32)


def check_counts(model: ConceptModel) -> None:
    """Raise ContentsError unless some known headword occurs."""
    rare, counted = f"{UNKNOWN_FORM}/", zip(model.heads, model.counts, strict=True)
    if not any(count > 0 and not name.startswith(rare) for name, count in counted):
        raise ContentsError("counts has 0 for all headwords but rare ones, wanted one above 0")


FILE = ModelFile(ConceptModel, "concepts", "model of concepts", check=check_counts)
read_model, write_model = FILE.read, FILE.write


def read_or_embedded(model: Any = None) -> ConceptModel:
    """The model of a file or, if `model` is None, the embedded one, which is read once in a process.

    Raises ModelError for a file that is missing, cut short, of another version or kind.
    """
    return shared_if_embedded(model or EMBEDDED, read_model)
