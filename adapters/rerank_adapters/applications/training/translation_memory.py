"""`rerank train translation-memory`: builds an index of sentence pairs from parallel text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.translation.memory.stored_pairs import TranslationMemory
    from rerank_plugins.translation.memory.training import Settings


@click.command("translation-memory")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@model_output()
@click.option("--keep-case", is_flag=True, help="Do not convert the text to lower case.")
@click.option("--k1", type=click.FloatRange(0), default=1.2, show_default=True,
              help="Saturation of BM25: how much a word counts that a sentence repeats.")  # fmt: skip
@click.option("--b", type=click.FloatRange(0, 1), default=0.75, show_default=True,
              help="Normalisation of BM25 by the length of a sentence, from 0 (none) to 1.")  # fmt: skip
def command(texts: tuple[str, ...], output: Path, keep_case: bool, k1: float, b: float) -> None:
    """Index tokenised sentence pairs, so that those similar to a source sentence are found.

    The pairs are the lines of the files SOURCE and TARGET, or those of a single file, `source ||| target`. The feature
    `translation-memory` compares hypotheses with the target sides of the pairs whose source side is nearest to the
    source of the segment.

    \b
    rerank train translation-memory train.de train.en -o de-en.memory
    rerank extract tune.nbest --source tune.src \\
        -f translation-memory,model=de-en.memory -o table.npz
    """  # noqa: D301
    from rerank_plugins.translation.memory.training import Settings

    closing = Closing()
    memory, size = train_memory(texts, output, Settings(not keep_case, k1, b))
    say(f"{counted(memory.provenance['pairs'], 'pair')} of sentences, {len(memory):,} of them distinct and not empty")
    for name, side in (("source", memory.source), ("target", memory.target)):
        say(f"{name}: {counted(len(side.tokens), 'word')}, {len(side.words):,} distinct")
    closing.wrote(f"the memory ({size_text(size)})", output)


def train_memory(texts: Sequence[str], output: Path, settings: Settings) -> tuple[TranslationMemory, int]:
    """Index the pairs of files and write the memory; return it with the size of its file in bytes.

    Raises ConfigError, FormatError, ModelError.
    """
    from rerank_adapters.formats.sentence_pairs import read_pairs
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.translation.memory.model_file import write_model
    from rerank_plugins.translation.memory.training import train

    with StatusLine() as stages:
        memory = train(read_pairs(texts), settings, progress=stages)
        source = {"texts": [display_name(text) for text in texts]}
        memory = replace(memory, provenance={**memory.provenance, **source})
        stages("writing")
        return memory, write_model(memory, output)
