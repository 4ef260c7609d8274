"""How many types a class of unknown words stands for: a particular one has the share of one type of its probability.

A model gives a probability m to a class of unknown words in a context. The class is `<unk>`, or a signature
(signatures.py). A sentence has no class in it, but one word of the T types that the class stands for, each of which has

    p(w) = m / T

so that the probabilities of all known words, and T times that of one unknown word of each class, sum to one. With m
itself, a non-word would be more probable than most words of the vocabulary.

T counts the types that the class has replaced in the training text, and estimates how many more there are beyond the
text from the numbers n1 and n2 of types of the class that occur once and twice in it (Chao 1984, in the form without
bias; a lower bound, right in order of magnitude):

    T = replaced + n1 (n1 - 1) / (2 (n2 + 1))

`<unk>` that has replaced nothing has its probability from smoothing, as one type among all others, and T = 1. That is
KenLM's `<unk>`, with one share of the uniform distribution. A model that does not record T, such as an ARPA file, is
read with T = 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray, LongArray
from rerank_plugins.core.interfaces import option
from rerank_plugins.kit.vocabulary.signatures import class_of, is_signature


def unseen_types(once: int, twice: int) -> float:
    """How many types there are at least that a text lacks, of whose types this many occur `once` and `twice` in it.

    >>> unseen_types(100, 49), unseen_types(1, 0)
    (99.0, 0.0)
    """
    return once * (once - 1) / (2 * (twice + 1))


def types_of_unknown(counts: LongArray, kept: BoolArray) -> int:
    """T of `<unk>`, which replaces the types with these counts unless they are `kept`.

    >>> types_of_unknown(np.array([9, 2, 1, 1, 1]), np.array([True, True, False, False, False]))
    5
    """
    replaced = int(np.sum(~kept & (counts > 0)))
    return replaced + round(unseen_types(int(np.sum(counts == 1)), int(np.sum(counts == 2)))) if replaced else 1


def types_of_signatures(counts: Mapping[tuple[str, bool], int], vocabulary: Container[str]) -> dict[str, int]:
    """T of each signature of a vocabulary, from the counts of words as first words of sentences and as others.

    The words are those of the training text before any of them was replaced, in their normal form. A signature that no
    word of it has is left out: it is one type.

    >>> words = {("cat", False): 2, ("dog", False): 1, ("cow", False): 1, ("Meg", False): 1}
    >>> types_of_signatures(words, {"cat", "UNK", "UNK-LC"})
    {'UNK-LC': 2, 'UNK': 1}
    """
    totals = Counter[str]()
    for (word, _), count in counts.items():
        totals[word] += count
    replaced, once, twice = Counter[str](), Counter[str](), Counter[str]()
    for word, first in counts:
        is_known, total = word in vocabulary, totals[word]
        if is_known and total > 2:
            continue
        form = class_of(word, first, vocabulary)
        replaced[form] += not is_known
        once[form] += total == 1
        twice[form] += total == 2
    types = {form: replaced[form] + round(unseen_types(once[form], twice[form])) for form in replaced}
    return {form: number for form, number in types.items() if number}


def ln_types(words: Sequence[str], types: Mapping[str, int] | int) -> FloatArray:
    """(V) ln T of each word of a vocabulary that is a signature, 0 for the others; a number is that of each signature.

    >>> np.exp(ln_types(["UNK", "UNK-LC", "cat"], {"UNK-LC": 8})).round().tolist()
    [1.0, 8.0, 1.0]
    """

    def ln(word: str) -> float:
        return math.log(types if isinstance(types, int) else types.get(word, 1)) if is_signature(word) else 0.0

    return np.array(list(map(ln, words)), np.float64)


def read_unknown_types(settings: Mapping[str, Any]) -> dict[str, int]:
    """T of each signature by the settings of a model file.

    Raises KeyError, ValueError or TypeError for a file that is damaged.
    """
    types = {str(form): int(number) for form, number in dict(settings["unknown_types"]).items()}
    if min(types.values(), default=1) < 1:
        raise ValueError(f"a signature of {min(types.values())} types")
    return types


def divide_unknown(ln_p: FloatArray, unknown: BoolArray, types: int) -> None:
    """Give the unknown ones among (n) words, whose `ln_p` are those of `<unk>`, the share of one of its types."""
    if types > 1:
        ln_p[unknown] -= math.log(types)


def unknown_types_option(default: str) -> Any:
    """The option that states how many types a class of unknown words stands for; `default` is the meaning of None."""
    return option(
        None,
        doc="types among which the probability of a class of unknown words is divided, so that each word has a share; "
        f"1: it is not divided; default: {default}",
    )


def check_unknown_types(types: int | None) -> None:
    """Raise ValueError unless the option states a number of types, or is left to the model."""
    if types is not None and types < 1:
        raise ValueError(f"unknown_types = {types}: wanted 1 or more")
