"""Slow, obvious twins: binary classification by counting, formulas by Python, edits by search."""

import math
import re
from itertools import pairwise, product


def matthews(accepted, good):
    tp = sum(a and g for a, g in zip(accepted, good, strict=True))
    tn = sum(not a and not g for a, g in zip(accepted, good, strict=True))
    fp = sum(a and not g for a, g in zip(accepted, good, strict=True))
    fn = sum(not a and g for a, g in zip(accepted, good, strict=True))
    product_ = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(product_) if product_ else 0.0


def roc_area(scores, good):
    """All pairs of a good and a bad sentence: which is higher?"""
    pairs = [
        (g, b)
        for g, is_good in zip(scores, good, strict=True)
        if is_good
        for b, also in zip(scores, good, strict=False)
        if not also
    ]
    return sum(1.0 if g > b else 0.5 if g == b else 0.0 for g, b in pairs) / len(pairs)


def best_value(scores, good, criterion):
    """The best that any threshold reaches, by trying one below, between and above all scores."""
    levels = sorted(set(scores))
    cuts = [levels[0] - 1, *((a + b) / 2 for a, b in pairwise(levels)), levels[-1] + 1]
    return max(value_at(cut, scores, good, criterion) for cut in cuts)


def value_at(cut, scores, good, criterion):
    accepted = [score > cut for score in scores]
    if criterion == "mcc":
        return matthews(accepted, good)
    return sum(a == g for a, g in zip(accepted, good, strict=True)) / len(good)


def formula(text, values):
    """Python's own reading of a formula: brackets and precedence made explicit by rewriting operators."""
    code = re.sub(r"\((\d+);%([^%]+)%\)", lambda m: repr(values[int(m[1]), m[2]]), text)
    code = code.replace("[", "(").replace("]", ")").replace("&", " and ").replace("|", " or ")
    return bool(eval(code))


def one_edit_away(word):
    """Every string of one letter less, as many, or one more, that the definition lets through."""
    letters = "".join(sorted({*word, "a", "q"}))

    def is_near(other):
        if len(other) == len(word):
            differ = [i for i, (a, b) in enumerate(zip(word, other, strict=True)) if a != b]
            swapped = len(differ) == 2 and differ[1] == differ[0] + 1
            i = differ[0] if differ else 0
            return len(differ) == 1 or (swapped and word[i : i + 2] == other[i : i + 2][::-1])
        longer, shorter = sorted((word, other), key=len, reverse=True)
        return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))

    sizes = range(max(1, len(word) - 1), len(word) + 2)
    candidates = ("".join(made) for size in sizes for made in product(letters, repeat=size))
    return {other for other in candidates if other != word and is_near(other)}, set(letters)
