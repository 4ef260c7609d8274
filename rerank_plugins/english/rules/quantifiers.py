"""Rules of negative polarity items and their licensors, and of determiners and numerals in positions that exclude them.

`ever`, `any` and `at all` stand only in the scope of a downward-entailing expression (Fauconnier 1975; Ladusaw 1979): a
licensor precedes the item, and the item stands below the word that the licensor modifies, or, for the determiner of a
subject or object, below the verb. Existential `there` needs a weak determiner (Milsark 1974; Barwise and Cooper 1981).
`at least three` and `at most three` do not stand in the scope of negation (Geurts and Nouwen 2007). A noun may be left
out after a numeral or quantifier but not after an adjective (Jackendoff 1971; Lobeck 1995).
"""

from __future__ import annotations

from rerank_plugins.english.english_lexicon import Lexicon
from rerank_plugins.english.tree_view import BE, CLAUSES, TreeView
from rerank_plugins.english.word_lists import (
    FINITE_AUXILIARIES,
    FREE_CHOICE,
    LICENSORS,
    MODALS,
    PLURAL_DETERMINERS,
    POLARITY,
    STRONG,
)

POSSIBILITY = frozenset(["can", "could", "may", "might"])
RESTRICTION_ONLY = frozenset(["every", "all", "most"])  # they license in their own noun phrase alone
WINDOW = 6  # words between `there` and the form of be
NEGATIVE = frozenset(["no", "not", "n't", "never", "nobody", "none", "nothing", "hardly", "few", "neither"])
QUANTIFIERS = (PLURAL_DETERMINERS - {"these", "those", "both"}) | {"some", "one", "more", "fewer", "another"}


def is_unlicensed(view: TreeView, _lexicon: Lexicon, item: int) -> bool:
    """Whether the word is a negative polarity item outside the scope of every licensor."""
    at_all = view.words[max(item - 1, 0) : item + 1] == ("at", "all") and _at_end(view, item)
    if not at_all and (view.words[item] not in POLARITY or _idiom(view, item)):
        return False
    return not (
        any(in_scope(view, licensor, item) for licensor, word in enumerate(view.words) if word in LICENSORS)
        or question(view, item)
        or comparison(view, item)
        or free_choice(view, item)
    )


def in_scope(view: TreeView, licensor: int, item: int) -> bool:
    """Whether a licensor has scope over a later word."""
    if licensor > item:
        return False
    word, top = view.words[licensor], view.heads[licensor]
    if top < 0:
        return True
    if word not in RESTRICTION_ONLY:
        above = licensor
        while view.relations[above] not in CLAUSES and view.heads[above] >= 0:
            above = view.heads[above]
            if view.relations[above] == "conj" and view.tags[above] in ("VERB", "AUX"):
                break
        top = above
        if view.relations[licensor] == "mark" or view.relations[top] in ("ccomp", "xcomp"):
            top = view.heads[licensor] if view.relations[licensor] == "mark" else top
    return item == top or top in view.ancestors(item)


def question(view: TreeView, item: int) -> bool:
    """Whether a word stands in a question: the sentence ends in `?`, or its clause begins with an auxiliary or if."""
    if "?" in view.words[item:]:
        return True
    first = view.words[0]
    if first in FINITE_AUXILIARIES and not first.startswith("'"):
        return True
    return any(
        view.words[i] in ("whether", "if", "how", "why", "when", "where", "who", "what", "which")
        for above in view.ancestors(item)
        if view.relations[above] in ("ccomp", "advcl")
        for i in view.children[above]
        if i < item and view.relations[i] in ("mark", "advmod", "obj", "nsubj")
    )


def comparison(view: TreeView, item: int) -> bool:
    """Whether a word follows `than` or `as … as`, or modifies a superlative (`the best I have ever seen`)."""
    before = view.words[:item]
    return "than" in before or before.count("as") > 1 or any(word.endswith("est") and len(word) > 5 for word in before)


def free_choice(view: TreeView, item: int) -> bool:
    """Whether an item with `any` stands beside a modal or in an imperative, or is modified by a clause."""
    if view.words[item] not in FREE_CHOICE:
        return False
    noun = item if view.relations[item] != "det" or view.heads[item] < 0 else view.heads[item]
    if view.first(noun, "acl") is not None:
        return True
    predicate = next((above for above in view.ancestors(item) if view.tags[above] in ("VERB", "AUX", "ADJ")), None)
    if predicate is None:
        return False
    modals = {view.words[i] for i in view.auxiliaries(predicate)} & MODALS
    return bool(modals) if item < predicate else bool(modals & POSSIBILITY)


def _at_end(view: TreeView, word: int) -> bool:
    """Whether punctuation or the end of the sentence follows a word."""
    return word + 1 == len(view) or view.tags[word + 1] == "PUNCT"


def _idiom(view: TreeView, item: int) -> bool:
    """Whether the word is part of `ever since`, `ever so`, `for ever`, `as ever`, `in any case` or the like."""
    following = view.words[item + 1] if item + 1 < len(view) else ""
    before = view.words[item - 1] if item else ""
    if view.words[item] == "ever":
        return following in ("since", "so", "after", "more", "-") or before in ("for", "as", "than", "wh", "who", "how")
    return (before, following) in (("in", "case"), ("at", "rate"), ("in", "event"), ("at", "moment"), ("at", "time"))


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


def has_strong_determiner(view: TreeView, _lexicon: Lexicon, there: int) -> bool:
    """Whether the word is the `there` of an existential sentence whose noun has a strong determiner."""
    if view.words[there] != "there":
        return False
    be = existential_be(view, there)
    if be is None:
        inverted = there > 0 and view.words[there - 1] in BE
        if not inverted:
            return False
        be = there
    rest = [i for i in range(be + 1, len(view)) if view.words[i] not in ("not", "n't", "also", "now")][:1]
    return bool(rest) and view.words[rest[0]] in STRONG and view.tags[rest[0]] in ("DET", "ADJ", "PRON", "ADV")


def is_negated_superlative(view: TreeView, _lexicon: Lexicon, i: int) -> bool:
    """Whether the word is the superlative of `at least` or `at most` with a numeral, after a negation in its clause."""
    return (
        view.words[i] in ("least", "most")
        and view.words[i - 1 : i] == ("at",)
        and any(view.tags[k] == "NUM" or view.words[k] in QUANTIFIERS for k in (i + 1, i + 2) if k < len(view))
        and any(word in NEGATIVE for word in view.words[: i - 1])
        and not {",", ";", ":"} & set(view.words[: i - 1])
    )


def lacks_noun(view: TreeView, _lexicon: Lexicon, i: int) -> bool:
    """Whether the word is an adjective that follows a numeral or quantifier with no noun after it."""
    return (
        i > 0
        and view.tags[i] == "ADJ"
        and view.words[i] not in QUANTIFIERS | {"other", "such", "own", "due", "available", "enough"}
        and view.words[i - 1] in QUANTIFIERS
        and view.tags[i - 1] in ("DET", "NUM", "ADJ", "PRON")
        and (i + 1 == len(view) or view.tags[i + 1] in ("PUNCT", "CCONJ", "SCONJ"))
        and any(tag in ("NOUN", "PROPN") for tag in view.tags[: i - 1])
    )
