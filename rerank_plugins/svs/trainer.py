"""The trainer of structured vectorial semantics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rerank_plugins import Trained, TrainingData, Tree, option
from rerank_plugins.constituency.trainer import TreebankTrainer

if TYPE_CHECKING:
    from rerank_plugins.svs.clustering import EmStep
    from rerank_plugins.svs.model import SvsModel
    from rerank_plugins.svs.training import SvsSettings


@dataclass
class SvsTrainer(TreebankTrainer):
    """Train structured vectorial semantics (Wu & Schuler 2011) on FILEs of Penn-style brackets or of CoNLL-U.

    EM over the given trees clusters the headwords into concepts, by the rules that a concept takes part in and the
    concepts that it modifies. `rerank lm clusters MODEL` shows the clusters; `svs,model=MODEL` is a parser. Held-out
    files are treebanks.

    \b
    rerank train svs train.ptb --language en -o english.svs --held-out dev.ptb
    rerank train svs train.ptb --concepts 20 --restarts 5 --seed 7 --language en \\
        -o english.svs
    """  # noqa: D301

    uses = ("seed", "held-out")

    concepts: Annotated[int, Field(ge=1)] = option(10, doc="Number of concepts, which are clusters of headwords.")
    max_headwords: Annotated[int, Field(ge=1)] = option(1000, doc="Number of headwords to keep; all others become unk.")
    iterations: Annotated[int, Field(ge=0)] = option(20, doc="Number of EM iterations.")
    restarts: Annotated[int, Field(ge=1)] = option(
        10, doc="Number of random initialisations of EM; that of highest likelihood is kept."
    )
    rule_prior: Annotated[float, Field(ge=0)] = option(
        50.0, doc="Pseudo-counts of a prior that pulls the rule probabilities towards the treebank's."
    )
    head_prior: Annotated[float, Field(ge=0)] = option(
        0.0, doc="Pseudo-counts of this prior for the headword probabilities."
    )
    annotations: str | None = option(
        None,
        metavar="NAMES",
        doc="State splits: klein-manning, or some of its splits; transitive and frame annotate verbs with their "
        "arguments. Default: klein-manning for English trees in brackets, none for others.",
    )
    min_count: Annotated[int, Field(ge=1)] = option(
        20,
        doc="Replace categories and relations that occur less often than this by less annotated ones.",
    )

    def train(self, data: TrainingData) -> Trained:
        """An `SvsModel`. Raises ConfigError, FormatError."""
        from rerank_plugins.constituency.trainer import parse_held_out
        from rerank_plugins.svs.clustering import Clustering
        from rerank_plugins.svs.model import read_model, write_model
        from rerank_plugins.svs.parsing import SvsParser
        from rerank_plugins.svs.states import named
        from rerank_plugins.svs.training import SvsSettings

        self.check_heads(data, "svs")
        chosen = self.annotations
        if chosen is None:
            chosen = "klein-manning" if self.has_english_labels(data) else ""
        names = self.named_annotations(data, chosen)
        named(names)
        clustering = Clustering(
            self.concepts, self.iterations, self.restarts, data.seed, rule_prior=self.rule_prior,
            head_prior=self.head_prior,
        )  # fmt: skip
        settings = SvsSettings(self.language, names, self.min_count, self.max_headwords, clustering, self.unknown)
        model = self._model(data, settings)

        def evaluate(paths: Iterable[Path]) -> str:
            parser = SvsParser(read_model(data.output))

            def best_tree(sentence: Sequence[str]) -> Tree | None:
                parse = parser.parse(tuple(sentence))
                return parse.tree() if parse else None

            return parse_held_out(paths, lambda sentences: [best_tree(sentence) for sentence in sentences], self.tags)

        sizes = (
            f"{model.concepts} concepts, {len(model.symbols):,} symbols ({len(model.categories):,} categories, "
            f"{len(model.relations)} relations), {len(model.binary):,} binary and {len(model.unary):,} unary rules, "
            f"{len(model.lexicon.words):,} words"
        )
        return Trained(lambda path: write_model(model, path, compact=self.compact), [sizes], evaluate=evaluate)

    def _model(self, data: TrainingData, settings: SvsSettings) -> SvsModel:
        """A model of the treebanks; a line is printed for each restart of EM."""
        from rerank_plugins.constituency.treebank_files import treebank
        from rerank_plugins.svs.training import train_svs

        runs, iterations = settings.clustering.runs, settings.clustering.iterations
        objectives: list[float] = []

        def after(step: EmStep) -> None:
            name = f"restart {step.restart} of {runs}" if runs > 1 else "EM"
            done = (step.restart - 1) * (iterations + 1) + step.iteration
            data.progress(
                f"{name}, iteration {step.iteration} of {iterations + 1}", parts=(done, runs * (iterations + 1))
            )
            if step.iteration > iterations:
                prior = f", with the prior {step.objective:,.1f}" if step.objective != step.log_likelihood else ""
                data.report(f"{name}: ln p of trees and headwords {step.log_likelihood:,.1f}{prior}")
                objectives.append(step.objective)

        weights, tagged = self.weighed(data)
        treebanks = [treebank(path, data.report, self.tags) for path in weights]
        data.progress("learning", parts=(0, runs * (iterations + 1)))
        model = train_svs(treebanks, list(weights.values()), settings, after, tagged)
        if runs > 1 and objectives:
            data.report(f"kept restart {objectives.index(max(objectives)) + 1}, whose result is the likeliest")
        return model
