"""Files of trees and of tagged words for the training of grammars: Penn-style brackets, or CoNLL-U as constituents.

A file whose name ends in .conllu (also compressed) has dependencies (kit/trees/dependency_constituents.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import tee
from pathlib import Path

from rerank_plugins.constituency.lexicon import Tagged, tagged_words
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu_lines
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.files.treebanks import is_conllu
from rerank_plugins.kit.trees.dependency_constituents import Conversion, Tags, as_label
from rerank_plugins.kit.trees.inflection import Feats, Inflection, learn_inflection, with_own_feats
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean

Report = Callable[[str], None]
ALIKE = 0.5  # the proportion of words with tags that another file of the same tag set has at least


def read_treebank(path: Path, tags: Tags = "upos") -> list[Tree]:
    """The trees of a file, compressed or not; those of CoNLL-U have UPOS or XPOS as `tags`. Raises FormatError."""
    with open_text(path) as lines:
        return list(Conversion(tags).read(lines, str(path)) if is_conllu(path) else read_trees(lines, str(path)))


def treebank(
    path: Path, report: Report, tags: Tags = "upos", *, inflection: Inflection | None = None
) -> Iterator[Tree]:
    """Yield the trees of a file; then `report` gets a line. Raises FormatError, also for a file without trees.

    With `inflection`, the tags of CoNLL-U bear FEATS.
    """
    number, conversion = 0, Conversion(tags, inflection) if is_conllu(path) else None
    with open_text(path) as lines:
        for tree in conversion.read(lines, str(path)) if conversion else read_trees(lines, str(path)):
            number += 1
            yield tree
    if not number:
        raise FormatError("the file holds no trees", path=str(path))
    report(f"{path}: {number:,} trees" + (f", {conversion}" if conversion else ""))


def read_inflection(paths: Iterable[Path]) -> Inflection:
    """The inflection of the words of CoNLL-U files. Raises FormatError, and ConfigError if no word has FEATS."""
    paths = list(paths)
    inflection = learn_inflection([sentence for path in paths for sentence in _sentences(path)])
    if not inflection.nominal.values:
        names = ", ".join(map(str, paths))
        raise ConfigError(f"{names}: features of trees start from FEATS (column 6), and no noun or pronoun has any")
    return inflection


def inflected_sentences(
    paths: Iterable[Path], inflection: Inflection
) -> Iterator[tuple[DependencyTree, Sequence[Feats]]]:
    """Yield the trees of CoNLL-U files with the features of their words. Raises FormatError."""
    sentences, others = tee(sentence for path in paths for sentence in _sentences(path))
    for (tree, _), feats in zip(sentences, inflection.of_each(others), strict=True):
        yield tree, feats


def _sentences(path: Path) -> Iterator[tuple[DependencyTree, list[Feats]]]:
    """Yield the trees of a file with the words' own features."""
    with open_text(path) as lines:
        yield from map(with_own_feats, read_conllu_lines(lines, str(path)))


def conllu_tags(lines: Iterable[str], path: str, tags: Tags = "xpos") -> Iterator[tuple[str, str]]:
    """Words of CoNLL-U in normal form (core/brackets_and_quotes.py), each with its tag: XPOS (column 5), or UPOS.

    Raises FormatError for a line of fewer than 5 columns.
    """
    for number, line in enumerate(lines, 1):
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) < 5 and columns[0] and not line.startswith("#"):
            wanted = f"expected 10 tab-separated CoNLL-U columns (at least 5), found {len(columns)}"
            raise FormatError(wanted, path=path, line=number)
        if columns[0].isdecimal():
            yield normal_form(columns[1]), columns[4 if tags == "xpos" else 3]


def read_tagged(weights: Mapping[Path, float], report: Report, tags: Tags | None = None) -> Tagged:
    """How often each word occurs with each tag in files: CoNLL-U where the name ends so, else bracketed trees.

    `tags` are those of constituents made from CoNLL-U; None for XPOS as it is, which fits trees in brackets. The counts
    of each file are multiplied by its weight. Raises FormatError.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for path, weight in weights.items():
        if is_conllu(path):
            with open_text(path) as lines:
                unweighted = Counter(conllu_tags(lines, str(path), tags or "xpos"))
            tagged = Counter({pair: weight * count for pair, count in unweighted.items()})
        else:
            trees = (clean(tree, CRAFT_LABELS) for tree in read_treebank(path))
            tagged = tagged_words([tree for tree in trees if tree], weight)
        report(f"{path}: {len(tagged):,} distinct pairs of a word and a tag")
        counts.update(tagged)
    if tags == "xpos":
        counts = Counter({(word, as_label(tag)): count for (word, tag), count in counts.items()})
    return counts


def check_tag_sets(paths: Sequence[Path]) -> None:
    """Raise ConfigError if the XPOS tags of two files of CoNLL-U seem to be of different tag sets."""
    counted: dict[Path, Counter[str]] = {}
    for path in paths:
        with open_text(path) as lines:
            tags = counted[path] = Counter(tag for _, tag in conllu_tags(lines, str(path)))
        for other, known in counted.items():
            shared = sum(count for tag, count in tags.items() if tag in known)
            if shared < ALIKE * tags.total():
                raise ConfigError(
                    f"{other} and {path}: different tag sets ({shared / tags.total():.0%} of the words of the second "
                    "have an XPOS tag of the first): leave --tags xpos out, or train on one of them"
                )
