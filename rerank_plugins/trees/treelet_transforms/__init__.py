"""The tree transformations of the treelet language model (Pauls & Klein 2012, section 3), in the paper's order.

Trees come clean (no empty elements, no function tags; see trees/cleaning.py) and under ROOT. Labels of a transformed
tree are made of a category, a head, a mark and a parent: VP-VBD^S, S-to-GAP^ROOT, CD-DC. Annotations have inverses;
flattening and deletion have none.
"""

from __future__ import annotations

from collections.abc import Collection

from rerank_plugins.trees.cleaning import category, relabel
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.heads import HeadRules
from rerank_plugins.trees.treelet_transforms.flattening import delete_unaries, flatten_nps, flatten_sbars, flatten_vps
from rerank_plugins.trees.treelet_transforms.labels import (
    annotate_heads,
    annotate_parents,
    mark_gaps,
    remove_heads,
    remove_parents,
    unmark_gaps,
)
from rerank_plugins.trees.treelet_transforms.pipeline import Transformations
from rerank_plugins.trees.treelet_transforms.tags import (
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
    """All transformations: the tree whose treelets the model counts. English, unless head rules say otherwise.

    For many trees, `Transformations` is faster.

    >>> from rerank_plugins.trees.constituency import read_trees
    >>> bare = "(ROOT (S (NP (DT The) (NN index)) (VP (VBD fell) (NP (CD 109.85)) (NP (NNP Monday)))))"
    >>> print(transform(*read_trees([bare])))
    (ROOT (S-VBD^ROOT (NP-NN (DT-the The) (NN index)) (VP-VBD^S (VBD fell) (CD-DC 109.85) (NNTP Monday))))
    """
    return Transformations(temporal, rules)(tree)


def remove_annotations(tree: Tree) -> Tree:
    """The transformed tree with the labels of the treebank; what was flattened or deleted stays away."""
    return unmark_temporal(relabel(tree, category))
