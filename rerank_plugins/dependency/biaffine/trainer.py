"""The trainer of the project's own dependency parser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData
from rerank_plugins.kit.files.text import open_text

if TYPE_CHECKING:
    from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel

TREEBANK = ".conllu"  # the ending of a treebank's name, before that of a compression
LINES = 10  # losses are printed for at most this many epochs


@dataclass
class DependencyParserTrainer(Trainer):
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

    reads = "files"
    uses = ("seed",)

    language: str = option(metavar="CODE", doc="Code of the language, such as en.")
    epochs: int | None = option(
        None,
        within="[1, ]",
        doc="Number of passes over the treebanks. Default: 20, or more if that is fewer than 4,000 steps.",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `BiaffineModel`, with word vectors from all files.

        Raises FormatError for a damaged treebank, and where there are no trees.
        """
        import numpy as np

        from rerank_plugins.dependency.biaffine.network import Sizes
        from rerank_plugins.dependency.biaffine.training import Schedule, train
        from rerank_plugins.dependency.biaffine.word_vectors import word_vectors

        data.progress("reading the files")
        paths: list[Path] = list(data.examples())
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
        schedule = Schedule.of_treebank(words, self.epochs)
        data.report(
            f"{len(trees):,} trees, {words:,} words, {len(vectors):,} word vectors; {schedule.epochs} epochs, batches "
            f"of {schedule.batch:,} words"
        )
        step = -(-schedule.epochs // LINES)

        def after(epoch: int, losses: dict[str, float], _: BiaffineModel) -> None:
            values = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
            line = f"epoch {epoch + 1} of {schedule.epochs}: losses {values}"
            data.progress(line)
            if (epoch + 1) % step == 0 or epoch + 1 == schedule.epochs:
                data.report(line)

        rng = np.random.default_rng(data.seed)
        model = train(trees, vectors, self.language, rng, sizes, schedule, after)
        return Trained(model.save)


def _sentences(texts: Sequence[Path], trees: Sequence[DependencyTree]) -> Iterator[Sequence[str]]:
    for path in texts:
        with open_text(path) as lines:
            yield from (line.split() for line in lines)
    yield from (tree.words for tree in trees)
