"""`rerank surprisal`: measures how hard each word is to process, by a language model."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import (
    PLUGIN_HELP,
    JobFlags,
    job_flags,
    output_file,
    output_option,
    text_option,
    text_steps,
)
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("surprisal")
@click.argument("text", default="-")
@click.option("-m", "--model", type=Path, metavar="FILE", help="Model file, ARPA file or KenLM binary.")
@click.option("--lm", metavar="LM", shell_complete=plugin_names("language_model"),
              help=f"Language model: its name in the config, or {PLUGIN_HELP}. Default: hhmm-lm.")  # fmt: skip
@click.option("--layout", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each word, or a JSON object for each sentence.")  # fmt: skip
@click.option("--entropy", type=click.Choice(["derivations", "stores"]), default="derivations",
              show_default=True, help="Entropy of derivations, or of stores.")  # fmt: skip
@click.option("--plot", type=output_file, metavar="FILE",
              help="Also plot one sentence to this file (.png, .pdf or .svg).")  # fmt: skip
@click.option("--sentence", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Line of the sentence to plot.")  # fmt: skip
@click.option("--html", type=output_file, metavar="FILE",
              help="Also write a page of the text to this file, its words coloured by surprisal.")  # fmt: skip
@text_option
@output_option("Where to write the measures.")
@job_flags("config")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, text: str, model: Path | None, lm: str | None, layout: str,
    entropy: str, plot: Path | None, sentence: int, html: Path | None, steps: tuple[str, ...],
    output: Path,
) -> None:  # fmt: skip
    """Measure the surprisal of each word of a TEXT.

    Measure how hard each word of a TEXT (one sentence per line) is to process.

    Every language model of words gives surprisal (in bits) and marks the words that it does not know (`oov`). The
    model `hhmm-lm` also gives the entropy, the entropy reduction, the expected depth of the store and its difference
    from the word before (Wu et al. 2010). Columns that a model does not define are empty. The last row of a sentence is
    its end, `</s>`.

    \b
    rerank surprisal stories.txt > stories.tsv
    rerank surprisal stories.txt --lm hhmm-lm,beam=2000 --plot first.png
    rerank surprisal stories.txt -m lm.arpa --layout json
    rerank surprisal stories.txt --html stories.html -o stories.tsv
    """  # noqa: D301
    from rerank_adapters.applications.language_models.surprisal import as_json, as_table, measure
    from rerank_adapters.applications.language_models.surprisal_page import surprisal_page
    from rerank_adapters.applications.language_models.surprisal_plot import plot_complexity
    from rerank_adapters.chain.job import Job
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.kit.files.text import open_atomic, open_text

    closing = Closing()
    if model is not None and lm is not None:
        raise ConfigError("give one of -m (a model's file) and --lm (a language model's name)")
    language_model = Job.create(flags.settings, registry).word_model(model or lm or "hhmm-lm")
    text_pipeline = TextPipeline(text_steps(steps))
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("sentences measured") as bar:
        measured = bar.over(measure(language_model, lines, entropy, text_pipeline))  # type: ignore[arg-type]
        sentences = list(measured) if plot is not None or html is not None else None
        if sentences is not None:
            measured = iter(sentences)
        if plot is not None and sentences is not None:
            chosen = next((sentence_ for sentence_ in sentences if sentence_.line == sentence), None)
            if chosen is None or not chosen.words:
                raise ConfigError(f"--sentence {sentence}: there is no such line, or no word on it")
            plot_complexity(chosen.words, chosen.measures, plot)
        if html is not None and sentences is not None:
            with open_atomic(html) as stream:
                stream.write(surprisal_page(sentences, "stdin" if text == "-" else Path(text).name))
        out.writelines(as_json(measured) if layout == "json" else as_table(measured))
    if plot is not None:
        closing.wrote(f"the plot of line {sentence}", plot)
    if html is not None:
        closing.wrote("a page of the text, for a browser,", html)
    closing.wrote(f"the measures of {counted(bar.done, 'sentence')}", output)
