"""`rerank lists consensus`: the words of highest posterior in each list, and confusion networks as SRILM's meshes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.outputs import OneBests
from rerank_adapters.formats.pairing import warn
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.kit.nbest_lists import posteriors

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job
    from rerank_adapters.formats.outputs import OutputForm
    from rerank_plugins.kit.nbest_lists import Posterior
    from rerank_plugins.lists.confusion_network import ConfusionNetwork


EMPTY = "*DELETE*"


def mesh_lines(name: str, network: ConfusionNetwork) -> Iterator[str]:
    """Yield the lines of a network: a slot on each line, with its words by descending posterior."""
    yield f"name {name}\n"
    yield f"numaligns {len(network.posteriors)}\n"
    yield "posterior 1\n"
    words = (*network.words, EMPTY)
    for slot, row in enumerate(network.posteriors):
        by_posterior = [number for number in np.argsort(-row, kind="stable").tolist() if row[number] > 0]
        yield f"align {slot} " + " ".join(f"{words[number]} {row[number]:.6g}" for number in by_posterior) + "\n"


@click.command("consensus")
@click.argument("nbest", nargs=-1, required=True, metavar="NBEST...")
@options.output_option("Write the words of highest posterior to this file, one line per list.")
@options.output_form_option
@click.option(
    "--mesh", type=options.output_file, metavar="FILE", help="Also write the networks, as SRILM's word meshes."
)
@click.option(
    "--posterior", type=click.Choice(["score", "spread", "rank", "uniform"]), default="score", show_default=True,
    help="Make posteriors of the totals, of totals over their deviation in the list, or of ranks; or equal ones.",
)  # fmt: skip
@click.option(
    "--scale", type=click.FloatRange(0), default=1.0, show_default=True,
    help="Make posteriors flat (towards 0) or peaked (above 1).",
)  # fmt: skip
@options.job_options("format_")
def command(
    job: Job, nbest: tuple[str, ...], output: Path, form: OutputForm | None, mesh: Path | None, posterior: Posterior,
    scale: float,
) -> None:  # fmt: skip
    """Find the words of highest posterior in n-best lists.

    The hypotheses of each list are aligned into a confusion network, and the word of highest posterior is taken in each
    slot (Mangu et al. 2000). The result need not be a hypothesis of the list. Several files of the same segments are
    merged, so that the lists of several recognisers vote together. For posteriors by tuned weights, take the lists that
    `rerank apply --nbest-out` writes.

    \b
    rerank lists consensus dev.nbest --scale 0.3 -o dev.consensus --mesh dev.mesh
    """  # noqa: D301
    from contextlib import ExitStack

    from rerank_plugins.lists.confusion_network import ConfusionNetwork

    closing = SummaryLine()
    lists = read_nbest([Path(path) for path in nbest], job.format)
    with ExitStack() as files, CountingBar("lists", len(lists)) as bar:
        best, texts = files.enter_context(open_atomic(output)), dict[str, str]()
        meshes = files.enter_context(open_atomic(mesh)) if mesh else None
        for segment in lists:
            sentences = [text.split() for text in segment.texts]
            network = ConfusionNetwork.build(sentences, posteriors(segment, posterior, scale))
            texts[segment.segment_id] = " ".join(network.best())
            if meshes is not None:
                meshes.writelines(mesh_lines(segment.segment_id, network))
            bar.add(1)
        one_bests = OneBests.of(texts, form)
        best.writelines(one_bests.lines())
    warn([one_bests.finding] if one_bests.finding else [])
    if mesh is not None:
        closing.wrote(counted(len(lists), "network"), mesh)
    closing.wrote(counted(len(lists), "1-best"), output)
