"""Pairs of irregular forms: the past for the participle, and the participle for the past."""

from __future__ import annotations

from collections.abc import Iterator

from rerank_plugins.english.minimal_pairs.clauses import MinimalPair, Setting, replaced


def irregular_forms(setting: Setting) -> Iterator[MinimalPair]:
    """The past after an auxiliary or before a noun, or the participle as finite verb."""
    view, lexicon, _ = setting
    for i, tag in enumerate(view.tags):
        verb = lexicon.by_form.get(view.words[i]) if tag in ("VERB", "ADJ") else None
        if verb is None or verb.past == verb.participle or verb.participle == verb.base:
            continue
        slots = lexicon.slots(view.words[i])
        if slots == {"participle"} and (view.auxiliaries(i) or view.relations[i] == "amod"):
            yield MinimalPair("irregular_forms", "past-for-participle", view.tree.words, replaced(view, {i: verb.past}))
        elif slots == {"past"} and tag == "VERB" and not view.auxiliaries(i):
            yield MinimalPair(
                "irregular_forms", "participle-for-past", view.tree.words, replaced(view, {i: verb.participle})
            )
