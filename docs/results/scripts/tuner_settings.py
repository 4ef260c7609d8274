"""Print how settings of tuners generalise, by cross-validation on the tuning set alone (docs/results/reranking.md).

Each SETTING is a tuner with its options, `mira,bags=10`, and these of the comparison: `start=decoder` starts from the
decoder's weights (which `prior` pulls towards), `select=true` selects families of features on each fold before tuning
(`margin=0` keeps the best set), and `metric=chrf` tunes by chrF instead of BLEU. The choices on held-out folds are
scored by BLEU and chrF. `against the first` is the difference in BLEU from the first setting, with its standard error
over the segments, both as means over the seeds; `tune` is the BLEU or chrF on the lists tuned on; CPU seconds are those
of one tuning.

LISTS is a folder with tune.nbest.xz (Moses), tune.src and tune.ref, all tokenised (BLEU has tokenize=none), and TABLE a
feature table that `rerank extract` has made of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, experiment, file_of, say
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import Spec, plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.run.learn import start_of
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.sources import Sources
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning.families import DECODER, families_of, standard_error
from rerank_adapters.tuning.held_out import Progress, held_out
from rerank_adapters.tuning.problem import problem_of
from rerank_adapters.tuning.selection import Selecting, Selection
from rerank_plugins import FeatureTable, FloatArray, RerankError, TuningData
from rerank_plugins.core.loader import load_plugins

METRICS = {"bleu": {"use": "bleu", "tokenize": "none"}, "chrf": {"use": "chrf"}}


@dataclass
class Remembering(Selecting):
    """Selects once on the same segments, which are known by their ids."""

    selections: dict[tuple[str, ...], Selection] = field(default_factory=dict)

    def select(
        self, data: TuningData, start: FloatArray, seed: int = 1, progress: Progress = lambda folds: None
    ) -> Selection:
        """The selection."""
        ids = data.table.segment_ids
        if ids not in self.selections:
            self.selections[ids] = super().select(data, start, seed, progress)
        return self.selections[ids]


@dataclass
class Comparison:
    """The data by metric, the start weights by name, the families, and how often each setting is tuned.

    Settings that are compared in the same process share `selections`.
    """

    job: Job
    data: dict[str, TuningData]
    starts: dict[str, FloatArray]
    families: dict[str, list[str]]
    folds: int
    seeds: int
    passes: int
    selections: dict[str, dict[tuple[str, ...], Selection]] = field(default_factory=dict)

    def __call__(self, setting: str) -> Outcome:
        """The choices of one setting on held-out folds; called in a worker process."""
        table = plugin_table(setting)
        metric, start = str(table.pop("metric", "bleu")), str(table.pop("start", "uniform"))
        selects, margin = table.pop("select", False), float(table.pop("margin", 1.0))
        tuner = Spec.read("tuner", table, self.job.names).make()
        if selects:
            selections = self.selections.setdefault(f"{metric} {start} {margin}", {})
            selector = Mira(passes=self.passes)
            tuner = Remembering(tuner, selector, self.families, [DECODER], 3, margin, HERE, selections)
        data = self.data[metric]
        offsets = data.table.offsets
        chosen = np.empty((self.seeds, data.table.segments), np.int64)
        scores = []
        begin = time.process_time()
        for seed in range(self.seeds):
            held = held_out(data, tuner, self.starts[start], self.folds, seed)
            chosen[seed] = offsets[:-1] + held.positions
            scores += held.training.tolist()
        seconds = (time.process_time() - begin) / len(scores)
        sizes = [len(s.families) for s in tuner.selections.values()] if isinstance(tuner, Remembering) else []
        return Outcome(chosen, float(np.mean(scores)), seconds, float(np.mean(sizes)) if sizes else 0.0)


@dataclass
class Outcome:
    """(seeds, segments) rows chosen, the mean score on the lists tuned on, CPU seconds, and families selected."""

    chosen: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    tuned: float
    seconds: float
    selected: float


@experiment("tuner_settings", __doc__)
@click.argument("lists", type=FOLDER)
@click.argument("table", type=FILE)
@click.argument("settings", nargs=-1, required=True, metavar="SETTING...")
@click.option("--folds", type=click.IntRange(2), default=5, help="Divide the lists into this many folds.")
@click.option("--seeds", type=click.IntRange(1), default=2, help="Repeat with this many divisions.")
@click.option("--passes", type=click.IntRange(1), default=15, help="Passes of MIRA within a selection (3 folds).")
@click.option("--noise", type=click.IntRange(0), default=0, help="Add this many features of random numbers.")
@click.option("--jobs", type=click.IntRange(1), default=2, help="Compare settings in this many processes.")
def main(
    lists: Path, table: Path, settings: tuple[str, ...], folds: int, seeds: int, passes: int, noise: int, jobs: int
) -> None:
    """Tune with each setting on all folds but one, choose on that one, and print the scores of all choices."""
    job = Job.of(Config(), load_plugins(BUILTIN))
    features = FeatureTable.load(table)
    job = job.of_table(features, table)
    files = [file_of(lists, f"tune.{ending}") for ending in ("nbest.xz", "src", "ref")]
    nbests = read_nbest([files[0]], job.format, Sources(files[1]).of)
    if [nbest.segment_id for nbest in nbests] != list(features.segment_ids):
        raise RerankError(f"{table}: not a table of the lists {files[0]}")
    references = for_segments([read_texts(files[2], "reference")], [nbest.segment_id for nbest in nbests])
    measures = {name: job.changed(metric=[metric]).measures[0] for name, metric in METRICS.items()}
    limits = job.config.tuning
    data = {name: problem_of(nbests, references, features, own, limits) for name, own in measures.items()}
    named = {name: job.changed(tuning={"start": name}) for name in ("uniform", "decoder")}
    starts = {name: start_of(own, nbests, features) for name, own in named.items()}
    if noise:
        data = {name: _with_noise(tuning, noise) for name, tuning in data.items()}
        starts = {
            "uniform": np.append(starts["uniform"], np.ones(noise)),
            "decoder": np.append(starts["decoder"], np.zeros(noise)),
        }
    compare = Comparison(job, data, starts, families_of(data["bleu"].table, job.features()), folds, seeds, passes)
    outcomes = []
    for setting, outcome in zip(settings, Processes(jobs).results(compare, settings, ordered=True), strict=True):
        outcomes.append(outcome)
        say(f"{setting} {_row(data, outcomes[0], outcome)}")
    rows = [(setting, *_row(data, outcomes[0], outcome)) for setting, outcome in zip(settings, outcomes, strict=True)]
    header = ("setting", "BLEU", "chrF", "against the first", "tune", "families", "CPU s")
    title = f"{folds} folds, {seeds} seeds, {len(data['bleu'].table.all_names)} features"
    print(markdown_table(Table(title, header, tuple(rows))))


def _with_noise(data: TuningData, number: int) -> TuningData:
    """The data with so many features of random numbers after its dense features, of which there must be no others."""
    values = np.random.default_rng(7).normal(size=(len(data.table.values), number))
    names = (*data.table.names, *(f"noise{i}" for i in range(number)))
    table = replace(data.table, names=names, values=np.hstack([data.table.values, values]))
    return replace(
        data,
        table=table,
        fixed=np.append(data.fixed, np.zeros(number, bool)),
        lower=np.append(data.lower, np.full(number, -np.inf)),
        upper=np.append(data.upper, np.full(number, np.inf)),
    )


def _row(data: dict[str, TuningData], first: Outcome, outcome: Outcome) -> tuple[str, ...]:
    """The cells of an outcome, compared with the first one."""
    bleu, chrf = (
        np.mean([d.metric.score(d.statistics[rows].sum(axis=0)) for rows in outcome.chosen]) for d in data.values()
    )
    metric, statistics = data["bleu"].metric, data["bleu"].statistics
    pairs = [[statistics[ours], statistics[theirs]] for ours, theirs in zip(outcome.chosen, first.chosen, strict=True)]
    gain = np.mean([metric.score(one.sum(axis=0)) - metric.score(other.sum(axis=0)) for one, other in pairs])
    error = np.mean([standard_error(metric, one, other) for one, other in pairs])
    against = f"{gain:+.2f} ± {error:.2f}" if outcome is not first else ""
    families = f"{outcome.selected:.1f}" if outcome.selected else ""
    return f"{bleu:.2f}", f"{chrf:.2f}", against, f"{outcome.tuned:.2f}", families, f"{outcome.seconds:.2f}"


if __name__ == "__main__":
    main()
