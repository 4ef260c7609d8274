"""`rerank acceptability classify`: accepts or rejects sentences by a trained classifier."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.applications.acceptability.sentence_classifier import SentenceClassifier
from rerank_adapters.cli.options import FILE, SummaryLine, jobs_option, output_option
from rerank_adapters.runtime.progress import counted
from rerank_adapters.texts.reading import read_lines
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.text import open_atomic


@click.command("classify")
@click.argument("text", default="-", type=click.Path())
@click.option("--classifier", type=FILE, required=True, metavar="FILE",
              help="A classifier saved by `rerank acceptability sentences --save`.")  # fmt: skip
@output_option("Write the labels to this file.")
@jobs_option
@click.pass_obj
def command(registry: Registry, text: str, classifier: Path, output: Path, jobs: int | None) -> None:
    """Accept or reject each sentence of TEXT, which has one sentence per line.

    Each line of the output is label<TAB>score<TAB>sentence. The label is 1 for an acceptable sentence, 0 for another.
    The score of a classifier by logistic regression is the probability that the sentence is acceptable; otherwise it
    is the distance from the threshold. Labels follow the threshold that was tuned, which need not be at probability
    1/2. A tab in a sentence becomes a space. The file of the classifier also records its features and text steps.

    \b
    rerank acceptability classify essays.txt --classifier cola.toml > labels.tsv
    """  # noqa: D301
    summary_line = SummaryLine()
    rows = SentenceClassifier.load(classifier, registry, jobs=jobs or 2).predict(read_lines(text))
    with open_atomic(output) as out:
        for row in rows:
            sentence = row["text"].replace("\t", " ")
            out.write(f"{int(row['acceptable'])}\t{row['score']:.6g}\t{sentence}\n")
    summary_line.wrote(f"{counted(len(rows), 'sentence')}, {sum(rows['acceptable']):,} of them accepted", output)
