"""The trainer of the incremental syntactic language model, as a grammar or by counted events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rerank_plugins import ConfigError, Trained, TrainingData, option
from rerank_plugins.constituency.trainer import SplitTrainer
from rerank_plugins.kit.files.treebanks import of_dependencies

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar

# A grammar, what saves the model, and lines on it.
TrainedGrammar = tuple["Grammar", Callable[[Path], object], Iterable[str]]


@dataclass
class HhmmTrainer(SplitTrainer):
    """Train a model of incremental parsing on FILEs of Penn-style brackets or of dependencies (CoNLL-U).

    By default, the model is the grammar of `rerank train grammar --binarise left --features all`. Left-branching rules
    need a smaller store of incomplete constituents and defer decisions that depend on the following words. With
    features such as number, subjects agree with their verbs. The probabilities of the HHMM are computed from the
    grammar when it is read (Schwartz et al. 2011), so any grammar file can be the model of `hhmm-lm`. `-M FILE` reads
    a file of this command as an incremental model. The command reports the probability that a tree of
    the grammar fits in a store of 1, 2, … elements.

    With `--estimation events`, reductions and expansions are counted in right-corner trees (Wu et al. 2010) for a store
    of `--depth` elements, and are smoothed with the grammar of the same trees. This estimation has no latent splits;
    the grammar with latent splits is the better model. Held-out files are text, one sentence per line.

    \b
    rerank train hhmm train.ptb --language en -o english.pcfg --held-out dev.txt
    rerank train hhmm train.ptb --estimation events --language en -o english.hhmm
    rerank lm score dev.txt -M hhmm-lm,model=english.pcfg
    """  # noqa: D301

    uses = ("seed", "held-out")

    features: str = option(
        "",
        metavar="NAMES",
        doc="Features whose marks labels bear: number,gap,…, all or none. Default: all for English in brackets.",
    )
    estimation: Literal["grammar", "events"] = option(
        "grammar", doc="Compute the probabilities from a grammar, or count events in right-corner trees."
    )
    depth: Annotated[int, Field(ge=1, le=15)] = option(4, doc="Number of elements of the store.")
    smoothing: Annotated[float, Field(ge=0)] = option(
        1.0,
        doc="With `--estimation events`: weight of the estimates from less context; 0 gives relative frequencies.",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `Grammar`, or an empirical model. Raises ConfigError, FormatError."""
        from rerank_plugins.hhmm.language_model import HhmmLanguageModel

        grammar, save, lines = self._events(data) if self.estimation == "events" else self._grammar(data)
        return Trained(
            save,
            chain(lines, self._fitting(grammar, data)),
            language_model=lambda: HhmmLanguageModel(data.output, depth=self.depth),
        )

    def _grammar(self, data: TrainingData) -> TrainedGrammar:
        from rerank_plugins.constituency.model_file import write_grammar
        from rerank_plugins.constituency.trainer import grammar_summary
        from rerank_plugins.constituency.training import GrammarSettings
        from rerank_plugins.hhmm.model_file import KIND

        settings = GrammarSettings(
            self.language,
            "left",
            features=self.named_features(data),
            universal=of_dependencies(map(Path, data.paths)),
            schedule=self.schedule(data),
            unknown=self.unknown,
        )
        grammar = self.grammar(data, settings)
        save = partial(write_grammar, grammar, compact=self.compact, kind=KIND)
        return grammar, save, [grammar_summary(grammar)]

    def _events(self, data: TrainingData) -> TrainedGrammar:
        from rerank_plugins.constituency.trainer import grammar_summary
        from rerank_plugins.constituency.treebank_files import treebank
        from rerank_plugins.hhmm.event_counts import counting_settings, train_empirical
        from rerank_plugins.hhmm.model_file import write_empirical

        if self.splits:
            raise ConfigError(f"--splits {self.splits}: latent splits cannot be counted, with --estimation events 0")
        if self.features not in ("", "none"):
            raise ConfigError(f"--features {self.features}: events are counted in plain trees, with --features none")
        weights, tagged = self.weighed(data)
        trees = [list(treebank(path, data.report, self.tags)) for path in weights]
        data.progress("counting events")
        settings = replace(counting_settings(self.language), unknown=self.unknown)
        model = train_empirical(trees, list(weights.values()), settings, self.depth, self.smoothing, tagged)
        events = model.events
        lines = [
            grammar_summary(model.grammar),
            f"{events.reduced.sum():,.0f} reductions, {len(events.reduced):,} of them distinct; "
            f"{events.expanded.sum():,.0f} expansions, {len(events.expanded):,} distinct",
        ]
        return model.grammar, lambda path: write_empirical(model, path, compact=self.compact), lines

    def _fitting(self, grammar: Grammar, data: TrainingData) -> Iterator[str]:
        """Yield a line on the probability that a tree of the grammar fits in a store, by its number of elements."""
        from rerank_plugins.hhmm.left_progeny import fitting_mass

        masses = []
        for elements in range(1, self.depth + 1):
            data.progress(f"trees that fit in a store of {elements}")
            masses.append(f"{elements}: {100 * fitting_mass(grammar, elements):.1f} %")
        yield f"trees that fit in a store, by its number of elements: {', '.join(masses)}"
