"""Incremental parsing with a store as the papers define it, in dictionaries: slow and obvious.

`Trellis` is Schwartz et al. (2011), equations 9 and 12-24, over the stores of single words, for grammars without unary
rules. `trees` lists all trees of a sentence, with the store that each needs.
"""

import math
from collections import defaultdict
from itertools import product

import numpy as np

from rerank_plugins.constituency.grammar import Grammar
from tests.constituency.naive_pcfg import lexicon_from

TOP = -1  # TOP -> ROOT </s>, so that ROOT is a left child


def random_grammar(seed, phrases=3, tags=3, words=3, *, unary=True, density=0.4):
    """A random proper grammar whose trees are finite: rules between phrases are rare."""
    rng = np.random.default_rng(seed)
    names = ["ROOT", *(f"P{i}" for i in range(phrases)), *(f"T{i}" for i in range(tags))]
    phrase, tag = range(1, 1 + phrases), range(1 + phrases, len(names))
    binary, chains, emissions = {}, {}, {}
    for parent in phrase:
        weights = {("b", parent, tag[0], tag[-1]): 2.0}
        for left, right in product((*phrase, *tag), repeat=2):
            if rng.random() < density:
                phrasal = (left in phrase) + (right in phrase)
                weights["b", parent, left, right] = rng.random() * (3.0, 0.5, 0.2)[phrasal]
        if unary:
            for child in (*phrase, *tag):
                if child != parent and rng.random() < density:
                    weights["u", parent, child] = rng.random()
        total = sum(weights.values())
        for (kind, *symbols), weight in weights.items():
            (binary if kind == "b" else chains)[tuple(symbols)] = weight / total
    chains |= dict(zip([(0, p) for p in phrase], rng.dirichlet(np.ones(phrases)), strict=True)) if unary else {}
    if not unary:  # ROOT is rewritten as the first phrase is
        binary |= {(0, *rule[1:]): p for rule, p in binary.items() if rule[0] == 1}
    for t in tag:
        for w, p in enumerate(rng.dirichlet(np.ones(words))):
            emissions[f"w{w}", t] = p
    return make_grammar(names, binary, chains, emissions)


def make_grammar(names, binary, chains, emissions):
    """A grammar of dictionaries of p by symbol numbers (words by themselves)."""
    rules, unary = sorted(binary), sorted(chains)
    return Grammar(
        tuple(names), tuple(names), np.arange(len(names), dtype=np.int32),
        np.array(rules, np.int32).reshape(-1, 3), np.log([binary[rule] for rule in rules]),
        np.array(unary, np.int32).reshape(-1, 2), np.log([chains[rule] for rule in unary]),
        lexicon_from(emissions),
    )  # fmt: skip


class Rules:
    """A grammar's rules in dictionaries."""

    def __init__(self, grammar):
        self.binary = {tuple(r): math.exp(p) for r, p in zip(grammar.binary.tolist(), grammar.binary_logp, strict=True)}
        self.unary = {tuple(r): math.exp(p) for r, p in zip(grammar.unary.tolist(), grammar.unary_logp, strict=True)}
        self.size = grammar.size
        self.lexicon = grammar.lexicon

    def emission(self, word, position=1):
        symbols, logp = self.lexicon.emissions(word, position)
        return dict(zip(symbols.tolist(), np.exp(logp).tolist(), strict=True))

    def closure(self):
        """(S, S) sums over chains of unary rules, term by term."""
        step = np.zeros((self.size, self.size))
        for (parent, child), p in self.unary.items():
            step[parent, child] += p
        total = term = np.eye(self.size)
        for _ in range(300):
            term = term @ step
            total = total + term
        return total


