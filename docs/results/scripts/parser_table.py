"""Print the scores of the embedded English parser (docs/results/parsing.md).

UPOS, UAS and LAS are in per cent, the speed is in sentences per CPU second.

DATA is a folder with treebank_ewt/ewt-dev.conllu.xz and treebank_gum/gum-dev.conllu.xz.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from docs.results.scripts.experiment import FOLDER, experiment, file_of
from rerank_plugins import RerankError
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.dependency.parsers import EMBEDDED, EnglishParser
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.parseval import Attachment

GOLD = {"EWT": "treebank_ewt/ewt", "GUM": "treebank_gum/gum"}
Trees = Sequence[DependencyTree]


def read(path: Path, most: int | None) -> list[DependencyTree]:
    """The first trees of a CoNLL-U file. Raises FormatError where it is malformed."""
    with open_text(path) as lines:
        return list(read_conllu(lines, str(path)))[:most]


def without_punctuation(tree: DependencyTree) -> DependencyTree:
    """The tree without its punctuation marks, unless one of them is needed or nothing else is left."""
    governing = set(tree.heads)
    mark = [i not in governing and all(unicodedata.category(c)[0] == "P" for c in w) for i, w in enumerate(tree.words)]
    kept = [i for i, marked in enumerate(mark) if not marked]
    if len(kept) in (0, len(tree.words)) or any(mark[i] for i, head in enumerate(tree.heads) if head == -1):
        return tree
    place = {old: new for new, old in enumerate(kept)} | {-1: -1}
    columns = (tuple(column[i] for i in kept) for column in (tree.words, tree.relations, tree.tags))
    words, relations, tags = columns
    return DependencyTree(words, tuple(place[tree.heads[i]] for i in kept), relations, tags)


def bare(tree: DependencyTree) -> DependencyTree:
    """The tree as for a recogniser's output: in lower case, without punctuation."""
    tree = without_punctuation(tree)
    return replace(tree, words=tuple(word.lower() for word in tree.words))


def print_row(name: str, gold: Trees, parse: Callable[[Trees], Trees]) -> None:
    """Print a row of the table: the scores and the sentences per CPU second."""
    parse(gold[:1])
    started = time.process_time()
    parsed = parse(gold)
    seconds = time.process_time() - started
    scores = Attachment()
    for tree, guess in zip(gold, parsed, strict=True):
        scores.add(tree, guess)
    values = " | ".join(f"{value:.2f}" for value in scores.percent().values())
    print(f"| {name} | {values} | {len(gold) / seconds:,.0f} |", flush=True)


def by_embedded_parser(parser: EnglishParser, trees: Trees) -> list[DependencyTree]:
    """Tag and parse the sentences of gold trees. Raises RerankError for a sentence without a parse."""
    trees_or_none = [parse.dependencies for parse in parser.parse([tree.words for tree in trees])]
    parsed = [tree for tree in trees_or_none if tree is not None]
    if len(parsed) < len(trees_or_none):
        raise RerankError(f"{len(trees_or_none) - len(parsed)} sentences have no parse, expected one for each")
    return parsed


@experiment("parser_table", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--most", type=int, help="Take only this many trees of each file.  [default: all]")
def main(data: Path, most: int | None) -> None:
    """Parse and print the table."""
    dev = {name: read(file_of(data, f"{path}-dev.conllu.xz"), most) for name, path in GOLD.items()}
    english = EnglishParser()

    def ours(trees: Trees) -> Trees:
        return by_embedded_parser(english, trees)

    print(f"{EMBEDDED.stat().st_size / 1e6:.1f} MB")
    print("| gold trees | UPOS | UAS | LAS | sentences/s |\n| --- | ---: | ---: | ---: | ---: |")
    for name, gold in dev.items():
        print_row(f"{name} dev", gold, ours)
        print_row(f"{name} dev in lower case without punctuation", [bare(tree) for tree in gold], ours)


if __name__ == "__main__":
    main()
