"""Print the accuracy and the speed of parsing with grammars (docs/results/parsing.md).

The table has the F1 of labelled brackets by EVALB's conventions, for sentences of up to 40 words and for all sentences,
parsed from raw words. The trees of GUM were themselves made by a parser, from gold tags, so that F1 there measures the
agreement with that parser. The trees of Natural Stories were corrected by hand.

DATA is a folder with treebank_gum/gum-dev.ptb, treebank_craft/craft-dev.ptb.xz and
eval_only/naturalstories/parses/penn/all-parses.txt.penn, or with those of --banks. MODELS are files made by `rerank
train grammar`; the default is the embedded English grammar.

\b
    python -m docs.results.scripts.grammar_table DATA                     # the embedded grammar
    python -m docs.results.scripts.grammar_table DATA my.pcfg --every 4   # one of your own, on every fourth sentence
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from docs.results.scripts.experiment import FILE, FOLDER, Listed, experiment, file_of
from docs.results.scripts.texts import cleaned_trees
from rerank_plugins.constituency.model_file import EMBEDDED, read_grammar
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.constituency.parsing import Decoding
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.parseval import Parseval
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS

SHORT = 40
TREEBANKS = {
    "GUM dev": "treebank_gum/gum-dev.ptb",
    "CRAFT dev": "treebank_craft/craft-dev.ptb.xz",
    "Natural Stories": "eval_only/naturalstories/parses/penn/all-parses.txt.penn",
}


Decoder = Literal["mbr", "viterbi"]


def read(path: Path, every: int) -> list[Tree]:
    """Every n-th tree of a treebank."""
    return cleaned_trees(path, CRAFT_LABELS)[::every]


def row(
    model: Path, trees: Sequence[Tree], decoder: Decoder, threshold: float
) -> tuple[dict[str, float], dict[str, float], float]:
    """The scores of sentences of up to 40 words, those of all sentences, and the sentences per CPU second."""
    parser = PcfgParser(model=model, decoder=decoder, threshold=threshold)
    parser.parse([("warm", "up")])
    short, whole = Parseval(), Parseval()
    started = time.process_time()
    parses = parser.parse([tree.words() for tree in trees])
    seconds = time.process_time() - started
    for tree, parse in zip(trees, parses, strict=True):
        best = parse.constituents[0].tree if parse.constituents else None
        whole.add(tree, best)
        if len(tree.words()) <= SHORT:
            short.add(tree, best)
    return short.percent(), whole.percent(), len(trees) / seconds


@experiment("grammar_table", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("models", type=FILE, nargs=-1)
@click.option("--every", default=1, help="Parse only every n-th sentence.")
@click.option("--banks", type=Listed(str, TREEBANKS), default=",".join(TREEBANKS), help="Test on these treebanks.")
@click.option("--decoder", type=click.Choice(["mbr", "viterbi"]), default="mbr", help="The method that chooses trees.")
@click.option("--threshold", default=Decoding().threshold, help="Prune constituents of lower probability.")
def main(
    data: Path, models: tuple[Path, ...], every: int, banks: tuple[str, ...], decoder: Decoder, threshold: float
) -> None:
    """Parse each treebank with each grammar and print the table."""
    files = {bank: file_of(data, TREEBANKS[bank]) for bank in banks}
    print("| grammar | symbols | binary rules | treebank | F1 ≤ 40 | F1 | exact | tags | coverage | sentences/s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for model in models or (EMBEDDED,):
        grammar = read_grammar(model)
        for bank in banks:
            trees = read(files[bank], every)
            short, whole, pace = row(model, trees, decoder, threshold)
            values = f"{short['F1']:.1f} | {whole['F1']:.1f} | {whole['exact']:.1f} | {whole['tags']:.1f} | {whole['coverage']:.1f}"
            print(
                f"| {model.name} | {grammar.size} | {len(grammar.binary):,} | {bank} | {values} | {pace:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
