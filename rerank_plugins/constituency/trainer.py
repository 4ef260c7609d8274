"""The trainer of grammars, what all trainers on files of trees share, and tests of parsers on such files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rerank_plugins.constituency.lexicon import Tagged
from rerank_plugins.constituency.treebank_files import (
    check_tag_sets,
    read_inflection,
    read_tagged,
    read_treebank,
    treebank,
)
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.counted import counted
from rerank_plugins.core.errors import ConfigError
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData
from rerank_plugins.kit.files.treebanks import is_conllu, of_dependencies
from rerank_plugins.kit.trees.dependency_constituents import Tags, to_dependencies
from rerank_plugins.kit.trees.parseval import Attachment, Parseval
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean
from rerank_plugins.kit.vocabulary.signatures import UnknownWords

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar
    from rerank_plugins.constituency.split_merge import EmStep, Schedule
    from rerank_plugins.constituency.training import GrammarSettings

Words = tuple[str, ...]
SENTENCES_A_BLOCK = 16  # held-out sentences that are parsed at a time
SPLITS = 4  # rounds of splitting, if the user sets none


def grammar_summary(grammar: Grammar) -> str:
    """The numbers of symbols, rules and words, in a line."""
    return (
        f"{grammar.size:,} symbols of {len(grammar.bases)} bases, {len(grammar.binary):,} binary and "
        f"{len(grammar.unary):,} unary rules, {len(grammar.lexicon.words):,} words"
    )


def parse_held_out(
    paths: Iterable[Path], parse: Callable[[Sequence[Words]], list[Tree | None]], tags: Tags = "upos"
) -> str:
    """How well `parse` finds the trees of held-out treebanks, and the heads of CoNLL-U. Raises FormatError."""
    scores, attachment = Parseval(), Attachment()
    for path in paths:
        trees = [tree for tree in (clean(tree, CRAFT_LABELS) for tree in read_treebank(path, tags)) if tree]
        for start in range(0, len(trees), SENTENCES_A_BLOCK):
            block = trees[start : start + SENTENCES_A_BLOCK]
            for gold, parsed in zip(block, parse([tree.words() for tree in block]), strict=True):
                scores.add(gold, parsed)
                if is_conllu(path):
                    attachment.add(to_dependencies(gold), to_dependencies(parsed) if parsed else None)
    percent = scores.percent() | attachment.percent()
    heads = f", UAS {percent['UAS']:.1f}, LAS {percent['LAS']:.1f}" if attachment.words else ""
    return (
        f"{counted(scores.sentences, 'sentence')}, F1 {percent['F1']:.1f} (precision {percent['LP']:.1f}, "
        f"recall {percent['LR']:.1f}), {percent['exact']:.1f} % exact, {percent['tags']:.1f} % of the tags right{heads}"
    )


@dataclass
class TreebankTrainer(Trainer):
    """A trainer on weighted files of trees, in brackets or in CoNLL-U, whose lexicon may have more tagged words."""

    reads = "files"

    language: str = option(metavar="CODE", doc="Code of the language, such as en.")
    tagged: tuple[Path, ...] = option(
        (),
        metavar="FILE",
        doc="Add the tagged words of this file (CoNLL-U with XPOS, or bracketed trees) to the lexicon. Repeatable.",
    )
    tags: Tags = option("upos", doc="Tags of the words of CoNLL-U: universal ones, or those of the treebank (XPOS).")
    weight: tuple[str, ...] = option(
        (),
        metavar="FILE=NUMBER",
        doc="Multiply the counts of the trees or tagged words of FILE by this number. Repeatable.",
    )
    compact: bool = option(False, doc="Halve the file's size; probabilities are rounded by up to 1 %.")

    def weighed(self, data: TrainingData) -> tuple[dict[Path, float], Tagged]:
        """The weight of each treebank, 1 by default, and the weighted counts of the tagged words.

        Raises FormatError, and ConfigError for files of different kinds, and for a weight that is no positive number or
        of none of the files.
        """
        inputs = list(data.examples())
        weights = dict.fromkeys([*inputs, *self.tagged], 1.0)
        for setting in self.weight:
            name, _, value = setting.rpartition("=")
            try:
                weight = float(value)
            except ValueError:
                weight = -1.0
            if Path(name) not in weights or not 0 < weight < float("inf"):
                wanted = f"expected one of the files and a positive number, as {inputs[0]}=0.3"
                raise ConfigError(f"--weight {setting}: {wanted}")
            weights[Path(name)] = weight
        tags = self.tags if of_dependencies(inputs) and of_dependencies([*inputs, *self.tagged]) else None
        if tags == "xpos":
            check_tag_sets([*inputs, *self.tagged])
        elif self.tags == "xpos":
            raise ConfigError(f"--tags xpos: {inputs[0]} has trees in brackets, wanted CoNLL-U")
        of_tagged = {path: weights[path] for path in self.tagged}
        tagged = read_tagged(of_tagged, data.report, tags)
        return {path: weights[path] for path in inputs}, tagged

    @property
    def unknown(self) -> UnknownWords:
        """Which words become signatures of unknown words, and with which endings."""
        return UnknownWords(english=TrainedOn(self.language).may_be_english)

    def has_english_labels(self, data: TrainingData) -> bool:
        """Whether the labels of the trees may be those of the Penn Treebank: English trees in brackets."""
        return TrainedOn(self.language).may_be_english and not of_dependencies(map(Path, data.paths))

    def named_annotations(self, data: TrainingData, annotations: str) -> tuple[str, ...]:
        """The names of state splits. Raises ConfigError for trees whose labels are not those that they read."""
        names = tuple(name.strip() for name in annotations.split(",") if name.strip())
        if names and not self.has_english_labels(data):
            raise ConfigError(f"--annotations {annotations}: these read the labels of English brackets: leave it out")
        return names

    def check_heads(self, data: TrainingData, what: str) -> None:
        """Raise ConfigError if `what` takes the heads of trees in brackets of another language than English."""
        if not of_dependencies(map(Path, data.paths)) and not self.has_english_labels(data):
            raise ConfigError(
                f"{what}: the head rules for trees in brackets are English, and --language is {self.language!r}: train "
                "on dependencies (CoNLL-U), which have heads"
            )


@dataclass
class SplitTrainer(TreebankTrainer):
    """A trainer of grammars whose symbols may be split into latent states."""

    splits: Annotated[int, Field(ge=0, le=8)] | None = option(
        None, doc=f"Number of rounds in which symbols are split into latent states. Default: {SPLITS}."
    )
    max_split_trees: Annotated[int, Field(ge=1)] | None = option(
        None,
        metavar="TREES",
        doc="Learn the splits on at most this many trees of each FILE, evenly spaced, and only the last iterations on "
        "all trees. Default: all.",
    )
    features: str = option(
        "none",
        metavar="NAMES",
        doc="Features whose marks labels bear, number,gap,…, of English trees in brackets, or of CoNLL-U with FEATS.",
    )

    min_mark_count: Annotated[float, Field(ge=0)] = option(
        200.0,
        metavar="COUNT",
        doc="With features: states of labels with marks that occur less often than this are made one, and rules a "
        "thousandth as often are left out. More of it makes a smaller, faster grammar.",
    )

    def named_features(self, data: TrainingData) -> tuple[str, ...]:
        """The names of the features of trees. Raises ConfigError for other names, and for trees without a table."""
        from rerank_plugins.kit.trees.features import english_features, universal_features

        names = tuple(name.strip() for name in self.features.split(",") if name.strip())
        english, universal = self.has_english_labels(data), of_dependencies(map(Path, data.paths))
        if names == ("none",) or not (names or english):
            return ()
        if not (english or universal):
            raise ConfigError(
                f"--features {self.features}: there is a table for trees in brackets of English only: leave it out, or "
                "train on dependencies (CoNLL-U) with FEATS"
            )
        rules = universal_features() if universal else english_features()
        chosen = rules if names in ((), ("all",)) else rules.chosen(names)
        return tuple(feature.name for feature in chosen.features)

    def schedule(self, data: TrainingData) -> Schedule:
        """The rounds of latent splitting."""
        from rerank_plugins.constituency.split_merge import Schedule

        rounds = SPLITS if self.splits is None else self.splits
        return Schedule(rounds=rounds, seed=data.seed, learn_on=self.max_split_trees, rare=self.min_mark_count)

    def grammar(self, data: TrainingData, settings: GrammarSettings) -> Grammar:
        """A grammar of the treebanks. Raises ConfigError, FormatError, also for a file without trees."""
        from rerank_plugins.constituency.training import train_grammar

        schedule = settings.schedule
        iterations = {"split": schedule.after_split, "merge": schedule.after_merge}
        iterations |= {"whole": schedule.whole, "marked": schedule.marked, "smooth": schedule.smoothing}

        def after(step: EmStep) -> None:
            phase = f"round {step.round} of {schedule.rounds}, {step.phase}"
            data.progress(f"{phase}: iteration {step.iteration + 1} of {iterations[step.phase]}")
            if step.iteration + 1 == iterations[step.phase] and step.phase == "smooth":
                data.report(f"{phase}: ln p of the trees {step.log_likelihood:,.0f}")

        weights, tagged = self.weighed(data)
        inflection = read_inflection(weights) if settings.features and settings.universal else None
        treebanks = [treebank(path, data.report, self.tags, inflection=inflection) for path in weights]
        return train_grammar(treebanks, list(weights.values()), settings, after, tagged)


@dataclass
class GrammarTrainer(SplitTrainer):
    """Train a grammar on FILEs of Penn-style brackets, or of dependencies (CoNLL-U), compressed or not.

    Function tags and traces are removed; dependencies become phrases, named by part of speech and relation. Latent
    splits (Petrov et al. 2006) make the best parser; `--splits 0` gives the treebank grammar of the binarised trees.
    Tagged words (`--tagged`) reduce the number of unknown words. Commands that take a parser or a language model use
    the grammar as `pcfg,model=MODEL`. Held-out files are treebanks.

    \b
    rerank train grammar train.ptb --language en -o english.pcfg
    rerank train grammar train.ptb --tagged web.conllu --weight web.conllu=0.5 \\
        --language en -o english.pcfg
    rerank train grammar news.ptb papers.ptb.xz --weight papers.ptb.xz=0.3 \\
        --splits 5 --language en -o mixed.pcfg
    rerank train grammar gsd.conllu.xz --language de --held-out dev.conllu \\
        -o german.pcfg
    rerank train grammar train.ptb --splits 0 --binarise head --horizontal 1 \\
        --annotations klein-manning --language en -o km.pcfg
    """  # noqa: D301

    uses = ("seed", "held-out")

    binarise: Literal["right", "left", "head"] = option(
        "right", doc="Direction in which rules of more than two children are binarised."
    )
    horizontal: Annotated[int, Field(ge=0)] = option(0, doc="Number of siblings in the names of intermediate symbols.")
    vertical: Annotated[int, Field(ge=1)] = option(
        1, doc="Vertical Markov order: with 2, phrases are annotated with their parent."
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

        names, features = self.named_annotations(data, self.annotations), self.named_features(data)
        named(names)
        if self.binarise == "head":
            self.check_heads(data, "--binarise head")
        settings = GrammarSettings(
            self.language, self.binarise, self.horizontal, self.vertical, names, self.schedule(data), self.unknown,
            features=features, universal=of_dependencies(map(Path, data.paths)),
        )  # fmt: skip
        grammar = self.grammar(data, settings)

        def evaluate(paths: Iterable[Path]) -> str:
            parser = PcfgParser(model=data.output)
            return parse_held_out(paths, lambda sentences: [parse.tree for parse in parser.parse(sentences)], self.tags)

        return Trained(
            lambda path: write_grammar(grammar, path, compact=self.compact),
            [grammar_summary(grammar)],
            evaluate=evaluate,
            what="the grammar",
        )
