"""The trainer of translation memories."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted


@dataclass
class TranslationMemoryTrainer(Trainer):
    """Index tokenised sentence pairs, so that those similar to a source sentence are found.

    The pairs are the lines of the files SOURCE and TARGET, or those of a single file, `source ||| target`. The feature
    `translation-memory` compares hypotheses with the target sides of the pairs whose source side is nearest to the
    source of the segment.

    \b
    rerank train translation-memory train.de train.en -o de-en.memory
    rerank extract tune.nbest --source tune.src \\
        -f translation-memory,model=de-en.memory -o table.npz
    """  # noqa: D301

    reads = "pairs"

    keep_case: bool = option(False, doc="Do not convert the text to lower case.")
    k1: float = option(1.2, within="[0, ]", doc="Saturation of BM25: how much a word counts that a sentence repeats.")
    b: float = option(
        0.75, within="[0, 1]", doc="Normalisation of BM25 by the length of a sentence, from 0 (none) to 1."
    )

    def train(self, data: TrainingData) -> Trained:
        """A `TranslationMemory`. Raises ModelError where no pair is left."""
        from rerank_plugins.translation.memory.model_file import write_model
        from rerank_plugins.translation.memory.training import Settings, train

        memory = train(data.examples(), Settings(not self.keep_case, self.k1, self.b), progress=data.progress)
        memory = replace(memory, provenance={**memory.provenance, "texts": data.names})
        pairs = counted(memory.provenance["pairs"], "pair")
        sizes = (
            f"{name}: {counted(len(side.tokens), 'word')}, {len(side.words):,} distinct"
            for name, side in (("source", memory.source), ("target", memory.target))
        )
        lines = [f"{pairs} of sentences, {len(memory):,} of them distinct and not empty", *sizes]
        return Trained(lambda path: write_model(memory, path), lines, what="the memory")
