"""The trainer of word alignment models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.links_text import GoldLinks
    from rerank_plugins.translation.alignment.model import WordAlignmentModel
    from rerank_plugins.translation.alignment.training import Iteration

Pairs = Iterable[tuple[str, str]]


@dataclass
class WordAlignmentTrainer(Trainer):
    """Train a word alignment model on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. Both directions are trained by EM, and one file holds both. The feature `word-translation` and `rerank
    align` read it. The log-likelihood (with variational Bayes, its lower bound) is printed after each iteration; it
    never falls, except from one model to the next. Held-out sentence pairs are one file, or the option twice.

    \b
    rerank train word-alignment train.de train.en -o de-en.align
    rerank train word-alignment train.de-en.xz --model diagonal -o de-en.align
    """  # noqa: D301

    reads = "pairs"
    uses = ("held-out", "jobs")

    model: Literal["ibm1", "diagonal", "hmm"] = option(
        "hmm", doc="IBM model 1, model 2 with fast_align's diagonal prior, or the HMM."
    )
    iterations: int = option(5, within="[1, ]", doc="Iterations of EM; for the HMM, as many of model 1 precede them.")
    alpha: float = option(
        0.01,
        within="[0, ]",
        doc="Dirichlet prior of translation probabilities (variational Bayes); 0 for maximum likelihood.",
    )
    null: float = option(
        0.08,
        within="(0, 1)",
        doc="Probability that a word is aligned to no word. Model 1 has 1 / (words + 1).",
    )
    keep_case: bool = option(False, doc="Do not convert the text to lower case.")
    longest: int = option(100, within="[1, ]", metavar="N", doc="Leave out pairs with more than N words on a side.")
    least: float = option(
        1e-5,
        within="[0, 1]",
        metavar="P",
        doc="Leave pairs of words out of the file whose probability is below P both ways.",
    )
    gold: str | None = option(
        None,
        metavar="FILE",
        doc="Report the error rate of the links of the first pairs against these: 0-0 (sure), 1?2 (possible).",
    )

    def train(self, data: TrainingData) -> Trained:
        """A `WordAlignmentModel`. Raises ModelError if no pair is left, FormatError."""
        from rerank_plugins import __version__
        from rerank_plugins.translation.alignment.links_text import read_gold
        from rerank_plugins.translation.alignment.model_file import write_model
        from rerank_plugins.translation.alignment.training import Settings, train

        def report(step: Iteration) -> None:
            likelihood = f"ln p {step.bound:,.1f}, {step.bound / step.words:.4f} per word"
            data.report(f"{step.direction}, {step.model}, iteration {step.number}: {likelihood}")

        gold = [] if self.gold is None else read_gold(self.gold)
        settings = Settings(
            self.model, self.iterations, self.alpha, self.null, not self.keep_case, self.longest, self.least
        )
        model, _ = train(data.examples(), settings, jobs=data.jobs, report=report, progress=data.progress)
        model = replace(model, settings={**model.settings, "texts": data.names, "version": __version__})
        return Trained(
            lambda path: write_model(model, path),
            self._lines(model, data, gold),
            evaluate=lambda pairs: likelihood(model, pairs),
        )

    def _lines(self, model: WordAlignmentModel, data: TrainingData, gold: list[GoldLinks]) -> Iterator[str]:
        numbers = model.settings
        left_out = (
            f"{numbers['empty']:,} with an empty side, {numbers['too_long']:,} with more than {self.longest} words"
        )
        yield (
            f"{counted(numbers['pairs'], 'sentence pair')}, {numbers['source_words']:,} source and "
            f"{numbers['target_words']:,} target words (left out: {left_out})"
        )
        yield f"{len(model.lexicon.targets):,} pairs of words"
        if gold:
            yield from error_lines(model, data.examples(), gold)


def likelihood(model: WordAlignmentModel, held_out: Pairs) -> str:
    """The log-likelihood of held-out sentence pairs, per word, by both directions."""
    sums, words, pairs = [0.0, 0.0], [0, 0], 0
    for source, target in held_out:
        sentences = model.words_of(source), model.words_of(target)
        if all(sentences):
            ln_p = model.align(sentences[0], [sentences[1]], forward=False, backward=False).ln_p[0]
            sums = [total + value for total, value in zip(sums, ln_p.tolist(), strict=True)]
            words = [words[0] + len(sentences[1]), words[1] + len(sentences[0])]
            pairs += 1
    forward, backward = (total / max(number, 1) for total, number in zip(sums, words, strict=True))
    return f"{counted(pairs, 'pair')}, ln p {forward:.4f} per target word, {backward:.4f} per source word"


def error_lines(model: WordAlignmentModel, examples: Pairs, gold: list[GoldLinks]) -> Iterator[str]:
    """Yield a line for each kind of links of the first pairs, as many as `gold` has. Raises FormatError for fewer."""
    from rerank_plugins.translation.alignment.error_rate import alignment_errors

    pairs = [(model.words_of(source), model.words_of(target)) for source, target in islice(examples, len(gold))]
    if len(pairs) < len(gold):
        raise FormatError(f"--gold has links of {len(gold):,} sentence pairs, expected at most {len(pairs):,}")
    for method, errors in alignment_errors(model, pairs, gold).items():
        yield f"{method}: {errors}"
