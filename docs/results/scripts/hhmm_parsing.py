"""Print the accuracy and the speed of parsing with the HHMM: the F1 of the best derivation (docs/results/hhmm.md).

The F1 is that of labelled brackets by EVALB's conventions, for the sentences of GUM dev of up to 40 words. The speed is
in sentences per CPU second, without compilation.

DATA is a folder with treebank_gum/gum-dev.ptb. MODELS are files made by `rerank train hhmm` or `rerank train grammar`;
the default is the embedded English one.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, FOLDER, experiment
from docs.results.scripts.hhmm_grammars import f1
from docs.results.scripts.texts import short_dev_trees
from rerank_plugins.hhmm.derivation import best_tree
from rerank_plugins.hhmm.language_model import EMBEDDED
from rerank_plugins.hhmm.model import HhmmModel
from rerank_plugins.hhmm.model_file import read_hhmm


@experiment("hhmm_parsing", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("models", type=FILE, nargs=-1)
@click.option("--every", default=4, help="Parse only every n-th sentence.")
@click.option("--beam", default=200, help="Keep this many stores after each word.")
def main(data: Path, models: tuple[Path, ...], every: int, beam: int) -> None:
    """Parse with each model and print the table."""
    trees = short_dev_trees(data)[::every]
    print(f"{len(trees)} sentences, beam {beam}\n\n| model | F1 | sentences/s |\n| --- | ---: | ---: |")
    for path in models or (EMBEDDED,):
        grammar, events = read_hhmm(path)
        model = HhmmModel(grammar, beam=beam, events=events, derivations=True)
        best_tree(model, ("the", "dog"))
        started = time.process_time()
        accuracy = f1(model, trees)
        print(f"| {path.name} | {accuracy:.1f} | {len(trees) / (time.process_time() - started):.1f} |", flush=True)


if __name__ == "__main__":
    main()
