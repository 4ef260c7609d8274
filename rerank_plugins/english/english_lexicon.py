"""The English lexicon of the grammar rules: forms of verbs and nouns, frames, gender and animacy.

It is read from the embedded table that resources/en/build_grammar_lexicon.py makes of parsed text: verbs with their
five forms and the counts of their frames, nouns with their number and the counts of what refers back to them
(frame_counts.py). By these counts, sentences have the scores

    frames      Σ ln P(frame | verb): transitive, intransitive, clausal or passive; the object may be a gap
    animacy     Σ ln P(animate or inanimate | verb, role) over subjects and objects whose noun is known as either
    bare_nouns  Σ ln P(no determiner | noun) over singular nouns without a determiner

Frames are those of subcategorisation (Chomsky 1965; Brent 1993), animacy is the simplest selectional preference (Resnik
1996).
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import log

from rerank_plugins.english.frame_counts import DETERMINING, NOUN_COUNTS, PERSONS, VERB_COUNTS
from rerank_plugins.english.tree_view import TreeView
from rerank_plugins.english.word_forms import INVARIANT, VerbForms
from rerank_plugins.english.word_lists import (
    EITHER,
    FEMALE_NAMES,
    FEMININE_NOUNS,
    INDEFINITE,
    MALE_NAMES,
    MASCULINE_NOUNS,
    PERSONAL,
)
from rerank_plugins.kit.files.languages import embedded

EMBEDDED = embedded("grammar-lexicon.tsv.xz")
SMOOTHING = 2.0  # occurrences of an average verb that are added to the frames of each verb
CERTAIN = 0.9  # proportion of one gender from which a noun has this gender
REFERENCES = 3  # the minimum number of counts from which a noun has a gender
FRAMES = VERB_COUNTS[:4]
AUXILIARY = frozenset(["be", "have", "do", "get"])
BARE_SMOOTHING = 4.0
BARE_AVERAGE = 0.4


@dataclass(frozen=True)
class Noun:
    """A noun: `number` is `s`, `p` or `-` (unknown), `other` its other number, or "", `animacy` `a`, `i` or `-`."""

    number: str
    other: str
    animacy: str
    counts: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Verbs by their base forms, with VERB_COUNTS; nouns in lower case, and names with a capital letter."""

    verbs: Mapping[str, VerbForms]
    frames: Mapping[str, Mapping[str, int]]
    nouns: Mapping[str, Noun]

    @classmethod
    def of_rows(cls, lines: Iterable[str]) -> Lexicon:
        """The lexicon of the lines of a table."""
        verbs, frames, nouns = {}, {}, {}
        for line in lines:
            kind, word, *cells = line.rstrip("\n").split("\t")
            if kind == "verb":
                verbs[word] = VerbForms(word, *cells[:4])
                frames[word] = dict(zip(VERB_COUNTS, map(int, cells[4:]), strict=True))
            else:
                number, other, animacy, *counts = cells
                nouns[word] = Noun(number, other, animacy, dict(zip(NOUN_COUNTS, map(int, counts), strict=True)))
        return cls(verbs, frames, nouns)

    @cached_property
    def by_form(self) -> dict[str, VerbForms]:
        """The verb of each form; of several verbs the most frequent one."""
        forms: dict[str, VerbForms] = {}
        for verb in sorted(self.verbs.values(), key=lambda verb: sum(self.frames[verb.base].values())):
            forms |= dict.fromkeys(verb, verb)
        return forms

    def base(self, word: str) -> str | None:
        """The base form of a verb, or None for a word that is no known verb."""
        verb = self.by_form.get(word)
        return verb.base if verb else None

    def slots(self, word: str) -> frozenset[str]:
        """Which forms of its verb a word is: names of the fields of VerbForms; empty for an unknown word."""
        return frozenset(self._slots.get(word, ()))

    @cached_property
    def _slots(self) -> dict[str, set[str]]:
        slots: dict[str, set[str]] = {}
        for verb in self.verbs.values():
            for slot, form in verb._asdict().items():
                slots.setdefault(form, set()).add(slot)
        return slots

    def noun_number(self, word: str) -> str:
        """`s` or `p` for the number of a common noun, `-` where it is unknown."""
        if word in INVARIANT:
            return "-"
        noun = self.nouns.get(word)
        if noun is not None:
            return noun.number
        return "-" if word.endswith("s") else "s"

    def other_number(self, word: str) -> str | None:
        """The other number of a common noun, or None."""
        noun = self.nouns.get(word)
        return (noun.other or None) if noun else None

    def gender(self, word: str, *, name: bool) -> str:
        """`m`, `f` or `n` for a noun or name in lower case; `-` where it is unknown or may be several."""
        if name and word in EITHER:
            return "-"
        if name and word in MALE_NAMES | FEMALE_NAMES:
            return "m" if word in MALE_NAMES else "f"
        if not name and (gendered := self._gendered(word)):
            return gendered
        noun = self.nouns.get(word.capitalize() if name else word)
        if noun is None:
            return "-"
        counts = {gender: noun.counts[key] for gender, key in (("m", "he"), ("f", "she"), ("n", "it"))}
        gender, count = max(counts.items(), key=lambda entry: entry[1])
        certain = count >= REFERENCES and count >= CERTAIN * sum(counts.values())
        return gender if certain and (gender != "n" or self.animate(word, name=name) is False) else "-"

    def animate(self, word: str, *, name: bool = False) -> bool | None:
        """Whether a noun, name or pronoun in lower case denotes people; None where it is unknown."""
        if name and word in MALE_NAMES | FEMALE_NAMES:
            return True
        noun = self.nouns.get(word.capitalize() if name else word)
        if noun is None or noun.animacy == "-":
            return True if word in PERSONS or self._gendered(word) else None
        return noun.animacy == "a"

    def _gendered(self, word: str) -> str | None:
        """`m` or `f` for a noun that denotes men or women alone, in either number."""
        for form in (word, self.other_number(word)):
            if form in MASCULINE_NOUNS or form in FEMININE_NOUNS:
                return "m" if form in MASCULINE_NOUNS else "f"
        return None

    @cached_property
    def _average(self) -> dict[str, float]:
        totals = {frame: sum(counts[frame] for counts in self.frames.values()) + 1 for frame in VERB_COUNTS}
        return {key: total / sum(totals[frame] for frame in FRAMES) for key, total in totals.items()}

    def frame_proportion(self, base: str, frame: str) -> float:
        """The proportion of a frame (`transitive`, …) in the occurrences of a verb, smoothed with that of all verbs."""
        counts = self.frames.get(base, {})
        total = sum(counts.get(key, 0) for key in FRAMES)
        return (counts.get(frame, 0) + SMOOTHING * self._average[frame]) / (total + SMOOTHING)

    def with_object(self, base: str) -> float:
        """The proportion of a verb's occurrences that have an object or are passive."""
        return self.frame_proportion(base, "transitive") + self.frame_proportion(base, "passive")

    def count(self, base: str) -> int:
        """How often a verb was counted in any frame."""
        return sum(self.frames.get(base, {}).get(frame, 0) for frame in FRAMES)

    def verbs_of_frames(self, frames: Sequence[str], least: float, frequent: int) -> tuple[VerbForms, ...]:
        """The verbs of at least `frequent` occurrences of which these frames are at least this proportion, by base."""
        counts = ((verb, self.count(base)) for base, verb in sorted(self.verbs.items()))
        kept = (verb for verb, count in counts if count >= frequent and verb.base not in AUXILIARY)
        return tuple(verb for verb in kept if sum(self.frame_proportion(verb.base, frame) for frame in frames) >= least)

    def animate_proportion(self, base: str, role: str) -> float:
        """The proportion of animate ones among the subjects or objects (`role`) of a verb, smoothed like frames."""
        animate, inanimate = (f"{role}_{kind}" for kind in ("animate", "inanimate"))
        average = self._average[animate] / (self._average[animate] + self._average[inanimate])
        counts = self.frames.get(base, {})
        seen = counts.get(animate, 0) + counts.get(inanimate, 0)
        return (counts.get(animate, 0) + SMOOTHING * average) / (seen + SMOOTHING)


