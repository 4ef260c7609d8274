"""`rerank train ngram`: trains an n-gram language model on text."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.memory_options import memory_line, memory_options, workspace_for
from rerank_adapters.applications.training.reports import echo_perplexity, say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import (
    language_option,
    model_output,
    output_file,
    scheduler_option,
    text_steps,
    tokenised_text_option,
)
from rerank_plugins import __version__

if TYPE_CHECKING:
    from rerank_adapters.formats.text_pieces import TextPiece
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.kit.workspace import Workspace
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.ngram.training import NgramSettings, Trained

BLOCK = 1000  # lines that go through the text steps at a time


@click.command("ngram")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option("--order", type=click.IntRange(1, 6), default=5, show_default=True,
              help="Length of the longest n-grams.")  # fmt: skip
@click.option("--smoothing", type=click.Choice(["kneser-ney", "stupid-backoff"]), default="kneser-ney",
              show_default=True, help="Interpolated modified Kneser–Ney smoothing, or stupid backoff.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=1,
              help="Treat words that occur less often than this as unknown. Default: 1.")  # fmt: skip
@click.option("--words", type=click.IntRange(1), metavar="N",
              help="Keep only the N most frequent words in the vocabulary.")  # fmt: skip
@click.option("--closed", is_flag=True, help="Give unknown words no probability (a closed vocabulary).")
@click.option("--prune", default="0", metavar="COUNTS",
              help="Prune n-grams that occur at most this often, one count for each order: 0,0,1.")  # fmt: skip
@language_option("none")
@tokenised_text_option
@click.option("--prune-entropy", type=click.FloatRange(0), default=0.0, metavar="SHARE",
              help="Prune also n-grams whose removal raises perplexity by less than this fraction: 1e-8.")  # fmt: skip
@click.option("--quantise", type=click.IntRange(2, 16), metavar="BITS",
              help="Store each probability and weight in this many bits (8 change the perplexity by less than 0.1 %). "
              "Default: exact values.")  # fmt: skip
@click.option("--arpa", type=output_file, metavar="FILE",
              help="Write the model in ARPA format too (compressed if the name ends in .gz).")  # fmt: skip
@click.option("--held-out", multiple=True, metavar="FILE",
              help="Report the perplexity of this text. Repeatable.")  # fmt: skip
@memory_options
@scheduler_option
@click.option("-j", "--jobs", type=click.IntRange(1), help="Number of threads. Default: all cores.")
def command(
    texts: tuple[str, ...], output: Path, order: int, smoothing: str, min_count: int, words: int | None,
    closed: bool, prune: str, prune_entropy: float, quantise: int | None, language: str, steps: tuple[str, ...],
    arpa: Path | None, held_out: tuple[str, ...], memory: int, temporary: Path | None, jobs: int | None,
) -> None:  # fmt: skip
    """Train an n-gram language model on tokenised TEXT with one sentence per line.

    With the default settings, the model equals that of KenLM's lmplz; `--arpa` writes it in a form that KenLM and SRILM
    read. The language model `ngram` and the feature `ngram-lm` read the model file.

    \b
    rerank train ngram news.en.gz novels.en --prune 0,0,1 --held-out dev.en \\
        -o lm.ngram
    rerank score dev.en -m lm.ngram
    """  # noqa: D301
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.ngram.language_model import NgramLanguageModel
    from rerank_plugins.ngram.training import NgramSettings, parse_prune

    closing = Closing()
    cutoffs = parse_prune(prune)
    settings = NgramSettings(order, smoothing, cutoffs, min_count, words, closed, quantise, prune_entropy)  # type: ignore[arg-type]
    workspace = workspace_for(memory, temporary, output)
    text = TextPipeline(text_steps(steps, ()))
    jobs = jobs or os.cpu_count() or 1
    trained, size = train_ngram(texts, output, settings, workspace, text=text, language=language, arpa=arpa, jobs=jobs)
    for line in (*_text_lines(trained), *_order_lines(trained), memory_line(workspace)):
        say(line)
    for held_out_text in held_out:
        echo_perplexity(NgramLanguageModel(output), held_out_text)
    if arpa is not None:
        closing.wrote("the model in ARPA format", arpa)
    closing.wrote(f"the model ({size_text(size)})", output)


def train_ngram(
    texts: Sequence[str],
    output: Path,
    settings: NgramSettings,
    workspace: Workspace,
    *,
    text: TextPipeline | None = None,
    language: str = "",
    arpa: Path | None = None,
    jobs: int = 2,
) -> tuple[Trained, int]:
    """Train a model on files and write it, also as ARPA; return it with the size of its file in bytes.

    Lines go through the steps of `text` before they are counted; the file records them and the code of the `language`.

    Raises FormatError for a file that cannot be read, ModelError where there are no words, or for a model that ARPA
    cannot hold.
    """
    from rerank_adapters.runtime.cluster import on_cluster
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.core.trained_on import TrainedOn
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.ngram.training import train

    with StatusLine() as stages:
        if on_cluster():
            trained = _train_on_cluster(texts, settings, workspace, text, stages)
        else:
            trained = train(opened(texts, text), settings, workspace=workspace, jobs=jobs, progress=stages)
        trained.ngrams.settings.update(texts=[display_name(text) for text in texts], version=__version__)
        stages("writing")
        size = trained.ngrams.save(output, TrainedOn(language, text=text.describe() if text else ""))
        if arpa is not None:
            stages("writing ARPA")
            write_arpa(trained.ngrams, arpa)
    return trained, size


def _train_on_cluster(
    texts: Sequence[str],
    settings: NgramSettings,
    workspace: Workspace,
    text: TextPipeline | None,
    progress: Callable[[str, int], None],
) -> Trained:
    """The same model, trained by the workers of the cluster in use."""
    from rerank_adapters.applications.training.estimators import sharing_in_use
    from rerank_adapters.formats.text_pieces import text_pieces
    from rerank_adapters.runtime.cluster import each
    from rerank_plugins.ngram.shards import train_shards

    pieces, (parts, memory) = text_pieces(texts), sharing_in_use(workspace)
    return train_shards(
        pieces, _Opened(text), settings, workspace=workspace, share=each, parts=parts, memory=memory, progress=progress
    )


@dataclass(frozen=True)
class _Opened:
    """Opens a piece of a text, for a task on another machine."""

    text: TextPipeline | None

    @contextmanager
    def __call__(self, piece: TextPiece) -> Iterator[tuple[str, Iterator[str]]]:
        from rerank_adapters.formats.text_pieces import open_piece

        with open_piece(piece) as lines:
            yield piece.path, _through(self.text, lines) if self.text and self.text.steps else lines


def opened(texts: Iterable[str], text: TextPipeline | None = None) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name of each file and its lines after the steps. Raises FormatError for a file that cannot be read."""
    from rerank_plugins.kit.files.text import display_name, open_text

    for path in texts:
        with open_text(path) as lines:
            yield display_name(path), _through(text, lines) if text and text.steps else lines


