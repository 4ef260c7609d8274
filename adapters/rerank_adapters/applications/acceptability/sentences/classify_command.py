"""`rerank acceptability classify`: classify new sentences with a saved classifier."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import jobs_option, output_option
from rerank_plugins.core.registry import Registry


@click.command("classify")
@click.argument("text", default="-")
@click.option("-c", "--classifier", type=Path, required=True, metavar="FILE",
              help="A classifier saved by `rerank acceptability sentences --save`.")  # fmt: skip
@output_option("Write the labels to this file.")
@jobs_option
@click.pass_obj
def command(registry: Registry, text: str, classifier: Path, output: Path, jobs: int | None) -> None:
    """Accept or reject each sentence of TEXT, which has one sentence per line.

    Each line of the output is label<TAB>score<TAB>sentence. The label is 1 for an acceptable sentence, 0 for another.
    The score of a classifier by logistic regression is the probability that the sentence is acceptable; otherwise it
    is the distance from the threshold. The file of the classifier also records its features and text steps.

    \b
    rerank acceptability classify essays.txt -c classifier.toml > labels.tsv
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.sentences.classification import recorded_text, sentence_margins
    from rerank_adapters.applications.acceptability.sentences.classifier import read_classifier
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.provenance import recorded_job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.references import read_lines
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    learnt = read_classifier(classifier)
    job: Job = recorded_job(learnt.provenance, classifier, registry)
    job = job.with_config({"jobs": jobs} if jobs else {})
    sentences = read_lines(text)
    margins = sentence_margins(job, learnt, sentences, recorded_text(learnt, classifier.parent))
    scores = learnt.probabilities(margins) if learnt.kind == "logistic" else margins
    with open_atomic(output) as out:
        for sentence, margin, score in zip(sentences, margins.tolist(), scores.tolist(), strict=True):
            out.write(f"{int(margin > 0)}\t{score:.6g}\t{sentence}\n")
    closing.wrote(f"{counted(len(sentences), 'sentence')}, {int((margins > 0).sum()):,} of them accepted", output)
