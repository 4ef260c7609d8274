"""How often the check of content refuses right references, and how often wrong ones: by numbers of segments.

Each set is HYPOTHESES:REFERENCES or HYPOTHESES:REFERENCES:SOURCES, which are n-best lists of any format (their 1-bests
count) or lines, and files of lines. From each set, parts of consecutive segments are drawn. The references of a part are right,
or wrong in one way: shifted by one, shuffled, reversed, with a line lost in the middle and one added at the end, with
the second half shuffled, those of the next segments, or the sources. A cell has the percentage that is an error, and
after a plus sign the percentage that is a warning. With --noise, words of hypotheses are replaced by words of others,
in this proportion, as a very bad system would.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import Listed, counted, experiment
from rerank_adapters import read_nbest
from rerank_adapters.data.content import doubts
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_lines, read_texts
from rerank_plugins import FormatError

WRONG = ("right", "shifted", "shuffled", "reversed", "line lost", "half shuffled", "next segments", "sources")


class Texts(NamedTuple):
    """Hypotheses, references and, where they are known, sources: one of each for each segment."""

    hypotheses: list[str]
    references: list[str]
    sources: list[str] | None


def read_set(named: str) -> Texts:
    """The texts of HYPOTHESES:REFERENCES[:SOURCES]; HYPOTHESES are n-best lists, or lines of plain text."""
    hypotheses, references, *sources = named.split(":")
    try:
        nbests = read_nbest(hypotheses)
        ids, texts = [nbest.segment_id for nbest in nbests], [nbest[0].text for nbest in nbests]
    except FormatError:
        texts = read_lines(Path(hypotheses))
        ids = [str(number) for number in range(len(texts))]
    others = [
        [text for (text,) in for_segments([read_texts(path, "reference")], ids)] for path in (references, *sources)
    ]
    return Texts(texts, others[0], others[1] if sources else None)


def noisy(texts: Sequence[str], noise: float, rng: np.random.Generator) -> list[str]:
    """The texts, with so many of their words replaced by others of them."""
    words = np.array([word for text in texts for word in text.split()])
    replaced = [[str(rng.choice(words)) if rng.random() < noise else word for word in text.split()] for text in texts]
    return [" ".join(text) for text in replaced]


def paired(texts: Texts, start: int, size: int, rng: np.random.Generator) -> dict[str, list[str]]:
    """By what is wrong with them, the references of the segments from `start` on."""
    right = texts.references[start : start + size]
    of = {"right": right}
    if size > 1:
        middle = size // 2
        shuffled, half = ([lines[place] for place in rng.permutation(len(lines))] for lines in (right, right[middle:]))
        of |= {"shifted": [*right[1:], right[0]], "shuffled": shuffled, "reversed": right[::-1]}
        of |= {"line lost": [*right[:middle], *right[middle + 1 :], "the end"], "half shuffled": right[:middle] + half}
    following = texts.references[start + size : start + 2 * size]
    if len(following) == size:
        of["next segments"] = following
    if texts.sources is not None:
        of["sources"] = texts.sources[start : start + size]
    return of


@experiment("content_table", __doc__)
@click.argument("sets", nargs=-1, required=True, metavar="HYPOTHESES:REFERENCES[:SOURCES]...")
@click.option("--sizes", type=Listed(int), default="1,2,5,10,20,50,100,500", help="Segments of a part.")
@click.option("--parts", type=click.IntRange(1), default=3, help="Parts that are drawn of each set for each size.")
@click.option("--noise", type=click.FloatRange(0, 1), default=0.0, help="Replace this proportion of words.")
@click.option("--seed", type=click.IntRange(0), default=1, help="The seed of what is drawn.")
def main(sets: tuple[str, ...], sizes: tuple[int, ...], parts: int, noise: float, seed: int) -> None:
    """Print a row for each size."""
    rng = np.random.default_rng(seed)
    read = [read_set(named) for named in sets]
    if noise:
        read = [texts._replace(hypotheses=noisy(texts.hypotheses, noise, rng)) for texts in read]
    print(f"| segments | parts | {' | '.join(WRONG)} |")
    print("| ---: " * (len(WRONG) + 2) + "|")
    for size in counted(sizes, "sizes"):
        outcomes: dict[str, list[tuple[bool, bool]]] = {what: [] for what in WRONG}
        for texts in read:
            last = len(texts.references) - size
            for start in rng.integers(0, last + 1, parts if last >= 0 else 0).tolist():
                hypotheses = texts.hypotheses[start : start + size]
                for what, references in paired(texts, start, size, rng).items():
                    found = doubts(hypotheses, references)
                    certain = any(doubt.certain for doubt in found)
                    outcomes[what].append((certain, bool(found) and not certain))
        print(f"| {size} | {len(outcomes['right'])} | {' | '.join(map(_cell, outcomes.values()))} |", flush=True)


def _cell(outcomes: Sequence[tuple[bool, bool]]) -> str:
    if not outcomes:
        return ""
    errors, warnings = (100 * float(np.mean(column)) for column in zip(*outcomes, strict=True))
    return f"{errors:.1f} + {warnings:.1f}" if warnings else f"{errors:.1f}"


if __name__ == "__main__":
    main()
