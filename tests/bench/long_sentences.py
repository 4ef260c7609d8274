"""CPU seconds of the parsers by grammars on long sentences (docs/models/svs.md).

    python -m tests.bench.long_sentences ../shared/data/treebank_gum/gum-dev.ptb [--longest 520]

Sentences are joined from the words of the trees, three up to 100 words, one of each longer length; the embedded models,
defaults, compilation not counted.
"""

import argparse
import time
from pathlib import Path

from rerank_plugins.parsers.pcfg_parser import PcfgParser
from rerank_plugins.parsers.svs_parser import VectorParser
from tests.bench.constituency_speed import running_text

LENGTHS = (40, 60, 80, 100, 200, 520)
START = 1000  # word at which the first sentence begins


def seconds(parser, sentences):
    started = time.process_time()
    parser.parse(sentences)
    return (time.process_time() - started) / len(sentences)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("trees", type=Path)
    arguments.add_argument("--longest", type=int, default=LENGTHS[-1])
    given = arguments.parse_args()
    words = running_text(given.trees)
    parsers = {"svs": VectorParser(), "svs, vector": VectorParser(decoder="vector"), "pcfg": PcfgParser()}
    for parser in parsers.values():
        parser.parse([tuple(words[:12]), tuple(words[:45])])
    print("| words |", " | ".join(parsers), "|")
    print("| ---: |", " ---: |" * len(parsers))
    for length in (length for length in LENGTHS if length <= given.longest):
        starts = [START + number * length for number in range(3 if length <= 100 else 1)]
        sentences = [tuple(words[start : start + length]) for start in starts]
        row = [f"{seconds(parser, sentences):.2f}" for parser in parsers.values()]
        print(f"| {length} |", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    main()
