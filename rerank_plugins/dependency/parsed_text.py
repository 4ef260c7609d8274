"""The trainer `treebank`: a treebank of parsed text, from which the models that read treebanks alone may learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rerank_plugins import Trained, Trainer, TrainingData, counted, option
from rerank_plugins.core.dependency_tree import write_conllu
from rerank_plugins.kit.files.text import open_atomic


@dataclass
class TreebankTrainer(Trainer):
    """Write the trees of FILEs as one treebank of dependencies (CoNLL-U).

    A FILE whose name ends in .conllu (or .conllu.xz and the like) is a treebank, whose trees are taken as they are; any
    other is text with one sentence per line, which is parsed. The trainers `grammar`, `hhmm` and `svs` read only
    treebanks, so parse text with this command to train them on it.

    \b
    rerank train treebank news.txt -p biaffine,model=de.biaffine -o news.conllu
    rerank train hhmm gold.conllu news.conllu --language de -o german.pcfg
    """  # noqa: D301

    reads = "dependencies"
    uses = ("language",)
    default_parser = "english"
    writes_treebank = True

    max_length: Annotated[int, Field(ge=1)] = option(60, doc="Leave out trees of more words than this.")
    every: Annotated[int, Field(ge=1)] = option(1, doc="Write only every Nth of the others, the first one included.")

    def train(self, data: TrainingData) -> Trained:
        """The trees, which are written as they are read."""
        written = _Written()

        def save(path: Path) -> None:
            with open_atomic(path) as out:
                short = (tree for tree in data.examples() if len(tree.words) <= self.max_length)
                for tree in islice(short, 0, None, self.every):
                    out.write(write_conllu(tree))
                    written.trees += 1
                    written.words += len(tree.words)

        def lines() -> Iterator[str]:
            yield f"{counted(written.trees, 'tree')}{data.parsed}, {counted(written.words, 'word')}"

        return Trained(save, lines(), what="the treebank")


@dataclass
class _Written:
    """What was written so far."""

    trees: int = 0
    words: int = 0
