"""`rerank similarity apply`: scores pairs of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rerank_adapters.applications.similarity.options import similarity_of, similarity_options
from rerank_adapters.commands.options import output_option


@click.command("apply")
@click.argument("pairs", type=Path)
@similarity_options
@click.option("--with-pairs", is_flag=True, help="Also write the two sentences after each score.")
@output_option("Write the scores to this file.")
def command(
    pairs: Path,
    model: Path | None,
    measure: str | None,
    data: dict[str, Any],
    steps: tuple[str, ...],
    with_pairs: bool,
    output: Path,
) -> None:
    """Score the similarity of PAIRS of sentences, one pair per line.

    Words are weighted by their rarity among the pairs of the file, so score pairs of one kind together.
    """
    from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
    from rerank_adapters.applications.similarity.scoring import score_pairs
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    sentences = read_sentence_pairs(pairs)
    system, measures = similarity_of(model, measure, data, steps)
    with StatusLine("scoring pairs of sentences"):
        scores = score_pairs(system, sentences, measures)
    with open_atomic(output) as out:
        for score, pair in zip(scores.tolist(), sentences.pairs, strict=True):
            out.write("\t".join([f"{score:.4f}", *(pair if with_pairs else ())]) + "\n")
    closing.wrote(f"scores of {counted(len(scores), 'pair')}", output)
