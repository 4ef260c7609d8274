"""Print the size, speed and perplexity of packed n-gram models (docs/results/language-models.md).

MODEL is a model file of `rerank train ngram`; the rows are its tables as records of 32-bit numbers, packed with exact
values, and packed with values of fewer bits. Words are scored on one core, in CPU time, the fastest of several times.
The TEXTS have one sentence per line.

\b
    python -m docs.results.scripts.packed_ngrams novels.ngram novel-dev.txt
"""

from __future__ import annotations

import time
from itertools import islice
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, experiment, say
from rerank_plugins.core.arrays import IntArray
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.scoring import score_text
from rerank_plugins.kit.backoff.stores import pack
from rerank_plugins.kit.backoff.tables import BackoffTables, table_arrays
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.ngram.model import NgramModel


def cells(tables: BackoffTables | PackedTables, texts: list[IntArray], repeats: int) -> str:
    """The size in MB, and for each text the million words per second and the perplexity, unknown words included."""
    arrays = table_arrays(tables)
    row = [f"{sum(array.nbytes for array in arrays.values()) / 1e6:,.1f}"]
    for tokens in texts:
        times = []
        for _ in range(repeats):
            started = time.process_time()
            scores, _ = score_text(tables, tokens)
            times.append(time.process_time() - started)
        row += [f"{len(tokens) / max(min(times), 1e-6) / 1e6:.1f}", f"{np.exp(-scores.mean()):.2f}"]
    return " | ".join(row)


@experiment("packed_ngrams", __doc__)
@click.argument("model", type=FILE)
@click.argument("texts", type=FILE, nargs=-1, required=True)
@click.option("--bits", type=Listed(int), default=(16, 8, 6, 4), help="Quantise the values to these numbers of bits.")
@click.option("--most", default=100_000, help="Score this many sentences of each text.")
@click.option("--repeats", default=4, help="Time the scoring this often.")
def main(model: Path, texts: tuple[Path, ...], bits: tuple[int, ...], most: int, repeats: int) -> None:
    """Pack the model in each way, score the texts and print the table."""
    ngrams = NgramModel.load(model)
    encoded = []
    for path in texts:
        with open_text(path) as lines:
            encoded.append(ngrams.vocabulary.encode([line.split() for line in islice(lines, most)]))
    names = "".join(f" {path.name}: M words/s | perplexity |" for path in texts)
    print(f"| {sum(ngrams.stored.sizes):,} n-grams | MB |{names}\n| --- |{' ---: |' * (1 + 2 * len(texts))}")
    print(f"| records | {cells(ngrams.tables, encoded, repeats)} |", flush=True)
    for width in (None, *bits):
        say("packing")
        packed = pack(ngrams.tables, width)
        print(f"| {'exact' if width is None else f'{width} bits'} | {cells(packed, encoded, repeats)} |", flush=True)


if __name__ == "__main__":
    main()
