"""Reads a table of features of trees: where the values of number, gaps or polarity start, and how they go up.

A line of a table is one of

    FEATURE is VALUE : TAG word/TAG …                the value of tags, or of words with a tag; words go before tags
    FEATURE is VALUE : Number:Sing+Person:1 …        or of words with these FEATS: the first such line that fits goes
    FEATURE is VALUE in CATEGORY beside CATEGORY … : TAG …
                                                     the value of tags in such a phrase, before a sibling of these
                                                     categories or before a "gap"; it does not go up
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
    FEATURE inside [beside CATEGORY … [unless CATEGORY …]] : CATEGORY …
                                                     … but only the symbols within them, if they have such a child

The sources of a feature are tried in the order of its lines. A category may be a whole label, the part of speech of a
phrase made from dependencies (NOUN) or its relation (.acl). That of a child may bear the value of a feature, as
PRON.nsubj-rel does. In phrases made from dependencies the second conjunct depends on the first, so that one child of
the categories of `joined` is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rerank_plugins.core.errors import FormatError

GAP = "gap"  # the value of phrases between a filler and its gap
FEATS = re.compile(r"\w+:\w+(\+\w+:\w+)*")


class Source(NamedTuple):
    """A line on where phrases of some categories have a value from."""

    kind: str  # "joined", "head", "child", "feature", "any" or "filler"; where only what is within bears the value,
    # "always" or "beside"
    categories: frozenset[str]
    what: tuple[str, ...] = ()  # the value that is joined, the categories of a child, or the name of a feature
    unless: frozenset[str] = frozenset()


class Beside(NamedTuple):
    """A line on the value of tags in some phrase, before siblings of some categories."""

    value: str
    phrase: str
    siblings: frozenset[str]
    tags: frozenset[str]


@dataclass
class Feature:
    """The lines of one feature."""

    name: str
    words: dict[str, str] = field(default_factory=dict)  # a tag, or word/TAG: its value
    beside: list[Beside] = field(default_factory=list)
    feats: list[tuple[frozenset[str], str]] = field(default_factory=list)  # FEATS of a word, as Number:Sing: its value
    sources: list[Source] = field(default_factory=list)
    ends_after: list[tuple[str, frozenset[str]]] = field(default_factory=list)  # a feature, and phrases
    ends_within: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()
    prefix: str = ""
    inside: list[Source] = field(default_factory=list)  # phrases, with the children that they have or lack

    @property
    def read(self) -> tuple[str, ...]:
        """The names of the other features on which its values depend."""
        sources = [source.what[0] for source in self.sources if source.kind == "feature"]
        return tuple(sources + [other for other, _ in self.ends_after])

    def marks(self, features: Mapping[str, Feature]) -> frozenset[str]:
        """The marks of its values in labels: those of its own lines, and of the feature that it has them from."""
        values = {line.value for line in self.beside} | {value for _, value in self.feats} | set(self.words.values())
        for source in self.sources:
            if source.kind == "joined":
                values.add(source.what[0])
            elif source.kind == "filler":
                values.add(GAP)
            elif source.kind == "feature":
                other = features[source.what[0]]
                values |= {mark.removeprefix(other.prefix) for mark in other.marks(features)}
        return frozenset(self.prefix + value for value in values)


def is_feats(text: str) -> bool:
    """Whether a text names FEATS of a word, and not a tag, of which `:` is one.

    >>> is_feats("Number:Sing+Person:1"), is_feats("NOUN"), is_feats(":"), is_feats("is/VBZ")
    (True, False, False, False)
    """
    return FEATS.fullmatch(text) is not None


def names(label: str) -> tuple[str, ...]:
    """The names by which lines of a table may mean a category.

    >>> names("NP"), names("NOUN.acl")
    (('NP',), ('NOUN.acl', 'NOUN', '.acl'))
    """
    part, point, relation = label.partition(".")
    return (label, part, point + relation) if part and relation else (label,)


def among(label: str, categories: Iterable[str]) -> bool:
    """Whether lines on these categories are about a label."""
    return not set(categories).isdisjoint(names(label))


def read_table(lines: Iterable[str], path: str = "<features>") -> tuple[Feature, ...]:
    """The features in the lines of a table. Raises FormatError (with file and line) for a malformed line."""
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
    return tuple(features.values())


def _add(
    feature: Feature, verb: str, before: list[str], after: tuple[str, ...], features: Mapping[str, Feature]
) -> None:
    """Add a line to a feature: the text before the colon, and that after it. Raises ValueError for any other line."""
    categories = frozenset(after)
    match verb, before:
        case "is", [value]:
            feature.words.update((word, value) for word in after if not is_feats(word))
            feature.feats += [(frozenset(word.split("+")), value) for word in after if is_feats(word)]
        case "is", [value, "in", phrase, "beside", *siblings] if siblings:
            feature.beside.append(Beside(value, phrase, frozenset(siblings), categories))
        case "joined", [value, *children] if children:
            feature.sources.append(Source("joined", categories, (value, *children)))
        case "from", ["head" | "any" | "filler" as kind]:
            feature.sources.append(Source(kind, categories))
        case "from", [name] if name in features and name != feature.name:
            feature.sources.append(Source("feature", categories, (name,)))
        case "from", [*children] if children:
            feature.sources.append(_with_children("child", categories, children))
        case "ends", ["after", name]:
            feature.ends_after.append((name, categories))
        case "ends", ["within"]:
            feature.ends_within |= categories
        case "shown", []:
            feature.shown |= categories
        case "shown", ["as", prefix]:
            feature.shown, feature.prefix = feature.shown | categories, prefix
        case "inside", []:
            feature.inside.append(Source("always", categories))
        case "inside", ["beside", *children] if children:
            feature.inside.append(_with_children("beside", categories, children))
        case _:
            raise ValueError(f"unknown kind of line: {' '.join([verb, *before])}")


def _with_children(kind: str, categories: frozenset[str], children: Sequence[str]) -> Source:
    """A line that names children of phrases, and after `unless` those that they must not have."""
    unless = children.index("unless") if "unless" in children else len(children)
    return Source(kind, categories, tuple(children[:unless]), frozenset(children[unless + 1 :]))
