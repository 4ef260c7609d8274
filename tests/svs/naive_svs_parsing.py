"""Obvious twins of parsing with vectors: every tree with eq. 4 at its nodes, eq. 8 span by span, the expanded grammar."""

import math
from collections import Counter
from functools import cache

import numpy as np

from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.svs.model import HeadTable, SvsModel, VectorLexicon
from tests.constituency.naive_pcfg import lexicon_from

WORDS = ("a", "b", "c")
RELATIONS = ("ID", "MOD:left", "MOD:right", "MOD")


def random_model(seed, concepts=2, phrases=4, tags=2, finite=False, split=False):
    """A proper model: symbol 0 is ROOT, then `phrases` phrases, of which some have only unary rules, then tags.

    `finite`: rules lead to greater numbers only, so that there are finitely many strings. `split`: two phrases each
    have the same plain category.
    """
    rng = np.random.default_rng(seed)
    size = 1 + phrases + tags
    chained = rng.random(size) < 0.3  # these have unary rules, and are nobody's unary child
    chained[0], chained[1 + phrases :] = True, False
    binary, unary, emissions = {}, {}, {}
    for a in range(1 + phrases):
        for _ in range(rng.integers(1, 4)):
            left, right = rng.integers(a + 1 if finite else 1, size, 2) if a + 1 < size else (size - 1, size - 1)
            binary[a, int(left), int(right)] = 0.6 * rng.random(concepts) + 0.01
        below = [b for b in range(a + 1 if finite else 1, size) if not chained[b]]
        if chained[a]:
            for b in rng.choice(below, rng.integers(1, 3)):
                unary[a, int(b)] = rng.random(concepts) + 0.01
        binary[a, size - 1, size - 2] = rng.random(concepts) + 0.3
    for tag in range(1 + phrases, size):
        for word in rng.permutation(WORDS)[: rng.integers(1, 4)]:
            emissions[str(word), tag] = rng.random(concepts) * (rng.random(concepts) < 0.8)
        emissions[WORDS[tag % 3], tag] = rng.random(concepts) + 0.1
        emissions["UNK", tag] = rng.random(concepts) + 0.01
    total = np.zeros((size, concepts))
    for table, place in ((binary, 0), (unary, 0), (emissions, 1)):
        for key, p in table.items():
            total[key[place]] += p
    binary = {key: p / total[key[0]] for key, p in sorted(binary.items())}
    unary = {key: p / total[key[0]] for key, p in sorted(unary.items())}
    words = tuple(sorted({word for word, _ in emissions}))
    rows = sorted((words.index(word), tag) for word, tag in emissions)
    lexicon = VectorLexicon(
        words,
        np.searchsorted([word for word, _ in rows], np.arange(len(words) + 1)).astype(np.int32),
        np.array([tag for _, tag in rows], np.int32),
        np.array([emissions[words[word], tag] / total[tag] for word, tag in rows]),
    )
    plain = [(i + 1) // 2 if split else i for i in range(1, 1 + phrases)]
    inner = [f"X{i}-{number}" if i % 3 else f"@X{i}|{number}" for number, i in enumerate(plain)]
    names = ("ROOT", *inner, *(f"T{i}" for i in range(tags)))
    relation = rng.integers(0, len(RELATIONS), size).astype(np.int32)
    transfer = rng.dirichlet(np.ones(concepts), (len(RELATIONS), concepts))
    return SvsModel(
        tuple(f"{RELATIONS[each]}/{name}" for name, each in zip(names, relation, strict=True)),
        names,
        np.arange(size, dtype=np.int32),
        RELATIONS,
        relation,
        np.array(list(binary), np.int32).reshape(-1, 3),
        np.array(list(binary.values())).reshape(-1, concepts),
        np.array(list(unary), np.int32).reshape(-1, 2),
        np.array(list(unary.values())).reshape(-1, concepts),
        tuple(["", "B", "B+C"][number % 3] for number in range(len(unary))),
        transfer,
        rng.dirichlet(np.ones(size * concepts)).reshape(size, concepts),
        rng.dirichlet(np.ones(concepts)),
        lexicon,
        HeadTable(("unk",), np.zeros(size + 1, np.int32), np.zeros(0, np.int32), np.zeros((0, concepts))),
    )


class Rewritings:
    """The rules of a model as dictionaries."""

    def __init__(self, model):
        self.model = model
        self.binary, self.unary = {}, {}
        for (a, left, right), p in zip(model.binary.tolist(), model.binary_p, strict=True):
            self.binary.setdefault(a, []).append((left, right, p))
        for (a, b), p in zip(model.unary.tolist(), model.unary_p, strict=True):
            self.unary.setdefault(a, []).append((b, p))

    def transferred(self, symbol, e):
        return self.model.transfer[self.model.relation[symbol]] @ e

    def emitted(self, a, word, position):
        entries = self.model.lexicon.entries(word, position)
        symbols, p = self.model.lexicon.symbols[entries], self.model.lexicon.p[entries]
        return [row for symbol, row in zip(symbols, p, strict=True) if symbol == a]


def all_trees(model, sentence):
    """All trees of a sentence as (e of the root, tree), tree = (symbol, children …); eq. 4 at every node."""
    rules = Rewritings(model)

    @cache
    def derive(a, i, j):
        found = []
        if j == i + 1:
            found += [(p, (a, sentence[i])) for p in rules.emitted(a, sentence[i], i)]
        for left, right, p in rules.binary.get(a, []):
            for k in range(i + 1, j):
                found += [
                    (p * rules.transferred(left, e1) * rules.transferred(right, e2), (a, t1, t2))
                    for e1, t1 in derive(left, i, k)
                    for e2, t2 in derive(right, k, j)
                ]
        for b, p in rules.unary.get(a, []):
            found += [(p * rules.transferred(b, e), (a, t)) for e, t in derive(b, i, j)]
        return [(e, tree) for e, tree in found if e.any()]

    return derive(0, 0, len(sentence))


def best_by_prior(model, sentence):
    """Eq. 8, span by span: (aᵀe, e, tree) of the best vector for ROOT, or None. There must be no ties."""
    rules = Rewritings(model)

    @cache
    def best(a, i, j):
        prior = model.root if a == 0 else model.prior[a]
        found = []
        if j == i + 1:
            found += [(p, (a, sentence[i])) for p in rules.emitted(a, sentence[i], i)]
        for left, right, p in rules.binary.get(a, []):
            for k in range(i + 1, j):
                one, two = best(left, i, k), best(right, k, j)
                if one and two:
                    e = p * rules.transferred(left, one[1]) * rules.transferred(right, two[1])
                    found.append((e, (a, one[2], two[2])))
        for b, p in rules.unary.get(a, []):
            below = best(b, i, j)
            if below:
                found.append((p * rules.transferred(b, below[1]), (a, below[2])))
        weighted = [(float(prior @ e), e, tree) for e, tree in found if prior @ e > 0]
        return max(weighted, key=lambda each: each[0], default=None)

    return best(0, 0, len(sentence))


def max_rule(model, sentence, group):
    """Trees over plain categories of the rules that some tree has, each with the product of how often they are expected.

    (product, {(category, begin, end) …}) with the greatest product first. A tree may have rules that no tree of the
    model has together.
    """
    between = dict(zip(map(tuple, model.unary.tolist()), model.between, strict=True))
    trees = [(float(model.root @ e), tree) for e, tree in all_trees(model, sentence)]
    total = sum(p for p, _ in trees)
    expected = Counter()
    for p, tree in trees:
        for rule in plain_rules_of(tree, group, between):
            expected[rule] += p / total

    @cache
    def made(category, begin, end, chain_above):
        found = []
        for rule, p in expected.items():
            if (rule[0], *rule[-2:]) != (category, begin, end) or (
                chain_above and len(rule) == 6 and len(rule[1]) == 1
            ):
                continue
            here = frozenset([(category, begin, end)])
            if len(rule) == 4:
                found.append((p, here))
            elif len(rule[1]) == 1:
                found += [(p * q, here | below) for q, below in made(rule[1][0], begin, end, True)]
            else:
                for q, one in made(rule[1][0], begin, rule[3], False):
                    found += [(p * q * r, here | one | two) for r, two in made(rule[1][1], rule[3], end, False)]
        return sorted(found, key=lambda each: -each[0])

    return made(int(group[0]), 0, len(sentence), False) if trees else []


def plain_rules_of(tree, group, between):
    """The rules of a tree over plain categories: (parent, children or word, …, begin, end)."""
    found = []

    def visit(node, begin):
        label, *children = node
        if isinstance(children[0], str):
            found.append((int(group[label]), children[0], begin, begin + 1))
            return begin + 1
        end, ends = begin, []
        for child in children:
            end = visit(child, end)
            ends.append(end)
        labels = [child[0] for child in children]
        chain = between[label, labels[0]] if len(labels) == 1 else None
        found.append((int(group[label]), tuple(int(group[each]) for each in labels), chain, ends[0], begin, end))
        return end

    visit(tree, 0)
    return found


def expanded(model):
    """The grammar of the S·K symbols lci with P_G = P_M P_L P_L (eq. 7), under a new ROOT that draws a_T's concepts."""
    k, size = model.concepts, len(model.symbols)
    number = {(s, i): 1 + s * k + i for s in range(size) for i in range(k)}
    binary, unary = {}, {(0, number[0, i]): p for i, p in enumerate(model.root)}
    for (a, left, right), p in zip(model.binary.tolist(), model.binary_p, strict=True):
        first, second = (model.transfer[model.relation[each]] for each in (left, right))
        for i in range(k):
            for x in range(k):
                for y in range(k):
                    binary[number[a, i], number[left, x], number[right, y]] = p[i] * first[i, x] * second[i, y]
    for (a, b), p in zip(model.unary.tolist(), model.unary_p, strict=True):
        for i in range(k):
            for x in range(k):
                unary[number[a, i], number[b, x]] = p[i] * model.transfer[model.relation[b]][i, x]
    emissions = {}
    lexicon = model.lexicon
    for word, (begin, end) in enumerate(zip(lexicon.starts[:-1], lexicon.starts[1:], strict=True)):
        for s, p in zip(lexicon.symbols[begin:end].tolist(), lexicon.p[begin:end], strict=True):
            emissions |= {(lexicon.words[word], number[s, i]): p[i] for i in range(k)}
    names = ("ROOT", *(f"{model.symbols[s]}^{i}" for s, i in number))
    base = np.array([0, *(1 + s for s, _ in number)], np.int32)
    binary = {key: p for key, p in sorted(binary.items()) if p > 0}
    unary = {key: p for key, p in sorted(unary.items()) if p > 0}
    return Grammar(
        names,
        ("ROOT", *model.symbols),
        base,
        np.array(list(binary), np.int32).reshape(-1, 3),
        np.log(list(binary.values())),
        np.array(list(unary), np.int32).reshape(-1, 2),
        np.log(list(unary.values())),
        lexicon_from(emissions),
    )


def unexpanded(model):
    """The plain grammar of a model with one concept."""
    lexicon = model.lexicon
    word = np.repeat(np.arange(len(lexicon.words)), np.diff(lexicon.starts))
    entries = {
        (lexicon.words[w], int(s)): float(p) for w, s, p in zip(word, lexicon.symbols, lexicon.p[:, 0], strict=True)
    }
    return Grammar(
        model.symbols,
        model.symbols,
        np.arange(len(model.symbols), dtype=np.int32),
        model.binary,
        np.log(model.binary_p[:, 0]),
        model.unary,
        np.log(model.unary_p[:, 0]),
        lexicon_from(entries),
    )


def language(model):
    """Counter string -> p of a model with finitely many strings."""
    rules = Rewritings(model)
    lexicon = model.lexicon

    @cache
    def strings(a):
        found = {}
        for word, name in enumerate(lexicon.words):
            for entry in range(lexicon.starts[word], lexicon.starts[word + 1]):
                if lexicon.symbols[entry] == a:
                    found[(name,)] = found.get((name,), 0) + lexicon.p[entry]
        for b, p in rules.unary.get(a, []):
            for string, e in strings(b).items():
                found[string] = found.get(string, 0) + p * rules.transferred(b, e)
        for left, right, p in rules.binary.get(a, []):
            for one, e1 in strings(left).items():
                for two, e2 in strings(right).items():
                    e = p * rules.transferred(left, e1) * rules.transferred(right, e2)
                    found[one + two] = found.get(one + two, 0) + e
        return found

    return Counter({string: float(model.root @ e) for string, e in strings(0).items()})


def log(p):
    return math.log(p) if p > 0 else -math.inf
