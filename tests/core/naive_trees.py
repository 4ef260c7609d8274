"""Slow, obvious twins of the tree code: recursion over nested lists, spans by search, stores by their definition."""

import re


def parse(text):
    """Nested lists [label, child, …] of a text with one tree, words as they are written."""
    tokens = re.findall(r"[()]|[^\s()]+", text)

    def node(i):
        assert tokens[i] == "("
        label, i, children = tokens[i + 1], i + 2, []
        while tokens[i] != ")":
            if tokens[i] == "(":
                child, i = node(i)
                children.append(child)
            else:
                children.append(tokens[i])
                i += 1
        return [label, *children], i + 1

    return node(0)[0]


def nested(tree):
    """A Tree as nested lists."""
    return [tree.label, *(child if isinstance(child, str) else nested(child) for child in tree.children)]


def brackets(tree, punctuation=frozenset({",", ":", "``", "''", "."})):
    """Sorted labelled brackets over the words that are no punctuation, without the root."""
    found = []

    def walk(node, start):
        if isinstance(node.children[0], str):
            return start + (node.label not in punctuation)
        end = start
        for child in node.children:
            end = walk(child, end)
        label = re.match(r"-\w+-|[^-=]+", node.label)[0]
        if end > start and label != "ROOT":
            found.append(("ADVP" if label == "PRT" else label, start, end))
        return end

    walk(tree, 0)
    return sorted(found)


def depth(tree):
    """Most incomplete constituents between two words, counted from the definition.

    Between words, an incomplete constituent is a phrase that is the root or a left child of another, has begun, and has
    not ended: right children go on the one that awaits them.
    """
    spans = []

    def walk(node, start, counts):
        if isinstance(node.children[0], str):
            return start + 1
        middle = walk(node.children[0], start, True)
        end = walk(node.children[1], middle, False)
        if counts:
            spans.append((node, start, end))
        return end

    length = walk(tree, 0, True)
    most = 0
    for place in range(1, length):
        begun = 0
        for node, start, end in spans:
            # it has begun only when its left child is complete: what is inside an incomplete left child does not count
            if start < place < end and start + _words(node.children[0]) <= place:
                begun += 1
        most = max(most, begun)
    return most


def _words(node):
    return 1 if isinstance(node.children[0], str) else sum(map(_words, node.children))
