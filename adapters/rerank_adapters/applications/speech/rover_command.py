"""`rerank rover`: combines the outputs of several systems by voting."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import format_option, output_option, reference_form_option
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry

if TYPE_CHECKING:
    from rerank_adapters.formats.outputs import OutputForm
    from rerank_adapters.formats.references import ReferenceForm
    from rerank_plugins.kit.nbest_lists import Posterior
    from rerank_plugins.lists.rover import ConfidenceKind

SHARE = click.FloatRange(0, 1)


@click.command("rover")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@click.option(
    "-w", "--weight", "weights", multiple=True, type=click.FloatRange(0, min_open=True), metavar="WEIGHT",
    help="The weight of a system's votes. Repeat it for each system, in their order. Default: 1 each.",
)  # fmt: skip
@click.option("--alpha", type=SHARE, default=1.0, show_default=True,
              help="The weight of a word's frequency in its score; its confidence has the rest.")  # fmt: skip
@click.option("--confidence", type=click.Choice(["avg", "max"]), default="avg", show_default=True,
              help="The average or the maximum of the confidences of the systems that have the word.")  # fmt: skip
@click.option("--null-confidence", "null", type=SHARE, default=0.0, show_default=True,
              help="The confidence of no word.")  # fmt: skip
@click.option("-r", "--reference", type=Path, metavar="FILE",
              help="Choose --alpha, --confidence and --null-confidence for the fewest word errors on these "
                   "references, which then are the best that voting can do.")  # fmt: skip
@click.option("--nbest", is_flag=True,
              help="SYSTEMs are n-best lists: the words of highest posterior vote, with their posteriors as "
                   "confidences.")  # fmt: skip
@click.option(
    "--posterior", type=click.Choice(["score", "spread", "rank", "uniform"]), default="score", show_default=True,
    help="With --nbest, what posteriors are made of, as for `rerank consensus`.",
)  # fmt: skip
@click.option("--scale", type=click.FloatRange(0), default=1.0, show_default=True,
              help="With --nbest, make posteriors flat (towards 0) or peaked (above 1).")  # fmt: skip
@output_option("Write the combined outputs to this file.")
@click.option("--output-form", "form", type=click.Choice(["lines", "kaldi", "trn", "ctm"]),
              help="Write them as lines, with ids in front (kaldi) or at the end (trn), or as a CTM. Default: as the "
                   "first SYSTEM.")  # fmt: skip
@reference_form_option
@format_option
@click.pass_obj
def command(
    registry: Registry, systems: tuple[str, ...], weights: tuple[float, ...], alpha: float, confidence: ConfidenceKind,
    null: float, reference: Path | None, nbest: bool, posterior: Posterior, scale: float, output: Path,
    form: OutputForm | None, reference_form: ReferenceForm, format_: str | None,
) -> None:  # fmt: skip
    """Combine the outputs of several systems by voting.

    The outputs are aligned, in the order of the systems, into a word transition network, and in each slot the word of
    the highest score is taken (ROVER, Fiscus 1997): alpha · frequency + (1 - alpha) · confidence. The first system wins
    ties. A SYSTEM is a file with one output per line, or with the ids of its utterances (kaldi, trn), which need not
    come in the same order, or a CTM (*.ctm), whose last column has confidences. n-best lists have them too: --nbest.

    \b
    rerank rover whisper.trn kaldi.trn conformer.trn -o combined.trn
    rerank rover whisper.ctm kaldi.ctm --alpha 0.4 --null-confidence 0.7 \\
        -o combined.ctm
    rerank rover --nbest dev.whisper dev.kaldi -r dev.txt -o dev.combined
    """  # noqa: D301
    import numpy as np

    from rerank_adapters.applications.speech.systems import check_confidences, read_lists, read_systems, utterances
    from rerank_adapters.applications.speech.voting import Combination, VotingSettings, tune
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.options import JobFlags
    from rerank_adapters.formats.outputs import output_lines
    from rerank_adapters.formats.references import read_references
    from rerank_adapters.metrics.edit_rate import WER
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    if weights and len(weights) != len(systems):
        raise ConfigError(f"found {len(weights)} weights for {len(systems)} systems; wanted one for each")
    paths = [Path(path) for path in systems]
    if nbest:
        lists = Job.create(JobFlags(format_=format_).settings, registry).format
        voters = [read_lists(path, lists, posterior, scale) for path in paths]
    else:
        voters = read_systems(paths, reference_form)
    if alpha < 1 or reference is not None:
        check_confidences(voters)
    ids = utterances(voters)
    form = form or voters[0].form
    if form == "ctm":
        for system in voters:
            if system.form != "ctm":
                raise ConfigError(f"{system.name}: no CTM; a CTM of combined outputs needs the times of all systems")
    settings = VotingSettings(alpha, null, confidence)
    confident = all(system.confident for system in voters)
    votes = np.array(weights or [1.0] * len(voters))
    with CountingBar("utterances", len(ids)) as bar:
        combinations = []
        for utterance in ids:
            combinations.append(Combination.of(utterance, voters, votes, confident=confident))
            bar.add(1)
    if reference is not None:
        texts = [text for (text,) in read_references([reference], reference_form).for_segments(ids)]
        settings, rate, by_frequency = tune(combinations, texts, WER())
        click.echo(
            f"--alpha {settings.alpha:g} --null-confidence {settings.null:g} --confidence {settings.confidence}: "
            f"WER {rate:.2f}, by frequency alone {by_frequency:.2f}", err=True,
        )  # fmt: skip
    with open_atomic(output) as combined:
        for utterance, combination in zip(ids, combinations, strict=True):
            if form == "ctm":
                combined.writelines(word.line(utterance) for word in combination.timed(settings))
            else:
                text = combination.text(combination.winners([settings])[0])
                combined.writelines(output_lines(form, utterance, text))
    closing.wrote(counted(len(ids), "combined output"), output)
