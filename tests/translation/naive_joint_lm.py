"""The obvious twin of the joint model: one context, one unit and one word after another, in float64."""

import math


def naive_affiliations(links, length):
    """The source word of each target word: its own, or that of the nearest linked word, the right one of two."""
    linked = [j for j, link in enumerate(links) if link >= 0]
    if not linked:
        return [min(j, length - 1) for j in range(len(links))]
    return [links[min(linked, key=lambda k, j=j: (abs(k - j), -k))] for j in range(len(links))]


def naive_context(numbering, source, target, affiliated, j):
    """The symbols that the network sees of word j of `target` (its number of words for `</s>`), as words and sides."""
    words = source.lower().split() if numbering.lowercase else source.split()
    centre = affiliated[j] if j < len(affiliated) else len(words)
    about = range(centre - numbering.window, centre + numbering.window + 1)
    seen = [("source", "<before>" if i < 0 else "<after>" if i >= len(words) else words[i]) for i in about]
    before = [("target", "<before>" if i < 0 else target.split()[i]) for i in range(j - numbering.history, j)]
    return seen + before


def symbol(numbering, side, word):
    """The number of a symbol."""
    sources, targets = list(numbering.source_words), list(numbering.target_words)
    if side == "source":
        names = ["<unknown>", "<before>", "<after>", *sources]
        return names.index(word) if word in names else 0
    names = ["<unknown>", "<before>", *targets]
    return 3 + len(sources) + (names.index(word) if word in names else 0)


def naive_ln_p(model, context):
    """{output: ln p} of all outputs, given the symbols of a context."""
    x = [float(value) for side, word in context for value in model.embeddings[symbol(model.numbering, side, word)]]
    hidden = [
        max(sum(x[i] * float(model.hidden[i, h]) for i in range(len(x))) + float(bias), 0)
        for h, bias in enumerate(model.hidden_bias)
    ]
    names = ["<unknown>", "</s>", *model.numbering.target_words]
    scores = [
        sum(value * float(weight) for value, weight in zip(hidden, row, strict=True)) + float(bias)
        for row, bias in zip(model.output, model.output_bias, strict=True)
    ]
    total = math.log(sum(math.exp(score) for score in scores))
    return {name: score - total for name, score in zip(names, scores, strict=True)}


def naive_sentence(model, source, target, affiliated):
    """The ln p of each word of a translation and of its `</s>`."""
    found = []
    for j, word in enumerate([*target.split(), "</s>"]):
        ln_p = naive_ln_p(model, naive_context(model.numbering, source, target, affiliated, j))
        found.append(ln_p.get(word, ln_p["<unknown>"]))
    return found
