"""`rerank evaluate`: compares systems by metrics, with tests of significance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Files
    from rerank_adapters.evaluation import Evaluation
    from rerank_adapters.evaluation.measure import Measure
    from rerank_adapters.job.job import Job
    from rerank_adapters.texts import ReferenceForm

STYLES = ("table", "tsv", "json", "markdown", "latex", "html")


@click.command("evaluate")
@click.argument("systems", nargs=-1, type=click.Path(), metavar="[NAME=]SYSTEM...")
@options.files_options()
@click.option(
    "--system-form", type=options.Form(["auto", "lines", "kaldi", "trn", "json", "icefall", "sgm"]),
    help="The form of the SYSTEMs, where it is not what their lines show; json,key=KEY names the key of the outputs.",
)  # fmt: skip
@click.option("--nbest", multiple=True, metavar="FILE",
              help="Add the 1-best, the oracle and the anti-oracle of these n-best lists. Repeatable.")  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Compare the other systems with this one.", show_default="the first")
@click.option("--as", "style", type=click.Choice(STYLES), default="table", show_default=True,
              help="The form of the report.")  # fmt: skip
@options.output_option("Write the report to this file.")
@click.option("--plots", type=options.FILE, metavar="FOLDER",
              help="Also draw plots (PNG) into this folder; needs the extra `plot`.")  # fmt: skip
@click.option("--max-changes", "changes", type=click.IntRange(0), default=5, show_default=True,
              help="Show this many of the segments that changed most.")  # fmt: skip
@click.option("--groups", type=options.FILE, metavar="FILE",
              help="Give scores by group, such as the speaker: a file with an id and its group on each line "
              "(utt2spk).")  # fmt: skip
@click.option("--resample-groups", is_flag=True,
              help="Let the tests resample whole groups, not single segments; needs --groups.")  # fmt: skip
@click.option("--alignments", type=options.output_file, metavar="FILE",
              help="Write the alignments of words (or characters) to this file, in sclite's layout; needs "
              "-m wer or cer.")  # fmt: skip
@click.option("--bootstrap", type=click.IntRange(0), help="Resamples of the paired bootstrap.", show_default="1000")
@click.option(
    "--randomisation", type=click.IntRange(0), help="Trials of approximate randomisation.", show_default="10000"
)
@options.job_options("metrics", "config", "format_", "seed", "trust_pairs", metrics=("bleu", "chrf", "ter"))
def command(
    job: Job, systems: tuple[str, ...], files: Files, system_form: ReferenceForm | None, baseline: str | None,
    style: str, output: Path, plots: Path | None, changes: int, resample_groups: bool, alignments: Path | None,
    bootstrap: int | None, randomisation: int | None,
) -> None:  # fmt: skip
    """Compare systems by metrics, with two significance tests.

    The report has corpus scores with confidence intervals, differences to a baseline, wins and losses by segment, and
    the segments that changed most. A SYSTEM is a file with one output per line, in the order of the references, or with
    the ids that its references have (name it with NAME=FILE; otherwise the file name is the name). Files of icefall, of
    NeMo and others in JSON are read by their hypotheses, and n-best lists by their first ones. With --nbest the
    decoder's 1-bests are a system too, the first one, unless they are given; and so are the hypotheses of the highest
    total if the lists are not in the order of their totals. Others are then compared with the better of both. Without
    -m and -c the metrics are bleu, chrf and ter.

    \b
    rerank evaluate -r test.ref -m bleu,tokenize=none -m ter \\
        baseline=a.txt reranked=b.txt --nbest test.nbest
    rerank evaluate -r test.trn -m wer -m ser reranked=b.trn --nbest test.nbest \\
        --groups utt2spk --alignments b.pra
    """  # noqa: D301
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.metrics.alignment import Aligning
    from rerank_adapters.report.output import write_report
    from rerank_adapters.run.compare import compare_systems
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_adapters.texts.pairing import pair
    from rerank_adapters.texts.reading import read_groups, read_texts
    from rerank_adapters.texts.sources import Sources

    summary_line = SummaryLine()
    tests = {"bootstrap": bootstrap, "randomisation": randomisation, "resample_groups": resample_groups or None}
    job = job.changed(evaluation=tests)
    if alignments is not None and not any(isinstance(measure.metric, Aligning) for measure in job.measures):
        raise ConfigError("--alignments: no metric aligns words; add -m wer or -m cer")
    named = dict(_named(system) for system in systems)
    if len(named) < len(systems):
        raise ConfigError("two systems have the same name; name them with NAME=FILE")
    with StatusLine("reading"):
        refs = [read_texts(path, "reference", files.reference_form) for path in files.references]
        of_systems = system_form or ("lines" if files.reference_form == "lines" else "auto")
        read = {name: read_texts(path, "output", of_systems) for name, path in named.items()}
        lists = read_nbest(files.lists, job.reading(files.lists).format, lines=False) if files.lists else None
    if not read and lists is None:
        raise ConfigError("there is nothing to evaluate: name at least one SYSTEM, or --nbest")
    paired = pair(refs, read, lists, files.unpaired, list_files=files.lists)
    if paired.lists is not None:
        paired = replace(paired, outputs=with_first_best(paired.outputs, [nbest[0].text for nbest in paired.lists]))
    sources = [*map(Sources(files.source, files.reference_form).of, paired.ids)] if files.source else None
    groups = read_groups(files.groups, paired.ids) if files.groups else None
    evaluation = compare_systems(job, paired, files=files.references, sources=sources, groups=groups, baseline=baseline)
    if alignments is not None:
        write_alignments(evaluation, job.measures, alignments)
        summary_line.wrote("alignments", alignments)
    write_report(evaluation, style, output, changes=changes, plots=plots)
    if plots:
        summary_line.wrote("plots", plots)
    measured = f"{counted(len(evaluation.systems), 'system')} by {counted(len(job.measures), 'metric')}"
    summary_line.wrote(f"an evaluation of {measured}", output)


def with_first_best(systems: Mapping[str, list[str]], first: list[str]) -> dict[str, list[str]]:
    """The systems with the decoder's 1-bests before them, unless one of them is these very outputs."""
    if first in systems.values():
        return dict(systems)
    return {"decoder's 1-best" if "1-best" in systems else "1-best": first, **systems}


def write_alignments(evaluation: Evaluation, measures: Sequence[Measure], path: Path) -> None:
    """Write the alignments of all systems, one after another, by the first metric that aligns texts."""
    from rerank_adapters.evaluation.errors import alignments_of
    from rerank_adapters.evaluation.measure import through
    from rerank_adapters.metrics.alignment import Aligning
    from rerank_adapters.report.tables import alignment_report
    from rerank_plugins import open_atomic

    metric, text = next((m.metric, m.text) for m in measures if isinstance(m.metric, Aligning))
    ids = [segment.segment_id for segment in evaluation.segments]
    targets = through(text, [segment.references for segment in evaluation.segments])
    with open_atomic(path) as lines:
        for place, name in enumerate(evaluation.systems):
            outputs = through(text, [[segment.outputs[place] for segment in evaluation.segments]])[0]
            lines.writelines(alignment_report(name, ids, alignments_of(metric, outputs, targets)))


def _named(system: str) -> tuple[str, str]:
    name, equals, path = system.partition("=")
    return (name, path) if equals and not Path(system).exists() else (Path(system).name, system)
