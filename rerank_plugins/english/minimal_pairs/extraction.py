"""Pairs of fillers and gaps: questions out of islands, fillers without a gap, gaps without a filler."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.minimal_pairs.clauses import (
    Declarative,
    MinimalPair,
    Setting,
    declarative,
    phrase,
    plain,
    question_word,
)
from rerank_plugins.english.tree_view import TreeView
from rerank_plugins.english.word_lists import REFLEXIVES, SUBORDINATORS, THAT_OR_QUESTION, word_set

GAP = 0.7  # proportion of occurrences with an object from which a verb without one is felt to lack it
KNOWING = ("I know", "we learned", "she remembers", "they forgot", "he discovered", "Tom found out", "Mary noticed",
           "my sister revealed", "nobody said", "the teacher explained")  # fmt: skip
DETERMINERS = word_set("the a an this that these those some my your his her our their its")
PREPOSITIONS = frozenset(["with", "about", "to", "for", "at", "from", "of", "against"])
ADJUNCTS = (
    ("before", "visiting", "the city"),
    ("after", "meeting", "the teacher"),
    ("while", "reading", "the letter"),
    ("without", "using", "the phone"),
    ("before", "buying", "a house"),
    ("after", "following", "a man"),
)
FACTS = ("saw", "remembered", "forgot", "noticed", "discovered", "knew")


def transitive(setting: Setting, verb: int) -> bool:
    """Whether a verb nearly always has an object."""
    base = setting.lexicon.base(setting.view.words[verb])
    return base is not None and setting.lexicon.with_object(base) > GAP


def _clause_with_object(setting: Setting) -> tuple[Declarative, int, range] | None:
    clause = declarative(setting.view)
    if clause is None:
        return None
    for noun, span in clause.objects:
        if transitive(setting, clause.verb) and setting.view.words[noun] not in REFLEXIVES:
            return clause, noun, span
    return None


def _object(view: TreeView, verb: int) -> range | None:
    """The phrase of the first object after a verb that has one."""
    spans = (phrase(view, i) for i in view.dependents(verb, "obj") if i > verb)
    return next(filter(None, spans), None)


def islands(setting: Setting) -> Iterator[MinimalPair]:
    """Questions about the object, and about something in an island: an adjunct, a conjunct, a determiner."""
    view, lexicon, _ = setting
    case = _clause_with_object(setting)
    if case is None:
        return
    clause, noun, span = case
    filler = question_word(setting, noun)
    whole = clause.question(lexicon, [filler], clause.without(span))
    filled = clause.question(lexicon, [filler], clause.without())
    if whole and filled and span[-1] == clause.body[-1]:
        mark, verb, inner_object = ADJUNCTS[int(setting.rng.integers(len(ADJUNCTS)))]
        sides = (*whole[:-1], mark, verb, *inner_object.split(), "?"), (*filled[:-1], mark, verb, "?")
        yield MinimalPair("island_effects", "adjunct-island-added", *sides)
    for adjunct in view.dependents(clause.verb, "advcl"):
        if adjunct < clause.verb or not any(view.words[i] in SUBORDINATORS for i in view.children[adjunct]):
            continue
        inner = _object(view, adjunct)
        if inner and transitive(setting, adjunct):
            asked = clause.question(lexicon, [filler], clause.without(inner))
            if whole and asked:
                yield MinimalPair("island_effects", "adjunct-island", whole, asked)
    for conjunct in view.dependents(noun, "conj"):
        joined = view.dependents(conjunct, "cc")
        if len(view.dependents(noun, "conj")) != 1 or not joined or view.words[joined[0]] not in ("and", "or"):
            continue
        first, second = (range(span[0], joined[0]), range(joined[0] + 1, span[-1] + 1))
        if "," in [view.words[i] for i in span] or not second:
            continue
        for part in (first, second):
            asked = clause.question(lexicon, [filler], clause.without(part))
            if whole and asked:
                yield MinimalPair("island_effects", "coordinate-structure", whole, asked)
    yield from _left_branch(setting, clause, noun, span)


def _left_branch(setting: Setting, clause: Declarative, noun: int, span: range) -> Iterator[MinimalPair]:
    """`whose` or `which` in front without its noun."""
    view, lexicon, _ = setting
    first = span[0]
    if view.tags[noun] != "NOUN" or view.relations[first] not in ("det", "nmod"):
        return
    if len(span) > 4 or view.heads[first] != noun:
        return
    if view.words[first] not in DETERMINERS or view.words[noun] in ("lot", "kind", "sort", "bit", "few", "couple"):
        return
    word = setting.drawn(("whose", "which", "what") if view.tags[first] == "DET" else ("whose",))
    rest = plain(view, span[1:])
    good = clause.question(lexicon, [word, *rest], clause.without(span))
    bad = clause.question(lexicon, [word], clause.without([first]))
    if good and bad:
        yield MinimalPair("island_effects", "left-branch", good, bad)


def complement_islands(setting: Setting) -> Iterator[MinimalPair]:
    """Questions out of a complement clause, and out of an embedded question or a complex noun phrase."""
    view, lexicon, _ = setting
    clause = declarative(view)
    complement = view.first(clause.verb, "ccomp") if clause else None
    if clause is None or complement is None or complement < clause.verb or view.tags[complement] != "VERB":
        return
    inner = _object(view, complement)
    start = view.subtree(complement)[0]
    if not inner or not transitive(setting, complement) or start < clause.verb or "," in view.words[start:]:
        return
    marks = [i for i in view.dependents(complement, "mark") if view.words[i] == "that"]
    filler = question_word(setting, inner[-1])
    for rule, words in (("wh-island", ["whether"]), ("complex-noun-phrase", ["the", "claim", "that"])):
        if rule == "wh-island" and lexicon.base(view.words[clause.verb]) not in THAT_OR_QUESTION:
            continue
        good = clause.question(lexicon, [filler], clause.without(inner))
        kept = clause.without(inner, marks, range(start, len(view)))
        bad = clause.question(lexicon, [filler], kept)
        below = [i for i in clause.without(inner, marks) if i >= start]
        if good and bad:
            yield MinimalPair("island_effects", rule, good, (*bad[:-1], *words, *plain(view, below), "?"))


def fillers(setting: Setting) -> Iterator[MinimalPair]:
    """`that` with a clause and a question word with a gap, against the reverse; relative clauses against questions."""
    view, _, _ = setting
    case = _clause_with_object(setting)
    if case is None or len(view) > 16:
        return
    clause, noun, span = case
    before = setting.drawn(KNOWING).split()
    whole, rest = plain(view, clause.without()), plain(view, clause.without(span))
    filler = question_word(setting, noun)
    good, bad = ([*before, word, *whole] for word in ("that", filler))
    yield setting.contrast("filler_gap_dependency", "filler-without-gap", good, bad)
    good, bad = ([*before, word, *rest] for word in (filler, "that"))
    yield setting.contrast("filler_gap_dependency", "gap-without-filler", good, bad)
    if view.tags[noun] == "NOUN" and len(span) <= 3 and view.words[span[0]] in DETERMINERS:
        start = [setting.drawn(("I", "she", "Tom", "they")), setting.drawn(FACTS)]
        relative = [*start, *plain(view, span), "that", *rest]
        yield setting.contrast("filler_gap_dependency", "relative-clause-object", relative, [*start, filler, *whole])
    subject = view.subject(clause.verb)
    if subject is not None and view.tags[subject] == "NOUN" and view.words[0] in DETERMINERS:
        start = [setting.drawn(("I", "she", "Tom", "they")), setting.drawn(FACTS)]
        noun_phrase = plain(view, clause.subject)
        predicate = plain(view, clause.without(clause.subject))
        good = [*start, *noun_phrase, "that", *predicate]
        bad = [*start, question_word(setting, subject), *noun_phrase, *predicate]
        yield setting.contrast("filler_gap_dependency", "relative-clause-subject", good, bad)


def stranding(setting: Setting) -> Iterator[MinimalPair]:
    """A preposition at the end of a clause, after a question word and after `that`."""
    view = setting.view
    clause = declarative(view)
    if clause is None or len(view) > 16:
        return
    for noun in view.dependents(clause.verb, "obl"):
        span = phrase(view, noun)
        if span is None or span[-1] != clause.body[-1] or view.words[span[0]] not in PREPOSITIONS:
            continue
        if len(span) > 1 and view.tags[span[1]] in ("DET", "PRON", "PROPN", "NOUN", "ADJ"):
            before = setting.drawn(KNOWING).split()
            rest = plain(view, clause.without(span[1:]))
            good, bad = ([*before, word, *rest] for word in (question_word(setting, noun), "that"))
            yield setting.contrast("filler_gap_dependency", "stranded-preposition", good, bad)
