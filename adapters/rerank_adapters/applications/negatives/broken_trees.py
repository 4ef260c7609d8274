"""Breaks rules of grammar that a treebank of any language shows: agreement, case, and the order of words.

Nothing here knows a language. The forms of a word, and the side of its head on which a dependent stands, are
counted in the treebank; the features are those of Universal Dependencies.

    agreement   a verb that shares Number, Person or Gender with its subject, or a modifier with its noun, gets
                a form of its lemma in which one of these features has another value, and all others the same
    case        a word gets a form of its lemma in which Case alone has another value
    order       a dependent, with all that depends on it, goes to the other side of its head, where its relation nearly
                always has it on this one

A form that the treebank attests with the features of the word itself, too, is not an error and is not used. The first
word of a sentence stays, so that capitals do not reveal an error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rerank_plugins.core.dependency_tree import DependencyTree

AGREEING = ("Number", "Person", "Gender")
WITH_SUBJECT, WITHIN_PHRASE = ("nsubj",), ("det", "amod", "nummod")
MIN_SHARE, MIN_DEPENDENTS = 0.97, 20  # proportion of dependents on one side, and their number, of a rule of order
Features = Mapping[str, str]


@dataclass(frozen=True)
class Sentence:
    """A tree with the lemma and the features of each word; `heads` as those of the tree."""

    tree: DependencyTree
    lemmas: Sequence[str]
    features: Sequence[Features]

    def relation(self, word: int) -> str:
        """The relation of a word without its subtype."""
        return self.tree.relations[word].partition(":")[0]

    def span(self, word: int) -> range | None:
        """The words of the subtree of a word; None if they are not contiguous."""
        below = {word}
        while more := {i for i, head in enumerate(self.tree.heads) if head in below} - below:
            below |= more
        span = range(min(below), max(below) + 1)
        return span if len(span) == len(below) else None


class BrokenSentence(NamedTuple):
    """The words of a sentence after a rule was broken, with the phenomenon and the rule."""

    phenomenon: str
    rule: str
    words: tuple[str, ...]


@dataclass
class Grammar:
    """Observations of a treebank: the forms of lemmas with their features, and the sides of dependents."""

    forms: dict[tuple[str, str], dict[str, set[frozenset[tuple[str, str]]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )
    sides: dict[tuple[str, str, str], Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> Grammar:
        """The grammar of the sentences."""
        grammar = cls()
        for sentence in sentences:
            tree = sentence.tree
            for word, head in enumerate(tree.heads):
                form = tree.words[word].lower()
                grammar.forms[sentence.lemmas[word], tree.tags[word]][form].add(_set(sentence.features[word]))
                if head >= 0:
                    grammar.sides[_arc(sentence, word)][word > head] += 1
        return grammar

    def others(self, sentence: Sentence, word: int, differing: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Forms of a word's lemma in which one of the features has another value, and all others the same."""
        own, form = sentence.features[word], sentence.tree.words[word].lower()
        for other, analyses in self.forms[sentence.lemmas[word], sentence.tree.tags[word]].items():
            if other == form or _set(own) in analyses:
                continue
            for name in differing:
                rest = {pair for pair in _set(own) if pair[0] != name}
                changed = (dict(analysis).get(name, own.get(name)) != own.get(name) and
                           {pair for pair in analysis if pair[0] != name} == rest for analysis in analyses)  # fmt: skip
                if name in own and any(changed):
                    yield other, name

    def side(self, sentence: Sentence, word: int) -> bool | None:
        """Whether dependents such as this word stand on the right of their heads; None if there is no rule."""
        counts = self.sides[_arc(sentence, word)]
        side, count = counts.most_common(1)[0] if counts else (False, 0)
        return side if count >= MIN_DEPENDENTS and count >= MIN_SHARE * counts.total() else None


def _set(features: Features) -> frozenset[tuple[str, str]]:
    return frozenset(features.items())


def _arc(sentence: Sentence, word: int) -> tuple[str, str, str]:
    tree = sentence.tree
    return sentence.relation(word), tree.tags[tree.heads[word]], tree.tags[word]


