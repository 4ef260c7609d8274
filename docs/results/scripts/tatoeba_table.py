"""Print what families of features are worth on lists that were not tuned on (docs/results/reranking.md).

CONFIG describes the lists, the features, the metrics and the tuner, as for `rerank run`. Features are put into families
by what they use, and each row of the table is a system that is tuned on its own features: first the decoder's, then
these and more. `over` names the system that a row is compared with besides the 1-best. `everything` has all features of
the config, and is compared with two systems: without the syntactic families, and without the source side. In
`everything, MBR` its choices are MBR decisions by the weights of `everything`. `held out` is the score of 5-fold
cross-validation on the tuning set, with mean and standard deviation over the seeds; settings are chosen by it.

There is a table for each metric, with 95 % intervals and the p-values of approximate randomisation. The p-values of a
column of a table are corrected by Holm's method for their number.

With `--add FEATURE` (`name,option=value`, files relative to CONFIG) the rows show instead what further features bring
to some of these systems, each alone and all together. With `--halves` the weights are tuned on the test set too: each
set is reranked by the weights of the other, and the scores are those of both sets together.

\b
    DATA=… LISTS=tatoeba python -m docs.results.scripts.tatoeba_table configs/tatoeba-de-en.toml
    DATA=… python -m docs.results.scripts.tatoeba_table configs/neural.toml --halves \
        --add "column,label=reverse,file=../work/neural/{set}.reverse.gz"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation import Comparison, Evaluation, SegmentFacts, evaluate
from rerank_adapters.evaluation.result import MetricResult
from rerank_adapters.evaluation.significance import holm
from rerank_adapters.features.feature import columns_of
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.job.config import DataSet, read_config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.run import learn
from rerank_adapters.tuners.mbr import Mbr
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.problem import chosen_rows, problem_of
from rerank_plugins import FeatureTable, RerankError, TuningData
from rerank_plugins.core.loader import load_plugins

LISTS = "length and consensus"
NGRAMS, SOURCE = "n-gram models", "the source side"
DEPENDENCIES, TREELETS, HHMM, SVS = "dependencies", "treelets", "incremental parsing", "structured vectors"
SYNTAX = (DEPENDENCIES, TREELETS, HHMM, SVS)
FAMILIES = {  # family -> what its features use; features of other kinds belong to `everything` alone
    LISTS: ("length", "consensus"),
    NGRAMS: ("ngram-lm",),
    DEPENDENCIES: ("dependency-lm",),
    TREELETS: ("treelet-lm", "slr"),
    HHMM: ("hhmm-lm",),
    SVS: ("svs-similarity",),
    SOURCE: ("word-translation", "word-lexicon", "translation-memory", "language-model-ratio"),
}
FIRST, DECODER, EVERYTHING = "1-best", "decoder's features", "everything"
WITHOUT_SYNTAX, WITHOUT_SOURCE = "everything without syntax", "everything without the source side"
ALL_SYNTAX, MBR = "+ all syntactic families", "everything, MBR"


@dataclass(frozen=True)
class System:
    """A row: its name, the labels of its features beside the decoder's, and the rows that it is compared with."""

    name: str
    labels: frozenset[str]
    over: tuple[str, ...]


def systems_of(job: Job) -> Iterator[System]:
    """The systems that the features of the config allow, each compared with a simpler one."""
    uses = {label: str(table["use"]) for label, table in zip(job.labels, job.config.feature, strict=True)}
    family = {
        label: next((name for name, kinds in FAMILIES.items() if use in kinds), "") for label, use in uses.items()
    }

    def of(*names: str) -> frozenset[str]:
        return frozenset(label for label in uses if family[label] in names)

    base = System(DECODER, frozenset(), (FIRST,))
    yield base
    for name in (LISTS, NGRAMS):
        if labels := of(name):
            base = System(f"+ {name}", base.labels | labels, (base.name,))
            yield base
    everything, syntax, source = frozenset(uses), of(*SYNTAX), of(SOURCE)
    for name in (*SYNTAX, SOURCE):
        if name == SOURCE and any(of(one) not in (frozenset(), syntax) for one in SYNTAX):
            yield System(ALL_SYNTAX, base.labels | syntax, (base.name,))
        if labels := of(name):
            yield System(f"+ {name}", base.labels | labels, (base.name,))
    without = {WITHOUT_SYNTAX: syntax, WITHOUT_SOURCE: source}
    parts = {name: everything - labels for name, labels in without.items() if labels}
    for name, labels in parts.items():
        yield System(name, labels, (base.name,))
    yield System(EVERYTHING, everything, tuple(parts) or (base.name,))


