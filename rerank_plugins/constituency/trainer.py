"""The trainer of grammars, and the options that all trainers on bracketed treebanks share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar
    from rerank_plugins.constituency.split_merge import EmStep, Schedule
    from rerank_plugins.constituency.tagged_words import Tagged
    from rerank_plugins.constituency.training import GrammarSettings

SPLITS = 4  # rounds of splitting, if the user sets none


@dataclass
class TreebankTrainer(Trainer):
    """A trainer on weighted files of bracketed trees, whose lexicon may have more tagged words."""

    reads = "files"

    language: str = option(metavar="CODE", doc="Code of the language, such as en.")
    tagged: tuple[Path, ...] = option(
        (),
        metavar="FILE",
        doc="Add the tagged words of this file (CoNLL-U with XPOS, or bracketed trees) to the lexicon. Repeatable.",
    )
    weight: tuple[str, ...] = option(
        (),
        metavar="FILE=NUMBER",
        doc="Multiply the counts of the trees or tagged words of FILE by this number. Repeatable.",
    )
    compact: bool = option(False, doc="Halve the file's size; probabilities are rounded by up to 1 %.")

    def weighed(self, data: TrainingData) -> tuple[dict[Path, float], Tagged]:
        """The weight of each treebank, and the weighted counts of the tagged words. Raises ConfigError, FormatError."""
        from rerank_plugins.constituency.treebanks import weigh_files

        return weigh_files(list(data.examples()), self.tagged, self.weight, data.report, spoken=data.spoken)


@dataclass
class SplitTrainer(TreebankTrainer):
    """A trainer of grammars whose symbols may be split into latent states."""

    splits: int | None = option(
        None,
        within="[0, 8]",
        doc=f"Number of rounds in which symbols are split into latent states. Default: {SPLITS}.",
    )
    split_on: int | None = option(
        None,
        within="[1, ]",
        metavar="TREES",
        doc="Learn the splits on at most this many trees of each FILE, evenly spaced, and only the last iterations on "
        "all trees. Default: all.",
    )

    def schedule(self, data: TrainingData) -> Schedule:
        """The rounds of latent splitting."""
        from rerank_plugins.constituency.split_merge import Schedule

        rounds = SPLITS if self.splits is None else self.splits
        return Schedule(rounds=rounds, seed=data.seed, learn_on=self.split_on)

    def grammar(self, data: TrainingData, settings: GrammarSettings) -> Grammar:
        """A grammar of the treebanks. Raises ConfigError, FormatError, also for a file without trees."""
        from rerank_plugins.constituency.training import train_grammar
        from rerank_plugins.constituency.treebanks import treebank

        schedule = settings.schedule
        iterations = {"split": schedule.after_split, "merge": schedule.after_merge}
        iterations |= {"whole": schedule.whole, "smooth": schedule.smoothing}

        def after(step: EmStep) -> None:
            phase = f"round {step.round} of {schedule.rounds}, {step.phase}"
            data.progress(f"{phase}: iteration {step.iteration + 1} of {iterations[step.phase]}")
            if step.iteration + 1 == iterations[step.phase] and step.phase == "smooth":
                data.report(f"{phase}: ln p of the trees {step.log_likelihood:,.0f}")

        weights, tagged = self.weighed(data)
        treebanks = [treebank(path, data.report, spoken=data.spoken) for path in weights]
        return train_grammar(treebanks, list(weights.values()), settings, after, tagged)


@dataclass
class GrammarTrainer(SplitTrainer):
    """Train a grammar on FILEs of Penn-style brackets (compressed or not).

    Function tags and traces are removed. Latent splits (Petrov et al. 2006) make the best parser; `--splits 0` gives
    the treebank grammar of the binarised trees. Tagged words (`--tagged`) reduce the number of unknown words. Commands
    that take a parser or a language model use the grammar as `pcfg,model=MODEL`. Held-out files are treebanks.

    \b
    rerank train grammar train.ptb --language en -o english.pcfg
    rerank train grammar train.ptb --tagged web.conllu --weight web.conllu=0.5 \\
        --language en -o english.pcfg
    rerank train grammar news.ptb papers.ptb.xz --weight papers.ptb.xz=0.3 \\
        --splits 5 --language en -o mixed.pcfg
    rerank train grammar train.ptb --splits 0 --binarise head --horizontal 1 \\
        --annotations klein-manning --language en -o km.pcfg
    """  # noqa: D301

    uses = ("spoken", "seed", "held-out")

    binarise: Literal["right", "left", "head"] = option(
        "right", doc="Direction in which rules of more than two children are binarised."
    )
    horizontal: int = option(0, within="[0, ]", doc="Number of siblings in the names of intermediate symbols.")
    vertical: int = option(
        1, within="[1, ]", doc="Vertical Markov order: with 2, phrases are annotated with their parent."
    )
    annotations: str = option(
        "", metavar="NAMES", doc="State splits: tag-pa,base-np,…, or klein-manning for all of them."
    )

    def train(self, data: TrainingData) -> Trained:
        """A `Grammar`. Raises ConfigError, FormatError."""
        from rerank_plugins.constituency.annotation import named
        from rerank_plugins.constituency.model_file import write_grammar
        from rerank_plugins.constituency.parser import PcfgParser
        from rerank_plugins.constituency.training import GrammarSettings
        from rerank_plugins.constituency.treebanks import grammar_summary, parse_held_out

        names = tuple(name.strip() for name in self.annotations.split(",") if name.strip())
        named(names)
        settings = GrammarSettings(
            self.language, self.binarise, self.horizontal, self.vertical, names, self.schedule(data)
        )
        grammar = self.grammar(data, settings)

        def evaluate(paths: Iterable[Path]) -> str:
            parser = PcfgParser(model=data.output)
            return parse_held_out(paths, lambda sentences: [parse.tree for parse in parser.parse(sentences)])

        return Trained(
            lambda path: write_grammar(grammar, path, compact=self.compact),
            [grammar_summary(grammar)],
            evaluate=evaluate,
            what="the grammar",
        )
