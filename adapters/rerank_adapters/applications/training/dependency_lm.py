"""`rerank train dependency-lm`: trains a dependency language model on treebanks or text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.memory_options import memory_options, workspace_for
from rerank_adapters.applications.training.tree_reports import say_corpus, say_held_out
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import (
    PLUGIN_HELP,
    JobFlags,
    job_flags,
    language_option,
    model_output,
    scheduler_option,
    spoken_option,
    text_steps,
    tokenised_text_option,
)
from rerank_adapters.commands.shell_completion import plugin_names

if TYPE_CHECKING:
    from rerank_adapters.applications.training.tree_source import TreeSource
    from rerank_plugins.core.dependency_tree import DependencyTree
    from rerank_plugins.core.registry import Registry
    from rerank_plugins.dependency.model import DependencyModel, Settings
    from rerank_plugins.kit.workspace import Workspace


@click.command("dependency-lm")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@model_output()
@click.option("--order", type=click.IntRange(1, 6), default=4, show_default=True,
              help="Number of words in a path: a word and its ancestors.")  # fmt: skip
@click.option("--unlabelled", is_flag=True, help="Leave the labels of arcs out of the contexts.")
@click.option("--smoothing", type=click.Choice(["stupid-backoff", "kneser-ney"]), default="stupid-backoff",
              show_default=True, help="Stupid backoff, or interpolated modified Kneser–Ney smoothing.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=5, show_default=True,
              help="Treat words that occur less often than this as unknown.")  # fmt: skip
@click.option("--prune", default="0", metavar="COUNTS",
              help="Prune paths that occur at most this often, one count for each order: 0,1,2.")  # fmt: skip
@click.option("--subtypes", is_flag=True, help="Distinguish subtypes of relations: nsubj:pass from nsubj.")
@click.option("--lowercase", is_flag=True, help="Convert all words to lower case.")
@language_option("the parser's, if its embedded model knows the words")
@spoken_option
@tokenised_text_option
@click.option("-p", "--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help=f"The parser for text: {PLUGIN_HELP}.")  # fmt: skip
@click.option("--held-out", multiple=True, type=Path, metavar="FILE",
              help="Report how well the model predicts the trees of this file. Repeatable.")  # fmt: skip
@memory_options
@scheduler_option
@job_flags("config", "jobs")
@click.pass_obj
def command(
    registry: Registry,
    flags: JobFlags,
    inputs: tuple[Path, ...],
    output: Path,
    order: int,
    unlabelled: bool,
    smoothing: str,
    min_count: int,
    prune: str,
    lowercase: bool,
    subtypes: bool,
    language: str,
    spoken: bool,
    steps: tuple[str, ...],
    parser: str,
    held_out: tuple[Path, ...],
    memory: int,
    temporary: Path | None,
) -> None:
    """Train a dependency language model on FILEs.

    A FILE whose name ends in .conllu (or .conllu.xz and the like) is a treebank; any other is text with one sentence
    per line, such as the references of n-best lists. Text is parsed during training, and its parses are stored in the
    cache of parses: the next training parses nothing again.

    \b
    rerank train dependency-lm treebank.conllu news.txt.xz -o news.deplm
    rerank train dependency-lm novels.txt.xz --smoothing kneser-ney --prune 0,1 \\
        -o novels.deplm
    """  # noqa: D301
    from rerank_adapters.applications.training.tree_source import DEPENDENCIES, TreeSource
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.parse_pool import ParseCounts
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.dependency.model import Settings
    from rerank_plugins.dependency.model_file import write_model
    from rerank_plugins.kit.backoff.smoothing import parse_prune

    closing = Closing()
    settings = Settings(order, not unlabelled, smoothing, min_count, lowercase, subtypes, parse_prune(prune))  # type: ignore[arg-type]
    job, counts = Job.create(flags.settings, registry), ParseCounts()
    workspace = workspace_for(memory, temporary, output)
    with CountingBar("trees") as bar:
        text = TextPipeline(text_steps(steps, ()))
        source = TreeSource(DEPENDENCIES, job, parser, text, counts, bar.add, spoken, language)
        model = train_dependency_lm(source, inputs, settings, workspace)
    size = write_model(model, output, source.trained_on(inputs, output.parent))
    ngrams = ", ".join(f"{n:,}" for n in model.tables.sizes)
    say_corpus(source, model.provenance, f"{len(model.vocabulary):,} in the vocabulary; n-grams {ngrams}", workspace)
    say_held_out(source, held_out, lambda trees: evaluate(model, trees))
    closing.wrote(f"the model ({size_text(size)})", output)


def train_dependency_lm(
    source: TreeSource[DependencyTree],
    paths: Sequence[Path],
    settings: Settings,
    workspace: Workspace | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> DependencyModel:
    """A model of the trees of the files, which its provenance names.

    Raises ModelError where there are no trees.
    """
    from rerank_adapters.applications.training.estimators import estimator_in_use
    from rerank_plugins.dependency.corpus import TreeCollector
    from rerank_plugins.dependency.model import train

    collector = TreeCollector(workspace)
    collector.add(source.trees(paths))
    model = train(
        collector,
        settings,
        workspace=workspace,
        jobs=source.job.config.jobs,
        progress=progress,
        estimator=estimator_in_use(workspace),
    )
    return replace(model, provenance={**model.provenance, **source.provenance(paths)})


@dataclass(frozen=True)
class HeldOut:
    """How well a model predicts held-out trees: words, unknown words, and exp(-mean ln p) of the known words."""

    words: int
    unknown: int
    perplexity: float

    def __str__(self) -> str:
        known = f"perplexity of the others {self.perplexity:.1f}"
        return f"{counted(self.words, 'word')}, {self.unknown:,} unknown, {known}"


def evaluate(model: DependencyModel, trees: Iterable[DependencyTree]) -> HeldOut:
    """The perplexity of the known words.

    Scores of stupid backoff are not probabilities: their perplexity compares with that of other such models only.
    """
    import numpy as np

    from rerank_adapters.applications.training.tree_source import BLOCK

    words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, BLOCK)):
        known = np.array([word in model for tree in block for word in tree.words], bool)
        scores = np.concatenate([*model.score(block), np.zeros(0)])
        words, unknown = words + len(known), unknown + int(np.count_nonzero(~known))
        total += float(scores[known].sum())
    return HeldOut(words, unknown, float(np.exp(-total / max(1, words - unknown))))
