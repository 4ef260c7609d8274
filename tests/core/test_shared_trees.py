"""Trees that share subtrees: the first one alone, and all of them."""

from hypothesis import given
from hypothesis import strategies as st

from rerank_plugins.core.scored_trees import SharedTrees
from tests.random_trees import trees


@given(st.lists(trees, min_size=1, max_size=4))
def test_the_first_tree_alone_is_that_of_all(found):
    shared = SharedTrees.of(found)
    assert shared[0] == found[0]
    assert "_subtrees" not in shared.__dict__  # the others are not built
    assert list(shared) == found
    assert SharedTrees.of(found)[-1] == found[-1]
    assert [shared[place : place + 1][0] for place in range(len(found))] == found
