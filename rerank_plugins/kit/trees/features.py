"""Features on trees: number, gaps, polarity and more, handed up from words to the phrases that bear them.

A feature gives every node of a tree a value, or none. A table of the language says where values start and how they go
up, along heads or from any child, as the head and foot features of GPSG do (Gazdar et al. 1985). A mark is a value in
the label of a node, NP-pl or VP-sg-gap; `category` (treebank_cleaning.py) leaves marks out, so that the trees of a
parser whose grammar has them are plain trees. A line of the table is one of

    FEATURE is VALUE : TAG word/TAG …                the value of tags, or of words with a tag; words go before tags
    FEATURE joined VALUE CATEGORY … : CATEGORY …     the value of phrases in which a conjunction joins two such children
    FEATURE from head : CATEGORY …                   a phrase has the value of its head child
    FEATURE from CATEGORY … [unless CATEGORY …] : CATEGORY …
                                                     or of its first child of these categories, unless it has others
    FEATURE from FEATURE : CATEGORY …                or the value that its first child has in another feature
    FEATURE from any : CATEGORY …                    or that of any child (a foot feature) …
    FEATURE ends after FEATURE : CATEGORY …          … unless a child before it has another feature
    FEATURE ends within : CATEGORY …                 … or the phrase itself ends it
    FEATURE from filler : CATEGORY …                 the value "gap" of phrases between a filler and its gap (gaps.py)
    FEATURE shown [as PREFIX] : CATEGORY …           the nodes whose labels bear the mark
    FEATURE inside beside CATEGORY … : CATEGORY …    … but only the symbols within them, if they have such a child

The sources of a feature are tried in the order of its lines. A category may be a whole label, the part of speech of a
phrase made from dependencies (NOUN) or its relation (.acl). A mark that only the symbols within a phrase bear begins
with = and is taken off the phrase itself once the tree is binarised (`finish`): in S → NP-pl @S=pl, @S=pl → ADVP VP-pl
the intermediate symbol hands on what the rule must check, while S has the contexts of every other S.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from itertools import repeat
from typing import NamedTuple

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE
from rerank_plugins.kit.trees.gaps import gapped
from rerank_plugins.kit.trees.head_rules import CONJUNCTIONS, HeadRules, english_heads
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel

MARK, INNER = "-", "="  # the characters before a mark, and before one that only symbols within the phrase bear
REMEMBERED = 32 * MEGABYTE
Values = tuple[str, ...]  # one per feature, "" for none


class Node(NamedTuple):
    """What the rules see of a node: its category, and its value of every feature."""

    category: str
    values: Values


class Source(NamedTuple):
    """A line on where phrases of some categories have a value from."""

    kind: str  # "joined", "head", "child", "feature", "any" or "filler"
    categories: frozenset[str]
    what: tuple[str, ...] = ()  # the value that is joined, the categories of a child, or the name of a feature
    unless: frozenset[str] = frozenset()


@dataclass
class Feature:
    """The lines of one feature."""

    name: str
    words: dict[str, str] = field(default_factory=dict)  # a tag, or word/TAG: its value
    sources: list[Source] = field(default_factory=list)
    ends_after: list[tuple[str, frozenset[str]]] = field(default_factory=list)  # a feature, and phrases
    ends_within: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    prefix: str = ""
    inside: list[tuple[frozenset[str], frozenset[str]]] = field(default_factory=list)  # beside these, phrases


def names(label: str) -> tuple[str, ...]:
    """The names by which lines of a table may mean a category.

    >>> names("NP"), names("NOUN.acl")
    (('NP',), ('NOUN.acl', 'NOUN', '.acl'))
    """
    part, point, relation = label.partition(".")
    return (label, part, point + relation) if part and relation else (label,)


def _among(label: str, categories: Iterable[str]) -> bool:
    return not set(categories).isdisjoint(names(label))


@dataclass(frozen=True, eq=False)
class FeatureRules:
    """The table of a language, or some of its features."""

    features: tuple[Feature, ...]
    heads: HeadRules = field(default_factory=english_heads)

    def chosen(self, wanted: Iterable[str]) -> FeatureRules:
        """The rules of the named features, in the order of the table, and of those that they read.

        Raises ConfigError for a name that is not in the table.
        """
        known = {feature.name: feature for feature in self.features}
        todo, needed = list(wanted), set[str]()
        while todo:
            name = todo.pop()
            if name not in known:
                raise ConfigError(f"unknown feature {name!r} of trees; there are {', '.join(known)}")
            needed.add(name)
            read = [source.what[0] for source in known[name].sources if source.kind == "feature"]
            read += [other for other, _ in known[name].ends_after]
            todo += [other for other in read if other not in needed]
        return FeatureRules(tuple(feature for feature in self.features if feature.name in needed), self.heads)

    def mark(self, tree: Tree) -> Tree:
        """The tree with the marks of all features after its labels, which may have other marks already."""
        lacking = gapped(tree) if self._has_gaps else frozenset()

        def tag(node: Tree) -> tuple[Node, Tree]:
            start, marks = self._start(category(node.label), node.word)
            return start, Tree(node.label + marks, node.children) if marks else node

        def phrase(node: Tree, children: list[tuple[Node, Tree]]) -> tuple[Node, Tree]:
            below = tuple(child for child, _ in children)
            above, marks = self._above(category(node.label), below, id(node) in lacking)
            return above, Tree(node.label + marks, tuple(child for _, child in children))

        return tree.fold(tag, phrase)[1]

    @cached_property
    def _has_gaps(self) -> bool:
        return any(source.kind == "filler" for feature in self.features for source in feature.sources)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {feature.name: number for number, feature in enumerate(self.features)}

    @cached_property
    def _starts(self) -> Remembered[tuple[str, str], tuple[Node, str]]:
        """The nodes of tags over words, with their marks."""
        return Remembered(REMEMBERED)

    @cached_property
    def _phrases(self) -> Remembered[tuple[str, tuple[Node, ...], bool], tuple[Node, str]]:
        """The nodes of phrases by category and children, with their marks; most occur many times."""
        return Remembered(REMEMBERED)

    def _start(self, tag: str, word: str) -> tuple[Node, str]:
        key = (tag, word)
        if (known := self._starts.get(key)) is not None:
            return known
        spelt = f"{word.lower()}/{tag}"
        values = tuple(feature.words.get(spelt) or feature.words.get(tag, "") for feature in self.features)
        node = Node(tag, values)
        self._starts.make_room()
        return self._starts.keep(key, (node, self._marks(node, repeat(False, len(values)))))

    def _above(self, label: str, children: tuple[Node, ...], lacks: bool) -> tuple[Node, str]:
        key = (label, children, lacks)
        if (known := self._phrases.get(key)) is not None:
            return known
        head = children[self.heads.head(label, [child.category for child in children])]
        values = (self._value(label, feature, head, children, lacks) for feature in self.features)
        node = Node(label, tuple(values))
        hidden = [self._is_inner(label, feature, children) for feature in self.features]
        outside = Node(label, tuple("" if inner else value for value, inner in zip(node.values, hidden, strict=True)))
        self._phrases.make_room()
        return self._phrases.keep(key, (outside, self._marks(node, hidden)))

    def _value(self, label: str, feature: Feature, head: Node, children: Sequence[Node], lacks: bool) -> str:
        """The first value that a source of the feature has for a phrase."""
        number = self._number[feature.name]
        for source in feature.sources:
            if not _among(label, source.categories) or any(_among(child[0], source.unless) for child in children):
                continue
            match source.kind:
                case "joined":
                    value = source.what[0] if _joins(children, source.what[1:]) else ""
                case "head":
                    value = head.values[number]
                case "child":
                    values = (child.values[number] for child in children if _among(child.category, source.what))
                    value = next(filter(None, values), "")
                case "feature":
                    other = self._number[source.what[0]]
                    value = next(filter(None, (child.values[other] for child in children)), "")
                case "filler":
                    value = "gap" if lacks else ""
                case _:
                    value = self._foot(label, feature, children)
            if value:
                return value
        return ""

    def _foot(self, label: str, feature: Feature, children: Sequence[Node]) -> str:
        """The value of the first child that has one, unless the phrase, or a child before that one, ends it."""
        if _among(label, feature.ends_within):
            return ""
        number = self._number[feature.name]
        ending = [self._number[other] for other, phrases in feature.ends_after if _among(label, phrases)]
        for child in children:
            if child.values[number]:
                return child.values[number]
            if any(child.values[other] for other in ending):
                return ""
        return ""

    @staticmethod
    def _is_inner(label: str, feature: Feature, children: Sequence[Node]) -> bool:
        """Whether only the symbols within a phrase bear the feature: what is above knows nothing of its value."""
        return any(
            _among(label, phrases) and any(_among(child.category, beside) for child in children)
            for beside, phrases in feature.inside
        )

    def _marks(self, node: Node, hidden: Iterable[bool]) -> str:
        """The marks of a node in its label: those that it bears itself, then those of symbols within it."""
        own, inner = "", ""
        for feature, value, only_inside in zip(self.features, node.values, hidden, strict=True):
            if value and _among(node.category, feature.shown):
                if only_inside:
                    inner += INNER + feature.prefix + value
                else:
                    own += MARK + feature.prefix + value
        return own + inner


def _joins(children: Sequence[Node], categories: Sequence[str]) -> bool:
    """Whether a conjunction stands between two children of these categories."""
    joined = [i for i, child in enumerate(children) if _among(child.category, categories)]
    between = children[joined[0] + 1 : joined[-1]] if joined else ()
    return any(child.category in CONJUNCTIONS for child in between)


def finish(tree: Tree) -> Tree:
    """The binarised tree without the marks of symbols within phrases on the phrases themselves.

    >>> str(finish(Tree("S=pl", (Tree("NP-pl", ("they",)), Tree("@S=pl", ("go",))))))
    '(S (NP-pl they) (@S=pl go))'
    """
    return relabel(tree, lambda label: label if label.startswith(INTERMEDIATE) else label.partition(INNER)[0] or label)


def unmarked(label: str) -> str:
    """The label of a binarised tree without marks.

    >>> unmarked("@NP-pl-npi"), unmarked("NP-pl"), unmarked("-LRB-"), unmarked("@S-fin=pl|NP-sg")
    ('@NP', 'NP', '-LRB-', '@S|NP')
    """
    if not label.startswith(INTERMEDIATE):
        return category(label)
    name, bar, siblings = label[1:].partition("|")
    return INTERMEDIATE + ":".join(map(category, name.split(":"))) + bar + "_".join(map(category, siblings.split("_")))


def read_features(lines: Iterable[str], path: str = "<features>") -> FeatureRules:
    """The rules in the lines of a table. Raises FormatError (with file and line) for a malformed line."""
    features: dict[str, Feature] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            name, verb, *rest = line.split()
            colon = rest.index(":")
            before, after = rest[:colon], tuple(rest[colon + 1 :])
            _add(features.setdefault(name, Feature(name)), verb, before, after, features)
        except ValueError as error:
            wanted = f"expected a line such as `number from head : NP VP`, found {line.strip()!r} ({error})"
            raise FormatError(wanted, path=path, line=number) from None
    return FeatureRules(tuple(features.values()))


def _add(
    feature: Feature, verb: str, before: list[str], after: tuple[str, ...], features: Mapping[str, Feature]
) -> None:
    """Add a line to a feature: what stands before the colon, and after it. Raises ValueError for any other line."""
    categories = frozenset(after)
    match verb, before:
        case "is", [value]:
            feature.words.update(dict.fromkeys(after, value))
        case "joined", [value, *children] if children:
            feature.sources.append(Source("joined", categories, (value, *children)))
        case "from", ["head" | "any" | "filler" as kind]:
            feature.sources.append(Source(kind, categories))
        case "from", [name] if name in features and name != feature.name:
            feature.sources.append(Source("feature", categories, (name,)))
        case "from", [*children] if children:
            unless = children.index("unless") if "unless" in children else len(children)
            what, others = tuple(children[:unless]), frozenset(children[unless + 1 :])
            feature.sources.append(Source("child", categories, what, others))
        case "ends", ["after", name]:
            feature.ends_after.append((name, categories))
        case "ends", ["within"]:
            feature.ends_within |= categories
        case "shown", []:
            feature.shown |= categories
        case "shown", ["as", prefix]:
            feature.shown, feature.prefix = feature.shown | categories, prefix
        case "inside", ["beside", *others]:
            feature.inside.append((frozenset(others), categories))
        case _:
            raise ValueError(f"unknown kind of line: {' '.join([verb, *before])}")


@cache
def english_features() -> FeatureRules:
    """The rules for English in this package."""
    file = files("rerank_plugins.kit.trees") / "english_features.tsv"
    return read_features(file.read_text(encoding="utf-8").splitlines(), file.name)
