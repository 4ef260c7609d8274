"""Print the speed of the constituency parser and of the grammar as a language model (docs/results/parsing.md).

One table has the speed by sentence length and pruning; another compares scoring the hypotheses of an n-best list one
after the other with scoring each by itself. Several sentences of each length are cut or joined from the words of the
trees. Times are CPU seconds without compilation. The lists are those of example_nbest/mt, without repetitions.

No data are needed: by default the text is that of the example's references and the grammar is the embedded one.

\b
    python -m docs.results.scripts.constituency_speed --trees gum-dev.ptb
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, Listed, experiment
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins.constituency.model_file import EMBEDDED, read_grammar
from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.constituency.prefix import PrefixChart
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.kit.charts.inside import Chart, sharing_order

Sentences = Sequence[tuple[str, ...]]
EXAMPLE = Path(__file__).resolve().parents[3] / "example_nbest" / "mt" / "tune.en"
LENGTHS = (5, 10, 20, 40, 80)


def seconds(action: Callable[[tuple[str, ...]], object], sentences: Sentences) -> float:
    """CPU seconds per sentence."""
    action(sentences[0])
    started = time.process_time()
    for sentence in sentences:
        action(sentence)
    return (time.process_time() - started) / len(sentences)


def running_text(path: Path | None) -> list[str]:
    """The words of the trees in a file, or of the example's references where there is none."""
    if path is None:
        return EXAMPLE.read_text(encoding="utf-8").split()
    with open(path, encoding="utf-8") as lines:
        return [word for tree in read_trees(lines, str(path)) for word in tree.words()]


def of_length(words: Sequence[str], length: int) -> Sentences:
    """Up to 60 pieces of `length` words each."""
    number = min(60, max(4, 2000 // length), len(words) // length)
    return [tuple(words[i * length : (i + 1) * length]) for i in range(number)]


def nbest_lists(lines: int) -> list[Sentences]:
    """The distinct hypotheses of each list in the first lines of the example."""
    by_segment: dict[str, dict[tuple[str, ...], None]] = {}
    with open(EXAMPLE.with_name("tune.nbest"), encoding="utf-8") as stream:
        for line in islice(stream, lines):
            segment, text = line.split(" ||| ")[:2]
            by_segment.setdefault(segment, {})[tuple(text.split())] = None
    return [list(texts) for texts in by_segment.values()]


def by_length(parser: ChartParser, words: Sequence[str], lengths: Sequence[int] = LENGTHS) -> Table:
    """A table of sentences per second, by length."""
    ids = parser.grammar.lexicon.ids
    inside, prefixes = Chart(PrefixChart(parser.grammar).rules), PrefixChart(parser.grammar)
    ways: dict[str, Callable[[tuple[str, ...]], object]] = {
        "mbr": parser.parse,
        "mbr, 1e-4": lambda s: parser.parse(s, Decoding("mbr", 1, 1e-4)),
        "mbr, 0": lambda s: parser.parse(s, Decoding("mbr", 1, 0.0)),
        "viterbi": lambda s: parser.parse(s, Decoding("viterbi")),
        "100 best": lambda s: parser.parse(s, Decoding("mbr", 100)),
        "1000 best": lambda s: parser.parse(s, Decoding("mbr", 1000)),
        "inside": lambda s: inside.fill(ids(s)),
        "prefixes": lambda s: prefixes.log_probabilities(ids(s)),
    }
    rows = []
    for length in lengths:
        sentences = of_length(words, length)
        row = [str(length)]
        for name, way in ways.items():
            some = sentences[:5] if name == "mbr, 0" else sentences
            skipped = name == "mbr, 0" and length > 20
            row.append("–" if skipped else f"{1 / seconds(way, some):.1f}")
        rows.append(tuple(row))
    return Table("Sentences per second, by length in words", ("words", *ways), tuple(rows))


def of_lists(parser: ChartParser, lines: int = 1000) -> Table:
    """A table of lists scored with shared cells, against hypotheses scored by themselves."""
    ids = parser.grammar.lexicon.ids
    rows = []
    for name, rules in (
        ("coarse chart of the parser", parser.chart.rules),
        ("inside of the grammar", PrefixChart(parser.grammar).rules),
    ):
        apart, together, chart, alone = 0.0, 0.0, Chart(rules), Chart(rules)

        def forget(sentence: tuple[str, ...], alone: Chart = alone) -> None:
            alone.words = alone.words[:0]
            alone.fill(ids(sentence))

        lists = nbest_lists(lines)
        for texts in lists:
            chart.fill(ids(texts[0]))
            apart += len(texts) * seconds(forget, texts)
            order = [texts[place] for place in sharing_order(texts)]
            together += len(texts) * seconds(lambda s, chart=chart: chart.fill(ids(s)), order)  # type: ignore[misc]
        number, share = sum(map(len, lists)), 100 * chart.shared / chart.cells
        times = (f"{1e3 * apart / number:.2f}", f"{1e3 * together / number:.2f}", f"{apart / together:.1f}")
        rows.append((name, *times, f"{share:.0f} %"))
    columns = (f"{number} hypotheses in {len(lists)} lists", "alone, ms", "together, ms", "ratio", "cells shared")
    return Table("Lists of hypotheses against single sentences, per hypothesis", columns, tuple(rows))


@experiment("constituency_speed", __doc__)
@click.option(
    "--grammar", type=FILE, help="Use this grammar, made by `rerank train grammar`.  [default: the embedded one]"
)
@click.option("--trees", type=FILE, help="Parse the words of this file of brackets.  [default: the example's text]")
@click.option("--lengths", type=Listed(int), default=",".join(map(str, LENGTHS)), help="Lengths of sentences in words.")
@click.option("--lines", default=1000, help="Read this many lines of the example's lists.")
def main(grammar: Path | None, trees: Path | None, lengths: tuple[int, ...], lines: int) -> None:
    """Measure all times and print the tables."""
    parser, words = ChartParser(read_grammar(grammar or EMBEDDED)), running_text(trees)
    print(markdown_table(by_length(parser, words, lengths)), flush=True)
    print(markdown_table(of_lists(parser, lines)))


if __name__ == "__main__":
    main()
