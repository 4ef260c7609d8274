"""`rerank substitutes`: prints the most probable words in the position of each word, by a language model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.substitutes.places import check_places
from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import output_option
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.applications.substitutes.substituting import Place
    from rerank_adapters.runtime.progress import CountingBar


@click.command("substitutes")
@click.argument("text", default="-")
@click.option("-m", "--model", type=Path, required=True, metavar="FILE", help="N-gram model file or ARPA file.")
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, metavar="K",
              help="Find this many substitutes of each word.")  # fmt: skip
@click.option("--at", type=check_places, default="words", show_default=True, metavar="PLACE",
              help="Where to substitute: every word (words), each word of underscores (blanks), or the word at this "
              "position of each line, from 1 on.")  # fmt: skip
@click.option("--least", type=click.FloatRange(0, 1), default=0.0, metavar="P",
              help="Leave out substitutes with a smaller proportion of the probability of the K best.")  # fmt: skip
@click.option("--unknown", is_flag=True, help="Let <unk>, which stands for all unknown words, be a substitute.")
@click.option("--layout", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each substitute, or a JSON object for each position.")  # fmt: skip
@click.option("-j", "--jobs", type=click.IntRange(1), help="Number of threads. Default: all cores.")
@output_option("Where to write the substitutes.")
def command(
    text: str, model: Path, k: int, at: str, least: float, unknown: bool, layout: str, jobs: int | None, output: Path
) -> None:
    """Find the most probable substitutes of words.

    Find the K words that an n-gram model finds most probable in the position of each word of a TEXT (tokenised, one
    sentence per line), or of the word at one position, or of blanks (____).

    A substitute is scored by all n-grams that contain its position, those that end to its right as well; `ln_p` is the
    sum of their natural logs, and `share` is the probability divided by that of all K. The search is exact, but looks
    at few words (FASTSUBS, Yuret 2012). For this it sorts the n-grams of a model the first time, and keeps the result
    in the program's cache.

    \b
    rerank substitutes novel.txt -m lm.ngram -k 100 > substitutes.tsv
    echo 'the ____ sat on the mat .' | rerank substitutes -m lm.arpa.gz --at blanks
    rerank substitutes phrases.txt -m lm.ngram --at 3 --least 0.05 --layout json
    """  # noqa: D301
    from rerank_adapters.applications.substitutes.substituting import as_json, as_table, substitute
    from rerank_adapters.runtime.progress import CountingBar, StatusLine
    from rerank_plugins.core.threads import cores
    from rerank_plugins.kit.backoff.tables import LOG_ZERO
    from rerank_plugins.kit.files.text import display_name, open_atomic, open_text
    from rerank_plugins.kit.vocabulary.word_numbers import UNK
    from rerank_plugins.substitutes.fastsubs import FastSubs

    closing = Closing()
    with StatusLine(f"sorting the n-grams of {model}"):
        substitutes = FastSubs.load(model, unknown=unknown)
    ngrams = substitutes.ngrams
    if unknown and ngrams.tables.events["log10"][UNK] <= LOG_ZERO:
        raise ConfigError(f"--unknown: {model} has no probability for <unk>")
    if k > substitutes.candidates:
        raise ConfigError(f"-k {k}: {model} has only {counted(substitutes.candidates, 'word')}")
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("words") as bar:
        places = substitute(
            substitutes, lines, at, k, least=least, jobs=jobs or cores(), path=display_name(text)
        )  # fmt: skip
        write = as_json if layout == "json" else as_table
        out.writelines(write(_counting(places, bar), ngrams.vocabulary.words))
    closing.wrote(f"the substitutes of {counted(bar.done, 'word')}", output)


def _counting(lines: Iterator[list[Place]], bar: CountingBar) -> Iterator[list[Place]]:
    for places in lines:
        yield places
        bar.add(len(places))
