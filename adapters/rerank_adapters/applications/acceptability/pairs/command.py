"""`rerank acceptability pairs`: judge minimal pairs."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import (
    JobFlags,
    columns_option,
    job_flags,
    models_option,
    output_file,
    output_option,
    style_option,
    text_option,
    text_steps,
)
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry, suggestion


@click.command("pairs")
@click.argument("pairs", type=Path)
@models_option
@columns_option
@click.option("-w", "--weights", type=Path, metavar="FILE",
              help="Also judge by the sum of all columns with these weights.")  # fmt: skip
@click.option("--by", multiple=True, metavar="NAME",
              help="Also report the accuracy by this property of the pairs: a column of PAIRS, or phenomenon, field or "
              "paradigm of BLiMP. Repeatable. Default: phenomenon, if PAIRS has it. `--by none` reports only the "
              "accuracy over all pairs.")  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Compare the other systems with this one. Default: the first.")
@click.option("--failures", type=output_file, metavar="FILE",
              help="Also write the pairs whose good sentence a system does not prefer to this file (TSV).")  # fmt: skip
@text_option
@style_option
@output_option("Write the result to this file.")
@job_flags("features", "config", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, pairs: Path, models: tuple[str, ...], columns: tuple[str, ...],
    weights: Path | None, by: tuple[str, ...], baseline: str | None, failures: Path | None, steps: tuple[str, ...],
    style: str, output: Path,
) -> None:  # fmt: skip
    """Count how often the good sentence of a minimal pair is preferred.

    Each line of PAIRS is a pair: good<TAB>bad[<TAB>phenomenon], or JSON as in BLiMP. Each column of each feature is a
    system that judges alone: it prefers the sentence to which it gives the higher value. Ties count half. With -w, the
    weighted sum of all columns is one more system; `rerank acceptability fit` fits such weights to other pairs.

    \b
    rerank acceptability pairs blimp.jsonl.xz --lm lm.ngram -f dependency-lm --by field
    rerank acceptability pairs pairs.tsv -f unigram -f dependency-lm --column '*.total' --failures failures.tsv
    """  # noqa: D301
    from rerank_adapters.applications.acceptability.pairs.report import failure_records, pair_records, pair_tables
    from rerank_adapters.applications.acceptability.pairs.scoring import (
        pair_table,
        single_preferences,
        weighted_preferences,
    )
    from rerank_adapters.applications.acceptability.sentence_features import with_models
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.pairs import read_minimal_pairs
    from rerank_adapters.report.output import records_tsv, write_records
    from rerank_adapters.text import TextPipeline
    from rerank_adapters.weights import read_weights
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    job = with_models(Job.create(flags.settings, registry), models)
    job.check_options()
    given_weights = read_weights(weights) if weights else None
    text = TextPipeline(text_steps(steps))
    minimal_pairs = read_minimal_pairs(pairs)
    properties = list(dict.fromkeys(name for pair in minimal_pairs for name in pair.groups))
    by = by or tuple({"phenomenon"} & set(properties))
    by = () if by == ("none",) else by
    for name in by:
        if name not in properties:
            raise ConfigError(f"--by {name}: {pairs} has no such column{suggestion(name, properties)}")
    table = pair_table(job, minimal_pairs, text, columns)
    systems = single_preferences(table)
    if given_weights is not None:
        systems.append(weighted_preferences(table, given_weights))
    by_name = {system.system: system for system in systems}
    if baseline is not None and baseline not in by_name:
        raise ConfigError(f"no system named {baseline!r}{suggestion(baseline, by_name)}")
    first = by_name[baseline] if baseline else systems[0]
    records = pair_records(minimal_pairs, systems, first, by)
    write_records(records, pair_tables(records, first.system), style, output)
    if str(output) != "-":
        closing.wrote(f"{counted(len(systems), 'system')} on {counted(len(minimal_pairs), 'pair')}", output)
    if failures is not None:
        failed = failure_records(minimal_pairs, systems)
        with open_atomic(failures) as out:
            out.write(records_tsv(failed))
        closing.wrote(counted(len(failed), "failure"), failures)