@cache
def english() -> Lexicon:
    """The embedded lexicon, read once (0.1 s)."""
    with lzma.open(EMBEDDED, "rt", encoding="utf-8") as lines:
        return Lexicon.of_rows(lines)


def frames(view: TreeView, lexicon: Lexicon, gaps: set[int]) -> float:
    """Σ ln P(frame | verb) over the known verbs of a sentence; the verbs in `gaps` have a gap for their object."""
    total = 0.0
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        frame = frame_of(view, verb, gaps)
        if base is not None and frame is not None:
            total += log(lexicon.frame_proportion(base, frame))
    return total


def frame_of(view: TreeView, verb: int, gaps: set[int]) -> str | None:
    """The frame in which a verb stands; None for a participle after a noun, and where two verbs may have one object."""
    if view.is_passive(verb):
        return "passive"
    if view.relations[verb] == "acl" and view.subject(verb) is None and not view.is_infinitive(verb):
        return None
    if view.first(verb, "ccomp", "xcomp") is not None:
        return "clausal"
    if verb in gaps or view.first(verb, "obj") is not None:
        return "transitive"
    shared = [i for i in view.dependents(verb, "conj") if view.tags[i] == "VERB" and i <= verb + 3]
    return None if shared else "intransitive"


def animacy(view: TreeView, lexicon: Lexicon) -> float:
    """Σ ln P(animacy | verb, role) over the subjects and objects of a sentence whose animacy is known."""
    total = 0.0
    for verb in view.verbs:
        base = lexicon.base(view.words[verb])
        if base is None:
            continue
        passive = view.is_passive(verb)
        subjects = view.dependents(verb, "nsubj")
        agents = [i for i in view.dependents(verb, "obl") if any(view.words[c] == "by" for c in view.children[i])]
        roles = {
            "object": subjects if passive else view.dependents(verb, "obj"),
            "subject": agents if passive else subjects,
        }
        for role, words in roles.items():
            for word in words:
                animate = animacy_of(view, lexicon, word)
                if animate is not None:
                    proportion = lexicon.animate_proportion(base, role)
                    total += log(proportion if animate else 1 - proportion)
    return total