def with_added(systems: Iterable[System], added: Sequence[str]) -> Iterator[System]:
    """Some of the systems, each before those with the added features; syntax is left out beside all of them too."""
    kept, over = {system.name: system for system in systems}, FIRST
    together = [tuple(added)] if len(added) > 1 else []
    for base in (DECODER, f"+ {LISTS}", f"+ {NGRAMS}", EVERYTHING):
        if base in kept:
            yield replace(kept[base], over=(over,))
            for labels in (*((label,) for label in added), *together):
                yield System(f"{base}, {' and '.join(labels)}", kept[base].labels | set(labels), (base,))
            over = base
    if WITHOUT_SYNTAX in kept:
        both = " and ".join(added)
        both_labels = kept[WITHOUT_SYNTAX].labels | set(added)
        yield System(f"{WITHOUT_SYNTAX}, {both}", both_labels, (f"{EVERYTHING}, {both}",))


class Lists:
    """A set of lists with its references, and a table of all features of the config."""

    def __init__(self, job: Job, part: DataSet, name: str) -> None:
        self.job, self.data = job, Dataset.read(part.name, job.files(part), job.format, "evaluation")
        decoder = decoder_table(self.data.lists, job.extraction(name).rule)
        self.decoder = decoder.names
        self.all = job.extraction(name).table(self.data.lists, decoder)

    def of(self, labels: frozenset[str]) -> TuningData:
        """What a tuner sees of the decoder's features and of those with these labels."""
        wanted = set(self.decoder) | {name for label in labels for name in columns_of(self.job.features())[label]}
        kept = [column for column, name in enumerate(self.all.names) if name in wanted]
        table = replace(self.all, names=tuple(self.all.names[i] for i in kept), values=self.all.values[:, kept])
        return problem_of(self.data.lists, self.data.references, table, self.job.measures[0], self.job.config.tuning)

    def texts(self, rows: np.ndarray) -> list[str]:
        """The hypotheses in these rows, one for each list."""
        positions = rows - self.all.offsets[:-1]
        return [nbest[position].text for nbest, position in zip(self.data.lists, positions, strict=True)]


@experiment("tatoeba_table", __doc__)
@click.argument("config", type=FILE)
@click.option("--add", "added", multiple=True, metavar="FEATURE", help="Show what this feature brings (repeatable).")
@click.option("--halves", is_flag=True, help="Rerank each of the two sets by weights that are tuned on the other.")
@click.option("--seeds", type=click.IntRange(0), default=5, help="Cross-validate with this many seeds; 0: not at all.")
@click.option("--jobs", type=click.IntRange(1), help="Extract features in this many processes.")
@click.option("--no-test", is_flag=True, help="Print only held-out scores, and leave the test set alone.")
def main(config: Path, added: tuple[str, ...], halves: bool, seeds: int, jobs: int | None, no_test: bool) -> None:
    """Extract the features once, tune and compare all systems, and print the tables."""
    job, of_tune, of_test = job_of(config, jobs)
    systems = list(systems_of(job))
    if added:
        tables = [plugin_table(spec) for spec in added]
        systems = list(with_added(systems, [str(table.get("label", table["use"])) for table in tables]))
        job = job.changed(feature=[*job.config.feature, *tables])
    tune = Lists(job, of_tune, "tune")
    test = None if no_test else Lists(job, of_test, of_test.name)
    directions = [] if test is None else [(tune, test), (test, tune)][: 1 + halves]
    reranked = [lists for _, lists in directions]
    outputs = {FIRST: [nbest[0].text for lists in reranked for nbest in lists.data.lists]} if reranked else {}
    held_out, columns = {FIRST: ""}, {FIRST: ""}
    for system in systems:
        say(f"tuning {system.name}")
        problem = tune.of(system.labels)
        columns[system.name] = str(len(problem.table.names))
        held_out[system.name] = ""
        if seeds:
            start = start_of(job, tune.data, problem.table)
            row = cross_validate(problem, {system.name: job.tuner}, start, 5, range(1, seeds + 1)).rows[0]
            held_out[system.name] = f"{row.mean:.2f}" + ("" if row.spread is None else f" ± {row.spread:.2f}")
        with_mbr = system.name == EVERYTHING and not added
        for learnt, seen in directions:
            texts = choices(job, learnt, seen, system, with_mbr)
            for name, chosen in zip((system.name, MBR), texts, strict=False):
                outputs.setdefault(name, []).extend(chosen)
        if with_mbr and test is not None:
            held_out[MBR], columns[MBR] = "", columns[EVERYTHING]
    over = {system.name: system.over for system in systems} | {MBR: (EVERYTHING,)}
    if test is None:
        rows = [(name, columns[name], held_out[name]) for name in over if name in held_out]
        print(markdown_table(Table(job.measures[0].name, ("features", "columns", "held out"), tuple(rows))))
        return
    pairs = [(name, other) for name, others in over.items() for other in others if other != FIRST and name in outputs]
    references = [several for lists in reranked for several in lists.data.references]
    nbests = [nbest for lists in reranked for nbest in lists.data.lists]
    resampling = job.config.evaluation.resampling(job.config.seed)
    facts = SegmentFacts(nbests=nbests)
    evaluation = evaluate(outputs, references, job.measures, resampling, facts, baseline=FIRST, pairs=pairs)
    for number, metric in enumerate(evaluation.metrics):
        more = (columns, held_out) if number == 0 else None
        print(markdown_table(table_of(evaluation, metric, more)))


