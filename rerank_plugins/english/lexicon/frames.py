"""Scores the frames of verbs, the animacy of arguments and bare nouns of a sentence by counts of parsed text.

    frames      Σ ln P(frame | verb): transitive, intransitive, clausal or passive; the object may be a gap
    animacy     Σ ln P(animate or inanimate | verb, role) over subjects and objects whose noun is known as either
    bare_nouns  Σ ln P(no determiner | noun) over singular nouns without a determiner

Frames are those of subcategorisation (Chomsky 1965; Brent 1993), animacy is the simplest selectional preference (Resnik
1996).
"""

from __future__ import annotations

from math import log

from rerank_plugins.english.closed_classes import INDEFINITE, PERSONAL
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.lexicon.frame_counts import DETERMINING, PERSONS
from rerank_plugins.english.tree_view import TreeView

BARE_SMOOTHING = 4.0
BARE_AVERAGE = 0.4


def frames(view: TreeView, lexicon: Lexicon, gaps: set[int]) -> float:
    """Σ ln P(frame | verb) over the known verbs of a sentence; the verbs in `gaps` have a gap for their object."""
    total = 0.0
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        frame = frame_of(view, verb, gaps)
        if base is not None and frame is not None:
            total += log(lexicon.frame_share(base, frame))
    return total


def frame_of(view: TreeView, verb: int, gaps: set[int]) -> str | None:
    """The frame in which a verb stands; None for a participle after a noun, and where two verbs may have one object."""
    if view.is_passive(verb):
        return "passive"
    if view.relations[verb] == "acl" and view.subject(verb) is None and not view.is_infinitive(verb):
        return None
    if view.first(verb, "ccomp", "xcomp") is not None:
        return "clausal"
    if verb in gaps or view.first(verb, "obj") is not None:
        return "transitive"
    shared = [i for i in view.dependents(verb, "conj") if view.tags[i] == "VERB" and i <= verb + 3]
    return None if shared else "intransitive"


def animacy(view: TreeView, lexicon: Lexicon) -> float:
    """Σ ln P(animacy | verb, role) over the subjects and objects of a sentence whose animacy is known."""
    total = 0.0
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        if base is None:
            continue
        passive = view.is_passive(verb)
        subjects = view.dependents(verb, "nsubj")
        agents = [i for i in view.dependents(verb, "obl") if any(view.words[c] == "by" for c in view.children[i])]
        roles = {
            "object": subjects if passive else view.dependents(verb, "obj"),
            "subject": agents if passive else subjects,
        }
        for role, words in roles.items():
            for word in words:
                animate = animacy_of(view, lexicon, word)
                if animate is not None:
                    share = lexicon.animate_share(base, role)
                    total += log(share if animate else 1 - share)
    return total


def animacy_of(view: TreeView, lexicon: Lexicon, word: int) -> bool | None:
    """Whether a noun or pronoun of a sentence is animate; None where it is unknown."""
    form = view.words[word]
    if view.tags[word] == "PRON" or form in PERSONAL or form in INDEFINITE:
        return True if form in PERSONS else None
    if view.tags[word] not in ("NOUN", "PROPN"):
        return None
    animate = lexicon.animate(form, name=view.tags[word] == "PROPN")
    if animate is None and lexicon.noun_number(form) == "p":
        return lexicon.animate(lexicon.other_number(form) or form)
    return animate


def bare_nouns(view: TreeView, lexicon: Lexicon) -> float:
    """Σ ln P(no determiner | noun) over the singular common nouns that have none."""
    total = 0.0
    for i, tag in enumerate(view.tags):
        if (
            tag != "NOUN"
            or view.relations[i] in ("compound", "fixed", "flat")
            or lexicon.noun_number(view.words[i]) != "s"
        ):
            continue
        noun = lexicon.nouns.get(view.words[i])
        if noun is None or view.first(i, *DETERMINING) is not None or view.first(i, "compound") is not None:
            continue
        bare, seen = noun.counts["bare"], noun.counts["bare"] + noun.counts["determined"]
        total += log((bare + BARE_SMOOTHING * BARE_AVERAGE) / (seen + BARE_SMOOTHING))
    return total
