"""Hypothesis strategies for constituency trees."""

from hypothesis import strategies as st

from rerank_plugins.trees.constituency import Tree

WORDS = ["the", "dog", "(", ")", "[x]", "1.5", "1984", "Monday", "was", "—", "a/b", "*", "'s", "ß"]
TAGS = ["DT", "NN", "VBD", "IN", "CD", "NNP", "-LRB-", ",", ".", "PRP$", "``", "CC"]
LABELS = ["S", "NP", "VP", "PP", "SBAR", "ADVP", "PRT", "X"]

preterminals = st.builds(lambda tag, word: Tree(tag, (word,)), st.sampled_from(TAGS), st.sampled_from(WORDS))


def phrases(labels=LABELS, smallest=1, largest=5, leaves=12):
    """Trees whose phrases have between `smallest` and `largest` children."""
    return st.recursive(
        preterminals,
        lambda below: st.builds(
            lambda label, children: Tree(label, tuple(children)),
            st.sampled_from(labels),
            st.lists(below, min_size=smallest, max_size=largest),
        ),
        max_leaves=leaves,
    )


trees = phrases().map(lambda tree: Tree("ROOT", (tree,)))
binary_trees = phrases(smallest=2, largest=2, leaves=20)
