"""Print how many words the search for substitutes looks at, and how long it takes (docs/results/substitutes.md).

Models of several vocabularies are trained on TEXT (one sentence per line), and the K best substitutes are searched at
places drawn from the text HELD, for several K, as in Figure 1 of Yuret (2012). Vocabularies larger than that of TEXT are
those of synthetic texts: a word that TEXT has c times gets 1 + c / s variants there (s is a value of --splits), each of
its occurrences is one of them at random, the n-th with a probability of about 1 / n, and the vocabulary has all of them.
`exponent` is the slope of log pops over log K, by least squares. The second table has the CPU seconds of loading a model whose queues are sorted already, and
tokens per CPU second at --speed substitutes, by the queues and by scoring every word, which must agree on all of them.

\b
    python -m docs.results.scripts.fastsubs_scaling train.txt held-out.txt --plot figure1.svg
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, experiment, say
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS
from rerank_plugins.ngram.training import NgramSettings, train
from rerank_plugins.substitutes.fastsubs import FastSubs

EXHAUSTIVE = 20  # places at which every word is scored


class Measured(NamedTuple):
    """The measurements of one model: pops and CPU milliseconds by K, and the speeds."""

    kind: str
    words: int
    ngrams: int
    pops: list[float]
    milliseconds: list[float]
    loading: float
    fast: float
    exhaustive: float

    def exponent(self, counts: Sequence[int]) -> float:
        """The slope of log pops over log K."""
        return float(np.polyfit(np.log(counts), np.log(self.pops), 1)[0]) if len(counts) > 1 else np.nan


def synthetic(lines: Iterable[Sequence[str]], variants: Mapping[str, int], rng: np.random.Generator) -> Iterator[str]:
    """The lines with each word replaced by one of its variants, of which `variants` has the number."""
    for words in lines:
        most = np.array([variants.get(word, 1) for word in words], np.float64)
        drawn = (most ** rng.random(len(words))).astype(int).tolist()
        yield " ".join(f"{word}~{n}" if n > 1 else word for word, n in zip(words, drawn, strict=True))


def measure(kind: str, model: Path, held: list[list[str]], counts: Sequence[int], places: int, speed: int) -> Measured:
    """Load the model, and search at places drawn from the text."""
    FastSubs.load(model).top(["a", "b"], 0, 1)  # sorts the queues, and compiles
    start = time.process_time()
    substitutes = FastSubs.load(model)
    loading = time.process_time() - start
    tokens = substitutes.encode(held)
    inner = np.flatnonzero((tokens != BOS) & (tokens != EOS))
    rng = np.random.default_rng(1)
    drawn = np.sort(rng.choice(inner, min(places, len(inner)), replace=False))
    pops, milliseconds = [], []
    for k in counts:
        start = time.process_time()
        pops.append(float(substitutes.top_places(tokens, drawn, k).pops.mean()))
        milliseconds.append(1000 * (time.process_time() - start) / len(drawn))
    running = inner[: 10 * places]  # neighbouring places, as when a whole text is searched
    start = time.process_time()
    substitutes.top_places(tokens, running, speed)
    fast = len(running) / (time.process_time() - start)
    few = drawn[:: max(1, len(drawn) // EXHAUSTIVE)]
    best = substitutes.top_places(tokens, few, speed)
    candidates = np.arange(3, len(substitutes.ngrams.vocabulary), dtype=np.int32)
    start = time.process_time()
    for row, place in enumerate(few):
        scores = substitutes.scores(tokens, np.full(len(candidates), place), candidates)
        order = np.argsort(-scores, kind="stable")[:speed]
        if best.words[row].tolist() != candidates[order].tolist() or best.ln_p[row].tolist() != scores[order].tolist():
            raise RerankError(f"{kind}: the substitutes at place {place} are not those of the exhaustive search")
    exhaustive = len(few) / (time.process_time() - start)
    ngrams = sum(substitutes.ngrams.tables.sizes)
    return Measured(kind, len(candidates), ngrams, pops, milliseconds, loading, fast, exhaustive)


def plot(measured: Sequence[Measured], counts: Sequence[int], path: Path) -> None:
    """Average pops over K, one line for each model, on logarithmic axes."""
    figure, axes = new_figure()
    for row in measured:
        style = "-" if row.kind == "real" else "--"
        axes.plot(counts, row.pops, style, marker=".", label=f"{row.kind}, {row.words:,} words")
    axes.plot(counts, counts, ":", color="grey", label="K")
    axes.set(xscale="log", yscale="log", xlabel="number of substitutes K", ylabel="average number of pops")
    axes.legend()
    save_figure(figure, path)


@experiment("fastsubs_scaling", __doc__)
@click.argument("text", type=FILE)
@click.argument("held", type=FILE)
@click.option("--sizes", type=Listed(int), default="16384,32768,65536", help="Vocabularies of the models of TEXT.")
@click.option("--splits", type=Listed(int), default="128,32,8",
              help="Occurrences for each variant of a word, for each synthetic text.")  # fmt: skip
@click.option("--counts", type=Listed(int), default="1,10,100,1000,10000", help="The values of K.")
@click.option("--speed", default=100, help="Substitutes of each token when the speed is measured.")
@click.option("--order", default=4, help="Order of the models.")
@click.option("--places", default=300, help="Places of HELD at which substitutes are searched.")
@click.option(
    "--plot",
    "figure",
    type=click.Path(path_type=Path),
    help="Plot average pops over K to this file (.svg, .png or .pdf).",
)
def main(
    text: Path, held: Path, sizes: tuple[int, ...], splits: tuple[int, ...], counts: tuple[int, ...], speed: int,
    order: int, places: int, figure: Path | None,
) -> None:  # fmt: skip
    """Train the models, measure, and print both tables."""
    texts = {}
    for name, path in (("text", text), ("held", held)):
        with open_text(path) as lines:
            texts[name] = [line.rstrip("\n") for line in lines]
    measured = []
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"RERANK_CACHE": folder}):
        model = Path(folder) / "model.ngram"
        counted = Counter(word for line in texts["text"] for word in line.split()) if splits else {}
        for kind, value in [*(("real", size) for size in sizes), *(("synthetic", split) for split in splits)]:
            say(f"{kind} text, {value}")
            sides, most = texts, value if kind == "real" else None
            if kind == "synthetic":
                variants = {word: 1 + count // value for word, count in counted.items()}
                rng = np.random.default_rng(1)
                sides = {
                    name: list(synthetic((line.split() for line in side), variants, rng))
                    for name, side in texts.items()
                }
            train([(str(text), sides["text"])], NgramSettings(order, most_words=most)).ngrams.save(model)
            sentences = [line.split() for line in sides["held"]]
            measured.append(measure(kind, model, sentences, counts, places, speed))
            for file in (model, *Path(folder).glob("queues/*")):
                file.unlink()
    rows = tuple(
        (m.kind, f"{m.words:,}", *(f"{pops:,.0f}" for pops in m.pops), f"{m.exponent(counts):.2f}",
         *(f"{time:.3g}" for time in m.milliseconds))
        for m in measured
    )  # fmt: skip
    header = ("text", "vocabulary", *(f"K = {k:,}" for k in counts), "exponent", *(f"ms, {k:,}" for k in counts))
    print(markdown_table(Table("Average pops, and CPU milliseconds of a place", header, rows)))
    rows = tuple(
        (m.kind, f"{m.words:,}", f"{m.ngrams:,}", f"{m.loading:.2f}", f"{m.fast:,.0f}", f"{m.exhaustive:,.1f}",
         f"{m.fast / m.exhaustive:,.0f}")
        for m in measured
    )  # fmt: skip
    header = ("text", "vocabulary", "n-grams", "loading, s", "tokens/s", "exhaustive, tokens/s", "ratio")
    print(markdown_table(Table(f"Speed of one thread at K = {speed}", header, rows)))
    if figure is not None:
        plot(measured, counts, figure)


if __name__ == "__main__":
    main()
