"""Holds out pairs of a larger corpus: `python example_nbest/held_out_pairs.py CORPUS FOLDER [TUNE [TEST]]`.

Tuning and test sets are small where translations are dear. Of training pairs there are many: some of them, taken out of
the training text, make sets as large as wanted, for a decoder that is trained on the rest. CORPUS holds train.de-en.xz,
a pair a line, `German ||| English`. FOLDER gets the rest of it under that name, and tune.src, tune.ref, test.src and
test.ref with TUNE and TEST pairs (default: 1,200 and 3,000), so that larger_corpus.py can go on from there.

The pairs held out are at even distances among those of SHORTEST to LONGEST German words whose sentences begin like no
other held-out one. Pairs with a sentence that begins like a held-out one, ignoring case and punctuation, leave the
training text too.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

import make
from larger_corpus import read_pairs

SHORTEST, LONGEST = 10, 40
BEGINNING = 45  # letters and digits by which sentences are compared


def main(corpus: Path, folder: Path, tune: int = 1200, test: int = 3000) -> None:
    """Write the three parts into the folder."""
    pairs = read_pairs(corpus)
    held_out = choose(pairs, tune + test)
    beginnings = {beginning(text) for pair in held_out for text in pair}
    folder.mkdir(parents=True, exist_ok=True)
    with lzma.open(folder / "train.de-en.xz", "wt", encoding="utf-8") as file:
        for pair in pairs:
            if beginnings.isdisjoint(map(beginning, pair)):
                file.write(" ||| ".join(pair) + "\n")
    step = len(held_out) / tune
    tuned = {int(number * step) for number in range(tune)}
    for part, in_tune in (("tune", True), ("test", False)):
        chosen = [pair for number, pair in enumerate(held_out) if (number in tuned) == in_tune]
        for column, kind in enumerate(("src", "ref")):
            make.save(folder / f"{part}.{kind}", (pair[column] for pair in chosen))


def choose(pairs: list[list[str]], count: int) -> list[list[str]]:
    """So many pairs of long sentences, at even distances, no two of which begin alike in either language."""
    seen: set[str] = set()
    candidates = []
    for pair in pairs:
        beginnings = {beginning(text) for text in pair}
        if SHORTEST <= len(pair[0].split()) <= LONGEST and seen.isdisjoint(beginnings):
            seen |= beginnings
            candidates.append(pair)
    if len(candidates) < count:
        sys.exit(f"{len(candidates)} pairs of {SHORTEST} to {LONGEST} words; wanted at least {count}")
    return [candidates[number * len(candidates) // count] for number in range(count)]


def beginning(text: str) -> str:
    """The first letters and digits of a sentence, in lower case."""
    return "".join(filter(str.isalnum, text.lower()))[:BEGINNING]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:5]))
