"""Trees as arcs between headwords: each word with the headword above it, the relation between them, and its role.

In a model whose L(ID) is the identity, all constituents with one headword have one concept, so that a tree of n words
is n nodes. Heads here are those of content: of an auxiliary with its verb phrase the verb, of a complementiser with its
clause the clause. Relations are those of states.py: MOD:S< is a subject, MOD:VP> an object.

A role names what a word is to the word above it, whatever the syntax:

    subject   of an active verb, or after `by` below a passive one
    object    of an active verb, or the subject of a passive one
    to        the first of two objects, also the subject of a passive verb with an object, or a noun after `to`
    in, of …  the preposition over a noun, whose word above is then the one above the preposition
    MOD:NP<   of all others, the relation

A verb is passive if it is a past participle with a form of `be` or `get`, or without one of `have`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rerank_plugins import Tree
from rerank_plugins.constituency.annotation import BE, HAVE, NOMINAL, VERBS
from rerank_plugins.kit.trees.head_rules import PARTS_OF_SPEECH, english_heads, is_projection
from rerank_plugins.kit.trees.treebank_cleaning import category
from rerank_plugins.svs.states import HEAD, MODIFIER

AUXILIARIES = VERBS | {"TO", "MD"}
CLAUSES = ("S", "SINV", "SQ", "VP", "FRAG")
GET = frozenset(["get", "gets", "got", "getting", "gotten"])
PREPOSITIONS = frozenset({"IN", "TO"})
SUBJECTS = frozenset({"MOD:S<", "MOD:SINV>", "MOD:SQ<", "MOD:SQ>"})
AFTER_VERB, BEFORE_VERB = "MOD:VP>", "MOD:VP<"
SUBJECT, OBJECT, RECIPIENT = "subject", "object", "to"
CONTENT = frozenset({"NN", "VB", "JJ", "RB", "FW", "NOUN", "PROPN", "VERB", "ADJ", "ADV"})  # classes of words
_heads: dict[tuple[str, ...], int] = {}


class HeadArcs(NamedTuple):
    """The n words of a tree in their order; `parent` and `above` are places of words, -1 for none."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    parent: tuple[int, ...]  # the headword above
    relations: tuple[str, ...]  # to it; ID of the topmost word
    above: tuple[int, ...]  # the headword above that is no preposition
    roles: tuple[str, ...]  # of it
    inner: tuple[bool, ...]  # whether a word is an auxiliary, or a preposition over a noun: roles stand for them


class ContentTree(NamedTuple):
    """The n content words of a sentence as a tree, each after those below it; the root is the last."""

    places: tuple[int, ...]  # in the sentence
    parent: tuple[int, ...]  # the node of the nearest content word above, -1 of the root
    relations: tuple[str, ...]  # the role of the word, or of the topmost function word between the two


def content_tree(arcs: HeadArcs) -> ContentTree:
    """The tree of the content words: no function words, and nothing that stands before the verb of its verb phrase.

    It may be empty.

    Words without a content word above them, but one, are put below that one with the relation MOD.
    """
    above, roles = arcs.above, arcs.roles
    is_content = [
        word_class(tag) in CONTENT and relation != BEFORE_VERB
        for tag, relation in zip(arcs.tags, arcs.relations, strict=True)
    ]
    below: dict[int, list[int]] = {}
    relations: dict[int, str] = {}
    tops: list[int] = []
    for word, counts in enumerate(is_content):
        if not counts:
            continue
        head, role = above[word], roles[word]
        while head >= 0 and not is_content[head]:
            head, role = above[head], roles[head]
        relations[word] = role
        (tops if head < 0 else below.setdefault(head, [])).append(word)
    if not tops:
        return ContentTree((), (), ())
    for word in tops[1:]:
        relations[word] = MODIFIER
    below.setdefault(tops[0], []).extend(tops[1:])
    order, heads = [tops[0]], [-1]
    for place, word in enumerate(order):  # which grows as it is read
        for child in below.get(word, ()):
            order.append(child)
            heads.append(place)
    last = len(order) - 1
    return ContentTree(
        tuple(reversed(order)),
        tuple(last - head if head >= 0 else -1 for head in reversed(heads)),
        tuple(relations[word] for word in reversed(order)),
    )


def word_class(tag: str) -> str:
    """The part of speech of a tag: NN of NNS and of NNPS; a universal one is its own.

    >>> word_class("NNS"), word_class("VBD"), word_class("PROPN")
    ('NN', 'VB', 'PROPN')
    """
    return tag if tag in PARTS_OF_SPEECH else tag[:2]


