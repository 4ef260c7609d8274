"""`rerank score`: prints the probabilities of a text by a language model."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import PLUGIN_HELP, JobFlags, job_flags, output_option, text_option, text_steps
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("score")
@click.argument("text", default="-")
@click.option("-m", "--model", type=Path, metavar="FILE", help="Model file, ARPA file or KenLM binary.")
@click.option("--lm", metavar="LM", shell_complete=plugin_names("language_model"),
              help=f"Language model: its name in the config, or {PLUGIN_HELP}.")  # fmt: skip
@click.option("--layout", type=click.Choice(["srilm", "kenlm", "table"]), default="srilm", show_default=True,
              help="Print as SRILM's `ngram -ppl` or KenLM's `query` do, or tab-separated.")  # fmt: skip
@click.option("-d", "--detail", type=click.IntRange(0, 2),
              help="Print a summary (0), each sentence (1) or each word (2). Default: 0 (table: 1).")  # fmt: skip
@text_option
@output_option("Where to write the scores.")
@job_flags("config")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, text: str, model: Path | None, lm: str | None, layout: str,
    detail: int | None, steps: tuple[str, ...], output: Path,
) -> None:  # fmt: skip
    """Score sentences: log probabilities and perplexity.

    Print the log probabilities, unknown words and perplexity of a TEXT (one sentence per line).

    `--detail` corresponds to SRILM's -debug. SRILM's perplexities leave unknown words out; KenLM prints one with and
    one without them. Of a model that gives no probabilities to single words, such as `treelet-lm`, `--layout table`
    prints the sentences.

    \b
    rerank score dev.en -m lm.ngram
    rerank score dev.en --lm unigram --detail 2
    rerank score dev.en -m lm.arpa --layout table > scores.tsv
    """  # noqa: D301
    from rerank_adapters.applications.language_models.layouts import (
        kenlm_layout,
        sentence_table,
        srilm_layout,
        word_table,
    )
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.scoring import score_lines, total_lines
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

    closing = Closing()
    if (model is None) == (lm is None):
        raise ConfigError("give one of -m (a model's file) and --lm (a language model's name)")
    job, pipeline = Job.create(flags.settings, registry), TextPipeline(text_steps(steps))
    detail = detail if detail is not None else int(layout == "table")
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("sentences scored") as bar:
        if layout == "table" and detail < 2:
            totals = total_lines(job.language_model(model or str(lm)), lines, pipeline)
            out.writelines(sentence_table(bar.over(totals)))
        else:
            scored = score_lines(job.word_model(model or str(lm)), lines, pipeline, lengths=detail > 1)
            scored = bar.over(scored)
            if layout == "srilm":
                out.writelines(srilm_layout(scored, detail, display_name(text)))
            else:
                out.writelines(kenlm_layout(scored, detail) if layout == "kenlm" else word_table(scored))
    closing.wrote(f"the scores of {counted(bar.done, 'sentence')}", output)
