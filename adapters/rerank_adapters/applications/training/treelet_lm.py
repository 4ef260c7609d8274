"""`rerank train treelet-lm`: trains a treelet language model, or a baseline of it, on treebanks or text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.applications.training.tree_source import TreeSource
    from rerank_plugins.core.constituency_tree import Tree
    from rerank_plugins.core.registry import Registry
    from rerank_plugins.kit.workspace import Workspace
    from rerank_plugins.treelet.headlex_model import HeadlexModel
    from rerank_plugins.treelet.headlex_model import Settings as HeadlexSettings
    from rerank_plugins.treelet.model import Settings, TreeletModel

VARIANTS = ["pcfg", "treelet-trans", "treelet-rule", "treelet", "headlex"]


@click.command("treelet-lm")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@model_output()
@click.option("--variant", type=click.Choice(VARIANTS), default="treelet", show_default=True,
              help="The treelet model, or one of its baselines.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=1, show_default=True,
              help="Replace words that occur less often than this by signatures.")  # fmt: skip
@click.option("--min-rule-count", type=click.IntRange(1), default=1, show_default=True,
              help="Leave rules that occur less often than this to the 4-grams of symbols.")  # fmt: skip
@click.option("--prune", default="0", metavar="COUNTS",
              help="Prune word events that occur at most this often, one count for each order: 0,0,0,1.")  # fmt: skip
@click.option("--prune-rules", default="0", metavar="COUNTS", help="Prune rule events in the same way.")
@click.option("--prune-yields", default="0", metavar="COUNTS",
              help="Prune the 4-grams of symbols, which are counted in distinct rules, in the same way.")  # fmt: skip
@click.option("--signatures-after", type=click.IntRange(0), default=10_000, show_default=True,
              help="Number of sentences after which new words may become signatures.")  # fmt: skip
@click.option("--signature-rate", type=click.FloatRange(0, 1), default=0.1, show_default=True,
              help="Proportion of the new words that become signatures from then on.")  # fmt: skip
@language_option("the parser's, if its embedded model knows the words")
@spoken_option
@tokenised_text_option
@click.option("-p", "--parser", default="pcfg", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help=f"The parser for text: {PLUGIN_HELP}.")  # fmt: skip
@click.option("--held-out", multiple=True, type=Path, metavar="FILE",
              help="Report how well the model predicts the trees of this file. Repeatable.")  # fmt: skip
@memory_options
@scheduler_option
@job_flags("config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, inputs: tuple[Path, ...], output: Path, variant: str, min_count: int,
    min_rule_count: int, prune: str, prune_rules: str, prune_yields: str, signatures_after: int, signature_rate: float,
    language: str, spoken: bool, steps: tuple[str, ...], parser: str, held_out: tuple[Path, ...], memory: int,
    temporary: Path | None,
) -> None:  # fmt: skip
    """Train a treelet language model on FILEs.

    A FILE whose name ends in .ptb, .mrg or .brackets (also compressed) is a treebank of Penn-style brackets; any other
    is text with one sentence per line. Text is parsed during training, and the best tree of each sentence is used. Its
    parses are stored in the cache of parses, so that an interrupted training continues where it stopped, and the next
    one parses nothing again. In a corpus of fewer than twice `--signatures-after` sentences, the words that occur once
    become signatures instead.

    \b
    rerank train treelet-lm treebank.ptb news.txt.xz --held-out dev.ptb \\
        -o news.treelet
    rerank train treelet-lm treebank.ptb --variant treelet-rule -o rule.treelet
    rerank score dev.txt --lm treelet-lm,model=news.treelet
    """  # noqa: D301
    from rerank_adapters.applications.training.tree_source import CONSTITUENTS, TreeSource
    from rerank_adapters.chain.job import Job
    from rerank_adapters.chain.parse_pool import ParseCounts
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.kit.backoff.smoothing import parse_prune
    from rerank_plugins.treelet import headlex_model as headlex
    from rerank_plugins.treelet.headlex_model_file import write_model as write_headlex
    from rerank_plugins.treelet.model import Settings, TreeletModel
    from rerank_plugins.treelet.model_file import write_model

    closing = Closing()
    job = Job.create(flags.settings, registry)
    unknown: dict[str, Any] = {"signatures_after": signatures_after, "signature_rate": signature_rate}
    unknown["seed"] = job.config.seed
    cutoffs = {"words": prune, "rules": prune_rules, "yields": prune_yields}
    pruned = {f"prune_{events}": parse_prune(counts) for events, counts in cutoffs.items()}
    if variant == "headlex":
        if min_rule_count > 1 or any(map(any, pruned.values())):
            raise ConfigError("--variant headlex has no rules to leave out, and is not pruned")
        baseline = headlex.Settings(min_count, **unknown)
    else:
        settings = Settings(variant, "types", min_count, min_rule_count, **pruned, **unknown)  # type: ignore[arg-type]
    counts = ParseCounts()
    workspace = workspace_for(memory, temporary, output)
    with CountingBar("trees") as bar:
        text = TextPipeline(text_steps(steps, ()))
        source = TreeSource(CONSTITUENTS, job, parser, text, counts, bar.add, spoken, language)
        model = (
            train_headlex(source, inputs, baseline, workspace)
            if variant == "headlex"
            else train_treelet_lm(source, inputs, settings, workspace)
        )
    trained_on = source.trained_on(inputs, output.parent)
    size = (
        write_model(model, output, trained_on)
        if isinstance(model, TreeletModel)
        else write_headlex(model, output, trained_on)
    )
    sizes = f"{len(model.vocabulary):,} in the vocabulary, {len(model.symbols):,} symbols"
    say_corpus(source, model.provenance, sizes, workspace)
    say_held_out(source, held_out, lambda trees: evaluate(model, trees))
    closing.wrote(f"the model ({size_text(size)})", output)


def train_treelet_lm(
    source: TreeSource[Tree],
    paths: Sequence[Path],
    settings: Settings,
    workspace: Workspace | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> TreeletModel:
    """A model of the trees of the files, which its provenance names.

    Raises ModelError where there are no trees.
    """
    from rerank_adapters.applications.training.estimators import estimator_in_use
    from rerank_plugins.treelet.training import collect, train

    collector = collect(source.trees(paths), settings, workspace)
    model = train(
        collector,
        settings,
        workspace=workspace,
        jobs=source.job.config.jobs,
        progress=progress,
        estimator=estimator_in_use(workspace),
    )
    return replace(model, provenance={**model.provenance, **source.provenance(paths)})


def train_headlex(
    source: TreeSource[Tree], paths: Sequence[Path], settings: HeadlexSettings, workspace: Workspace | None = None
) -> HeadlexModel:
    """The head-lexicalised baseline, trained in the same way."""
    from rerank_adapters.applications.training.estimators import estimator_in_use
    from rerank_plugins.treelet.headlex_training import collect, train

    collector = collect(source.trees(paths), workspace)
    jobs, estimator = source.job.config.jobs, estimator_in_use(workspace)
    model = train(collector, settings, workspace=workspace, jobs=jobs, estimator=estimator)
    return replace(model, provenance={**model.provenance, **source.provenance(paths)})


@dataclass(frozen=True)
class HeldOut:
    """How well a model predicts held-out trees: numbers of sentences, words and unknown words, and the perplexity.

    `perplexity` is exp(-Σ ln p(T) / (words + sentences)) with one tree T for each sentence. It is an upper bound of the
    perplexity of the sentences, whose probabilities are sums over all their trees.
    """

    sentences: int
    words: int
    unknown: int
    perplexity: float

    def __str__(self) -> str:
        read = f"{counted(self.sentences, 'sentence')}, {counted(self.words, 'word')}, {self.unknown:,} unknown"
        return f"{read}, perplexity {self.perplexity:.1f} by one tree each"


def evaluate(model: TreeletModel | HeadlexModel, trees: Iterable[Tree]) -> HeldOut:
    """How well the model predicts these trees; unknown words are scored as their signatures."""
    import numpy as np

    from rerank_adapters.applications.training.tree_source import BLOCK

    sentences = words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, BLOCK)):
        leaves = [word for tree in block for word in tree.words()]
        sentences, words = sentences + len(block), words + len(leaves)
        unknown += sum(word not in model.vocabulary for word in leaves)
        total += float(model.score_trees(block).sum())
    return HeldOut(sentences, words, unknown, float(np.exp(-total / max(1, words + sentences))))