def animacy_of(view: TreeView, lexicon: Lexicon, word: int) -> bool | None:
    """Whether a noun or pronoun of a sentence is animate; None where it is unknown."""
    form = view.words[word]
    if view.tags[word] == "PRON" or form in PERSONAL or form in INDEFINITE:
        return True if form in PERSONS else None
    if view.tags[word] not in ("NOUN", "PROPN"):
        return None
    animate = lexicon.animate(form, name=view.tags[word] == "PROPN")
    if animate is None and lexicon.noun_number(form) == "p":
        return lexicon.animate(lexicon.other_number(form) or form)
    return animate


def bare_nouns(view: TreeView, lexicon: Lexicon) -> float:
    """Σ ln P(no determiner | noun) over the singular common nouns that have none."""
    total = 0.0
    for i, tag in enumerate(view.tags):
        if (
            tag != "NOUN"
            or view.relations[i] in ("compound", "fixed", "flat")
            or lexicon.noun_number(view.words[i]) != "s"
        ):
            continue
        noun = lexicon.nouns.get(view.words[i])
        if noun is None or view.first(i, *DETERMINING) is not None or view.first(i, "compound") is not None:
            continue
        bare, seen = noun.counts["bare"], noun.counts["bare"] + noun.counts["determined"]
        total += log((bare + BARE_SMOOTHING * BARE_AVERAGE) / (seen + BARE_SMOOTHING))
    return total
