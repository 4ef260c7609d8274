"""Training structured vectorial semantics from files of bracketed trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rerank_adapters.applications.training.treebanks import parses_of_treebank, read_treebanks
from rerank_plugins.models.pcfg.tagged_words import Tagged
from rerank_plugins.models.svs.clustering import EmStep
from rerank_plugins.models.svs.model import SvsModel
from rerank_plugins.models.svs.parsing import SvsParser
from rerank_plugins.models.svs.training import SvsSettings, train_svs
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.parseval import Parseval


def train(
    weights: Mapping[Path, float],
    settings: SvsSettings,
    report: Callable[[str], None] = lambda line: None,
    tagged: Tagged | None = None,
) -> SvsModel:
    """The model of treebanks by their weights; `report` gets a line for each file and each iteration of EM.

    `tagged` words are added to its lexicon. Raises FormatError, also for a file without trees.
    """
    treebanks = read_treebanks(weights, report)
    restarts, last = settings.clustering.beginnings, settings.clustering.iterations + 1

    def after(step: EmStep) -> None:
        name = f"beginning {step.restart} of {restarts}, " if restarts > 1 else ""
        done = f"after {step.iteration - 1} iterations" if step.iteration > 1 else "before EM"
        prior = f", with the prior {step.objective:,.1f}" if step.objective != step.log_likelihood else ""
        report(f"{name}{done}: ln p of trees and headwords {step.log_likelihood:,.1f}{prior}")
        if step.iteration == last and restarts > 1 and step.restart == restarts:
            report("kept: the beginning that ended highest")

    return train_svs(treebanks, list(weights.values()), settings, after, tagged)


def held_out(model: SvsModel, path: Path) -> Parseval:
    """How well a model parses the words of other trees. Raises FormatError."""
    parser = SvsParser(model)

    def parsed(sentences: Sequence[tuple[str, ...]]) -> list[Tree | None]:
        return [found.tree() if found else None for found in map(parser.parse, sentences)]

    return parses_of_treebank(path, parsed)
