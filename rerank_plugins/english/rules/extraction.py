"""Pairs fillers with gaps: a phrase moved to the front of a clause leaves a gap in it, which must not be in an island.

A filler is a fronted question phrase (`who`, `which book`) or the noun that a relative clause modifies. It needs a gap
of its own: the subject of its clause, the object of a verb, or the noun of a stranded preposition, in the clause or in
its complement clauses, and in no island (Ross 1967; Chomsky 1977): adjunct clauses, relative clauses, single conjuncts,
embedded questions. Whether a verb without an object has a gap is the proportion of its occurrences with an object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log

from rerank_plugins.english.english_lexicon import Lexicon
from rerank_plugins.english.tree_view import WH, TreeView

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
    result.islands += torn_conjuncts(view)
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
        share = gap_share(view, lexicon, predicate, filler)
        if share > best:
            best, where = share, predicate
    return best, where


def _nearest(view: TreeView, word: int) -> int:
    """The nearest predicate above a word."""
    return next((i for i in view.ancestors(word) if view.tags[i] in ("VERB", "AUX") or view.heads[i] < 0), word)


def gap_share(view: TreeView, lexicon: Lexicon, verb: int, filler: int) -> float:
    """How often this verb has an object, if it has none here; 0 for a passive and for a verb with an object."""
    objects = [i for i in view.dependents(verb, "obj", "ccomp") if i > max(filler, verb)]
    if objects or view.is_passive(verb):
        return 0.0
    nominal = [i for i in range(verb + 1, min(verb + 3, len(view))) if view.tags[i] in ("DET", "PROPN", "PRON")]
    if nominal and nominal[0] == verb + 1 and view.heads[nominal[0]] != verb:
        return FLOOR
    base = lexicon.base(view.words[verb])
    return lexicon.frame_share(base, "transitive") if base else lexicon.average_share("transitive")


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


def torn_conjuncts(view: TreeView) -> int:
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


def severed_determiners(view: TreeView) -> int:
    """The number of `whose` that no noun follows (the left branch condition: Ross 1967)."""
    return sum(
        word == "whose" and (i + 1 == len(view) or view.tags[i + 1] in ("AUX", "VERB", "PRON", "DET", "PUNCT"))
        for i, word in enumerate(view.words)
    )
