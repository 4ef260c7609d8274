"""The trainer of neural network joint models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted

if TYPE_CHECKING:
    from rerank_plugins.translation.joint_model.training import Epoch


@dataclass
class JointLMTrainer(Trainer):
    """Train a neural network joint model (Devlin et al. 2014) on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. A network with one hidden layer predicts each target word from the target words before it and from the
    source words about the one that the word alignment model links it to. The feature `joint-lm` reads the model. After
    each pass the perplexity of held-out pairs is printed.

    \b
    rerank train word-alignment train.de-en.xz -o de-en.align
    rerank train joint-lm train.de-en.xz -a de-en.align -o de-en.joint
    """  # noqa: D301

    reads = "pairs"
    uses = ("seed",)

    alignment: Path = option(
        short="a", metavar="MODEL", doc="Model from `rerank train word-alignment`, best of the same pairs."
    )
    window: int = option(5, within="[0, ]", doc="Number of source words seen on either side of the affiliated one.")
    history: int = option(4, within="[0, ]", doc="Number of target words seen before the predicted one.")
    embedding: int = option(96, within="[1, ]", doc="Size of the vector of a word.")
    hidden: int = option(256, within="[1, ]", doc="Size of the hidden layer.")
    epochs: int = option(6, within="[1, ]", doc="Passes over the words.")
    dropout: float = option(0.2, within="[0, 1)", doc="Proportion of the hidden layer that is left out for each word.")
    source_count: int = option(2, within="[1, ]", doc="Leave out source words that occur less often than this.")
    target_count: int = option(2, within="[1, ]", doc="Leave out target words that occur less often than this.")
    keep_case: bool = option(False, doc="Do not convert the source to lower case.")

    def train(self, data: TrainingData) -> Trained:
        """A `JointModel`. Raises ModelError for an unusable alignment model and where too few pairs are left."""
        from rerank_plugins.translation.alignment.model_file import read_model
        from rerank_plugins.translation.joint_model.model_file import write_model
        from rerank_plugins.translation.joint_model.training import Settings, train

        def report(epoch: Epoch) -> None:
            perplexities = f"perplexity {epoch.training:.3f} in training, {epoch.held_out:.3f} held out"
            data.report(f"epoch {epoch.number}: {perplexities}")

        settings = Settings(
            window=self.window, history=self.history, source_count=self.source_count, target_count=self.target_count,
            embedding=self.embedding, hidden=self.hidden, epochs=self.epochs, dropout=self.dropout,
            lowercase=not self.keep_case, seed=data.seed,
        )  # fmt: skip
        aligner = read_model(self.alignment)
        model = train(data.examples(), aligner, settings, report=report, progress=data.progress)
        model = replace(model, settings={**model.settings, "texts": data.names})
        sizes = (
            f"{counted(model.settings['pairs'], 'sentence pair')}, {len(model.numbering.source_words):,} source and "
            f"{len(model.numbering.target_words):,} target words"
        )
        return Trained(lambda path: write_model(model, path), [sizes])
