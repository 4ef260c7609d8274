"""Print the CPU seconds of the grammar-based parsers on long sentences (docs/results/svs.md).

The sentences are joined from the words of the trees: three of each length up to 100 words, one of each greater length.
The parsers use the embedded models and their default options; compilation is not counted.

TREES is a file of brackets with some 2,000 words.

\b
    python -m docs.results.scripts.long_sentences gum-dev.ptb
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from docs.results.scripts.constituency_speed import running_text
from docs.results.scripts.experiment import FILE, experiment
from rerank_plugins import Parser, RerankError
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.svs.parser import VectorParser

LENGTHS = (40, 60, 80, 100, 200, 520)
START = 1000  # the word at which the first sentence begins


def seconds(parser: Parser, sentences: Sequence[tuple[str, ...]]) -> float:
    """CPU seconds per sentence."""
    started = time.process_time()
    parser.parse(sentences)
    return (time.process_time() - started) / len(sentences)


@experiment("long_sentences", __doc__)
@click.argument("trees", type=FILE)
@click.option("--longest", default=LENGTHS[-1], help="Leave out longer sentences.")
@click.option("--start", default=START, help="Begin the first sentence at this word.")
def main(trees: Path, longest: int, start: int) -> None:
    """Parse the sentences and print the table."""
    words = running_text(trees)
    if len(words) < start + longest:
        raise RerankError(f"{trees}: has {len(words)} words, expected {start + longest} or more")
    parsers = {"svs": VectorParser(), "svs, vector": VectorParser(decoder="vector"), "pcfg": PcfgParser()}
    for parser in parsers.values():
        parser.parse([tuple(words[:12]), tuple(words[:45])])
    print("| words |", " | ".join(parsers), "|")
    print("| ---: |", " ---: |" * len(parsers))
    for length in (length for length in LENGTHS if length <= longest):
        starts = [start + number * length for number in range(3 if length <= 100 else 1)]
        sentences = [tuple(words[first : first + length]) for first in starts]
        row = [f"{seconds(parser, sentences):.2f}" for parser in parsers.values()]
        print(f"| {length} |", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
