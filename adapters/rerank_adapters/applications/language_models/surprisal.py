"""`rerank lm surprisal`: surprisal, entropy and embedding depth of each word of a text, by any language model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.language_models.word_measures import COLUMNS, Measured, measure
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.job.models import load_word_model
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.templates import render
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.hhmm.language_model import Complexity, EntropyKind
from rerank_plugins.kit.files.text import open_atomic, open_text

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job

DARKEST = 0.95  # quantile of all surprisals from which words have the full colour: outliers take no range from others


def as_table(measured: Iterable[Measured]) -> Iterator[str]:
    """A tab-separated line for each word, header first; cells of measures that the model does not define are empty."""
    measured = iter(measured)
    first = list(islice(measured, 1))  # before the header is written: if the model cannot be read, nothing is
    yield "\t".join(("sentence", "position", "word", *COLUMNS)) + "\n"
    for sentence in chain(first, measured):
        for position, (word, values) in enumerate(sentence.rows(), 1):
            cells = ("" if math.isnan(value) else f"{value:.6g}" for value in values.values())
            yield "\t".join((str(sentence.line), str(position), word, *cells)) + "\n"


def as_json(measured: Iterable[Measured]) -> Iterator[str]:
    """A JSON object on a line for each sentence: its line number, and its words with the measures that are defined."""
    for sentence in measured:
        words = [
            {"word": word, **{name: value for name, value in values.items() if not math.isnan(value)}}
            for word, values in sentence.rows()
        ]
        yield json_line({"sentence": sentence.line, "words": words}) + "\n"


def surprisal_page(measured: Sequence[Measured], title: str) -> str:
    """The whole page; write it as UTF-8. The tooltip of a word has all measures that the model defines."""
    surprisals = np.concatenate([np.zeros(0), *(sentence.measures.surprisal for sentence in measured)])
    finite = surprisals[np.isfinite(surprisals)]
    darkest = max(float(np.quantile(finite, DARKEST)), 1.0) if len(finite) else 1.0
    words = sum(len(sentence.words) for sentence in measured)
    head = f"{words:,} words, {finite.sum() / max(1, len(finite)):.2f} bits a word"
    if len(finite) < len(surprisals):
        head += f", and {len(surprisals) - len(finite):,} of probability 0"
    values = {
        "title": title,
        "headline": head,
        "darkest": darkest,
        "sentences": [
            (sentence.line, [_word(*row, darkest) for row in sentence.rows()], np.sum(sentence.measures.surprisal))
            for sentence in measured
        ],
    }
    return render("surprisal.html.j2", values, package="rerank_adapters.applications.language_models")


def _word(word: str, values: dict[str, float], darkest: float) -> dict[str, Any]:
    """The values of a word on the page; `heat`, from 0 to 1, is the depth of its colour."""
    surprisal, known = values["surprisal"], bool(values["known"])
    measures = [f"{name.replace('_', ' ')} {value:.2f}" for name, value in values.items() if not math.isnan(value)][:-1]
    return {
        "text": "⏎" if word == "</s>" else word,
        "known": known,
        "surprisal": surprisal,
        "heat": min(1.0, max(0.0, surprisal / darkest)) if math.isfinite(surprisal) else 1.0,
        "measures": measures if known else [*measures, "unknown word"],
    }


def plot_complexity(words: tuple[str, ...], measures: Complexity, path: Path) -> None:
    """Plot surprisal, entropy and depth, a panel for each of them that the model defines."""
    series = [
        ("surprisal (bits)", measures.surprisal[:-1]),
        ("entropy (bits)", measures.entropy[1:]),
        ("depth", measures.depth[1:]),
    ]
    shown = [(name, values) for name, values in series if np.isfinite(values).all()]
    figure, panels = new_figure(len(shown))
    figure.set_figwidth(max(6.4, 0.5 * len(words) + 1))
    for axes, (name, values) in zip(panels, shown, strict=True):
        axes.plot(range(len(words)), values, marker="o")
        axes.set_ylabel(name)
        axes.set_xticks(range(len(words)), words if axes is panels[-1] else [""] * len(words), rotation=45, ha="right")
    save_figure(figure, path)


@click.command("surprisal")
@click.argument("text", default="-", type=click.Path())
@options.language_model_option("hhmm-lm")
@click.option("--as", "form", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each word, or a JSON object for each sentence.")  # fmt: skip
@click.option("--entropy", type=click.Choice(["derivations", "stores"]), default="derivations",
              show_default=True, help="Entropy of derivations, or of stores.")  # fmt: skip
@click.option("--plot", type=options.output_file, metavar="FILE",
              help="Also plot the first sentence to this file (.png, .pdf or .svg).")  # fmt: skip
@click.option("--html", type=options.output_file, metavar="FILE",
              help="Also write a page of the text to this file, its words coloured by surprisal.")  # fmt: skip
@options.text_option
@options.output_option("Where to write the measures.")
@options.job_options("config")
def command(
    job: Job, text: str, model: str | Path, form: str, entropy: EntropyKind, plot: Path | None, html: Path | None,
    steps: tuple[str, ...], output: Path,
) -> None:  # fmt: skip
    """Measure the surprisal of each word of a TEXT.

    Measure how hard each word of a TEXT (one sentence per line) is to process.

    Every language model of words gives surprisal (in bits) and tells which words it knows (`known`, 1 or 0). The
    surprisal of an unknown word is that of any word of its form: leave such words out of regressions. The model
    `hhmm-lm` also gives the entropy, the entropy reduction, expected depth of the store and its difference from
    the word before (Wu et al. 2010). Columns that a model does not define are empty. The last row of a sentence is its
    end, `</s>`.

    \b
    rerank lm surprisal stories.txt > stories.tsv
    rerank lm surprisal stories.txt -M hhmm-lm,beam=2000 --plot first.png
    rerank lm surprisal stories.txt -M lm.arpa --as json
    rerank lm surprisal stories.txt --html stories.html -o stories.tsv
    """  # noqa: D301
    summary_line = SummaryLine()
    language_model = load_word_model(model, job.names)
    text_pipeline = TextPipeline(options.text_steps(steps))
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("sentences measured") as bar:
        measured: Iterable[Measured] = bar.over(measure(language_model, lines, entropy, text_pipeline))
        if plot is not None or html is not None:
            measured = sentences = list(measured)
        if plot is not None:
            first = next((sentence for sentence in sentences if sentence.words), None)
            if first is None:
                raise ConfigError(f"--plot: {text} has no sentence to plot")
            plot_complexity(first.words, first.measures, plot)
        if html is not None:
            with open_atomic(html) as stream:
                stream.write(surprisal_page(sentences, "stdin" if text == "-" else Path(text).name))
        out.writelines(as_json(measured) if form == "json" else as_table(measured))
    if plot is not None:
        summary_line.wrote("the plot of the first sentence", plot)
    if html is not None:
        summary_line.wrote("a page of the text, for a browser,", html)
    summary_line.wrote(f"the measures of {counted(bar.done, 'sentence')}", output)
