"""How many types each class of unknown words stands for, one class at a time."""

import math
from collections import Counter

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.kit.vocabulary.signatures import known_form


def naive_types(sentences, vocabulary):
    """The types of each class that words of the sentences, before any was replaced, have beside the vocabulary."""
    words = Counter(normal_form(word) for sentence in sentences for word in sentence)
    placed = {(normal_form(word), min(i, 1)) for sentence in sentences for i, word in enumerate(sentence)}
    members = {}
    for word, place in placed:
        others = set(vocabulary) - {word}  # the class that the word has, or would have
        members.setdefault(known_form(word, place, others), []).append(word)
    types = {}
    for form, some in members.items():
        ones, twos = (sum(words[word] == n for word in some) for n in (1, 2))
        types[form] = sum(word not in vocabulary for word in some) + round(ones * (ones - 1) / 2 / (twos + 1))
    return types


def naive_share(sentence, types, vocabulary):
    """Σ ln T over the unknown words of a sentence."""
    classes = (known_form(word, i, vocabulary) for i, word in enumerate(sentence))
    return sum(math.log(max(1, types.get(form, 1))) for form in classes)
