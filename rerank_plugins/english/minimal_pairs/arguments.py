"""Pairs of argument structure, selection, control and raising: verbs and adjectives with arguments they do not take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import log

from rerank_plugins.english.english_lexicon import Lexicon, animacy_of
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, declarative, phrase, plain
from rerank_plugins.english.rules.quantifiers import existential_be
from rerank_plugins.english.word_forms import VerbForms
from rerank_plugins.english.word_lists import NOT_TOUGH, OBJECT_CONTROL, OBJECT_RAISING, RAISING, SUBJECT_CONTROL, TOUGH

SUBJECTS = ("she", "he", "the teacher", "the men", "her sister", "some people", "the company", "my brother")
ADJECTIVES = ("willing", "unwilling", "eager", "reluctant", "anxious", "ready", "keen", "afraid", "determined", "able")
RAISING_ADJECTIVES = ("likely", "unlikely", "certain", "sure", "bound", "about", "supposed", "going")
NEEDS_OBJECT = 0.85  # proportion of occurrences with an object or in the passive, or of those without either
ANIMATE = 0.92  # proportion of animate subjects, or of inanimate objects
FREQUENT = 40
NEAREST = 10  # verbs of similar frequency, of which one is drawn
THINGS = ("The house", "The table", "The window", "The paper", "The chair", "The road", "The letter")
NOUNS = ("NOUN", "PROPN", "PRON")
PERSONS = ("The man", "The woman", "The teacher", "The doctor", "The king", "The boy", "The girl")


def expletives(setting: Setting) -> Iterator[MinimalPair]:
    """Existential `there` as subject or object of a raising and of a control predicate."""
    view, lexicon, _ = setting
    if view.words[0] != "there" or view.words[-1] != "." or view.words[1] not in ("is", "are", "was", "were"):
        return
    be = existential_be(view, 0)
    if be != 1 or view.words[2] in ("not", "n't", "no") or {",", ";", ":", "--"} & set(view.words):
        return
    rest = list(view.tree.words[2:-1])
    verb, control = (_drawn_verb(setting, words) for words in (RAISING, SUBJECT_CONTROL))
    if verb is not None and control is not None:
        slot = "past" if view.words[1] in ("was", "were") else "third" if view.words[1] == "is" else "base"
        sides = (["there", getattr(lexicon.verbs[base], slot), "to", "be", *rest] for base in (verb, control))
        yield setting.contrast("control_raising", "there-as-subject", *sides)
    drawn = [setting.drawn(adjectives) for adjectives in (RAISING_ADJECTIVES, ADJECTIVES)]
    sides = (["there", view.words[1], adjective, "to", "be", *rest] for adjective in drawn)
    yield setting.contrast("control_raising", "there-as-subject-adjective", *sides)
    raising, role = (_drawn_verb(setting, words) for words in (OBJECT_RAISING, OBJECT_CONTROL))
    if raising is not None and role is not None:
        subject, slot = setting.drawn(SUBJECTS).split(), "past"
        sides = ([*subject, getattr(lexicon.verbs[base], slot), "there", "to", "be", *rest] for base in (raising, role))
        yield setting.contrast("control_raising", "there-as-object", *sides)


def _drawn_verb(setting: Setting, words: frozenset[str]) -> str | None:
    known = sorted(word for word in words if word in setting.lexicon.verbs and word not in NOT_TOUGH)
    return setting.drawn(known) if known else None


def tough(setting: Setting) -> Iterator[MinimalPair]:
    """The object of an infinitive left out after adjectives that need such a gap, and after those that exclude it."""
    view, lexicon, _ = setting
    clause = declarative(view)
    base = lexicon.base(view.words[clause.verb]) if clause else None
    if clause is None or base is None or lexicon.frame_proportion(base, "transitive") <= 0.8:
        return
    for _, span in clause.objects:
        if len(span) > 4 or span[-1] != clause.body[-1] or span[0] != clause.verb + 1:
            continue
        needs, excludes = setting.drawn(sorted(TOUGH)), setting.drawn(RAISING_ADJECTIVES[:4] + ADJECTIVES[:6])
        object_, subject = plain(view, span), plain(view, clause.subject)
        if object_[0] in ("me", "him", "us", "them", "her", "himself", "herself", "themselves", "myself", "itself"):
            continue
        tense = setting.drawn(("was", "will be", "had been"))
        gap = ([*object_, *tense.split(), adjective, "to", base] for adjective in (needs, excludes))
        yield setting.contrast("control_raising", "tough-gap", *gap)
        if subject[0] not in ("i", "we", "they", "you", "I"):
            filled = ([*subject, *tense.split(), adjective, "to", base, *object_] for adjective in (excludes, needs))
            yield setting.contrast("control_raising", "tough-without-gap", *filled)


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
    verbs = _verbs_of(lexicon, intransitive)
    choices = sorted(verbs, key=lambda each: (abs(log(lexicon.count(each.base) / count)), each))
    return choices[int(setting.rng.integers(min(NEAREST, len(choices))))] if choices else None


def objects(setting: Setting) -> Iterator[MinimalPair]:
    """An object too many or too few: it is left out, or the verb is exchanged for one of the other kind."""
    view, lexicon, _ = setting
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        if base is None or view.is_passive(verb) or view.relations[verb] == "acl" or view.has_wh(verb):
            continue
        span = next((phrase(view, i) for i in view.dependents(verb, "obj") if i > verb and view.tags[i] in NOUNS), None)
        with_object = lexicon.with_object(base)
        if span is not None and not view.dependents(verb, "iobj", "xcomp", "ccomp"):
            if with_object > NEEDS_OBJECT and span[-1] == len(view) - 2:
                yield setting.changed("argument_structure", "object-missing", dict.fromkeys(span, ""))
            if with_object > 0.5 and span[0] == verb + 1 and (wrong := another_verb(setting, verb, intransitive=True)):
                yield setting.changed("argument_structure", "intransitive-with-object", {verb: wrong})
        elif span is None and with_object < 0.4 and not view.dependents(verb, "xcomp", "ccomp", "obj", "compound"):
            is_last = view.tags[verb + 1 : verb + 2] in (("PUNCT",), ("ADP",))
            in_clause = view.relations[verb] in ("root", "ccomp")
            if is_last and in_clause and (wrong := another_verb(setting, verb, intransitive=False)):
                yield setting.changed("argument_structure", "transitive-without-object", {verb: wrong})


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
                yield setting.changed("argument_structure", "passive-of-intransitive", {verb: other.participle})


def selection(setting: Setting) -> Iterator[MinimalPair]:
    """A thing as the subject or agent of a verb whose subjects are persons."""
    view, lexicon, _ = setting
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        if base is None or lexicon.animate_proportion(base, "subject") < ANIMATE or view.is_passive(verb):
            continue
        subject = view.subject(verb)
        if subject is None or not animacy_of(view, lexicon, subject):
            continue
        if view.words[subject] in ("i", "you", "we", "they", "who"):
            continue
        span = phrase(view, subject)
        if span is None or span[0] != 0 or span[-1] > verb or lexicon.noun_number(view.words[subject]) == "p":
            continue
        rest = view.tree.words[span[-1] + 1 :]
        sides = ((*setting.drawn(choices).split(), *rest) for choices in (PERSONS, THINGS))
        yield MinimalPair("s-selection", "inanimate-subject", *sides)
