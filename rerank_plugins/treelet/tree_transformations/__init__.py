"""The tree transformations of the treelet language model (Pauls & Klein 2012, section 3), in the paper's order.

The input trees must be clean (no empty elements, no function tags; see kit/trees/treebank_cleaning.py) and under ROOT.
The label of a transformed node consists of its category, its head, a mark and its parent, of which only the first is
always present: VP-VBD^S, S-to-GAP^ROOT, CD-DC. Annotations have inverses; flattening and deletion have none.
"""

from __future__ import annotations

from collections.abc import Collection

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.head_rules import HeadRules
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel
from rerank_plugins.treelet.tree_transformations.flattening import (
    delete_unaries,
    flatten_nps,
    flatten_sbars,
    flatten_vps,
)
from rerank_plugins.treelet.tree_transformations.labels import (
    annotate_heads,
    annotate_parents,
    mark_gaps,
    remove_heads,
    remove_parents,
    unmark_gaps,
)
from rerank_plugins.treelet.tree_transformations.pipeline import Transformations
from rerank_plugins.treelet.tree_transformations.tags import (
    TEMPORAL,
    mark_numbers,
    mark_temporal,
    unmark_numbers,
    unmark_temporal,
)

__all__ = [
    "TEMPORAL",
    "Transformations",
    "annotate_heads",
    "annotate_parents",
    "delete_unaries",
    "flatten_nps",
    "flatten_sbars",
    "flatten_vps",
    "mark_gaps",
    "mark_numbers",
    "mark_temporal",
    "remove_annotations",
    "remove_heads",
    "remove_parents",
    "transform",
    "unmark_gaps",
    "unmark_numbers",
    "unmark_temporal",
]


def transform(tree: Tree, temporal: Collection[str] = TEMPORAL, rules: HeadRules | None = None) -> Tree:
    """The tree after all transformations, whose treelets the model counts; the default head rules are for English.

    For many trees, `Transformations` is faster.

    >>> from rerank_plugins.core.constituency_tree import read_trees
    >>> bare = "(ROOT (S (NP (DT The) (NN index)) (VP (VBD fell) (NP (CD 109.85)) (NP (NNP Monday)))))"
    >>> print(transform(*read_trees([bare])))
    (ROOT (S-VBD^ROOT (NP-NN (DT-the The) (NN index)) (VP-VBD^S (VBD fell) (CD-DC 109.85) (NNTP Monday))))
    """
    return Transformations(temporal, rules)(tree)


def remove_annotations(tree: Tree) -> Tree:
    """The transformed tree with the labels of the treebank; flattened and deleted nodes are not restored."""
    return unmark_temporal(relabel(tree, category))
