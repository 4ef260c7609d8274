"""Makes `parser.npz`, the model of the parser `english`, from treebanks and plain text; needs nothing but NumPy.

    python -m rerank_plugins.resources.en.train_parser ewt-train.conllu.xz gum-train.conllu.xz \
        novels.txt.xz presidential.txt.xz textbooks.txt.xz

Trees are learnt from files named *.conllu*, word vectors from the words of all files (texts: one tokenised sentence per
line; plain or .xz). Takes some 25 minutes of one core with fast matrix products. Compare with gold trees by
`rerank parse --evaluate`.
"""

from __future__ import annotations

import lzma
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rerank_plugins.parsers.biaffine.model_file import BiaffineModel
from rerank_plugins.parsers.biaffine.network import Sizes
from rerank_plugins.parsers.biaffine.parsing import one_blas_thread
from rerank_plugins.parsers.biaffine.training import Schedule, train
from rerank_plugins.parsers.biaffine.vectors import word_vectors
from rerank_plugins.trees.dependency import read_conllu

SEED = 1


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file, plain or .xz."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        yield from stream


def main(arguments: Sequence[str]) -> None:
    """Train, and write the model beside this module (or at the path after `-o`)."""
    names, target = list(arguments), Path(__file__).with_name("parser.npz")
    if "-o" in names:
        at = names.index("-o")
        target = Path(names[at + 1])
        del names[at : at + 2]
    paths = [Path(name) for name in names]
    treebanks = [path for path in paths if ".conllu" in path.name]
    trees = [tree for path in treebanks for tree in read_conllu(lines(path), str(path))]

    def sentences() -> Iterator[Sequence[str]]:
        for path in paths:
            if path not in treebanks:
                yield from (line.split() for line in lines(path))
        yield from (tree.words for tree in trees)

    started, sizes, schedule = time.process_time(), Sizes(), Schedule()
    rng = np.random.default_rng(SEED)
    vectors = word_vectors(sentences(), sizes.vector, rng)
    print(f"{len(trees)} trees, {len(vectors)} word vectors", flush=True)

    def report(epoch: int, losses: dict[str, float], _: BiaffineModel) -> None:
        values = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
        print(f"epoch {epoch + 1}: losses {values}; {time.process_time() - started:.0f} s", flush=True)

    with one_blas_thread():
        train(trees, vectors, "en", rng, sizes, schedule, report).save(target)
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
