"""`rerank train ngram`: an n-gram language model from text."""

from __future__ import annotations

import os
from pathlib import Path

import click

from rerank_adapters.commands.options import model_output, output_file
from rerank_plugins import ConfigError

UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def memory_size(text: str) -> int:
    """Bytes, from `8G`, `500M` or a number of bytes. Raises ConfigError."""
    number, unit = text.strip().upper().removesuffix("B"), ""
    if number[-1:] in UNITS:
        number, unit = number[:-1], number[-1]
    try:
        size = int(float(number) * 2 ** UNITS.get(unit, 0))
    except (ValueError, OverflowError):
        raise ConfigError(f"memory {text!r}: wanted a size such as 8G or 500M") from None
    if size < 0:
        raise ConfigError(f"memory {text!r}: wanted a size such as 8G or 500M")
    return size


@click.command("ngram")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option("--order", type=click.IntRange(1, 6), default=5, show_default=True, help="Longest n-grams.")
@click.option("--smoothing", type=click.Choice(["kneser-ney", "stupid-backoff"]), default="kneser-ney",
              show_default=True, help="Interpolated modified Kneser–Ney, or stupid backoff.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=1, help="Words seen less often are unknown. Default: 1.")
@click.option("--words", type=click.IntRange(1), metavar="N", help="Only the N most frequent words are known.")
@click.option("--closed", is_flag=True, help="Give unknown words no probability.")
@click.option(
    "--prune", default="0", metavar="COUNTS", help="Leave out n-grams seen so often or less, by order: 0,0,1."
)
@click.option("--arpa", type=output_file, metavar="FILE", help="Write the model as ARPA too (.gz: compressed).")
@click.option("--held-out", multiple=True, metavar="FILE", help="Text whose perplexity is reported. Repeatable.")
@click.option("--memory", type=memory_size, default="8G", show_default=True, help="What exceeds it goes to disk.")
@click.option("--temporary", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
              help="Where to put what exceeds the memory. Default: the folder of MODEL.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), help="Threads. Default: all cores.")
def command(
    texts: tuple[str, ...], output: Path, order: int, smoothing: str, min_count: int, words: int | None,
    closed: bool, prune: str, arpa: Path | None, held_out: tuple[str, ...], memory: int, temporary: Path | None,
    jobs: int | None,
) -> None:  # fmt: skip
    """Train an n-gram language model on tokenised text, a sentence per line.

    With the default settings the model is that of KenLM's lmplz; `--arpa` writes it for KenLM or SRILM. The model file
    is read by the language model `ngram` and the feature `ngram-lm`.

    \b
    rerank train ngram news.en.gz novels.en -o lm.ngram --prune 0,0,1 --held-out dev.en
    rerank score dev.en -m lm.ngram
    """  # noqa: D301
    from rerank_adapters.applications.training.ngram import train_ngram
    from rerank_plugins.models.ngram.training import NgramSettings, parse_prune

    settings = NgramSettings(order, smoothing, parse_prune(prune), min_count, words, closed)  # type: ignore[arg-type]
    train_ngram(
        texts, output, settings, arpa=arpa, held_out=held_out, memory=memory,
        folder=temporary or output.parent, jobs=jobs or os.cpu_count() or 1,
    )  # fmt: skip