def _through(text: TextPipeline, lines: Iterator[str]) -> Iterator[str]:
    while block := list(islice(lines, BLOCK)):
        for line in text.apply([line.rstrip("\r\n") for line in block]):
            yield line + "\n"


def write_arpa(ngrams: NgramModel, path: Path) -> None:
    """Write the model as ARPA text, compressed according to the ending of the name. Raises ModelError, OSError."""
    from rerank_plugins.kit.files.text import open_atomic
    from rerank_plugins.ngram.arpa_writer import arpa_text

    with open_atomic(path) as out:
        for piece in arpa_text(ngrams.tables, ngrams.vocabulary.words):
            out.write(piece.decode())


def _text_lines(trained: Trained) -> Iterator[str]:
    known = len(trained.ngrams.vocabulary) - 3  # without <s>, </s> and <unk>
    yield f"{counted(trained.sentences, 'sentence')}, {counted(trained.words, 'word')}, {known:,} distinct known words"
    if trained.unknown:
        share = f"{trained.unknown / trained.words:.2%}"
        yield f"{trained.unknown:,} words ({share}) are unknown, because the vocabulary is cut off"


def _order_lines(trained: Trained) -> Iterator[str]:
    for order, counts in enumerate(trained.orders, 1):
        line = f"{order}-grams {counts.kept:,}"
        if counts.kept != counts.ngrams:
            line += f" of {counts.ngrams:,}"
        if any(counts.discounts):
            line += "  D1 {:.4f} D2 {:.4f} D3+ {:.4f}".format(*counts.discounts)
        yield line + ("" if counts.enough else " (fixed: there is too little text to estimate them)")
