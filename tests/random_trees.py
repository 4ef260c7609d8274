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

ENGLISH_PHRASES = ["S", "NP", "VP", "SBAR", "PP", "ADVP", "CONJP", "X"]
ENGLISH = {
    "DT": ["the"], "NN": ["dog", "Week"], "NNPS": ["Sundays"], "CD": ["1984", "1.5", "1,000", "80s", "ten"], "CC": ["and"],
    "VBZ": ["Is", "runs"], "VB": ["have", "see"], "MD": ["will"], "TO": ["to"], "IN": ["By"], "-LRB-": ["("], ",": [","],
}  # fmt: skip


@st.composite
def english_trees(draw, deepest=5):
    """Trees with all that the transformations look for: chains of VPs and NPs, SBARs over S, conjunctions, numbers."""

    def node(depth):
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            tag = draw(st.sampled_from(sorted(ENGLISH)))
            return Tree(tag, (draw(st.sampled_from(ENGLISH[tag])),))
        below = tuple(node(depth - 1) for _ in range(draw(st.integers(1, 3))))
        return Tree(draw(st.sampled_from(ENGLISH_PHRASES)), below)

    return Tree("ROOT", (node(deepest),))