def _partners(sentence: Sentence, word: int) -> Iterator[int]:
    """The words that a word agrees with: subject and verb (or its auxiliary), and a noun with its modifiers."""
    heads, head = sentence.tree.heads, sentence.tree.heads[word]
    clause = head if sentence.relation(word) in ("aux", "cop") else word
    if sentence.relation(word) in WITHIN_PHRASE:
        yield head
    elif sentence.tree.tags[word] in ("VERB", "AUX"):
        yield from (i for i, h in enumerate(heads) if h == clause and sentence.relation(i) in WITH_SUBJECT)


def agreement(sentence: Sentence, grammar: Grammar) -> Iterator[BrokenSentence]:
    """A verb that does not agree with its subject, or a modifier that does not with its noun."""
    for word in range(1, len(sentence.lemmas)):
        shared = {
            name
            for partner in _partners(sentence, word)
            for name in AGREEING
            if sentence.features[partner].get(name, "") == sentence.features[word].get(name)
        }
        kind = "subject" if sentence.tree.tags[word] in ("VERB", "AUX") else sentence.relation(word)
        for form, name in grammar.others(sentence, word, [name for name in AGREEING if name in shared]):
            yield _replaced(sentence, word, form, "agreement", f"{kind} {name.lower()}")


def case(sentence: Sentence, grammar: Grammar) -> Iterator[BrokenSentence]:
    """A word in another case."""
    for word in range(1, len(sentence.lemmas)):
        for form, _ in grammar.others(sentence, word, ["Case"]):
            yield _replaced(sentence, word, form, "case", f"case of {sentence.tree.tags[word].lower()}")


def order(sentence: Sentence, grammar: Grammar) -> Iterator[BrokenSentence]:
    """A dependent on the wrong side of its head."""
    words = sentence.tree.words
    for word, head in enumerate(sentence.tree.heads):
        span = sentence.span(word)
        if head < 0 or span is None or span.start == 0 or head == 0 or sentence.tree.tags[word] == "PUNCT":
            continue
        right = word > head
        if grammar.side(sentence, word) is not right:
            continue
        moved, between = words[span.start : span.stop], range(head, span.start) if right else range(span.stop, head + 1)
        rest = tuple(words[i] for i in between)
        inner = (*moved, *rest) if right else (*rest, *moved)
        start, stop = min(span.start, between.start), max(span.stop, between.stop)
        bad = (*words[:start], *inner, *words[stop:])
        yield BrokenSentence("order", f"{sentence.relation(word)} of {sentence.tree.tags[head].lower()}", bad)


def _replaced(sentence: Sentence, word: int, form: str, phenomenon: str, rule: str) -> BrokenSentence:
    words = sentence.tree.words
    cased = form[:1].upper() + form[1:] if words[word][:1].isupper() else form
    return BrokenSentence(phenomenon, rule, (*words[:word], cased, *words[word + 1 :]))


KINDS: dict[str, Callable[[Sentence, Grammar], Iterator[BrokenSentence]]] = {
    "agreement": agreement,
    "case": case,
    "order": order,
}


@dataclass
class TreeBreaker:
    """Breaks at most one rule of each sentence, that broken in the fewest so far, each in `each` sentences at most."""

    grammar: Grammar
    kinds: Sequence[str] = tuple(KINDS)
    each: int | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def broken(self, sentence: Sentence, rng: np.random.Generator) -> BrokenSentence | None:
        """The sentence with a broken rule; None where none applies, or all that do were broken often enough."""
        applicable: dict[str, list[BrokenSentence]] = {}
        for kind in self.kinds:
            for broken in KINDS[kind](sentence, self.grammar):
                if broken.words != sentence.tree.words:
                    applicable.setdefault(broken.rule, []).append(broken)
        rules = sorted(applicable, key=lambda rule: (self.counts[rule], rule))
        if not rules or (self.each is not None and self.counts[rules[0]] >= self.each):
            return None
        chosen = applicable[rules[0]]
        self.counts[rules[0]] += 1
        return chosen[int(rng.integers(len(chosen)))]
