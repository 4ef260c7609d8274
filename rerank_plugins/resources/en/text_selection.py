"""Selects sentences of the texts for a parser, whose trees embedded models are trained on; the same ones each time.

    python -m rerank_plugins.resources.en.text_selection textbooks.txt.xz > textbooks.txt
    python -m rerank_plugins.resources.en.text_selection --share 0.36 novels-more.txt.xz > novels-more.txt
    python -m rerank_plugins.resources.en.text_selection --number 16000 --longest 60 textbooks.txt.xz > textbooks.txt

prints the sentences of up to 40 words, in their order: all of them, or a random part. With --number it prints that
many in random order. Brackets get their normal form.
"""

from __future__ import annotations

import argparse
import lzma
import random
from collections.abc import Iterator

from rerank_plugins.core.brackets_and_quotes import normal_text


def sentences(name: str, longest: int) -> Iterator[str]:
    """The sentences of an xz-compressed text that have from 1 to `longest` words."""
    with lzma.open(name, "rt", encoding="utf-8") as lines:
        for line in lines:
            words = normal_text(line).split()
            if 1 <= len(words) <= longest:
                yield " ".join(words)


def shared(name: str, share: float, longest: int) -> Iterator[str]:
    """A random part of the sentences, in the order of the text."""
    draws = random.Random(1)
    return (sentence for sentence in sentences(name, longest) if share >= 1 or draws.random() <= share)


def numbered(name: str, number: int, longest: int) -> list[str]:
    """A random selection of `number` sentences, in random order."""
    short = list(sentences(name, longest))
    random.Random(1).shuffle(short)
    return short[:number]


def main() -> None:
    """Print the selected sentences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", help="a text with one tokenised sentence per line, compressed with xz")
    parser.add_argument("--longest", type=int, default=40, help="number of words of the longest sentence")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--share", type=float, default=1.0, help="proportion of the sentences")
    which.add_argument("--number", type=int, help="number of sentences")
    chosen = parser.parse_args()
    if chosen.number is None:
        print(*shared(chosen.text, chosen.share, chosen.longest), sep="\n")
    else:
        print(*numbered(chosen.text, chosen.number, chosen.longest), sep="\n")


if __name__ == "__main__":
    main()
