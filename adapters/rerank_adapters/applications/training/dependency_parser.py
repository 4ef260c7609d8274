"""Training the project's own dependency parser: trees from treebanks, word vectors from them and from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rerank_adapters.formats.compressed import open_text
from rerank_plugins import FormatError
from rerank_plugins.parsers.biaffine.model_file import BiaffineModel
from rerank_plugins.parsers.biaffine.network import Sizes
from rerank_plugins.parsers.biaffine.parsing import one_blas_thread
from rerank_plugins.parsers.biaffine.training import Schedule, train
from rerank_plugins.parsers.biaffine.vectors import word_vectors
from rerank_plugins.trees.dependency import DependencyTree, read_conllu

TREEBANK = ".conllu"  # what the name of a file of trees ends in, compressed or not


def train_parser(
    paths: Sequence[Path], language: str, epochs: int, seed: int, report: Callable[[str], None]
) -> BiaffineModel:
    """A parser learnt from the files named *.conllu*; the others are text, for word vectors. `report` gets progress.

    Raises FormatError for a treebank that is none, and where there are no trees.
    """
    treebanks = [path for path in paths if TREEBANK in path.suffixes]
    trees: list[DependencyTree] = []
    for path in treebanks:
        with open_text(path) as lines:
            trees += read_conllu(lines, str(path))
    if not trees:
        raise FormatError(f"no trees to learn from: give at least one treebank, named *{TREEBANK}")
    sizes, text = Sizes(), _sentences([path for path in paths if path not in treebanks], trees)
    vectors = word_vectors(text, sizes.vector, np.random.default_rng(0))
    report(f"{len(trees)} trees, {len(vectors)} word vectors")

    def after(epoch: int, losses: dict[str, float], _: BiaffineModel) -> None:
        values = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
        report(f"epoch {epoch + 1} of {epochs}: losses {values}")

    with one_blas_thread():
        return train(trees, vectors, language, np.random.default_rng(seed), sizes, Schedule(epochs=epochs), after)


def _sentences(texts: Sequence[Path], trees: Sequence[DependencyTree]) -> Iterator[Sequence[str]]:
    for path in texts:
        with open_text(path) as lines:
            yield from (line.split() for line in lines)
    yield from (tree.words for tree in trees)
