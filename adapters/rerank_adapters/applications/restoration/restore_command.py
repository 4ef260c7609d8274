"""`rerank restore`: makes incomplete sentences complete."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.restoration.options import (
    accuracy_option,
    candidates_option,
    method_option,
    model_option,
    ngram_option,
)
from rerank_adapters.commands.options import JobFlags, job_flags, output_file, output_option, style_option
from rerank_plugins.core.registry import Registry

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import Method


@click.command("restore")
@click.argument("text", default="-")
@model_option
@method_option
@ngram_option
@candidates_option
@click.option("--gaps", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="Fill the N most probable gaps of each sentence; 0 fills all.")  # fmt: skip
@click.option("-k", "words", type=click.IntRange(1), default=10, show_default=True, metavar="K",
              help="Fill each gap with its K most probable words.")  # fmt: skip
@click.option("--known-gaps", is_flag=True, help="Fill only the right gap where TEXT records it.")
@click.option("-w", "--weights", type=Path, metavar="FILE",
              help="Choose among the restored sentences by these weights, which record their features.")  # fmt: skip
@click.option("--decision", type=click.Choice(["likeliest", "fewest-edits"]), default="likeliest", show_default=True,
              help="Choose the most probable restoration, or that of the least expected edit distance in characters, "
                   "which leaves a sentence as it is where every word is probably wrong.")  # fmt: skip
@click.option("--layout", type=click.Choice(["text", "tsv", "json", "imputation"]), default="text", show_default=True,
              help="Print restored sentences, a line with the details of each, JSON objects, or CSV as a submission to "
                   "the billion-word imputation task.")  # fmt: skip
@click.option("--nbest-out", type=output_file, metavar="FILE",
              help="Also write all restored sentences, as n-best lists with their features.")  # fmt: skip
@accuracy_option
@style_option
@output_option("Write the sentences, or the accuracies, to this file.")
@job_flags("config", "format_", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, text: str, model: Path, method: Method, ngram: Path | None,
    candidates: int | None, gaps: int, words: int, known_gaps: bool, weights: Path | None, decision: str, layout: str,
    nbest_out: Path | None, accuracy: bool, style: str, output: Path,
) -> None:  # fmt: skip
    """Restore the missing word of each sentence of a TEXT.

    The most probable gaps are filled with their most probable words, and the sentence of the highest ln p(gap) + ln
    p(word | gap) is printed. All insertions form an n-best list (--nbest-out), so that any feature can rerank them:
    weights tuned on such lists are used with -w. TEXT has the same forms as for `rerank locate`.

    \b
    rerank restore test.csv -m news.mw --layout imputation \\
        --decision fewest-edits -o submission.csv
    rerank restore dev.incomplete -m news.mw --nbest-out dev.nbest -o dev.1best
    rerank tune dev.nbest -r dev.ref -m accuracy -f ngram-lm,model=lm.ngram \\
        -o weights.toml
    rerank restore test.incomplete -m news.mw -w weights.toml
    """  # noqa: D301
    from rerank_adapters.applications.restoration.filling import filling_source
    from rerank_adapters.applications.restoration.incomplete import parse_incomplete
    from rerank_adapters.applications.restoration.insertions import Inserting
    from rerank_adapters.applications.restoration.locating import Locating
    from rerank_adapters.applications.restoration.restoring import Restoring
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_plugins.kit.files.text import display_name, open_text

    closing = Closing()
    filling = filling_source(model, ngram, candidates, words)
    locating = Locating(model, method, gaps)
    locating.model  # noqa: B018  a model that cannot be read is reported before any work
    inserting = Inserting(locating, filling, gaps, words, known_gaps)
    restoring = Restoring.create(flags.settings, registry, weights, inserting, decision == "fewest-edits")
    with open_text(text) as lines:
        sentences = parse_incomplete(lines, display_name(text))
        if accuracy:
            number = restoring.report_accuracies(sentences, display_name(text), style, output, nbest_out)
        else:
            number = restoring.write(sentences, layout, output, nbest_out)
    if nbest_out is not None:
        closing.wrote(counted(number, "n-best list"), nbest_out)
    if not accuracy:
        closing.wrote(counted(number, "restored sentence"), output)
    elif str(output) != "-":
        closing.wrote(f"the accuracies on {counted(number, 'sentence')}", output)
