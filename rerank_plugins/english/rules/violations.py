"""Computes the values of the feature `grammar-violations` from the dependency tree of a sentence.

Rules count what they violate, so that their values are minus counts; the others are sums of ln probabilities.

The rule of verb forms counts verbs in the wrong form: after an auxiliary, or finite where only a participle can be, or
the reverse.

A modal and `do` govern the base form, `have` the participle, `be` the participle or the form in -ing (Quirk et al.
1985, §3.21). A form that is only a participle (hidden, taken) is not finite by itself, and one that is only a past
(hid, took) does not modify a noun.
"""

from __future__ import annotations

from collections.abc import Callable

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.english.closed_classes import BARE_INFINITIVE, MODALS
from rerank_plugins.english.lexicon.english_lexicon import Lexicon
from rerank_plugins.english.lexicon.frames import animacy, bare_nouns, frames
from rerank_plugins.english.rules.agreement import determiner_noun, reflexives, subject_verb
from rerank_plugins.english.rules.binding import unbound_reflexives, wrong_case
from rerank_plugins.english.rules.extraction import extraction, severed_determiners
from rerank_plugins.english.rules.polarity import unlicensed_polarity_items
from rerank_plugins.english.rules.quantifiers import adjectives_without_noun, negated_superlatives, strong_existentials
from rerank_plugins.english.rules.raising import expletives_with_roles, wrong_gaps_of_adjectives
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


RULES: dict[str, Callable[[TreeView, Lexicon], int]] = {
    "subject_verb": subject_verb,
    "determiner_noun": determiner_noun,
    "reflexive_agreement": reflexives,
    "reflexive_place": unbound_reflexives,
    "case": wrong_case,
    "verb_form": wrong_verb_forms,
    "polarity": lambda view, _: unlicensed_polarity_items(view),
    "existential": lambda view, _: strong_existentials(view),
    "superlative": lambda view, _: negated_superlatives(view),
    "ellipsis": lambda view, _: adjectives_without_noun(view),
    "expletive": expletives_with_roles,
    "tough": wrong_gaps_of_adjectives,
    "left_branch": lambda view, _: severed_determiners(view),
}
OTHERS = ("islands", "stranded", "fillers", "frames", "animacy", "bare_nouns")
VALUES = (*RULES, *OTHERS)


def grammar_values(tree: DependencyTree, lexicon: Lexicon) -> list[float]:
    """VALUES of a tree: minus the number of violations, then ln probabilities; all at most 0."""
    view = TreeView(tree)
    moved = extraction(view, lexicon)
    return [
        *(0.0 - rule(view, lexicon) for rule in RULES.values()),
        0.0 - moved.islands,
        0.0 - moved.stranded,
        moved.ln_p,
        frames(view, lexicon, moved.gaps),
        animacy(view, lexicon),
        bare_nouns(view, lexicon),
    ]
