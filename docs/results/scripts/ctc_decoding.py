"""Print the word errors of language models inside a CTC search and of rescoring (docs/results/decoding.md).

A generator makes log-probabilities over characters from held-out sentences, with noise. They are decoded greedily, by a
prefix beam search without a language model, with n-grams, the embedded HHMM or their mixture inside, and by rescoring
the lists of the search without a model and of the search with n-grams. Every unknown word costs a penalty, since the
models have no spellings. The weights of ln p and of words and the penalty are those of the lowest word error rate when
lists of other sentences are rescored: for rescoring, lists of the search without a model; for the search, these and the
lists of a search with the first weights.

DATA is a folder with treebank_gum/gum-dev.ptb, whose sentences are decoded, and gum-train.ptb, text_en/novels.txt.xz and
textbooks.txt.xz, on which the n-grams are trained.

\b
    python -m docs.results.scripts.ctc_decoding DATA
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FOLDER, counted, experiment, file_of, say
from docs.results.scripts.texts import GUM_DEV, GUM_TRAIN, Words, ngram_model, sentences_of_text, sentences_of_trees
from rerank_adapters.decoding import BeamScorer
from rerank_plugins import LanguageModel
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.language_models import advance_all, finish_all
from rerank_plugins.ngram.mixture import MixtureLanguageModel
from tests.decoding.generated_ctc import labels_of, noisy_log_probs
from tests.decoding.naive_ctc import Hypothesis, greedy, rescored, search

TEXTS = ("text_en/textbooks.txt.xz", "text_en/novels.txt.xz")
ALPHAS = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3)
BETAS = (-1.0, 0.0, 1.0, 2.0, 3.0, 4.5, 6.0)
PENALTIES = (0.0, 3.0, 6.0, 10.0)  # taken from ln p for each unknown word
LEAST = -7.0  # ln p below which the search leaves out a label

Lists = Sequence[Sequence[Hypothesis]]


@dataclass(frozen=True)
class Wary:
    """A language model that takes a penalty from the ln p of each word that it does not know."""

    model: LanguageModel
    penalty: float

    def start(self) -> Any:
        return self.steps.start()

    def advance_all(self, states: Sequence[Any], words: Sequence[str]) -> tuple[FloatArray, list[Any]]:
        ln_p, after = advance_all(self.steps, states, words)
        return ln_p - self.penalty * np.array([self.unknown(word) for word in words]), after

    def finish_all(self, states: Sequence[Any]) -> FloatArray:
        return finish_all(self.steps, states)

    def totals(self, sentences: Sequence[Words]) -> FloatArray:
        unknown = np.array([sum(map(self.unknown, words)) for words in sentences])
        return self.model.totals(sentences) - self.penalty * unknown

    def unknown(self, word: str) -> bool:
        return word not in self.model

    @property
    def steps(self) -> Any:
        """The model, typed as an incremental one."""
        return self.model

    def advance(self, state: Any, word: str) -> tuple[float, Any]:
        ln_p, after = self.advance_all([state], [word])
        return float(ln_p[0]), after[0]

    def finish(self, state: Any) -> float:
        return float(self.finish_all([state])[0])


class Settings(NamedTuple):
    """A tuned model: ln p with its penalty, and the weights of ln p and of words."""

    model: Wary
    alpha: float
    beta: float


class Sentence(NamedTuple):
    """A sentence and its log-probabilities."""

    words: Words
    log_probs: FloatArray


@experiment("ctc_decoding", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--sentences", default=100, help="Decode this many sentences, and tune on half as many others.")
@click.option("--longest", default=15, help="Take sentences of 4 to this many words.")
@click.option("--lines", default=60_000, help="Train the n-grams on this many sentences of each text.")
@click.option("--beam", default=30, help="Beams of the search.")
@click.option("--stores", default=50, help="Beam of the HHMM.")
@click.option("--noise", default=1.5, help="Standard deviation of the noise on logits.")
@click.option("--seed", default=1, help="Seed of the noise.")
def main(data: Path, sentences: int, longest: int, lines: int, beam: int, stores: int, noise: float, seed: int) -> None:
    """Print the table."""
    texts = [words for words in sentences_of_trees(file_of(data, GUM_DEV)) if 4 <= len(words) <= longest]
    chosen = texts[:: max(1, len(texts) // (2 * sentences))][: 2 * sentences]
    files = [file_of(data, name) for name in TEXTS]
    labels = labels_of(chosen)
    rng = np.random.default_rng(seed)
    generated = [Sentence(words, noisy_log_probs(words, labels, rng, noise=noise)) for words in chosen]
    tuning, test = generated[1::4], generated[::2]
    say("training n-grams")
    with tempfile.TemporaryDirectory() as folder:
        training = sentences_of_trees(file_of(data, GUM_TRAIN))
        training += [words for path in files for words in sentences_of_text(path, lines)]
        ngrams = ngram_model(training, 3, Path(folder) / "ngrams")
        hhmm = HhmmLanguageModel(beam=stores, threshold=1e-6)
        mixture = MixtureLanguageModel((ngrams, hhmm), (0.8, 0.2))
        frames = np.mean([len(sentence.log_probs) for sentence in test])
        words = sum(len(sentence.words) for sentence in test)
        print(f"{len(test)} sentences, {words} words, {frames:.0f} frames, {len(labels)} labels, beam {beam}\n")
        print("| system | alpha, beta, penalty | WER | oracle | s |\n| --- | --- | ---: | ---: | ---: |")
        report(test, "greedy", None, lambda sentence: [Hypothesis(greedy(sentence.log_probs, labels), 0.0, 0.0)])

        def decoder(settings: Settings | None) -> Callable[[Sentence], list[Hypothesis]]:
            """A search with or without a model inside; what was remembered is kept for all sentences."""
            if settings is None:
                return lambda sentence: search(sentence.log_probs, labels, beam=beam, least=LEAST)
            model, alpha, beta = settings
            scorer = BeamScorer(model)
            return lambda sentence: search(sentence.log_probs, labels, scorer, alpha, beta, beam=beam, least=LEAST)

        def rescorer(lists: Lists, settings: Settings) -> Callable[[Sentence], list[Hypothesis]]:
            """Lists in the order of another model."""
            of_sentence = {id(sentence): hypotheses for sentence, hypotheses in zip(test, lists, strict=True)}
            return lambda sentence: reordered(of_sentence[id(sentence)], *settings)

        models: dict[str, LanguageModel] = {"n-grams": ngrams, "HHMM": hhmm, "n-grams + HHMM": mixture}
        plain = report(test, "no model", None, decoder(None))
        held_out = [decoder(None)(sentence) for sentence in counted(tuning, "tuning")]
        best = {name: tuned(tuning, held_out, model) for name, model in models.items()}
        fused = {}
        for name, settings in best.items():
            first = [decoder(settings)(sentence) for sentence in counted(tuning, f"tuning {name}")]
            fused[name] = tuned(tuning, [united(*pair) for pair in zip(held_out, first, strict=True)], models[name])
        for name, settings in best.items():
            report(test, f"… rescored with {name}", settings, rescorer(plain, settings))
        inside = {name: report(test, f"{name} inside", settings, decoder(settings)) for name, settings in fused.items()}
        for name in ("HHMM", "n-grams + HHMM"):
            again = rescorer(inside["n-grams"], fused[name])
            report(test, f"n-grams inside, rescored with {name}", fused[name], again)


def united(hypotheses: Sequence[Hypothesis], others: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The hypotheses of two lists, each once, with the higher acoustic score (pruning loses some paths)."""
    by_words: dict[Words, Hypothesis] = {}
    for each in [*hypotheses, *others]:
        known = by_words.get(each.words)
        if known is None or known.acoustic < each.acoustic:
            by_words[each.words] = each
    return list(by_words.values())


