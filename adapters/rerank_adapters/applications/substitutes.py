"""`substitutes` and `rerank words substitutes`: the most probable words of a language model in each position."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from rerank_adapters.cli.options import FILE, SummaryLine, output_option
from rerank_adapters.data.given_texts import Text, blocks_of, pipeline_of, texts_of
from rerank_adapters.job.models import load
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.progress import CountingBar, StatusLine, counted
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.core.columns import plain
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.core.threads import cores
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.backoff.tables import LOG_ZERO
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text
from rerank_plugins.kit.vocabulary.word_ids import UNK

if TYPE_CHECKING:
    from rerank_plugins.substitutes.fastsubs import FastSubs


WORDS, BLANKS = "words", "blanks"
BLANK = re.compile("_{3,}")  # the whole word
FIRST_BLOCK, BLOCK = 4, 256  # lines at a time: few at first, so that results appear at once
COLUMNS = ("sentence", "position", "word", "rank", "substitute", "ln_p", "share")


def check_places(text: str, where: str = "--at ") -> str:
    """`words`, `blanks`, or a position from 1 on. Raises ConfigError, which begins with `where`, for anything else.

    >>> check_places("3")
    '3'
    """
    if text not in (WORDS, BLANKS) and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ConfigError(f"{where}{text}: wanted 'words', 'blanks', or a position from 1 on")
    return text


def positions_in(words: Sequence[str], line: int, at: str, path: str) -> list[int]:
    """The positions (from 0) to substitute in a line, as `check_places` names them.

    Raises FormatError for a line without the position, or without a blank (a word of three or more underscores).

    >>> positions_in("the ____ barks".split(), 1, "blanks", "text")
    [1]
    """
    if at == WORDS:
        return list(range(len(words)))
    if at == BLANKS:
        blanks = [position for position, word in enumerate(words) if BLANK.fullmatch(word)]
        if not blanks:
            raise FormatError("the line has no blank, a word of underscores (____)", path=path, line=line)
        return blanks
    if int(at) > len(words):
        count = f"{len(words)} word{'' if len(words) == 1 else 's'}" if words else "no words"
        raise FormatError(f"there is no position {at}: the line has {count}", path=path, line=line)
    return [int(at) - 1]


class Place(NamedTuple):
    """A word of a text, and its substitutes, best first, with ln p and proportion of the probability of the K best."""

    line: int
    position: int
    word: str
    substitutes: IntArray
    ln_p: FloatArray
    shares: FloatArray


def substitute(
    model: FastSubs,
    sentences: Iterable[Sequence[str]],
    positions_of: Callable[[Sequence[str], int], list[int]],
    k: int,
    *,
    least: float = 0.0,
    jobs: int = 1,
) -> Iterator[list[Place]]:
    """The positions of each sentence with their `k` best substitutes, without those of a `share` below `least`.

    `positions_of` gives the ascending positions (from 0) of the words of a sentence, by them and its number from 1.
    """
    numbered = enumerate(sentences, 1)
    size = FIRST_BLOCK
    while block := list(islice(numbered, size)):
        size = min(2 * size, BLOCK)
        chosen = [positions_of(words, number) for number, words in block]
        lengths = np.array([len(words) + 2 for _, words in block])
        starts = np.cumsum(lengths) - lengths + 1
        places = [start + position for start, some in zip(starts.tolist(), chosen, strict=True) for position in some]
        tokens = model.encode([words for _, words in block])
        best = model.top_places(tokens, np.array(places, np.int64), k, jobs)
        kept = (best.shares >= least).sum(axis=1)  # shares fall
        row = 0
        for (number, words), some in zip(block, chosen, strict=True):
            line = []
            for position in some:
                n = kept[row]
                line.append(
                    Place(
                        number, position, words[position],
                        best.words[row, :n], best.ln_p[row, :n], best.shares[row, :n],
                    )
                )  # fmt: skip
                row += 1
            yield line


def substitutes(
    texts: Iterable[Text] | Path,
    positions: str | int | Iterable[int | Sequence[int]] = WORDS,
    model: Any = "ngram-lm",
    top: int = 10,
    *,
    least: float = 0.0,
    unknown: bool = False,
    text: str | Sequence[str] = "none",
) -> Rows:
    """The most probable words, by an n-gram model, in positions of texts; the search is exact (Yuret 2012).

    The columns are `text`, `position` and `rank`, which count from 1, the `word` of the text and its `substitute`,
    `ln_p`, the ln p of all n-grams that contain the position, and `share`, its probability divided by that of all
    `top` substitutes.

    `texts`      texts that are tokenised (or name the text steps by `text`), sequences of words, or a Path: a file with
                 one text per line
    `positions`  "words" (all), "blanks" (words of underscores, ____), a position from 1 for all texts, or for each text
                 a position or several
    `model`      an n-gram model by file, by name ("ngram-lm"), as a language model or as a `FastSubs`
    `top`        the number of substitutes of each position, and `least` the least `share` of one
    `unknown`    whether <unk>, which stands for all unknown words, may be a substitute

    Raises TypeError for a text in the place of several, ConfigError for a model without lists of n-grams and for more
    substitutes than it has words, FormatError for a text without the position, with the number of the text.

    >>> substitutes(["the ____ of the house"], "blanks", top=2)
    text  position  word  rank  substitute      ln_p     share
       1         2  ____     1  door        -10.7744  0.598435
       1         2  ____     2  master      -11.1734  0.401565
    """
    checked, positions_of = texts_of(texts), _positions_of(positions)
    searcher = _searcher(model, unknown)
    if not 1 <= top <= searcher.candidates:
        raise ConfigError(f"top is {top}, wanted a number from 1 to {searcher.candidates}")
    sentences = (words for block in blocks_of(checked, pipeline_of(text), BLOCK) for words in block)
    places = substitute(searcher, sentences, positions_of, top, least=least, jobs=cores())
    words = searcher.ngrams.vocabulary.words
    rows = (
        (place.line, place.position + 1, place.word, rank, words[number], ln_p, share)
        for of_text in places
        for place in of_text
        for rank, (number, ln_p, share) in enumerate(
            zip(place.substitutes.tolist(), place.ln_p.tolist(), place.shares.tolist(), strict=True), 1
        )
    )
    return Rows(["text", *COLUMNS[1:]], rows)


def _searcher(model: Any, unknown: bool) -> FastSubs:
    """The model that finds the substitutes. Raises ConfigError for a language model that is no n-gram model."""
    from rerank_plugins.ngram.model import NgramModel
    from rerank_plugins.substitutes.fastsubs import FastSubs

    if isinstance(model, FastSubs):
        return model
    if isinstance(model, Path) or (isinstance(model, str) and Path(model).is_file()):
        return FastSubs.load(Path(model), unknown=unknown)
    ngrams = getattr(load(model, "language_model"), "ngrams", None)
    if not isinstance(ngrams, NgramModel):
        raise ConfigError(f"model: wanted an n-gram model, found {model!r:.60}")
    return FastSubs(ngrams, unknown)


def _positions_of(given: str | int | Iterable[int | Sequence[int]]) -> Callable[[Sequence[str], int], list[int]]:
    """The positions of a text by its words and its number, as `substitute` takes them."""
    given = plain(given)
    if not isinstance(given, str | int | Iterable):
        raise TypeError(f"positions: wanted 'words', 'blanks' or whole numbers, found {given!r:.60}")
    if isinstance(given, str | int):
        return partial(positions_in, at=check_places(str(given), "positions: "), path="texts")
    of_texts = [(each,) if isinstance(each, int) else tuple(each) for each in map(plain, given)]
    for each in of_texts:
        for place in each:
            check_places(str(place), "positions: ")

    def chosen(words: Sequence[str], number: int) -> list[int]:
        if number > len(of_texts):
            raise ConfigError(f"positions: found those of {len(of_texts)} texts, wanted those of each text")
        return sorted({place for at in of_texts[number - 1] for place in positions_in(words, number, str(at), "texts")})

    return chosen


def as_table(lines: Iterable[list[Place]], vocabulary: Sequence[str]) -> Iterator[str]:
    """A tab-separated line for each substitute, header first; lines and positions count from 1."""
    yield "\t".join(COLUMNS) + "\n"
    for places in lines:
        for place in places:
            before = f"{place.line}\t{place.position + 1}\t{place.word}\t"
            columns = zip(place.substitutes.tolist(), place.ln_p.tolist(), place.shares.tolist(), strict=True)
            yield "".join(
                f"{before}{rank}\t{vocabulary[word]}\t{ln_p:.6f}\t{share:.6g}\n"
                for rank, (word, ln_p, share) in enumerate(columns, 1)
            )


def as_json(lines: Iterable[list[Place]], vocabulary: Sequence[str]) -> Iterator[str]:
    """A JSON object on a line for each position."""
    for places in lines:
        for place in places:
            columns = zip(place.substitutes.tolist(), place.ln_p.tolist(), place.shares.tolist(), strict=True)
            best = [
                {"word": vocabulary[word], "ln_p": round(ln_p, 6), "share": float(f"{share:.6g}")}
                for word, ln_p, share in columns
            ]
            record = {"sentence": place.line, "position": place.position + 1, "word": place.word, "substitutes": best}
            yield json_line(record) + "\n"


@click.command("substitutes")
@click.argument("text", default="-", type=click.Path())
@click.option(
    "-M",
    "--model",
    type=FILE,
    required=True,
    metavar="FILE",
    help="N-gram model file or ARPA file.",
)
@click.option("--top", "k", type=click.IntRange(1), default=10, show_default=True, metavar="K",
              help="Find this many substitutes of each word.")  # fmt: skip
@click.option("--at", type=check_places, default="words", show_default=True, metavar="PLACE",
              help="Where to substitute: every word (words), each word of underscores (blanks), or the word at this "
              "position of each line, from 1 on.")  # fmt: skip
@click.option("--min-share", "least", type=click.FloatRange(0, 1), default=0.0, show_default=True, metavar="P",
              help="Leave out substitutes with a smaller proportion of the probability of the K best.")  # fmt: skip
@click.option("--unknown", is_flag=True, help="Let <unk>, which stands for all unknown words, be a substitute.")
@click.option("--as", "form", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each substitute, or a JSON object for each position.")  # fmt: skip
@output_option("Where to write the substitutes.")
def command(text: str, model: Path, k: int, at: str, least: float, unknown: bool, form: str, output: Path) -> None:
    """Find the most probable substitutes of words.

    Find the K words that an n-gram model finds most probable in the position of each word of a TEXT (tokenised, one
    sentence per line), or of the word at one position, or of blanks (____).

    A substitute is scored by all n-grams that contain its position, those that end to its right as well; `ln_p` is the
    sum of their natural logs, and `share` is the probability divided by that of all K. The search is exact, but looks
    at few words (FASTSUBS, Yuret 2012). For this it sorts the n-grams of a model the first time, and keeps the result
    in the program's cache.

    \b
    rerank words substitutes novel.txt -M lm.ngram --top 100 > substitutes.tsv
    echo 'the ____ sat .' | rerank words substitutes -M lm.arpa.gz --at blanks
    rerank words substitutes phrases.txt -M lm.ngram --at 3 --as json
    """  # noqa: D301
    from rerank_plugins.substitutes.fastsubs import FastSubs

    summary_line = SummaryLine()
    with StatusLine(f"sorting the n-grams of {model}"):
        searcher = FastSubs.load(model, unknown=unknown)
    ngrams = searcher.ngrams
    if unknown and ngrams.tables.events["log10"][UNK] <= LOG_ZERO:
        raise ConfigError(f"--unknown: {model} has no probability for <unk>")
    if k > searcher.candidates:
        raise ConfigError(f"--top {k}: {model} has only {counted(searcher.candidates, 'word')}")
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("words") as bar:
        positions_of = partial(positions_in, at=at, path=display_name(text))
        places = substitute(searcher, map(model_words, lines), positions_of, k, least=least, jobs=cores())
        write = as_json if form == "json" else as_table
        out.writelines(write(_counting(places, bar), ngrams.vocabulary.words))
    summary_line.wrote(f"the substitutes of {counted(bar.done, 'word')}", output)


def _counting(lines: Iterator[list[Place]], bar: CountingBar) -> Iterator[list[Place]]:
    for places in lines:
        yield places
        bar.add(len(places))
