"""Makes the worlds, directives and lists of example_nbest/referential again: `python
example_nbest/referential/make.py`.

The same bytes each time. The noise is drawn here, once, before any system sees it.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from .channel import Channel
from .directives import ONE_PATH, TWO_PATHS, directives
from .ontology import LARGE, SMALL, Arc, small_world, world, write_csv
from .pronunciation import Phones, pronunciations
from .recogniser import Recogniser

NOISE = 1  # the seed of the channel
LEVEL, N = 0.3, 100  # of the lists that come with the project


class Heard(NamedTuple):
    """A directive, and its phones as they were heard."""

    text: str
    phones: Phones


def heard(texts: Iterable[str], level: float) -> list[Heard]:
    """What is heard of some directives at a level of noise."""
    rng, channel, known = random.Random(NOISE), Channel(level), pronunciations()
    return [Heard(text, channel.hear(sum((known[word] for word in text.split()), ()), rng)) for text in texts]


def vocabulary(arcs: Iterable[Arc]) -> list[str]:
    """The words of a world and of its directives."""
    return sorted({word for arc in arcs for word in arc.label.split()} | {*ONE_PATH, *TWO_PATHS, "to"})


def moses_lines(utterances: Iterable[Heard], recogniser: Recogniser, n: int) -> Iterator[str]:
    """N-best lists in the format of Moses, with ln P(heard | text) and the number of words as features."""
    for number, (_, phones) in enumerate(utterances):
        for text, ln_p in recogniser.nbest(recogniser.arcs(phones), len(phones), n):
            words = len(text.split())
            total = ln_p + words * recogniser.word_penalty
            yield f"{number} ||| {text} ||| Acoustic= {ln_p:.4f} Words= {-words} ||| {total:.4f}\n"


def main(folder: Path) -> None:
    """Write all files into the folder."""
    for name in ("worlds", "lists"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    arcs = small_world()
    write_csv(arcs, folder / "worlds" / f"students-{sum(SMALL[:2])}.csv")
    write_csv(world(LARGE), folder / "worlds" / f"students-{sum(LARGE[:2])}.csv")
    utterances = heard(directives(arcs), LEVEL)
    recogniser = Recogniser(vocabulary(arcs), Channel(LEVEL))
    half = len(utterances) // 2
    for name, part in (("tune", utterances[:half]), ("test", utterances[half:])):
        lines = "".join(moses_lines(part, recogniser, N)).encode()
        (folder / "lists" / f"{name}.nbest.gz").write_bytes(gzip.compress(lines, mtime=0))
        texts = "\n".join(text for text, _ in part) + "\n"
        (folder / "lists" / f"{name}.ref").write_text(texts, encoding="utf-8")
