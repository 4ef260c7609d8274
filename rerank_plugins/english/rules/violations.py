"""The values of the feature `grammar-violations`: minus the counts of violated rules, and sums of ln probabilities.

A modal and `do` govern the base form, `have` the participle, `be` the participle or the form in -ing (Quirk et al.
1985, §3.21); only finite forms stand without an auxiliary. A control predicate gives its subject or object a role, so
that expletive `there` cannot stand there: `there tried to be`, `he persuaded there to be` (Rosenbaum 1967; Postal
1974); the infinitive of `easy` lacks an object, that of `likely` does not (Lasnik and Fiengo 1974).

A phrase that is moved to the front of a clause leaves a gap in it, which must not be in an island. A filler is a
fronted question phrase (`who`, `which book`) or the noun that a relative clause modifies. It needs a gap of its own:
the subject of its clause, the object of a verb, or the noun of a stranded preposition, in the clause or in its
complement clauses, and in no island (Ross 1967; Chomsky 1977): adjunct clauses, relative clauses, single conjuncts,
embedded questions. Whether a verb without an object has a gap is the proportion of its occurrences with an object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log

from rerank_plugins import DependencyTree
from rerank_plugins.english.english_lexicon import Lexicon, animacy, bare_nouns, frames
from rerank_plugins.english.rules import agreement, quantifiers
from rerank_plugins.english.tree_view import BE, WH, TreeView
from rerank_plugins.english.word_lists import BARE_INFINITIVE, MODALS, NOT_TOUGH, OBJECT_CONTROL, SUBJECT_CONTROL, TOUGH

FLOOR, CLEAR = 0.02, 0.6  # the least probability of a gap, and that from which a gap is as good as any
ISLAND, OTHER = 0.5, 0.2  # gaps: the least probability of one in an island, and the greatest of one elsewhere
NOMINAL_TAGS = frozenset(["NOUN", "PROPN", "PRON", "NUM", "DET", "ADJ"])
COMPLEMENTS = frozenset(["ccomp", "xcomp"])
PRONOUNS = frozenset(["who", "whom", "whoever", "what", "whatever", "which", "whose"])


@dataclass
class Extraction:
    """The fillers of a sentence with their gaps; `gaps` are verbs whose object is a gap."""

    ln_p: float = 0.0  # Σ over fillers of the ln probability of the most probable gap
    islands: int = 0  # fillers whose most probable gap is in an island
    stranded: int = 0  # stranded prepositions without a filler
    gaps: set[int] = field(default_factory=set)


def extraction(view: TreeView, lexicon: Lexicon) -> Extraction:
    """Pair the fillers of a sentence with gaps, the innermost filler first."""
    result = Extraction()
    prepositions = set(stranded_prepositions(view))
    for filler, clause in sorted(fillers(view), key=lambda pair: -pair[0]):
        inside, outside = domain(view, clause, filler)
        best, where = _best(view, lexicon, inside, prepositions, result.gaps, filler)
        in_island, place = _best(view, lexicon, outside, prepositions, result.gaps, filler)
        if in_island > ISLAND and best < OTHER:  # a gap elsewhere would make that in the island a parasitic one
            result.islands += 1
            where = place
        result.ln_p += log(min(1.0, max(best, FLOOR) / CLEAR))
        if where is not None:
            prepositions.discard(where)
            result.gaps.add(where)
    result.stranded = len(prepositions)
    result.islands += coordinate_island_violations(view)
    return result


def fillers(view: TreeView) -> list[tuple[int, int]]:
    """(filler, head of its clause) for fillers that need a gap other than the subject of that clause."""
    found = []
    for i, word in enumerate(view.words):
        if word not in PRONOUNS or view.heads[i] < 0:
            continue
        phrase = view.heads[i] if view.relations[i] in ("det", "nmod") and view.heads[i] > i else i
        clause = view.heads[phrase]
        if clause < phrase or view.relations[phrase] in ("root", "conj", "nmod", "appos", "det"):
            continue
        if view.tags[clause] not in ("VERB", "AUX", "ADJ") or view.relations[clause] == "acl":
            continue
        if any(child != phrase for child in view.dependents(clause, "nsubj", "csubj", "expl")):
            found.append((i, clause))
    for clause, relation in enumerate(view.relations):
        if relation == "acl" and view.tags[clause] == "VERB" and not view.is_infinitive(clause):
            subjects = [i for i in view.dependents(clause, "nsubj") if view.words[i] not in (*WH, "that")]
            if subjects and view.heads[clause] < clause and not _content_clause(view, clause):
                found.append((view.heads[clause], clause))
    return found


def _content_clause(view: TreeView, clause: int) -> bool:
    """Whether a clause after a noun may state its content (`the claim that …`): with `that` and no gap."""
    marked = any(view.words[i] == "that" and view.tags[i] == "SCONJ" for i in view.children[clause])
    return marked and view.first(clause, "obj") is not None


def domain(view: TreeView, clause: int, filler: int) -> tuple[list[int], list[int]]:
    """The predicates that can have the gap of a filler, and those in islands of its clause."""
    inside, waiting = [clause], [clause]
    outside: list[int] = []
    while waiting:
        head = waiting.pop()
        for child in view.children[head]:
            relation = view.relations[child]
            if relation in COMPLEMENTS and child > filler:
                question = any(view.words[i] in WH or view.words[i] in ("whether", "if", "why", "when", "how")
                               for i in view.children[child] if i < child)  # fmt: skip
                (outside if question else inside).append(child)
                if not question:
                    waiting.append(child)
            elif relation in ("advcl", "parataxis") and child > filler:
                outside += [i for i in view.subtree(child) if view.tags[i] == "VERB"]
            elif relation == "conj" and view.tags[child] == "VERB" and child > filler:
                inside.append(child)
            elif relation in ("obj", "obl", "nsubj") and child > filler:
                for below in view.dependents(child, "acl"):
                    outside += [i for i in view.subtree(below) if view.tags[i] == "VERB"]
    return inside, outside


def _best(
    view: TreeView, lexicon: Lexicon, predicates: list[int], prepositions: set[int], used: set[int], filler: int
) -> tuple[float, int | None]:
    """The most probable gap below these predicates: its probability, and the verb or preposition; else (0, None)."""
    best, where = 0.0, None
    for predicate in predicates:
        for i in prepositions:
            if i > filler and predicate in (view.heads[i], *view.ancestors(i)) and _nearest(view, i) == predicate:
                return 1.0, i
        if predicate in used or view.tags[predicate] != "VERB":
            continue
        p = gap_probability(view, lexicon, predicate, filler)
        if p > best:
            best, where = p, predicate
    return best, where


def _nearest(view: TreeView, word: int) -> int:
    """The nearest predicate above a word."""
    return next((i for i in view.ancestors(word) if view.tags[i] in ("VERB", "AUX") or view.heads[i] < 0), word)


def gap_probability(view: TreeView, lexicon: Lexicon, verb: int, filler: int) -> float:
    """How often this verb has an object, if it has none here; 0 for a passive and for a verb with an object."""
    objects = [i for i in view.dependents(verb, "obj", "ccomp") if i > max(filler, verb)]
    if objects or view.is_passive(verb):
        return 0.0
    nominal = [i for i in range(verb + 1, min(verb + 3, len(view))) if view.tags[i] in ("DET", "PROPN", "PRON")]
    if nominal and nominal[0] == verb + 1 and view.heads[nominal[0]] != verb:
        return FLOOR
    base = lexicon.base(view.words[verb])
    return lexicon.frame_proportion(base or "", "transitive")


def stranded_prepositions(view: TreeView) -> list[int]:
    """Prepositions without a noun after them."""
    return [
        i
        for i, tag in enumerate(view.tags)
        if tag == "ADP"
        and i > 0
        and view.relations[i] not in ("compound", "fixed")
        and (i + 1 == len(view) or view.tags[i + 1] in ("PUNCT", "CCONJ", "SCONJ"))
        and not any(child > i for child in view.children[i])
        and not (view.heads[i] > i)
    ]


def coordinate_island_violations(view: TreeView) -> int:
    """The number of conjunctions after a gap: a verb or preposition, then `and` with a noun, in a question."""
    wh = next((i for i, word in enumerate(view.words) if word in PRONOUNS), None)
    if wh is None:
        return 0
    count = 0
    for i in range(wh + 2, len(view) - 1):
        if view.words[i] not in ("and", "or"):
            continue
        later = view.tags[i + 1 :]
        if later[0] == "PUNCT":
            count += 1
        elif view.tags[i - 1] in ("VERB", "ADP") and later[0] in NOMINAL_TAGS:
            count += not {"VERB", "AUX"} & set(later)
    return count


def is_severed(view: TreeView, _lexicon: Lexicon, i: int) -> bool:
    """Whether the word is a `whose` that no noun follows (the left branch condition: Ross 1967)."""
    after = view.tags[i + 1 : i + 2]
    return view.words[i] == "whose" and (not after or after[0] in ("AUX", "VERB", "PRON", "DET", "PUNCT"))


LIKELY = 0.75  # proportion of occurrences with an object from which a verb without one has a gap
CAUSATIVE = BARE_INFINITIVE | {"have", "get", "want", "keep", "find", "leave"}
FAR = 5  # words between an auxiliary and its verb, with the subject between them in a question
GOVERNING = {
    **dict.fromkeys((MODALS - {"'d"}) | {"do", "does", "did", "to"}, frozenset(["base"])),
    **dict.fromkeys(("have", "has", "had", "'ve", "having"), frozenset(["participle"])),
    **dict.fromkeys(BE - {"'s"}, frozenset(["participle", "gerund"])),
}
OTHERS = ("islands", "stranded", "fillers", "frames", "animacy", "bare_nouns")


def is_expletive_with_role(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    """Whether the word is an expletive that is the subject or object of a control predicate."""
    return view.words[word] in ("there", "it") and (
        _subject_of_control(view, lexicon, word) or _object_of_control(view, lexicon, word)
    )


def _infinitive_of_be(view: TreeView, to: int) -> bool:
    """Whether `to be` or `to have been` begins here, an adverb apart."""
    following = [view.words[i] for i in range(to + 1, min(to + 4, len(view))) if view.tags[i] != "ADV"]
    return view.words[to] == "to" and (following[:1] == ["be"] or following[:2] == ["have", "been"])


def _subject_of_control(view: TreeView, lexicon: Lexicon, expletive: int) -> bool:
    if view.words[expletive] != "there":
        return False
    for i in range(expletive + 1, min(expletive + 1 + quantifiers.WINDOW, len(view))):
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


def _with_be(view: TreeView, adjective: int) -> bool:
    before = [view.words[i] for i in range(adjective) if view.tags[i] not in ("ADV", "PART")]
    return bool(before) and before[-1] in BE


def has_wrong_gap(view: TreeView, lexicon: Lexicon, adjective: int) -> bool:
    """Whether the word is an adjective whose infinitive has a gap that it may not have, or lacks one it must have."""
    if view.words[adjective] not in NOT_TOUGH | TOUGH or view.words[adjective + 1 : adjective + 2] != ("to",):
        return False
    verb = next((i for i in range(adjective + 2, len(view)) if view.tags[i] != "ADV"), None)
    if (
        verb is None
        or not _with_be(view, adjective)
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
        return lexicon.frame_proportion(base, "transitive") > LIKELY or None
    if view.tags[rest[-1]] == "ADP" and all(view.tags[i] in ("ADP", "VERB") for i in rest):
        return True
    nominal = any(view.tags[i] in ("NOUN", "PROPN", "PRON") for i in rest)
    infinitive = any(view.tags[i] in ("VERB", "SCONJ") for i in rest)
    return False if nominal and not infinitive else None


def has_wrong_form(view: TreeView, lexicon: Lexicon, word: int) -> bool:
    """Whether the word is a verb whose form its auxiliary or its position does not allow."""
    slots = lexicon.slots(view.words[word])
    if not slots or view.tags[word] not in ("VERB", "ADJ"):
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


RULES: dict[str, Callable[[TreeView, Lexicon, int], bool]] = {  # whether a word violates the rule
    "subject_verb": agreement.disagrees_with_verb,
    "determiner_noun": agreement.disagrees_with_noun,
    "reflexive_agreement": agreement.disagrees_with_antecedent,
    "reflexive_place": agreement.is_unbound_reflexive,
    "case": agreement.has_wrong_case,
    "verb_form": has_wrong_form,
    "polarity": quantifiers.is_unlicensed,
    "existential": quantifiers.has_strong_determiner,
    "superlative": quantifiers.is_negated_superlative,
    "ellipsis": quantifiers.lacks_noun,
    "expletive": is_expletive_with_role,
    "tough": has_wrong_gap,
    "left_branch": is_severed,
}
VALUES = (*RULES, *OTHERS)


def grammar_values(tree: DependencyTree, lexicon: Lexicon) -> list[float]:
    """VALUES of a tree: minus the number of violations, then ln probabilities; all at most 0."""
    view = TreeView(tree)
    moved = extraction(view, lexicon)
    return [
        *(0.0 - sum(rule(view, lexicon, word) for word in range(len(view))) for rule in RULES.values()),
        0.0 - moved.islands,
        0.0 - moved.stranded,
        moved.ln_p,
        frames(view, lexicon, moved.gaps),
        animacy(view, lexicon),
        bare_nouns(view, lexicon),
    ]
