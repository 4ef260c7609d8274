"""Counts the frames of verbs, the arguments of verbs, and the pronouns that refer back to nouns, in parsed text.

Of verbs, by base form, outside relative clauses and questions, where an argument may stand elsewhere: `transitive`
(active, with an object and no infinitive complement), `intransitive` (neither object nor clause), `clausal` (a clause
or an infinitive as complement), `passive`; and animate and inanimate subjects and objects, where the object of a
passive is its subject, and its subject the agent after `by`. Of nouns, in lower case, and names, with a capital letter:
reflexive objects of the verb whose subject the noun is, and possessives of its object (he, she, it, they); relative
pronouns (who, which); singular without and with a determiner (bare, determined). The patterns for gender and number are
those of Bergsma and Lin (2006).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from math import log

from rerank_plugins import DependencyTree
from rerank_plugins.english.tree_view import TreeView
from rerank_plugins.english.word_lists import word_set

VERB_COUNTS = ("transitive", "intransitive", "clausal", "passive",
               "subject_animate", "subject_inanimate", "object_animate", "object_inanimate")  # fmt: skip
NOUN_COUNTS = ("he", "she", "it", "they", "who", "which", "bare", "determined")
REFERRING = {
    "himself": "he", "his": "he", "herself": "she", "her": "she", "itself": "it", "its": "it",
    "themselves": "they", "their": "they", "who": "who", "whom": "who", "which": "which",
}  # fmt: skip
PERSONS = word_set("i you he she we they him me us them who everyone everybody someone somebody nobody anyone")
EVIDENT = 4.0  # log-odds from which the verbs of a noun decide whether it is animate
DETERMINING = ("det", "nmod", "nummod")


class Counts:
    """Counts of verbs and nouns over any number of trees; `base` maps a verb form to its base form, or to None."""

    def __init__(self, base: Callable[[str], str | None]) -> None:
        self.base = base
        self.verbs: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.nouns: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._arguments: Counter[tuple[str, str, str]] = Counter()

    def add(self, trees: Iterable[DependencyTree]) -> None:
        """Count the verbs and nouns of these trees."""
        for tree in trees:
            view = TreeView(tree)
            for verb in view.verbs:
                self._verb(view, verb)
            for i, tag in enumerate(view.tags):
                if tag in ("NOUN", "PROPN"):
                    self._noun(view, i)

    def _verb(self, view: TreeView, verb: int) -> None:
        subject = view.subject(verb)
        objects = view.dependents(verb, "obj")
        if subject is not None:
            self._references(view, subject, objects)
        lemma = self.base(view.words[verb])
        if lemma is None or view.relations[verb] == "acl" or view.has_wh(verb):
            return
        passive = view.is_passive(verb)
        agents = [i for i in view.dependents(verb, "obl") if view.full_relations[i] == "obl:agent"]
        self.verbs[lemma][_frame(view, verb, passive, bool(objects))] += 1
        below, above = ([subject] if subject is not None else [], agents) if passive else (objects, [subject])
        for role, words in (("object", below), ("subject", above)):
            for word in words:
                if word is not None and view.tags[word] in ("NOUN", "PROPN", "PRON"):
                    self._arguments[lemma, role, noun_key(view, word)] += 1

    def _references(self, view: TreeView, subject: int, objects: list[int]) -> None:
        """What refers back to the subject of a verb: its reflexive, or the possessive of its object."""
        if view.tags[subject] not in ("NOUN", "PROPN") or view.dependents(subject, "conj"):
            return
        for word in (*objects, *(i for obj in objects for i in view.dependents(obj, "nmod"))):
            if kind := REFERRING.get(view.words[word]):
                self.nouns[noun_key(view, subject)][kind] += 1

    def _noun(self, view: TreeView, noun: int) -> None:
        counts = self.nouns[noun_key(view, noun)]
        for clause in view.dependents(noun, "acl"):
            for word in view.children[clause]:
                if view.words[word] in ("who", "which"):
                    counts[view.words[word]] += 1
        counts["determined" if view.first(noun, *DETERMINING) is not None else "bare"] += 1

    def finish(self) -> dict[str, bool]:
        """Sort the arguments of verbs into animate and inanimate ones; return which nouns are animate, if known.

        Pronouns that refer back to a noun decide it for some nouns (`is_animate`). These determine how many subjects
        and objects of each verb are animate, and so the verbs decide it for other nouns, by the sum of their log-odds.
        """
        animate = {
            word: known for word, counts in self.nouns.items() if (known := is_animate(word, counts)) is not None
        }
        animate |= dict.fromkeys(PERSONS, True)
        odds = self._log_odds(animate)
        evidence: defaultdict[str, float] = defaultdict(float)
        for (lemma, role, word), count in self._arguments.items():
            evidence[word] += count * odds.get((lemma, role), 0.0)
        animate |= {word: total > 0 for word, total in evidence.items() if word not in animate and abs(total) > EVIDENT}
        for (lemma, role, word), count in self._arguments.items():
            if word in animate:
                self.verbs[lemma][f"{role}_{'animate' if animate[word] else 'inanimate'}"] += count
        self._arguments.clear()
        return animate

    def _log_odds(self, animate: dict[str, bool]) -> dict[tuple[str, str], float]:
        """By verb and role, ln of the odds that an argument is animate, less those of all arguments in this role."""
        counts: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [1.0, 1.0])
        totals: defaultdict[str, list[float]] = defaultdict(lambda: [1.0, 1.0])
        for (lemma, role, word), count in self._arguments.items():
            if word in animate and word not in PERSONS:
                counts[lemma, role][animate[word]] += count
                totals[role][animate[word]] += count
        return {
            (lemma, role): log(many / few) - log(totals[role][1] / totals[role][0])
            for (lemma, role), (few, many) in counts.items()
        }


def noun_key(view: TreeView, noun: int) -> str:
    """The key of the counts of a noun: in lower case, but with a capital letter if it is a name."""
    return view.words[noun].capitalize() if view.tags[noun] == "PROPN" else view.words[noun]


def is_animate(word: str, counts: Counter[str] | dict[str, int]) -> bool | None:
    """Whether a word denotes people (or beings that text treats like people); None if the counts do not decide."""
    if word in PERSONS:
        return True
    persons = counts.get("he", 0) + counts.get("she", 0) + counts.get("who", 0)
    things = counts.get("it", 0) + counts.get("which", 0)
    seen = counts.get("bare", 0) + counts.get("determined", 0)
    if persons >= 2 and persons > 2 * things:
        return True
    return False if (things >= 2 and things > 2 * persons) or (not persons and seen > 50) else None


def _frame(view: TreeView, verb: int, passive: bool, transitive: bool) -> str:
    if passive:
        return "passive"
    if view.first(verb, "ccomp", "xcomp") is not None:
        return "clausal"
    return "transitive" if transitive else "intransitive"
