"""The trainer of discriminative word lexicons."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted


@dataclass
class WordLexiconTrainer(Trainer):
    """Train a discriminative word lexicon (Mauser et al. 2009) on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. For each target word, a logistic regression on all words of the source predicts whether the word is in the
    translation. The feature `word-lexicon` reads the model. Training needs 4 bytes of memory for each pair of a source
    and a target word that are frequent enough.

    \b
    rerank train word-lexicon train.de-en.xz -o de-en.lexicon
    """  # noqa: D301

    reads = "pairs"
    uses = ("jobs",)

    epochs: int = option(10, within="[1, ]", doc="Passes over the sentence pairs.")
    rate: float = option(0.15, within="(0, ]", doc="Size of a step along the gradient in the first pass.")
    decay: float = option(0.75, within="(0, 1]", doc="What each pass multiplies the size of a step by.")
    source_count: int = option(2, within="[1, ]", doc="Leave out source words of fewer sentences than this.")
    target_count: int = option(5, within="[1, ]", doc="Leave out target words of fewer sentences than this.")
    keep_case: bool = option(False, doc="Do not convert the source to lower case.")

    def train(self, data: TrainingData) -> Trained:
        """A `WordLexicon`. Raises ModelError where no words are left."""
        from rerank_plugins.translation.lexicon.model_file import write_model
        from rerank_plugins.translation.lexicon.training import Settings, train

        def report(epoch: int, likelihood: float) -> None:
            data.report(f"epoch {epoch}: ln p {likelihood:.4f} per sentence pair")

        settings = Settings(
            self.epochs, self.rate, self.decay, self.source_count, self.target_count, not self.keep_case
        )
        lexicon = train(data.examples(), settings, jobs=data.jobs, report=report)
        lexicon = replace(lexicon, settings={**lexicon.settings, "texts": data.names})
        sizes = (
            f"{counted(lexicon.settings['pairs'], 'sentence pair')}, {len(lexicon.source_words):,} source and "
            f"{len(lexicon.target_words):,} target words, {len(lexicon.weights):,} weights"
        )
        return Trained(lambda path: write_model(lexicon, path), [sizes])
