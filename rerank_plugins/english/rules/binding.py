"""Counts reflexives without an antecedent in their clause, and pronouns in the wrong case.

A reflexive needs an antecedent that c-commands it in its own clause (principle A: Chomsky 1981), so that it cannot be
the subject of a finite clause, nor a possessor. Agreement with that antecedent is in agreement.py. A pronoun is in the
nominative as subject of a finite clause and in the accusative elsewhere; after `be` and in coordinations English has
both.
"""

from __future__ import annotations

from rerank_plugins.english.closed_classes import (
    ACCUSATIVE,
    BARE_INFINITIVE,
    FINITE_AUXILIARIES,
    NOMINATIVE,
    REFLEXIVES,
)
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.tree_view import BE, TreeView


def unbound_reflexives(view: TreeView, lexicon: Lexicon) -> int:
    """The number of reflexives that are subjects of finite clauses, or possessors."""
    return sum(_is_subject(view, lexicon, i) for i, word in enumerate(view.words) if word in REFLEXIVES)


def _is_subject(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    following = view.words[word + 1] if word + 1 < len(view) else ""
    before = view.tags[word - 1] if word else "START"
    if before in ("NOUN", "PROPN", "PRON", "PUNCT") and not (before == "PRON" and view.words[word - 1] == "that"):
        return False  # emphatic: the king himself was …
    if following in FINITE_AUXILIARIES:
        return True
    head = view.heads[word]
    if view.relations[word] != "nsubj" or head < word or view.is_infinitive(head):
        return False
    return following == "n't" or bool(lexicon.slots(view.words[head]) & {"third", "past", "base"})


def wrong_case(view: TreeView, lexicon: Lexicon) -> int:
    """The number of pronouns whose case is not that of their position."""
    return sum(_has_wrong_case(view, lexicon, i) for i in range(len(view)))


def _has_wrong_case(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    form, relation, head = view.words[word], view.relations[word], view.heads[word]
    if head < 0 or (form not in NOMINATIVE and form not in ACCUSATIVE):
        return False
    if view.dependents(word, "conj") or relation == "conj":
        return False
    if form in NOMINATIVE:
        after_preposition = word > 0 and view.tags[word - 1] == "ADP" and view.first(word, "case") == word - 1
        return (relation in ("obj", "iobj") and head < word and view.words[head] not in BE) or after_preposition
    if relation != "nsubj" or head < word:
        return False
    auxiliaries = view.auxiliaries(head)
    if auxiliaries:
        return any(view.words[i] in FINITE_AUXILIARIES for i in auxiliaries)
    above = view.heads[head]
    if above >= 0 and lexicon.base(view.words[above]) in BARE_INFINITIVE:
        return False
    return view.tags[head] == "VERB" and bool(lexicon.slots(view.words[head]) & {"past", "third"})
