"""Print the scores of each tuner on lists that it was not tuned on (docs/results/reranking.md).

Every tuner starts from uniform weights. `cross-validation` is the score of 5 folds of the tuning set with 3 seeds, by
which the settings were chosen. `test` has the mean, the lowest and the highest score over 5 seeds. CPU seconds are
those of one tuning, without compilation.

LISTS is a folder with tune.nbest.xz and test.nbest.xz (Moses), and .src and .ref of both, all tokenised; the metric is
BLEU with tokenize=none. Each FEATURE (`name,option=value`) is added to the decoder's own.
"""

from __future__ import annotations

import time
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FOLDER, Listed, experiment, file_of, say
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Spec, plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.run.learn import start_of, untuned_weights
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.sources import Sources
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.problem import problem_of, score_of
from rerank_plugins import TuningResult
from rerank_plugins.core.loader import load_plugins

SEEDS = (1, 2, 3, 4, 5)


@experiment("tuner_table", __doc__)
@click.argument("lists", type=FOLDER)
@click.argument("features", nargs=-1, metavar="[FEATURE]...")
@click.option("--tuners", type=Listed(str), default="", help="Tune with these tuners.  [default: every tuner]")
@click.option(
    "--seeds",
    type=click.IntRange(1, len(SEEDS)),
    default=len(SEEDS),
    help="Use this many seeds for the test set, and at most 3 of them for cross-validation.",
)
def main(lists: Path, features: tuple[str, ...], tuners: tuple[str, ...], seeds: int) -> None:
    """Extract the features, tune with each tuner and print the table."""
    tables = [plugin_table(feature) for feature in features]
    config = Config(metric=[{"use": "bleu", "tokenize": "none"}], feature=tables)
    job = Job.of(config, load_plugins(BUILTIN))
    sets = {}
    for name in ("tune", "test"):
        files = [file_of(lists, f"{name}.{ending}") for ending in ("nbest.xz", "src", "ref")]
        nbests = read_nbest([files[0]], job.format, Sources(files[1]).of)
        references = for_segments([read_texts(files[2], "reference")], [n.segment_id for n in nbests])
        table = job.extraction().table(nbests, decoder_table(nbests))
        data = Dataset(name, nbests, references)
        sets[name] = data, table, problem_of(data.lists, data.references, table, job.measures[0], job.config.tuning)
    data, table, problem = sets["tune"]
    test = sets["test"][2]
    start = start_of(job, data.lists, table)
    rows = []
    for name, weights in untuned_weights(job, data.lists, table).items():
        unchanged = TuningResult(weights, 0.0)
        scores = [score_of(problem, unchanged), score_of(test, unchanged)]
        rows.append((name, "", *(f"{score:.2f}" for score in scores), "", ""))
    known = job.registry.entries["tuner"]
    for name in tuners or [
        name for name, entry in known.items() if not entry.needs_options and not getattr(entry.factory, "extra", "")
    ]:
        say(f"tuning with {name}")
        tuner = Spec.read("tuner", {"use": name}, job.names).make()
        tuner.tune(problem, start, np.random.default_rng(0))  # compiles
        held_out = cross_validate(problem, {name: tuner}, start, 5, SEEDS[: min(3, seeds)]).rows[0].mean
        begin = time.process_time()
        results = [tuner.tune(problem, start, np.random.default_rng(seed)) for seed in SEEDS[:seeds]]
        seconds = (time.process_time() - begin) / len(results)
        tests = [score_of(test, result) for result in results]
        tuned = np.mean([result.score for result in results])
        spread = f"{min(tests):.2f} to {max(tests):.2f}"
        rows.append((name, f"{held_out:.2f}", f"{tuned:.2f}", f"{np.mean(tests):.2f}", spread, f"{seconds:.2f}"))
    header = ("weights", "cross-validation", "tune", "test", f"test, {seeds} seeds", "CPU s")
    print(markdown_table(Table(f"BLEU with {len(table.names)} features", header, tuple(rows))))


if __name__ == "__main__":
    main()
