"""Hypothesis strategies for constituency trees."""

from hypothesis import strategies as st

from rerank_plugins.core.constituency_tree import Tree

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

ENGLISH = {
    "DT": ["the"], "NN": ["dog", "Week"], "NNPS": ["Sundays"], "CD": ["1984", "1.5", "1,000", "80s", "ten"], "CC": ["and"],
    "VBZ": ["Is", "runs", "ai"], "VB": ["have", "see"], "MD": ["will"], "TO": ["to"], "IN": ["By"], "-LRB-": ["("], ",": [","],
}  # fmt: skip
ENGLISH_RULES = {
    "S": ["NP VP", "VP", "PP VP NP", "S CC S"], "SBAR": ["IN S", "S", "NP VP", "VP"], "PP": ["IN NP"],
    "NP": ["NP PP", "NP NP", "NP CC NP", "NP SBAR", "DT NN", "CD", "NNPS"],
    "VP": ["MD VP", "TO VP", "VP CC VP", "VP CC NP", "VP VP", "VB NP", "VBZ SBAR", "VBZ"], "CONJP": ["CC", "IN NP"],
}  # fmt: skip


@st.composite
def english_trees(draw, deepest=5):
    """Trees with all that the transformations look for, and stranger ones: a rule in five has children at random."""

    def node(label, depth):
        if label in ENGLISH:
            return Tree(label, (draw(st.sampled_from(ENGLISH[label])),))
        if depth == 0:
            return node(draw(st.sampled_from(sorted(ENGLISH))), 0)
        below = draw(st.sampled_from(ENGLISH_RULES[label])).split()
        if draw(st.integers(0, 4)) == 0:
            below = draw(st.lists(st.sampled_from([*ENGLISH, *ENGLISH_RULES]), min_size=1, max_size=4))
        return Tree(label, tuple(node(each, depth - 1) for each in below))

    return Tree("ROOT", (node(draw(st.sampled_from([*ENGLISH_RULES, "NN"])), deepest),))
