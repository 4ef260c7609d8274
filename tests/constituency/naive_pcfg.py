"""Obvious twins of the PCFG algorithms: every tree of a sentence, one by one; every string of a finite language."""

import math
from collections import Counter
from functools import cache

import numpy as np

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import lexicon_of
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE

WORDS = ("a", "b", "c")


def lexicon_from(entries):
    """The lexicon with p(word | symbol) for each (word, symbol number); `UNK` is added where it is missing."""
    words = tuple(sorted({word for word, _ in entries} | {UNKNOWN_SIGNATURE}))
    index = {word: number for number, word in enumerate(words)}
    kept = [(index[word], symbol, p) for (word, symbol), p in entries.items() if p > 0]
    word, symbol, p = (np.array([row[column] for row in kept]) for column in range(3))
    return lexicon_of(words, word.astype(np.int32), symbol.astype(np.int32), np.log(p.astype(np.float64)))


def random_grammar(seed, symbols=5, tags=2, cyclic=False, finite=False, states=1, emitting=False):
    """A grammar that sums to one, with symbols 0 (ROOT) to symbols + tags - 1, the last of them tags; ROOT is on top only.

    `cyclic`: unary rules may lead back; otherwise from smaller to larger numbers. `finite`: binary rules too lead from
    smaller to larger numbers, so that there are finitely many strings. `states`: every label but ROOT is split.
    `emitting`: phrases emit words, too, and some have no binary rules.
    """
    rng = np.random.default_rng(seed)
    labels = ["ROOT", *(f"X{i}" for i in range(1, symbols)), *(f"T{i}" for i in range(tags))]
    names, base = ["ROOT"], [0]
    for number, label in enumerate(labels[1:], 1):
        names += [f"{label}^{state}" for state in range(states)]
        base += [number] * states
    base = np.array(base, np.int32)
    everything = np.flatnonzero(base > 0)
    binary, unary, emissions = {}, {}, {}
    for a, own in enumerate(base):
        below = everything[base[everything] > own]
        if own >= symbols or not len(below):
            emissions |= {(word, a): rng.random() + 0.01 for word in rng.permutation(WORDS)[: rng.integers(1, 4)]}
            continue
        if emitting and own:
            emissions[rng.choice(WORDS), a] = rng.random() + 0.01
        pool = below if finite else everything
        for _ in range(rng.integers(0 if emitting else 1, 5) * states):
            left, right = rng.choice(pool, 2)
            binary[a, left, right] = 0.7 * rng.random() + 0.01
        for _ in range(rng.integers(0, 3) * states):
            b = rng.choice(everything if cyclic else below)
            unary[a, b] = rng.random() + 0.01
        b = rng.choice(everything[base[everything] >= symbols])  # so that everything ends somewhere
        unary[a, b] = 1.0
    total = Counter()
    for table, parent in ((binary, 0), (unary, 0), (emissions, 1)):
        for key, weight in table.items():
            total[key[parent]] += weight
    lexicon = lexicon_from({(word, a): weight / total[a] for (word, a), weight in emissions.items()})
    binary, unary = dict(sorted(binary.items())), dict(sorted(unary.items()))
    rows = np.array(list(binary), np.int32).reshape(-1, 3), np.array(list(unary), np.int32).reshape(-1, 2)
    ps = [np.log([weight / total[key[0]] for key, weight in table.items()]).astype(float) for table in (binary, unary)]
    return Grammar(tuple(names), tuple(labels), base, rows[0], ps[0], rows[1], ps[1], lexicon)


class Rewritings:
    """The rules of a grammar as dictionaries."""

    def __init__(self, grammar):
        self.binary, self.unary = {}, {}
        for (a, left, right), logp in zip(grammar.binary.tolist(), grammar.binary_logp, strict=True):
            self.binary.setdefault(a, []).append((left, right, math.exp(logp)))
        for (a, b), logp in zip(grammar.unary.tolist(), grammar.unary_logp, strict=True):
            self.unary.setdefault(a, []).append((b, math.exp(logp)))
        self.lexicon = grammar.lexicon

    def emitted(self, a, word, position):
        symbols, logp = self.lexicon.emissions(word, position)
        return sum(math.exp(p) for s, p in zip(symbols, logp, strict=True) if s == a)


def derivations(grammar, sentence, chain=4):
    """All derivations of a sentence as (p, tree), tree = (symbol, children …); unary chains of up to `chain` rules."""
    rules = Rewritings(grammar)

    @cache
    def derive(a, i, j, chain_left):
        found = []
        if j == i + 1 and (p := rules.emitted(a, sentence[i], i)):
            found.append((p, (a, sentence[i])))
        for left, right, p in rules.binary.get(a, []):
            for k in range(i + 1, j):
                found += [
                    (p * p1 * p2, (a, t1, t2))
                    for p1, t1 in derive(left, i, k, chain)
                    for p2, t2 in derive(right, k, j, chain)
                ]
        if chain_left:
            for b, p in rules.unary.get(a, []):
                found += [(p * q, (a, t)) for q, t in derive(b, i, j, chain_left - 1)]
        return found

    return derive(0, 0, len(sentence), chain)


def language(grammar):
    """Counter string -> p of a grammar with finitely many strings."""
    rules = Rewritings(grammar)
    emissions = {}
    for word in WORDS:
        if word in grammar.lexicon:
            for s, logp in zip(*grammar.lexicon.emissions(word, 1), strict=True):
                emissions.setdefault(int(s), []).append((word, math.exp(logp)))

    @cache
    def strings(a):
        found = Counter()
        for word, p in emissions.get(a, []):
            found[(word,)] += p
        for b, p in rules.unary.get(a, []):
            for string, q in strings(b).items():
                found[string] += p * q
        for left, right, p in rules.binary.get(a, []):
            for one, p1 in strings(left).items():
                for two, p2 in strings(right).items():
                    found[one + two] += p * p1 * p2
        return found

    return strings(0)


def spans(tree, begin=0):
    """(label, begin, end) of every node of a derivation, and the end."""
    label, *children = tree
    if isinstance(children[0], str):
        return [(label, begin, begin + 1)], begin + 1
    found, end = [], begin
    for child in children:
        below, end = spans(child, end)
        found += below
    return [(label, begin, end), *found], end


def rules_of(tree, begin=0):
    """The rewritings of a derivation with their spans: (label, child labels or word, begin, split or None, end)."""
    label, *children = tree
    if isinstance(children[0], str):
        return [(label, (children[0],), begin, None, begin + 1)], begin + 1
    found, end, split = [], begin, None
    for child in children:
        split = end if child is not children[0] else None
        below, end = rules_of(child, end)
        found += below
    return [(label, tuple(child[0] for child in children), begin, split, end), *found], end


def relabelled(tree, names):
    """A derivation with other labels: names[label]."""
    label, *children = tree
    return (names[label], *(child if isinstance(child, str) else relabelled(child, names) for child in children))


def as_brackets(tree):
    label, *children = tree
    return f"({label} {' '.join(child if isinstance(child, str) else as_brackets(child) for child in children)})"
