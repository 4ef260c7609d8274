"""Counts determiners and numerals in positions that exclude them.

Existential `there` needs a weak determiner: `there is each book` is out (Milsark 1974; Barwise and Cooper 1981).
Superlative numerals, `at least three` and `at most three`, do not stand in the scope of negation (Geurts and Nouwen
2007). A noun may be left out after a numeral or quantifier but not after an adjective: `he has two`, but not
`he has two old` (Jackendoff 1971; Lobeck 1995).
"""

from __future__ import annotations

from rerank_plugins.english.closed_classes import PLURAL_DETERMINERS, STRONG
from rerank_plugins.english.tree_view import BE, TreeView

WINDOW = 6  # words between `there` and the form of be
NEGATIVE = frozenset(["no", "not", "n't", "never", "nobody", "none", "nothing", "hardly", "few", "neither"])
QUANTIFIERS = (PLURAL_DETERMINERS - {"these", "those", "both"}) | {"some", "one", "more", "fewer", "another"}


def strong_existentials(view: TreeView) -> int:
    """The number of existential sentences whose noun has a strong determiner."""
    return sum(_strong(view, i) for i, word in enumerate(view.words) if word == "there")


def existential_be(view: TreeView, there: int) -> int | None:
    """The form of `be` that follows `there`, with only verbs, adjectives and adverbs between them; None without one."""
    last = None
    for i in range(there + 1, min(there + 1 + WINDOW, len(view))):
        if view.words[i] in BE:
            last = i
            if view.words[i + 1 : i + 2] and view.words[i + 1] not in BE and view.tags[i + 1] != "ADJ":
                return i
        elif view.tags[i] not in ("VERB", "AUX", "PART", "ADV", "ADJ"):
            return last
    return last


def _strong(view: TreeView, there: int) -> bool:
    be = existential_be(view, there)
    if be is None:
        inverted = there > 0 and view.words[there - 1] in BE
        if not inverted:
            return False
        be = there
    rest = [i for i in range(be + 1, len(view)) if view.words[i] not in ("not", "n't", "also", "now")][:1]
    return bool(rest) and view.words[rest[0]] in STRONG and view.tags[rest[0]] in ("DET", "ADJ", "PRON", "ADV")


def negated_superlatives(view: TreeView) -> int:
    """The number of numerals with `at least` or `at most` that follow a negation in their clause."""
    return sum(
        view.words[i - 1] == "at"
        and any(view.tags[k] == "NUM" or view.words[k] in QUANTIFIERS for k in (i + 1, i + 2) if k < len(view))
        and any(word in NEGATIVE for word in view.words[: i - 1])
        and not {",", ";", ":"} & set(view.words[: i - 1])
        for i in range(1, len(view))
        if view.words[i] in ("least", "most")
    )


def adjectives_without_noun(view: TreeView) -> int:
    """The number of adjectives that follow a numeral or quantifier with no noun after them."""
    return sum(
        view.tags[i] == "ADJ"
        and view.words[i] not in QUANTIFIERS | {"other", "such", "own", "due", "available", "enough"}
        and view.words[i - 1] in QUANTIFIERS
        and view.tags[i - 1] in ("DET", "NUM", "ADJ", "PRON")
        and (i + 1 == len(view) or view.tags[i + 1] in ("PUNCT", "CCONJ", "SCONJ"))
        and any(tag in ("NOUN", "PROPN") for tag in view.tags[: i - 1])
        for i in range(1, len(view))
    )
