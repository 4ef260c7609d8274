"""`locate` and `rerank words locate`: the most probable gaps of sentences that lack a word; accuracies of methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from rerank_adapters.applications.missing_words.accuracy import (
    TOPS,
    answered,
    chance,
    print_accuracies,
    rank_of,
    top_accuracies,
)
from rerank_adapters.applications.missing_words.incomplete import Incomplete, read_incomplete
from rerank_adapters.applications.missing_words.options import (
    accuracy_option,
    in_batches,
    method_option,
    model_option,
    processes_option,
)
from rerank_adapters.applications.missing_words.printing import Layout
from rerank_adapters.cli.options import SummaryLine, output_option
from rerank_adapters.data.given_texts import Text, pipeline_of
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins import ConfigError
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.files.text import display_name

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import Method, MissingWordsModel


class Place(NamedTuple):
    """A gap and ln p of a word missing there, given that one is missing."""

    gap: int
    ln_p: float


@dataclass(frozen=True)
class Locating(PickledFields):
    """The task for a batch of sentences: the `k` most probable gaps of each, the best first (all of them for 0)."""

    source: Path | MissingWordsModel
    method: Method
    k: int

    @cached_property
    def model(self) -> MissingWordsModel:
        """The model; that of a file is mapped into memory."""
        from rerank_plugins.missing_words.model import read_model

        return read_model(self.source) if isinstance(self.source, Path) else self.source

    def load(self) -> MissingWordsModel:
        """Read the model now, so that one that cannot be read is reported before any work."""
        return self.model

    def __call__(self, batch: list[Incomplete]) -> list[list[Place]]:
        """The gaps of each sentence; of gaps of equal probability the earlier comes first."""
        located = self.model.locate([sentence.words for sentence in batch], self.method)
        places = []
        for ln_p in located:
            order = np.argsort(-ln_p, kind="stable")[: self.k or None]
            places.append([Place(gap, value) for gap, value in zip(order.tolist(), ln_p[order].tolist(), strict=True)])
        return places


def locate(
    texts: Iterable[Text] | Path,
    model: str | Path | MissingWordsModel,
    *,
    method: Method = "odds",
    top: int = 1,
    text: str | Sequence[str] = "none",
) -> Rows:
    r"""Where an inner word is missing from each text, by a model of missing words.

    The columns are `text`, `rank` and `position`, which count from 1, the words `before` and `after` the gap, and
    `ln_p`, given that one word is missing. A position is that of the missing word in the complete text. A text of one
    word has no gap, and no row.

    `texts`   texts that are tokenised (or name the text steps by `text`), sequences of words, or a Path: a file of any
              form that `rerank words locate` reads
    `model`   the file of `rerank train missing-words`, or the result of `read_model`
    `method`  "odds", "distance" or "ngram", as for the command
    `top`     the number of positions of each text

    Raises TypeError for a text in the place of several and for another model, FormatError for a text without words,
    with its number, ModelError for a file that cannot be read.

    >>> import pathlib, tempfile
    >>> from rerank_adapters import train
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "text").write_text("the cat sat on the mat\n" * 20)
    >>> _ = (folder / "held-out").write_text("the cat sat on the mat\n")
    >>> model = train("missing-words", folder / "text", folder / "model.mw", held_out=folder / "held-out")
    >>> locate(["the cat on the mat"], model)["position"]
    [3]
    """
    if top < 1:
        raise ConfigError(f"top is {top}, wanted 1 or more")
    from rerank_plugins.missing_words.model import METHODS, MissingWordsModel

    if not isinstance(model, str | Path | MissingWordsModel):
        raise TypeError(f"model: wanted the file of a model of missing words, or that model, found {model!r:.60}")
    if method not in METHODS:
        raise ConfigError(f"method: no method is named {method!r}{suggestion(method, METHODS)}")
    task = Locating(Path(model) if isinstance(model, str) else model, method, top)
    return LAYOUT.rows(in_batches(task, read_incomplete(texts, pipeline_of(text)), jobs=1))


def _cells(sentence: Incomplete, places: list[Place]) -> Iterator[tuple[object, ...]]:
    for rank, (gap, ln_p) in enumerate(places, 1):
        yield rank, gap + 2, sentence.words[gap], sentence.words[gap + 1], ln_p


def _record(sentence: Incomplete, places: list[Place]) -> dict[str, Any]:  # noqa: ARG001
    return {"places": [{"position": gap + 2, "ln_p": ln_p} for gap, ln_p in places]}


LAYOUT = Layout(("rank", "position", "before", "after", "ln_p"), _cells, _record)


def report_accuracies(sentences: Iterable[Incomplete], model: Path, name: str, jobs: int, form: str) -> None:
    """Print the accuracies of each method and those of chance."""
    from rerank_plugins.missing_words.model import METHODS

    known = list(answered(sentences, name))
    accuracies = {"chance": chance([len(sentence.words) - 1 for sentence in known])}
    with CountingBar("sentences located", len(METHODS) * len(known)) as bar:
        for method in METHODS:
            ranks = []
            for sentence, places in bar.over(in_batches(Locating(model, method, TOPS[-1]), known, jobs)):
                ranks.append(rank_of(sentence.gap, [place.gap for place in places]))
            accuracies[method] = top_accuracies(ranks)
    print_accuracies("Positions of missing words", accuracies, len(known), form)


@click.command("locate")
@click.argument("text", default="-", type=click.Path())
@model_option
@method_option
@click.option("--top", "most", type=click.IntRange(1), default=1, show_default=True, metavar="K",
              help="Print the K most probable positions in each sentence.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each position, or a JSON object for each sentence.")  # fmt: skip
@accuracy_option
@output_option("Write the positions to this file.")
@processes_option
def command(
    text: str, model: Path, method: Method, most: int, form: str, accuracy: bool, output: Path, jobs: int
) -> None:
    """Locate the missing word of each sentence of a TEXT.

    Each sentence lacks one of its inner words. TEXT has one sentence per line (tokenised), or is a file of `rerank
    words remove`. A position is the place of the missing word in the complete sentence, from 1; ln_p is its log
    probability given that one word is missing. A sentence of one word has no position. With --accuracy, all methods are
    compared with each other and with chance.

    \b
    echo 'he went the house' | rerank words locate -M news.mw --top 3
    rerank words locate novel.incomplete -M news.mw --accuracy
    """  # noqa: D301
    summary_line = SummaryLine()
    sentences = read_incomplete(Path(text))
    if accuracy:
        report_accuracies(sentences, model, display_name(text), jobs, form)
        return
    located = in_batches(Locating(model, method, most), sentences, jobs)
    number = LAYOUT.print(located, form, output, "sentence", "sentences located")
    summary_line.wrote(f"the positions of {number}", output)
