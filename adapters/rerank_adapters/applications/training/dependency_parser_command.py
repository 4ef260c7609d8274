"""`rerank train dependency-parser`: the project's own dependency parser, from treebanks."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import model_output


@click.command("dependency-parser")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@model_output()
@click.option("--language", required=True, metavar="CODE", help="Code of the language, as en.")
@click.option("--epochs", type=click.IntRange(1), default=20, show_default=True, help="How often each tree is seen.")
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of weights, order and dropout."
)
def command(inputs: tuple[Path, ...], output: Path, language: str, epochs: int, seed: int) -> None:
    """Train a dependency parser on FILEs: treebanks (.conllu, .conllu.xz), and any other text for word vectors.

    Texts have one tokenised sentence per line. For the model, name `biaffine,model=MODEL` where a parser is wanted.
    A million words of trees seen once take some two minutes.

    \b
    rerank train dependency-parser train.conllu.xz text.xz --language de -o german.npz
    rerank parse --evaluate dev.conllu.xz -p biaffine,model=german.npz
    """  # noqa: D301
    from rerank_adapters.applications.training.dependency_parser import train_parser

    model = train_parser(inputs, language, epochs, seed, lambda line: click.echo(line, err=True))
    model.save(output)
    click.echo(f"{output}: {output.stat().st_size / 1e6:.1f} MB", err=True)
