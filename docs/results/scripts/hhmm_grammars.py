"""Compare grammars of the HHMM, with or without split symbols, and its two methods of estimation (docs/results/hhmm.md).

The perplexities are those of every other sentence of each text, at beam 200 (for GUM dev also 500). F1 is that of the
trees of GUM dev of up to 40 words, at beam 200. The speed is in words scored per CPU second.

DATA is a folder with treebank_gum/gum-dev.ptb, text_en/presidential.txt.xz and mt_nbest_tatoeba_de_en/test.ref. MODELS
are files made by `rerank train hhmm` and `rerank train grammar` from the same treebank: their vocabularies must be the
same, since perplexities are compared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, FOLDER, counted, experiment
from docs.results.scripts.texts import Words, evaluated_texts, short_dev_trees
from rerank_plugins import RerankError
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.hhmm.derivation import best_tree
from rerank_plugins.hhmm.model import HhmmModel
from rerank_plugins.hhmm.model_file import read_hhmm
from rerank_plugins.kit.trees.parseval import Parseval
from rerank_plugins.kit.vocabulary.signatures import closed


def f1(model: HhmmModel, trees: Sequence[Tree]) -> float:
    """EVALB's F1, in per cent."""
    keeping, brackets = model.with_search(derivations=True), Parseval()
    for tree in counted(trees, "sentences parsed"):
        derivation = best_tree(keeping, tree.words())
        brackets.add(tree, derivation and derivation.scored.tree)
    return brackets.percent()["F1"]


def perplexity(model: HhmmModel, sentences: Sequence[Words]) -> tuple[float, float]:
    """The perplexity, and the words scored per CPU second."""
    total, words, started = 0.0, 0, time.process_time()
    for sentence in counted(sentences, "sentences scored"):
        state = model.start()
        for word in sentence:
            ln_p, state = model.advance(state, word)
            total += ln_p
        total += model.finish(state)
        words += len(sentence) + 1
    return math.exp(-total / words), words / (time.process_time() - started)


@experiment("hhmm_grammars", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("models", type=FILE, nargs=-1, required=True)
@click.option("--sentences", default=200, help="Take this many sentences of each text and score half of them.")
@click.option("--parsed", default=100, help="Parse this many sentences of GUM dev.")
def main(data: Path, models: tuple[Path, ...], sentences: int, parsed: int) -> None:
    """Score and parse with each model and print the table."""
    short, texts = short_dev_trees(data), evaluated_texts(data, sentences)
    trees = short[:: max(1, len(short) // parsed)][:parsed]
    vocabulary = read_hhmm(models[0])[0].lexicon.index
    evaluated = {
        name: [closed(words, vocabulary) for words in sentence_list][1::2] for name, sentence_list in texts.items()
    }
    header = "model", "symbols", "rules", "depth 4", *evaluated, "GUM dev, 500", "F1", "words/s", "words/s, 500"
    print("| " + " | ".join(header) + " |\n| --- " + "| ---: " * (len(header) - 1) + "|")
    for path in models:
        grammar, events = read_hhmm(path)
        if set(grammar.lexicon.words) != set(vocabulary):
            raise RerankError(
                f"{path}: has a vocabulary other than that of {models[0]}, so perplexities cannot be compared"
            )
        model = HhmmModel(grammar, beam=200, events=events, unknown_types=1)  # signatures are words here
        cells = [f"{grammar.size:,}", f"{len(grammar.binary):,}", f"{100 * model.tables.mass:.1f}"]
        perplexity(model, [("the", "dog")])
        measured = [perplexity(model, test) for test in evaluated.values()]
        wide, slow = perplexity(model.with_search(beam=500), evaluated["GUM dev"])
        cells += [f"{value:.1f}" for value, _ in measured] + [f"{wide:.1f}", f"{f1(model, trees):.1f}"]
        cells += [f"{measured[0][1]:,.0f}", f"{slow:,.0f}"]
        print(f"| {path.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
