"""`mbr` and `rerank lists mbr`: the sample of highest expected utility in each list, without any tuning.

Minimum Bayes risk decoding by sampling (Eikema and Aziz 2020, equation 5) chooses

    argmax_i  sum_j w(j) * utility(i, j),     w(j) >= 0, sum_j w(j) = 1

among the samples of a segment, where utility(i, j) is the sentence score of sample i with sample j as its reference,
negated where lower is better. Each copy of a sample counts, as it does for samples from a model; the weights are equal
where none are given. The tuner `mbr` instead weighs hypotheses by scores that it tunes (tuners/mbr.py). Of n distinct
samples, n² utilities are computed at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine, plugin_names
from rerank_adapters.data.given_texts import pipeline_of
from rerank_adapters.formats.frames import is_frame
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.models import load
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.progress import CountingBar, counted, warn
from rerank_adapters.text import TextPipeline
from rerank_adapters.texts.one_bests import OneBestFile
from rerank_adapters.texts.sources import Sources
from rerank_adapters.tuners.mbr_decision import utilities
from rerank_plugins import ConfigError, FloatArray, Hypothesis, Metric, NBestList, open_atomic
from rerank_plugins.core.columns import one_line, plain
from rerank_plugins.kit.nbest_lists import posteriors

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job
    from rerank_adapters.texts.one_bests import OutputForm
    from rerank_plugins.kit.nbest_lists import Posterior

ROUNDING = 1e-9  # expected utilities that differ by no more of their size are equal


class Choice(NamedTuple):
    """The chosen sample of a segment: its text, its rank from 1, its expected utility, and the number of samples.

    Without samples the text is empty, the rank 0 and the utility nan.
    """

    segment: str
    choice: str
    rank: int
    utility: float
    samples: int


def mbr(
    samples: Path | Iterable[NBestList | Sequence[str]],
    utility: Any = "chrf",
    weights: Iterable[Sequence[float]] | None = None,
    *,
    text: str | Sequence[str] = "none",
    sources: Sequence[str] | None = None,
) -> Rows:
    """The sample of highest expected utility in each list of samples, and that utility.

    The columns are `segment` (the id, or the number of the list from 0), `choice`, its `rank` among the samples from 1,
    `utility`, which is the expected score of the choice as the metric gives it, and the number of `samples`. Ties go to
    the earlier sample.

    `samples`  for each segment its samples: texts, or an `NBestList`; or a Path: a file of lists in any format
    `utility`  a metric by name ("chrf", "bleu,sentence=sacrebleu", "wer") or as an object
    `weights`  for each segment the weight of each sample, not negative and not all 0; by default all count alike
    `text`     the text steps before the utility
    `sources`  the source sentence of each segment, for utilities that read it; by default that of each `NBestList`

    Raises TypeError for a text in the place of several, ConfigError for weights of another number than the samples and
    for sources of another number than the segments.

    >>> mbr([["a b c", "a b d", "x y z", "a b d"]])
    segment  choice  rank  utility  samples
    0        a b d      2  59.7222        4
    """
    metric = load(utility, "metric")
    lists = _lists(samples)
    if sources is not None:
        if len(sources) != len(lists):
            raise ConfigError(f"found {len(sources)} sources, wanted those of {counted(len(lists), 'segment')}")
        lists = [replace(nbest, source=source) for nbest, source in zip(lists, sources, strict=True)]
    of_lists = [np.ones(len(nbest)) for nbest in lists] if weights is None else _checked_weights(weights, lists)
    return Rows(Choice._fields, choices(zip(lists, of_lists, strict=True), metric, pipeline_of(text)))


def choices(weighted: Iterable[tuple[NBestList, FloatArray]], metric: Metric, text: TextPipeline) -> Iterator[Choice]:
    """The choice in each list, in order and in bounded memory; each has the weights (n) of its samples."""
    for nbest, weights in weighted:
        if not len(nbest):
            yield Choice(nbest.segment_id, "", 0, float("nan"), 0)
            continue
        expected = expected_utilities(text.apply(nbest.texts), metric.with_sources([nbest.source]), weights)
        slack = ROUNDING * max(1.0, float(np.abs(expected).max()))
        best = int(np.argmax(expected >= expected.max() - slack))  # the earliest of equals
        score = float(expected[best]) * (1.0 if metric.higher_is_better else -1.0)
        yield Choice(nbest.segment_id, nbest[best].text, best + 1, score, len(nbest))


def expected_utilities(texts: Sequence[str], metric: Metric, weights: FloatArray) -> FloatArray:
    """(n) the expected utility of each sample, higher is better, by the weights (n). Equal texts are compared once."""
    distinct = {each: number for number, each in enumerate(dict.fromkeys(texts))}
    which = np.array([distinct[each] for each in texts], np.int64)
    mass = np.bincount(which, weights / weights.sum(), len(distinct)).astype(np.float64)
    expected: FloatArray = utilities(list(distinct), metric, np.arange(len(distinct))) @ mass
    return expected[which]


def _lists(samples: Path | Iterable[NBestList | Sequence[str]]) -> list[NBestList]:
    """The lists of samples. Raises TypeError for a text, or a list of texts, in the place of several lists."""
    if isinstance(samples, Path):
        return read_nbest([samples])
    if is_frame(samples):
        raise TypeError(
            "samples: wanted texts of each segment, found a data frame: read_nbest(frame) makes lists of it"
        )
    if isinstance(samples, str | bytes | NBestList | Mapping) or not isinstance(samples, Iterable):
        raise TypeError(f"samples: wanted a sequence of texts for each segment, found {one_line(samples)}")
    lists = []
    for number, each in enumerate(map(plain, plain(samples))):
        if not isinstance(each, NBestList):
            if isinstance(each, str | bytes) or not all(isinstance(text, str) for text in each):
                wanted = f"samples[{number}]: wanted a sequence of texts, found {each!r:.60}"
                raise TypeError(f"{wanted}; give the samples of one segment as [samples]")
            each = NBestList(str(number), tuple(map(Hypothesis, each)))
        lists.append(each)
    return lists


def _checked_weights(weights: Iterable[Sequence[float]], lists: Sequence[NBestList]) -> list[FloatArray]:
    """The weights (n) of each list. Raises ConfigError for other numbers of them, and for weights below 0 or all 0."""
    arrays = [np.asarray(each, np.float64) for each in weights]
    if len(arrays) != len(lists):
        raise ConfigError(f"weights: found those of {len(arrays)} segments, wanted those of {len(lists)}")
    for number, (array, nbest) in enumerate(zip(arrays, lists, strict=True)):
        if array.shape != (len(nbest),):
            raise ConfigError(f"weights[{number}]: found the shape {array.shape}, wanted one for {len(nbest)} samples")
        if not np.isfinite(array).all() or (array < 0).any() or (len(nbest) and not array.any()):
            raise ConfigError(f"weights[{number}]: wanted finite numbers of 0 or more, one of them above 0")
    return arrays


@click.command("mbr")
@click.argument("samples", nargs=-1, required=True, type=click.Path(), metavar="SAMPLES...")
@click.option("-m", "--metric", "metrics", multiple=True, metavar="METRIC", shell_complete=plugin_names("metric"),
              help=f"Take this metric as the utility: {options.PLUGIN_HELP}.", show_default="chrf")  # fmt: skip
@click.option(
    "--posterior", type=click.Choice(["score", "spread", "rank", "uniform"]), default="uniform", show_default=True,
    help="Weigh the samples equally, as is right for samples of a model; or by posteriors of their totals (of totals "
    "over their deviation in the list), or of their ranks, for n-best lists.",
)  # fmt: skip
@click.option(
    "--scale", type=click.FloatRange(0), default=1.0, show_default=True,
    help="Make these posteriors flat (towards 0) or peaked (above 1).",
)  # fmt: skip
@options.output_option("Write the choices to this file, one line per list.")
@click.option(
    "--as", "form", type=click.Choice(["lines", "kaldi", "trn"]),
    help="Write them as lines, or with the ids of their segments in front (kaldi) or at the end (trn).",
    show_default="lines where the ids are numbers of lines, else kaldi",
)  # fmt: skip
@click.option(
    "--details", type=options.output_file, metavar="FILE",
    help="Also write the ranks and the expected utilities of the choices (.csv, or .tsv).",
)  # fmt: skip
@options.source_option
@options.job_options("config", "format_", metrics=("chrf",))
def command(
    job: Job, samples: tuple[str, ...], metrics: tuple[str, ...], posterior: Posterior, scale: float, output: Path,
    form: OutputForm | None, details: Path | None, source: Path | None,
) -> None:  # fmt: skip
    """Choose the sample of highest expected utility in each list.

    SAMPLES are lists in any format: JSON lines, Moses and others. The utility is the metric of -m, with the other
    samples as references (minimum Bayes risk). No references and no tuning set are needed. Several files of the same
    segments are merged, so that the samples of several models vote together. The tuner `mbr` also tunes the scale of
    posteriors.

    \b
    rerank lists mbr samples.jsonl -o test.mbr
    rerank lists mbr test.nbest -m bleu,sentence=sacrebleu \\
        --posterior score --details utilities.tsv
    """  # noqa: D301
    summary_line = SummaryLine()
    job = job.changed(metric=list(metrics) or None)
    if len(job.config.metric) != 1:
        raise ConfigError(f"found {len(job.config.metric)} metrics, wanted one utility (-m METRIC)")
    measure = job.measures[0]
    sources = Sources(source).of if source else None
    lists = read_nbest([Path(path) for path in samples], job.reading(samples).format, sources, samples=True)
    with CountingBar("lists", len(lists)) as bar:
        weighted = ((nbest, posteriors(nbest, posterior, scale)) for nbest in bar.over(lists))
        rows = Rows(Choice._fields, choices(weighted, measure.metric, measure.text))
    one_bests = OneBestFile.of(dict(zip(rows["segment"], rows["choice"], strict=True)), form)
    with open_atomic(output) as out:
        out.writelines(one_bests.lines())
    warn([one_bests.finding] if one_bests.finding else [])
    if details is not None:
        rows.to_csv(details)
        summary_line.wrote("their expected utilities", details)
    summary_line.wrote(counted(len(rows), "choice"), output)
