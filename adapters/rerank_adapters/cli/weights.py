"""`rerank tools weights`: converts weights files from one form into another."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.cli.options import SummaryLine, output_option
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError

FORMS = ("toml", "moses-ini", "section", "dense", "sparse")


@click.command("weights")
@click.argument("weights", type=click.Path(), metavar="WEIGHTS")
@click.option("--as", "form", type=click.Choice(FORMS), default="section", show_default=True,
              help="Write weights in this form.")  # fmt: skip
@click.option("--template", metavar="MOSES.INI", help="For moses-ini: replace the [weight] section of this file.")
@click.option("--decoder-only", is_flag=True, help="For moses-ini: leave out the features that the decoder lacks.")
@output_option("Write the weights to this file.")
def command(weights: str, form: str, template: str | None, decoder_only: bool, output: Path) -> None:
    """Convert weights, so that tuned ones go back into a decoder.

    WEIGHTS is a weights.toml, a moses.ini, or a dense or sparse weights file of Moses. What a weights.toml records of
    the gain on held-out lists is said on stderr.

    \b
    rerank tools weights weights.toml
    rerank tools weights weights.toml --as moses-ini --template moses.ini \\
        -o tuned.ini
    rerank tools weights moses.ini --as toml -o weights.toml
    """  # noqa: D301
    from rerank_adapters.report.held_out import gain_lines
    from rerank_adapters.tuning.held_out import HeldOutGain
    from rerank_adapters.weights import read_weights, write_weights
    from rerank_adapters.weights.moses import (
        moses_weight_section,
        write_moses_dense,
        write_moses_ini,
        write_moses_sparse,
    )
    from rerank_plugins.kit.files.text import open_atomic

    summary_line = SummaryLine()
    tuned = read_weights(weights)
    if form == "moses-ini":
        if template is None:
            raise ConfigError("--as moses-ini needs --template: the moses.ini whose [weight] section is replaced")
        try:
            write_moses_ini(tuned, Path(template), output, decoder_features_only=decoder_only)
        except ConfigError as error:
            hint = "" if decoder_only else "; --decoder-only leaves out the features that the decoder lacks"
            raise ConfigError(f"{error}{hint}") from None
    elif form == "section":
        with open_atomic(output) as out:
            out.write(moses_weight_section(tuned))
    else:
        {"toml": write_weights, "dense": write_moses_dense, "sparse": write_moses_sparse}[form](tuned, output)
    if (gain := HeldOutGain.of_provenance(tuned.provenance)) is not None:
        for line in gain_lines(gain):
            click.echo(line, err=True)
    if tuned.margin and form != "toml":
        left_out = f"the margin of {tuned.margin:.4g} is left out: a decoder takes the highest sum"
        click.echo(f"rerank: {weights}: {left_out}", err=True)
    number = len(tuned.dense) + len(tuned.sparse)
    summary_line.wrote(f"{counted(number, 'weight')} ({form})", output)
