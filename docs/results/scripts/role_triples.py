"""Print how often a paraphrase shares more meaning with a sentence than a swap of its arguments (docs/models/svs.md).

From clauses of a subject, a verb and an object, and of a verb with two objects, three sentences are made:

    sentence     The company sold the shares .        They gave the pupils a book .
    paraphrase   The shares were sold by the company .    They gave a book to the pupils .
    swap         The shares sold the company .        They gave the pupils to a book .

All three are parsed from their words alone. Words without roles cannot tell a sentence from its swap. TREES are files of
brackets; the participles of verbs are those that they attest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment
from docs.results.scripts.texts import cleaned_trees
from rerank_adapters.applications.negatives.word_forms import s_form, suffixed
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.kit.vocabulary.irregular_forms import base_form
from rerank_plugins.similarity.meaning import FITTED, pair_by_pair
from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
from rerank_plugins.svs.parser import parser_of_concepts

NOUNS = ("NN", "NNS", "NNP", "NNPS")
FINITE = {"VBD": ("was", "were"), "VBZ": ("is", "are"), "VBP": ("is", "are")}
AFTER = frozenset({"PP", "ADVP", "NP-TMP"})  # phrases that may follow the object
DATIVE = frozenset(
    [
        "give",
        "send",
        "show",
        "offer",
        "hand",
        "lend",
        "teach",
        "bring",
        "sell",
        "write",
        "pay",
        "promise",
        "grant",
        "award",
        "pass",
        "throw",
    ]
)
LONGEST = 12  # words of a phrase
Words = tuple[str, ...]


class Triple(NamedTuple):
    """The words of a sentence, of its paraphrase and of its swap."""

    sentence: Words
    paraphrase: Words
    swap: Words


class Verb(NamedTuple):
    """The base form and the past participle of a verb."""

    base: str
    participle: str


@experiment("role_triples", __doc__)
@click.argument("trees", nargs=-1, required=True, type=FILE)
@click.option("--most", default=1000, help="Number of triples of each kind.")
@click.option("--concepts", type=FILE, help="A model made by `rerank train svs-concepts`.  [default: embedded]")
@click.option("--show", default=0, help="Print as many of the triples that are wrong.")
def main(trees: tuple[Path, ...], most: int, concepts: Path | None, show: int) -> None:
    """Make the triples, compare them and print the table."""
    verbs = verbs_of(trees)
    found: dict[str, dict[Triple, None]] = {"passive": {}, "two objects": {}}
    for path in trees:
        for tree in cleaned_trees(path):
            for kind, triple in triples(tree, verbs):
                if len(found[kind]) < most:
                    found[kind][triple] = None
    sentences = SentenceMeanings(parser_of_concepts(concepts), read_concepts(concepts))
    print(
        "| paraphrase | triples | more than swap | of a paraphrase | of a swap | without roles |\n|---|---|---|---|---|---|"
    )
    for kind, made in found.items():
        if not made:
            continue
        parts = [sentences.of(side) for side in zip(*made, strict=True)]
        same, swapped = (pair_by_pair(parts[0], parts[side]) for side in (1, 2))
        bare = FITTED._replace(role=0.0)
        without = pair_by_pair(parts[0], parts[1], bare) > pair_by_pair(parts[0], parts[2], bare)
        right = same > swapped
        cells = f"{100 * right.mean():.1f} % | {same.mean():.3f} | {swapped.mean():.3f} | {100 * without.mean():.1f} %"
        print(f"| {kind} | {len(made):,} | {cells} |", flush=True)
        for number in np.flatnonzero(~right)[:show].tolist():
            triple = list(made)[number]
            print(*(" ".join(words) for words in triple), f"{same[number]:.3f} {swapped[number]:.3f}", sep="\n    ")


def verbs_of(paths: Sequence[Path]) -> dict[str, Verb]:
    """The verb of each finite form, in lower case, where the trees attest its past participle, or the same past form."""
    words: dict[str, set[str]] = {tag: set() for tag in ("VB", "VBP", "VBD", "VBN")}
    for path in paths:
        for tree in cleaned_trees(path):
            for word, tag in zip(tree.words(), map(category, tree.tags()), strict=True):
                words.get(tag, set()).add(word.lower())
    irregular = {base_form(word, "VBN"): word for word in sorted(words["VBN"])}
    past = {base_form(word, "VBD"): word for word in sorted(words["VBD"])}
    verbs = {}
    for base in sorted(words["VB"] | words["VBP"]):
        regular = [form for form in suffixed(base, "ed") if form in words["VBN"] | words["VBD"]]
        participle = irregular.get(base) or next(iter(regular), None)
        if participle is not None:
            verbs |= dict.fromkeys((base, s_form(base), past.get(base, participle)), Verb(base, participle))
    return verbs


def triples(tree: Tree, verbs: Mapping[str, Verb]) -> Iterator[tuple[str, Triple]]:
    """The triples that a tree gives, each with its kind."""
    for node in tree.nodes():
        if category(node.label) != "S" or node.is_preterminal:
            continue
        parts = [child for child in node.subtrees if child.label not in (".", "''")]
        if [category(part.label) for part in parts] != ["NP", "VP"]:
            continue
        subject, predicate = parts
        verb, *rest = predicate.subtrees
        if not verb.is_preterminal or category(verb.label) not in FINITE or not rest or verb.word.isupper():
            continue
        forms = verbs.get(verb.word.lower())
        if forms is None or forms.base in ("be", "have", "do", "get", "become") or not _is_flat(rest[0]):
            continue
        labels = [category(part.label) for part in rest]
        if labels[1:2] == ["NP"] and forms.base in DATIVE and _is_noun(rest[1]):
            first, second = _words(rest[0]), _words(rest[1])
            after = tuple(word for part in rest[2:] for word in _words(part))
            before = (*_words(subject), verb.word.lower())
            yield (
                "two objects",
                Triple(
                    _sentence(before, first, second, after),
                    _sentence(before, second, ("to",), first, after),
                    _sentence(before, first, ("to",), second, after),
                ),
            )
        elif _is_noun(subject) and _is_noun(rest[0]) and set(labels[1:]) <= AFTER:
            one, other = _words(subject), _words(rest[0])
            after = tuple(word for part in rest[1:] for word in _words(part))
            be = FINITE[category(verb.label)][_last_tag(rest[0]).endswith("S")]
            if one != other:
                yield (
                    "passive",
                    Triple(
                        _sentence(one, (verb.word.lower(),), other, after),
                        _sentence(other, (be, forms.participle), after, ("by",), one),
                        _sentence(other, (verb.word.lower(),), one, after),
                    ),
                )


def _is_flat(phrase: Tree) -> bool:
    """Whether a phrase is a noun phrase of some words, without other phrases."""
    if phrase.is_preterminal or category(phrase.label) != "NP" or len(phrase.words()) > LONGEST:
        return False
    return all(child.is_preterminal for child in phrase.subtrees)


def _is_noun(phrase: Tree) -> bool:
    """Whether a phrase is such a one that ends in a noun."""
    return _is_flat(phrase) and _last_tag(phrase) in NOUNS


def _last_tag(phrase: Tree) -> str:
    return category(phrase.tags()[-1])


def _words(phrase: Tree) -> Words:
    """The words of a phrase, the first in lower case unless it is a name."""
    words, tags = phrase.words(), phrase.tags()
    return (words[0] if category(tags[0]).startswith("NNP") or words[0] == "I" else words[0].lower(), *words[1:])


def _sentence(*parts: Sequence[str]) -> Words:
    words = [word for part in parts for word in part]
    return (words[0][:1].upper() + words[0][1:], *words[1:], ".")


if __name__ == "__main__":
    main()
