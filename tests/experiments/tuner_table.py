"""The table of tuners in the README: how each does on lists that it was not tuned on.

    python -m tests.experiments.tuner_table FOLDER [FEATURE ...]

FOLDER holds {tune,test}.nbest.xz and .ref (BLEU with tokenize=none); features are added to the decoder's own. Every
tuner starts from uniform weights. `cross-validation` is 5 folds of the tuning set, 3 seeds: the settings were chosen by
it. `test` is the mean, lowest and highest over 5 seeds; CPU seconds are of one tuning, compilation not counted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from rerank_adapters.cli import ADAPTERS
from rerank_adapters.config import Config, plugin_table
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.references import read_references
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.tasks.extracting import extract_with
from rerank_adapters.tasks.job import Data, Job
from rerank_adapters.tasks.learning import baseline_weights, start_weights, tuning_data
from rerank_adapters.tuning import cross_validate, held_out_score
from rerank_plugins import TuningResult
from rerank_plugins.plugins import load_plugins

SEEDS = range(1, 6)


def main(folder: Path, features: list[str]) -> None:
    tables = [plugin_table(feature) for feature in features]
    config = Config(metric=[{"use": "bleu", "tokenize": "none"}], feature=tables)
    job = Job.create(config, load_plugins(ADAPTERS))
    sets = {}
    for name in ("tune", "test"):
        nbests = read_nbest([folder / f"{name}.nbest.xz"], job.format, folder / f"{name}.src")
        references = read_references([folder / f"{name}.ref"]).for_segments([n.segment_id for n in nbests])
        table = extract_with(job, nbests, decoder_table(nbests))
        data = Data(name, nbests, references)
        sets[name] = data, table, tuning_data(job, data, table)
    data, table, problem = sets["tune"]
    test = sets["test"][2]
    start = start_weights(job, data, table)
    rows = []
    for name, weights in baseline_weights(job, data, table).items():
        unchanged = TuningResult(weights, 0.0)
        scores = [held_out_score(problem, unchanged), held_out_score(test, unchanged)]
        rows.append((name, "", *(f"{score:.2f}" for score in scores), "", ""))
    for name in job.registry.entries["tuner"]:
        tuner = job.builder.build("tuner", {"use": name})
        tuner.tune(problem, start, np.random.default_rng(0))  # compiles
        held_out = cross_validate(problem, {name: tuner}, start, 5, (1, 2, 3)).rows[0].mean
        begin = time.process_time()
        results = [tuner.tune(problem, start, np.random.default_rng(seed)) for seed in SEEDS]
        seconds = (time.process_time() - begin) / len(results)
        tests = [held_out_score(test, result) for result in results]
        tuned = np.mean([result.score for result in results])
        spread = f"{min(tests):.2f} to {max(tests):.2f}"
        rows.append((name, f"{held_out:.2f}", f"{tuned:.2f}", f"{np.mean(tests):.2f}", spread, f"{seconds:.2f}"))
    header = ("weights", "cross-validation", "tune", "test", "test, 5 seeds", "CPU s")
    print(markdown_table(Table(f"BLEU with {len(table.names)} features", header, tuple(rows))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
