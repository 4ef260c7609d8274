"""Counts verbs in the wrong form: after an auxiliary, or finite where only a participle can be, or the reverse.

A modal and `do` govern the base form, `have` the participle, `be` the participle or the form in -ing (Quirk et al.
1985, §3.21). A form that is only a participle (hidden, taken) is not finite by itself, and one that is only a past
(hid, took) does not modify a noun.
"""

from __future__ import annotations

from rerank_plugins.english.closed_classes import BARE_INFINITIVE, MODALS
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.tree_view import BE, TreeView

CAUSATIVE = BARE_INFINITIVE | {"have", "get", "want", "keep", "find", "leave"}
FAR = 5  # words between an auxiliary and its verb, with the subject between them in a question
GOVERNING = {
    **dict.fromkeys((MODALS - {"'d"}) | {"do", "does", "did", "to"}, frozenset(["base"])),
    **dict.fromkeys(("have", "has", "had", "'ve", "having"), frozenset(["participle"])),
    **dict.fromkeys(BE - {"'s"}, frozenset(["participle", "gerund"])),
}


def wrong_verb_forms(view: TreeView, lexicon: Lexicon) -> int:
    """The number of verbs whose form their auxiliary or their position does not allow."""
    return sum(_wrong(view, lexicon, i) for i in range(len(view)) if view.tags[i] in ("VERB", "ADJ"))


def _wrong(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    slots = lexicon.slots(view.words[word])
    if not slots:
        return False
    if view.relations[word] == "amod" and view.heads[word] > word:
        return slots == {"past"}
    if view.tags[word] != "VERB":
        return False
    auxiliaries = [i for i in view.dependents(word, "aux", "mark") if i < word and view.words[i] in GOVERNING]
    auxiliaries = [i for i in auxiliaries if view.tags[i] in ("AUX", "PART")]
    passive_by_get = view.words[max(0, word - 1)] in ("get", "gets", "got", "getting")
    if auxiliaries and auxiliaries[-1] > word - FAR and not passive_by_get:
        forms = GOVERNING[view.words[auxiliaries[-1]]]
        return not slots & forms
    return slots == {"participle"} and _finite(view, lexicon, word)


def _finite(view: TreeView, lexicon: Lexicon, verb: int) -> bool:
    """Whether a verb without an auxiliary has a subject before it; not where it depends on `have` (had it done)."""
    subject, head = view.subject(verb), view.heads[verb]
    if subject is None or subject > verb or view.auxiliaries(verb) or view.relations[verb] == "xcomp":
        return False
    if head >= 0 and lexicon.base(view.words[head]) in CAUSATIVE:
        return False
    return all(view.tags[i] in ("ADV", "PART") for i in range(view.subtree(subject)[-1] + 1, verb))
