"""Print what lists of different kinds are worth: beams of different sizes, samples, both together (docs/results/neural.md).

CONFIG describes the sentences, the features, the metrics and the tuner, as for `rerank run`. Each kind of LISTS is
NAME=FILE, or NAME=FILE+FILE for lists that are merged; `{set}` in a file stands for the name of the data set. For each
kind, the table has the mean number of distinct hypotheses, the score of the first hypothesis, that of each system after
tuning on lists of the same kind, and the oracle. With `--samples` it has MBR decisions too: the hypothesis of the
highest mean utility, with the samples as pseudo-references. The last columns compare the last tuned system with that on
the first kind of lists: p-values are those of approximate randomisation, corrected by Holm's method for their number.

\b
    DATA=… python -m docs.results.scripts.list_kinds configs/neural.toml beam5=work/neural/{set}.beam5.gz \\
        samples=work/neural/{set}.samples.gz --samples work/neural/{set}.samples.gz
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, named_values, say
from docs.results.scripts.tatoeba_table import (
    DECODER,
    EVERYTHING,
    FIRST,
    NGRAMS,
    WITHOUT_SYNTAX,
    Lists,
    cells,
    choices,
    job_of,
    systems_of,
)
from rerank_adapters.evaluation import Resampling, SegmentFacts, evaluate
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.job.config import DataSet
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import SET
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.tuners.within_lists import one_best

RICHEST = {"n-grams": f"+ {NGRAMS}", "no-syntax": WITHOUT_SYNTAX, "all": EVERYTHING}
UTILITIES = {"MBR, chrF": "chrf", "MBR, BLEU": "bleu"}


@experiment("list_kinds", __doc__)
@click.argument("config", type=FILE)
@click.argument("lists", nargs=-1, required=True, metavar="LISTS...")
@click.option("--samples", metavar="FILE", help="Show MBR decisions with these lists as pseudo-references.")
@click.option("--features", type=click.Choice(list(RICHEST)), default="all", help="Of the last system.")
@click.option("--jobs", type=click.IntRange(1), help="Extract features in this many processes.")
def main(config: Path, lists: tuple[str, ...], samples: str | None, features: str, jobs: int | None) -> None:
    """Extract the features, tune all systems on each kind of lists, and print the table of each metric."""
    kinds = named_values(lists, "NAME=FILE")
    job, of_tune, of_test = job_of(config, jobs)
    systems = [system for system in systems_of(job) if system.name in (DECODER, f"+ {NGRAMS}", RICHEST[features])]
    job = job.without(set(job.labels) - systems[-1].labels)
    rows: dict[str, list[list[str]]] = {measure.name: [] for measure in job.measures}
    last, references = {}, []
    for kind, files in kinds.items():
        say(f"lists of {kind}")
        tune, test = (Lists(job, with_lists(part, files, name), name) for name, part in
                      (("tune", of_tune), (of_test.name, of_test)))  # fmt: skip
        references = test.data.references
        outputs = {FIRST: [nbest[0].text for nbest in test.data.lists]}
        outputs |= {system.name: choices(job, tune, test, system, False)[0] for system in systems}
        last[kind] = outputs[systems[-1].name]
        for name, metric in UTILITIES.items() if samples else ():
            outputs[name] = minimum_bayes_risk(job, test, Path(samples or ""), metric)
        facts = SegmentFacts(nbests=test.data.lists)
        evaluation = evaluate(outputs, references, job.measures, Resampling(0, 0), facts, baseline=FIRST)
        size = np.mean([len(set(nbest.texts)) for nbest in test.data.lists])
        for result in evaluation.metrics:
            best = "" if result.oracle is None else f"{result.oracle.best:.2f}"
            scores = [f"{score.score:.2f}" for score in result.systems]
            rows[result.name].append([kind, f"{size:.1f}", *scores, best])
            header = ("lists", "hypotheses", *evaluation.systems, "oracle")
    first = next(iter(kinds))
    resampling = job.config.evaluation.resampling(job.config.seed)
    for result in evaluate(last, references, job.measures, resampling, baseline=first).metrics:
        compared = {score.system: score.comparison for score in result.systems if score.comparison is not None}
        tested = dict(zip(compared, cells(list(compared.values())), strict=True))
        lines = [(*row, *tested.get(row[0], ("",) * 3)) for row in rows[result.name]]
        title = f"{result.name}, {len(references)} segments"
        print(markdown_table(Table(title, (*header, f"− {first}", "95 % interval", "p"), tuple(lines))))


def with_lists(part: DataSet, files: str, name: str) -> DataSet:
    """A data set with other lists, `FILE+FILE`, which are merged."""
    return part.model_copy(update={"nbest": [Path(file.replace(SET, name)).resolve() for file in files.split("+")]})


def minimum_bayes_risk(job: Job, lists: Lists, samples: Path, metric: str) -> list[str]:
    """The hypotheses of the highest mean utility, with the samples of their segments as pseudo-references."""
    feature = {"use": "expected-utility", "samples": str(samples.resolve()), "metric": metric, "tokenize": "none"}
    job = job.changed(feature=[feature])
    decoder = decoder_table(lists.data.lists)
    table = job.extraction(lists.data.name).table(lists.data.lists, decoder)
    return lists.texts(one_best(table.values[:, -1], table.offsets))


if __name__ == "__main__":
    main()