def inside(grammar, sentence):
    """I[i, j, s]: probability that symbol s yields words i … j-1."""
    rules, n = Rules(grammar), len(sentence)
    closure = rules.closure()
    table = np.zeros((n + 1, n + 1, rules.size))
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j, cell = i + length, np.zeros(rules.size)
            if length == 1:
                for symbol, p in rules.emission(sentence[i], i).items():
                    cell[symbol] += p
            for k in range(i + 1, j):
                for (parent, left, right), p in rules.binary.items():
                    cell[parent] += p * table[i, k, left] * table[k, j, right]
            table[i, j] = closure @ cell
    return table


def prefixes(grammar, sentence):
    """P(sentence begins with words 1 … j) for each j (Jelinek & Lafferty 1991); the grammar is consistent."""
    rules, n = Rules(grammar), len(sentence)
    step = np.zeros((rules.size, rules.size))
    for rule, p in (*rules.unary.items(), *rules.binary.items()):
        step[rule[0], rule[1]] += p
    corners = term = np.eye(rules.size)
    for _ in range(1000):
        term = term @ step
        corners = corners + term
    table, found = inside(grammar, sentence), []
    for j in range(1, n + 1):
        ahead = np.zeros((j, rules.size))
        for i in range(j - 1, -1, -1):
            cell = np.zeros(rules.size)
            if i == j - 1:
                for symbol, p in rules.emission(sentence[i], i).items():
                    cell[symbol] += p
            for k in range(i + 1, j):
                for (parent, left, right), p in rules.binary.items():
                    cell[parent] += p * table[i, k, left] * ahead[k, right]
            ahead[i] = corners @ cell
        found.append(ahead[0, 0])
    return found


def trees(grammar, sentence, chains=3):
    """(p, elements) of each tree of ROOT with up to `chains` unary rules in a row: how many store elements it needs.

    A symbol awaited in element d opens element d + 1 for its left child, unless it is the preterminal itself.
    """
    rules = Rules(grammar)

    def of(symbol, i, j, d, awaited, left):
        """(p, deepest element) of each tree; `d` is the element that awaits it, or that it is a left child in."""
        if j == i + 1 and symbol in (tags := rules.emission(sentence[i], i)):
            yield tags[symbol], d
        if left:
            for (parent, child), p in rules.unary.items():
                if parent == symbol:
                    for q, deepest in of(child, i, j, d, awaited, left - 1):
                        yield p * q, deepest
        for (parent, first, second), p in rules.binary.items():
            for k in range(i + 1, j) if parent == symbol else ():
                for q, one in of(first, i, k, d + awaited, False, chains):
                    for r, other in of(second, k, j, d, True, chains):
                        yield p * q * r, max(one, other)

    yield from of(0, 0, len(sentence), 1, False, chains)


