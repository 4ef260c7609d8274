"""`rerank acceptability pairs`: how often a system prefers the good sentence of a minimal pair to the bad one.

A pair is a list of two sentences, and a feature prefers the one with the higher value. Each column of the feature table
is a system by itself. Ties are those of `rerank_adapters.compare`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.acceptability.compare import Preferences, preferences
from rerank_adapters.applications.acceptability.features import sentence_table, with_models
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.data.minimal_pairs import Pair, read_pairs
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.errors import suggestion
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job

HEADER = ("system", "accuracy", "95 % interval", "preferred", "ties")
COMPARISON = ("system", "difference", "better", "worse", "p")


def pair_table(
    extraction: Extraction, pairs: Sequence[Pair], text: TextPipeline, columns: Sequence[str] = ()
) -> FeatureTable:
    """The features (see `sentence_table`): rows 2i and 2i + 1 are the good and the bad sentence of pair i."""
    return sentence_table(extraction, [pair.nbest() for pair in pairs], text, columns)


def single_preferences(table: FeatureTable) -> list[Preferences]:
    """A system for each column whose values differ in some pair. Raises ConfigError where there is none."""
    deciding = [system for system in preferences(table) if system.ties < len(system.credit)]
    if not deciding:
        raise ConfigError("no feature gives the sentences of any pair different values")
    return deciding


def pair_records(
    pairs: Sequence[Pair], systems: Sequence[Preferences], baseline: Preferences, by: Sequence[str]
) -> list[dict[str, Any]]:
    """A record for each system and group of pairs.

    The key `by` is "" in the records over all pairs, which come first; then it is each name of `by` in turn, whose
    groups keep the order of the file.
    """
    records = []
    for key, group, members in _groups(pairs, by):
        baseline_part = baseline.among(members)
        for system in systems:
            part = system.among(members)
            record: dict[str, Any] = {"system": system.system, "by": key, "group": group, "pairs": len(part.credit)}
            low, high = part.interval
            record |= {"accuracy": part.accuracy, "low": low, "high": high, "ties": part.ties}
            if system is not baseline:
                test = part.against(baseline_part)
                record |= {"difference": part.accuracy - baseline_part.accuracy}
                record |= {"better": test.first_only, "worse": test.second_only, "p": test.p_value}
            records.append(record)
    return records


def failure_records(pairs: Sequence[Pair], systems: Sequence[Preferences]) -> list[dict[str, Any]]:
    """A record for each system and pair whose good sentence it does not prefer, in the order of the file."""
    records = []
    for system in systems:
        for place in np.flatnonzero(system.credit < 1).tolist():
            pair = pairs[place]
            record = {"line": pair.line, "margin": float(system.margin[place]), "good": pair.good, "bad": pair.bad}
            records.append({"system": system.system, **pair.groups, **record})
    return records


def pair_tables(records: Sequence[dict[str, Any]], baseline: str) -> list[Table]:
    """The tables of the records.

    First come the accuracies by group (a row for each group, a column for each system), then the comparison with the
    baseline, and last, where a terminal shows it, the accuracy over all pairs.
    """
    tables = []
    for key in dict.fromkeys(record["by"] for record in records if record["by"]):
        tables.append(_group_table(key, [record for record in records if record["by"] == key]))
    overall = [record for record in records if not record["by"]]
    if len(overall) > 1:
        tables.append(_comparison_table(overall, baseline))
    return [*tables, _overall_table(overall)]


def _overall_table(records: Sequence[dict[str, Any]]) -> Table:
    rows = [
        (
            r["system"],
            f"{_points(r['accuracy'])} %",
            f"{_points(r['low'])} to {_points(r['high'])}",
            f"{r['accuracy'] * r['pairs']:g} of {r['pairs']}",
            str(r["ties"]),
        )
        for r in records
    ]
    return Table("Minimal pairs", HEADER, tuple(rows), ("Ties count half. The intervals are Wilson's.",))


def _comparison_table(records: Sequence[dict[str, Any]], baseline: str) -> Table:
    rows = [
        (r["system"], f"{100 * r['difference']:+.1f}", str(r["better"]), str(r["worse"]), f"{r['p']:.3g}")
        for r in records
        if "p" in r
    ]
    notes = (
        "The difference of accuracies is in percentage points. Better and worse count",
        "the pairs that one of the two systems judges better. p: McNemar's exact test.",
    )
    return Table(f"Compared with {baseline}", COMPARISON, tuple(rows), notes)


def _group_table(key: str, records: Sequence[dict[str, Any]]) -> Table:
    systems = list(dict.fromkeys(record["system"] for record in records))
    by_cell = {(record["group"], record["system"]): record for record in records}
    groups = list(dict.fromkeys(record["group"] for record in records))
    rows = [
        (group, str(by_cell[group, systems[0]]["pairs"]), *(_points(by_cell[group, s]["accuracy"]) for s in systems))
        for group in groups
    ]
    means = [np.mean([by_cell[group, system]["accuracy"] for group in groups]) for system in systems]
    rows.append((f"mean of {len(groups)}", "", *map(_points, means)))
    return Table(f"Accuracy (%) by {key}", (key, "pairs", *systems), tuple(rows))


def _groups(pairs: Sequence[Pair], by: Sequence[str]) -> list[tuple[str, str, BoolArray]]:
    """(key, group, members) for all pairs, then for each value of each key; `members` (pairs) is a mask."""
    groups = [("", "", np.ones(len(pairs), np.bool_))]
    for key in by:
        values = [pair.groups.get(key, "") for pair in pairs]
        of_pair = np.array(values, dtype=object)
        groups += [(key, value or "(none)", of_pair == value) for value in dict.fromkeys(values)]
    return groups


def _points(fraction: float) -> str:
    return f"{100 * fraction:.1f}"


@click.command("pairs")
@click.argument("pairs", type=options.FILE)
@options.language_model_option(multiple=True)
@options.columns_option
@click.option("--by", multiple=True, metavar="NAME",
              help="Also report the accuracy by this property of the pairs: a column of PAIRS, or phenomenon, field or "
              "paradigm of BLiMP; `none` reports only the accuracy over all pairs. Repeatable.",
              show_default="phenomenon, if PAIRS has it")  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Compare the other systems with this one.", show_default="the first")
@click.option("--failures", type=options.output_file, metavar="FILE",
              help="Also write the pairs whose good sentence a system does not prefer to this file (TSV).")  # fmt: skip
@options.text_option
@options.style_option
@options.job_options("features", "config", "jobs")
def command(
    job: Job, pairs: Path, models: tuple[str | Path, ...], columns: tuple[str, ...], by: tuple[str, ...],
    baseline: str | None, failures: Path | None, steps: tuple[str, ...], style: str,
) -> None:  # fmt: skip
    """Count how often the good sentence of a minimal pair is preferred.

    Each line of PAIRS is a pair: good<TAB>bad[<TAB>phenomenon], or JSON as in BLiMP. Each column of each feature is a
    system that judges alone: it prefers the sentence to which it gives the higher value. Ties count half.

    \b
    rerank acceptability pairs blimp.jsonl.xz -M lm.ngram -f pcfg --by field
    rerank acceptability pairs pairs.tsv -f unigram -f dependency-lm \\
        --column '*.total' --failures failures.tsv
    """  # noqa: D301
    from rerank_adapters.report.output import write_records
    from rerank_adapters.report.text import records_tsv

    summary_line = SummaryLine()
    job = job.changed(feature=with_models(job.parts("feature"), models, job.names, job.config.base))
    job.check()
    text = TextPipeline(options.text_steps(steps))
    given = read_pairs(pairs)
    properties = list(dict.fromkeys(name for pair in given for name in pair.groups))
    by = by or tuple({"phenomenon"} & set(properties))
    by = () if by == ("none",) else by
    for name in by:
        if name not in properties:
            raise ConfigError(f"--by {name}: {pairs} has no such column{suggestion(name, properties)}")
    table = pair_table(job.extraction(), given, text, columns)
    systems = single_preferences(table)
    by_name = {system.system: system for system in systems}
    if baseline is not None and baseline not in by_name:
        raise ConfigError(f"no system named {baseline!r}{suggestion(baseline, by_name)}")
    first = by_name[baseline] if baseline else systems[0]
    records = pair_records(given, systems, first, by)
    write_records(records, pair_tables(records, first.system), style)
    if failures is not None:
        failed = failure_records(given, systems)
        with open_atomic(failures) as out:
            out.write(records_tsv(failed))
        summary_line.wrote(counted(len(failed), "failure"), failures)