def choices(job: Job, learnt: Lists, seen: Lists, system: System, with_mbr: bool) -> list[list[str]]:
    """The hypotheses that weights tuned on `learnt` choose in `seen`, and those of MBR decisions by these weights."""
    problem, wanted = learnt.of(system.labels), seen.of(system.labels)
    start, rng = start_of(job, learnt.data, problem.table), np.random.default_rng(job.config.seed)
    results = [job.tuner.tune(problem, start, rng)]
    if with_mbr:
        rng = np.random.default_rng(job.config.seed)
        results.append(Mbr(weights="start").tune(problem, results[0].weights, rng))
    return [seen.texts(chosen_rows(wanted, result)) for result in results]


def job_of(config: Path, jobs: int | None) -> tuple[Job, DataSet, DataSet]:
    """The job of a config, its tuning set, and its first test set; `jobs` processes, if not as the config says."""
    settings = read_config(config)
    job = Job.of(settings.model_copy(update={"jobs": jobs} if jobs else {}), load_plugins(BUILTIN))
    if job.config.tune is None or not job.config.test:
        raise RerankError(f"{config}: no [tune] or no [[test]] table, expected both")
    return job, job.config.tune, job.config.test[0]


def start_of(job: Job, data: Dataset, table: FeatureTable) -> np.ndarray:
    """The start weights that the config names, for the columns of the table."""
    start: np.ndarray = learn.start_of(job, data.lists, table)
    return start


def table_of(evaluation: Evaluation, metric: MetricResult, more: tuple[dict[str, str], dict[str, str]] | None) -> Table:
    """The scores by a metric, with the differences to the 1-best and to the systems that each is compared with."""
    compared = {score.system: score.comparison for score in metric.systems if score.comparison is not None}
    with_first = dict(zip(compared, cells(list(compared.values())), strict=True))
    with_others: dict[str, list[tuple[str, ...]]] = {}
    for pair, cell in zip(metric.pairs, cells([pair.comparison for pair in metric.pairs]), strict=True):
        with_others.setdefault(pair.system, []).append((pair.over, *cell))
    rows = []
    for score in metric.systems:
        name = score.system
        line = (name, *(cell[name] for cell in more or ()), f"{score.score:.2f}", *with_first.get(name, ("",) * 3))
        first, *others = with_others.get(name, [("",) * 4])
        rows.append((*line, *first))
        rows += [(*("",) * len(line), *other) for other in others]
    header = ("features", *(("columns", "held out") if more else ()), "test", "− 1-best", "95 % interval", "p")
    if metric.oracle is not None:
        rows.append(("oracle", *("",) * (2 if more else 0), f"{metric.oracle.best:.2f}", *("",) * 7))
    segments = len(evaluation.segments)
    return Table(
        f"{metric.name}, {segments} segments", (*header, "over", "difference", "95 % interval", "p"), tuple(rows)
    )


def cells(comparisons: Sequence[Comparison]) -> list[tuple[str, str, str]]:
    """The difference, its interval, and the p-value after Holm's correction over all these comparisons."""
    tested = [c.randomisation_p for c in comparisons if c.randomisation_p is not None]
    corrected = iter(holm(tested).tolist())
    result = []
    for comparison in comparisons:
        interval = comparison.interval
        between = f"{interval.low:+.2f} to {interval.high:+.2f}" if interval is not None else ""
        p_value = f"{next(corrected):.4f}" if comparison.randomisation_p is not None else ""
        result.append((f"{comparison.difference:+.2f}", between, p_value))
    return result


if __name__ == "__main__":
    main()
