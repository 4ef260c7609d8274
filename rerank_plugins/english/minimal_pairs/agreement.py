"""Pairs of agreement: of verbs, also across a noun of the other number, of determiners with nouns, of reflexives."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.closed_classes import (
    OTHER_NUMBER,
    PLURAL_DETERMINERS,
    REFLEXIVES,
    SINGULAR_DETERMINERS,
)
from rerank_plugins.english.lexicon.given_names import FEMININE, MASCULINE
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, phrase, replaced
from rerank_plugins.english.rules.agreement import (
    antecedent,
    clash,
    features,
    finite_word,
    local_subject,
    number_of_verb,
)

DETERMINERS = {"this": "these", "these": "this", "that": "those", "those": "that"}
DISTRACTORS = {"s": ("near the houses", "with the books", "beside these women", "behind some of the trees"),
               "p": ("near the house", "with the book", "beside this woman", "behind one of the trees")}  # fmt: skip


def subject_verb(setting: Setting) -> Iterator[MinimalPair]:
    """The verb in the other number, as it stands and with a noun of the other number before it."""
    view, lexicon, _ = setting
    for subject, relation in enumerate(view.relations):
        predicate = view.heads[subject]
        if relation != "nsubj" or predicate < subject or view.tags[subject] not in ("NOUN", "PROPN", "PRON"):
            continue
        finite, is_ = finite_word(view, predicate), features(view, lexicon, antecedent(view, subject))
        if finite is None or finite < subject or is_.number == "-" or is_.person != 3:
            continue
        if number_of_verb(view, lexicon, finite) != is_.number:
            continue
        form = view.words[finite]
        verb = lexicon.by_form.get(form)
        other = OTHER_NUMBER.get(form) or (verb and (verb.base if is_.number == "s" else verb.third))
        if not other or other == form:
            continue
        bad = replaced(view, {finite: other})
        yield MinimalPair("subject_verb_agreement", "verb-number", view.tree.words, bad)
        span = phrase(view, subject)
        if view.tags[subject] == "NOUN" and span is not None and span[-1] < finite:
            words = setting.drawn(DISTRACTORS[is_.number]).split()
            at = span[-1] + 1
            good_far, bad_far = ((*side[:at], *words, *side[at:]) for side in (view.tree.words, bad))
            yield MinimalPair("subject_verb_agreement", "verb-number-distractor", good_far, bad_far)


def determiner_noun(setting: Setting) -> Iterator[MinimalPair]:
    """A demonstrative, or a noun after a determiner or numeral, in the other number."""
    view, lexicon, _ = setting
    for i, form in enumerate(view.words):
        noun = view.heads[i]
        if noun <= i or view.tags[noun] != "NOUN" or view.relations[i] not in ("det", "nummod", "amod"):
            continue
        number, other = lexicon.noun_number(view.words[noun]), lexicon.other_number(view.words[noun])
        if not other or number != ("s" if form in SINGULAR_DETERMINERS else "p"):
            continue
        if view.dependents(noun, "nummod") and form in SINGULAR_DETERMINERS:
            continue
        if form in DETERMINERS and view.relations[i] == "det":
            yield MinimalPair(
                "determiner_noun_agreement",
                "determiner-number",
                view.tree.words,
                replaced(view, {i: DETERMINERS[form]}),
            )
        if form in (SINGULAR_DETERMINERS | PLURAL_DETERMINERS) - {"the"}:
            yield MinimalPair(
                "determiner_noun_agreement", "noun-number", view.tree.words, replaced(view, {noun: other})
            )


def anaphors(setting: Setting) -> Iterator[MinimalPair]:
    """A reflexive of another gender or number than the subject of its clause, also with such a name between them."""
    view, lexicon, _ = setting
    for i, form in enumerate(view.words):
        if form not in REFLEXIVES or (subject := local_subject(view, i)) is None or subject > i:
            continue
        is_ = features(view, lexicon, antecedent(view, subject))
        if is_.person != 3 or clash(view, lexicon, i, subject) or (is_.number, form) == ("p", "itself"):
            continue
        others = {"himself": "herself", "herself": "himself"} if is_.gender in ("m", "f") else {}
        wrong = others.get(form)
        if wrong is not None:
            yield MinimalPair("anaphor_agreement", "reflexive-gender", view.tree.words, replaced(view, {i: wrong}))
            span = phrase(view, subject)
            if span is not None and span[-1] < i and view.tags[subject] == "NOUN":
                name = setting.drawn(FEMININE if is_.gender == "m" else MASCULINE)
                words, at = ("who", "knew", name), span[-1] + 1
                good, bad = ((*side[:at], *words, *side[at:]) for side in (view.tree.words, replaced(view, {i: wrong})))
                yield MinimalPair("binding", "reflexive-distractor", good, bad)
        if is_.number == "s" and form in ("himself", "herself", "itself"):
            yield MinimalPair(
                "anaphor_agreement", "reflexive-number", view.tree.words, replaced(view, {i: "themselves"})
            )
        elif is_.number == "p" and form == "themselves":
            wrong = setting.drawn(("himself", "herself"))
            yield MinimalPair("anaphor_agreement", "reflexive-number", view.tree.words, replaced(view, {i: wrong}))
