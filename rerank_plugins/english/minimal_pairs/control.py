"""Pairs of control and raising: expletives with predicates that have roles for them, infinitives with a wrong gap."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.closed_classes import (
    NOT_TOUGH,
    OBJECT_CONTROL,
    OBJECT_RAISING,
    RAISING,
    SUBJECT_CONTROL,
    TOUGH,
)
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, declarative, plain, sentence
from rerank_plugins.english.rules.quantifiers import existential_be

SUBJECTS = ("she", "he", "the teacher", "the men", "her sister", "some people", "the company", "my brother")
ADJECTIVES = ("willing", "unwilling", "eager", "reluctant", "anxious", "ready", "keen", "afraid", "determined", "able")
RAISING_ADJECTIVES = ("likely", "unlikely", "certain", "sure", "bound", "about", "supposed", "going")


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
        yield MinimalPair("control_raising", "there-as-subject", *map(sentence, sides))
    form = view.words[1]
    sides = (
        ["there", form, adjective, "to", "be", *rest]
        for adjective in (setting.drawn(RAISING_ADJECTIVES), setting.drawn(ADJECTIVES))
    )
    yield MinimalPair("control_raising", "there-as-subject-adjective", *map(sentence, sides))
    raising, role = (_drawn_verb(setting, words) for words in (OBJECT_RAISING, OBJECT_CONTROL))
    if raising is not None and role is not None:
        subject, slot = setting.drawn(SUBJECTS).split(), "past"
        sides = ([*subject, getattr(lexicon.verbs[base], slot), "there", "to", "be", *rest] for base in (raising, role))
        yield MinimalPair("control_raising", "there-as-object", *map(sentence, sides))


def _drawn_verb(setting: Setting, words: frozenset[str]) -> str | None:
    known = sorted(word for word in words if word in setting.lexicon.verbs and word not in NOT_TOUGH)
    return setting.drawn(known) if known else None


def _ordinary(lexicon: Lexicon, base: str | None) -> bool:
    return base is not None and lexicon.frame_share(base, "transitive") > 0.8


def tough(setting: Setting) -> Iterator[MinimalPair]:
    """The object of an infinitive left out after adjectives that need such a gap, and after those that exclude it."""
    view, lexicon, _ = setting
    clause = declarative(view)
    if clause is None or not _ordinary(lexicon, lexicon.base(view.words[clause.verb])):
        return
    base = lexicon.base(view.words[clause.verb])
    for _, span in clause.objects:
        if len(span) > 4 or span[-1] != clause.body[-1] or span[0] != clause.verb + 1:
            continue
        needs, excludes = setting.drawn(sorted(TOUGH)), setting.drawn(RAISING_ADJECTIVES[:4] + ADJECTIVES[:6])
        object_, subject = plain(view, span), plain(view, clause.subject)
        if object_[0] in ("me", "him", "us", "them", "her", "himself", "herself", "themselves", "myself", "itself"):
            continue
        tense = setting.drawn(("was", "will be", "had been"))
        gap = ([*object_, *tense.split(), adjective, "to", str(base)] for adjective in (needs, excludes))
        yield MinimalPair("control_raising", "tough-gap", *map(sentence, gap))
        if subject[0] not in ("i", "we", "they", "you", "I"):
            filled = (
                [*subject, *tense.split(), adjective, "to", str(base), *object_] for adjective in (excludes, needs)
            )
            yield MinimalPair("control_raising", "tough-without-gap", *map(sentence, filled))
