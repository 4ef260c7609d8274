"""Mutations that change no number, each with the reason: by file, and by line of the source and change."""

from __future__ import annotations

from tests.mutating.formulas import Mutation

KEPT = "only how much is kept in memory"
ROUNDING = "ln p is above 0 by rounding errors alone"
ALL_NEGATIVE = "all masses of a history are negative then, and their proportions are the same"

LARGER = "the larger or smaller of two values; they are equal"
SIGN = "only the sign and the order of the values count"
LOOSER = "a looser bound: the same substitutes after more work"
PATH = "the search takes other steps to the same minimum"

# file: (the line, the old text, the new text): the reason. Equal changes of one line have one reason.
EQUIVALENT: dict[str, dict[tuple[str, str, str], str]] = {
    "adapters/rerank_adapters/applications/referential.py": {
        (
            "first = list(islice(grounded, 1))  # before the header is written: if the model cannot be read, nothing is",
            "1",
            "2",
        ): "only when the header is written",
    },
    "adapters/rerank_adapters/evaluation/content.py": {
        (
            "if words <= FEWEST_WORDS or shared.common >= LEAST_COMMON * (1 - sqrt(FEWEST_WORDS / words)):",
            "<=",
            "<",
        ): "of so many words none need be common",
    },
    "adapters/rerank_adapters/evaluation/oracle.py": {
        ("sign = 1.0 if metric.higher_is_better == best else -1.0", "1.0", "2.0"): SIGN,
    },
    "adapters/rerank_adapters/metrics/bleu.py": {
        (
            "penalty = exp(1 - np.maximum(reference_length, length) / np.where(length > 0, length, 1.0))",
            "1.0",
            "2.0",
        ): "the penalty of an empty text is given in the next line",
    },
    "adapters/rerank_adapters/tuners/hope_fear.py": {
        ("weights[feature] = new if new < lists.upper[feature] else lists.upper[feature]", "<", "<="): "both are equal",
    },
    "adapters/rerank_adapters/tuners/iterative.py": {
        ("weights = problem.unfolded(np.zeros(0))", "0", "1"): "no weight is free, so that none is taken from it",
    },
    "adapters/rerank_adapters/tuners/pro.py": {
        ("swap = self.goodness[one] < self.goodness[other]", "<", "<="): "no pair of equals is kept",
    },
    "adapters/rerank_adapters/tuners/lbfgs.py": {
        ("if np.abs(downhill).max(initial=0.0) <= tolerance:", "<=", "<"): PATH,
        ("short: FloatArray = gradient / max(dot(gradient, gradient) ** 0.5, 1.0)", "**", "*"): PATH,
        ("length /= 2", "2", "3"): PATH,
    },
    "adapters/rerank_adapters/tuners/mert.py": {
        ("if low < high:", "<", "<="): "weights that cannot move are not moved by a search, either",
    },
    "adapters/rerank_adapters/tuners/mira.py": {
        (
            "most = values.shape[1] + 2 * int(np.diff(sparse.indptr).max(initial=0))  # features in which two rows differ",
            "0",
            "1",
        ): KEPT,
    },
    "rerank_plugins/hhmm/event_counts.py": {
        ("phrase, unary = forest.word < 0, forest.right < 0", "0", "1"): "the first node of all is a left child",
    },
    "rerank_plugins/constituency/derivation_trees.py": {
        (
            "offsets, values = (ends - states).astype(np.uint32), np.zeros(ends[-1] if len(ends) else 0)",
            "0",
            "1",
        ): "without derivations no value is read",
    },
    "rerank_plugins/constituency/grammar.py": {
        ("return np.minimum(mass, 1.0)", "1.0", "2.0"): "masses are above 1 by rounding errors alone",
        ("step = longest or max(1, len(sentence))", "1", "2"): "up to one word is one piece",
    },
    "rerank_plugins/dependency/biaffine/parsing.py": {
        (
            "total += shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))",
            "log",
            "log1p",
        ): "all heads, or all relations, of a word lose the same",
    },
    "rerank_plugins/hhmm/derivation.py": {
        (
            "queue: list[tuple[float, int, tuple[int, ...]]] = [(0.0, top, ())]",
            "0.0",
            "1.0",
        ): "the costs of all chains rise alike",
    },
    "rerank_plugins/hhmm/recombination.py": {
        ("if p < total or (p == total and other > row):", ">", ">="): "two places of a heap have different rows",
        (
            "if value < total or (value == total and moved > row):",
            ">",
            ">=",
        ): "two places of a heap have different rows",
    },
    "rerank_plugins/hhmm/successors.py": {
        ("exponent = 0 if exponent < 0 else exponent", "<", "<="): LARGER,
    },
    "rerank_plugins/hhmm/transitions.py": {
        ("use += 2", "2", "3"): "stores and kinds of reduction still have different numbers",
        ("best = bound if bound > best else best", ">", ">="): LARGER,
        ("best = value if value > best else best", ">", ">="): LARGER,
        ("bound = far if far > bound else bound", ">", ">="): LARGER,
        ("bound = threshold * value if threshold * value > bound else bound", ">", ">="): LARGER,
    },
    "rerank_plugins/kit/charts/inside.py": {
        ("first, last = np.uint64(i + 1), np.uint64(j)", "1", "0"): "cells without words hold zeros",
        ("powers[j] = 0", "0", "1"): "all spans with the word have it, and only differences of their powers are used",
        ("largest = rules.word_p[e] if rules.word_p[e] > largest else largest", ">", ">="): LARGER,
        ("largest = to_end[j, s, i] if to_end[j, s, i] > largest else largest", ">", ">="): LARGER,
        ("largest = above[s] if above[s] > largest else largest", ">", ">="): LARGER,
        (
            "least, most = largest if largest < least else least, largest if largest > most else most",
            "<",
            "<=",
        ): LARGER,
        (
            "least, most = largest if largest < least else least, largest if largest > most else most",
            ">",
            ">=",
        ): LARGER,
        (
            "kept[i] = j if kept[i] > j else kept[i]  # cells that end later still contain the old scale",
            ">",
            ">=",
        ): LARGER,
    },
    "rerank_plugins/kit/charts/k_best.py": {
        ("opened[number] = 1", "1", "2"): "only whether it is 0 counts",
    },
    "rerank_plugins/kit/charts/outside.py": {
        (
            "if not begins[i, s] or (width > 1 and narrow[s]) or from_start[i, s, j] == 0.0:",
            "0.0",
            "1.0",
        ): "nodes without inside probability are expected 0 times, and no scaled probability is exactly 1 but by chance",
    },
    "rerank_plugins/kit/charts/pruned_chart.py": {
        ("if where[block_parent[block]] >= 0:", "0", "1"): "offset 0 is that of a word, which is no parent of two",
        ("if work.where[blocks.parent[block]] >= 0:", "0", "1"): "item 0 is a word, which is no parent of two",
        ("if edges.first[2 * item] < 0:", "<", "<="): "edge 0 is one of the whole sentence's chains",
    },
    "rerank_plugins/kit/backoff/event_sampling.py": {
        ("if log10 > LOG_ZERO:", ">", ">="): "no random number is below 1e-99, but for 0",
        ("if event < 0:", "0", "1"): "events of longer contexts follow those of the empty one",
    },
    "rerank_plugins/kit/backoff/stores.py": {
        ("if level > 0:", ">", ">="): "the parent of the empty context is 0 in packed tables, too",
    },
    "rerank_plugins/kit/trees/binarisation.py": {
        (
            "below = Tree(symbol, (below, children[i]) if i > head else (children[i], below))",
            ">",
            ">=",
        ): "the head is not generated beside itself",
    },
    "rerank_plugins/kit/trees/inflection_estimates.py": {
        (
            "total -= total.max(axis=1, keepdims=True, initial=-np.inf)",
            "-=",
            "+=",
        ): "the posteriors are far from the smallest float64",
        (
            "for _ in range(ITERATIONS if len(values) and len(open_rows) else 0):",
            "0",
            "1",
        ): "an iteration without values or rows changes nothing",
        ("for level in range(2, depth.max(initial=0) + 1):", "0", "1"): "0 has no depth",
        ("for level in range(1, depth.max(initial=0) + 1):", "0", "1"): "no observation has the depth 1 then",
    },
    "rerank_plugins/kit/vocabulary/unknown_types.py": {
        ("if is_known and total > 2:", "2", "3"): "a known word that occurs three times counts for nothing",
    },
    "rerank_plugins/missing_words/tables.py": {
        ("for between in range(min(window, len(padded) - 1)):", "1", "0"): "so far from each other there are no pairs",
    },
    "rerank_plugins/missing_words/tuning.py": {
        (
            "if reached >= here + (gradient * moved - moved * moved / (2 * step)).sum() - 1e-12 or step < SHORTEST_STEP:",
            ">=",
            ">",
        ): PATH,
        ("ahead = new + (momentum - 1) / next_momentum * (new - theta)", "1", "0"): PATH,
    },
    "rerank_plugins/ngram/mixture.py": {
        ("if mean - previous_mean < tolerance:", "<", "<="): PATH,
        ("best_weights: FloatArray = weights / weights.sum()", "/", "*"): "the sum is 1 but for rounding errors",
    },
    "rerank_plugins/ngram/sampling.py": {
        ("attempts = 0", "0", "1"): "one attempt of 10,000 less",
    },
    "rerank_plugins/similarity/wordnet.py": {
        ("masses = np.full(len(self.synsets), min(frequencies.values(), default=1.0))", "1.0", "2.0"): (
            "information content depends on the proportions of masses alone"
        ),
    },
    "rerank_plugins/substitutes/queues.py": {
        (
            "passed = np.zeros(len(contexts) - 1)  # the sum of the n-gram that the context is",
            "-",
            "+",
        ): KEPT,
    },
    "rerank_plugins/substitutes/search.py": {
        ("middle_constant = 0.0", "0.0", "1.0"): "without a known context there is no middle queue",
        (
            "fixed += unseen * (unseen_symbols(levels, after, j) + min(order - 1, length + j + 1) - min(order - 1, j))",
            "1",
            "0",
        ): LOOSER,
        (
            "if full and bound + MARGIN < scores[0] and not may_have(pairs, -1, previous, word):",
            "+",
            "-",
        ): "keys are rounded up by more than the margin",
        ("while base < symbols:", "<", "<="): "the least probable word is <s>, before which the search ends",
        ("and base_constant + 2 * key + MARGIN < scores[0]", "+", "-"): LOOSER,
    },
    "rerank_plugins/translation/alignment/training.py": {
        (
            "cuts = np.searchsorted(costs, costs[-1] * np.arange(1, self._jobs) / self._jobs)",
            "*",
            "/",
        ): "only how the work is divided among threads",
    },
    "rerank_plugins/lists/confusion_network.py": {
        ("proportions = mass / (self.total or 1.0)", "1.0", "2.0"): "without a total all masses are 0",
    },
    "rerank_plugins/referential/model.py": {
        ("return min(ln_p, 0.0), Beam(", "0.0", "1.0"): ROUNDING,
        ("return min(float(state.best[complete].max() - state.best.max()), 0.0)", "0.0", "1.0"): ROUNDING,
    },
    "rerank_plugins/referential/transitions.py": {
        ("if len(self._pending) >= KEPT_STACKS:", ">=", ">"): KEPT,
        ("for bottom in range(len(stack), 0, -2):", "0", "1"): "a stack has an even number of elements",
        (
            "above = stack[bottom - 4] if bottom > 2 else self.context",
            "2",
            "3",
        ): "a stack has an even number of elements",
    },
    "rerank_plugins/referential/trigrams.py": {
        ("counts[SENTENCE_START, SENTENCE_START][word] += sum(nexts.values())", "+=", "-="): ALL_NEGATIVE,
        ("counts[history][word] += mass * sum(nexts.values())", "+=", "-="): ALL_NEGATIVE,
        ("histories[SENTENCE_START, word][pending] += p", "+=", "-="): ALL_NEGATIVE,
        ("histories[first, second][then] += number * p", "+=", "-="): ALL_NEGATIVE,
    },
    "rerank_plugins/referential/world.py": {
        ('return end if end.startswith(";") or len(known) <= LISTED else ""', "<=", "<"): "only the words of an error",
    },
    "rerank_plugins/treelet/transformations.py": {
        ("if only >= 0:", "0", "1"): "the children of a VP among them have been put there before it",
        ("above = mark if mark == 1 + ROOT_NUMBER or facts[x, CATEGORY] == VP else 0", "+", "-"): "ROOT has number 0",
        (
            "stack[depth, 1] = mark if mark == 1 + ROOT_NUMBER or facts[child, CATEGORY] == VP else 0",
            "+",
            "-",
        ): "ROOT has number 0",
    },
    "rerank_plugins/ngram/arpa_lines.py": {
        (
            "value = whole / POWERS[places] if places >= 0 else whole * POWERS[-places]",
            "0",
            "1",
        ): "10 to the power 0 is 1",
    },
    "rerank_plugins/ngram/arpa_reader.py": {
        ("rows = np.zeros((1 << (3 * len(keys) // 2).bit_length(), 2), np.int64)", "1", "2"): KEPT,
    },
    "rerank_plugins/ngram/distributed_training.py": {
        (
            "levels = build_trie(rows, starts, events.layout.places, workspace, continuation=continuation, raw=raw, jobs=1)",
            "1",
            "2",
        ): "the number of threads changes nothing",
    },
}


def reason(each: Mutation) -> str:
    """Why a mutation changes no number; empty where it may change one."""
    return EQUIVALENT.get(each.path, {}).get((each.text, each.old, each.new), "")
