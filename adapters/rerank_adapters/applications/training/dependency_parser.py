"""`rerank train dependency-parser`: trains the project's own dependency parser on treebanks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, size_text
from rerank_adapters.commands.options import model_output
from rerank_plugins import FormatError

if TYPE_CHECKING:
    from rerank_plugins.core.dependency_tree import DependencyTree
    from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel

TREEBANK = ".conllu"  # the ending of a treebank's name, before that of a compression
LINES = 10  # losses are printed for at most this many epochs


@click.command("dependency-parser")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@model_output()
@click.option("--language", required=True, metavar="CODE", help="Code of the language, such as en.")
@click.option("--epochs", type=click.IntRange(1),
              help="Number of passes over the treebanks. Default: 20, or more if that is fewer than 4,000 "
                   "steps.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Seed of the initial weights, the order of the trees and dropout.")  # fmt: skip
def command(inputs: tuple[Path, ...], output: Path, language: str, epochs: int | None, seed: int) -> None:
    """Train a dependency parser on FILEs.

    A FILE whose name ends in .conllu (or .conllu.xz and the like) is a treebank; any other is text with one tokenised
    sentence per line, from which word vectors are estimated. Commands that take a parser use the model as
    `biaffine,model=MODEL`. One epoch over a million words of trees takes about two minutes. On a small treebank,
    batches are smaller and epochs more.

    \b
    rerank train dependency-parser train.conllu.xz text.xz --language de \\
        -o german.npz
    rerank parse --evaluate dev.conllu.xz -p biaffine,model=german.npz
    """  # noqa: D301
    from rerank_adapters.runtime.progress import StatusLine

    closing = Closing()
    with StatusLine() as stages:
        stages("reading the files")
        model = train_parser(inputs, language, epochs, seed, say, stages)
    model.save(output)
    closing.wrote(f"the model ({size_text(output.stat().st_size)})", output)


def train_parser(
    paths: Sequence[Path],
    language: str,
    epochs: int | None,
    seed: int,
    report: Callable[[str], None],
    progress: Callable[[str], None],
) -> BiaffineModel:
    """Train a parser on the files that are treebanks, with word vectors from all files.

    `report` gets a line for the data and for at most LINES epochs, `progress` one for each epoch. Raises FormatError
    for a damaged treebank, and where there are no trees.
    """
    import numpy as np

    from rerank_plugins.core.dependency_tree import read_conllu
    from rerank_plugins.dependency.biaffine.network import Sizes
    from rerank_plugins.dependency.biaffine.training import Schedule, train
    from rerank_plugins.dependency.biaffine.word_vectors import word_vectors
    from rerank_plugins.kit.files.text import open_text

    treebanks = [path for path in paths if TREEBANK in path.suffixes]
    trees: list[DependencyTree] = []
    for path in treebanks:
        with open_text(path) as lines:
            trees += read_conllu(lines, str(path))
    if not trees:
        raise FormatError(f"no trees to learn from: give at least one treebank, named *{TREEBANK}")
    sizes, text = Sizes(), _sentences([path for path in paths if path not in treebanks], trees)
    vectors = word_vectors(text, sizes.vector, np.random.default_rng(0))
    words = sum(len(tree.words) for tree in trees)
    schedule = Schedule.of_treebank(words, epochs)
    report(
        f"{len(trees):,} trees, {words:,} words, {len(vectors):,} word vectors; {schedule.epochs} epochs, batches of "
        f"{schedule.batch:,} words"
    )
    step = -(-schedule.epochs // LINES)

    def after(epoch: int, losses: dict[str, float], _: BiaffineModel) -> None:
        values = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
        line = f"epoch {epoch + 1} of {schedule.epochs}: losses {values}"
        progress(line)
        if (epoch + 1) % step == 0 or epoch + 1 == schedule.epochs:
            report(line)

    return train(trees, vectors, language, np.random.default_rng(seed), sizes, schedule, after)


def _sentences(texts: Sequence[Path], trees: Sequence[DependencyTree]) -> Iterator[Sequence[str]]:
    from rerank_plugins.kit.files.text import open_text

    for path in texts:
        with open_text(path) as lines:
            yield from (line.split() for line in lines)
    yield from (tree.words for tree in trees)
