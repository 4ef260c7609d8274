"""Words of an English sentence that agree with another word, and the forms that would break the agreement.

Three kinds of agreement are read from a dependency tree (Universal Dependencies): a finite verb with its subject
(`nsubj`; its auxiliary or copula if it has one), a determiner with its noun (this, these, that, those; a noun after a,
an, each, every …), and a reflexive pronoun with its antecedent.
"""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.english.lexicon.word_forms import WordForms

AUXILIARIES = {"is": "are", "was": "were", "has": "have", "does": "do"}
AUXILIARIES |= {plural: singular for singular, plural in AUXILIARIES.items()}
DETERMINERS = {"this": "these", "these": "this", "that": "those", "those": "that"}
SINGULAR = frozenset(["a", "an", "each", "every", "another", "one"])
PLURAL = frozenset(["many", "several", "few", "both", "two", "three", "four", "five"])
REFLEXIVES = ("myself", "himself", "herself", "itself", "ourselves", "themselves")
PLURAL_SUBJECTS = frozenset(["i", "you", "we", "they"])
Change = tuple[int, tuple[str, ...]]  # a position, and the lower-case forms that the word there can be replaced by


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
            if words[first] in AUXILIARIES and not _subjunctive(words[subject], words[first]):
                yield first, (AUXILIARIES[words[first]],)
        elif tree.tags[head] == "VERB" and subject < head:
            plural = words[subject] in PLURAL_SUBJECTS or words[subject] in forms.singular
            if words[head] in forms.base and not plural:
                yield head, (forms.base[words[head]],)
            elif words[head] in forms.third_person and plural:
                yield head, (forms.third_person[words[head]],)


def _subjunctive(subject: str, auxiliary: str) -> bool:
    """Whether these are `I was` or `I were`, which are not exchanged: `I were` is a correct subjunctive."""
    return subject == "i" and auxiliary in ("was", "were")


def _determined(tree: DependencyTree, words: list[str], forms: WordForms) -> Iterator[Change]:
    for i, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head <= i or tree.tags[head] != "NOUN" or relation not in ("det", "nummod", "amod"):
            continue
        if words[i] in DETERMINERS and relation == "det":
            yield i, (DETERMINERS[words[i]],)
        elif words[i] in SINGULAR and words[head] in forms.plural:
            yield head, (forms.plural[words[head]],)
        elif words[i] in PLURAL and words[head] in forms.singular:
            yield head, (forms.singular[words[head]],)


def _reflexives(tree: DependencyTree, words: list[str]) -> Iterator[Change]:
    for i, word in enumerate(words):
        if word in REFLEXIVES and tree.relations[i] in ("obj", "iobj", "obl"):
            yield i, tuple(other for other in REFLEXIVES if other != word)
