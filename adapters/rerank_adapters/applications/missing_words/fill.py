"""`fill` and `rerank words fill`: the most probable words for a gap, and the accuracy.

`ContextFilling` mixes the five contexts of a model of missing words; `SubstituteFilling` takes the exact best
substitutes under an n-gram model (FASTSUBS, Yuret 2012).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from rerank_adapters.applications.missing_words.accuracy import TOPS, answered, print_accuracies, top_accuracies
from rerank_adapters.applications.missing_words.incomplete import Incomplete, incomplete_texts, parse_incomplete
from rerank_adapters.applications.missing_words.options import (
    accuracy_option,
    candidates_option,
    in_batches,
    ngram_option,
    processes_option,
)
from rerank_adapters.chain.loading import load
from rerank_adapters.commands.options import output_option
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.given_texts import Text, pipeline_of
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins import ConfigError
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text
from rerank_plugins.ngram.arpa_files import is_kenlm_binary
from rerank_plugins.ngram.model import NgramModel

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import MissingWordsModel
    from rerank_plugins.substitutes.fastsubs import FastSubs


COLUMNS = ("sentence", "rank", "position", "word", "ln_p")
PLACEHOLDER = "____"
LEAST_PROBABILITY = 1e-9  # a probability of zero is written as this


class Candidate(NamedTuple):
    """A word, its ln p in the gap, and the ln p of each part of which that is made (`parts` of its source)."""

    word: str
    ln_p: float
    parts: tuple[float, ...]


@dataclass(frozen=True)
class ContextFilling(PickledFields):
    """Candidates by the five contexts, among the `candidates` most frequent words of the model (all for None)."""

    source: Path | MissingWordsModel
    candidates: int | None

    @cached_property
    def model(self) -> MissingWordsModel:
        """The model; that of a file is mapped into memory. Raises ConfigError for more candidates than it has words."""
        from rerank_plugins.missing_words.model import read_model

        model = read_model(self.source) if isinstance(self.source, Path) else self.source
        model.checked_candidates(self.candidates)
        return model

    @property
    def parts(self) -> tuple[str, ...]:
        """The five contexts and 1-grams."""
        from rerank_plugins.missing_words.gap_words import COMPONENTS

        return COMPONENTS

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.model.checked_candidates(self.candidates)

    def fill(self, sentences: Sequence[Incomplete], gaps: Sequence[int], k: int) -> list[list[Candidate]]:
        """The candidates with ln p by the mixture; a part that does not have the word has ln 1e-9."""
        model = self.model
        neighbours = model.neighbours([sentence.words for sentence in sentences], gaps)
        filled = model.fill(neighbours, k, self.candidates)
        words, ln_p = model.vocabulary.words, np.log(np.maximum(filled.p, LEAST_PROBABILITY)).tolist()
        parts = np.log(np.maximum(filled.parts, LEAST_PROBABILITY)).tolist()
        return [
            [Candidate(words[number], ln, tuple(row)) for number, ln, row in zip(*rows, strict=True) if number >= 0]
            for rows in zip(filled.words.tolist(), ln_p, parts, strict=True)
        ]


@dataclass(frozen=True)
class SubstituteFilling(PickledFields):
    """Candidates by an n-gram model: ln p of the windows that contain the gap, normalised over the `k` candidates."""

    source: Path | NgramModel

    @cached_property
    def substitutes(self) -> FastSubs:
        """The n-gram model with its queues."""
        from rerank_plugins.substitutes.fastsubs import FastSubs

        return FastSubs(NgramModel.load(self.source) if isinstance(self.source, Path) else self.source)

    @property
    def parts(self) -> tuple[str, ...]:
        """The ln p of the windows as it is."""
        return ("windows",)

    @property
    def size(self) -> int:
        """The number of words of the n-gram model."""
        from rerank_plugins.missing_words.gap_words import FIRST

        return len(self.substitutes.ngrams.vocabulary) - FIRST

    def fill(self, sentences: Sequence[Incomplete], gaps: Sequence[int], k: int) -> list[list[Candidate]]:
        """The exact best substitutes."""
        model = self.substitutes
        texts = [
            (*sentence.words[: gap + 1], PLACEHOLDER, *sentence.words[gap + 1 :])
            for sentence, gap in zip(sentences, gaps, strict=True)
        ]
        tokens = model.encode(texts)
        starts = np.cumsum([0, *(len(text) + 2 for text in texts)])[:-1]  # of `<s>`
        best = model.top_places(tokens, starts + np.asarray(gaps, np.int64) + 2, k)
        words = model.ngrams.vocabulary.words
        ln_p = best.ln_p - np.logaddexp.reduce(best.ln_p, axis=1, keepdims=True) if len(texts) else best.ln_p
        return [
            [Candidate(words[number], ln, (raw,)) for number, ln, raw in zip(*rows, strict=True) if number >= 0]
            for rows in zip(best.words.tolist(), ln_p.tolist(), best.ln_p.tolist(), strict=True)
        ]


Filling = ContextFilling | SubstituteFilling  # a source of the best words for one gap of each sentence, best first


def filling_source(model: Path | None, ngram: Path | None, candidates: int | None, k: int) -> Filling:
    """The source of `k` words for a gap: the n-gram model if options name one, else the model of missing words.

    The model is read, so that errors come before any work. Raises ConfigError for a number of candidates of an n-gram
    model, and for more words than there are; ModelError for a model that cannot be read.
    """
    if ngram is not None and candidates is not None:
        raise ConfigError("--max-candidates limits the words of a model of missing words (-M), not of --ngram")
    source = SubstituteFilling(ngram) if ngram is not None else ContextFilling(model or Path(), candidates)
    if k > source.size:
        raise ConfigError(f"--top {k}: there are only {source.size:,} words to fill with")
    return source


def best_words(source: Filling, k: int, batch: list[Incomplete]) -> list[list[Candidate]]:
    """The `k` best candidates for each sentence of a batch, whose gaps are known."""
    return source.fill(batch, [sentence.gap or 0 for sentence in batch], k)


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
    `model`       the file of `rerank train missing-words` or what `read_model` has read of it; or an n-gram model by
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
    sentences = incomplete_texts(texts, pipeline_of(text), gaps=True)
    filled = in_batches(partial(best_words, source, top), sentences, jobs=1)
    rows = (
        (number, rank, (sentence.gap or 0) + 2, candidate.word, candidate.ln_p)
        for number, (sentence, words) in enumerate(filled, 1)
        for rank, candidate in enumerate(words, 1)
    )
    return Rows(["text", *COLUMNS[1:]], rows)


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


def as_table(filled: Iterable[tuple[Incomplete, list[Candidate]]]) -> Iterator[str]:
    """A tab-separated line for each candidate, header first."""
    yield "\t".join(COLUMNS) + "\n"
    for sentence, candidates in filled:
        for rank, candidate in enumerate(candidates, 1):
            cells = sentence.id, rank, (sentence.gap or 0) + 2, candidate.word, f"{candidate.ln_p:.6g}"
            yield "\t".join(map(str, cells)) + "\n"


def as_json(filled: Iterable[tuple[Incomplete, list[Candidate]]], parts: Sequence[str]) -> Iterator[str]:
    """A JSON object on a line for each sentence, with the parts of each probability."""
    for sentence, candidates in filled:
        words = [
            {"word": candidate.word, "ln_p": candidate.ln_p, **dict(zip(parts, candidate.parts, strict=True))}
            for candidate in candidates
        ]
        position = (sentence.gap or 0) + 2
        yield json_line({"sentence": sentence.id, "position": position, "words": words}) + "\n"


def report_accuracies(sentences: Iterable[Incomplete], filling: Filling, name: str, jobs: int, form: str) -> None:
    """Print how often the right word is among the first words."""
    ranks = []
    with CountingBar("sentences filled") as bar:
        task = partial(best_words, filling, min(TOPS[-1], filling.size))
        filled = in_batches(task, answered(sentences, name), jobs)
        for sentence, candidates in bar.over(filled):
            word, words = normal_form(sentence.word or ""), [normal_form(candidate.word) for candidate in candidates]
            ranks.append(words.index(word) if word in words else None)
    system = "substitutes" if isinstance(filling, SubstituteFilling) else "five contexts"
    print_accuracies("Missing words", {system: top_accuracies(ranks)}, len(ranks), form)


@click.command("fill")
@click.argument("text", default="-")
@click.option("-M", "--model", type=Path, metavar="MODEL",
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
    source = filling_source(model, ngram, candidates, most)
    with open_text(text) as lines:
        sentences = parse_incomplete(lines, display_name(text), gaps=True)
        if accuracy:
            report_accuracies(sentences, source, display_name(text), jobs, form)
            return
        with open_atomic(output) as out, CountingBar("sentences filled") as bar:
            filled = bar.over(in_batches(partial(best_words, source, most), sentences, jobs))
            if form == "text":
                out.writelines(f"{sentence.restored(sentence.gap or 0, words[0].word)}\n" for sentence, words in filled)
            else:
                out.writelines(as_json(filled, source.parts) if form == "json" else as_table(filled))
    summary_line.wrote(f"the words of {counted(bar.done, 'sentence')}", output)
