"""`rerank parse`: parses text or n-best lists to CoNLL-U or brackets, or compares a parser with gold trees."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import (
    PLUGIN_HELP,
    JobFlags,
    job_flags,
    output_option,
    scheduler_option,
    text_steps,
)
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("parse")
@click.argument("text", required=False)
@click.option("--nbest", multiple=True, metavar="LIST",
              help="Parse the hypotheses of this n-best list instead of a text. Repeatable.")  # fmt: skip
@click.option("--evaluate", "gold", multiple=True, metavar="GOLD",
              help="Compare the parser with the gold trees of this file. Repeatable.")  # fmt: skip
@click.option("-p", "--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"), help=f"{PLUGIN_HELP}.")  # fmt: skip
@click.option("--trees", "kind", type=click.Choice(["conllu", "brackets"]),
              help="Write dependencies or constituents. Default: what the parser produces, CoNLL-U if it produces "
                   "both.")  # fmt: skip
@click.option("--k-best", is_flag=True,
              help="Write all trees of the parser, as `id ||| brackets ||| ln p`.")  # fmt: skip
@click.option("--longest", type=click.IntRange(1), metavar="N",
              help="Evaluate only on sentences of at most N words.")  # fmt: skip
@click.option("--text", "steps", multiple=True, metavar="STEP",
              help="Apply this text step to the sentences. Repeatable. Default: penn-tokenize for a TEXT, none for "
              "lists; `--text none` applies none.")  # fmt: skip
@output_option("Where to write the trees.")
@scheduler_option
@job_flags("config", "format_", "jobs")
@click.pass_obj
def command(
    registry: Registry,
    flags: JobFlags,
    text: str | None,
    nbest: tuple[str, ...],
    gold: tuple[str, ...],
    parser: str,
    kind: str | None,
    k_best: bool,
    longest: int | None,
    steps: tuple[str, ...],
    output: Path,
) -> None:
    """Parse a TEXT, or the hypotheses of n-best lists.

    A TEXT has one sentence per line; of n-best lists, each distinct hypothesis is parsed once.

    Parses are stored in the cache of parses (`rerank cache`): an interrupted run continues where it stopped, and
    features that use the same parser find its trees there. In CoNLL-U, `# sent_id` is the line number in a text, or the
    segment and the rank of a hypothesis, and `# unknown_words` lists the words that the parser does not know; sentences
    without a parse are left out, and counted. Brackets have one tree per line, and an empty line for a sentence without
    a parse.

    With `--evaluate`, the command prints a row for each GOLD file: for CoNLL-U, the accuracy of the tags (UPOS) and the
    attachment scores (UAS, LAS) over all words; for brackets, labelled precision, recall and F1, exact match, tagging
    accuracy and coverage by EVALB's conventions; and sentences per second of CPU time.

    \b
    rerank parse corpus.en.xz -o corpus.conllu.xz
    rerank parse --nbest tune.nbest.gz -p udpipe,model=english.udpipe -o t.conllu
    rerank parse --evaluate dev.conllu.xz
    rerank parse -p treebank,path=parsed.ptb --longest 40 --evaluate gold.ptb
    """  # noqa: D301
    from rerank_adapters.applications.parsing.evaluation import evaluate_parser
    from rerank_adapters.applications.parsing.scores_report import print_scores
    from rerank_adapters.applications.parsing.writing import write_parses
    from rerank_adapters.chain.job import Job
    from rerank_adapters.text import TextPipeline

    closing = Closing()
    if sum(map(bool, (text, nbest, gold))) != 1:
        raise ConfigError("give one of: a TEXT (- for stdin), --nbest LIST, --evaluate GOLD")
    if k_best and kind == "conllu":
        raise ConfigError("--k-best writes brackets: leave --trees conllu out")
    job = Job.create(flags.settings, registry)
    chosen = job.parser(parser)
    if gold:
        print_scores(evaluate_parser(chosen.parser, path, longest) for path in gold)
        closing.wrote(f"the scores of {counted(len(gold), 'treebank')}", "-")
        return
    pipeline = TextPipeline(text_steps(steps, () if nbest else ("penn-tokenize",)))
    counts = write_parses(job, chosen, text, [Path(path) for path in nbest], pipeline, output, kind, k_best)
    closing.wrote(f"the parses of {counted(counts.sentences, 'sentence')} ({counts})", output)
