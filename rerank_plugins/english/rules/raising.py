"""Counts expletives and gaps that a predicate does not take: raising, control and `tough` adjectives.

A control predicate gives its subject or object a role, so that expletive `there` cannot stand there: `there seemed to
be`, `he believed there to be`, but not `there tried to be`, `he persuaded there to be` (Rosenbaum 1967; Postal 1974).
The infinitive of `easy` lacks an object, that of `likely` and `eager` does not (Chomsky 1964; Lasnik and Fiengo 1974).
"""

from __future__ import annotations

from rerank_plugins.english.closed_classes import NOT_TOUGH, OBJECT_CONTROL, SUBJECT_CONTROL, TOUGH
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.rules.quantifiers import WINDOW
from rerank_plugins.english.tree_view import BE, TreeView

LIKELY = 0.75  # proportion of occurrences with an object from which a verb without one has a gap


def expletives_with_roles(view: TreeView, lexicon: Lexicon) -> int:
    """The number of expletives that are subjects or objects of control predicates."""
    return sum(
        _subject_of_control(view, lexicon, i) + _object_of_control(view, lexicon, i)
        for i, word in enumerate(view.words)
        if word in ("there", "it")
    )


def _infinitive_of_be(view: TreeView, to: int) -> bool:
    """Whether `to be` or `to have been` begins here, an adverb apart."""
    following = [view.words[i] for i in range(to + 1, min(to + 4, len(view))) if view.tags[i] != "ADV"]
    return view.words[to] == "to" and (following[:1] == ["be"] or following[:2] == ["have", "been"])


def _subject_of_control(view: TreeView, lexicon: Lexicon, expletive: int) -> bool:
    if view.words[expletive] != "there":
        return False
    for i in range(expletive + 1, min(expletive + 1 + WINDOW, len(view))):
        if view.words[i] == "to":
            base = lexicon.base(view.words[i - 1]) or view.words[i - 1]
            control = {base, view.words[i - 1]} & (SUBJECT_CONTROL | OBJECT_CONTROL)
            return bool(control) and _infinitive_of_be(view, i)
        if view.tags[i] not in ("VERB", "AUX", "PART", "ADV", "ADJ"):
            return False
    return False


def _object_of_control(view: TreeView, lexicon: Lexicon, expletive: int) -> bool:
    to = expletive + 1
    if not expletive or to >= len(view) or not _infinitive_of_be(view, to):
        return False
    if view.words[expletive] == "it" and not ({"that", "to"} & set(view.words[to + 2 :])):
        return False
    return lexicon.base(view.words[expletive - 1]) in OBJECT_CONTROL


def wrong_gaps_of_adjectives(view: TreeView, lexicon: Lexicon) -> int:
    """The number of adjectives whose infinitive has a gap that it may not have, or lacks one that it must have."""
    return sum(
        _wrong_gap(view, lexicon, i)
        for i, word in enumerate(view.words)
        if (word in NOT_TOUGH or word in TOUGH) and _with_be(view, i) and view.words[i + 1 : i + 2] == ("to",)
    )


def _with_be(view: TreeView, adjective: int) -> bool:
    before = [view.words[i] for i in range(adjective) if view.tags[i] not in ("ADV", "PART")]
    return bool(before) and before[-1] in BE


def _wrong_gap(view: TreeView, lexicon: Lexicon, adjective: int) -> bool:
    verb = next((i for i in range(adjective + 2, len(view)) if view.tags[i] != "ADV"), None)
    if (
        verb is None
        or "?" in view.words
        or any(word in view.words[:adjective] for word in ("who", "what", "which", "that"))
    ):
        return False
    gap = has_gap(view, lexicon, verb)
    if view.words[adjective] in NOT_TOUGH:
        return gap is True
    expletive = {"it", "there"} & set(view.words[:adjective])
    return gap is False and not expletive and view.words[0] not in ("to", "what")


def has_gap(view: TreeView, lexicon: Lexicon, verb: int) -> bool | None:
    """Whether the rest of the sentence after an infinitive lacks an object; None where that is not clear."""
    rest = [i for i in range(verb + 1, len(view)) if view.tags[i] not in ("PUNCT", "ADV", "PART")]
    base = lexicon.base(view.words[verb])
    if base is None:
        return None
    if not rest:
        return lexicon.frame_share(base, "transitive") > LIKELY or None
    if view.tags[rest[-1]] == "ADP" and all(view.tags[i] in ("ADP", "VERB") for i in rest):
        return True
    nominal = any(view.tags[i] in ("NOUN", "PROPN", "PRON") for i in rest)
    infinitive = any(view.tags[i] in ("VERB", "SCONJ") for i in rest)
    return False if nominal and not infinitive else None
