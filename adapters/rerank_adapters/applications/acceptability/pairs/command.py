"""`rerank acceptability pairs`: minimal pairs."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import (
    JobFlags,
    columns_option,
    job_flags,
    models_option,
    output_option,
    style_option,
    text_option,
    text_steps,
)
from rerank_plugins import ConfigError
from rerank_plugins.plugins import Registry, suggestion


@click.command("pairs")
@click.argument("pairs", type=Path)
@models_option
@columns_option
@click.option("-w", "--weights", type=Path, metavar="FILE", help="Judge by all columns together too, so weighted.")
@click.option("--by", multiple=True, metavar="NAME",
              help="Also by what pairs are examples of: a column of PAIRS, or phenomenon, field, paradigm of BLiMP. "
              "Repeatable. Default: phenomenon, where PAIRS has it; `--by none`: over all pairs only.")  # fmt: skip
@click.option("--baseline", metavar="NAME", help="The system that others are compared with. Default: the first.")
@text_option
@style_option
@output_option("Where to write the result.")
@job_flags("features", "config", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, pairs: Path, models: tuple[str, ...], columns: tuple[str, ...],
    weights: Path | None, by: tuple[str, ...], baseline: str | None, steps: tuple[str, ...], style: str, output: Path,
) -> None:  # fmt: skip
    """Count how often the good sentence of a pair is preferred.

    PAIRS has a pair a line: good<TAB>bad[<TAB>phenomenon], or JSON as BLiMP has it. Every column of every feature is
    a system that judges alone: it prefers the sentence that it gives the higher value. Ties count half. With -w all
    columns judge together too; `rerank acceptability fit` makes such weights from other pairs.

    \b
    rerank acceptability pairs blimp.jsonl.xz --lm lm.ngram -f dependency-lm --by field
    rerank acceptability pairs pairs.tsv -f unigram -f dependency-lm --column '*.total' --as json
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.pairs.report import pair_records, pair_tables
    from rerank_adapters.applications.acceptability.pairs.scoring import (
        pair_table,
        single_preferences,
        weighted_preferences,
    )
    from rerank_adapters.applications.acceptability.sentence_features import with_models
    from rerank_adapters.formats.minimal_pairs import read_pairs
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.report.records import write_records
    from rerank_adapters.text import TextPipeline
    from rerank_adapters.weights import read_weights

    job = with_models(Job.create(flags.settings, registry), models)
    job.check_options()
    found = read_weights(weights) if weights else None
    text = TextPipeline(text_steps(steps))
    asked = read_pairs(pairs)
    groups = list(dict.fromkeys(name for pair in asked for name in pair.groups))
    by = by or tuple({"phenomenon"} & set(groups))
    by = () if by == ("none",) else by
    for name in by:
        if name not in groups:
            raise ConfigError(f"--by {name}: {pairs} has no such column{suggestion(name, groups)}")
    table = pair_table(job, asked, text, columns)
    systems = single_preferences(table)
    if found is not None:
        systems.append(weighted_preferences(table, found))
    named = {system.system: system for system in systems}
    if baseline is not None and baseline not in named:
        raise ConfigError(f"no system named {baseline!r}{suggestion(baseline, named)}")
    first = named[baseline] if baseline else systems[0]
    records = pair_records(asked, systems, first, by)
    write_records(records, pair_tables(records, first.system), style, output)
