"""Pairs of negative polarity items: without their licensor, or with one that has no scope over them."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.closed_classes import FINITE_AUXILIARIES, POLARITY
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, declarative, plain, replaced, sentence
from rerank_plugins.english.rules.polarity import in_scope, unlicensed_polarity_items

WITHOUT_LICENCE = {
    "no": "some", "never": "often", "nobody": "everybody", "nothing": "something", "none": "some", "hardly": "nearly",
    "scarcely": "nearly", "rarely": "often", "seldom": "often", "few": "many", "without": "with", "not": "also",
    "n't": "", "if": "because", "before": "after", "only": "even",
}  # fmt: skip


def unlicensed(setting: Setting) -> Iterator[MinimalPair]:
    """The only licensor of a sentence is exchanged for a word that licenses nothing."""
    view = setting.view
    items = [i for i, word in enumerate(view.words) if word in POLARITY]
    if len(items) != 1 or unlicensed_polarity_items(view) or "?" in view.words:
        return
    licensors = [i for i, word in enumerate(view.words) if word in WITHOUT_LICENCE and in_scope(view, i, items[0])]
    if len(licensors) == 1 and not (
        view.words[licensors[0]] == "n't" and view.words[licensors[0] - 1] in ("ca", "wo", "do", "does", "did")
    ):
        bad = replaced(view, {licensors[0]: WITHOUT_LICENCE[view.words[licensors[0]]]})
        yield MinimalPair("npi_licensing", "licensor-exchanged", view.tree.words, bad)


def inserted(setting: Setting) -> Iterator[MinimalPair]:
    """`ever` after an auxiliary, with and without a licensor, and with one in a relative clause of the subject."""
    view = setting.view
    clause = declarative(view)
    if clause is None or not view.auxiliaries(clause.verb) or POLARITY & set(view.words):
        return
    first = view.auxiliaries(clause.verb)[0]
    subject = view.subject(clause.verb)
    assert subject is not None  # a declarative clause has a subject
    if (
        view.words[first] not in FINITE_AUXILIARIES
        or view.words[first].startswith("'")
        or first != clause.subject[-1] + 1
    ):
        return
    after = [i for i in clause.body if i > first]
    negated = {"not", "n't", "never"} & set(view.words[: first + 3])
    rest = ["ever", *plain(view, after)]
    auxiliary = view.words[first]
    if negated:
        return
    noun_phrase = plain(view, clause.subject)
    determined = view.tags[subject] == "NOUN" and view.words[0] in ("the", "a", "an", "this", "these", "some", "many")
    if determined:
        noun = noun_phrase[1:]
        good, bad = ([det, *noun, auxiliary, *rest] for det in ("no", setting.drawn(("the", "some", "this"))))
        if bad[0] != "this" or setting.lexicon.noun_number(view.words[subject]) == "s":
            yield MinimalPair("npi_licensing", "negative-determiner", sentence(good), sentence(bad))
        if not view.dependents(subject, "acl"):
            relative = setting.drawn(
                ("that {} people liked", "who {} friends of ours knew", "that {} teachers had praised")
            )
            inside, outside = relative.format("no").split(), relative.format("the").split()
            sides = ([det, *noun, *clause_, auxiliary, *rest] for det, clause_ in (("no", outside), ("the", inside)))
            yield MinimalPair("npi_licensing", "licensor-in-relative-clause", *map(sentence, sides))
    only = setting.drawn(("even", "also"))
    good, bad = ([focus, *noun_phrase, auxiliary, *rest] for focus in ("only", only))
    yield MinimalPair("npi_licensing", "only", sentence(good), sentence(bad))
    if auxiliary not in ("ca", "wo", "sha"):
        good, bad = (
            [*noun_phrase, auxiliary, adverb, *rest]
            for adverb in ("not", setting.drawn(("also", "really", "probably")))
        )
        yield MinimalPair("npi_licensing", "negation", sentence(good), sentence(bad))
        question = clause.question(setting.lexicon, [], [first, *after])
        if question is not None:
            at = 1 + len(clause.subject)
            asked = [*question[:-1][:at], "ever", *question[:-1][at:]]
            yield MinimalPair(
                "npi_licensing", "question", sentence(asked, "?"), sentence([*noun_phrase, auxiliary, *rest])
            )
