"""`rerank train esa`: builds an index for explicit semantic analysis from a collection of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_plugins.similarity.esa.documents import Document
    from rerank_plugins.similarity.esa.model import EsaModel
    from rerank_plugins.similarity.esa.training import Settings


@click.command("esa")
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@model_output()
@click.option("--documents", "form", default="lines", show_default=True, metavar="FORM",
              help="A document is a line (title<TAB>text, or text alone), a block of lines that ends at an empty line "
                   "(blocks; it may start with `# title`), or N lines of running text.")  # fmt: skip
@click.option("--most", type=click.IntRange(1), default=500, show_default=True,
              help="Keep at most this many documents for each word.")  # fmt: skip
@click.option("--shortest", type=click.IntRange(1), default=100, show_default=True,
              help="Leave out documents of fewer words.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=3, show_default=True,
              help="Treat words that occur less often than this as unknown.")  # fmt: skip
@click.option("--words", type=click.IntRange(1), metavar="N",
              help="Keep only the N most frequent words in the vocabulary.")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Do not convert the text to lower case.")
def command(
    texts: tuple[str, ...], output: Path, form: str, most: int, shortest: int, min_count: int, words: int | None,
    keep_case: bool,
) -> None:  # fmt: skip
    """Index a collection of tokenised documents for explicit semantic analysis (Gabrilovich and Markovitch 2009).

    The index lists, for each word, the documents that it is typical of, with tf-idf weights. The cosine of two
    sentences in this space is a measure of `rerank similarity` (family esa). An encyclopaedia is the best collection.

    \b
    rerank train esa encyclopaedia.tsv.xz -o wiki.esa
    rerank similarity evaluate pairs.tsv --measure esa.cosine --esa wiki.esa
    """  # noqa: D301
    from rerank_plugins.similarity.esa.training import Settings

    closing = Closing()
    if form not in ("lines", "blocks") and not (form.isdecimal() and int(form)):
        raise ConfigError(f"--documents is {form!r}: wanted lines, blocks or a number of lines")
    model, size = train_esa(texts, output, form, Settings(most, shortest, min_count, words, not keep_case))
    say(
        f"{counted(model.provenance['documents'], 'document')}, {len(model.titles):,} of them long enough; "
        f"{counted(model.provenance['words'], 'word')}, {len(model.words):,} distinct known words"
    )
    say(f"{len(model.documents):,} entries of the index")
    closing.wrote(f"the model ({size_text(size)})", output)


def train_esa(texts: Sequence[str], output: Path, form: str, settings: Settings) -> tuple[EsaModel, int]:
    """Index files and write the model; return it with the size of its file in bytes. Raises FormatError, ModelError."""
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.similarity.esa.model_file import write_model
    from rerank_plugins.similarity.esa.training import train

    with StatusLine() as stages:
        model = train(_documents(texts, form), settings, progress=stages)
        source = {"texts": [display_name(text) for text in texts], "form": form}
        model = replace(model, provenance={**model.provenance, **source})
        stages("writing")
        return model, write_model(model, output)


def _documents(texts: Sequence[str], form: str) -> Iterator[Document]:
    from rerank_plugins.kit.files.text import display_name, open_text
    from rerank_plugins.similarity.esa.documents import documents

    for text in texts:
        with open_text(text) as lines:
            yield from documents(Path(display_name(text)).name, lines, form)
