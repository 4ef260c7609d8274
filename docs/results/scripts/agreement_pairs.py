r"""Print minimal pairs of English subject–verb agreement in fifteen constructions, made by templates.

Each line has the good sentence, the bad one and the construction, separated by tabs, as `rerank acceptability pairs`
reads them. The constructions are those of Marvin and Linzen (2018); nouns, verbs and attributes are ours. Sentences are
drawn by --seed, the two numbers of each subject equally often, with a noun of the other number between the subject and
its verb wherever the construction has one.

\b
    python -m docs.results.scripts.agreement_pairs --each 100 --seed 1 > agreement.tsv
    rerank acceptability pairs agreement.tsv -f hhmm-lm --by construction
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import click

from docs.results.scripts.experiment import experiment

SUBJECTS = "author/authors doctor/doctors teacher/teachers farmer/farmers officer/officers lawyer/lawyers"
OTHERS = "friend/friends minister/ministers child/children woman/women student/students guard/guards"
THINGS = "book/books house/houses picture/pictures letter/letters song/songs garden/gardens"
INTRANSITIVE = "laughs/laugh smiles/smile sleeps/sleep works/work waits/wait sings/sing"
TRANSITIVE = "likes/like knows/know sees/see admires/admire visits/visit helps/help"
COPULAS = "is old/are old|is young/are young|is happy/are happy|is tall/are tall"
THING_COPULAS = "is good/are good|is new/are new|is popular/are popular|is small/are small"
PREPOSITIONS = "near|behind|next to|in front of"
LONG = (
    "enjoys music in the evening/enjoy music in the evening|writes in a journal every day/write in a journal every day"
)
LONG_TOO = "is twenty years old/are twenty years old|likes to watch television/like to watch television"
SAID = "said that|thought that|knew that"


class Forms(NamedTuple):
    """A noun or verb in the singular and in the plural."""

    singular: str
    plural: str

    def of(self, plural: bool) -> str:
        """The form of a number."""
        return self.plural if plural else self.singular


def forms(text: str, separator: str = " ") -> list[Forms]:
    """The words of a list."""
    return [Forms(*word.split("/")) for word in text.split(separator)]


class Draw:
    """Draws the words of a sentence whose subject has a given number; nouns that distract have the other one."""

    def __init__(self, generator: random.Random, plural: bool) -> None:
        self._random, self.plural = generator, plural

    def noun(self, words: str = SUBJECTS, *, other: bool = False) -> str:
        """A noun with its article."""
        return f"the {self._random.choice(forms(words)).of(self.plural != other)}"

    def verbs(self, words: str = "", *, other: bool = False) -> Forms:
        """The verb that agrees, and the one that does not."""
        listed = forms(words) if words and "|" not in words else forms(words, "|") if words else self._predicates()
        verb = self._random.choice(listed)
        return Forms(verb.of(self.plural != other), verb.of(self.plural == other))

    def text(self, words: str) -> str:
        """One of several texts."""
        return self._random.choice(words.split("|"))

    def _predicates(self) -> list[Forms]:
        return forms(COPULAS, "|") if self._random.random() < 0.5 else forms(INTRANSITIVE)


Pair = tuple[str, str]


def ending(start: str, verb: Forms, end: str = "") -> Pair:
    """A good and a bad sentence with the same beginning and end."""
    return f"{start} {verb[0]}{end}", f"{start} {verb[1]}{end}"


def across_object_relative(that: str, subjects: str, predicates: str) -> Callable[[Draw], Pair]:
    """The verb of a subject whose relative clause has a subject of the other number."""

    def pair(draw: Draw) -> Pair:
        verb = draw.verbs(TRANSITIVE, other=True)[0]
        start = f"{draw.noun(subjects)}{that} {draw.noun(OTHERS, other=True)} {verb}"
        return ending(start, draw.verbs(predicates))

    return pair


def within_object_relative(that: str, subjects: str, predicates: str) -> Callable[[Draw], Pair]:
    """The verb of a relative clause, whose subject has another number than the noun before it."""

    def pair(draw: Draw) -> Pair:
        noun, relative = draw.noun(subjects, other=True), f"{that} {draw.noun(OTHERS)}"
        return ending(noun + relative, draw.verbs(TRANSITIVE), f" {draw.verbs(predicates, other=True)[0]}")

    return pair


def long_coordination(draw: Draw) -> Pair:
    """The second of two long verb phrases."""
    return ending(f"{draw.noun()} {draw.verbs(LONG)[0]} and", draw.verbs(LONG_TOO))


CONSTRUCTIONS: dict[str, Callable[[Draw], Pair]] = {
    "simple": lambda draw: ending(draw.noun(), draw.verbs()),
    "in a complement": lambda draw: ending(
        f"the {draw.text('pilot|captain')} {draw.text(SAID)} {draw.noun()}", draw.verbs()
    ),
    "coordination": lambda draw: ending(f"{draw.noun()} {draw.verbs(INTRANSITIVE)[0]} and", draw.verbs()),
    "long coordination": long_coordination,
    "across a PP, animate": lambda draw: ending(
        f"{draw.noun()} {draw.text(PREPOSITIONS)} {draw.noun(OTHERS, other=True)}", draw.verbs()
    ),
    "across a PP, inanimate": lambda draw: ending(
        f"{draw.noun(THINGS)} {draw.text('from|by|of')} {draw.noun(OTHERS, other=True)}", draw.verbs(THING_COPULAS)
    ),
    "across a subject relative": lambda draw: ending(
        f"{draw.noun()} that {draw.verbs(TRANSITIVE)[0]} {draw.noun(OTHERS, other=True)}", draw.verbs()
    ),
    "within a subject relative": lambda draw: ending(
        f"{draw.noun(OTHERS)} that", draw.verbs(TRANSITIVE), f" {draw.noun(other=True)} {draw.verbs()[0]}"
    ),
    "across an object relative": across_object_relative(" that", SUBJECTS, ""),
    "across an object relative, inanimate": across_object_relative(" that", THINGS, THING_COPULAS),
    "across an object relative without that": across_object_relative("", SUBJECTS, ""),
    "within an object relative": within_object_relative(" that", SUBJECTS, ""),
    "within an object relative, inanimate": within_object_relative(" that", THINGS, THING_COPULAS),
    "within an object relative without that": within_object_relative("", SUBJECTS, ""),
    "with an adverb": lambda draw: ending(f"{draw.noun()} {draw.text('often|always|never')}", draw.verbs(INTRANSITIVE)),
}  # fmt: skip


def pairs(each: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield the good sentence, the bad one and the construction; distinct pairs only."""
    generator = random.Random(seed)
    for name, make in CONSTRUCTIONS.items():
        known: set[Pair] = set()
        for number in range(50 * each):
            pair = make(Draw(generator, number % 2 == 1))
            if len(known) < each and pair not in known:
                known.add(pair)
                good, bad = (f"{sentence[0].upper()}{sentence[1:]} ." for sentence in pair)
                yield good, bad, name


@experiment("agreement_pairs", __doc__)
@click.option("--each", type=int, default=100, help="Pairs of each construction.")
@click.option("--seed", type=int, default=1, help="Seed of the draws.")
def main(each: int, seed: int) -> None:
    """Print the pairs."""
    print("good\tbad\tconstruction")
    for row in pairs(each, seed):
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
