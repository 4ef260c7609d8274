"""The forms of English nouns and verbs that a text attests, recognised by their endings.

A word b has the paradigm {b, b+s, b+ed, b+ing}, in English spelling (tries, tried, stopped, making), if the text
contains b and b+s (for a noun) or all four forms (for a verb); irregular forms come from a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rerank_plugins.kit.vocabulary.irregular_forms import IRREGULAR_NOUNS, IRREGULAR_VERBS

NOUN, VERB = "NOUN", "VERB"
VOWELS = "aeiou"
MIN_FORM_COUNT = 2  # the minimum count of an attested form


def s_form(base: str) -> str:
    """The plural of a noun, or the third person singular of a verb.

    >>> [s_form(base) for base in ("cat", "try", "play", "wish")]
    ['cats', 'tries', 'plays', 'wishes']
    """
    if base.endswith("y") and base[-2:-1] not in VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh")) else "s")


def suffixed(base: str, ending: str) -> tuple[str, ...]:
    """The possible spellings of a base with the ending `ed` or `ing`.

    >>> suffixed("stop", "ed"), suffixed("make", "ing"), suffixed("try", "ed")
    (('stoped', 'stopped'), ('making',), ('tried',))
    """
    if base.endswith("e"):
        regular = (
            base + "d" if ending == "ed" else base + "ing" if base.endswith(("ee", "oe", "ye")) else base[:-1] + "ing"
        )
        return (base[:-2] + "ying",) if ending == "ing" and base.endswith("ie") else (regular,)
    if base.endswith("y") and base[-2:-1] not in VOWELS and ending == "ed":
        return (base[:-1] + "ied",)
    doubled = len(base) > 2 and base[-1] not in VOWELS + "wxy" and base[-2] in VOWELS and base[-3] not in VOWELS
    return (base + ending, base + base[-1] + ending) if doubled else (base + ending,)


@dataclass(frozen=True)
class WordForms:
    """The counts of the lower-case words of a text, and the paradigms that follow from them."""

    counts: Counter[str]

    @classmethod
    def of_text(cls, sentences: Iterable[Sequence[str]]) -> WordForms:
        """Count the words of tokenised sentences."""
        return cls(Counter(word.lower() for sentence in sentences for word in sentence if word.isalpha()))

    def attested(self, word: str) -> bool:
        """Whether the text contains the lower-case word, in any case, at least MIN_FORM_COUNT times."""
        return self.counts[word] >= MIN_FORM_COUNT

    @cached_property
    def third_person(self) -> dict[str, str]:
        """The third person singular of each verb, by its base."""
        return {forms[0]: forms[1] for forms in self._verbs}

    @cached_property
    def base(self) -> dict[str, str]:
        """The base of each verb, by its third person singular."""
        return {third: base for base, third in self.third_person.items()}

    @cached_property
    def plural(self) -> dict[str, str]:
        """The plural of each noun, by its singular."""
        pairs = {row[0]: row[1] for row in IRREGULAR_NOUNS}
        irregular = {*pairs, *pairs.values()}
        pairs |= {word: s_form(word) for word in self._bases if word not in irregular}
        return {one: many for one, many in pairs.items() if self.attested(one) and self.attested(many)}

    @cached_property
    def singular(self) -> dict[str, str]:
        """The singular of each noun, by its plural."""
        return {many: one for one, many in self.plural.items()}

    def other_number(self, word: str) -> str | None:
        """The plural or singular of a noun; None unless the text attests both."""
        return self.singular.get(word) or self.plural.get(word)

    def others(self, word: str, tag: str | None = None) -> tuple[str, ...]:
        """The other attested forms of a lower-case word, sorted: its other number as a noun, its paradigm as a verb.

        `tag` is its UPOS tag; if it is None, the forms as noun and as verb are returned.
        """
        forms: set[str] = set()
        if tag in (None, NOUN):
            forms.add(self.other_number(word) or word)
        if tag in (None, VERB):
            forms.update(*self._by_form.get(word, ()))
        return tuple(sorted(forms - {word}))

    @cached_property
    def _bases(self) -> list[str]:
        return sorted(word for word in self.counts if len(word) > 2 and word.isascii() and self.attested(word))

    @cached_property
    def _verbs(self) -> list[tuple[str, ...]]:
        """The attested forms of each verb: its base first, then its third person singular."""
        irregular = IRREGULAR_VERBS
        irregular_forms = {form for forms in irregular for form in forms}
        known = [forms for forms in irregular if self.attested(forms[0]) and self.attested(forms[1])]
        paradigms = [tuple(form for form in forms if self.attested(form)) for forms in known]
        for base in self._bases:
            if base in irregular_forms:
                continue
            past = next(filter(self.attested, suffixed(base, "ed")), "")
            present = next(filter(self.attested, suffixed(base, "ing")), "")
            third = s_form(base)
            if past and present and self.attested(third):
                paradigms.append((base, third, past, present))
        return paradigms

    @cached_property
    def _by_form(self) -> dict[str, list[tuple[str, ...]]]:
        by_form: dict[str, list[tuple[str, ...]]] = {}
        for forms in self._verbs:
            for form in forms:
                by_form.setdefault(form, []).append(forms)
        return by_form
