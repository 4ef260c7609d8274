"""Finds declarative main clauses, which rules turn into questions and embedded clauses, and edits their words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.english.english_lexicon import Lexicon, animacy_of
from rerank_plugins.english.tree_view import WH, TreeView
from rerank_plugins.english.word_lists import FINITE_AUXILIARIES, word_set

Words = list[str]
NOT_PLAIN = word_set("? ! ; : `` '' \" ( -- - ... whether if where when how why") | WH
CONTRACTED = word_set("'s 'll 'd 've 're 'm ca wo sha")
DO_SUPPORT = {"did": "past", "does": "third", "do": "base"}  # the auxiliary of a question, by the form of its verb


class MinimalPair(NamedTuple):
    """A sentence and a worse one; the phenomenon is a field of grammar, the rule names the edit."""

    phenomenon: str
    rule: str
    good: tuple[str, ...]
    bad: tuple[str, ...]


class Setting(NamedTuple):
    """The input of the rules: the tree, the lexicon and the generator of random numbers."""

    view: TreeView
    lexicon: Lexicon
    rng: np.random.Generator

    def drawn(self, choices: Sequence[str]) -> str:
        """One of these words."""
        return choices[int(self.rng.integers(len(choices)))]

    def contrast(self, phenomenon: str, rule: str, good: Words, bad: Words) -> MinimalPair:
        """The pair of these words as sentences."""
        return MinimalPair(phenomenon, rule, sentence(good), sentence(bad))

    def changed(self, phenomenon: str, rule: str, changes: Mapping[int, str]) -> MinimalPair:
        """The sentence of the tree, and the same with some words replaced (see `replaced`)."""
        return MinimalPair(phenomenon, rule, self.view.tree.words, replaced(self.view, changes))


def sentence(words: Sequence[str], mark: str = ".") -> tuple[str, ...]:
    """The words as a sentence: with a capital letter and a mark at the end."""
    return (words[0][:1].upper() + words[0][1:], *words[1:], mark)


def plain(view: TreeView, positions: Collection[int]) -> Words:
    """The words at these positions, in order; the first word of the sentence loses its capital unless it is a name."""
    return [uncapitalised(view, i) for i in sorted(positions)]


def uncapitalised(view: TreeView, word: int) -> str:
    """A word as it stands within a sentence."""
    form = view.tree.words[word]
    keeps = word > 0 or view.tags[word] == "PROPN" or view.words[word] in ("i", "i'm")
    return form if keeps else view.words[word]


def replaced(view: TreeView, changes: Mapping[int, str]) -> tuple[str, ...]:
    """The words of the sentence after some were replaced, or left out where the new word is empty."""
    words = [_cased(changes[i], form, i) if i in changes else form for i, form in enumerate(view.tree.words)]
    if not words[0] and len(words) > 1:
        words[1] = words[1][:1].upper() + words[1][1:]
    return tuple(word for word in words if word)


def _cased(word: str, like: str, position: int) -> str:
    capital = word == "i" or (like[:1].isupper() and (like != "I" or not position))
    return word[:1].upper() + word[1:] if capital else word


def phrase(view: TreeView, head: int) -> range | None:
    """The positions of a phrase, if they are contiguous and without punctuation."""
    positions = view.subtree(head)
    if positions[-1] - positions[0] + 1 != len(positions) or any(view.tags[i] == "PUNCT" for i in positions):
        return None
    return range(positions[0], positions[-1] + 1)


@dataclass(frozen=True)
class Declarative:
    """A plain declarative sentence: subject, auxiliaries, verb, rest and a full stop, without question words."""

    view: TreeView
    verb: int
    subject: range
    body: range  # all words but the final mark

    @property
    def objects(self) -> Iterator[tuple[int, range]]:
        """The object of the verb and its phrase, if there is one."""
        objects = self.view.dependents(self.verb, "obj", "iobj")
        span = phrase(self.view, objects[0]) if len(objects) == 1 else None
        if span is not None and span[0] > self.verb and self.view.relations[objects[0]] == "obj":
            yield objects[0], span

    def without(self, *gone: Collection[int]) -> list[int]:
        """The positions of all words but some of them and the final mark."""
        left_out = {i for positions in gone for i in positions}
        return [i for i in self.body if i not in left_out]

    def question(self, lexicon: Lexicon, filler: Sequence[str], kept: Collection[int]) -> tuple[str, ...] | None:
        """The words `kept` as a question after a filler: with the auxiliary before the subject, or with `do`.

        None for a verb whose form is unknown, and for a negated one.
        """
        auxiliaries = [i for i in self.view.auxiliaries(self.verb) if i < self.verb]
        subject = plain(self.view, self.subject)
        if auxiliaries:
            first, auxiliary = auxiliaries[0], self.view.words[auxiliaries[0]]
            if auxiliary not in FINITE_AUXILIARIES - CONTRACTED or first != self.subject[-1] + 1:
                return None
            if {"not", "n't"} & set(self.view.words[first : first + 3]):
                return None
            return sentence([*filler, auxiliary, *subject, *plain(self.view, [i for i in kept if i > first])], "?")
        base, slots = lexicon.base(self.view.words[self.verb]), lexicon.slots(self.view.words[self.verb])
        support = next((do for do, slot in DO_SUPPORT.items() if slot in slots), None)
        if base is None or support is None:
            return None
        words = self.view.tree.words
        rest = [base if i == self.verb else words[i] for i in sorted(kept) if i > self.subject[-1]]
        return sentence([*filler, support, *subject, *rest], "?")


def declarative(view: TreeView) -> Declarative | None:
    """The sentence as a plain declarative one, or None."""
    if len(view) < 4 or view.words[-1] != "." or NOT_PLAIN & set(view.words) or -1 not in view.heads:
        return None
    root = view.heads.index(-1)
    subject = view.subject(root)
    complex_ = view.first(root, "conj", "parataxis", "expl", "discourse") is not None
    if view.tags[root] != "VERB" or subject is None or complex_:
        return None
    span = phrase(view, subject)
    if span is None or span[0] != 0 or span[-1] > root or view.tags[subject] not in ("NOUN", "PROPN", "PRON"):
        return None
    marked = any(view.relations[i] == "mark" for i in view.children[root])
    if marked or view.words[subject] in ("this", "that", "there"):
        return None
    finite = [i for i in view.auxiliaries(root) if i < root]
    if not finite and root - span[-1] > 2:
        return None
    return Declarative(view, root, span, range(len(view) - 1))


def question_word(setting: Setting, noun: int) -> str:
    """`who` or `what`, after the animacy of a noun."""
    return "who" if animacy_of(setting.view, setting.lexicon, noun) else "what"
