"""Training an n-gram model from files, and the report on it."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from rerank_adapters.formats.compressed import display_name, open_atomic, open_text
from rerank_adapters.pipeline.scoring import perplexity
from rerank_adapters.progress import StatusLine
from rerank_plugins import __version__
from rerank_plugins.language_models.ngram import NgramLanguageModel
from rerank_plugins.models.backoff.workspace import Workspace
from rerank_plugins.models.ngram.model import NgramModel
from rerank_plugins.models.ngram.training import NgramSettings, Trained, train


def train_ngram(
    texts: Sequence[str],
    output: Path,
    settings: NgramSettings,
    *,
    arpa: Path | None = None,
    held_out: Sequence[str] = (),
    memory: int = 8 << 30,
    folder: Path | None = None,
    jobs: int = 2,
) -> Trained:
    """Train on files, write the model (and ARPA), and say on stderr what it is, took and gives on held-out text."""
    started = time.monotonic()
    workspace = Workspace(memory, folder)
    with StatusLine() as stages:
        trained = train(_opened(texts), settings, workspace=workspace, jobs=jobs, progress=stages)
        seconds = time.monotonic() - started
        trained.ngrams.settings.update(texts=[display_name(text) for text in texts], version=__version__)
        stages("writing")
        size = trained.ngrams.save(output)
        if arpa is not None:
            stages("writing ARPA")
            write_arpa(trained.ngrams, arpa)
    for line in (*_of_text(trained), *_of_orders(trained), _of_costs(trained, seconds, workspace)):
        click.echo(line, err=True)
    click.echo(f"{output}: {_bytes(size)}", err=True)
    for text in held_out:
        with open_text(text) as lines:
            found = perplexity(NgramLanguageModel(output), lines)
        click.echo(f"{display_name(text)}: {found.summary()}", err=True)
    return trained


def _opened(texts: Iterable[str]) -> Iterator[tuple[str, Iterator[str]]]:
    for text in texts:
        with open_text(text) as lines:
            yield display_name(text), lines


def write_arpa(ngrams: NgramModel, path: Path) -> None:
    """Write the model as ARPA text, compressed by the ending of the name."""
    from rerank_plugins.models.backoff.arpa_writing import arpa_text

    with open_atomic(path) as out:
        for piece in arpa_text(ngrams.tables, ngrams.vocabulary.words):
            out.write(piece.decode())


def _of_text(trained: Trained) -> Iterator[str]:
    known = len(trained.ngrams.vocabulary) - 3
    yield f"{trained.sentences:,} sentences, {trained.words:,} words, {known:,} of them different and known"
    if trained.unknown:
        yield f"{trained.unknown:,} words ({trained.unknown / trained.words:.2%}) are unknown: the vocabulary's cut-off"


def _of_orders(trained: Trained) -> Iterator[str]:
    for order, found in enumerate(trained.orders, 1):
        line = f"{order}-grams {found.kept:,}"
        if found.kept != found.ngrams:
            line += f" of {found.ngrams:,}"
        if any(found.discounts):
            line += "  D1 {:.4f} D2 {:.4f} D3+ {:.4f}".format(*found.discounts)
        yield line + ("" if found.enough else " (fixed: too little text for discounts of its own)")


def _of_costs(trained: Trained, seconds: float, workspace: Workspace) -> str:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    on_disk = f", {_bytes(workspace.spilled)} on disk" if workspace.spilled else ""
    return f"{seconds:.1f} s, {trained.words / seconds:,.0f} words/s, peak memory {_bytes(peak)}{on_disk}"


def _bytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.2f} MB"
