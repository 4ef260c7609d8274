"""The table of docs/models/pcfg.md: grammars, and how well and how fast they parse.

    python -m tests.experiments.grammar_table FOLDER                     # the embedded grammar
    python -m tests.experiments.grammar_table FOLDER my.pcfg --every 4   # one of your own, on every fourth sentence

F1 of labelled brackets by EVALB's conventions, raw words, of sentences up to 40 words and of all; ln p per word is the
exact (unpruned) inside probability of the sentences up to 40. GUM's trees are themselves a parser's, made from gold
tags: F1 there is agreement with a parser. The trees of Natural Stories are corrected by hand.
"""

import argparse
import lzma
import time
from pathlib import Path

from rerank_plugins.models.pcfg.embedded import EMBEDDED
from rerank_plugins.models.pcfg.model_file import read_grammar
from rerank_plugins.models.pcfg.parsing import Decoding
from rerank_plugins.parsers.pcfg_parser import PcfgParser
from rerank_plugins.trees.cleaning import CRAFT_LABELS, clean
from rerank_plugins.trees.constituency import read_trees
from rerank_plugins.trees.parseval import Parseval

SHORT = 40
TREEBANKS = {
    "GUM dev": "treebank_gum/gum-dev.ptb",
    "CRAFT dev": "treebank_craft/craft-dev.ptb.xz",
    "Natural Stories": "eval_only/naturalstories/parses/penn/all-parses.txt.penn",
}


def read(path, every):
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        found = [tree for tree in (clean(tree, CRAFT_LABELS) for tree in read_trees(lines, str(path))) if tree]
    return found[::every]


def row(model, trees, decoder, threshold):
    parser = PcfgParser(model=model, decoder=decoder, threshold=threshold)
    parser.parse([("warm", "up")])
    short, whole = Parseval(), Parseval()
    started = time.process_time()
    parses = parser.parse([tree.words() for tree in trees])
    seconds = time.process_time() - started
    for tree, parse in zip(trees, parses, strict=True):
        found = parse.constituents[0].tree if parse.constituents else None
        whole.add(tree, found)
        if len(tree.words()) <= SHORT:
            short.add(tree, found)
    return short.percent(), whole.percent(), len(trees) / seconds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path)
    arguments.add_argument("models", type=Path, nargs="*", default=[EMBEDDED])
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--banks", nargs="*", default=list(TREEBANKS))
    arguments.add_argument("--decoder", default="mbr")
    arguments.add_argument("--threshold", type=float, default=Decoding().threshold)
    given = arguments.parse_args()
    print("| grammar | symbols | binary rules | treebank | F1 ≤ 40 | F1 | exact | tags | coverage | sentences/s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for model in given.models:
        grammar = read_grammar(model)
        for bank in given.banks:
            trees = read(given.data / TREEBANKS[bank], given.every)
            short, whole, pace = row(model, trees, given.decoder, given.threshold)
            values = f"{short['F1']:.1f} | {whole['F1']:.1f} | {whole['exact']:.1f} | {whole['tags']:.1f} | {whole['coverage']:.1f}"
            print(
                f"| {model.name} | {grammar.size} | {len(grammar.binary):,} | {bank} | {values} | {pace:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
