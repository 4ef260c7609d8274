"""`rerank words restore`: the insertions of sentences, reranked if there are weights, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from rerank_adapters.applications.missing_words.accuracy import answered, print_accuracies, rank_of, top_accuracies
from rerank_adapters.applications.missing_words.expected_edits import least_edits
from rerank_adapters.applications.missing_words.filling import filling_of_options
from rerank_adapters.applications.missing_words.incomplete import Incomplete, read_incomplete
from rerank_adapters.applications.missing_words.insertions import Inserting, Insertions
from rerank_adapters.applications.missing_words.locate import Locating
from rerank_adapters.applications.missing_words.options import (
    accuracy_option,
    candidates_option,
    in_batches,
    method_option,
    model_option,
    ngram_option,
)
from rerank_adapters.applications.missing_words.printing import Layout
from rerank_adapters.cli.options import FILE, SummaryLine, jobs_option, output_file, output_option
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.runtime.progress import counted
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import NBestList, Rescored
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.text import display_name

if TYPE_CHECKING:
    from rerank_adapters.evaluation.measure import Measure
    from rerank_adapters.features.extraction import Extraction
    from rerank_plugins.missing_words.model import Method


class Restored(NamedTuple):
    """The list of a sentence with its new order, if weights gave one, and the choice.

    `order` has the rows of the list, the best first. `position` (from 1) and `word` are those of the insertion, `score`
    is its score; they are None where the sentence is left as it is. `text` is the sentence that is printed.
    """

    nbest: NBestList
    rescored: Rescored | None
    order: Sequence[int]
    position: int | None
    word: str | None
    score: float | None
    text: str


def chosen(sentence: Incomplete, found: Insertions, rescored: Rescored | None, *, fewest_edits: bool) -> Restored:
    """The most probable insertion by the weights, if there are any, or that of the least expected edit distance."""
    nbest, ln_p = found.nbest, np.array([hypothesis.score or 0.0 for hypothesis in found.nbest])
    order, scores = (range(len(nbest)), ln_p) if rescored is None else (rescored.order, rescored.scores)
    incomplete = " ".join(sentence.words)
    row = order[0] if found.places else -1
    if found.places and fewest_edits:
        row = least_edits(incomplete, nbest.texts, scores, max(0.0, 1.0 - float(np.exp(ln_p).sum())))
    if row < 0:
        return Restored(nbest, rescored, order, None, None, None, incomplete)
    gap, word = found.places[row]
    return Restored(nbest, rescored, order, gap + 2, word, float(scores[row]), nbest[row].text)


COLUMNS = ("position", "word", "score", "restored")


def _cells(restored: Restored) -> tuple[object, ...]:
    return restored.position, restored.word, restored.score, restored.text


LAYOUT = Layout[Restored](
    COLUMNS,
    lambda _, restored: [_cells(restored)],
    lambda _, restored: dict(zip(COLUMNS, _cells(restored), strict=True)),
    lambda _, restored: restored.text,
)


def restore(
    sentences: Iterable[Incomplete],
    inserting: Inserting,
    extraction: Extraction,
    weights: Weights | None,
    measure: Measure | None,
    *,
    fewest_edits: bool,
) -> Iterator[tuple[Incomplete, Restored]]:
    """Yield each sentence with its restoration, in order and in bounded memory.

    The extraction has the features of the weights, and `measure` is the metric of their decision, if that needs one.
    """
    from rerank_adapters.apply import rerank

    pairs = in_batches(inserting, sentences, extraction.processes.jobs)
    if weights is not None:
        pairs, theirs = tee(pairs)
        tables = extraction.stream(found.nbest for _, found in theirs if found.places)
        for _, rescored in rerank(tables, weights, measure, features=extraction.features):
            for sentence, found in pairs:
                yield sentence, chosen(sentence, found, rescored if found.places else None, fewest_edits=fewest_edits)
                if found.places:
                    break
    for sentence, found in pairs:
        yield sentence, chosen(sentence, found, None, fewest_edits=fewest_edits)


def report_accuracies(
    restored: Iterable[tuple[Incomplete, Restored]], weights: Weights | None, name: str, form: str
) -> None:
    """Print how often the complete sentence is among the first ones."""
    from rerank_adapters.data.overlap import warn_if_tuned_on

    ranks, references = [], list[tuple[str]]()
    for sentence, one in restored:
        references.append((sentence.complete or "",))
        ranks.append(rank_of(sentence.complete, [one.nbest[row].text for row in one.order]))
    if weights is not None:
        warn_if_tuned_on(weights.provenance, references, name)
    print_accuracies("Restored sentences", {"restored": top_accuracies(ranks)}, len(ranks), form)


@click.command("restore")
@click.argument("text", default="-", type=click.Path())
@model_option
@method_option
@ngram_option
@candidates_option
@click.option("--max-gaps", "gaps", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="Fill the N most probable gaps of each sentence; 0 fills all.")  # fmt: skip
@click.option("--top", "words", type=click.IntRange(1), default=10, show_default=True, metavar="K",
              help="Fill each gap with its K most probable words.")  # fmt: skip
@click.option("-w", "--weights", type=FILE, metavar="FILE",
              help="Choose among the restored sentences by these weights, which record their features.")  # fmt: skip
@click.option("--decision", type=click.Choice(["likeliest", "fewest-edits"]), default="likeliest", show_default=True,
              help="Choose the most probable restoration, or that of the least expected edit distance in characters, "
                   "which leaves a sentence as it is where every word is probably wrong.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["text", "tsv", "json"]), default="text", show_default=True,
              help="Print restored sentences, a line with the details of each, or JSON objects.")  # fmt: skip
@click.option("--nbest-out", type=output_file, metavar="FILE",
              help="Also write all restored sentences, as n-best lists with their features.")  # fmt: skip
@accuracy_option
@output_option("Write the sentences to this file.")
@jobs_option
@click.pass_obj
def command(
    registry: Registry, text: str, model: Path, method: Method, ngram: Path | None, candidates: int | None, gaps: int,
    words: int, weights: Path | None, decision: str, form: str, nbest_out: Path | None, accuracy: bool, output: Path,
    jobs: int | None,
) -> None:  # fmt: skip
    """Restore the missing word of each sentence of a TEXT.

    The most probable gaps are filled with their most probable words, and the sentence of the highest ln p(gap) + ln
    p(word | gap) is printed; where two gaps lead to the same sentence, their probabilities add up. All insertions form
    an n-best list (--nbest-out), so that any feature can rerank them: weights tuned on such lists are used with -w.
    TEXT has the same forms as for `rerank words locate`. A sentence of one word is left as it is, and has no list.

    \b
    rerank words restore test.txt -M news.mw --decision fewest-edits
    rerank words restore dev.incomplete -M news.mw --nbest-out dev.nbest
    rerank tune dev.nbest -r dev.ref -m accuracy -f ngram-lm,model=lm.ngram \\
        -o weights.toml
    rerank words restore test.incomplete -M news.mw -w weights.toml
    """  # noqa: D301
    from rerank_adapters.job.config import Config
    from rerank_adapters.job.job import Job

    summary_line = SummaryLine()
    filling = filling_of_options(model, ngram, candidates, words)
    inserting = Inserting(Locating(model, method, gaps), filling, gaps, words)
    inserting.locating.load()
    job, tuned = Job.of(Config(), registry), read_weights(weights) if weights is not None else None
    if weights is not None and tuned is not None:
        job = Job.of_record(tuned.provenance, weights, registry)
    job = job.changed(jobs=jobs)
    measure = job.measures[0] if tuned is not None and tuned.decision == "mbr" else None
    extraction, fewest_edits = job.extraction(), decision == "fewest-edits"
    name, sentences, listed = display_name(text), read_incomplete(Path(text)), 0
    with ExitStack() as files:
        lists = files.enter_context(open_lists(nbest_out, job.format)) if nbest_out is not None else None

        def with_lists(sentences: Iterable[Incomplete]) -> Iterator[tuple[Incomplete, Restored]]:
            """Yield the restored sentences, each after its list was written."""
            nonlocal listed
            for sentence, one in restore(sentences, inserting, extraction, tuned, measure, fewest_edits=fewest_edits):
                if lists is not None and len(one.nbest):
                    lists.write(one.nbest, one.rescored)
                    listed += 1
                yield sentence, one

        if accuracy:
            report_accuracies(with_lists(answered(sentences, name)), tuned, name, form)
        else:
            done = "sentences restored" if tuned is None else ""  # with weights, the bar of the extraction is shown
            number = LAYOUT.print(with_lists(sentences), form, output, "restored sentence", done)
    if nbest_out is not None:
        summary_line.wrote(counted(listed, "n-best list"), nbest_out)
    if not accuracy:
        summary_line.wrote(number, output)
