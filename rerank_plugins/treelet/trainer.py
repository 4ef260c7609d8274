"""The trainer of treelet language models and their baselines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from rerank_plugins import ConfigError, Trained, TrainedOn, Trainer, TrainingData, Tree, counted, option

if TYPE_CHECKING:
    from rerank_plugins.treelet.headlex import HeadlexModel
    from rerank_plugins.treelet.model import TreeletModel

TREES_A_BLOCK = 1000  # held-out trees that are scored at a time


@dataclass
class TreeletLMTrainer(Trainer):
    """Train a treelet language model on FILEs.

    A FILE whose name ends in .ptb, .mrg or .brackets (also compressed) is a treebank of Penn-style brackets, one in
    .conllu a treebank of dependencies, which become phrases; any other is text with one sentence per line. Text is
    parsed during training, and the best tree of each sentence is used. Its parses are stored in the cache of parses,
    so that an interrupted training continues where it stopped, and the next one parses nothing again. In a corpus of
    fewer than twice `--signatures-after` sentences, the words that occur once become signatures instead.

    \b
    rerank train treelet-lm treebank.ptb news.txt.xz --held-out dev.ptb \\
        -o news.treelet
    rerank train treelet-lm treebank.ptb --variant treelet-rule -o rule.treelet
    rerank lm score dev.txt -M treelet-lm,model=news.treelet
    """  # noqa: D301

    reads = "constituents"
    uses = ("language", "held-out", "cluster", "seed")
    default_parser = "pcfg"

    variant: Literal["pcfg", "treelet-trans", "treelet-rule", "treelet", "headlex"] = option(
        "treelet", doc="The treelet model, or one of its baselines."
    )
    min_count: Annotated[int, Field(ge=1)] = option(
        1, doc="Replace words that occur less often than this by signatures."
    )
    min_rule_count: Annotated[int, Field(ge=1)] = option(
        1, doc="Leave rules that occur less often than this to the 4-grams of symbols."
    )
    prune: str = option(
        "0", metavar="COUNTS", doc="Prune word events that occur at most this often, one count for each order: 0,0,0,1."
    )
    prune_rules: str = option("0", metavar="COUNTS", doc="Prune rule events in the same way.")
    prune_yields: str = option(
        "0", metavar="COUNTS", doc="Prune the 4-grams of symbols, which are counted in distinct rules, in the same way."
    )
    signatures_after: Annotated[int, Field(ge=0)] = option(
        10_000, doc="Number of sentences after which new words may become signatures."
    )
    signature_rate: Annotated[float, Field(ge=0, le=1)] = option(
        0.1, doc="Proportion of the new words that become signatures from then on."
    )
    compact: bool = option(False, doc="Write a compressed file, with probabilities rounded by up to 1.8 %.")

    tags: Literal["upos", "xpos"] = option(
        "upos", doc="Tags of the words of CoNLL-U: universal ones, or those of the treebank (XPOS)."
    )

    numbers: tuple[Path, ...] = option(
        (),
        metavar="FILE",
        doc="Mark nouns and verbs with the number of their form, which is learnt from this CoNLL-U file with FEATS, or "
        "from the trees of a parser beside one. Repeatable.",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `TreeletModel`, or a `HeadlexModel`. Raises ModelError where there are no trees."""
        from rerank_plugins.kit.backoff.smoothing import parse_prune
        from rerank_plugins.kit.trees.dependency_constituents import kind_of_labels
        from rerank_plugins.treelet import headlex, training
        from rerank_plugins.treelet.form_numbers import learn_form_numbers
        from rerank_plugins.treelet.headlex import write_model as write_headlex
        from rerank_plugins.treelet.model import Settings, write_model

        unknown: dict[str, Any] = {
            "signatures_after": self.signatures_after, "signature_rate": self.signature_rate, "seed": data.seed,
            "english": TrainedOn(data.language).may_be_english,
        }  # fmt: skip
        cutoffs = {"words": self.prune, "rules": self.prune_rules, "yields": self.prune_yields}
        pruned: dict[str, Any] = {f"prune_{events}": parse_prune(counts) for events, counts in cutoffs.items()}
        estimation: dict[str, Any] = {"jobs": data.jobs}
        if self.numbers and self.variant in ("pcfg", "headlex"):
            raise ConfigError(f"--numbers with --variant {self.variant}: only labels of treelets have marks")
        model: TreeletModel | HeadlexModel
        write: Any
        if self.variant == "headlex":
            if self.min_rule_count > 1 or any(map(any, pruned.values())) or self.compact:
                raise ConfigError("--variant headlex has no rules to leave out, and is neither pruned nor compact")
            baseline = headlex.Settings(self.min_count, **unknown)
            lexicalised = headlex.collect(self._trees(data))
            model, write = headlex.train(lexicalised, baseline, **estimation), write_headlex
        else:
            settings = Settings(self.variant, self.min_count, self.min_rule_count, **pruned, **unknown)
            numbers = learn_form_numbers(self.numbers) if self.numbers else None
            collector = training.collect(self._trees(data), settings, numbers)
            trained = training.train(collector, settings, **estimation)
            model, write = replace(trained, numbers=numbers), partial(write_model, compact=self.compact)
        model = replace(model, provenance={**model.provenance, **data.provenance})
        trees, words = counted(model.provenance["trees"], "tree"), counted(model.provenance["words"], "word")
        labels = kind_of_labels([*model.symbols.phrases, *model.symbols.tags])
        sizes = f"{len(model.vocabulary):,} in the vocabulary, {len(model.symbols):,} symbols"
        return Trained(
            lambda path: write(model, path, replace(data.trained_on(), labels=labels)),
            [f"{trees}{data.parsed}, {words}, {sizes}"],
            evaluate=lambda held_out: evaluate(model, held_out),
        )

    def _trees(self, data: TrainingData) -> Iterator[Tree]:
        """Yield the trees. Raises ConfigError for labels that the English heads and transformations do not fit."""
        from rerank_plugins.kit.trees.dependency_constituents import kind_of_labels

        fitting = {"pcfg": ("", "upos", "xpos"), "headlex": ("upos", "xpos")}.get(self.variant, ("upos",))
        for number, tree in enumerate(data.examples()):
            if not number and not TrainedOn(data.language).may_be_english:
                labels = kind_of_labels(node.label for node in tree.nodes())
                if labels not in fitting:
                    read = TrainedOn(labels=labels).described_labels
                    raise ConfigError(
                        f"--variant {self.variant} reads {read} by English rules, and the language is "
                        f"{data.language!r}: train on dependencies (CoNLL-U) with UPOS tags, or with --variant pcfg"
                    )
            yield tree


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
    """How well the model predicts these trees; unknown words have one type's share of their signatures."""
    import numpy as np

    sentences = words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, TREES_A_BLOCK)):
        leaves = [word for tree in block for word in tree.words()]
        sentences, words = sentences + len(block), words + len(leaves)
        unknown += sum(word not in model.vocabulary for word in leaves)
        total += float(model.score_trees(block).sum())
    return HeldOut(sentences, words, unknown, float(np.exp(-total / max(1, words + sentences))))
