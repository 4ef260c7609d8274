"""Phrase structure from dependencies, and back, so that grammars and tree models learn from a treebank of any language.

Every word projects one phrase, over its own tag and the phrases of its dependents in the order of the sentence (flat
projections, as those of Collins et al. 1999 and Xia & Palmer 2001 with one level for each head):

    (ROOT (VERB.root (NOUN.nsubj (DET.det (DET the)) (NOUN dog)) (VERB barks)))

A phrase is named by the universal part of speech of its head and by its universal relation (`NOUN.nsubj`, also for the
subtype `nsubj:pass`), so that labels mean the same in any language. Its head is its only child that is a tag, since a
dependent without dependents is a phrase, too (kit/trees/head_rules.py). The tags of words are UPOS, or the treebank's
own (XPOS).

The words of a phrase are contiguous. An arc over a word that does not depend on the arc's head is therefore lifted to
the head of that head, the shortest such arc first, until the tree is projective (Nivre & Nilsson 2005, without their
marks). Of a projective tree, `to_dependencies` restores the heads, and the relations without subtypes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat, tee
from typing import Literal

from rerank_plugins.core.constituency_tree import ROOT, Tree
from rerank_plugins.core.counted import counted
from rerank_plugins.core.dependency_tree import ConlluSentence, DependencyTree, read_conllu_lines
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE, LINK
from rerank_plugins.kit.trees.head_rules import PARTS_OF_SPEECH, english_heads, is_projection
from rerank_plugins.kit.trees.inflection import Feats, Inflection, with_own_feats
from rerank_plugins.kit.trees.marked_labels import with_feats
from rerank_plugins.kit.trees.treebank_cleaning import category

Tags = Literal["upos", "xpos"]
Labels = Literal["", "upos", "xpos"]  # of the trees of a model: not made from dependencies, or with these tags
UPOS, XPOS = 3, 4  # columns
PLAIN_TAG = re.compile(r"[^\s()]|-\w+-")  # a single character, or -LRB-
STRUCTURAL = re.compile(r"[-=^@+|/:.()\s]")  # characters that have a meaning in the labels of models


def lift(heads: Sequence[int]) -> tuple[int, ...]:
    """The heads of a projective tree, from 0, -1 for the root. Of arcs of the same length, the leftmost is lifted.

    >>> lift((2, -1, 1, 0)), lift((1, 2, -1))
    ((1, -1, 1, 1), (1, 2, -1))
    """
    lifted = list(heads)
    while crossed := [
        (abs(head - word), min(head, word), word)
        for word, head in enumerate(lifted)
        if head >= 0 and _has_gap(lifted, word, head)
    ]:
        word = min(crossed)[2]
        lifted[word] = lifted[lifted[word]]
    return tuple(lifted)


def _has_gap(heads: Sequence[int], word: int, head: int) -> bool:
    """Whether a word between a word and its head does not depend on this head, directly or not."""
    for between in range(min(head, word) + 1, max(head, word)):
        above = between
        while above not in (-1, head):
            above = heads[above]
        if above < 0:
            return True
    return False


def to_constituents(tree: DependencyTree, tags: Sequence[str] = ()) -> Tree:
    """The phrase structure of a projective tree whose tags are UPOS, under ROOT; `tags` replace those of the words.

    >>> str(to_constituents(DependencyTree(("dogs", "bark"), (1, -1), ("nsubj", "root"), ("NOUN", "VERB"))))
    '(ROOT (VERB.root (NOUN.nsubj (NOUN dogs)) (VERB bark)))'
    """
    dependents: list[list[int]] = [[] for _ in tree.heads]
    for word, head in enumerate(tree.heads):
        if head >= 0:
            dependents[head].append(word)
    from_root = [tree.heads.index(-1)]
    for word in from_root:  # which grows as it is read
        from_root += dependents[word]
    phrases: dict[int, Tree] = {}
    for word in reversed(from_root):
        tag = Tree((tags or tree.tags)[word], (tree.words[word],))
        children = [*(phrases[i] for i in dependents[word] if i < word), tag]
        children += [phrases[i] for i in dependents[word] if i > word]
        label = f"{tree.tags[word]}.{tree.relations[word].partition(':')[0]}"
        phrases[word] = Tree(label, tuple(children))
    return Tree(ROOT, (phrases[from_root[0]],))


def as_constituents(tree: DependencyTree) -> Tree:
    """The phrase structure of any tree, after lifting."""
    return to_constituents(replace(tree, heads=lift(tree.heads)))


def to_dependencies(tree: Tree) -> DependencyTree:
    """The dependencies of a tree with any labels, by the heads of its phrases: the inverse of `to_constituents`.

    Relations and UPOS are those of projections; in other phrases the relation is `dep`, and the tag that of the word.
    """
    words = list(tree.preterminals())
    heads, relations, tags = [-1] * len(words), ["dep"] * len(words), [word.label for word in words]
    places = iter(range(len(words) - 1, -1, -1))  # a fold visits words from right to left

    def phrase(node: Tree, below: list[int]) -> int:
        head = below[english_heads().head_child(node)]
        for word in below:
            heads[word] = head if word != head else -1
        if is_projection(label := category(node.label)):
            tags[head], _, relations[head] = label.partition(".")
        return head

    relations[tree.fold(lambda _: next(places), phrase)] = "root"
    return DependencyTree(tree.words(), tuple(heads), tuple(relations), tuple(tags))


def as_label(tag: str) -> str:
    """A treebank's own tag as a label, whose characters with a meaning become underscores: `$(` is `$_`."""
    return tag if PLAIN_TAG.fullmatch(tag) else STRUCTURAL.sub("_", tag)


