r"""Prints those of a parser's trees in which it made no error that the table of features shows.

    python -m rerank_plugins.resources.en.agreeing_trees novels.ptb > novels.agreeing.ptb

Left out are trees in which a subject disagrees with its verb (kit/trees/agreement.py), and those in which *that* is a
preposition. Most of them are errors, which a grammar of the trees would learn: that *the minister see* may be a clause,
or *that the minister* a prepositional phrase.
"""

from __future__ import annotations

import sys

from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.agreement import disagreements


def is_plausible(tree: Tree) -> bool:
    """Whether subjects agree with their verbs, and *that* is no preposition."""
    for node in tree.nodes():
        first = node.subtrees[0] if not node.is_preterminal else node
        if node.label == "PP" and first.label == "IN" and first.word.lower() == "that":
            return False
    return not any(disagreements(tree))


def main() -> None:
    """Print the plausible trees of the files that the command line names, and say how many they are."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    trees = printed = 0
    for name in sys.argv[1:]:
        with open_text(name) as lines:
            for tree in read_trees(lines, name):
                trees += 1
                if is_plausible(tree):
                    print(tree)
                    printed += 1
    print(f"{printed:,} of {trees:,} trees", file=sys.stderr)


if __name__ == "__main__":
    main()
