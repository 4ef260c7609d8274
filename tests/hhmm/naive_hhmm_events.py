"""Reductions and expansions of right-corner trees counted, smoothed and followed in dictionaries: slow and obvious.

`counted` walks a tree as the definition says, `EventTrellis` is the HHMM of Wu et al. (2010), equations 9-14, over
stores of single words: each probability by its own formula, the grammar's (Trellis) below it.
"""

from collections import Counter, defaultdict

from tests.hhmm.naive_hhmm import Trellis

ANY = "any"
END = "end"


def counted(tree, numbers, depth):
    """Events of a tree of two children a phrase, ROOT's own one child apart; None where it needs a deeper store.

    (reductions, expansions): lists of ((d, a, b, q), kind, outcome) and of ((d, a, b), x). An outcome is the new
    awaited symbol (cross), the new active and awaited symbol (within), or END.
    """
    reductions, expansions = [], []
    deepest = 0

    def awaited(node, d, a):
        """A node that an element at depth d with active symbol a awaits."""
        nonlocal deepest
        deepest = max(deepest, d)
        b = numbers[node.label]
        if node.is_preterminal:
            expansions.append(((d, a, b), b))
            return
        left, right = node.subtrees
        begun(left, d, a, b)
        reductions.append(((d, a, b, numbers[left.label]), "cross", numbers[right.label]))
        awaited(right, d, a)

    def begun(node, d, a, b):
        """A node on the left edge of b, until it is complete above the element a/b at depth d."""
        nonlocal deepest
        deepest = max(deepest, d + 1)
        if node.is_preterminal:
            expansions.append(((d, a, b), numbers[node.label]))
            return
        left, right = node.subtrees
        begun(left, d, a, b)
        q = numbers[node.label]
        reductions.append(((d, a, b, numbers[left.label]), "within", (q, numbers[right.label])))
        awaited(right, d + 1, q)

    top = tree.subtrees[0] if len(tree.children) == 1 and not tree.is_preterminal else tree
    begun(top, 0, 0, 0)
    reductions.append(((0, 0, 0, numbers[top.label]), "cross", END))
    return (reductions, expansions) if deepest <= depth else None


def witten_bell(counts, below, strength):
    """{outcome: p}: counts interpolated with a distribution."""
    total, types = sum(counts.values()), len(counts)
    if not total:
        return dict(below)
    outcomes = {*counts, *below}
    return {o: (counts.get(o, 0) + strength * types * below.get(o, 0.0)) / (total + strength * types) for o in outcomes}


class EventTrellis(Trellis):
    """The empirical model; the grammar is that of the same trees, and has no unary rules."""

    def __init__(self, grammar, trees, depth, strength):
        super().__init__(grammar, depth)
        self.strength = strength
        self.counts = defaultdict(Counter)  # by model and context
        numbers = {name: i for i, name in enumerate(grammar.symbols)}
        for tree in trees:
            found = counted(tree, numbers, depth)
            for (d, a, b, q), kind, outcome in found[0] if found else ():
                for context in {(d, a, b, q), (d, ANY, b, q)}:
                    self.counts["kind", *context][kind] += 1
                    self.counts[kind, *context][outcome] += 1
            for (d, a, b), x in found[1] if found else ():
                for context in {(d, a, b), (d, ANY, b)}:
                    self.counts["expansion", *context][x] += 1

    def smoothed(self, model, d, a, rest, below):
        """P of the model in the context, by way of that with any active symbol."""
        contexts = [(d, ANY, *rest)] + [(d, a, *rest)] * (d > 0)
        for context in contexts:
            below = witten_bell(self.counts[model, *context], below, self.strength)
        return below

    def element(self, store, d):
        """Active and awaited symbol of element d; those of element 0 are ROOT."""
        return store[d - 1] if d else (0, 0)

    def expansions(self, store):
        d = len(store)
        a, b = self.element(store, d)
        expected = super().expansions(store)
        if not expected or store in expected:  # the awaited preterminal itself
            return expected
        p = self.smoothed("expansion", d, a, (b,), {deeper[-1][0]: p for deeper, p in expected.items()})
        return {(*store, (x, x)): value for x, value in p.items()}

    def reductions(self, store):
        d, q, above = len(store) - 1, store[-1][0], store[:-1]
        a, b = self.element(store, d)
        expected = {"cross": {}, "within": {}}  # by outcome
        for after, p in super().reductions(store).items():
            if len(after) == d:
                expected["cross"][after[-1][1] if after else END] = p
            else:
                expected["within"][after[-1]] = p
        totals = {kind: sum(found.values()) for kind, found in expected.items()}
        kinds = self.smoothed("kind", d, a, (b, q), totals)
        after = defaultdict(float)
        for kind, total in totals.items():
            below = {outcome: p / total for outcome, p in expected[kind].items()} if total else {}
            for outcome, p in self.smoothed(kind, d, a, (b, q), below).items():
                if outcome == END:
                    new = ()
                elif kind == "cross":
                    new = (*above[:-1], (a, outcome))
                else:
                    new = (*above, outcome)
                after[new] += kinds[kind] * p
        return after
