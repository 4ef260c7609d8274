"""The forms of English nouns and verbs that a text attests, found by endings.

A word b has the paradigm {b, b+s, b+ed, b+ing} (spelt as English does: tries, tried, stopped, making) where b and
b+s (of a noun), or all four (of a verb), are in the text; irregular forms come from a list. Words are counted in lower
case. Without a dictionary some pairs are false (new, news); tags of the words, where given, keep most of them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rerank_plugins.models.noise.irregular import NOUNS, VERBS, rows

NOUN, VERB = "NOUN", "VERB"
VOWELS = "aeiou"
RARE = 2  # forms seen less often are not attested


def s_form(base: str) -> str:
    """The plural of a noun, or third person of a verb.

    >>> [s_form(base) for base in ("cat", "try", "play", "wish")]
    ['cats', 'tries', 'plays', 'wishes']
    """
    if base.endswith("y") and base[-2:-1] not in VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")


def suffixed(base: str, ending: str) -> tuple[str, ...]:
    """How a base may be spelt before `ed` or `ing`.

    >>> suffixed("stop", "ed"), suffixed("make", "ing"), suffixed("try", "ed")
    (('stoped', 'stopped'), ('making',), ('tried',))
    """
    if base.endswith("e"):
        kept = (
            base + "d" if ending == "ed" else base + "ing" if base.endswith(("ee", "oe", "ye")) else base[:-1] + "ing"
        )
        return (base[:-2] + "ying",) if ending == "ing" and base.endswith("ie") else (kept,)
    if base.endswith("y") and base[-2:-1] not in VOWELS and ending == "ed":
        return (base[:-1] + "ied",)
    doubled = len(base) > 2 and base[-1] not in VOWELS + "wxy" and base[-2] in VOWELS and base[-3] not in VOWELS
    return (base + ending, base + base[-1] + ending) if doubled else (base + ending,)


@dataclass(frozen=True)
class WordForms:
    """How often a text has each word, in lower case, and what follows of it."""

    counts: Counter[str]

    @classmethod
    def of_text(cls, sentences: Iterable[Sequence[str]]) -> WordForms:
        """From tokenised sentences."""
        return cls(Counter(word.lower() for sentence in sentences for word in sentence if word.isalpha()))

    def attested(self, word: str) -> bool:
        """Whether the text has the word (in any case) at least RARE times."""
        return self.counts[word] >= RARE

    @cached_property
    def third_person(self) -> dict[str, str]:
        """Third person singular of each verb, by its base."""
        return {forms[0]: forms[1] for forms in self._verbs}

    @cached_property
    def base(self) -> dict[str, str]:
        """Base of each verb, by its third person singular."""
        return {third: base for base, third in self.third_person.items()}

    @cached_property
    def plural(self) -> dict[str, str]:
        """Plural of each noun, by its singular."""
        pairs = {row[0]: row[1] for row in rows(NOUNS)}
        irregular = {*pairs, *pairs.values()}
        pairs |= {word: s_form(word) for word in self._bases if word not in irregular}
        return {one: many for one, many in pairs.items() if self.attested(one) and self.attested(many)}

    @cached_property
    def singular(self) -> dict[str, str]:
        """Singular of each noun, by its plural."""
        return {many: one for one, many in self.plural.items()}

    def other_number(self, word: str) -> str | None:
        """A noun's plural, or singular; None where the text has not both."""
        return self.singular.get(word) or self.plural.get(word)

    def others(self, word: str, tag: str | None = None) -> tuple[str, ...]:
        """Other attested forms of a lower-case word, sorted: of its number as a noun, of its paradigm as a verb.

        `tag` is its UPOS; None: unknown, both are taken.
        """
        found: set[str] = set()
        if tag in (None, NOUN):
            found.add(self.other_number(word) or word)
        if tag in (None, VERB):
            found.update(*self._by_form.get(word, ()))
        return tuple(sorted(found - {word}))

    @cached_property
    def _bases(self) -> list[str]:
        return sorted(word for word in self.counts if len(word) > 2 and word.isascii() and self.attested(word))

    @cached_property
    def _verbs(self) -> list[tuple[str, ...]]:
        """Attested forms of each verb, its base first, then the third person."""
        irregular = rows(VERBS)
        taken = {form for forms in irregular for form in forms}
        both = [forms for forms in irregular if self.attested(forms[0]) and self.attested(forms[1])]
        found = [tuple(form for form in forms if self.attested(form)) for forms in both]
        for base in self._bases:
            if base in taken:
                continue
            past = next(filter(self.attested, suffixed(base, "ed")), "")
            present = next(filter(self.attested, suffixed(base, "ing")), "")
            third = s_form(base)
            if past and present and self.attested(third):
                found.append((base, third, past, present))
        return found

    @cached_property
    def _by_form(self) -> dict[str, list[tuple[str, ...]]]:
        by_form: dict[str, list[tuple[str, ...]]] = {}
        for forms in self._verbs:
            for form in forms:
                by_form.setdefault(form, []).append(forms)
        return by_form
