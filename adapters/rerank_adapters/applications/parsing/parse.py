"""`rerank trees parse`: parses a text or n-best lists to CoNLL-U or brackets, or compares a parser with gold trees."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rerank_adapters.applications.parsing.parses import ParseCounts
from rerank_adapters.applications.parsing.trees import Kind, parsed_texts, written
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine, plugin_names
from rerank_adapters.data.given_texts import Words
from rerank_adapters.features.processes import Processes
from rerank_adapters.formats.reading import stream_nbest
from rerank_adapters.job.models import default_parser, load_parser
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FormatError, NBestList, Parse, Parser
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.standard_streams import data_stream
from rerank_plugins.kit.files.text import open_atomic, open_text
from rerank_plugins.kit.trees.dependency_constituents import Labels, as_constituents, kind_of_labels, to_dependencies
from rerank_plugins.kit.trees.k_best_file import is_bracketed, read_scored
from rerank_plugins.kit.trees.parseval import Attachment, Parseval
from rerank_plugins.kit.trees.treebank_cleaning import remove_empty

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


SENTENCES_PER_STEP = 100  # sentences that are parsed between two steps of the bar

Row = dict[str, str]


def evaluate_parser(parser: Parser, path: str, longest: int | None = None) -> Row:
    """A row of the table: file, sentences, words, scores in percent, and sentences per second of CPU time.

    In brackets, empty elements are not counted as words, and trees without words are skipped. Sentences of more than
    `longest` words are left out. Trees of the parser that are of the other kind than the gold trees are converted
    (`comparable`). The time excludes that for loading the model and compiling kernels, because the first sentence is
    parsed before. Raises FormatError where no trees are left, ConfigError for trees that cannot be compared.
    """
    known: list[tuple[Words, Any]]
    scores: Any  # Parseval or Attachment
    compared: Comparison | None = None
    with open_text(path) as lines:
        bracketed, whole = is_bracketed(lines)
        if bracketed:
            trees = [tree for _, read, _ in read_scored(whole, path) if (tree := remove_empty(read)) is not None]
            known, scores = [(tree.words(), tree) for tree in trees], Parseval()
        else:
            known, scores = [(tree.words, tree) for tree in read_conllu(whole, path)], Attachment()
    gold = [(words, tree) for words, tree in known if longest is None or len(words) <= longest]
    if not gold:
        message = f"the file holds no trees of up to {longest} words" if known else "the file holds no trees"
        raise FormatError(message, path=path)
    sentences = [words for words, _ in gold]
    parser.parse(sentences[:1])  # loads the model, and compiles kernels
    seconds = 0.0
    with CountingBar("sentences", len(gold)) as bar:
        for first in range(0, len(gold), SENTENCES_PER_STEP):
            started = time.process_time()
            parses = parser.parse(sentences[first : first + SENTENCES_PER_STEP])
            seconds += time.process_time() - started
            if compared is None:
                compared = comparable([tree for _, tree in gold], parses, path)
            for (_, tree), parse in zip(gold[first : first + SENTENCES_PER_STEP], parses, strict=True):
                scores.add(compared.of_gold(tree), compared.of_parse(parse))
            bar.add(len(parses))
    return {
        "gold": Path(path).name,
        "sentences": str(len(gold)),
        "words": str(sum(map(len, sentences))),
        **{name: f"{value:.2f}" for name, value in scores.percent().items()},
        "sentences/s": f"{len(gold) / max(seconds, 1e-9):.0f}",
    }


class Comparison(NamedTuple):
    """How a gold tree and a parse become trees of one kind."""

    of_gold: Callable[[Any], Any]
    of_parse: Callable[[Parse], Any]


def comparable(gold: Sequence[Tree] | Sequence[DependencyTree], parses: Sequence[Parse], path: str) -> Comparison:
    """How gold trees are compared with parses of some of them, where one kind becomes the other without loss.

    Dependencies and the phrases that are made from them (kit/trees/dependency_constituents.py) stand for each other;
    the dependencies then have no crossing arcs, and relations no subtypes. Raises ConfigError for phrases of a treebank
    beside dependencies, and for phrases whose labels are of another kind.
    """
    parsed = next((parse for parse in parses if not parse.is_empty), None)
    own, theirs = _labels(gold), _labels([parse.tree for parse in parses if parse.tree is not None])
    gives = f"the parser gives {_described(theirs)}"
    if isinstance(gold[0], Tree):
        if parsed is None or (parsed.tree is not None and own == theirs):
            return Comparison(_itself, lambda parse: parse.tree)
        if parsed.tree is None and own == "upos":
            return Comparison(_itself, lambda parse: parse.dependencies and as_constituents(parse.dependencies))
        raise ConfigError(f"{path}: has {_described(own)}, and {gives}: they cannot be compared")
    if parsed is None or parsed.dependencies is not None:
        return Comparison(_itself, lambda parse: parse.dependencies)
    if theirs:
        return Comparison(
            lambda tree: to_dependencies(as_constituents(tree)),
            lambda parse: parse.tree and to_dependencies(parse.tree),
        )
    raise ConfigError(f"{path}: has dependencies, and {gives}: they cannot be compared; name gold trees in brackets")


def _labels(trees: Sequence[Any]) -> Labels | None:
    """The kind of the labels of constituents; None where there are none."""
    phrases = [tree for tree in trees if isinstance(tree, Tree)]
    return kind_of_labels(node.label for tree in phrases for node in tree.nodes()) if phrases else None


def _described(labels: Labels | None) -> str:
    return "dependencies" if labels is None else f"constituents with {TrainedOn(labels=labels).described_labels}"


def _itself(tree: Any) -> Any:
    return tree


def print_scores(rows: Iterable[Row]) -> None:
    """Print a row for each gold file as soon as it is known, or, on a terminal, all files side by side in a table."""
    if data_stream().isatty():
        from rerank_adapters.report.output import report_console
        from rerank_adapters.report.tables import Table
        from rerank_adapters.report.terminal import print_table

        by_columns: dict[tuple[str, ...], list[Row]] = {}
        for row in rows:
            by_columns.setdefault(tuple(row), []).append(row)
        for alike in by_columns.values():
            first, *scores = list(alike[0])
            header = (first, *(row[first] for row in alike))
            cells = tuple((name, *(row[name] for row in alike)) for name in scores)
            print_table(Table("Scores in percent", header, cells), report_console())
        return
    header_row: list[str] = []
    for row in rows:
        if list(row) != header_row:
            header_row = list(row)
            click.echo("\t".join(header_row), data_stream())
        click.echo("\t".join(row.values()), data_stream())


def write_parses(
    parser: CachedParser, named: Iterable[tuple[str, Words]], processes: Processes, output: Path,
    kind: Kind | None = None, scored: bool = False,
) -> ParseCounts:  # fmt: skip
    """Write the trees of sentences, each with its name.

    `kind` is "conllu" or "brackets"; with None, the first sentence that has a parse decides. `scored` writes all
    constituency trees with their ln p. Raises ConfigError for a kind of tree that the parser does not produce.
    """
    counts = ParseCounts()
    with ExitStack() as files:
        out = files.enter_context(open_atomic(output))
        progress = files.enter_context(CountingBar("sentences parsed"))
        trees = progress.over(parsed_texts(parser, named, processes, counts, scored=scored))
        out.writelines(written(trees, kind))
    return counts


def _lines(text: str, steps: TextPipeline) -> Iterator[tuple[str, Words]]:
    """The number (from 1) and the words of each line of a text."""
    with open_text(text) as lines:
        for number, line in enumerate(lines, 1):
            yield str(number), tuple(model_words(steps.apply([line.rstrip("\r\n")])[0]))


def _distinct_hypotheses(nbests: Iterable[NBestList], steps: TextPipeline) -> Iterator[tuple[str, Words]]:
    """Segment and rank (from 1), and the words, of each hypothesis whose words no earlier hypothesis had."""
    seen: set[Words] = set()
    for nbest in nbests:
        for rank, text in enumerate(steps.apply(nbest.texts), 1):
            words = tuple(model_words(text))
            if words and words not in seen:
                seen.add(words)
                yield f"{nbest.segment_id}.{rank}", words


@click.command("parse")
@click.argument("text", required=False, type=click.Path())
@click.option("--nbest", multiple=True, metavar="LIST",
              help="Parse the hypotheses of this n-best list instead of a text. Repeatable.")  # fmt: skip
@click.option("--evaluate", "gold", multiple=True, metavar="GOLD",
              help="Compare the parser with the gold trees of this file. Repeatable.")  # fmt: skip
@click.option("-p", "--parser", metavar="PARSER", shell_complete=plugin_names("parser"),
              help=f"{options.PLUGIN_HELP}.",
              show_default="english, or biaffine in another language")  # fmt: skip
@click.option("--as", "kind", type=click.Choice(["conllu", "brackets"]),
              help="Write dependencies or constituents.",
              show_default="the kind that the parser produces, CoNLL-U of both")  # fmt: skip
@click.option("--k-best", is_flag=True,
              help="Write all trees of the parser, as `id ||| brackets ||| ln p`.")  # fmt: skip
@click.option("--max-length", "longest", type=click.IntRange(1), metavar="N",
              help="Evaluate only on sentences of at most N words.")  # fmt: skip
@click.option("--text", "steps", multiple=True, metavar="STEP",
              help="Apply this text step to the sentences; `none` applies none. Repeatable.",
              show_default="penn-tokenize for a TEXT, none for lists")  # fmt: skip
@options.output_option("Where to write the trees.")
@options.scheduler_option
@options.job_options("config", "format_", "jobs")
def command(
    job: Job, text: str | None, nbest: tuple[str, ...], gold: tuple[str, ...], parser: str | None, kind: Kind | None,
    k_best: bool, longest: int | None, steps: tuple[str, ...], output: Path, scheduler: str,
) -> None:  # fmt: skip
    """Parse a TEXT, or the hypotheses of n-best lists.

    A TEXT has one sentence per line; of n-best lists, each distinct hypothesis is parsed once.

    Parses are stored in the cache of parses (`rerank tools cache`): an interrupted run continues where it stopped, and
    features that use the same parser find its trees there. In CoNLL-U, `# sent_id` is the line number in a text, or the
    segment and the rank of a hypothesis, and `# unknown_words` lists the words that the parser does not know; sentences
    without a parse are left out, and counted. Brackets have one tree per line, and an empty line for an empty sentence
    and for one without a parse.

    With `--evaluate`, the command prints a row for each GOLD file: for CoNLL-U, the accuracy of the tags (UPOS) and the
    attachment scores (UAS, LAS) over all words; for brackets, labelled precision, recall and F1, exact match, tagging
    accuracy and coverage by EVALB's conventions; and sentences per second of CPU time. Dependencies, and constituents
    whose labels were made from dependencies, are converted where the gold trees are of the other kind; other trees of
    different kinds are refused.

    \b
    rerank trees parse corpus.en.xz -o corpus.conllu.xz
    rerank trees parse --nbest tune.nbest.gz -p pcfg -o tune.brackets
    rerank trees parse --evaluate dev.conllu.xz
    rerank trees parse -p treebank,path=my.ptb --evaluate gold.ptb
    """  # noqa: D301
    summary_line = SummaryLine()
    if sum(map(bool, (text, nbest, gold))) != 1:
        raise ConfigError("give one of: a TEXT (- for stdin), --nbest LIST, --evaluate GOLD")
    if k_best and kind == "conllu":
        raise ConfigError("--k-best writes brackets: leave --as conllu out")
    chosen = load_parser(parser or default_parser(job.names), job.names)
    if gold:
        print_scores(evaluate_parser(chosen.parser, path, longest) for path in gold)
        summary_line.wrote(f"the scores of {counted(len(gold), 'treebank')}", "-")
        return
    pipeline = TextPipeline(options.text_steps(steps, () if nbest else ("penn-tokenize",)))
    lists = [Path(path) for path in nbest]
    named = (
        _lines(text, pipeline)
        if text
        else _distinct_hypotheses(stream_nbest(lists, job.reading(lists).format, repeated=True), pipeline)
    )
    processes = Processes(job.config.jobs, scheduler)
    counts = write_parses(chosen, named, processes, output, "brackets" if k_best else kind, scored=k_best)
    summary_line.wrote(f"the parses of {counted(counts.sentences, 'sentence')} ({counts})", output)
