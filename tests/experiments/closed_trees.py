"""Trees in the closed vocabulary of a grammar: other words become its signatures. For tables that compare models.

    python -m tests.experiments.closed_trees GRAMMAR textbooks.ptb novels.ptb > closed.ptb

Trees of more than 40 words are left out.
"""

import sys
from pathlib import Path

from rerank_plugins.models.pcfg.model_file import read_grammar
from rerank_plugins.models.signatures import closed
from rerank_plugins.trees.cleaning import clean
from rerank_plugins.trees.constituency import Tree, read_trees, write_tree

LONGEST = 40  # words


def with_words(tree, words):
    """The tree over other words."""
    from_last = iter(words[::-1])
    return tree.fold(
        lambda tag: Tree(tag.label, (next(from_last),)), lambda node, below: Tree(node.label, tuple(below))
    )


def main(grammar, paths):
    vocabulary = read_grammar(Path(grammar)).lexicon.index
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for tree in map(clean, read_trees(lines, path)):
                if tree and len(tree.words()) <= LONGEST:
                    print(write_tree(with_words(tree, closed(tree.words(), vocabulary))))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
