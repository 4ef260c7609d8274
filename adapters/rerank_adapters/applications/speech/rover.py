"""`rerank lists rover`: combines the outputs of systems by voting, and tunes its settings on references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.commands import options
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.nist.ctm import Channel, TimedWord, read_ctm
from rerank_adapters.formats.nist.markup import shown
from rerank_adapters.formats.outputs import OneBests, OutputForm, form_for
from rerank_adapters.formats.pairing import pair, warn
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.reference_forms import shown_form
from rerank_adapters.formats.references import ReferenceForm, References, read_references, settled
from rerank_adapters.formats.segment_ids import order_of_ids, some_of
from rerank_adapters.formats.systems import read_outputs
from rerank_adapters.metrics.edit_rate import WER
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins import ConfigError, FloatArray, Metric, NBestFormat
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text
from rerank_plugins.kit.nbest_lists import Posterior, posteriors

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job
    from rerank_plugins.lists.confusion_network import ConfidenceKind, ConfusionNetwork, Voting

GRID = np.linspace(0.0, 1.0, 21)  # values of α and of the null confidence that are tried
SHARE = click.FloatRange(0, 1)


@dataclass(frozen=True, eq=False)
class Output:
    """What a system recognised: words, and their confidences (words) and times where it has them."""

    words: Sequence[str] = ()
    confidences: FloatArray | None = None
    times: Sequence[TimedWord] = ()


@dataclass(frozen=True)
class System:
    """The outputs of a system by utterance; `form` is the one of its file, `name` its path."""

    name: str
    form: OutputForm
    outputs: Mapping[str, Output]

    @property
    def confident(self) -> bool:
        """Whether all words have confidences."""
        return all(output.confidences is not None for output in self.outputs.values())

    def output(self, utterance: str) -> Output:
        """The output of an utterance; a CTM has no line for one in which nothing was recognised."""
        return self.outputs.get(utterance, Output(confidences=np.zeros(0)))


def read_systems(paths: Sequence[Path], form: ReferenceForm) -> list[System]:
    """The outputs in files of transcripts and CTMs. Raises FormatError."""
    timed = [form == "ctm" or shown_form(str(path), ()) == "ctm" for path in paths]
    texts = iter(settled([read_outputs(path, form) for path, ctm in zip(paths, timed, strict=True) if not ctm]))
    words = {path: _words(path) for path, ctm in zip(paths, timed, strict=True) if ctm}
    files = {file for channels in words.values() for file, _ in channels}
    several = len({channel for channels in words.values() for channel in channels}) > len(files)
    return [_timed(path, words[path], several) if path in words else _outputs(next(texts)) for path in paths]


def _outputs(lines: References) -> System:
    ids = lines.ids
    outputs = {id_: Output(shown(text).split()) for id_, text in zip(ids, lines.as_outputs(ids), strict=True)}
    form: OutputForm = "kaldi" if lines.form == "kaldi" else "trn" if lines.form == "trn" else form_for(ids)
    return System(lines.names[0], form, outputs)


def _words(path: Path) -> dict[Channel, list[TimedWord]]:
    with open_text(path) as lines:
        return read_ctm(lines, display_name(path))


def _timed(path: Path, channels: Mapping[Channel, Sequence[TimedWord]], several: bool) -> System:
    """The outputs of a CTM, whose utterances are files; channels (`file-channel`) where files have `several`."""
    outputs = {}
    for (file, channel), timed in channels.items():
        confidences = [word.confidence for word in timed if word.confidence is not None]
        all_confident = len(confidences) == len(timed)
        words = [part.word for part in timed]
        utterance = f"{file}-{channel}" if several else file
        outputs[utterance] = Output(words, np.array(confidences) if all_confident else None, timed)
    return System(display_name(path), "ctm", outputs)


def read_lists(path: Path, form: NBestFormat, posterior: Posterior, scale: float) -> System:
    """The words of highest posterior in the lists of a file, with their posteriors as confidences. Raises FormatError.

    The posteriors are those of the confusion network of each list, and those of its hypotheses are of a kind and scale
    that `posteriors` describes.
    """
    from rerank_plugins.lists.confusion_network import ConfusionNetwork

    outputs = {}
    for segment in read_nbest([path], form):
        network = ConfusionNetwork.build([t.split() for t in segment.texts], posteriors(segment, posterior, scale))
        outputs[segment.segment_id] = Output(*network.best_with_posteriors())
    return System(str(path), form_for(outputs), outputs)


def utterances(systems: Sequence[System]) -> list[str]:
    """The utterances of all systems, in the order of ids as the first one has them; CTMs may lack some.

    Raises ConfigError for an utterance that a system of another form lacks.
    """
    complete = [system for system in systems if system.form != "ctm"]
    timed = dict.fromkeys(id_ for system in systems if system.form == "ctm" for id_ in system.outputs)
    ids = order_of_ids(complete[0].outputs if complete else timed)
    for system in complete:
        pairing = pair(list({**dict.fromkeys(ids), **timed}), list(system.outputs))
        if pairing.missing:
            raise ConfigError(f"{system.name}: no output of {_utterances(pairing.missing)}")
        if pairing.surplus:
            raise ConfigError(
                f"{complete[0].name}: no output of {_utterances(pairing.surplus)}, which {system.name} has"
            )
    return ids


def _utterances(ids: Sequence[str]) -> str:
    return f"utterance {ids[0]!r}" if len(ids) == 1 else f"utterances {some_of([repr(id_) for id_ in ids])}"


def check_confidences(systems: Iterable[System]) -> None:
    """Raise ConfigError for a system whose words have no confidences."""
    for system in systems:
        if not system.confident:
            wanted = "wanted CTMs that have a sixth column, n-best lists (--nbest), or --alpha 1"
            raise ConfigError(f"{system.name}: its words have no confidences; {wanted}")


@dataclass(frozen=True)
class VotingSettings:
    """The weight α of frequency in the score, the confidence of an empty slot, and the kind of confidence of a word."""

    alpha: float = 1.0
    null: float = 0.0
    confidence: ConfidenceKind = "avg"


@dataclass(frozen=True, eq=False)
class Combination:
    """The network of an utterance with the votes of the systems; settings decide what wins."""

    network: ConfusionNetwork
    voting: Voting
    times: Sequence[Sequence[TimedWord]]

    @classmethod
    def of(cls, utterance: str, systems: Sequence[System], *, confident: bool) -> Combination:
        """The combination of what the systems recognised; `confident` if all of them have confidences."""
        from rerank_plugins.lists.confusion_network import ConfusionNetwork, Voting

        outputs = [system.output(utterance) for system in systems]
        weights = np.ones(len(systems))
        network = ConfusionNetwork.combine([output.words for output in outputs], weights)
        confidences = [output.confidences for output in outputs if output.confidences is not None and confident]
        voting = Voting.count(network, weights, confidences or None)
        return cls(network, voting, [output.times for output in outputs])

    def winners(self, points: Sequence[VotingSettings]) -> LongArray:
        """(points, slots): for each of the settings, the first system with what wins in each slot."""
        winners = np.zeros((len(points), self.network.choices.shape[1]), np.int64)
        for kind in {point.confidence for point in points}:
            rows = [row for row, point in enumerate(points) if point.confidence == kind]
            alpha = np.array([points[row].alpha for row in rows])
            winners[rows] = self.voting.winners(alpha, np.array([points[row].null for row in rows]), kind)
        return winners

    def text(self, winners: LongArray) -> str:
        """The words of the systems that win in the slots."""
        numbers = self.network.choices[winners, np.arange(len(winners))].tolist()
        words = self.network.words
        return " ".join(words[number] for number in numbers if number < len(words))

    def timed(self, settings: VotingSettings) -> Iterator[TimedWord]:
        """The words that win, with the times of the first system that has them and the confidences that count."""
        (winners,) = self.winners([settings])
        places = np.cumsum(~self.voting.empty, axis=1) - 1  # of the word of a system in its output
        values = self.voting.confidences.get(settings.confidence, self.voting.proportions)
        for slot, system in enumerate(winners.tolist()):
            if not self.voting.empty[system, slot]:
                word = self.times[system][places[system, slot]]
                yield word._replace(confidence=float(values[system, slot]))


def tune(
    combinations: Sequence[Combination], references: Sequence[str], metric: Metric
) -> tuple[VotingSettings, float, float]:
    """The settings of a grid that score best, their score, and that of frequency alone; all words have confidences.

    Of equally good settings those of the largest α are taken, then of the lowest null confidence, then `avg`.
    """
    from rerank_plugins.lists.confusion_network import CONFIDENCES

    points = [VotingSettings()]
    points += [VotingSettings(*point) for point in product(GRID[-2::-1].tolist(), GRID.tolist(), CONFIDENCES)]
    texts: list[list[str]] = []
    rows: list[LongArray] = []  # for each utterance, the index of each point's text among its distinct texts
    for combination in combinations:
        distinct, inverse = np.unique(combination.winners(points), axis=0, return_inverse=True)
        texts.append([combination.text(winners) for winners in distinct])
        rows.append(inverse.ravel())
    statistics = metric.statistics(texts, [[reference] for reference in references])
    starts = np.concatenate([[0], np.cumsum([len(some) for some in texts])])
    totals = sum(statistics[start + row] for start, row in zip(starts[:-1].tolist(), rows, strict=True))
    scores = metric.score(np.asarray(totals))
    best = int(np.argmax(scores if metric.higher_is_better else -scores))
    return points[best], float(scores[best]), float(scores[0])


@click.command("rover")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@click.option("--alpha", type=SHARE, default=1.0, show_default=True,
              help="The weight of a word's frequency in its score; its confidence has the rest.")  # fmt: skip
@click.option("--confidence", type=click.Choice(["avg", "max"]), default="avg", show_default=True,
              help="The average or the maximum of the confidences of the systems that have the word.")  # fmt: skip
@click.option("--null-confidence", "null", type=SHARE, default=0.0, show_default=True,
              help="The confidence of no word.")  # fmt: skip
@click.option("-r", "--reference", type=Path, metavar="FILE",
              help="Choose --alpha, --confidence and --null-confidence for the fewest word errors on these "
                   "references. The result is the best that voting can reach on them.")  # fmt: skip
@click.option("--nbest", is_flag=True,
              help="SYSTEMs are n-best lists: the words of highest posterior vote, with their posteriors as "
                   "confidences.")  # fmt: skip
@click.option("--posterior", type=click.Choice(["score", "spread", "rank", "uniform"]), default="score",
              show_default=True,
              help="With --nbest, make posteriors of the totals, of totals over their deviation in the list, or of "
                   "ranks; or equal ones.")  # fmt: skip
@click.option("--scale", type=click.FloatRange(0), default=1.0, show_default=True,
              help="With --nbest, make posteriors flat (towards 0) or peaked (above 1).")  # fmt: skip
@options.output_option("Write the combined outputs to this file.")
@click.option("--as", "form", type=click.Choice(["lines", "kaldi", "trn", "ctm"]),
              help="Write them as lines, with ids in front (kaldi) or at the end (trn), or as a CTM.",
              show_default="as the first SYSTEM")  # fmt: skip
@options.reference_form_option
@options.job_options("format_", "trust_pairs")
def command(
    job: Job, systems: tuple[str, ...], alpha: float, confidence: ConfidenceKind, null: float, reference: Path | None,
    nbest: bool, posterior: Posterior, scale: float, output: Path, form: OutputForm | None,
    reference_form: ReferenceForm,
) -> None:  # fmt: skip
    """Combine the outputs of several systems by voting.

    The outputs are aligned, in the order of the systems, into a word transition network, and in each slot the word of
    the highest score is taken (ROVER, Fiscus 1997): alpha · frequency + (1 - alpha) · confidence. The first system wins
    ties. A SYSTEM is a file with one output per line, or with the ids of its utterances (kaldi, trn), which need not
    come in the same order, or a CTM (*.ctm), whose last column has confidences. Files of icefall, of NeMo and others in
    JSON are read by their hypotheses. With --nbest, SYSTEMs are n-best lists: those of one system give the words of
    highest posterior in its confusion networks (Mangu et al. 2000).

    \b
    rerank lists rover whisper.trn kaldi.trn conformer.trn -o combined.trn
    rerank lists rover whisper.ctm kaldi.ctm --alpha 0.4 --null-confidence 0.7 \\
        -o combined.ctm
    rerank lists rover --nbest dev.nbest --scale 0.3 -o dev.consensus
    rerank lists rover --nbest dev.whisper dev.kaldi -r dev.txt -o dev.combined
    """  # noqa: D301
    from rerank_adapters.chain.content import PairedTexts

    summary_line = SummaryLine()
    paths = [Path(path) for path in systems]
    if nbest:
        voters = [read_lists(path, job.format, posterior, scale) for path in paths]
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
    with CountingBar("utterances", len(ids)) as bar:
        combinations = [Combination.of(utterance, voters, confident=confident) for utterance in bar.over(ids)]
    if reference is not None:
        references = read_references([reference], reference_form)
        pairing = pair(references.ids_beside(ids), ids)
        if pairing.missing:
            count = counted(len(pairing.missing), "reference")
            warn([f"no output for {count} ({some_of(pairing.missing)}): left out of the choice"])
        texts = [text for (text,) in references.for_segments(ids)]
        outputs = {system.name: [" ".join(system.output(id_).words) for id_ in ids] for system in voters}
        PairedTexts(outputs, [(text,) for text in texts], [reference], ids=ids).check(job, styles=False)
        settings, rate, by_frequency = tune(combinations, texts, WER())
        click.echo(
            f"--alpha {settings.alpha:g} --null-confidence {settings.null:g} --confidence {settings.confidence}: "
            f"WER {rate:.2f}, by frequency alone {by_frequency:.2f}", err=True,
        )  # fmt: skip
    one_bests: dict[str, str] = {}
    with open_atomic(output) as combined:
        for utterance, combination in zip(ids, combinations, strict=True):
            if form == "ctm":
                combined.writelines(word.line() for word in combination.timed(settings))
            else:
                one_bests[utterance] = combination.text(combination.winners([settings])[0])
        combined.writelines(OneBests.of(one_bests, form).lines())
    summary_line.wrote(counted(len(ids), "combined output"), output)
