"""Pairs of binding and case: reflexives without an antecedent in their clause, pronouns in the wrong case."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.closed_classes import (
    ACCUSATIVE_OF,
    FINITE_AUXILIARIES,
    NOMINATIVE_OF,
)
from rerank_plugins.english.lexicon.given_names import FEMININE, MASCULINE
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, declarative, plain, replaced, sentence
from rerank_plugins.english.rules.agreement import antecedent, features, local_subject

SAID = ("said that", "thought that", "knew that", "explained that", "believed that", "hoped that")
REFLEXIVE_OF = {"him": "himself", "her": "herself", "them": "themselves"}
SUBJECT_REFLEXIVE = {"he": "himself", "she": "herself", "they": "themselves"}


def case(setting: Setting) -> Iterator[MinimalPair]:
    """A subject in the accusative, or an object in the nominative."""
    view = setting.view
    for i, form in enumerate(view.words):
        head, relation = view.heads[i], view.relations[i]
        if head < 0 or view.dependents(i, "conj"):
            continue
        finite = any(view.words[k] in FINITE_AUXILIARIES for k in view.auxiliaries(head)) or (
            view.tags[head] == "VERB" and not view.is_infinitive(head)
        )
        if form in ACCUSATIVE_OF and relation == "nsubj" and head > i and finite:
            yield MinimalPair("case", "subject-case", view.tree.words, replaced(view, {i: ACCUSATIVE_OF[form]}))
        elif form in NOMINATIVE_OF and relation in ("obj", "obl") and head < i and view.tags[head] == "VERB":
            following = view.tags[min(i + 1, len(view) - 1)]
            if following not in ("VERB", "AUX", "PART"):
                yield MinimalPair("case", "object-case", view.tree.words, replaced(view, {i: NOMINATIVE_OF[form]}))


def places(setting: Setting) -> Iterator[MinimalPair]:
    """A reflexive for a pronoun whose antecedent is outside its clause: as subject, or beside another subject."""
    view, lexicon, _ = setting
    clause = declarative(view)
    if clause is None:
        return
    subject = view.subject(clause.verb)
    assert subject is not None  # a declarative clause has a subject
    form = view.words[subject]
    if form in SUBJECT_REFLEXIVE:
        names = {"he": MASCULINE, "she": FEMININE}
        who = ["the", "women"] if form == "they" else [setting.drawn(names[form])]
        before = [*who, *setting.drawn(SAID).split()]
        rest = plain(view, clause.without([subject]))
        pair = (sentence([*before, word, *rest]) for word in (form, SUBJECT_REFLEXIVE[form]))
        yield MinimalPair("binding", "reflexive-subject", *pair)
    is_ = features(view, lexicon, antecedent(view, subject))
    for i in view.dependents(clause.verb, "obj"):
        pronoun = view.words[i]
        if pronoun not in REFLEXIVE_OF or local_subject(view, i) != subject:
            continue
        gender = {"him": "m", "her": "f"}.get(pronoun)
        other_gender = gender is not None and is_.gender in ("m", "f") and is_.gender != gender
        other_number = pronoun == "them" and is_.number == "s"
        if is_.person == 3 and (other_gender or other_number):
            who = ["the", "women"] if pronoun == "them" else [setting.drawn(MASCULINE if gender == "m" else FEMININE)]
            before = [*who, *setting.drawn(SAID).split()]
            kept = clause.without()
            sides = (
                sentence(
                    [
                        *before,
                        *(word if k == i else uncased for k, uncased in zip(kept, plain(view, kept), strict=True)),
                    ]
                )
                for word in (pronoun, REFLEXIVE_OF[pronoun])
            )
            yield MinimalPair("binding", "reflexive-distance", *sides)
