"""Write trees in the closed vocabulary of a grammar, in which all other words are replaced by their signatures.

Tables that compare models need the same vocabulary for all of them: `hhmm_table` and `hhmm_grammars` read grammars that
were trained on such trees. Trees of more than 40 words are left out. The brackets are written to standard output.

GRAMMAR is a file of `rerank train grammar`; TREEBANKS are files of brackets.

\b
    python -m docs.results.scripts.closed_trees gum.pcfg textbooks.ptb novels.ptb > closed.ptb
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, experiment
from docs.results.scripts.texts import cleaned_trees
from rerank_plugins.constituency.model_file import read_grammar
from rerank_plugins.core.constituency_tree import Tree, write_tree
from rerank_plugins.kit.vocabulary.signatures import closed


def with_words(tree: Tree, words: Sequence[str]) -> Tree:
    """The same tree with other words."""
    from_last = iter(words[::-1])
    return tree.fold(
        lambda tag: Tree(tag.label, (next(from_last),)), lambda node, below: Tree(node.label, tuple(below))
    )


@experiment("closed_trees", __doc__)
@click.argument("grammar", type=FILE)
@click.argument("treebanks", type=FILE, nargs=-1, required=True)
@click.option("--longest", default=40, help="Leave out trees of more words.")
def main(grammar: Path, treebanks: tuple[Path, ...], longest: int) -> None:
    """Read the trees, replace unknown words and write the trees."""
    vocabulary = read_grammar(grammar).lexicon.index
    for path in treebanks:
        for tree in cleaned_trees(path):
            if len(tree.words()) <= longest:
                print(write_tree(with_words(tree, closed(tree.words(), vocabulary))))


if __name__ == "__main__":
    main()
