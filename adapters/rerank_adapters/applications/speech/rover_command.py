"""`rerank rover`: outputs of several systems combined by voting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import output_option, reference_form_option
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.formats.references import ReferenceForm


@click.command("rover")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@click.option(
    "-w", "--weight", "weights", multiple=True, type=click.FloatRange(0, min_open=True), metavar="WEIGHT",
    help="The weight of a system's votes. Repeat it for each system, in their order. Default: 1 each.",
)  # fmt: skip
@output_option("Write the combined outputs to this file.")
@reference_form_option
def command(systems: tuple[str, ...], weights: tuple[float, ...], output: Path, reference_form: ReferenceForm) -> None:
    """Combine the outputs of several systems by voting.

    The outputs are aligned into a word transition network, and the words with most votes are taken (ROVER, Fiscus 1997;
    voting by frequency). A SYSTEM is a file with one output per line, or with the ids of its utterances (kaldi, trn),
    which need not come in the same order. The first system wins ties. Where systems have n-best lists, merge the lists
    and take `rerank consensus`.

    \b
    rerank rover whisper.trn kaldi.trn conformer.trn -o combined.trn
    """  # noqa: D301
    import numpy as np

    from rerank_adapters.formats.compressed import open_atomic
    from rerank_adapters.formats.outputs import output_lines
    from rerank_adapters.formats.references import read_references
    from rerank_adapters.progress import CountingBar
    from rerank_plugins.models.confusion_networks import ConfusionNetwork

    closing = Closing()
    if weights and len(weights) != len(systems):
        raise ConfigError(f"found {len(weights)} weights for {len(systems)} systems; wanted one for each")
    files = [read_references([Path(path)], reference_form) for path in systems]
    ids = files[0].ids
    form = files[0].form
    outputs = [[text for (text,) in lines.for_segments(ids)] for lines in files]
    for path, lines in zip(systems, files, strict=True):
        if len(lines.ids) != len(ids):
            raise ConfigError(f"{path}: {len(lines.ids)} outputs, but {systems[0]} has {len(ids)}")
    votes = np.array(weights or [1.0] * len(systems))
    with open_atomic(output) as combined, CountingBar("utterances", len(ids)) as bar:
        for utterance, texts in zip(ids, zip(*outputs, strict=True), strict=True):
            network = ConfusionNetwork.build([text.split() for text in texts], votes)
            written = form if form in ("kaldi", "trn") else "lines"
            combined.writelines(output_lines(written, utterance, " ".join(network.best())))
            bar.add(1)
    closing.wrote(counted(len(ids), "combined output"), output)
