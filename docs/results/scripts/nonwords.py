"""Print how often models prefer a word to a made non-word, and the perplexities of text with and without unknown words.

In each sentence of the tokenised TEXT that has from 5 to 20 words, one lower-case word of four letters or more, drawn at
random, gives way to a non-word, a random string of the letter trigrams of English. Words that the embedded table of
frequencies lacks stay, and no non-word is in that table. A model is right about such a pair if the sentence with the
word has the higher ln p. The rows are models: right pairs in per cent, with the 95 % interval; how many of the non-words
the model knows nevertheless; and the perplexity of the sentences, in which `</s>` is a word, with and without the words
that are unknown to it, and the share of these.

A model is NAME=MODEL, as in the option `-M` (`NAME=ngram-lm,model=lm.ngram`). The option --pairs writes the pairs in
the format of `rerank acceptability pairs`.

\b
    python -m docs.results.scripts.nonwords novel-dev.txt ngram=ngram-lm hhmm=hhmm-lm pcfg=pcfg treelet=treelet-lm
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, named_values, say
from docs.results.scripts.texts import Words, sentences_of_text
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.evaluation.proportions import wilson_interval
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.models import load_language_model
from rerank_adapters.job.specs import plugin_table
from rerank_plugins import LanguageModel, SentenceModel
from rerank_plugins.core.arrays import BoolArray
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.text import open_atomic
from rerank_plugins.kit.vocabulary.unigrams import embedded_unigrams

SHORTEST, LONGEST = 5, 20  # words of a sentence
LETTERS = 4  # of a word that is replaced, at least
Pair = tuple[Words, Words]


def is_plain(word: str) -> bool:
    """Whether a word has only lower-case letters of English, four or more."""
    return len(word) >= LETTERS and word.isascii() and word.isalpha() and word.islower()


class NonWords:
    """Draws strings by the letter trigrams of the words, each of which counts once; none of them is one of the words."""

    def __init__(self, words: list[str], rng: np.random.Generator) -> None:
        self._words, self._rng = frozenset(words), rng
        self._next: dict[str, Counter[str]] = {}
        for word in words:
            letters = f"^^{word}$"
            for start in range(len(letters) - 2):
                self._next.setdefault(letters[start : start + 2], Counter())[letters[start + 2]] += 1

    def __call__(self) -> str:
        """The next non-word, of 4 to 12 letters."""
        while True:
            letters = "^^"
            while not letters.endswith("$"):
                counts = self._next[letters[-2:]]
                p = np.array([*counts.values()], np.float64)
                letters += str(self._rng.choice([*counts], p=p / p.sum()))
            word = letters[2:-1]
            if LETTERS <= len(word) <= 12 and word not in self._words:
                return word


def made_pairs(sentences: list[Words], number: int, seed: int) -> list[Pair]:
    """Pairs of a sentence and of the same with a non-word, from as many different sentences."""
    rng = np.random.default_rng(seed)
    known = [word for word in embedded_unigrams("exact").table if is_plain(word)]
    table, draw = frozenset(known), NonWords(known, rng)
    pairs: list[Pair] = []
    for words in sentences:
        places = [i for i, word in enumerate(words) if word in table]
        if places and SHORTEST <= len(words) <= LONGEST and len(pairs) < number:
            place = int(rng.choice(places))
            pairs.append((words, (*words[:place], draw(), *words[place + 1 :])))
    return pairs


def perplexities(model: SentenceModel, sentences: list[Words], unknown: BoolArray) -> str:
    """The cells of the perplexity with and without unknown words, and their share; one alone for a model of trees."""
    share = f"{unknown.mean():.1%}"
    if not isinstance(model, LanguageModel):
        tokens = len(unknown) + len(sentences)
        return f"{math.exp(-model.totals(sentences).sum() / tokens):.1f} | | {share}"
    ln_p = np.concatenate(model.score(sentences))
    ends = np.cumsum([len(words) + 1 for words in sentences]) - 1
    is_known = np.ones(len(ln_p), bool)
    is_known[np.setdiff1d(np.arange(len(ln_p)), ends)] = ~unknown
    return f"{math.exp(-ln_p.mean()):.1f} | {math.exp(-ln_p[is_known].mean()):.1f} | {share}"


@experiment("nonwords", __doc__)
@click.argument("text", type=FILE)
@click.argument("models", metavar="NAME=MODEL...", nargs=-1, required=True)
@click.option("--number", default=400, help="Make this many pairs.")
@click.option("--sentences", default=1000, help="Measure perplexities on this many sentences.")
@click.option("--seed", default=1, help="Seed of the choices.")
@click.option("--pairs", "pairs_file", type=click.Path(path_type=Path), help="Write the pairs to this file.")
def main(text: Path, models: tuple[str, ...], number: int, sentences: int, seed: int, pairs_file: Path | None) -> None:
    """Make the pairs, score them and the text with each model, and print the table."""
    read = sentences_of_text(text, 1 << 30)
    pairs, measured = made_pairs(read, number, seed), read[:sentences]
    if pairs_file:
        with open_atomic(pairs_file) as out:
            out.writelines("\t".join(map(" ".join, pair)) + "\n" for pair in pairs)
    say(f"{len(pairs)} pairs; perplexities of {len(measured)} sentences")
    named = {name: plugin_table(spec) for name, spec in named_values(models, "NAME=MODEL").items()}
    job = Job.of(Config(language_model=named), load_plugins(BUILTIN))
    print("| model | word preferred | known non-words | perplexity | without unknown words | unknown |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in named:
        model = load_language_model(name, job.names)
        better, worse = (model.totals([pair[side] for pair in pairs]) for side in (0, 1))
        right = float(np.sum(better > worse))
        low, high = wilson_interval(right, len(pairs))
        non_words = [next(b for a, b in zip(*pair, strict=True) if a != b) for pair in pairs]
        known = sum(word in model for word in non_words)
        preferred = f"{100 * right / len(pairs):.1f} [{100 * low:.1f}, {100 * high:.1f}]"
        unknown = np.array([word not in model for words in measured for word in words])
        print(f"| {name} | {preferred} | {known} | {perplexities(model, measured, unknown)} |", flush=True)


if __name__ == "__main__":
    main()
