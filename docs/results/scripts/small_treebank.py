"""Print what several treebanks bring to a parser of few trees (docs/results/parsing.md).

Of the first of the TREEBANKS, every fifth sentence is held out and measured; as its other sentences are annotated, so
does the model annotate. The row `one` takes all trees as one treebank, and `own` gives each treebank a vector. UPOS, UAS
and LAS are in per cent; the last column compares relations up to a colon.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.dependency.biaffine.network import Sizes
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.biaffine.parsing import parse_all
from rerank_plugins.dependency.biaffine.training import Schedule, train
from rerank_plugins.dependency.biaffine.word_vectors import word_vectors
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.parseval import Attachment


def read(path: Path) -> list[DependencyTree]:
    """The trees of a CoNLL-U file. Raises FormatError where it is malformed."""
    with open_text(path) as lines:
        return list(read_conllu(lines, str(path)))


def row(model: BiaffineModel, gold: Sequence[DependencyTree]) -> str:
    """The cells UPOS, UAS, LAS, and LAS without subtypes of relations."""
    scores, labelled = Attachment(), 0
    for tree, parse in zip(gold, parse_all(model, [tree.words for tree in gold]), strict=True):
        scores.add(tree, parse)
        pairs = zip(tree.heads, parse.heads, tree.relations, parse.relations, strict=True)
        labelled += sum(a == b and r.split(":")[0] == s.split(":")[0] for a, b, r, s in pairs)
    cells = [*scores.percent().values(), 100 * labelled / max(1, scores.words)]
    return " | ".join(f"{cell:.1f}" for cell in cells)


@experiment("small_treebank", __doc__)
@click.argument("treebanks", nargs=-1, required=True, type=FILE)
@click.option("--text", required=True, type=FILE, help="Text with a tokenised sentence in each line.")
@click.option("--also", type=FILE, help="Measure the trees of this file, too.")
@click.option("--steps", default="one,own", help="The rows to print.")
@click.option("--epochs", type=int, help="Number of passes over the treebanks.  [default: that of the trainer]")
@click.option("--seed", default=1, help="Seed of the training.")
def main(
    treebanks: Sequence[Path],
    text: Path,
    also: Path | None,
    steps: str,
    epochs: int | None,
    seed: int,
) -> None:
    """Train a parser for each step and print the table."""
    first, *others = [read(path) for path in treebanks]
    held_out = {"held out": first[4::5]} | ({also.name: read(also)} if also else {})
    banks = [[tree for number, tree in enumerate(first, 1) if number % 5], *others]
    trees = [tree for bank in banks for tree in bank]
    with open_text(text) as lines:
        vectors = word_vectors((line.split() for line in lines), Sizes().vector, np.random.default_rng(0))
    schedule = Schedule.of_treebank(sum(len(tree.words) for tree in trees), epochs)
    known = {"one": [trees], "own": banks}
    print(f"{len(trees):,} trees\n| treebanks | trees measured | UPOS | UAS | LAS | LAS, no subtypes |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for step in steps.split(","):
        say(f"training: {step}")
        model = train(known[step], vectors, "und", np.random.default_rng(seed), None, schedule)
        for name, measured in held_out.items():
            print(f"| {step} | {name} | {row(model, measured)} |", flush=True)


if __name__ == "__main__":
    main()
