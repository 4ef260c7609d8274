"""The referential model as its equations are printed: plain sets, all D levels, every derivation, exact fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

# A world is a function meaning(label) -> (kind, value): ("property", set), ("relation", set of pairs) or
# ("functor", a function from sets to sets).


def applied(meaning, everything, label, argument, context):
    """Equation (12)."""
    if label == "IDENTITY":
        return argument
    if label == "NIL":
        return everything
    kind, value = meaning(label)
    if kind == "property":
        return argument & value
    if kind == "relation":
        return context & {target for source, target in value if source in argument}
    return context & value(argument)


class NaiveModel:
    """A grammar over a world; `weigh(label, source, destination)` is the weight of a label in the description model."""

    def __init__(self, grammar, meaning, everything, depth, weigh):
        self.grammar, self.meaning, self.everything = grammar, meaning, frozenset(everything)
        self.depth, self.weigh = depth, weigh

    def apply(self, label, argument, context):
        return frozenset(applied(self.meaning, self.everything, label, argument, context))

    def reduce(self, levels):
        """Equation (16): e, f of each level from the deepest up; levels are (e, (expression, state)) or None."""
        results = [None] * len(levels)
        deepest = max(d for d, level in enumerate(levels) if level is not None)
        below = (levels[deepest][0], 1)
        for d in range(deepest, -1, -1):
            e, (expression, state) = levels[d]
            if below[1] == 0:
                results[d] = (e, 0)
            elif state % 2 == 0:
                results[d] = (below[0], 0)
            else:
                context = levels[d - 1][0] if d > 0 else self.everything
                results[d] = (self.apply(expression.reduce, below[0], context), 1)
            below = results[d]
        return results

    def shift(self, levels):
        """Equation (17): all (probability, word, levels) after one more word; word None: lost beyond the depth."""
        if all(level is None for level in levels):
            yield from self.expand((None,) * self.depth, 0, Fraction(1))
            return
        results = self.reduce(levels)
        if results[0][1] == 1:
            yield Fraction(1), "</s>", None
            return
        moving = max(d for d, result in enumerate(results) if result is not None and result[1] == 0)
        expression, state = levels[moving][1]
        following = expression.automaton.following[state]
        kept = tuple((results[d][0], levels[d][1]) for d in range(moving))
        for q in following:
            after = (*kept, (results[moving][0], (expression, q)), *[None] * (self.depth - moving - 1))
            yield from self.enter(after, moving, Fraction(1, len(following)))

    def enter(self, levels, d, p):
        expression, state = levels[d][1]
        symbol = expression.automaton.symbols[state // 2]
        if not symbol.is_category:
            yield p, symbol.name, levels
        elif d + 1 == self.depth:
            yield p, None, None
        else:
            yield from self.expand(levels, d + 1, p)

    def expand(self, levels, d, p):
        if d == 0:
            above, category = self.everything, self.grammar.start
        else:
            above, (parent, state) = levels[d - 1]
            category = parent.automaton.symbols[state // 2].name
        expressions = self.grammar.by_category[category]
        labels = list(dict.fromkeys(e.shift for e in expressions))
        destinations = {label: self.apply(label, above, self.everything) for label in labels}
        weights = {label: self.weigh(label, above, destinations[label]) for label in labels}
        if not any(weights.values()):
            weights = dict.fromkeys(labels, Fraction(1))
        for label in labels:
            same = [e for e in expressions if e.shift == label]
            for e in same:
                share = Fraction(e.weight) / sum(Fraction(other.weight) for other in same)
                for q in e.automaton.initial:
                    part = p * weights[label] / sum(weights.values()) * share / len(e.automaton.initial)
                    after = (*levels[:d], (destinations[label], (e, q)), *levels[d + 1 :])
                    if part:
                        yield from self.enter(after, d, part)

    def enumerate(self, length):
        """Probabilities of all prefixes of `length` words, of all shorter sentences, and of what is lost on the way.

        Each is a dictionary from words; the first also has the most probable derivation's probability and referent.
        """
        prefixes, sentences, lost = defaultdict(Fraction), defaultdict(Fraction), Fraction(0)
        best = {}
        agenda = [((), (None,) * self.depth, Fraction(1))]
        for _ in range(length + 1):
            after = []
            for words, levels, p in agenda:
                for q, word, following in self.shift(levels):
                    if word is None:
                        lost += p * q if len(words) < length else 0
                    elif word == "</s>":
                        sentences[words] += p * q
                        referent = self.reduce(levels)[0][0]
                        best[words] = max(
                            best.get(words, (Fraction(0), referent)), (p * q, referent), key=lambda x: x[0]
                        )
                    elif len(words) < length:
                        after.append(((*words, word), following, p * q))
                        prefixes[(*words, word)] += p * q
            agenda = after
        return prefixes, sentences, lost, best

    def trigrams(self):
        """Equations (28) to (30): P(w | u v) by history (u, v), from all stacks, each as probable as any other.

        Stacks that differ only in what no reduction reads are one: the referent above a level that reduces by the
        identity.
        """
        start = (None,) * self.depth
        counts = defaultdict(lambda: defaultdict(Fraction))
        for p, first, levels in self.shift(start):
            counts["<s>", "<s>"][first] += p
            self.count(counts["<s>", first], levels, p)
        stacks, agenda = {}, [start]
        while agenda:
            for _, word, levels in self.shift(agenda.pop()):
                if levels is not None and self.read(levels) not in stacks:
                    stacks[self.read(levels)] = word, levels
                    agenda.append(levels)
        for first, before in stacks.values():
            for p, second, levels in self.shift(before):
                if levels is not None:
                    self.count(counts[first, second], levels, p)
        return {
            history: {word: count / sum(words.values()) for word, count in words.items()}
            for history, words in counts.items()
            if words
        }

    def count(self, words, levels, p):
        for q, word, _ in self.shift(levels):
            if word is not None:
                words[word] += p * q

    def read(self, levels):
        """The levels, without the referents that are not read."""
        below = [*levels[1:], None]
        unread = [after is not None and after[1][0].reduce == "IDENTITY" for after in below]
        return tuple(
            level and (None if drop else level[0], level[1]) for level, drop in zip(levels, unread, strict=True)
        )
