"""The table of docs/models/hhmm.md that compares grammars, split or not, and the two estimations.

    python -m tests.experiments.hhmm_grammars ../shared/data MODEL...

MODELs are files of `rerank train hhmm` and `rerank train grammar`, all of one treebank: their vocabularies have to be the
same, for perplexities are compared. 100 sentences of each text, as in hhmm_table, at beam 200 (and 500 for GUM dev); F1
is of trees for 100 of GUM dev at beam 200.
"""

import math
import sys
import time
from dataclasses import replace
from pathlib import Path

from rerank_plugins.models.hhmm.derivation import best_tree
from rerank_plugins.models.hhmm.model import Hhmm
from rerank_plugins.models.hhmm.model_file import read_hhmm
from rerank_plugins.models.signatures import closed
from rerank_plugins.trees.cleaning import clean
from rerank_plugins.trees.constituency import read_trees
from rerank_plugins.trees.parseval import Parseval
from tests.experiments.hhmm_table import texts

PARSED, LONGEST = 100, 40


def short_trees(folder):
    with open(folder / "treebank_gum/gum-dev.ptb", encoding="utf-8") as lines:
        trees = [tree for tree in map(clean, read_trees(lines)) if tree and len(tree.words()) <= LONGEST]
    return trees[:: len(trees) // PARSED][:PARSED]


def with_tables(model, **changes):
    """The model with other options, and the same tables."""
    changed = replace(model, **changes)
    changed.__dict__["tables"] = model.tables
    return changed


def f1(model, trees):
    """EVALB's F1 in percent."""
    keeping, found = with_tables(model, derivations=True), Parseval()
    for tree in trees:
        found.add(tree, best_tree(keeping, tree.words()).scored.tree)
    return found.percent()["F1"]


def perplexity(model, sentences):
    """And words a second of CPU."""
    total, words, started = 0.0, 0, time.process_time()
    for sentence in sentences:
        state = model.start()
        for word in sentence:
            ln_p, state = model.advance(state, word)
            total += ln_p
        total += model.finish(state)
        words += len(sentence) + 1
    return math.exp(-total / words), words / (time.process_time() - started)


def main(folder, paths):
    trees, vocabulary, evaluated = short_trees(folder), None, {}
    for path in paths:
        grammar, events = read_hhmm(path)
        model = Hhmm(grammar, beam=200, events=events)
        if vocabulary is None:
            vocabulary = grammar.lexicon.index
            evaluated = {name: [closed(s, vocabulary) for s in found][1::2] for name, found in texts(folder).items()}
            header = "model", "symbols", "rules", "depth 4", *evaluated, "GUM dev, 500", "F1", "words/s", "words/s, 500"
            print("| " + " | ".join(header) + " |\n| --- " + "| ---: " * (len(header) - 1) + "|")
        assert set(grammar.lexicon.words) == set(vocabulary), f"{path}: another vocabulary"
        cells = [f"{grammar.size:,}", f"{len(grammar.binary):,}", f"{100 * model.tables.mass:.1f}"]
        perplexity(model, [("the", "dog")])
        measured = [perplexity(model, sentences) for sentences in evaluated.values()]
        wide, slow = perplexity(with_tables(model, beam=500), evaluated["GUM dev"])
        cells += [f"{value:.1f}" for value, _ in measured] + [f"{wide:.1f}", f"{f1(model, trees):.1f}"]
        cells += [f"{measured[0][1]:,.0f}", f"{slow:,.0f}"]
        print(f"| {path.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
