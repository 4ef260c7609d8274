"""Print how well and how fast the HHMM parses: F1 of the best derivation (docs/results/hhmm.md).

Labelled brackets by EVALB's conventions, of sentences of GUM dev of up to 40 words; sentences a second of CPU, compilation not counted.

DATA is a folder with treebank_gum/gum-dev.ptb. MODELS are files of `rerank train hhmm` or `rerank train grammar`, by
default the embedded English one.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from rerank_plugins.models.hhmm.derivation import best_tree
from rerank_plugins.models.hhmm.embedded import EMBEDDED
from rerank_plugins.models.hhmm.model import HhmmModel
from rerank_plugins.models.hhmm.model_file import read_hhmm
from tests.experiments.experiment import FILE, FOLDER, experiment
from tests.experiments.hhmm_grammars import f1
from tests.experiments.texts import short_dev_trees


@experiment("hhmm_parsing", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("models", type=FILE, nargs=-1)
@click.option("--every", default=4, help="Only every so many-th sentence is parsed.")
@click.option("--beam", default=200, help="Stores kept after each word.")
def main(data: Path, models: tuple[Path, ...], every: int, beam: int) -> None:
    """Parse by each model."""
    trees = short_dev_trees(data)[::every]
    print(f"{len(trees)} sentences, beam {beam}\n\n| model | F1 | sentences/s |\n| --- | ---: | ---: |")
    for path in models or (EMBEDDED,):
        grammar, events = read_hhmm(path)
        model = HhmmModel(grammar, beam=beam, events=events, derivations=True)
        best_tree(model, ("the", "dog"))
        started = time.process_time()
        value = f1(model, trees)
        print(f"| {path.name} | {value:.1f} | {len(trees) / (time.process_time() - started):.1f} |", flush=True)


if __name__ == "__main__":
    main()