class Trellis:
    """P(words, stores) by the equations, for a grammar without unary rules and a store of `depth` elements."""

    def __init__(self, grammar, depth):
        self.rules, self.depth = Rules(grammar), depth
        symbols = range(self.rules.size)
        emits = set(grammar.lexicon.symbols.tolist())
        word = {c: float(c in emits) for c in symbols}
        # Probabilities that trees fit, by iteration to the fixed point: awaited in d, left child in d.
        right = [dict.fromkeys(symbols, 0.0) for _ in range(depth + 2)]
        left = [dict.fromkeys(symbols, 0.0) for _ in range(depth + 2)]
        before = None
        while before != (before := [*right[1:-1], *left[1:-1]]):  # until nothing changes, to the last bit
            for d in range(1, depth + 1):
                right[d], left[d] = (
                    {
                        c: word[c] + sum(
                            p * first[one] * right[d][two]
                            for (parent, one, two), p in self.rules.binary.items()
                            if parent == c
                        )
                        for c in symbols
                    }
                    for first in (left[d + 1], left[d])
                )  # fmt: skip
        self.mass = left[1][0]
        self.preterminal = {c for c in symbols if word[c]}

        def specific(first, second):
            """A branch- and depth-specific grammar: rules weighted by what fits, and normalised."""
            weights = {rule: p * first[rule[1]] * second[rule[2]] for rule, p in self.rules.binary.items()}
            totals = defaultdict(float)
            for rule, p in weights.items():
                totals[rule[0]] += p
            return {rule: p / totals[rule[0]] for rule, p in weights.items() if p > 0}

        self.of_right = [specific(left[d + 1], right[d]) if d else {(TOP, 0, TOP): 1.0} for d in range(depth + 1)]
        self.of_left = [specific(left[d], right[d]) for d in range(depth + 1)]
        self.known = {}

    def left_progeny(self, d, c):
        """E^0 and E^* (16-18) of the awaited c in element d: {symbol: expectation}; what is below is in element d+1."""
        if (d, c) not in self.known:
            zeroth = defaultdict(float)
            for (parent, first, _), p in self.of_right[d].items():
                if parent == c:
                    zeroth[first] += p
            total, term = dict(zeroth), dict(zeroth)
            while d < self.depth and sum(term.values()) > 1e-18:
                following = defaultdict(float)
                for (parent, first, _), p in self.of_left[d + 1].items():
                    following[first] += term.get(parent, 0.0) * p
                term = following
                for symbol, value in term.items():
                    total[symbol] = total.get(symbol, 0.0) + value
            self.known[d, c] = zeroth, total
        return self.known[d, c]

    def awaited(self, store, d):
        return store[d - 1][1] if d else TOP

    def expansions(self, store):
        """(20): stores with a preterminal to be read, and the probability of each."""
        d = len(store)
        c = self.awaited(store, d)
        if c in self.preterminal:
            return {store: 1.0}
        if d == self.depth:
            return {}
        return {(*store, (x, x)): p for x, p in self.left_progeny(d, c)[1].items() if x in self.preterminal}

    def reductions(self, store):
        """(12)-(15), (21)-(24): stores after the word of the awaited preterminal, up to the next expansion."""
        found = defaultdict(float)
        d, done = len(store), store[-1][0]
        above, c = store[:-1], self.awaited(store, d - 1)
        zeroth, total = self.left_progeny(d - 1, c)
        if cross := zeroth.get(done, 0.0) / total[done]:  # (23), then the awaited transition (21) of the one above
            if d == 1:
                found[()] += cross  # what is left is </s>
            else:
                for (parent, first, second), p in self.of_right[d - 1].items():
                    if (parent, first) == (c, done):
                        found[*above[:-1], (above[-1][0], second)] += cross * p / zeroth[done]
        plus = total[done] - zeroth.get(done, 0.0)
        if plus > 1e-300:  # (24), then the active transition (22)
            for (parent, first, second), p in self.of_left[d].items():
                if first == done and parent in total:
                    found[*above, (parent, second)] += plus / total[done] * total[parent] * p / plus
        return found

    def read(self, sentence):
        """For each word, {store: P(words so far, store)}; then P(words, </s>)."""
        history, now = [], self.expansions(())
        for position, word in enumerate(sentence):
            tags = self.rules.emission(word, position)
            here = {s: p * tags.get(s[-1][1], 0.0) for s, p in now.items()}
            here = {s: p for s, p in here.items() if p > 0}
            history.append(here)
            now, ended = defaultdict(float), 0.0
            for store, p in here.items():
                for reduced, q in self.reductions(store).items():
                    if not reduced:
                        ended += p * q
                        continue
                    for expanded, r in self.expansions(reduced).items():
                        now[expanded] += p * q * r
        return history, ended

    def derivations(self, sentence):
        """ln-able P of each sequence of stores for the whole of the words: none are put together."""
        paths = [(p, store) for store, p in self.expansions(()).items()]
        for position, word in enumerate(sentence):
            tags = self.rules.emission(word, position)
            if position:
                paths = [
                    (p * q * r, expanded)
                    for p, store in paths
                    for reduced, q in self.reductions(store).items()
                    if reduced
                    for expanded, r in self.expansions(reduced).items()
                ]
            paths = [(p * tags.get(store[-1][1], 0.0), store) for p, store in paths]
            paths = [(p, store) for p, store in paths if p > 0]
        return [p for p, _ in paths]
