"""Verbs in the wrong form: after an auxiliary, or finite where only a participle can be, or the reverse.

A modal and `do` govern the base form, `have` the participle, `be` the participle or the form in -ing (Quirk et al.
1985, §3.21). A form that is only a participle (hidden, taken) is not finite by itself, and one that is only a past
(hid, took) does not modify a noun.
"""

from __future__ import annotations

from rerank_plugins.models.grammar.lexicon import Lexicon
from rerank_plugins.models.grammar.tree_view import BE, TreeView
from rerank_plugins.models.grammar.words import MODALS

GOVERNED = (
    (MODALS | {"do", "does", "did", "to"}, {"base"}),
    (frozenset(["have", "has", "had", "'ve", "having"]), {"participle"}),
    (BE - {"'s"}, {"participle", "gerund"}),
)


def wrong_verb_forms(view: TreeView, lexicon: Lexicon) -> int:
    """The number of verbs whose form their auxiliary or their place does not allow."""
    return sum(_wrong(view, lexicon, i) for i in range(len(view)) if view.tags[i] in ("VERB", "ADJ"))


def _wrong(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    slots = lexicon.slots(view.words[word])
    if not slots:
        return False
    if view.relations[word] == "amod" and view.heads[word] > word:
        return slots == {"past"}
    if view.tags[word] != "VERB":
        return False
    before = word - 1
    while before >= 0 and (view.tags[before] == "ADV" or view.words[before] in ("not", "n't")):
        before -= 1
    if before >= 0 and view.tags[before] in ("AUX", "PART", "VERB") and view.heads[before] == word:
        for auxiliaries, governed in GOVERNED:
            if view.words[before] in auxiliaries:
                return not slots & governed and view.words[before] != "'d"
    finite = view.relations[word] in ("root", "ccomp", "acl") and not view.auxiliaries(word)
    return finite and slots == {"participle"} and view.subject(word) == before and before >= 0
