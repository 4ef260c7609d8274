"""Pairs of negative polarity items outside the scope of a licensor, of quantifiers, and of nouns left out."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, declarative, plain, sentence
from rerank_plugins.english.rules.quantifiers import QUANTIFIERS, existential_be, in_scope, is_unlicensed
from rerank_plugins.english.word_lists import FINITE_AUXILIARIES, POLARITY, STRONG, word_set

WITHOUT_LICENCE = {
    "no": "some", "never": "often", "nobody": "everybody", "nothing": "something", "none": "some", "hardly": "nearly",
    "scarcely": "nearly", "rarely": "often", "seldom": "often", "few": "many", "without": "with", "not": "also",
    "n't": "", "if": "because", "before": "after", "only": "even",
}  # fmt: skip
WEAK = word_set("a an some no many few several any two three four five six seven eight nine ten")
RELATIVE_CLAUSES = ("that {} people liked", "who {} friends of ours knew", "that {} teachers had praised")
SHARED_VERBS = ("bought", "saw", "wanted", "found", "took", "liked")


def unlicensed(setting: Setting) -> Iterator[MinimalPair]:
    """The only licensor of a sentence is exchanged for a word that licenses nothing."""
    view = setting.view
    items = [i for i, word in enumerate(view.words) if word in POLARITY]
    unlicensed_items = any(is_unlicensed(view, setting.lexicon, word) for word in range(len(view)))
    if len(items) != 1 or unlicensed_items or "?" in view.words:
        return
    licensors = [i for i, word in enumerate(view.words) if word in WITHOUT_LICENCE and in_scope(view, i, items[0])]
    if len(licensors) == 1:
        licensor, word = licensors[0], view.words[licensors[0]]
        if word != "n't" or view.words[licensor - 1] not in ("ca", "wo", "do", "does", "did"):
            yield setting.changed("npi_licensing", "licensor-exchanged", {licensor: WITHOUT_LICENCE[word]})


def inserted(setting: Setting) -> Iterator[MinimalPair]:
    """`ever` after an auxiliary, with and without a licensor, and with one in a relative clause of the subject."""
    view = setting.view
    clause = declarative(view)
    if clause is None or not view.auxiliaries(clause.verb) or POLARITY & set(view.words):
        return
    first = view.auxiliaries(clause.verb)[0]
    auxiliary, subject = view.words[first], view.subject(clause.verb)
    assert subject is not None  # a declarative clause has a subject
    if auxiliary not in FINITE_AUXILIARIES or auxiliary.startswith("'") or first != clause.subject[-1] + 1:
        return
    if {"not", "n't", "never"} & set(view.words[: first + 3]):
        return
    after = [i for i in clause.body if i > first]
    rest = ["ever", *plain(view, after)]
    noun_phrase = plain(view, clause.subject)
    determined = view.tags[subject] == "NOUN" and view.words[0] in ("the", "a", "an", "this", "these", "some", "many")
    if determined:
        noun = noun_phrase[1:]
        good, bad = ([det, *noun, auxiliary, *rest] for det in ("no", setting.drawn(("the", "some", "this"))))
        if bad[0] != "this" or setting.lexicon.noun_number(view.words[subject]) == "s":
            yield setting.contrast("npi_licensing", "negative-determiner", good, bad)
        if not view.dependents(subject, "acl"):
            relative = setting.drawn(RELATIVE_CLAUSES)
            inside, outside = relative.format("no").split(), relative.format("the").split()
            sides = ([det, *noun, *clause_, auxiliary, *rest] for det, clause_ in (("no", outside), ("the", inside)))
            yield setting.contrast("npi_licensing", "licensor-in-relative-clause", *sides)
    only = setting.drawn(("even", "also"))
    good, bad = ([focus, *noun_phrase, auxiliary, *rest] for focus in ("only", only))
    yield setting.contrast("npi_licensing", "only", good, bad)
    if auxiliary not in ("ca", "wo", "sha"):
        adverbs = "not", setting.drawn(("also", "really", "probably"))
        good, bad = ([*noun_phrase, auxiliary, adverb, *rest] for adverb in adverbs)
        yield setting.contrast("npi_licensing", "negation", good, bad)
        question = clause.question(setting.lexicon, [], [first, *after])
        if question is not None:
            at = 1 + len(clause.subject)
            asked = (*question[:at], "ever", *question[at:])
            yield MinimalPair("npi_licensing", "question", asked, sentence([*noun_phrase, auxiliary, *rest]))


def existentials(setting: Setting) -> Iterator[MinimalPair]:
    """A strong determiner in an existential sentence."""
    view, lexicon, _ = setting
    for i, word in enumerate(view.words):
        be = existential_be(view, i) if word == "there" else None
        if be is None or be + 2 >= len(view) or view.words[be + 1] not in WEAK or STRONG & set(view.words[be:]):
            continue
        noun = view.heads[be + 1]
        number = lexicon.noun_number(view.words[noun]) if noun > be + 1 else "-"
        if number != "-" and view.tags[noun] == "NOUN":
            strong = setting.drawn(("each", "every") if number == "s" else ("most", "all", "both"))
            yield setting.changed("quantifiers", "strong-existential", {be + 1: strong})


def superlatives(setting: Setting) -> Iterator[MinimalPair]:
    """`at least` or `at most` with a numeral below a negative subject."""
    view, lexicon, _ = setting
    clause = declarative(view)
    if clause is None or {"not", "n't", "never", "no"} & set(view.words):
        return
    first = clause.subject[-1] + 1
    if "base" in lexicon.slots(view.words[first]) or view.words[first] in ("are", "were", "have", "do", "am"):
        return  # plural or first person
    if view.words[first].startswith("'") or view.first(clause.verb, "iobj") is not None:
        return
    for noun, span in clause.objects:
        numerals = [i for i in span if view.tags[i] == "NUM" and i < noun]
        words = {view.words[i] for i in span}
        determined = view.first(noun, "det", "nmod") is not None or words & {"some", "any", "many", "few", "more"}
        if view.tags[noun] == "NOUN" and lexicon.noun_number(view.words[noun]) == "p" and not determined:
            noun_phrase = plain(view, [i for i in span if i not in numerals])
            nobody = setting.drawn(("nobody", "no student", "no child", "no one")).split()
            before = [*nobody, *plain(view, range(first, span[0]))]
            number = setting.drawn(("two", "three", "four", "ten"))
            rest = [number, *noun_phrase, *plain(view, range(span[-1] + 1, len(view) - 1))]
            bounds = [setting.drawn(words).split() for words in (("more than", "fewer than"), ("at least", "at most"))]
            sides = ([*before, *bound, *rest] for bound in bounds)
            yield setting.contrast("quantifiers", "superlative-negated", *sides)


def nouns_left_out(setting: Setting) -> Iterator[MinimalPair]:
    """A noun left out after a quantifier, and after a quantifier and an adjective."""
    view = setting.view
    clause = declarative(view)
    if clause is None:
        return
    for _, span in clause.objects:
        noun = span[-1]
        adjectives = [i for i in span if view.tags[i] == "ADJ" and view.relations[i] == "amod" and i == noun - 1]
        plural = view.tags[noun] == "NOUN" and setting.lexicon.noun_number(view.words[noun]) == "p"
        if not plural or len(span) > 3 or not adjectives:
            continue
        quantifiers = sorted(QUANTIFIERS & {"two", "three", "four", "five", "several", "many", "some", "few"})
        first, second = setting.drawn(quantifiers), setting.drawn(quantifiers)
        start = plain(view, [i for i in clause.body if i < span[0]])
        other = ["and", setting.drawn(("they", "we", "Mary", "Tom", "she")), setting.drawn(SHARED_VERBS), second]
        adjective, form = view.words[adjectives[0]], view.words[noun]
        good = [*start, first, adjective, form, *other]
        bad = [*start, first, form, *other, adjective]
        if adjective not in QUANTIFIERS | {"such", "other", "own", "same"}:
            yield setting.contrast("ellipsis", "adjective-without-noun", good, bad)
