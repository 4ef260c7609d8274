"""The treelet model's transformations by another way: nodes with a field for each annotation, changed in place.

After the prose of Pauls & Klein (2012), section 3; of the project's code only the table of head rules and the list of
temporal nouns are read. No label is ever taken apart: it is put together at the end.
"""

from dataclasses import dataclass, field
from importlib.resources import files

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.treelet.label_marks import TEMPORAL

PUNCTUATION = [",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"]
CLOSED = ["IN", "WDT", "PDT", "WP", "WP$", "TO", "WRB", "RP", "DT", "SYM", "EX", "POS", "PRP", "AUX", "CC"]
HELPERS = {
    "do": ["do", "does", "did", "done", "doing"],
    "be": ["be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re", "'s", "ai"],
    "have": ["have", "has", "had", "having", "'ve", "'d"],
}


@dataclass
class Node:
    """A phrase (`children`) or a tag (`word`), and what is known of it."""

    category: str
    children: list["Node"] = field(default_factory=list)
    word: str | None = None
    temporal: bool = False
    head: str = ""  # closed-class word, or tag
    head_shown: bool = False
    number: str = ""
    gap: bool = False
    parent: str = ""

    @property
    def tag(self):
        """The tag with its mark of temporal nouns: NNT, NNTS, NNTP."""
        return "NNT" + self.category[2:] if self.temporal else self.category

    def label(self):
        parts = [self.tag, self.number, self.head if self.head_shown else "", "GAP" if self.gap else ""]
        return "-".join(part for part in parts if part) + (f"^{self.parent}" if self.parent else "")

    def tree(self):
        return Tree(self.label(), (self.word,) if self.children == [] else tuple(c.tree() for c in self.children))


def node_of(tree):
    if tree.is_preterminal:
        return Node(tree.label, word=tree.word)
    return Node(tree.label, [node_of(child) for child in tree.subtrees])


def every(node):
    """The node and all below it, from the top down."""
    yield node
    for child in node.children:
        yield from every(child)


def head_of(category, labels):
    """Index of the head child: the lines of the table for the category, one after the other."""
    table = (files("rerank_plugins.kit.trees") / "english_heads.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in table if line and not line.startswith("#")]
    rules = [row[1:] for row in rows if row[0] == category] or [row[1:] for row in rows if row[0] == "*"]
    places = [i for i in range(len(labels)) if labels[i] not in PUNCTUATION]
    if not places:
        places = list(range(len(labels)))
    found = None
    for direction, *wanted in rules:
        side = places if direction.startswith("left") else places[::-1]
        if direction == "last":
            side = places[-1:]
        if not wanted:
            hits = side[:1]
        elif direction in ("left", "right"):
            hits = [i for label in wanted for i in side if labels[i] == label]
        else:
            hits = [i for i in side if labels[i] in wanted]
        if hits:
            found = hits[0]
            break
    if found is None:
        found = places[0] if rules[-1][0].startswith("left") else places[-1]
    rank = places.index(found)
    if rank >= 2 and labels[places[rank - 1]] in ("CC", "CONJP"):
        found = places[rank - 2]
    return found


def find_head(node):
    """Fill in the heads of the node and of all below it."""
    for child in node.children:
        find_head(child)
    if node.children:
        node.head = node.children[head_of(node.category, [child.category for child in node.children])].head
        node.head_shown = node.category != "ROOT"
        return
    word = node.word.lower()
    helper = node.category in ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ") and any(word in f for f in HELPERS.values())
    node.head_shown = node.category in CLOSED or node.category in PUNCTUATION or helper
    written = "".join({"(": "-LRB-", ")": "-RRB-", " ": "_"}.get(letter, letter) for letter in word)
    node.head = written if node.head_shown else node.tag


def class_of(word):
    digits, letters = any(c.isdigit() for c in word), any(c.isalpha() for c in word)
    if len(word) == 4 and all(c in "0123456789" for c in word):
        return "YR"
    if not digits:
        return "AL"
    return "MX" if letters else "DC" if "." in word else "NM"


def conjoined(node):
    return any(child.category in ("CC", "CONJP") for child in node.children)


def the_only(node, category):
    """The place of the only child of that category; None where there are none or several, or a conjunction is there."""
    places = [i for i, child in enumerate(node.children) if child.category == category]
    return places[0] if len(places) == 1 and not conjoined(node) else None


def flat_np(node):
    """The children of an NP where the NPs below it have given way to theirs."""
    place = the_only(node, "NP")
    if place is None:
        return node.children
    return node.children[:place] + flat_np(node.children[place]) + node.children[place + 1 :]


def flat_vp(node):
    """The lowest VP of a chain, with all that the others have before and after it."""
    before, after, place = [], [], the_only(node, "VP")
    while place is not None:
        before, after = before + node.children[:place], node.children[place + 1 :] + after
        node = node.children[place]
        place = the_only(node, "VP")
    return Node("VP", before + node.children + after, head=node.head, head_shown=True)


def without_vp_chains(node):
    if node.category == "VP" and node.children:
        node = flat_vp(node)
    node.children = [without_vp_chains(child) for child in node.children]
    return node


def lowest(node, top=True):
    """The tree without unary productions but those of root and tags."""
    if len(node.children) == 1 and not top:
        return lowest(node.children[0], False)
    node.children = [lowest(child, False) for child in node.children]
    return node


def transformed(tree):
    """All transformations in the order of the paper."""
    root = node_of(tree)
    for node in every(root):
        node.temporal = node.category in ("NN", "NNS", "NNP", "NNPS") and (node.word or "").lower() in TEMPORAL
    find_head(root)
    for node in every(root):
        if node.category == "NP" and node.children:
            node.children = flat_np(node)
    for node in every(root):
        if node.category == "CD" and node.word is not None:
            node.number = class_of(node.word)
    for node in list(every(root)):
        if node.category == "SBAR" and node.children:
            node.children = [
                below
                for child in node.children
                for below in (child.children if child.category == "S" and child.children else [child])
            ]
    root = without_vp_chains(root)
    for node in every(root):
        kinds = [child.category for child in node.children if child.category in ("NP", "VP")]
        node.gap = node.category in ("S", "SBAR") and kinds[:1] == ["VP"]
    for node in every(root):
        for child in node.children:
            if child.category == "VP" or node is root:
                child.parent = node.category
    return lowest(root).tree()
