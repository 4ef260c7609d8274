"""`rerank similarity apply` and `evaluate`: scores of sentence pairs, and their correlations with those of people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.applications.similarity.correlation import correlate
from rerank_adapters.applications.similarity.options import scorer_of, scorer_options
from rerank_adapters.applications.similarity.pair_scores import similarity
from rerank_adapters.applications.similarity.pairs_file import SentencePairs, read_sentence_pairs
from rerank_adapters.applications.similarity.scorers import SimilaritySystem
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.data.overlap import LEARNT, warn_if_trained_on
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_plugins import FormatError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.text import open_atomic


def similarity_records(score: Callable[[SentencePairs], FloatArray], paths: Sequence[Path]) -> list[dict[str, Any]]:
    """A record for each file of scored pairs: the correlations of the scores with the human ones.

    For several files, their mean follows, weighted by their numbers of pairs. Raises FormatError for a file without
    scores.
    """
    records: list[dict[str, Any]] = []
    for path in paths:
        pairs = read_sentence_pairs(path)
        if pairs.scores is None:
            raise FormatError("the pairs have no scores to compare with", path=pairs.name)
        result = correlate(score(pairs), pairs.scores)
        record: dict[str, Any] = {"pairs_file": pairs.name, "pairs": result.pairs}
        for kind, value, (low, high) in (
            ("pearson", result.pearson, result.pearson_interval),
            ("spearman", result.spearman, result.spearman_interval),
        ):
            record |= {kind: value, f"{kind}_low": low, f"{kind}_high": high}
        records.append(record)
    if len(records) > 1:
        weights = [record["pairs"] for record in records]
        mean = {key: float(np.average([r[key] for r in records], weights=weights)) for key in ("pearson", "spearman")}
        records.append({"pairs_file": "weighted mean", "pairs": sum(weights), **mean})
    return records


def similarity_table(records: Sequence[dict[str, Any]]) -> Table:
    """The records as a table."""
    rows = []
    for record in records:
        cells = [Path(record["pairs_file"]).name, f"{record['pairs']:,}"]
        for kind in ("pearson", "spearman"):
            low, high = record.get(f"{kind}_low"), record.get(f"{kind}_high")
            cells.append(f"{record[kind]:.3f}" + ("" if low is None else f" [{low:.3f}, {high:.3f}]"))
        rows.append(tuple(cells))
    header = ("file", "pairs", "Pearson r [95 %]", "Spearman ρ [95 %]")
    return Table("Correlation with human scores", header, tuple(rows), ("The intervals are Fisher's.",))


@click.command("apply")
@click.argument("pairs", type=options.FILE)
@scorer_options
@click.option("--with-pairs", is_flag=True, help="Also write the two sentences after each score.")
@options.output_option("Write the scores to this file.")
@click.pass_obj
def apply(
    registry: Registry, /, pairs: Path, model: Path | None, measure: str | None, steps: tuple[str, ...],
    with_pairs: bool, output: Path, **data: Path | None,
) -> None:  # fmt: skip
    """Score the similarity of PAIRS of sentences, one pair per line.

    PAIRS is a file of sentence<TAB>sentence, or one that has scores as well, which are left out. The command writes a
    score for each pair, in their order: that of a model of `rerank similarity train` (-M), or of a single --measure. A
    metric scores the first sentence with the second as its reference. Words are weighted by their rarity among the
    pairs of the file, so score pairs of one kind together.

    \b
    rerank similarity apply pairs.tsv -M model.sim > scores.txt
    rerank similarity apply pairs.tsv --measure tfidf.stems --with-pairs
    """  # noqa: D301
    summary_line = SummaryLine()
    sentences = read_sentence_pairs(pairs)
    with StatusLine("scoring pairs of sentences"):
        scorer = scorer_of(registry, model, measure, data, steps)
        rows = similarity(sentences.pairs, {"score": scorer}, text=options.text_steps(steps))
    with open_atomic(output) as out:
        for row in rows:
            out.write("\t".join([f"{row['score']:.4f}", *((row["first"], row["second"]) if with_pairs else ())]) + "\n")
    summary_line.wrote(f"scores of {counted(len(rows), 'pair')}", output)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=options.FILE, metavar="FILE...")
@scorer_options
@options.style_option
@click.pass_obj
def evaluate(
    registry: Registry, /, files: tuple[Path, ...], model: Path | None, measure: str | None, steps: tuple[str, ...],
    style: str, **data: Path | None,
) -> None:  # fmt: skip
    """Correlate scores with human scores (Pearson and Spearman), for each FILE of scored pairs and on average.

    Each FILE has lines of score<TAB>sentence<TAB>sentence, or is CSV as the STS benchmark has it. The pairs are scored
    by a model of `rerank similarity train` (-M), or by a single --measure, and the correlations are printed.

    \b
    rerank similarity evaluate headlines.tsv images.tsv -M model.sim
    rerank similarity evaluate headlines.tsv --measure tfidf.stems --as json
    """  # noqa: D301
    from rerank_adapters.report.output import write_records

    scorer = scorer_of(registry, model, measure, data, steps)
    if isinstance(scorer, SimilaritySystem):
        warn_if_trained_on(scorer.system.provenance.get(LEARNT), f"the system {model} was", files)

    def score(pairs: SentencePairs) -> FloatArray:
        return np.array(similarity(pairs.pairs, {"score": scorer}, text=options.text_steps(steps))["score"])

    with StatusLine("scoring pairs of sentences"):
        records = similarity_records(score, files)
    write_records(records, [similarity_table(records)], style)
