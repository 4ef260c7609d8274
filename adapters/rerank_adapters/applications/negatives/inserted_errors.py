"""Inserts one error of a randomly drawn kind into a sentence (Foster et al. 2008).

    missing      a word is deleted
    extra        a word is repeated, or a word of the text is inserted
    real-word    a word is replaced by another word of the text, one edit away (Damerau 1964)
    non-word     a word is replaced by a string, one edit away, that does not occur in the text
    wrong-form   a noun or verb is replaced by another form (number, person, tense) that the text attests
    agreement    a verb, determiner, noun or reflexive is changed so that it no longer agrees; needs a dependency tree

The first word is never deleted and nothing is inserted before it, so that capitals do not reveal an error; a changed
word keeps its capitals. The result may be grammatical by chance, hence *pseudo*-negative examples. If the drawn kind
does not apply to a sentence, another kind is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from string import ascii_lowercase
from typing import NamedTuple, TypeVar

import numpy as np

from rerank_adapters.applications.negatives.word_forms import NOUN, VERB, WordForms
from rerank_plugins import DependencyTree, FloatArray, Sentence

OTHER_NUMBER = {"is": "are", "was": "were", "has": "have", "does": "do"}
OTHER_NUMBER |= {plural: singular for singular, plural in OTHER_NUMBER.items()}
DEMONSTRATIVES = {"this": "these", "these": "this", "that": "those", "those": "that"}  # the other number of each
SINGULAR = frozenset(["a", "an", "each", "every", "another", "one"])
PLURAL = frozenset(["many", "several", "few", "both", "two", "three", "four", "five"])
REFLEXIVES = ("myself", "himself", "herself", "itself", "ourselves", "themselves")
PLURAL_SUBJECTS = frozenset(["i", "you", "we", "they"])
Change = tuple[int, tuple[str, ...]]  # a position, and the lower-case forms that the word there can be replaced by
Thing = TypeVar("Thing")
KINDS = ("missing", "extra", "real-word", "non-word", "wrong-form", "agreement")
MIN_LETTERS = 3  # the minimum length in letters of a word that is misspelt


def one_edit_away(word: str) -> list[str]:
    """All strings one edit (with letters a-z) away from a word, sorted, without the word: about 54 per letter.

    >>> len(one_edit_away("a")), one_edit_away("at")[:3]
    (76, ['a', 'aa', 'aat'])
    """
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    strings = {left + right[1:] for left, right in splits if right}
    strings |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    strings |= {left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase}
    strings |= {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return sorted(strings - {word, ""})


def disagreements(tree: DependencyTree, forms: WordForms) -> list[Change]:
    """The words whose replacement breaks an agreement, by position, with the forms that break it."""
    words = [word.lower() for word in tree.words]
    changes = dict([*_verbs(tree, words, forms), *_determined(tree, words, forms), *_reflexives(tree, words)])
    return sorted(changes.items())


def _verbs(tree: DependencyTree, words: list[str], forms: WordForms) -> Iterator[Change]:
    for subject, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head < 0 or relation.partition(":")[0] != "nsubj":
            continue
        auxiliaries = [i for i in tree.children(head) if tree.relations[i].partition(":")[0] in ("aux", "cop")]
        if auxiliaries:
            first = auxiliaries[0]
            # `I was` and `I were` are not exchanged: `I were` is a correct subjunctive.
            if words[first] in OTHER_NUMBER and not (words[subject] == "i" and words[first] in ("was", "were")):
                yield first, (OTHER_NUMBER[words[first]],)
        elif tree.tags[head] == "VERB" and subject < head:
            plural = words[subject] in PLURAL_SUBJECTS or words[subject] in forms.singular
            if words[head] in forms.base and not plural:
                yield head, (forms.base[words[head]],)
            elif words[head] in forms.third_person and plural:
                yield head, (forms.third_person[words[head]],)


def _determined(tree: DependencyTree, words: list[str], forms: WordForms) -> Iterator[Change]:
    for i, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head <= i or tree.tags[head] != "NOUN" or relation not in ("det", "nummod", "amod"):
            continue
        if words[i] in DEMONSTRATIVES and relation == "det":
            yield i, (DEMONSTRATIVES[words[i]],)
        elif words[i] in SINGULAR and words[head] in forms.plural:
            yield head, (forms.plural[words[head]],)
        elif words[i] in PLURAL and words[head] in forms.singular:
            yield head, (forms.singular[words[head]],)


def _reflexives(tree: DependencyTree, words: list[str]) -> Iterator[Change]:
    for i, word in enumerate(words):
        if word in REFLEXIVES and tree.relations[i] in ("obj", "iobj", "obl"):
            yield i, tuple(other for other in REFLEXIVES if other != word)


class Edit(NamedTuple):
    """An error: at word `position` (from 0), `before` is replaced by `after`.

    `after` is empty for a missing word, `before` for an extra one.
    """

    kind: str
    position: int
    before: str
    after: str

    def apply(self, sentence: Sentence) -> tuple[str, ...]:
        """Return the sentence with the error.

        >>> Edit("extra", 1, "", "the").apply(["see", "it"])
        ('see', 'the', 'it')
        """
        end = self.position + (self.before != "")
        return (*sentence[: self.position], *([self.after] if self.after else []), *sentence[end:])


@dataclass(frozen=True)
class ErrorInserter:
    """Inserts errors of the kinds in `proportions`, in these proportions, with the word forms of a text.

    Raises ValueError for an unknown kind, a negative proportion, or proportions that are all 0.
    """

    forms: WordForms
    proportions: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 1.0))

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.proportions if kind not in KINDS]
        if unknown or not sum(self.proportions.values()) > 0 or min(self.proportions.values()) < 0:
            known = ", ".join(KINDS)
            raise ValueError(f"kinds of errors {dict(self.proportions)}: wanted proportions above 0 of {known}")

    def insert(self, sentence: Sentence, rng: np.random.Generator, tree: DependencyTree | None = None) -> Edit | None:
        """Draw an error for the sentence; None if no kind applies to it. `tree` provides tags and agreement."""
        kinds = [kind for kind, proportion in self.proportions.items() if proportion > 0]
        while kinds:
            proportions = np.array([self.proportions[kind] for kind in kinds])
            kind = kinds[int(rng.choice(len(kinds), p=proportions / proportions.sum()))]
            edit = self._makers[kind](sentence, rng, tree)
            if edit is not None:
                return edit
            kinds.remove(kind)
        return None

    @cached_property
    def _makers(self) -> dict[str, Callable[[Sentence, np.random.Generator, DependencyTree | None], Edit | None]]:
        return {
            "missing": lambda words, rng, tree: self._missing(words, rng),
            "extra": lambda words, rng, tree: self._extra(words, rng),
            "real-word": lambda words, rng, tree: self._misspelt(words, rng, True),
            "non-word": lambda words, rng, tree: self._misspelt(words, rng, False),
            "wrong-form": self._wrong_form,
            "agreement": self._agreement,
        }

    def _missing(self, words: Sentence, rng: np.random.Generator) -> Edit | None:
        places = [i for i, word in enumerate(words) if i > 0 and word.isalpha()]
        if not places or len(words) < 2:
            return None
        place = _drawn(places, rng)
        return Edit("missing", place, words[place], "")

    def _extra(self, words: Sentence, rng: np.random.Generator) -> Edit | None:
        places = [i for i, word in enumerate(words) if word.isalpha()]
        if not places:
            return None
        if rng.random() < 0.5:
            place = _drawn(places, rng)
            return Edit("extra", place + 1, "", words[place].lower() if place == 0 else words[place])
        place = int(rng.integers(1, len(words) + (words[-1].isalpha() or len(words) == 1)))
        known, cumulated = self._unigrams
        return Edit("extra", place, "", known[int(np.searchsorted(cumulated, rng.random()))])

    def _misspelt(self, words: Sentence, rng: np.random.Generator, real: bool) -> Edit | None:
        places = [i for i, word in enumerate(words) if len(word) >= MIN_LETTERS and word.isalpha() and word.isascii()]
        for place in rng.permutation(places).tolist() if places else []:
            near, counts = self._near(words[place].lower(), real)
            if near:
                chosen = near[int(rng.choice(len(near), p=counts))]
                return Edit("real-word" if real else "non-word", place, words[place], _cased(chosen, words[place]))
        return None

    def _wrong_form(self, words: Sentence, rng: np.random.Generator, tree: DependencyTree | None) -> Edit | None:
        tags: Sequence[str | None] = tree.tags if tree is not None else [None] * len(words)
        places = [i for i in range(len(words)) if tags[i] in (None, NOUN, VERB)]
        for place in rng.permutation(places).tolist() if places else []:
            others = self.forms.others(words[place].lower(), tags[place])
            if others:
                return Edit("wrong-form", place, words[place], _cased(_drawn(others, rng), words[place]))
        return None

    def _agreement(self, words: Sentence, rng: np.random.Generator, tree: DependencyTree | None) -> Edit | None:
        changes = disagreements(tree, self.forms) if tree is not None and tree.tags else []
        if not changes:
            return None
        place, others = _drawn(changes, rng)
        return Edit("agreement", place, words[place], _cased(_drawn(others, rng), words[place]))

    @cached_property
    def _unigrams(self) -> tuple[list[str], FloatArray]:
        known = sorted(word for word in self.forms.counts if self.forms.attested(word))
        counts = np.array([self.forms.counts[word] for word in known], np.float64)
        return known, np.cumsum(counts) / max(1.0, counts.sum())

    @cached_property
    def _near(self) -> Callable[[str, bool], tuple[list[str], FloatArray]]:
        @lru_cache(maxsize=50_000)
        def near(word: str, real: bool) -> tuple[list[str], FloatArray]:
            """Strings one edit away and their probabilities: words of the text by count, or other strings, uniform."""
            known, others = self.forms.counts, one_edit_away(word)
            strings = [other for other in others if (self.forms.attested(other) if real else other not in known)]
            counts = np.array([known[other] if real else 1.0 for other in strings], np.float64)
            return strings, counts / max(1.0, counts.sum())

        return near


def _drawn(things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    return things[int(rng.integers(len(things)))]


def _cased(word: str, like: str) -> str:
    """Give the lower-case word the capitals of another word."""
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word