def reordered(hypotheses: Sequence[Hypothesis], model: Wary, alpha: float, beta: float) -> list[Hypothesis]:
    """The hypotheses by the model's ln p, best first."""
    return rescored(hypotheses, model.totals([each.words for each in hypotheses]), alpha, beta)


def tuned(sentences: Sequence[Sentence], lists: Lists, model: LanguageModel) -> Settings:
    """The settings with which rescored lists have the fewest errors; of equal ones, those of the lowest weights."""
    best, lowest = Settings(Wary(model, 0.0), 0.0, 0.0), np.inf
    for penalty in PENALTIES:
        wary = Wary(model, penalty)
        scored = [reordered(hypotheses, wary, 1.0, 0.0) for hypotheses in lists]
        values = [np.array([(h.acoustic, h.lm, len(h.words)) for h in hypotheses]) for hypotheses in scored]
        wrong = [
            np.array([errors(each.words, sentence.words) for each in hypotheses])
            for sentence, hypotheses in zip(sentences, scored, strict=True)
        ]
        for alpha, beta in product(ALPHAS, BETAS):
            chosen = [int((of_list @ (1.0, alpha, beta)).argmax()) for of_list in values]
            total = sum(of_list[i] for of_list, i in zip(wrong, chosen, strict=True))
            if total < lowest:
                best, lowest = Settings(wary, alpha, beta), total
    return best


def report(
    sentences: Sequence[Sentence], name: str, settings: Settings | None, decode: Callable[[Sentence], list[Hypothesis]]
) -> Lists:
    """Print a row of the table: word error rates of the best and of the oracle hypotheses, and CPU s a sentence."""
    decode(sentences[0])
    started = time.process_time()
    lists = [decode(sentence) for sentence in counted(sentences, name)]
    seconds = (time.process_time() - started) / len(sentences)
    words = sum(len(sentence.words) for sentence in sentences)
    wrong = [
        [errors(each.words, sentence.words) for each in hypotheses]
        for sentence, hypotheses in zip(sentences, lists, strict=True)
    ]
    best, oracle = (100 * sum(map(of_list, wrong)) / words for of_list in (lambda all_errors: all_errors[0], min))
    shown = "" if settings is None else f"{settings.alpha:g}, {settings.beta:g}, {settings.model.penalty:g}"
    print(f"| {name} | {shown} | {best:.1f} | {oracle:.1f} | {seconds:.2f} |", flush=True)
    return lists


def errors(words: Words, reference: Words) -> int:
    """Substitutions, deletions and insertions."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(words, reference)


if __name__ == "__main__":
    main()
