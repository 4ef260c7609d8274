"""The inflection of words that have no FEATS: number, gender, case and person by agreement in dependency trees.

A treebank says of *Lehrer* whether it is singular or plural, a parser's tree does not, and the form does not either.
What does are the words that agree with it: *die Lehrer lachen*. So nominal words, and then verbs, get the bundle of
features that is the most probable one by all that is observed (inflection_estimates.py):

    nominal    its form; its part of speech, relation and adposition; the form of its determiner, the ending of its
               adjective, its numeral; the verb of which it is the subject; of a relative pronoun, the noun before it
    verb       its form; its part of speech, relation and auxiliaries; the number and person of its subject, which is
               that of the first conjunct where it has none; the form of the verb of the first conjunct

A form that no treebank has is learnt from its occurrences in a parser's trees, and an unknown one from its ending.
Determiners and adjectives have the features of the word on which they depend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from rerank_plugins.core.dependency_tree import ConlluSentence, DependencyTree
from rerank_plugins.kit.endings import endings
from rerank_plugins.kit.trees.inflection_estimates import Estimates, Observations, estimate

Chain = list[tuple[str, ...]]
Feats = Mapping[str, str]  # a feature of CoNLL-U: its value
NONE: Feats = {}
NOMINAL = {"NOUN", "PROPN", "PRON"}  # and determiners that determine nothing
VERBAL = {"VERB", "AUX"}
AGREEING = {"DET", "ADJ"}
WITH_NOUN = {"det", "amod"}  # the relations of words that agree with the noun on which they depend
IN_NOUN_PHRASE = ("Case", "Gender", "Number")
OF_NOMINAL = (*IN_NOUN_PHRASE, "Person", "PronType")  # the last of pronouns in relative clauses
OF_VERB = ("Number", "Person")  # which only finite verbs have
TELLING = {"PronType": "Rel", "Person": "12"}  # of these features, the values that are kept
SENTENCES_A_BLOCK = 2048  # sentences at a time
NOTHING = Estimates((), Observations(), np.zeros((1, 0)), np.zeros((1, 0)))
UPOS, FEATS, RELATION = 3, 5, 7  # columns of CoNLL-U
COLUMNS = 9  # observations of a word at most


def read_feats(column: str) -> Feats:
    """The features in the column FEATS of CoNLL-U.

    >>> read_feats("Case=Nom|Number=Sing"), read_feats("_")
    ({'Case': 'Nom', 'Number': 'Sing'}, {})
    """
    return dict(part.split("=", 1) for part in column.split("|") if "=" in part) if column != "_" else NONE


def with_own_feats(sentence: ConlluSentence) -> tuple[DependencyTree, list[Feats]]:
    """A tree of CoNLL-U with the features of its words, as far as inflection needs them.

    A determiner of a noun has only the features in which it agrees with it: *my* is not of the first person.
    """
    tree = sentence.tree
    found = []
    for (_, columns), head in zip(sentence.rows, tree.heads, strict=True):
        relation, above = columns[RELATION], tree.relations[head] if head >= 0 else ""
        agrees = columns[UPOS] in AGREEING and relation.partition(":")[0] in WITH_NOUN
        features = IN_NOUN_PHRASE if agrees else OF_NOMINAL if above.startswith("acl") else OF_NOMINAL[:-1]
        found.append(read_feats(kept(read_feats(columns[FEATS]), features) or "_"))
    return tree, found


@dataclass(frozen=True, eq=False)
class Words:
    """A sentence as it is observed: its tree, with lower-case forms apart from nouns, and the dependents of each."""

    tree: DependencyTree

    @cached_property
    def forms(self) -> tuple[str, ...]:
        """The forms, in lower case unless they are nouns, which some languages write with a capital."""
        pairs = zip(self.tree.words, self.tree.tags, strict=True)
        return tuple(word if tag in ("NOUN", "PROPN") else word.lower() for word, tag in pairs)

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The universal relations, without subtypes."""
        return tuple(relation.partition(":")[0] for relation in self.tree.relations)

    @cached_property
    def dependents(self) -> list[list[int]]:
        """The dependents of each word in the order of the sentence."""
        below: list[list[int]] = [[] for _ in self.tree.words]
        for word, head in enumerate(self.tree.heads):
            if head >= 0:
                below[head].append(word)
        return below

    def first(self, head: int, *relations: str, tags: Iterable[str] = ()) -> int:
        """The first dependent with one of these relations, and of these tags, if any; -1 if there is none."""
        wanted = set(tags)
        for word in self.dependents[head]:
            if self.relations[word] in relations and (not wanted or self.tree.tags[word] in wanted):
                return word
        return -1

    def is_nominal(self, word: int) -> bool:
        """Whether a word heads a nominal phrase."""
        tag = self.tree.tags[word]
        return tag in NOMINAL or (tag == "DET" and self.relations[word] != "det")

    def nominal(self) -> list[int]:
        """The heads of nominal phrases."""
        return [word for word in range(len(self.forms)) if self.is_nominal(word)]

    def verbal(self) -> list[int]:
        """The verbs and auxiliaries."""
        return [word for word, tag in enumerate(self.tree.tags) if tag in VERBAL]

    def clause(self, verb: int) -> int:
        """The head of the clause of a verb: of an auxiliary, the word on which it depends."""
        return self.tree.heads[verb] if self.relations[verb] in ("aux", "cop") else verb

    def subject(self, clause: int) -> int:
        """The subject of a clause, or of the first conjunct where it has none; -1 if there is none."""
        subject = self.first(clause, "nsubj", "csubj")
        if subject < 0 and self.relations[clause] == "conj":
            subject = self.first(self.tree.heads[clause], "nsubj", "csubj")
        return subject

    def finite(self, clause: int) -> int:
        """The word of a clause that agrees with its subject: its first auxiliary or copula, or else its head."""
        auxiliary = self.first(clause, "aux", "cop")
        return auxiliary if auxiliary >= 0 else clause


