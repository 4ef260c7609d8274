"""Marks of features in labels: NP-pl, VP-sg-gap, and S=pl, whose mark is borne by the symbols within S alone.

A mark is the value of a feature (features.py) after the category of a label. `category` (treebank_cleaning.py) leaves
marks out, so that the trees of a parser whose grammar has them are plain trees. A mark that only the symbols within a
phrase bear begins with = and is taken off the phrase itself once the tree is binarised (`finish`): in S → NP-pl @S=pl,
@S=pl → ADVP VP-pl the intermediate symbol hands on the marks that the rule must check, while S has the contexts of
every other S.

The tags of words may bear FEATS of CoNLL-U instead, NOUN-Gender:Fem-Number:Plur, until a table makes marks of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.binarisation import INTERMEDIATE
from rerank_plugins.kit.trees.treebank_cleaning import category, relabel

FEAT = ":"  # between the name of a feature of CoNLL-U and its value
NO_FEATS: frozenset[str] = frozenset()
MARK, INNER = "-", "="  # the characters before a mark, and before one that only symbols within the phrase bear


def finish(tree: Tree) -> Tree:
    """The binarised tree without the marks of symbols within phrases on the phrases themselves.

    >>> str(finish(Tree("S=pl", (Tree("NP-pl", ("they",)), Tree("@S=pl", ("go",))))))
    '(S (NP-pl they) (@S=pl go))'
    """
    return relabel(tree, lambda label: label if label.startswith(INTERMEDIATE) else label.partition(INNER)[0] or label)


def signed_marks(label: str) -> list[tuple[str, str]]:
    """The marks of a label, each with the character before it.

    >>> signed_marks("S-gap=sg"), signed_marks("NP"), signed_marks("-LRB-")
    ([('-', 'gap'), ('=', 'sg')], [], [])
    """
    return [(mark[0], mark[1:]) for mark in re.findall("[-=][^-=]+", label[len(category(label)) :])]


def with_feats(tag: str, feats: Mapping[str, str]) -> str:
    """The tag of a word with its features; values that are not of letters and digits alone are left out.

    >>> with_feats("NOUN", {"Number": "Plur", "Case": "Nom"})
    'NOUN-Number:Plur-Case:Nom'
    """
    pairs = ((name, value) for name, value in feats.items() if name.isalnum() and value.isalnum())
    return tag + "".join(f"{MARK}{name}{FEAT}{value}" for name, value in pairs)


def split_feats(label: str) -> tuple[str, frozenset[str]]:
    """The label without FEATS, and these.

    >>> split_feats("NOUN-Number:Plur"), split_feats("-LRB-"), split_feats(":")
    (('NOUN', frozenset({'Number:Plur'})), ('-LRB-', frozenset()), (':', frozenset()))
    """
    if FEAT not in label[1:]:
        return label, NO_FEATS
    tag, *parts = label.split(MARK)
    kept = (part for part in parts if FEAT not in part)
    return MARK.join((tag, *kept)), frozenset(part for part in parts if FEAT in part)


def keeping(label: str, kept: Collection[str]) -> str:
    """The label of a binarised tree without all other marks than these.

    >>> keeping("@NP-pl-npi", {"pl"}), keeping("S-gap=sg", {"sg"}), keeping("-LRB-", {"pl"})
    ('@NP-pl', 'S=sg', '-LRB-')
    """
    if not label.startswith(INTERMEDIATE):
        return category(label) + "".join(sign + mark for sign, mark in signed_marks(label) if mark in kept)
    name, bar, siblings = label[1:].partition("|")
    parts = (
        sign.join(keeping(part, kept) for part in text.split(sign)) for text, sign in ((name, ":"), (siblings, "_"))
    )
    return INTERMEDIATE + bar.join(parts)


def unmarked(label: str) -> str:
    """The label of a binarised tree without marks.

    >>> unmarked("@NP-pl-npi"), unmarked("NP-pl"), unmarked("-LRB-"), unmarked("@S-fin=pl|NP-sg")
    ('@NP', 'NP', '-LRB-', '@S|NP')
    """
    return keeping(label, ())
