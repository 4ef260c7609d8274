"""Words one edit away: a letter more, less or other, or two neighbours exchanged (Damerau 1964)."""

from __future__ import annotations

from string import ascii_lowercase


def one_edit_away(word: str) -> list[str]:
    """All strings of a-z one edit away from a word, sorted, itself left out: some 54 for each letter.

    >>> len(one_edit_away("a")), one_edit_away("at")[:3]
    (76, ['a', 'aa', 'aat'])
    """
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    found = {left + right[1:] for left, right in splits if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase}
    found |= {left + letter + right for left, right in splits for letter in ascii_lowercase}
    return sorted(found - {word, ""})
