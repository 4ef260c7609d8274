"""Named entities recognised by their capital letters alone, without a list of names.

An entity is a longest run of tokens that begin with a capital letter. The first word of a sentence on its own is not an
entity. Words such as `of`, `the` and `and` may stand inside a run (Bank of England). A sentence in which every word has
a capital, as in some headlines, or none has, contains no entities.
"""

from __future__ import annotations

from collections.abc import Sequence

INSIDE = {"of", "the", "and", "de", "la", "von", "van", "for", "'s", "&"}


def named_entities(tokens: Sequence[str]) -> tuple[str, ...]:
    """The entities of a tokenised sentence in lower case, in the order of the sentence, each listed once."""
    words = [token for token in tokens if token[:1].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    if not words or capitals == 0 or (capitals == len(words) and len(words) > 3):
        return ()
    entities: list[str] = []
    run: list[int] = []  # positions of the tokens in the current run
    for i, token in enumerate([*tokens, ""]):
        if token[:1].isupper() or (run and token.lower() in INSIDE and i + 1 < len(tokens)):
            run.append(i)
            continue
        while run and not tokens[run[-1]][0].isupper():
            run.pop()
        if run and run != [0]:
            entities.append(" ".join(tokens[j] for j in run).lower())
        run = []
    return tuple(dict.fromkeys(entities))
