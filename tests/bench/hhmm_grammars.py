"""The table of docs/models/hhmm.md that compares grammars, split or not, and the two estimations.

    python -m tests.bench.hhmm_grammars ../shared/data MODEL...

MODELs are files of `rerank train hhmm` and `rerank train grammar`, all of one treebank: their vocabularies have to be the
same, for perplexities are compared. 100 sentences of each text, as in hhmm_table; F1 is of trees for 100 of GUM dev.
"""

import math
import sys
import time
from pathlib import Path

import numpy as np

from rerank_plugins.models.hhmm.progeny import fitting_mass
from rerank_plugins.models.hhmm_model import HhmmModel
from rerank_plugins.models.signatures import closed
from rerank_plugins.parsers.hhmm_parser import HhmmParser
from rerank_plugins.trees.cleaning import clean
from rerank_plugins.trees.constituency import read_trees
from rerank_plugins.trees.parseval import Parseval
from tests.bench.hhmm_table import texts

BEAMS = (200, 500)
PARSED, LONGEST = 100, 40


def short_trees(folder):
    with open(folder / "treebank_gum/gum-dev.ptb", encoding="utf-8") as lines:
        trees = [tree for tree in map(clean, read_trees(lines)) if tree and len(tree.words()) <= LONGEST]
    return trees[:: len(trees) // PARSED][:PARSED]


def f1(path, trees):
    """EVALB's F1 in percent at beam 200."""
    parses = HhmmParser(path, beam=200).parse([tree.words() for tree in trees])
    found = Parseval()
    for tree, parse in zip(trees, parses, strict=True):
        found.add(tree, parse.constituents[0].tree)
    return found.percent()["F1"]


def main(folder, paths):
    trees, vocabulary, evaluated = short_trees(folder), None, {}
    for path in paths:
        grammar = HhmmModel(path).hhmm.grammar
        if vocabulary is None:
            vocabulary = grammar.lexicon.index
            evaluated = {name: [closed(s, vocabulary) for s in found][1::2] for name, found in texts(folder).items()}
            columns = [f"{name}, {beam}" for beam in BEAMS for name in evaluated]
            print("| model | symbols | rules | depth 4 | " + " | ".join(columns) + " | F1 | words/s at 200, 500 |")
            print("| --- " + "| ---: " * (5 + len(columns)) + "|")
        assert set(grammar.lexicon.words) == set(vocabulary), f"{path}: another vocabulary"
        cells = [f"{grammar.size:,}", f"{len(grammar.binary):,}", f"{100 * fitting_mass(grammar, 4):.1f}"]
        speeds = []
        for beam in BEAMS:
            model = HhmmModel(path, beam=beam)
            model.score([["the", "dog"]])
            started = time.process_time()
            scores = [model.score(sentences) for sentences in evaluated.values()]
            seconds = time.process_time() - started
            speeds.append(f"{sum(len(each) for text in scores for each in text) / seconds:,.0f}")
            cells += [f"{math.exp(-np.concatenate(text).mean()):.1f}" for text in scores]
        cells += [f"{f1(path, trees):.1f}", ", ".join(speeds)]
        print(f"| {path.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
