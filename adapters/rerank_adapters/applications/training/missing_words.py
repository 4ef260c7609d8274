"""`rerank train missing-words`: counts a text, so that missing words can be located and filled in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.applications.training.memory_options import memory_line, memory_options, workspace_for
from rerank_adapters.applications.training.ngram import opened
from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.kit.workspace import Workspace
    from rerank_plugins.missing_words.model import MissingWordsModel
    from rerank_plugins.missing_words.training import Settings


@click.command("missing-words")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option("--window", type=click.IntRange(2, 10), default=4, show_default=True, metavar="W",
              help="Locate words by the pairs of a window of this many words, an even number.")  # fmt: skip
@click.option("--gamma", "gammas", type=click.FloatRange(0), multiple=True, metavar="G",
              help="The exponent γ by which many votes count more than few. Repeatable: the best is chosen on held-out "
                   "sentences. Default: 0, 0.01, 0.03, 0.1 and 0.3.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=2, show_default=True,
              help="Treat words that occur less often than this as unknown.")  # fmt: skip
@click.option("--words", type=click.IntRange(1), metavar="N",
              help="Keep only the N most frequent words in the vocabulary.")  # fmt: skip
@click.option("--held-out", metavar="FILE",
              help="Tune the weights on this text. Default: every 20th sentence of TEXT, which is then not "
                   "counted.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Seed of the words that are removed from held-out sentences.")  # fmt: skip
@memory_options
@click.option("-j", "--jobs", type=click.IntRange(1), help="Number of threads. Default: all cores.")
def command(
    texts: tuple[str, ...], output: Path, window: int, gammas: tuple[float, ...], min_count: int, words: int | None,
    held_out: str | None, seed: int, memory: int, temporary: Path | None, jobs: int | None,
) -> None:  # fmt: skip
    """Train a model of missing words on tokenised TEXT with one sentence per line (Song 2016).

    Pairs of words are counted by the number of words between them, and words by five contexts of their neighbours. The
    weights of location and of filling are tuned on held-out sentences, from each of which one inner word is removed.
    `rerank locate`, `rerank fill` and `rerank restore` read the model.

    \b
    rerank train missing-words news.en.gz -o news.mw
    echo 'he went the house' | rerank restore -m news.mw
    """  # noqa: D301
    from rerank_plugins.missing_words.training import Settings

    closing = Closing()
    settings = Settings(min_count, words, window, seed=seed)
    if gammas:
        settings = replace(settings, gammas=gammas)
    workspace = workspace_for(memory, temporary, output)
    model, size = train_missing_words(
        texts, output, settings, workspace, held_out=held_out, jobs=jobs or os.cpu_count() or 1
    )
    for line in (*_lines(model), memory_line(workspace)):
        say(line)
    closing.wrote(f"the model ({size_text(size)})", output)


def train_missing_words(
    texts: Sequence[str],
    output: Path,
    settings: Settings,
    workspace: Workspace,
    *,
    held_out: str | None = None,
    jobs: int = 2,
) -> tuple[MissingWordsModel, int]:
    """Train a model on files and write it; return it with the size of its file in bytes.

    Raises FormatError for a file that cannot be read, ModelError for too little text.
    """
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins import __version__
    from rerank_plugins.kit.files.text import display_name, open_text
    from rerank_plugins.missing_words.model_file import write_model
    from rerank_plugins.missing_words.training import train

    sentences = None
    if held_out is not None:
        with open_text(held_out) as lines:
            sentences = [line.split() for line in lines]
    with StatusLine() as stages:
        model = train(opened(texts), settings, held_out=sentences, workspace=workspace, jobs=jobs, progress=stages)
        source = {"texts": [display_name(text) for text in texts], "version": __version__}
        model = replace(model, settings={**model.settings, **source})
        stages("writing")
        return model, write_model(model, output)


def _lines(model: MissingWordsModel) -> Iterator[str]:
    from rerank_plugins.missing_words.gap_words import COMPONENTS

    trained: Any = model.settings
    yield (
        f"{counted(trained['sentences'], 'sentence')}, {counted(trained['words'], 'word')}, "
        f"{model.candidates:,} distinct known words; {trained['unknown']:,} words are unknown"
    )
    yield f"{len(model.pairs.rights):,} pairs of words; weights tuned on {counted(trained['held_out'], 'sentence')}"
    for method, location in model.locations.items():
        weights = "; ".join(" ".join(f"{weight:.3f}" for weight in row) for row in location.weights)
        yield f"location by {method}: {location.function} with {location.constant:g}, weights {weights}"
    shares = ", ".join(f"{name} {weight:.3f}" for name, weight in zip(COMPONENTS, model.mixture, strict=True))
    yield f"filling: {shares}"
