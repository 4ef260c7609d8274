"""Parses in the cache: compressed JSON without the words, which the caller has, under a hash of the words.

A dependency tree is its heads, relations and tags, some 7 bytes a word. A k-best list is its distinct subtrees,
children before parents, each as its label and the numbers of its children (for a tag, -1 minus the number of its
word), then the number of the root of each tree, and its ln p.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.errors import DAMAGE
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.scored_trees import KBestTrees, ScoredTree, SharedTrees
from rerank_plugins.kit.cache import Cache, Kind

# The dictionary of zlib: tags and relations of Universal Dependencies, as they stand in the JSON.
USUAL = b"""\
ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X acl acl:relcl advcl advcl:relcl
advmod amod appos aux aux:pass case cc ccomp compound compound:prt conj cop csubj dep det det:predet discourse
dislocated expl fixed flat flat:foreign goeswith iobj list mark nmod nmod:npmod nmod:poss nmod:tmod nmod:unmarked
nsubj nsubj:outer nsubj:pass nummod obj obl obl:agent obl:npmod obl:tmod obl:unmarked orphan parataxis punct
reparandum root vocative xcomp
""".replace(b" ", b'","').replace(b"\n", b'","')


def load_parses(cache: Cache, kind: Kind, sentences: Sequence[Sentence]) -> list[Parse | None]:
    """The parse of each sentence by the parser of this kind; None for a sentence that is not in the cache."""
    keys = [_key(sentence) for sentence in sentences]
    packed = cache.get(kind, keys)
    return [unpack(packed[k], s) if k in packed else None for k, s in zip(keys, sentences, strict=True)]


def save_parses(cache: Cache, kind: Kind, parses: Iterable[tuple[Sentence, Parse]]) -> None:
    """Keep parses by the parser of this kind, all or none of them."""
    cache.put(kind, [(_key(sentence), pack(parse)) for sentence, parse in parses])


def _key(sentence: Sentence) -> bytes:
    return hashlib.blake2b(json.dumps(list(sentence)).encode(), digest_size=16).digest()


def pack(parse: Parse) -> bytes:
    """The parse without its words."""
    tree = parse.dependencies
    plain: Any = None if tree is None else [tree.heads, tree.relations, tree.tags]
    if parse.constituents:
        plain = {"dependencies": plain, "constituents": _shared(parse.constituents)}
    packer = zlib.compressobj(zdict=USUAL)
    return packer.compress(json.dumps(plain, separators=(",", ":")).encode()) + packer.flush()


def unpack(packed: bytes, sentence: Sentence) -> Parse | None:
    """The parse of the sentence; None if the value is damaged or belongs to another sentence."""
    try:
        plain = json.loads(zlib.decompressobj(zdict=USUAL).decompress(packed))
        constituents = None
        if isinstance(plain, dict):
            plain, constituents = plain["dependencies"], _trees(sentence, *plain["constituents"])
        dependencies = None
        if plain is not None:
            heads, relations, tags = plain
            if len(heads) != len(sentence) or len(relations) != len(sentence):
                return None
            dependencies = DependencyTree(tuple(sentence), tuple(heads), tuple(relations), tuple(tags))
    except (zlib.error, *DAMAGE):
        return None
    return Parse(dependencies, constituents or ())


def over_tokens(parse: Parse, sentence: tuple[str, ...]) -> Parse:
    """The parse with exactly these tokens as its words, in place of their normal forms or of others."""
    yields = [tree.words() for tree, _ in parse.constituents[:1]]
    yields += [parse.dependencies.words] if parse.dependencies is not None else []
    return parse if all(words == sentence for words in yields) else unpack(pack(parse), sentence) or Parse()


def _shared(scored: Sequence[ScoredTree]) -> tuple[list[str], list[list[int]], list[int], list[float]]:
    """The labels, the distinct subtrees, and the root and ln p of each tree."""
    if isinstance(scored, KBestTrees):
        shared, nodes = scored.trees, scored.trees.nodes()
    else:  # whose words have other numbers than their places
        shared = SharedTrees.of(tree for tree, _ in scored)
        places = {word: place for place, word in enumerate(scored[0].tree.words())}
        nodes = [
            [label, *(child if child >= 0 else -1 - places[shared.words[-1 - child]] for child in children)]
            for label, *children in shared.nodes()
        ]
    return list(shared.labels), nodes, shared.roots.tolist(), [score for _, score in scored]


def _trees(
    sentence: Sentence, labels: list[str], nodes: list[list[int]], roots: list[int], scores: list[float]
) -> KBestTrees:
    """The k-best list. Raises ValueError unless its trees have the words of the sentence."""
    trees = KBestTrees(SharedTrees.of_nodes(labels, sentence, nodes, roots), tuple(scores))
    if trees[0].tree.words() != tuple(sentence):
        raise ValueError("these are the trees of another sentence")
    return trees
