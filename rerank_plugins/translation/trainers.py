"""The trainers of this family: word alignment models, word lexicons and translation memories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rerank_plugins import Trained, Trainer, TrainingData, counted, option

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel
    from rerank_plugins.translation.alignment.training import Iteration

Pairs = Iterable[tuple[str, str]]


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

    def train(self, data: TrainingData) -> Trained:
        """A `TranslationMemory`. Raises ModelError where no pair is left."""
        from rerank_plugins.translation.translation_memory import Settings, train, write_model

        memory = train(data.examples(), Settings(not self.keep_case), progress=data.progress)
        memory = replace(memory, provenance={**memory.provenance, "texts": data.names})
        pairs = counted(memory.provenance["pairs"], "pair")
        sizes = (
            f"{name}: {counted(len(side.tokens), 'word')}, {len(side.words):,} distinct"
            for name, side in (("source", memory.source), ("target", memory.target))
        )
        lines = [f"{pairs} of sentences, {len(memory):,} of them distinct and not empty", *sizes]
        return Trained(lambda path: write_model(memory, path), lines, what="the memory")


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

    epochs: Annotated[int, Field(ge=1)] = option(10, doc="Passes over the sentence pairs.")
    rate: Annotated[float, Field(gt=0)] = option(0.15, doc="Size of a step along the gradient in the first pass.")
    decay: Annotated[float, Field(gt=0, le=1)] = option(0.75, doc="What each pass multiplies the size of a step by.")
    min_source_count: Annotated[int, Field(ge=1)] = option(
        2, doc="Leave out source words of fewer sentences than this."
    )
    min_target_count: Annotated[int, Field(ge=1)] = option(
        5, doc="Leave out target words of fewer sentences than this."
    )
    keep_case: bool = option(False, doc="Do not convert the source to lower case.")

    def train(self, data: TrainingData) -> Trained:
        """A `WordLexicon`. Raises ModelError where no words are left."""
        from rerank_plugins.translation.word_lexicon import Settings, train, write_model

        def report(epoch: int, likelihood: float) -> None:
            data.report(f"epoch {epoch}: ln p {likelihood:.4f} per sentence pair")

        settings = Settings(
            self.epochs, self.rate, self.decay, self.min_source_count, self.min_target_count, not self.keep_case
        )
        lexicon = train(data.examples(), settings, jobs=data.jobs, report=report)
        lexicon = replace(lexicon, settings={**lexicon.settings, "texts": data.names})
        sizes = (
            f"{counted(lexicon.settings['pairs'], 'sentence pair')}, {len(lexicon.source_words):,} source and "
            f"{len(lexicon.target_words):,} target words, {len(lexicon.weights):,} weights"
        )
        return Trained(lambda path: write_model(lexicon, path), [sizes])


@dataclass
class WordAlignmentTrainer(Trainer):
    """Train a word alignment model (fast_align's; Dyer, Chahuneau and Smith 2013) on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. Both directions are trained by EM, and one file holds both. The feature `word-translation` reads it. The
    log-likelihood (with variational Bayes, its lower bound) is printed after each iteration; it never falls. Held-out
    sentence pairs are one file, or the option twice.

    \b
    rerank train word-alignment train.de train.en -o de-en.align
    rerank train word-alignment train.de-en.xz --iterations 8 -o de-en.align
    """  # noqa: D301

    reads = "pairs"
    uses = ("held-out", "jobs")

    iterations: Annotated[int, Field(ge=1)] = option(5, doc="Iterations of EM.")
    alpha: Annotated[float, Field(ge=0)] = option(
        0.01,
        doc="Dirichlet prior of translation probabilities (variational Bayes); 0 for maximum likelihood.",
    )
    null: Annotated[float, Field(gt=0, lt=1)] = option(0.08, doc="Probability that a word is aligned to no word.")
    keep_case: bool = option(False, doc="Do not convert the text to lower case.")
    max_length: Annotated[int, Field(ge=1)] = option(
        100, metavar="N", doc="Leave out pairs with more than N words on a side."
    )
    min_probability: Annotated[float, Field(ge=0, le=1)] = option(
        1e-5,
        metavar="P",
        doc="Leave pairs of words out of the file whose probability is below P both ways.",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `WordAlignmentModel`. Raises ModelError if no pair is left."""
        from rerank_plugins import __version__
        from rerank_plugins.translation.alignment.model import write_model
        from rerank_plugins.translation.alignment.training import Settings, train

        def report(step: Iteration) -> None:
            likelihood = f"ln p {step.bound:,.1f}, {step.bound / step.words:.4f} per word"
            data.report(f"{step.direction}, iteration {step.number}: {likelihood}")

        settings = Settings(
            self.iterations, self.alpha, self.null, not self.keep_case, self.max_length, self.min_probability
        )
        model = train(data.examples(), settings, jobs=data.jobs, report=report, progress=data.progress)
        model = replace(model, settings={**model.settings, "texts": data.names, "version": __version__})
        return Trained(
            lambda path: write_model(model, path),
            self._lines(model),
            evaluate=lambda pairs: likelihood(model, pairs),
        )

    def _lines(self, model: WordAlignmentModel) -> Iterator[str]:
        numbers = model.settings
        left_out = (
            f"{numbers['empty']:,} with an empty side, {numbers['too_long']:,} with more than {self.max_length} words"
        )
        yield (
            f"{counted(numbers['pairs'], 'sentence pair')}, {numbers['source_words']:,} source and "
            f"{numbers['target_words']:,} target words (left out: {left_out})"
        )
        yield f"{len(model.lexicon.targets):,} pairs of words"


def likelihood(model: WordAlignmentModel, held_out: Pairs) -> str:
    """The log-likelihood of held-out sentence pairs, per word, by both directions."""
    sums, words, pairs = [0.0, 0.0], [0, 0], 0
    for source, target in held_out:
        sentences = model.words_of(source), model.words_of(target)
        if all(sentences):
            ln_p = model.align(sentences[0], [sentences[1]]).ln_p[0]
            sums = [total + value for total, value in zip(sums, ln_p.tolist(), strict=True)]
            words = [words[0] + len(sentences[1]), words[1] + len(sentences[0])]
            pairs += 1
    forward, backward = (total / max(number, 1) for total, number in zip(sums, words, strict=True))
    return f"{counted(pairs, 'pair')}, ln p {forward:.4f} per target word, {backward:.4f} per source word"
