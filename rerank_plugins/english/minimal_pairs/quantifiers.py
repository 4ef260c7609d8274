"""Pairs of quantifiers and of nouns left out after them."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.closed_classes import STRONG, word_set
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, declarative, plain, replaced, sentence
from rerank_plugins.english.rules.quantifiers import QUANTIFIERS, existential_be

WEAK = word_set("a an some no many few several any two three four five six seven eight nine ten")
SHARED_VERBS = ("bought", "saw", "wanted", "found", "took", "liked")


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
            yield MinimalPair("quantifiers", "strong-existential", view.tree.words, replaced(view, {be + 1: strong}))


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
        determined = view.first(noun, "det", "nmod") is not None or {"some", "any", "many", "few", "more"} & {
            view.words[i] for i in span
        }
        if view.tags[noun] == "NOUN" and lexicon.noun_number(view.words[noun]) == "p" and not determined:
            noun_phrase = plain(view, [i for i in span if i not in numerals])
            before = [
                setting.drawn(("nobody", "no student", "no child", "no one")),
                *plain(view, range(first, span[0])),
            ]
            rest = [
                setting.drawn(("two", "three", "four", "ten")),
                *noun_phrase,
                *plain(view, range(span[-1] + 1, len(view) - 1)),
            ]
            before[:1] = before[0].split()
            good, bad = (
                setting.drawn(("more than", "fewer than")).split(),
                setting.drawn(("at least", "at most")).split(),
            )
            yield MinimalPair(
                "quantifiers",
                "superlative-negated",
                sentence([*before, *good, *rest]),
                sentence([*before, *bad, *rest]),
            )


def nouns_left_out(setting: Setting) -> Iterator[MinimalPair]:
    """A noun left out after a quantifier, and after a quantifier and an adjective."""
    view = setting.view
    clause = declarative(view)
    if clause is None:
        return
    for _, span in clause.objects:
        noun = span[-1]
        adjectives = [i for i in span if view.tags[i] == "ADJ" and view.relations[i] == "amod" and i == noun - 1]
        if (
            view.tags[noun] != "NOUN"
            or len(span) > 3
            or not adjectives
            or setting.lexicon.noun_number(view.words[noun]) != "p"
        ):
            continue
        quantifiers = sorted(QUANTIFIERS & {"two", "three", "four", "five", "several", "many", "some", "few"})
        first, second = setting.drawn(quantifiers), setting.drawn(quantifiers)
        start = plain(view, [i for i in clause.body if i < span[0]])
        other = ["and", setting.drawn(("they", "we", "Mary", "Tom", "she")), setting.drawn(SHARED_VERBS), second]
        adjective, form = view.words[adjectives[0]], view.words[noun]
        good = [*start, first, adjective, form, *other]
        bad = [*start, first, form, *other, adjective]
        if adjective not in QUANTIFIERS | {"such", "other", "own", "same"}:
            yield MinimalPair("ellipsis", "adjective-without-noun", sentence(good), sentence(bad))
