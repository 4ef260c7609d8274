"""Print the table of speeds in docs/results/reranking.md, for real lists and for generated ones.

Times are CPU and wall seconds without compilation. The peak memory is that of the whole process up to the row.

LISTS is a folder with tune.nbest.xz (Moses) and tune.ref, both tokenised; the metric is BLEU with tokenize=none.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
import numpy as np

from docs.results.scripts.experiment import FOLDER, Listed, experiment, file_of, say
from rerank_adapters.evaluation import Resampling, evaluate
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF
from rerank_adapters.metrics.ter import TER
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.tuners.mert import Mert
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning.problem import prepare
from rerank_adapters.tuning.start import start_vector
from rerank_plugins import FeatureTable, Tuner, TuningData, TuningResult
from rerank_plugins.core.arrays import FloatArray

Rows = list[tuple[str, ...]]
Result = TypeVar("Result")


def timed(
    rows: Rows, what: str, action: Callable[[], Result], note: Callable[[Result], str] = lambda result: ""
) -> Result:
    """Run the action once to compile its kernels and once to time it, and add a row."""
    say(what)
    action()
    begin, wall = time.process_time(), time.perf_counter()
    result = action()
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows.append((what, f"{seconds:.2f}", f"{wall:.2f}", f"{peak:.2f}", note(result)))
    return result


def seeded(tuner: Tuner, data: TuningData, start: FloatArray) -> TuningResult:
    """Tune with the same seed each time."""
    return tuner.tune(data, start, np.random.default_rng(1))


def real_lists(rows: Rows, folder: Path) -> None:
    """Add the rows of reading, statistics, tuners and significance on the lists of a folder."""
    metric = Bleu(tokenize="none")

    def read() -> tuple[FeatureTable, FloatArray]:
        nbests = read_nbest([file_of(folder, "tune.nbest.xz")], FORMATS["moses"]())
        references = for_segments(
            [read_texts(file_of(folder, "tune.ref"), "reference")], [n.segment_id for n in nbests]
        )
        return decoder_table(nbests), metric.statistics([n.texts for n in nbests], references)

    table, statistics = timed(rows, "read lists, features, BLEU statistics", read)
    size = f"{len(table.values)} hypotheses × {len(table.names)} features"
    rows[-1] = (*rows[-1][:-1], size)
    data = prepare(table, statistics, metric)
    start = start_vector(table, "uniform")
    tune_with: dict[str, Tuner] = {"MERT, 20 restarts": Mert(restarts=20), "MIRA, 60 passes": Mira()}
    for name, tuner in tune_with.items():
        timed(rows, name, partial(seeded, tuner, data, start), lambda r: f"BLEU {r.score:.2f}")
    nbests = read_nbest([file_of(folder, "tune.nbest.xz")], FORMATS["moses"]())
    references = for_segments([read_texts(file_of(folder, "tune.ref"), "reference")], [n.segment_id for n in nbests])
    lists = [n.texts for n in nbests]
    timed(rows, "BLEU of all pairs, 100 lists (MBR)", lambda: [metric.pairwise(texts) for texts in lists[:100]])
    systems = {str(i): [texts[min(i, len(texts) - 1)] for texts in lists] * 2 for i in range(3)}
    metrics = {"bleu": metric, "chrf": ChrF(), "ter": TER()}
    timed(
        rows,
        "paired bootstrap, 3 systems, BLEU chrF TER",
        lambda: evaluate(systems, references * 2, metrics, Resampling(randomisation=0)),
        lambda _: f"{2 * len(lists)} segments, 1000 resamples",
    )


def generated(segments: int = 1000, size: int = 1000, features: int = 20) -> TuningData:
    """Generate lists whose BLEU statistics depend on hidden weights of the features, with noise."""
    rng = np.random.default_rng(0)
    rows = segments * size
    values = rng.normal(size=(rows, features))
    quality = 1 / (1 + np.exp(-(values @ rng.normal(size=features) + rng.normal(size=rows)) / 3))
    lengths = np.repeat(rng.integers(8, 40, segments), size)
    words = lengths[:, None] - np.arange(4)
    matches = rng.binomial(words, quality[:, None] ** np.arange(1, 5))
    statistics = np.column_stack([lengths, lengths, matches, words]).astype(np.float64)
    names = [f"f{i}" for i in range(features)]
    table = FeatureTable.dense(names, values, np.arange(segments + 1) * size)
    return prepare(table, statistics, Bleu(tokenize="none"))


@experiment("speed_table", __doc__)
@click.argument("lists", type=FOLDER)
@click.option("--generated", "sizes", type=Listed(int), default="1000,1000,20",
              help="Segments, hypotheses per segment and features of the generated lists.")  # fmt: skip
def main(lists: Path, sizes: tuple[int, ...]) -> None:
    """Measure all times and print the table."""
    if len(sizes) != 3:
        raise click.UsageError(f"--generated: found {len(sizes)} numbers, expected segments,hypotheses,features")
    rows: Rows = []
    real_lists(rows, lists)
    what = f"MERT, 20 restarts, generated {' × '.join(map(str, sizes))}"
    say(what)
    data = generated(*sizes)
    start = np.ones(sizes[2])
    begin, wall = time.process_time(), time.perf_counter()
    result = Mert(restarts=20).tune(data, start, np.random.default_rng(1))
    seconds, wall = time.process_time() - begin, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows.append((what, f"{seconds:.1f}", f"{wall:.1f}", f"{peak:.2f}", f"BLEU {result.score:.2f}"))
    print(markdown_table(Table("Speed", ("what", "CPU s", "wall s", "peak GiB", ""), tuple(rows))))


if __name__ == "__main__":
    main()
