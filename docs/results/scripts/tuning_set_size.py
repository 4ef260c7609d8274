"""Print what the size of the tuning set is worth to many features (docs/results/reranking.md).

CONFIG describes the lists, the features, the metrics and the tuner, as for `rerank run`. The tuning set is shuffled and
cut into parts of each size. On each part the tuner fits all features, and all but those of the syntactic families. A
row has mean and standard deviation over the parts of the test set's score by the first metric, and of the difference
between the two. Parts of one size are disjoint, so that the deviations say how far tuning again on other segments would
move the score.

\b
    DATA=… LISTS=held-out python -m docs.results.scripts.tuning_set_size configs/tatoeba-de-en.toml
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, experiment, say
from docs.results.scripts.tatoeba_table import EVERYTHING, WITHOUT_SYNTAX, Lists, job_of, start_of, systems_of
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.tuning.problem import score_of, take_segments
from rerank_plugins import RerankError


@experiment("tuning_set_size", __doc__)
@click.argument("config", type=FILE)
@click.option("--sizes", type=Listed(int), default="75,150,300,600,1200", help="Segments to tune on.")
@click.option("--parts", type=click.IntRange(2), default=8, help="Tune on at most this many parts of a size.")
@click.option("--jobs", type=click.IntRange(1), help="Extract features in this many processes.")
def main(config: Path, sizes: tuple[int, ...], parts: int, jobs: int | None) -> None:
    """Extract the features once, tune on all parts, and print the table."""
    job, of_tune, of_test = job_of(config, jobs)
    systems = {system.name: system for system in systems_of(job)}
    if WITHOUT_SYNTAX not in systems:
        raise RerankError(f"{config}: no feature of a syntactic family to leave out")
    tune, test = Lists(job, of_tune, "tune"), Lists(job, of_test, of_test.name)
    segments = len(tune.data.lists)
    if not 1 <= min(sizes) <= max(sizes) <= segments:
        raise RerankError(f"sizes from {min(sizes)} to {max(sizes)}, expected 1 to the {segments} segments of {config}")
    shuffled = np.random.default_rng(job.config.seed).permutation(segments)
    scores: dict[str, list[list[float]]] = {}  # system -> for each size, the score by each part
    for name in (WITHOUT_SYNTAX, EVERYTHING):
        whole, seen = tune.of(systems[name].labels), test.of(systems[name].labels)
        start = start_of(job, tune.data, whole.table)
        scores[name] = []
        for size in sizes:
            say(f"tuning {name} on {size:,} segments")
            numbers = [np.sort(shuffled[i * size : (i + 1) * size]) for i in range(min(segments // size, parts))]
            fitted = [
                job.tuner.tune(take_segments(whole, chosen), start, np.random.default_rng([job.config.seed, part]))
                for part, chosen in enumerate(numbers)
            ]
            scores[name].append([score_of(seen, result) for result in fitted])
    rows = []
    for size, without, everything in zip(sizes, scores[WITHOUT_SYNTAX], scores[EVERYTHING], strict=True):
        difference = np.subtract(everything, without)
        rows.append((f"{size:,}", f"{len(without)}", *map(cell, (without, everything)), cell(difference, "+")))
    header = ("segments", "parts", WITHOUT_SYNTAX, EVERYTHING, "difference")
    print(markdown_table(Table(f"{job.measures[0].name} of {len(test.data.lists):,} segments", header, tuple(rows))))


def cell(values: list[float] | np.ndarray, sign: str = "") -> str:
    """Mean and standard deviation; the mean alone of a single value."""
    spread = f" ± {np.std(values, ddof=1):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):{sign}.2f}{spread}"


if __name__ == "__main__":
    main()
