"""The table of docs/trees.md: the store depth that trees need, by binarisation (sentences of up to 40 words).

    python -m tests.experiments.depth_table FOLDER

Share of trees that need at most 1, 2, 3, 4 incomplete constituents between words; Schuler et al. (2010) found over 97 %
within 3 and over 99 % within 4.
"""

import lzma
import sys
from collections import Counter
from pathlib import Path

from rerank_plugins.trees.binarisation import Binarisation
from rerank_plugins.trees.cleaning import CRAFT_LABELS, clean
from rerank_plugins.trees.constituency import read_trees
from rerank_plugins.trees.right_corner import store_depth
from rerank_plugins.trees.unaries import join_unaries

LONGEST = 40
TREEBANKS = {
    "GUM": ("treebank_gum/gum-train.ptb", {}),
    "CRAFT": ("treebank_craft/craft-train.ptb.xz", CRAFT_LABELS),
}


def read(path, labels):
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        found = (clean(tree, labels) for tree in read_trees(lines, str(path)))
        return [tree for tree in found if tree and len(tree.words()) <= LONGEST]


def main(folder):
    print("| treebank | trees | binarisation | 1 | 2 | 3 | 4 | deepest |\n|---|---|---|---|---|---|---|---|")
    for name, (file, labels) in TREEBANKS.items():
        trees = read(Path(folder) / file, labels)
        for direction in ("right", "left", "head"):
            way = Binarisation(direction)
            depths = Counter(store_depth(join_unaries(way.apply(tree))) for tree in trees)
            within = [sum(n for depth, n in depths.items() if depth <= most) / len(trees) for most in (1, 2, 3, 4)]
            shares = " | ".join(f"{100 * share:.1f} %" for share in within)
            print(f"| {name} | {len(trees):,} | {direction} | {shares} | {max(depths)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