def content_head(label: str, children: Sequence[str]) -> int:
    """The index of the child that bears the content of a phrase.

    >>> content_head("VP", ["VBD", "RB", "VP"]), content_head("SBAR", ["IN", "S"]), content_head("PP", ["IN", "NP"])
    (2, 1, 0)
    """
    key = (label, *children)
    if key not in _heads:
        _heads[key] = _content_head(label, children)
    return _heads[key]


def _content_head(label: str, children: Sequence[str]) -> int:
    head, names = english_heads().head(label, children), [category(child) for child in children]
    if category(label) in ("VP", "SQ", "SINV") and names[head] in AUXILIARIES:
        return next((i for i in range(head + 1, len(names)) if names[i] == "VP"), head)
    if category(label) == "SBAR":
        return next((i for i, name in enumerate(names) if name in CLAUSES), head)
    return head


def head_arcs(tree: Tree) -> HeadArcs:
    """The arcs of a tree. There is no recursion, because trees are deep."""
    words, tags = list[str](), list[str]()
    parent, relations, phrases = list[int](), list[str](), list[str]()  # `phrases`: the largest that a word heads
    heads: list[int] = []
    todo: list[tuple[Tree, bool]] = [(tree, False)]
    while todo:
        node, is_open = todo.pop()
        children = node.children
        if isinstance(children[0], str):
            heads.append(len(words))
            words.append(children[0])
            tags.append(category(node.label))
            parent.append(-1)
            relations.append(HEAD)
            phrases.append(tags[-1])
        elif not is_open:
            todo.append((node, True))
            todo += [(child, False) for child in reversed(node.subtrees)]
        else:
            below = heads[-len(children) :]
            del heads[-len(children) :]
            labels = [child.label for child in node.subtrees]
            head = content_head(node.label, labels) if len(labels) > 1 else 0
            name = category(node.label)
            for i, word in enumerate(below):
                if i == head:
                    phrases[word] = name
                    continue
                parent[word] = below[head]
                label = category(labels[i])
                if is_projection(label):
                    relations[word] = f"{MODIFIER}:{label.partition('.')[2]}"
                else:
                    relations[word] = f"{MODIFIER}:{name}{'<>'[i > head]}"
            heads.append(below[head])
    above, roles = _roles(words, tags, parent, relations, phrases)
    skipped = {parent[word] for word in range(len(words)) if above[word] != parent[word]}
    inner = tuple(
        word in skipped or (tags[word] in AUXILIARIES and relations[word] == BEFORE_VERB) for word in range(len(words))
    )
    return HeadArcs(tuple(words), tuple(tags), tuple(parent), tuple(relations), above, roles, inner)


def _roles(
    words: Sequence[str], tags: Sequence[str], parent: Sequence[int], relations: Sequence[str], phrases: Sequence[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    above, roles = list(parent), list(relations)
    objects: dict[int, list[int]] = {}
    helpers: dict[int, set[str]] = {}
    for word, verb in enumerate(parent):
        if relations[word] == AFTER_VERB and phrases[word] in NOMINAL:
            objects.setdefault(verb, []).append(word)
        elif relations[word] == BEFORE_VERB:
            helpers.setdefault(verb, set()).add(words[word].lower())
    for first, *others in objects.values():
        roles[first] = RECIPIENT if others else OBJECT
        for other in others:
            roles[other] = OBJECT
    for word, verb in enumerate(parent):
        if verb < 0:
            continue
        if relations[word] in SUBJECTS and phrases[word] in NOMINAL:
            passive = tags[verb] == "VBN" and _is_passive(helpers.get(verb, set()))
            roles[word] = (RECIPIENT if verb in objects else OBJECT) if passive else SUBJECT
        elif tags[verb] in PREPOSITIONS and phrases[verb] == "PP":
            above[word] = parent[verb]
            roles[word] = words[verb].lower()
            by = roles[word] == "by" and above[word] >= 0 and tags[above[word]] == "VBN"
            if by and _is_passive(helpers.get(above[word], set())):
                roles[word] = SUBJECT
    return tuple(above), tuple(roles)


def _is_passive(helpers: set[str]) -> bool:
    """Whether a past participle with these words before it in its verb phrase is passive."""
    return bool(helpers & (BE | GET)) or not helpers & HAVE
