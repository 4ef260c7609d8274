"""`rerank acceptability classify`: new sentences judged as learnt."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import jobs_option, output_option
from rerank_plugins.plugins import Registry


@click.command("classify")
@click.argument("text", default="-")
@click.option("-c", "--classifier", type=Path, required=True, metavar="FILE",
              help="From `rerank acceptability sentences --save`.")  # fmt: skip
@output_option("Where to write.")
@jobs_option
@click.pass_obj
def command(registry: Registry, text: str, classifier: Path, output: Path, jobs: int | None) -> None:
    """Accept or refuse each sentence of TEXT, one a line.

    A line of the output is label<TAB>score<TAB>sentence: 1 for acceptable, else 0. The score is the probability of
    being acceptable, for a classifier by logistic regression; else by how much the sentence exceeds the threshold. The
    classifier remembers its features and text steps.

    \b
    rerank acceptability classify essays.txt -c classifier.toml > judged.tsv
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.sentences.classification import margins_of, steps_of
    from rerank_adapters.applications.acceptability.sentences.classifier import read_classifier
    from rerank_adapters.formats.compressed import open_atomic
    from rerank_adapters.formats.references import read_lines
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.pipeline.provenance import recorded_job

    found = read_classifier(classifier)
    job: Job = recorded_job(found.provenance, classifier, registry)
    job = job.with_config({"jobs": jobs} if jobs else {})
    sentences = read_lines(text)
    margins = margins_of(job, found, sentences, steps_of(found, classifier.parent))
    scores = found.probabilities(margins) if found.kind == "logistic" else margins
    with open_atomic(output) as out:
        for sentence, margin, score in zip(sentences, margins.tolist(), scores.tolist(), strict=True):
            out.write(f"{int(margin > 0)}\t{score:.6g}\t{sentence}\n")
