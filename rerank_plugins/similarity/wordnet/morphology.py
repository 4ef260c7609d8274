"""Finds the base forms of an inflected word (morph(7WN)), by the exceptions of the database or by endings.

Candidates are the word itself, its exceptions and, if it has none, the forms in which an ending is replaced by another;
those that are lemmas of the part of speech in the database are base forms. In nouns in `ful`, the ending before `ful`
is replaced (boxesful). All endings that apply are tried, whereas WordNet's own tools stop at the first.
"""

from __future__ import annotations

from rerank_plugins.similarity.wordnet.database import PARTS, Database

ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"),
        ("men", "man"), ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}  # fmt: skip


def lemmas(word: str, part: int, database: Database) -> tuple[str, ...]:
    """The lemmas of a part of speech (an index of PARTS) of which the lower-case word may be a form."""
    known, irregular = database.senses[part], database.exceptions[part].get(word, ())
    forms, noun = [word, *irregular], PARTS[part] == "noun"
    front, ful = (word[:-3], "ful") if noun and word.endswith("ful") else (word, "")
    if not irregular and not (noun and (front.endswith("ss") or len(front) <= 2)):
        forms += [front.removesuffix(old) + new + ful for old, new in ENDINGS[PARTS[part]] if front.endswith(old)]
    return tuple(dict.fromkeys(form for form in forms if form in known))
