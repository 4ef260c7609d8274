"""The parser of Gubbins & Vlachos (2013) to compare with: arc-eager, deterministic (Nivre & Scholz 2004), as MaltParser's.

Each transition is chosen greedily by a linear classifier over hashed features of stack and buffer (the templates of
Zhang & Nivre 2011 without valency), trained as an averaged perceptron along the static oracle; their classifier was
a support vector machine. Trees that are not projective are left out of training.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from rerank_plugins.core.dependency_tree import DependencyTree

SHIFT, REDUCE, LEFT, RIGHT = 0, 1, 2, 3  # left arcs with relation r: LEFT + 2 r, right arcs: RIGHT + 2 r
FEATURES = 27
BUCKETS = 1 << 18


@njit(cache=True)
def _hash(template: int, a: int, b: int, c: int, d: int) -> Any:
    h = np.uint64(template + 1)
    for value in (a, b, c, d):
        h = (h ^ np.uint64(value + 2)) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    return np.int64(h % np.uint64(BUCKETS))


@njit(cache=True)
def _features(
    stack: Any,
    depth: int,
    b: int,
    n: int,
    words: Any,
    tags: Any,
    heads: Any,
    relations: Any,
    left: Any,
    right: Any,
    out: Any,
) -> None:
    """Rows of the weight table that are active; word 0 is the root symbol, n + 1 and beyond are nothing."""
    s = stack[depth - 1] if depth else n + 1
    s1 = stack[depth - 2] if depth > 1 else n + 1
    h = heads[s] if s <= n and heads[s] >= 0 else n + 1
    sl, sr, bl = left[s], right[s], left[b]
    sw, st, bw, bt = words[s], tags[s], words[b], tags[b]
    b1, b2 = min(b + 1, n + 1), min(b + 2, n + 1)
    distance = min(b - s, 6) if s <= n else 0
    active = (
        (sw, 0, 0, 0), (st, 0, 0, 0), (sw, st, 0, 0), (bw, 0, 0, 0), (bt, 0, 0, 0), (bw, bt, 0, 0),
        (words[b1], 0, 0, 0), (tags[b1], 0, 0, 0), (tags[b2], 0, 0, 0), (sw, bw, 0, 0), (sw, st, bt, 0),
        (st, bw, bt, 0), (st, bt, 0, 0), (bt, tags[b1], 0, 0), (bt, tags[b1], tags[b2], 0), (st, bt, tags[b1], 0),
        (tags[h], st, bt, 0), (st, tags[sl], bt, 0), (st, tags[sr], bt, 0), (st, bt, tags[bl], 0),
        (st, relations[s], bt, 0), (st, relations[sl], bt, 0), (st, relations[sr], bt, 0), (st, bt, relations[bl], 0),
        (st, bt, distance, 0), (tags[s1], st, bt, 0), (sw, bt, distance, 0),
    )  # fmt: skip
    for k in range(FEATURES):
        a = active[k]
        out[k] = _hash(k, a[0], a[1], a[2], a[3])


@njit(cache=True)
def _oracle(stack: Any, depth: int, b: int, gold: Any, gold_relations: Any, heads: Any) -> Any:
    s = stack[depth - 1] if depth else -1
    if s > 0 and gold[s] == b:
        return LEFT + 2 * gold_relations[s]
    if s >= 0 and gold[b] == s:
        return RIGHT + 2 * gold_relations[b]
    if s > 0 and heads[s] >= 0:
        for k in range(depth - 1):
            if gold[b] == stack[k] or gold[stack[k]] == b:
                return REDUCE
    return SHIFT


@njit(cache=True)
def run(
    words: Any,
    tags: Any,
    gold: Any,
    gold_relations: Any,
    weights: Any,
    totals: Any,
    stamps: Any,
    step: int,
    learn: bool,
) -> tuple[Any, Any, int]:
    """Heads (0: root; -1: none) and relations of a sentence with a root symbol before and nothing after, and steps."""
    n = len(words) - 2
    heads, relations = np.full(n + 2, -1, np.int64), np.full(n + 2, -1, np.int64)
    left, right = np.full(n + 2, n + 1, np.int64), np.full(n + 2, n + 1, np.int64)
    stack, depth, b = np.zeros(n + 2, np.int64), 1, 1
    rows = np.empty(FEATURES, np.int64)
    actions = weights.shape[1]
    scores = np.empty(actions, np.float32)
    while b <= n:
        _features(stack, depth, b, n, words, tags, heads, relations, left, right, rows)
        scores[:] = 0
        for row in rows:
            scores += weights[row]
        s = stack[depth - 1] if depth else -1
        best = SHIFT
        for a in range(1, actions):
            possible = s >= 0
            if a == REDUCE:
                possible = s > 0 and heads[s] >= 0
            elif a >= LEFT and a % 2 == 0:
                possible = s > 0 and heads[s] < 0
            if possible and scores[a] > scores[best]:
                best = a
        if learn:
            step += 1
            wanted = _oracle(stack, depth, b, gold, gold_relations, heads)
            if wanted != best:
                for row in rows:
                    for a, change in ((wanted, 1.0), (best, -1.0)):
                        totals[row, a] += (step - stamps[row, a]) * weights[row, a]
                        stamps[row, a] = step
                        weights[row, a] += change
            best = wanted
        if best == SHIFT:
            stack[depth], depth, b = b, depth + 1, b + 1
        elif best == REDUCE:
            depth -= 1
        elif best % 2 == 0:
            heads[s], relations[s] = b, (best - LEFT) // 2
            left[b] = min(left[b], s) if left[b] <= n else s
            depth -= 1
        else:
            heads[b], relations[b] = s, (best - RIGHT) // 2
            right[s] = b
            stack[depth], depth, b = b, depth + 1, b + 1
    return heads, relations, step


class ArcEager:
    """Trained on trees; `parse(words, tags)` gives heads (from 0; -1: root) and relations."""

    def __init__(self, trees: Sequence[DependencyTree], epochs: int = 10, seed: int = 1) -> None:
        self.words = {word: i for i, word in enumerate(sorted({w.lower() for t in trees for w in t.words}), 3)}
        self.tags = {tag: i for i, tag in enumerate(sorted({g for t in trees for g in t.tags}), 3)}
        self.relations = sorted({r for t in trees for r in t.relations})
        ids = {relation: i for i, relation in enumerate(self.relations)}
        data = []
        for tree in trees:
            if projective(tree.heads):
                gold = np.array([-1, *(h + 1 for h in tree.heads), -1])
                labels = np.array([-1, *(ids[r] for r in tree.relations), -1])
                data.append((*self._ids(tree.words, tree.tags), gold, labels))
        shape = (BUCKETS, 2 + 2 * len(self.relations))
        weights, totals = np.zeros(shape, np.float32), np.zeros(shape, np.float64)
        stamps, step, rng = np.zeros(shape, np.int32), 0, np.random.default_rng(seed)
        for _ in range(epochs):
            for i in rng.permutation(len(data)):
                *_, step = run(*data[i], weights, totals, stamps, step, True)  # type: ignore[call-arg]
        self.weights = ((totals + (step - stamps) * weights.astype(np.float64)) / step).astype(np.float32)
        self.used, self.left_out = len(data), len(trees) - len(data)

    def _ids(self, words: Sequence[str], tags: Sequence[str]) -> tuple[Any, Any]:
        forms = [1, *(self.words.get(word.lower(), 2) for word in words), 0]
        return np.array(forms), np.array([1, *(self.tags.get(tag, 2) for tag in tags), 0])

    def parse(self, words: Sequence[str], tags: Sequence[str]) -> tuple[list[int], list[str]]:
        none = np.zeros((1, 1))
        ids = self._ids(words, tags)
        heads, relations, _ = run(*ids, ids[0], ids[0], self.weights, none, none.astype(np.int32), 0, False)
        heads, relations = heads[1:-1] - 1, relations[1:-1]
        top = next((i for i, h in enumerate(heads) if h == -1), None)
        found = [self.relations[r] if r >= 0 else "dep" for r in relations]
        for i, head in enumerate(heads):
            if head == -2:  # none: it hangs from the root's word, or is it
                heads[i], top = (top, top) if top is not None else (-1, i)
        return heads.tolist(), ["root" if h == -1 else r for h, r in zip(heads, found, strict=True)]

    def tree(self, words: Sequence[str], tags: Sequence[str]) -> DependencyTree:
        """The parse of a tagged sentence as a tree."""
        heads, relations = self.parse(words, tags)
        return DependencyTree(tuple(words), tuple(heads), tuple(relations), tuple(tags))


def projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs cross (the root symbol stands before the sentence)."""
    arcs = [(min(i, h), max(i, h)) for i, h in enumerate(heads)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)
