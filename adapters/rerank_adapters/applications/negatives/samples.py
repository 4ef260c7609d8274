"""`rerank negatives samples`: pairs of the sentences of a text, and as long ones that an n-gram model generates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.data.minimal_pairs import Pair, pair_lines
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_adapters.texts.reading import read_lines
from rerank_plugins import ConfigError
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.sampling import NgramSampler

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job

MAX_BATCHES = 200  # batches that are drawn; lengths still missing after them get no sample


def sampled_pairs(sentences: Sequence[Sequence[str]], model: Path, rng: np.random.Generator) -> Iterator[Pair]:
    """Pair each sentence with one of the same number of words, drawn from an n-gram model, if that length is drawn."""
    drawn = samples_of_lengths(Counter(map(len, sentences)), model, rng)
    for line, words in enumerate(sentences, 1):
        if drawn[len(words)]:
            yield Pair(" ".join(words), " ".join(drawn[len(words)].pop()), {"words": str(len(words))}, line)


def samples_of_lengths(
    wanted: Mapping[int, int], model: Path, rng: np.random.Generator
) -> defaultdict[int, list[tuple[str, ...]]]:
    """Draw the wanted number of sentences of each length, fewer if sentences of that length are too rare; by length.

    Sentences are drawn without a constraint on their length and then grouped, so that each follows the model's
    distribution given its length.
    """
    samples: defaultdict[int, list[tuple[str, ...]]] = defaultdict(list)
    if not wanted:
        return samples
    sampler = NgramSampler(NgramModel.load(model), min(wanted), max(wanted))
    missing = sum(wanted.values())
    for _ in range(MAX_BATCHES):
        for words in sampler.sample(max(1000, missing), rng):
            if len(samples[len(words)]) < wanted.get(len(words), 0):
                samples[len(words)].append(words)
                missing -= 1
        if missing == 0:
            break
    return samples


@click.command("samples")
@click.argument("text", default="-", type=click.Path())
@click.option("-M", "--model", type=options.FILE, required=True, metavar="FILE", help="N-gram model to draw from: "
              "a file of `rerank train ngram`, or ARPA.")  # fmt: skip
@options.output_option("Write the pairs to this file.")
@options.job_options("seed")
def command(job: Job, text: str, model: Path, output: Path) -> None:
    """Pair each sentence of TEXT with one of as many words that is drawn from an n-gram model.

    The columns of the output are the sentence, the sentence drawn from the model, and the number of words of both. The
    model should be trained on text of the same kind as TEXT, but not on TEXT itself.

    \b
    rerank train ngram news.txt --order 3 -o trigram.ngram
    rerank negatives samples dev.txt -M trigram.ngram > made.tsv
    """  # noqa: D301
    summary_line = SummaryLine()
    sentences = [words for line in read_lines(text) if (words := model_words(line))]
    with StatusLine("drawing sentences"):
        pairs = list(sampled_pairs(sentences, model, np.random.default_rng(job.config.seed)))
    if not pairs:
        raise ConfigError(f"{model}: the model generated no sentence as long as one of {text}")
    if len(pairs) < len(sentences):
        left_out = len(sentences) - len(pairs)
        click.echo(f"{left_out} of {len(sentences)} sentences left out: no sample has their length", err=True)
    with open_atomic(output) as out:
        out.writelines(pair_lines(pairs, ("words",)))
    summary_line.wrote(counted(len(pairs), "pair"), output)
