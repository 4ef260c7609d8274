"""Strings one edit away: a letter inserted, deleted or substituted, or two neighbours transposed (Damerau 1964)."""

from __future__ import annotations

from string import ascii_lowercase


def one_edit_away(word: str) -> list[str]:
    """All strings one edit (with letters a-z) away from a word, sorted, without the word: about 54 per letter.

    >>> len(one_edit_away("a")), one_edit_away("at")[:3]
    (76, ['a', 'aa', 'aat'])
    """
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    strings = {left + right[1:] for left, right in splits if right}
    strings |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    strings |= {left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase}
    strings |= {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return sorted(strings - {word, ""})
