"""`rerank tools text`: applies a text pipeline to each line."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.cli.options import output_option


@click.command("text")
@click.argument("steps", nargs=-1, required=True)
@click.option("-i", "--input", "source", default="-", metavar="FILE",
              help="Read text from this file, one segment per line.",
              show_default="stdin")  # fmt: skip
@output_option("Write the text to this file.")
def command(steps: tuple[str, ...], source: str, output: Path) -> None:
    """Apply text pipeline STEPS, in order, to each line.

    The command reads lines of text from stdin, or from the file of -i, and writes each of them after all STEPS to
    stdout, or to the file of -o. STEPS are names such as lowercase or penn-tokenize, some with an argument after a
    colon; docs/features.md lists them. A pipeline of `[text]` in a config does the same for features and metrics.

    \b
    rerank tools text undo-bpe detokenize:en < system.bpe > system.txt
    """  # noqa: D301
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.kit.files.text import open_atomic, open_text

    pipeline = TextPipeline(steps)
    with open_text(source) as lines, open_atomic(output) as out:
        for line in lines:
            (text,) = pipeline.apply([line.rstrip("\r\n")])
            out.write(text + "\n")
