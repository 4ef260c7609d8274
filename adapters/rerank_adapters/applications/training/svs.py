"""`rerank train svs`: trains a model of structured vectorial semantics on bracketed trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.grammar_options import HELD_OUT, INPUTS, LANGUAGE, TAGGED, WEIGHTS
from rerank_adapters.applications.training.reports import echo_parseval, say
from rerank_adapters.commands.closing import Closing, size_text
from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.constituency.tagged_words import Tagged
    from rerank_plugins.core.constituency_tree import Tree
    from rerank_plugins.kit.trees.parseval import Parseval
    from rerank_plugins.svs.clustering import EmStep
    from rerank_plugins.svs.model import SvsModel
    from rerank_plugins.svs.training import SvsSettings

COUNT = click.IntRange(1)
PRIOR = click.FloatRange(0)


@click.command("svs")
@INPUTS
@model_output()
@LANGUAGE
@click.option("--concepts", type=COUNT, default=10, show_default=True,
              help="Number of concepts, which are clusters of headwords.")  # fmt: skip
@click.option("--headwords", type=COUNT, default=1000, show_default=True,
              help="Number of headwords to keep; all others become unk.")  # fmt: skip
@click.option("--lexicalised", is_flag=True, help="Use the headwords themselves as concepts, without clusters.")
@click.option("--iterations", type=click.IntRange(0), default=20, show_default=True,
              help="Number of EM iterations.")  # fmt: skip
@click.option("--restarts", type=COUNT, default=10, show_default=True,
              help="Number of random initialisations of EM; that of highest likelihood is kept.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Seed of the random initialisations.")  # fmt: skip
@click.option("--rule-prior", type=PRIOR, default=50.0, show_default=True,
              help="Pseudo-counts of the prior that draws P_M towards the treebank grammar; 0: no prior.")  # fmt: skip
@click.option("--head-prior", type=PRIOR, default=0.0, show_default=True,
              help="Pseudo-counts of the same kind of prior on P_H.")  # fmt: skip
@click.option("--annotations", default="klein-manning", show_default=True, metavar="NAMES",
              help="State splits: klein-manning, or some of its splits; transitive and frame annotate verbs with "
                   "their arguments.")  # fmt: skip
@click.option("--rare", type=COUNT, default=20, show_default=True,
              help="Replace categories and relations that occur less often than this by less annotated ones.",
              )  # fmt: skip
@TAGGED
@WEIGHTS
@HELD_OUT
@click.option("--compact", is_flag=True, help="Halve the file's size; probabilities are rounded by up to 1 %.")
def command(
    inputs: tuple[Path, ...], output: Path, language: str, concepts: int, headwords: int, lexicalised: bool,
    iterations: int, restarts: int, seed: int, rule_prior: float, head_prior: float, annotations: str, rare: int,
    tagged: tuple[Path, ...], weights: tuple[str, ...], held_out: tuple[Path, ...], compact: bool,
) -> None:  # fmt: skip
    """Train structured vectorial semantics (Wu & Schuler 2011) on FILEs of Penn-style brackets.

    EM over the given trees clusters the headwords into concepts, by the rules that a concept takes part in and the
    concepts that it modifies. `rerank svs clusters MODEL` shows the clusters; `svs,model=MODEL` is a parser.

    \b
    rerank train svs train.ptb --language en -o english.svs --held-out dev.ptb
    rerank train svs train.ptb --concepts 20 --restarts 5 --seed 7 --language en \\
        -o english.svs
    rerank train svs train.ptb --lexicalised --headwords 50 --language en \\
        -o lexicalised.svs
    """  # noqa: D301
    from rerank_adapters.applications.training.treebanks import weigh_files
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.svs.clustering import Clustering
    from rerank_plugins.svs.model_file import read_model, write_model
    from rerank_plugins.svs.subcategorisation import named
    from rerank_plugins.svs.training import SvsSettings

    closing = Closing()
    names = tuple(name.strip() for name in annotations.split(",") if name.strip())
    named(names)
    clustering = Clustering(concepts, iterations, restarts, seed, rule_prior=rule_prior, head_prior=head_prior)
    settings = SvsSettings(language, names, rare, headwords, lexicalised, clustering)
    file_weights, tagged_words = weigh_files(inputs, tagged, weights, say)
    with StatusLine() as stages:
        model = train(file_weights, settings, say, stages, tagged_words)
    size = write_model(model, output, compact=compact)
    say(
        f"{model.concepts} concepts, {len(model.symbols):,} symbols ({len(model.categories):,} categories, "
        f"{len(model.relations)} relations), {len(model.binary):,} binary and {len(model.unary):,} unary rules, "
        f"{len(model.lexicon.words):,} words"
    )
    for path in held_out:
        echo_parseval(path, parse_held_out(read_model(output), path))
    closing.wrote(f"the model ({size_text(size)})", output)


def train(
    weights: Mapping[Path, float],
    settings: SvsSettings,
    report: Callable[[str], None] = lambda line: None,
    progress: Callable[[str], None] = lambda stage: None,
    tagged: Tagged | None = None,
) -> SvsModel:
    """A model of treebanks, each with its weight; `tagged` words are added to its lexicon.

    `report` gets a line for each file and each restart, `progress` one for each iteration of EM. Raises FormatError,
    also for a file without trees.
    """
    from rerank_adapters.applications.training.treebanks import treebank
    from rerank_plugins.svs.training import train_svs

    treebanks = [treebank(path, report) for path in weights]
    runs, iterations = settings.clustering.runs, settings.clustering.iterations
    objectives: list[float] = []

    def after(step: EmStep) -> None:
        name = f"restart {step.restart} of {runs}" if runs > 1 else "EM"
        progress(f"{name}, iteration {step.iteration} of {iterations + 1}")
        if step.iteration > iterations:
            prior = f", with the prior {step.objective:,.1f}" if step.objective != step.log_likelihood else ""
            report(f"{name}: ln p of trees and headwords {step.log_likelihood:,.1f}{prior}")
            objectives.append(step.objective)

    model = train_svs(treebanks, list(weights.values()), settings, after, tagged)
    if runs > 1 and objectives:
        report(f"kept restart {objectives.index(max(objectives)) + 1}, whose result is the likeliest")
    return model


def parse_held_out(model: SvsModel, path: Path) -> Parseval:
    """How well a model parses the words of held-out trees. Raises FormatError."""
    from rerank_adapters.applications.training.treebanks import evaluate_on_treebank
    from rerank_plugins.svs.parsing import SvsParser

    parser = SvsParser(model)

    def best_tree(sentence: Sequence[str]) -> Tree | None:
        parse = parser.parse(tuple(sentence))
        return parse.tree() if parse else None

    return evaluate_on_treebank(path, lambda sentences: [best_tree(sentence) for sentence in sentences])
