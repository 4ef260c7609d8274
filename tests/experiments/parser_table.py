"""The table of docs/models/dependency-parsers.md: the embedded English parser beside the arc-eager one, same trees.

    python -m tests.experiments.parser_table FOLDER

The arc-eager parser learns from gold tags and parses with those that the embedded parser's tagger predicts.
"""

import lzma
import sys
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

from rerank_plugins.parsers.biaffine_parser import EMBEDDED, EnglishParser
from rerank_plugins.trees.attachment import Attachment
from rerank_plugins.trees.dependency import DependencyTree, read_conllu
from tests.bench.arc_eager import ArcEager

GOLD = {"EWT": "treebank_ewt/ewt", "GUM": "treebank_gum/gum"}


def read(path):
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return list(read_conllu(lines, str(path)))


def without_punctuation(tree):
    """The tree without its punctuation, where that governs nothing and something is left."""
    governing = set(tree.heads)
    mark = [i not in governing and all(unicodedata.category(c)[0] == "P" for c in w) for i, w in enumerate(tree.words)]
    kept = [i for i, marked in enumerate(mark) if not marked]
    if len(kept) in (0, len(tree.words)) or any(mark[i] for i, head in enumerate(tree.heads) if head == -1):
        return tree
    place = {old: new for new, old in enumerate(kept)} | {-1: -1}
    columns = (tuple(column[i] for i in kept) for column in (tree.words, tree.relations, tree.tags))
    words, relations, tags = columns
    return DependencyTree(words, tuple(place[tree.heads[i]] for i in kept), relations, tags)


def bare(tree):
    """As a recogniser would give it: lower case, no punctuation."""
    tree = without_punctuation(tree)
    return replace(tree, words=tuple(word.lower() for word in tree.words))


def row(name, gold, parse):
    """A line of the table: scores and sentences a second of CPU."""
    parse(gold[:1])
    started = time.process_time()
    found = parse(gold)
    seconds = time.process_time() - started
    scores = Attachment()
    for tree, other in zip(gold, found, strict=True):
        scores.add(tree, other)
    values = " | ".join(f"{value:.2f}" for value in scores.percent().values())
    print(f"| {name} | {values} | {len(gold) / seconds:,.0f} |", flush=True)


def main(folder):
    english = EnglishParser()

    def ours(trees):
        return [parse.dependencies for parse in english.parse([tree.words for tree in trees])]

    train = [tree for name in GOLD.values() for tree in read(folder / f"{name}-train.conllu.xz")]
    eager = ArcEager(train)

    def theirs(tagged):
        return [DependencyTree(t.words, *map(tuple, eager.parse(t.words, t.tags)), t.tags) for t in tagged]

    print(f"{EMBEDDED.stat().st_size / 1e6:.1f} MB; arc-eager: {eager.used} projective trees of {len(train)}")
    print("| parser, gold trees | UPOS | UAS | LAS | sentences/s |\n| --- | ---: | ---: | ---: | ---: |")
    for name, path in GOLD.items():
        gold = read(folder / f"{path}-dev.conllu.xz")
        predicted = {tree.words: tree for tree in ours(gold)}
        row(f"english, {name}", gold, ours)
        row(f"arc-eager, {name}", gold, lambda trees, known=predicted: theirs([known[t.words] for t in trees]))
        row(f"english, {name}, lower case without punctuation", [bare(tree) for tree in gold], ours)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
