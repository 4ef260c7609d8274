"""The values of the feature `grammar-violations`: minus the counts of violated rules, and sums of ln probabilities.

Two rules are here. A modal and `do` govern the base form, `have` the participle, `be` the participle or the form in
-ing (Quirk et al. 1985, §3.21); only finite forms stand without an auxiliary. A control predicate gives its subject or
object a role, so that expletive `there` cannot stand there: `there tried to be`, `he persuaded there to be` (Rosenbaum
1967; Postal 1974); the infinitive of `easy` lacks an object, that of `likely` does not (Lasnik and Fiengo 1974).
"""

from __future__ import annotations

from collections.abc import Callable

from rerank_plugins import DependencyTree
from rerank_plugins.english.english_lexicon import Lexicon, animacy, bare_nouns, frames
from rerank_plugins.english.rules.agreement import (
    determiner_noun,
    reflexives,
    subject_verb,
    unbound_reflexives,
    wrong_case,
)
from rerank_plugins.english.rules.extraction import extraction, severed_determiners
from rerank_plugins.english.rules.quantifiers import (
    WINDOW,
    adjectives_without_noun,
    negated_superlatives,
    strong_existentials,
    unlicensed_polarity_items,
)
from rerank_plugins.english.tree_view import BE, TreeView
from rerank_plugins.english.word_lists import BARE_INFINITIVE, MODALS, NOT_TOUGH, OBJECT_CONTROL, SUBJECT_CONTROL, TOUGH

LIKELY = 0.75  # proportion of occurrences with an object from which a verb without one has a gap
CAUSATIVE = BARE_INFINITIVE | {"have", "get", "want", "keep", "find", "leave"}
FAR = 5  # words between an auxiliary and its verb, with the subject between them in a question
GOVERNING = {
    **dict.fromkeys((MODALS - {"'d"}) | {"do", "does", "did", "to"}, frozenset(["base"])),
    **dict.fromkeys(("have", "has", "had", "'ve", "having"), frozenset(["participle"])),
    **dict.fromkeys(BE - {"'s"}, frozenset(["participle", "gerund"])),
}
OTHERS = ("islands", "stranded", "fillers", "frames", "animacy", "bare_nouns")


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
