"""Print the store depth that trees need, by binarisation (docs/results/parsing.md).

The columns have the shares of the trees of up to 40 words that need at most 1, 2, 3 or 4 incomplete constituents
between words. Schuler et al. (2010) found that more than 97 % need at most 3 and more than 99 % at most 4.

DATA is a folder with the treebanks treebank_gum/gum-train.ptb and treebank_craft/craft-train.ptb.xz, in brackets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click

from docs.results.scripts.experiment import FOLDER, counted, experiment, file_of
from docs.results.scripts.texts import CRAFT_TRAIN, GUM_TRAIN, cleaned_trees
from rerank_plugins.kit.trees.binarisation import Binarisation, join_unaries
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS
from tests.hhmm.right_corner import store_depth

TREEBANKS: dict[str, tuple[str, Mapping[str, str]]] = {"GUM": (GUM_TRAIN, {}), "CRAFT": (CRAFT_TRAIN, CRAFT_LABELS)}
DIRECTIONS: tuple[Literal["right", "left", "head"], ...] = ("right", "left", "head")


@experiment("depth_table", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--longest", default=40, help="Leave out trees of more words.")
@click.option("--every", default=1, help="Take only every n-th tree.")
def main(data: Path, longest: int, every: int) -> None:
    """Binarise the trees, count their depths and print the table."""
    files = {name: (file_of(data, file), labels) for name, (file, labels) in TREEBANKS.items()}
    print("| treebank | trees | binarisation | 1 | 2 | 3 | 4 | deepest |\n|---|---|---|---|---|---|---|---|")
    for name, (path, labels) in files.items():
        trees = [tree for tree in cleaned_trees(path, labels)[::every] if len(tree.words()) <= longest]
        for direction in DIRECTIONS:
            way = Binarisation(direction)
            depths = Counter(store_depth(join_unaries(way.apply(tree))) for tree in counted(trees, f"trees of {name}"))
            within = [sum(n for depth, n in depths.items() if depth <= most) / len(trees) for most in (1, 2, 3, 4)]
            shares = " | ".join(f"{100 * share:.1f} %" for share in within)
            print(f"| {name} | {len(trees):,} | {direction} | {shares} | {max(depths)} |", flush=True)


if __name__ == "__main__":
    main()
