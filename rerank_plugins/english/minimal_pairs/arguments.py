"""Pairs of argument structure and selection: verbs with arguments that they do not take, or without those they need."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import log

from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.lexicon.frames import animacy_of
from rerank_plugins.english.lexicon.paradigms import VerbForms
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, phrase, replaced

NEEDS_OBJECT = 0.85  # proportion of occurrences with an object or in the passive, or of those without either
ANIMATE = 0.92  # proportion of animate subjects, or of inanimate objects
FREQUENT = 40
NEAREST = 10  # verbs of similar frequency, of which one is drawn
THINGS = ("The house", "The table", "The window", "The paper", "The chair", "The road", "The letter")
NOUNS = ("NOUN", "PROPN", "PRON")
PERSONS = ("The man", "The woman", "The teacher", "The doctor", "The king", "The boy", "The girl")


@lru_cache(4)
def _verbs_of(lexicon: Lexicon, intransitive: bool) -> tuple[VerbForms, ...]:
    """Frequent verbs that hardly ever, or nearly always, have an object."""
    frames = ("intransitive",) if intransitive else ("transitive", "passive")
    return lexicon.verbs_of_frames(frames, NEEDS_OBJECT, FREQUENT)


def another_verb(setting: Setting, verb: int, intransitive: bool) -> str | None:
    """The same form of another verb, which has hardly ever or nearly always an object; None for an unknown verb."""
    lexicon, form = setting.lexicon, setting.view.words[verb]
    known = lexicon.by_form.get(form)
    if known is None:
        return None
    other = as_frequent(setting, known, intransitive)
    slot = next(i for i, each in enumerate(known) if each == form)
    return other[slot] if other is not None and other[slot] != form else None


def as_frequent(setting: Setting, verb: VerbForms, intransitive: bool) -> VerbForms | None:
    """One of the verbs of the other kind that are most nearly as frequent, so that frequency does not decide."""
    lexicon = setting.lexicon
    count = lexicon.count(verb.base)
    if not count:
        return None
    choices = sorted(
        _verbs_of(lexicon, intransitive), key=lambda each: (abs(log(lexicon.count(each.base) / count)), each)
    )
    return choices[int(setting.rng.integers(min(NEAREST, len(choices))))] if choices else None


def objects(setting: Setting) -> Iterator[MinimalPair]:
    """An object too many or too few: it is left out, or the verb is exchanged for one of the other kind."""
    view, lexicon, _ = setting
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        if base is None or view.is_passive(verb) or view.relations[verb] == "acl" or view.has_wh(verb):
            continue
        span = next((phrase(view, i) for i in view.dependents(verb, "obj") if i > verb and view.tags[i] in NOUNS), None)
        share = lexicon.with_object(base)
        following = view.children[verb]
        if span is not None and not view.dependents(verb, "iobj", "xcomp", "ccomp"):
            if share > NEEDS_OBJECT and span[-1] == len(view) - 2:
                bad = replaced(view, dict.fromkeys(span, ""))
                yield MinimalPair("argument_structure", "object-missing", view.tree.words, bad)
            if share > 0.5 and span[0] == verb + 1 and (wrong := another_verb(setting, verb, intransitive=True)):
                yield MinimalPair(
                    "argument_structure", "intransitive-with-object", view.tree.words, replaced(view, {verb: wrong})
                )
        elif (
            span is None
            and share < 0.4
            and not any(view.relations[i] in ("xcomp", "ccomp", "obj", "compound") for i in following)
        ):
            last = view.tags[verb + 1 : verb + 2] in (("PUNCT",), ("ADP",))
            if (
                last
                and view.relations[verb] in ("root", "ccomp")
                and (wrong := another_verb(setting, verb, intransitive=False))
            ):
                yield MinimalPair(
                    "argument_structure", "transitive-without-object", view.tree.words, replaced(view, {verb: wrong})
                )


def passives(setting: Setting) -> Iterator[MinimalPair]:
    """A passive of a verb that has no object."""
    view = setting.view
    for verb in view.verbs:
        auxiliary = view.first(verb, "aux")
        if view.is_passive(verb) and auxiliary is not None and "participle" in setting.lexicon.slots(view.words[verb]):
            base = setting.lexicon.base(view.words[verb])
            known = setting.lexicon.verbs.get(base) if base is not None else None
            if known is None or setting.lexicon.with_object(known.base) < 0.5:
                continue
            other = as_frequent(setting, known, intransitive=True)
            if other is not None:
                bad = replaced(view, {verb: other.participle})
                yield MinimalPair("argument_structure", "passive-of-intransitive", view.tree.words, bad)


def selection(setting: Setting) -> Iterator[MinimalPair]:
    """A thing as the subject or agent of a verb whose subjects are persons."""
    view, lexicon, _ = setting
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        if base is None or lexicon.animate_share(base, "subject") < ANIMATE or view.is_passive(verb):
            continue
        subject = view.subject(verb)
        if (
            subject is None
            or not animacy_of(view, lexicon, subject)
            or view.words[subject] in ("i", "you", "we", "they", "who")
        ):
            continue
        span = phrase(view, subject)
        if span is None or span[0] != 0 or span[-1] > verb or lexicon.noun_number(view.words[subject]) == "p":
            continue
        rest = view.tree.words[span[-1] + 1 :]
        sides = ((*setting.drawn(choices).split(), *rest) for choices in (PERSONS, THINGS))
        yield MinimalPair("s-selection", "inanimate-subject", *sides)