def _of_form(kind: str, tag: str, form: str) -> Chain:
    return [(kind, tag), *((kind, tag, "-", ending) for ending in list(endings(form))[1:]), (kind, tag, form)]


def nominal_chains(words: Words, word: int) -> Iterator[Chain]:
    """The observations of a nominal word."""
    tag, relation, head = words.tree.tags[word], words.relations[word], words.tree.heads[word]
    adposition = words.first(word, "case")
    form = words.forms[adposition] if adposition >= 0 else ""
    relative = tag in ("PRON", "DET") and head >= 0 and words.relations[head] == "acl"
    place = f"{relation}{'/acl' if relative else ''}"
    yield [("place", tag), ("place", tag, place), ("place", tag, place, form)]
    yield _of_form("form", tag, words.forms[word])
    for name, kind in (("det", "det"), ("nummod", "nummod")):
        if (other := words.first(word, name)) >= 0:
            yield [(kind,), (kind, words.forms[other]), (kind, words.forms[other], relation)]
    if (other := words.first(word, "amod", tags=("ADJ",))) >= 0:
        yield [("amod",), ("amod", words.forms[other][-2:])]
    if relation == "nsubj" and words.first(word, "conj") < 0:
        verb = words.finite(head)
        if words.tree.tags[verb] in VERBAL:
            yield _of_form("verb", words.tree.tags[verb], words.forms[verb])
    if relative and words.tree.heads[head] >= 0:
        noun = words.tree.heads[head]
        yield _of_form("before", words.tree.tags[noun], words.forms[noun])
        if (other := words.first(noun, "det")) >= 0:
            yield [("det-before",), ("det-before", words.forms[other])]


def verb_chains(words: Words, word: int, feats: Sequence[Feats]) -> Iterator[Chain]:
    """The observations of a verb or auxiliary; `feats` are those of the sentence's words, nominal ones included."""
    tag, relation, head = words.tree.tags[word], words.relations[word], words.tree.heads[word]
    clause = words.clause(word)
    auxiliaries = "aux" if tag == "VERB" and words.first(clause, "aux", "cop") >= 0 else ""
    if tag == "AUX":
        before = [other for other in words.dependents[clause] if words.relations[other] in ("aux", "cop")]
        auxiliaries = f"{len(before)}{before.index(word) if word in before else ''}"
    marked = words.first(clause, "mark")
    mark = words.forms[marked] if marked >= 0 else ""
    subject = words.subject(clause)
    place = f"{relation}/{auxiliaries}/{'subject' if subject >= 0 else ''}"
    yield [("place", tag), ("place", tag, place), ("place", tag, place, mark)]
    yield _of_form("form", tag, words.forms[word])
    if subject >= 0 and not (tag == "VERB" and auxiliaries):
        number = "Plur" if words.first(subject, "conj") >= 0 else feats[subject].get("Number", "")
        person = feats[subject].get("Person", "3")
        kind = "shared" if words.first(clause, "nsubj") < 0 else "subject"
        yield [(kind,), (kind, number), (kind, number, person)]
    if relation == "conj" and words.tree.tags[head] in VERBAL:
        auxiliary = "aux" if words.first(head, "aux") >= 0 else ""
        yield [("with",), ("with", auxiliary), *_of_form("with", auxiliary, words.forms[head])[2:]]


