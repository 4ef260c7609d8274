"""The trainer of dependency language models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from rerank_plugins import (
    ConfigError,
    DependencyTree,
    FormatError,
    Trained,
    Trainer,
    TrainingData,
    counted,
    option,
    read_conllu,
)
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.files.treebanks import is_conllu

if TYPE_CHECKING:
    from rerank_plugins.dependency.form_features import Features
    from rerank_plugins.dependency.model import DependencyModel, Settings

TREES_A_BLOCK = 1000  # held-out trees that are scored at a time


@dataclass
class DependencyLMTrainer(Trainer):
    """Train a dependency language model on FILEs.

    A FILE whose name ends in .conllu (or .conllu.xz and the like) is a treebank; any other is text with one sentence
    per line, such as the references of n-best lists. Text is parsed during training, and its parses are stored in the
    cache of parses: the next training parses nothing again.

    \b
    rerank train dependency-lm treebank.conllu news.txt.xz -o news.deplm
    rerank train dependency-lm novels.txt.xz --smoothing kneser-ney --prune 0,1 \\
        -o novels.deplm
    rerank train dependency-lm treebank.conllu news.txt.xz --classes \\
        --smoothing kneser-ney --order 3 -o news.deplm
    """  # noqa: D301

    reads = "dependencies"
    uses = ("language", "held-out", "cluster")
    default_parser = "english"

    order: Annotated[int, Field(ge=1, le=6)] = option(4, doc="Number of words in a path: a word and its ancestors.")
    unlabelled: bool = option(False, doc="Leave the labels of arcs out of the contexts.")
    smoothing: Literal["stupid-backoff", "kneser-ney"] = option(
        "stupid-backoff", doc="Stupid backoff, or interpolated modified Kneser–Ney smoothing."
    )
    min_count: Annotated[int, Field(ge=1)] = option(5, doc="Treat words that occur less often than this as unknown.")
    prune: str = option(
        "0", metavar="COUNTS", doc="Prune paths that occur at most this often, one count for each order: 0,1,2."
    )
    classes: bool = option(
        False,
        doc="Back off from words to classes of their forms, such as plural nouns, for agreement. Needs kneser-ney, "
        "labels and a treebank with features.",
    )
    tagged: tuple[Path, ...] = option(
        (),
        metavar="FILE",
        doc="Learn the features of classes from this treebank (CoNLL-U) instead of those among the FILEs. Repeatable.",
    )
    subtypes: bool = option(False, doc="Distinguish subtypes of relations: nsubj:pass from nsubj.")
    lowercase: bool = option(False, doc="Convert all words to lower case.")
    compact: bool = option(False, doc="Write a compressed file, with probabilities rounded by up to 1.8 %.")

    def train(self, data: TrainingData) -> Trained:
        """A `DependencyModel`. Raises ModelError where there are no trees."""
        from rerank_plugins.dependency.ancestor_paths import TreeCollector
        from rerank_plugins.dependency.model import Settings, train, write_model
        from rerank_plugins.kit.backoff.smoothing import parse_prune

        settings = Settings(
            self.order, not self.unlabelled, self.smoothing, self.min_count, self.lowercase, self.subtypes,
            parse_prune(self.prune), self.classes,
        )  # fmt: skip
        if self.tagged and not self.classes:
            raise ConfigError("--tagged: only a model with --classes reads it")
        features = self._features(data, settings) if self.classes else None
        collector = TreeCollector(tagged=self.classes)
        collector.add(data.examples())
        model = train(collector, settings, features=features, jobs=data.jobs)
        model = replace(model, provenance={**model.provenance, **data.provenance})
        ngrams = ", ".join(f"{n:,}" for n in model.tables.sizes)
        if model.classes:
            sizes = ", ".join(f"{n:,}" for n in model.classes.tables.sizes)
            ngrams += f"; {len(model.classes.lexicon):,} classes, their n-grams {sizes}"
        trees, words = counted(model.provenance["trees"], "tree"), counted(model.provenance["words"], "word")
        return Trained(
            lambda path: write_model(model, path, data.trained_on(), compact=self.compact),
            [f"{trees}{data.parsed}, {words}, {len(model.vocabulary):,} in the vocabulary; n-grams {ngrams}"],
            evaluate=lambda held_out: evaluate(model, held_out),
        )

    def _features(self, data: TrainingData, settings: Settings) -> Features:
        """The features of forms in treebanks. Raises ConfigError if these have none."""
        from rerank_plugins.dependency.form_features import read_features

        treebanks = self.tagged or tuple(path for path in map(Path, data.paths) if is_conllu(path))
        if not (features := read_features(treebanks, settings.word)):
            raise ConfigError(
                "--classes: no treebank among the files has features (columns 5 and 6 of CoNLL-U); "
                "name one with --tagged"
            )
        return features


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

    words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, TREES_A_BLOCK)):
        known = np.array([word in model for tree in block for word in tree.words], bool)
        scores = np.concatenate([*model.score(block), np.zeros(0)])
        words, unknown = words + len(known), unknown + int(np.count_nonzero(~known))
        total += float(scores[known].sum())
    return HeldOut(words, unknown, float(np.exp(-total / max(1, words - unknown))))


TREEBANK = ".conllu"  # the ending of a treebank's name, before that of a compression
LINES = 10  # losses are printed for at most this many epochs


@dataclass
class DependencyParserTrainer(Trainer):
    """Train a dependency parser on FILEs.

    A FILE whose name ends in .conllu (or .conllu.xz and the like) is a treebank; any other is text with one tokenised
    sentence per line, from which word vectors are estimated. Commands that take a parser use the model as
    `biaffine,model=MODEL`. One epoch over a million words of trees takes about two minutes. On a small treebank,
    batches are smaller and epochs more. Of several treebanks, the model annotates as the first one does.

    \b
    rerank train dependency-parser train.conllu.xz text.xz --language de \\
        -o german.biaffine
    rerank trees parse --evaluate dev.conllu.xz -p biaffine,model=german.biaffine
    """  # noqa: D301

    reads = "files"
    uses = ("seed",)

    language: str = option(metavar="CODE", doc="Code of the language, such as en.")
    epochs: Annotated[int, Field(ge=1)] | None = option(
        None,
        doc="Number of passes over the treebanks. Default: 20, or more if that is fewer than 4,000 steps.",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `BiaffineModel`, with word vectors from all files.

        Raises FormatError for a damaged treebank, and where there are no trees.
        """
        import numpy as np

        from rerank_plugins.dependency.biaffine.network import Sizes
        from rerank_plugins.dependency.biaffine.training import Schedule, train
        from rerank_plugins.dependency.biaffine.word_vectors import word_vectors

        data.progress("reading the files")
        paths: list[Path] = list(data.examples())
        texts = [path for path in paths if TREEBANK not in path.suffixes]
        treebanks = [_trees(path) for path in paths if path not in texts]
        trees = [tree for treebank in treebanks for tree in treebank]
        if not trees:
            raise FormatError(f"no trees to learn from: give at least one treebank, named *{TREEBANK}")
        sizes = Sizes()
        vectors = word_vectors(_sentences(texts, trees), sizes.vector, np.random.default_rng(0))
        words = sum(len(tree.words) for tree in trees)
        schedule = Schedule.of_treebank(words, self.epochs)
        data.report(
            f"{len(trees):,} trees, {words:,} words, {len(vectors):,} word vectors; {schedule.epochs} epochs, batches "
            f"of {schedule.batch:,} words"
        )
        step = -(-schedule.epochs // LINES)

        def after(epoch: int, losses: dict[str, float]) -> None:
            values = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
            line = f"epoch {epoch + 1} of {schedule.epochs}: losses {values}"
            data.progress(f"epoch {epoch + 1} of {schedule.epochs}", parts=(epoch + 1, schedule.epochs))
            if (epoch + 1) % step == 0 or epoch + 1 == schedule.epochs:
                data.report(line)

        data.progress("learning", parts=(0, schedule.epochs))
        rng = np.random.default_rng(data.seed)
        return Trained(train(treebanks, vectors, self.language, rng, sizes, schedule, after).save)


def _trees(path: Path) -> list[DependencyTree]:
    with open_text(path) as lines:
        return list(read_conllu(lines, str(path)))


def _sentences(texts: Sequence[Path], trees: Sequence[DependencyTree]) -> Iterator[Sequence[str]]:
    for path in texts:
        with open_text(path) as lines:
            yield from map(model_words, lines)
    yield from (tree.words for tree in trees)
