"""`rerank negatives errors`: pairs of the sentences of an English text, and the same with one error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.applications.negatives.inserted_errors import ErrorInserter
from rerank_adapters.applications.negatives.word_forms import WordForms
from rerank_adapters.applications.negatives.written_pairs import write_pairs
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine, plugin_names
from rerank_adapters.data.minimal_pairs import Pair
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.models import load_parser
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import unknown_rate
from rerank_adapters.texts.reading import read_lines
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job
    from rerank_plugins.core.dependency_tree import DependencyTree
    from rerank_plugins.kit.files.cached_parser import CachedParser

COLUMNS = ("kind", "position", "before", "after")
SAMPLE_SENTENCES = 500  # sentences of a sample that tells the language of a text
MAX_UNKNOWN = 0.3  # proportion of the words of an English text that the parser does not know, at most


def check_english(sentences: Sequence[Sequence[str]], parser: CachedParser | None, english: CachedParser) -> None:
    """Raise ConfigError for a parser of another language, and for text that is not in English.

    The forms of words are English. A text is not if the embedded `english` parser does not know MAX_UNKNOWN of its
    words.
    """
    rule, advice = "`negatives errors` has rules for English alone", "`rerank negatives treebank` makes pairs in any"
    if parser is not None and not (trained_on := parser.trained_on).may_be_english:
        raise ConfigError(f"{rule}, and the parser reads {trained_on.language!r}; {advice} language")
    vocabulary = english.vocabulary
    assert vocabulary is not None  # the embedded parser knows its words
    unknown = unknown_rate(vocabulary, [" ".join(words) for words in sentences[:SAMPLE_SENTENCES]])
    if unknown > MAX_UNKNOWN:
        raise ConfigError(f"{rule}, and knows {1 - unknown:.0%} of the words; {advice} language")


def parse_kinds(arguments: Sequence[str]) -> dict[str, float]:
    """The proportions of kinds of errors from `KIND` or `KIND=SHARE`. Raises ConfigError if a share is not a number."""
    proportions: dict[str, float] = {}
    for argument in arguments:
        kind, equals, proportion = argument.partition("=")
        try:
            proportions[kind] = float(proportion) if equals else 1.0
        except ValueError:
            raise ConfigError(f"--kind {argument!r}: wanted KIND or KIND=SHARE, such as missing=0.5") from None
    return proportions


def error_inserter(sentences: Sequence[Sequence[str]], kinds: Sequence[str]) -> ErrorInserter:
    """An inserter that knows the word forms of these sentences; it inserts errors of `kinds` (see `parse_kinds`).

    If `kinds` is empty, it inserts errors of all kinds in equal proportions. Raises ConfigError for an unknown kind.
    """
    forms = WordForms.of_text(sentences)
    try:
        return ErrorInserter(forms, parse_kinds(kinds)) if kinds else ErrorInserter(forms)
    except ValueError as error:
        raise ConfigError(f"--kind: {error}") from None


def with_trees(
    sentences: Sequence[Sequence[str]], parser: CachedParser | None, processes: Processes
) -> Iterator[tuple[Sequence[str], DependencyTree | None]]:
    """The sentences with the dependency trees by a parser; without a parser, without trees."""
    from rerank_adapters.applications.parsing.parses import ParseCounts, parse_in_order

    if parser is None:
        yield from zip(sentences, repeat(None))
        return
    for words, parse in parse_in_order(parser, map(tuple, sentences), processes, ParseCounts()):
        yield words, parse.dependencies


def noisy_pairs(
    sentences: Iterable[tuple[Sequence[str], DependencyTree | None]], inserter: ErrorInserter, rng: np.random.Generator
) -> Iterator[Pair]:
    """Pair each sentence, which may have a tree, with the same after one error was inserted, where that is possible.

    The pairs are generated lazily. Their groups describe the error: its kind, the position of the word (from 1), and
    the word before and after the change.
    """
    for line, (words, tree) in enumerate(sentences, 1):
        edit = inserter.insert(words, rng, tree)
        if edit is not None:
            description = (edit.kind, str(edit.position + 1), edit.before, edit.after)
            groups = dict(zip(COLUMNS, description, strict=True))
            yield Pair(" ".join(words), " ".join(edit.apply(words)), groups, line)


@click.command("errors")
@click.argument("text", default="-", type=click.Path())
@click.option("--kind", "kinds", multiple=True, metavar="KIND[=SHARE]",
              help="Insert errors of this kind, in this proportion: missing, extra, real-word, non-word, "
                   "wrong-form or agreement. Repeatable.",
              show_default="all kinds, in equal proportions")  # fmt: skip
@click.option("--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help="The parser whose dependency trees show subjects, verbs and forms.")  # fmt: skip
@options.output_option("Write the pairs to this file.")
@options.scheduler_option
@options.job_options("jobs", "seed")
def command(job: Job, text: str, kinds: tuple[str, ...], parser: str, output: Path, scheduler: str) -> None:
    """Insert one error into each sentence of TEXT (one per line, tokenised, English).

    The columns of the output are the sentence, the sentence with the error, the kind of the error, the position of the
    word (from 1), and the word before and after the change. A sentence into which no error can be inserted is left out.
    A sentence with an inserted error may be acceptable by chance. With `--parser none` there are no agreement
    errors, and forms are recognised only by their endings.

    \b
    rerank negatives errors novel.txt --kind agreement --kind wrong-form=0.5
    """  # noqa: D301
    summary_line = SummaryLine()
    sentences = [words for line in read_lines(text) if (words := line.split())]
    of_parser = None if parser == "none" else load_parser(parser, job.names)
    check_english(sentences, of_parser, load_parser("english", job.names))
    inserter, rng = error_inserter(sentences, kinds), np.random.default_rng(job.config.seed)
    parsed = with_trees(sentences, of_parser, Processes(job.config.jobs, scheduler))
    pairs = noisy_pairs(parsed, inserter, rng)
    written = write_pairs(pairs, len(sentences), COLUMNS, output)
    left_out = len(sentences) - written
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    summary_line.wrote(f"{counted(written, 'pair')}{rest}", output)
