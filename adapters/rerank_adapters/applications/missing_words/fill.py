"""`fill` and `rerank words fill`: the most probable words for a gap, and the accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from rerank_adapters.applications.missing_words.accuracy import (
    TOPS,
    answered,
    print_accuracies,
    rank_of,
    top_accuracies,
)
from rerank_adapters.applications.missing_words.filling import (
    Candidate,
    ContextFilling,
    Filling,
    SubstituteFilling,
    best_words,
    filling_of_options,
)
from rerank_adapters.applications.missing_words.incomplete import Incomplete, read_incomplete
from rerank_adapters.applications.missing_words.options import (
    accuracy_option,
    candidates_option,
    in_batches,
    ngram_option,
    processes_option,
)
from rerank_adapters.applications.missing_words.printing import Layout
from rerank_adapters.cli.options import FILE, SummaryLine, output_option
from rerank_adapters.data.given_texts import Text, pipeline_of
from rerank_adapters.job.models import load
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins import ConfigError
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.kit.files.text import display_name
from rerank_plugins.ngram.arpa_files import is_kenlm_binary
from rerank_plugins.ngram.model import NgramModel


def fill(
    texts: Iterable[Text] | Path,
    model: Any = "ngram-lm",
    *,
    top: int = 1,
    candidates: int | None = None,
    text: str | Sequence[str] = "none",
) -> Rows:
    """The most probable words for the blank of each text, by a model of missing words or an n-gram model.

    The columns are `text`, `rank` and `position`, which count from 1, the `word`, and `ln_p`, normalised over the words
    of a model of missing words, or over the `top` words of an n-gram model.

    `texts`       texts that are tokenised (or name the text steps by `text`) or sequences of words, with a blank (____)
                  between two words; or a Path: a file of any form that `rerank words fill` reads
    `model`       the file of `rerank train missing-words` or the result of `read_model`; or an n-gram model by
                  file, by name or as a language model
    `top`         the number of words for each blank
    `candidates`  only so many of the most frequent words of a model of missing words may fill it

    Raises TypeError for a text in the place of several, FormatError for a text without a blank, with its number,
    ConfigError for more words than there are.

    >>> fill(["the ____ of the house"], top=3)
    text  rank  position  word         ln_p
       1     1         2  door    -0.759574
       1     2         2  master   -1.15852
       1     3         2  lady     -1.52241
    """
    source = _source_of(model, candidates)
    if not 1 <= top <= source.size:
        raise ConfigError(f"top is {top}, wanted a number from 1 to {source.size}")
    sentences = read_incomplete(texts, pipeline_of(text), gaps=True)
    return layout_of(source).rows(in_batches(partial(best_words, source, top), sentences, jobs=1))


def _source_of(model: Any, candidates: int | None) -> Filling:
    """The source of words that a model is, by file, by name or as an object. Raises ConfigError for another model."""
    from rerank_plugins.missing_words.model import FILE, MissingWordsModel

    if isinstance(model, MissingWordsModel):
        return ContextFilling(model, candidates)
    is_file = isinstance(model, Path) or (isinstance(model, str) and Path(model).is_file())
    if is_file and not is_kenlm_binary(Path(model)) and model_kind(Path(model)) == FILE.kind:
        return ContextFilling(Path(model), candidates)
    if candidates is not None:
        raise ConfigError("candidates limits the words of a model of missing words, not of an n-gram model")
    ngrams = NgramModel.load(Path(model)) if is_file else getattr(load(model, "language_model"), "ngrams", None)
    if not isinstance(ngrams, NgramModel):
        raise ConfigError(f"model: wanted a model of missing words or an n-gram model, found {model!r:.60}")
    return SubstituteFilling(ngrams)


def layout_of(source: Filling) -> Layout[list[Candidate]]:
    """How the words of a source are printed; JSON objects have the parts of each probability."""

    def position(sentence: Incomplete) -> int:
        return (sentence.gap or 0) + 2

    def cells(sentence: Incomplete, words: list[Candidate]) -> Iterator[tuple[object, ...]]:
        for rank, candidate in enumerate(words, 1):
            yield rank, position(sentence), candidate.word, candidate.ln_p

    def record(sentence: Incomplete, words: list[Candidate]) -> dict[str, Any]:
        found = [{"word": c.word, "ln_p": c.ln_p, **dict(zip(source.parts, c.parts, strict=True))} for c in words]
        return {"position": position(sentence), "words": found}

    def text(sentence: Incomplete, words: list[Candidate]) -> str:
        return sentence.restored(sentence.gap or 0, words[0].word)

    return Layout(("rank", "position", "word", "ln_p"), cells, record, text)


def report_accuracies(sentences: Iterable[Incomplete], filling: Filling, name: str, jobs: int, form: str) -> None:
    """Print how often the right word is among the first words."""
    ranks = []
    with CountingBar("sentences filled") as bar:
        task = partial(best_words, filling, min(TOPS[-1], filling.size))
        for sentence, candidates in bar.over(in_batches(task, answered(sentences, name), jobs)):
            words = [normal_form(candidate.word) for candidate in candidates]
            ranks.append(rank_of(normal_form(sentence.word or ""), words))
    system = "substitutes" if isinstance(filling, SubstituteFilling) else "five contexts"
    print_accuracies("Missing words", {system: top_accuracies(ranks)}, len(ranks), form)


@click.command("fill")
@click.argument("text", default="-", type=click.Path())
@click.option("-M", "--model", type=FILE, metavar="MODEL",
              help="Model of missing words (`rerank train missing-words`).")  # fmt: skip
@ngram_option
@candidates_option
@click.option("--top", "most", type=click.IntRange(1), default=1, show_default=True, metavar="K",
              help="Print the K most probable words of each sentence.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["tsv", "json", "text"]), default="tsv", show_default=True,
              help="Print a line for each word, a JSON object for each sentence, or the sentences with their best "
                   "words.")  # fmt: skip
@accuracy_option
@output_option("Write the words to this file.")
@processes_option
def command(
    text: str, model: Path | None, ngram: Path | None, candidates: int | None, most: int, form: str, accuracy: bool,
    output: Path, jobs: int,
) -> None:  # fmt: skip
    """Fill the blank of each sentence of a TEXT.

    TEXT has a tokenised sentence a line, with a blank of three or more underscores between two words, or is a file of
    `rerank words remove`. The words come from the five contexts of a model (-M), as relative frequencies mixed with
    tuned weights, or from the windows of an n-gram model (--ngram) around the blank; ln_p is normalised over the words
    of the model, or over the K words that are printed.

    \b
    echo 'he went ____ the house' | rerank words fill -M news.mw --top 10
    rerank words fill novel.incomplete --ngram lm.ngram --accuracy
    """  # noqa: D301
    summary_line = SummaryLine()
    if (model is None) == (ngram is None):
        raise ConfigError("give one of -M (a model of missing words) and --ngram (an n-gram model)")
    source = filling_of_options(model, ngram, candidates, most)
    sentences = read_incomplete(Path(text), gaps=True)
    if accuracy:
        report_accuracies(sentences, source, display_name(text), jobs, form)
        return
    filled = in_batches(partial(best_words, source, most), sentences, jobs)
    number = layout_of(source).print(filled, form, output, "sentence", "sentences filled")
    summary_line.wrote(f"the words of {number}", output)