def kept(feats: Feats, features: Sequence[str]) -> str:
    """A bundle: these features, as far as the word has them, as in CoNLL-U.

    >>> kept({"Case": "Nom", "Degree": "Pos", "PronType": "Prs"}, OF_NOMINAL)
    'Case=Nom'
    """
    pairs = ((name, feats[name].split(",")) for name in features if name in feats)
    told = ((name, [value for value in values if value in TELLING.get(name, value)]) for name, values in pairs)
    return "|".join(f"{name}={values[0]}" for name, values in told if values)


@dataclass(frozen=True, eq=False)
class Inflection:
    """The estimates of nominal words and of verbs."""

    nominal: Estimates
    verbal: Estimates

    def of_each(self, sentences: Iterable[tuple[DependencyTree, Sequence[Feats]]]) -> Iterator[list[Feats]]:
        """Yield the results of `feats` for each of any number of trees, of which a block is in memory."""
        waiting = iter(sentences)
        while block := list(islice(waiting, SENTENCES_A_BLOCK)):
            yield from self.feats(block)

    def feats(self, sentences: Sequence[tuple[DependencyTree, Sequence[Feats]]]) -> list[list[Feats]]:
        """The features of all words of these trees: their own, or in trees whose words have none, the most probable."""
        found = [list(own) for _, own in sentences]
        unknown = [(Words(tree), new) for (tree, own), new in zip(sentences, found, strict=True) if not any(own)]
        self._fill(
            self.nominal,
            [(new, i, nominal_chains(words, i)) for words, new in unknown for i in words.nominal()],
        )
        self._fill(
            self.verbal,
            [(new, i, verb_chains(words, i, new)) for words, new in unknown for i in words.verbal()],
        )
        for words, new in unknown:
            _agree(words, new)
        return found

    @staticmethod
    def _fill(estimates: Estimates, places: Sequence[tuple[list[Feats], int, Iterable[Chain]]]) -> None:
        """Give each word, in a list of features at an index, the most probable value by its observations."""
        if not places or not estimates.values:
            return
        values = [read_feats(value or "_") for value in estimates.values]
        rows = np.zeros((len(places), COLUMNS), np.int32)
        for row, (_, _, chains) in zip(rows, places, strict=True):
            numbers = [estimates.observations.known(chain) for chain in chains]
            row[: len(numbers)] = numbers
        best = estimates.posterior(rows).argmax(axis=1)
        for (new, place, _), value in zip(places, best.tolist(), strict=True):
            new[place] = values[value]


def _agree(words: Words, found: list[Feats]) -> None:
    """Give determiners and adjectives the features of the nouns on which they depend."""
    for word, head in enumerate(words.tree.heads):
        if words.tree.tags[word] in AGREEING and words.relations[word] in WITH_NOUN and head >= 0:
            found[word] = {name: value for name, value in found[head].items() if name in IN_NOUN_PHRASE}


def learn_inflection(sentences: Sequence[tuple[DependencyTree, Sequence[Feats]]]) -> Inflection:
    """Learn from trees with the features of their words; a tree whose words have none counts as without FEATS."""
    nominal, verbal = _Rows(), _Rows()
    for tree, feats in sentences:
        words, known = Words(tree), any(feats)
        for word in words.nominal():
            nominal.add(nominal_chains(words, word), kept(feats[word], OF_NOMINAL) if known else None)
    of_nominal = nominal.estimate()
    found = Inflection(of_nominal, NOTHING)
    for (tree, own), feats in zip(sentences, found.of_each(sentences), strict=True):
        words, known = Words(tree), any(own)
        for word in words.verbal():
            verbal.add(verb_chains(words, word, feats), kept(own[word], OF_VERB) if known else None)
    return Inflection(of_nominal, verbal.estimate())


class _Rows:
    """Collects the observations of words, with their values."""

    def __init__(self) -> None:
        self._observations, self._rows, self._values = Observations(), list[list[int]](), list[str | None]()

    def add(self, chains: Iterable[Chain], value: str | None) -> None:
        self._rows.append([self._observations.number(chain) for chain in chains])
        self._values.append(value)

    def estimate(self) -> Estimates:
        rows = np.zeros((len(self._rows), COLUMNS), np.int32)
        for row, numbers in zip(rows, self._rows, strict=True):
            row[: len(numbers)] = numbers
        return estimate(self._observations, rows, self._values)
