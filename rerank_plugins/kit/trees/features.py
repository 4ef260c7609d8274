"""Features on trees: number, gaps, polarity and more, handed up from words to the phrases that bear them.

A feature gives every node of a tree a value, or none. A table of the language (feature_table.py) says where values
start and how they go up, along heads or from any child, as the head and foot features of GPSG do (Gazdar et al. 1985).
The values become marks of the labels of those nodes that the table shows (marked_labels.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from itertools import repeat
from typing import NamedTuple

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.trees.feature_table import GAP, Feature, among, names, read_table
from rerank_plugins.kit.trees.gaps import gapped
from rerank_plugins.kit.trees.head_rules import CONJUNCTIONS, HeadRules, english_heads, is_projection
from rerank_plugins.kit.trees.marked_labels import INNER, MARK, split_feats
from rerank_plugins.kit.trees.treebank_cleaning import category

REMEMBERED = 32 * MEGABYTE
Values = tuple[str, ...]  # one per feature, "" for none


class Node(NamedTuple):
    """A node as the rules see it: its category, and its value of every feature."""

    category: str
    values: Values


@dataclass(frozen=True, eq=False)
class FeatureRules:
    """The table of a language, or some of its features."""

    features: tuple[Feature, ...]
    heads: HeadRules = field(default_factory=english_heads)

    def chosen(self, wanted: Iterable[str]) -> FeatureRules:
        """The rules of the named features, in the order of the table, and of those that they read.

        The same features are the same object, which remembers the phrases that it has marked. Raises ConfigError for a
        name that is not in the table.
        """
        for name in (wanted := tuple(wanted)):
            if name not in self._named:
                raise ConfigError(f"unknown feature {name!r} of trees; there are {', '.join(self._named)}")
        needed = frozenset(self._with_read(wanted))
        if needed not in self._parts:
            chosen = tuple(feature for feature in self.features if feature.name in needed)
            self._parts[needed] = FeatureRules(chosen, self.heads)
        return self._parts[needed]

    @cached_property
    def _parts(self) -> dict[frozenset[str], FeatureRules]:
        """The rules that have been chosen, by the names of their features."""
        return {}

    @cached_property
    def head_marks(self) -> frozenset[str]:
        """The marks of the features that go up along heads, and of those that these read.

        All other features are foot features, which come from any child, or from a filler.
        """
        heads = [feature.name for feature in self.features if any(source.kind == "head" for source in feature.sources)]
        return self._marks_of(self._with_read(heads))

    @cached_property
    def foot_marks(self) -> frozenset[str]:
        """The marks of the features that do not go up along heads."""
        return self._marks_of(self._named) - self.head_marks

    @cached_property
    def beside_marks(self) -> frozenset[str]:
        """The marks that tags have from their siblings, not from their words."""
        return frozenset(feature.prefix + line.value for feature in self.features for line in feature.beside)

    def _marks_of(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(mark for name in names for mark in self._named[name].marks(self._named))

    def _with_read(self, names: Iterable[str]) -> set[str]:
        """The names, and those of the features that they read."""
        todo, needed = list(names), set[str]()
        while todo:
            needed.add(name := todo.pop())
            todo += [other for other in self._named[name].read if other not in needed]
        return needed

    @cached_property
    def _named(self) -> dict[str, Feature]:
        return {feature.name: feature for feature in self.features}

    def mark(self, tree: Tree) -> Tree:
        """The tree with the marks of all features after its labels, which may have other marks already."""
        lacking = gapped(tree) if self._has_gaps else frozenset()

        def tag(node: Tree) -> tuple[Node, Tree]:
            label, feats = split_feats(node.label)
            start, marks = self._start(category(label), node.word, feats)
            return start, Tree(label + marks, node.children) if marks or feats else node

        def phrase(node: Tree, children: list[tuple[Node, Tree]]) -> tuple[Node, Tree]:
            below = tuple(child for child, _ in children)
            lacks = id(node) in lacking
            ends = lacks and not any(id(child) in lacking for child in node.children)
            above, marks, beside = self._above(category(node.label), below, lacks, ends)
            trees = [child for _, child in children]
            if any(beside):
                trees = [Tree(child.label + mark, child.children) for child, mark in zip(trees, beside, strict=True)]
            return above, Tree(node.label + marks, tuple(trees))

        return tree.fold(tag, phrase)[1]

    @cached_property
    def _has_gaps(self) -> bool:
        return any(source.kind == "filler" for feature in self.features for source in feature.sources)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {feature.name: number for number, feature in enumerate(self.features)}

    @cached_property
    def _starts(self) -> Remembered[tuple[str, str, frozenset[str]], tuple[Node, str]]:
        """The nodes of tags over words, with their marks."""
        return Remembered(REMEMBERED)

    @cached_property
    def _phrases(self) -> Remembered[tuple[str, tuple[Node, ...], bool, bool], tuple[Node, str, tuple[str, ...]]]:
        """The nodes of phrases by category and children, with their marks and those that tags get beside siblings."""
        return Remembered(REMEMBERED)

    def _start(self, tag: str, word: str, feats: frozenset[str]) -> tuple[Node, str]:
        key = (tag, word, feats)
        if (known := self._starts.get(key)) is not None:
            return known
        spelt = f"{word.lower()}/{tag}"

        def value(feature: Feature) -> str:
            of_feats = (value for needed, value in feature.feats if needed <= feats)
            return feature.words.get(spelt) or next(of_feats, "") or feature.words.get(tag, "")

        node = Node(tag, values := tuple(map(value, self.features)))
        self._starts.make_room()
        return self._starts.keep(key, (node, self._marks(node, repeat(False, len(values)))))

    def _above(
        self, label: str, children: tuple[Node, ...], lacks: bool, ends: bool
    ) -> tuple[Node, str, tuple[str, ...]]:
        """The node of a phrase, its marks, and those that its children have beside each other.

        The phrase `lacks` something if it lies between a filler and a gap, and `ends` the path if the gap is its child.
        """
        key = (label, children, lacks, ends)
        if (known := self._phrases.get(key)) is not None:
            return known
        head = children[self.heads.head(label, [child.category for child in children])]
        values = (self._value(label, feature, head, children, lacks) for feature in self.features)
        node = Node(label, tuple(values))
        hidden = [self._is_inner(label, feature, children) for feature in self.features]
        outside = Node(label, tuple("" if inner else value for value, inner in zip(node.values, hidden, strict=True)))
        self._phrases.make_room()
        return self._phrases.keep(key, (outside, self._marks(node, hidden), self._beside(label, children, ends)))

    def _beside(self, label: str, children: Sequence[Node], ends: bool) -> tuple[str, ...]:
        """The marks of children beside those that follow them; an empty tuple if no feature has any in this phrase."""
        lines = [
            (feature.prefix, found)
            for feature in self.features
            if (found := [line for line in feature.beside if line.phrase == label])
        ]
        marks = []
        for i, child in enumerate(children if lines else ()):
            after = [sibling.category for sibling in children[i + 1 :]] + [GAP] * ends
            mark = ""
            for prefix, found in lines:
                values = (
                    line.value
                    for line in found
                    if child.category in line.tags and any(among(sibling, line.siblings) for sibling in after)
                )
                if value := next(values, ""):
                    mark += MARK + prefix + value
            marks.append(mark)
        return tuple(marks)

    def _value(self, label: str, feature: Feature, head: Node, children: Sequence[Node], lacks: bool) -> str:
        """The first value that a source of the feature has for a phrase."""
        number = self._number[feature.name]
        for source in feature.sources:
            if not among(label, source.categories) or any(_is_meant(child, source.unless) for child in children):
                continue
            match source.kind:
                case "joined":
                    value = source.what[0] if _joins(label, children, source.what[1:]) else ""
                case "head":
                    value = head.values[number]
                case "child":
                    values = (child.values[number] for child in children if _is_meant(child, source.what))
                    value = next(filter(None, values), "")
                case "feature":
                    other = self._number[source.what[0]]
                    value = next(filter(None, (child.values[other] for child in children)), "")
                case "filler":
                    value = GAP if lacks else ""
                case _:
                    value = self._foot(label, feature, children)
            if value:
                return value
        return ""

    def _foot(self, label: str, feature: Feature, children: Sequence[Node]) -> str:
        """The value of the first child that has one, unless the phrase, or a child before that one, ends it."""
        if among(label, feature.ends_within):
            return ""
        number = self._number[feature.name]
        ending = [self._number[other] for other, phrases in feature.ends_after if among(label, phrases)]
        for child in children:
            if child.values[number]:
                return child.values[number]
            if any(child.values[other] for other in ending):
                return ""
        return ""

    @staticmethod
    def _is_inner(label: str, feature: Feature, children: Sequence[Node]) -> bool:
        """Whether only the symbols within a phrase bear the feature: the nodes above know nothing of its value."""
        return any(
            among(label, line.categories)
            and (line.kind == "always" or any(_is_meant(child, line.what) for child in children))
            and not any(_is_meant(child, line.unless) for child in children)
            for line in feature.inside
        )

    def _marks(self, node: Node, hidden: Iterable[bool]) -> str:
        """The marks of a node in its label: those that it bears itself, then those of symbols within it."""
        own, inner = "", ""
        for feature, value, only_inside in zip(self.features, node.values, hidden, strict=True):
            if value and among(node.category, feature.shown):
                if only_inside:
                    inner += INNER + feature.prefix + value
                else:
                    own += MARK + feature.prefix + value
        return own + inner


def _is_meant(node: Node, categories: Collection[str]) -> bool:
    """Whether lines on children of these categories, which may have values (PRON.nsubj-rel), are about a node."""
    if among(node.category, categories):
        return True
    values = filter(None, node.values)
    return any(f"{name}{MARK}{value}" in categories for value in values for name in names(node.category))


def _joins(label: str, children: Sequence[Node], categories: Sequence[str]) -> bool:
    """Whether a conjunction stands between two children of these categories, or one of them depends on the head."""
    if is_projection(label):
        return any(among(child.category, categories) for child in children)
    joined = [i for i, child in enumerate(children) if among(child.category, categories)]
    between = children[joined[0] + 1 : joined[-1]] if joined else ()
    return any(child.category in CONJUNCTIONS for child in between)


@cache
def english_features() -> FeatureRules:
    """The rules for English in this package."""
    return _packaged("english_features.tsv")


@cache
def universal_features() -> FeatureRules:
    """The rules for constituents made from Universal Dependencies, whose words bear their FEATS (marked_labels.py)."""
    return _packaged("universal_features.tsv")


def _packaged(name: str) -> FeatureRules:
    file = files("rerank_plugins.kit.trees") / name
    return FeatureRules(read_table(file.read_text(encoding="utf-8").splitlines(), file.name))
