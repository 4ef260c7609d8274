"""Pruning by relative entropy as in Stolcke (1998), over a dictionary of n-grams, straight from the definition."""

import math


class NaiveBackoff:
    """`p[n-gram]` and `weight[context]` as in an ARPA file, over words; 1-grams have a p each."""

    def __init__(self, p, weight):
        self.p, self.weight = dict(p), dict(weight)

    def probability(self, context, x):
        """P(x | context), backing off."""
        if (*context, x) in self.p:
            return self.p[*context, x]
        return self.weight.get(context, 1.0) * self.probability(context[1:], x)

    def history(self, context):
        """The probability of a context; that of `<s>` is that of `</s>`."""
        total = 1.0
        for i, x in enumerate(context):
            total *= self.p["</s>",] if x == "<s>" else self.probability(context[:i], x)
        return total

    def reweighed(self):
        """The model with weights by which each context sums to one."""
        for length in range(1, max(map(len, self.p))):
            for context in [context for context in self.weight if len(context) == length]:
                seen = [g[-1] for g in self.p if g[:-1] == context]
                free = 1 - sum(self.p[*context, x] for x in seen)
                unseen = 1 - sum(self.probability(context[1:], x) for x in seen)
                self.weight[context] = free / unseen
        return self

    def pruned(self, threshold):
        """Without the n-grams that cost less than this share of perplexity."""
        kept, contexts = dict(self.p), set()
        for length in range(max(map(len, self.p)), 1, -1):
            for ngram in [ngram for ngram in self.p if len(ngram) == length and ngram not in contexts]:
                *context, x = ngram
                context = tuple(context)
                seen = [g[-1] for g in self.p if g[:-1] == context]
                free = 1 - sum(self.p[*context, y] for y in seen)
                unseen = 1 - sum(self.probability(context[1:], y) for y in seen)
                shorter = self.probability(context[1:], x)
                weight, changed = free / unseen, (free + self.p[ngram]) / (unseen + shorter)
                gain = self.p[ngram] * math.log(shorter * changed / self.p[ngram]) + free * math.log(changed / weight)
                if math.exp(-self.history(context) * gain) - 1 < threshold:
                    del kept[ngram]
            # The beginnings of the n-grams that are kept are contexts, and so are all ends of contexts.
            contexts |= {g[:-1] for g in kept if len(g) == length}
            contexts |= {context[i:] for context in contexts for i in range(len(context))}
        return NaiveBackoff(kept, dict.fromkeys(contexts, 1.0)).reweighed()