def kind_of_labels(labels: Iterable[str]) -> Labels:
    """Whether the labels of a model, annotated or of joined unary chains, are those of trees made from dependencies.

    >>> kind_of_labels(["ROOT", "NP"]), kind_of_labels(["NOUN.obj-NOUN", "NOUN"]), kind_of_labels(["NOUN.obj+NN"])
    ('', 'upos', 'xpos')
    >>> kind_of_labels(["NOUN.obj", "NOUN", "^ROOT"])
    'upos'
    """
    finished = {label for label in labels if not label.startswith(INTERMEDIATE)}
    plain = {category(part) for label in finished for part in label.split(LINK)}
    plain -= {"", ROOT, f"^{ROOT}"}  # a tag below the root may have its parent alone
    tags = {label for label in plain if not is_projection(label)}
    if len(tags) == len(plain):
        return ""
    return "upos" if tags <= PARTS_OF_SPEECH else "xpos"


@dataclass
class Conversion:
    """Reads CoNLL-U as constituents, with UPOS or XPOS as tags; counts words, lifted arcs, and trees that have any.

    With `inflection`, the tags bear FEATS (marked_labels.py): those of the treebank, or those that it finds.
    """

    tags: Tags = "upos"
    inflection: Inflection | None = None
    words: int = 0
    lifted_arcs: int = 0
    lifted_trees: int = 0

    def read(self, lines: Iterable[str], path: str = "<conllu>") -> Iterator[Tree]:
        """Yield the trees of a file. Raises FormatError, also for a word without a UPOS tag, or a wanted XPOS tag."""
        for (tree, rows, _), feats in self._with_feats(read_conllu_lines(lines, path)):
            for line, columns in rows:
                if columns[UPOS] not in PARTS_OF_SPEECH:
                    wanted = f"expected a universal part of speech (column 4), such as NOUN, found {columns[UPOS]!r}"
                    raise FormatError(wanted, path=path, line=line)
                if self.tags == "xpos" and columns[XPOS] in ("", "_"):
                    raise FormatError(
                        "expected a tag of the treebank (XPOS, column 5), found none", path=path, line=line
                    )
            heads = lift(tree.heads)
            arcs = sum(map(int.__ne__, heads, tree.heads))
            self.words, self.lifted_arcs = self.words + len(heads), self.lifted_arcs + arcs
            self.lifted_trees += arcs > 0
            tags = [as_label(columns[XPOS]) for _, columns in rows] if self.tags == "xpos" else tree.tags
            if feats:
                tags = [with_feats(tag, own) for tag, own in zip(tags, feats, strict=True)]
            yield to_constituents(replace(tree, heads=heads), tags)

    def _with_feats(self, sentences: Iterable[ConlluSentence]) -> Iterator[tuple[ConlluSentence, Sequence[Feats]]]:
        """The sentences, each with the features of its words if these are wanted."""
        if self.inflection is None:
            return zip(sentences, repeat(()))
        sentences, others = tee(sentences)
        return zip(sentences, self.inflection.of_each(map(with_own_feats, others)), strict=True)

    def __str__(self) -> str:
        arcs = f"{self.lifted_arcs:,} of {self.words:,} arcs"
        return f"{arcs} lifted to make {counted(self.lifted_trees, 'tree')} projective"
