"""Print Tables 2 and 3 of Song (2016): where a word is missing, and which word; and what reranking adds.

One inner word is removed from each sentence of the text TEST. The model of missing words and an n-gram model are
trained on TRAINING (each text has a tokenised sentence per line), from which every 50th sentence is kept out to tune
weights. The shares are those of sentences whose right answer is among the first 1, 2, 3, 5 and 10.

The first table has the methods of location of `rerank words locate`, and `n-gram` after a comma: each gap is filled
with its likeliest words, and weights tuned for expected accuracy join ln p of the gap, ln p of the word and the n-gram
score of the whole sentence; the score of a gap is that of all its insertions together. The second one has the fillings
of the right gap: by the five contexts, and by the exact best substitutes of the n-gram model (FASTSUBS). The third one
is that of whole sentences.

The last table reranks the ten best substitutes in the right gap of the first --listed sentences: by the n-gram score,
and with each of the features added to it; p is that of McNemar's exact test of the first places against the n-gram model alone.

\b
    python -m docs.results.scripts.missing_words_table novel.txt novels.txt.xz dependency-lm=dependency-lm
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, named_values, say
from rerank_adapters.applications.missing_words.accuracy import TOPS, chance, top_accuracies
from rerank_adapters.applications.missing_words.filling import ContextFilling, Filling, SubstituteFilling
from rerank_adapters.applications.missing_words.incomplete import Incomplete
from rerank_adapters.applications.missing_words.insertions import Inserting
from rerank_adapters.applications.missing_words.locate import Locating
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.proportions import mcnemar
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.run.learn import start_of
from rerank_adapters.tuning.problem import problem_of
from rerank_plugins import FeatureTable, NBestList
from rerank_plugins.core.arrays import BoolArray, FloatArray
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.backoff.smoothing import parse_prune
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.missing_words.model import METHODS, Method, write_model
from rerank_plugins.missing_words.training import Settings
from rerank_plugins.missing_words.training import train as train_missing_words
from rerank_plugins.missing_words.tuning import Removed, remove_words
from rerank_plugins.ngram.training import NgramSettings
from rerank_plugins.ngram.training import train as train_ngram

EVERY = 50  # one sentence of the training text in so many is kept out for tuning
Ranks = list[int | None]


@dataclass
class KeptOut:
    """Sentences kept out of texts while these are read: every 50th of three words or more, `most` at most."""

    most: int
    sentences: list[tuple[str, ...]]
    seen: int = 0

    def without(self, paths: Sequence[Path]) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield each text without the sentences kept out; a second reading keeps out the same ones."""
        self.sentences, self.seen = [], 0
        for path in paths:
            with open_text(path) as lines:
                yield str(path), self._rest(lines)

    def _rest(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            words = tuple(line.split())
            self.seen += len(words) > 2
            if len(words) > 2 and self.seen % EVERY == 0 and len(self.sentences) < self.most:
                self.sentences.append(words)
            else:
                yield line


def incomplete(removed: Sequence[Removed]) -> list[Incomplete]:
    """The sentences without a word, numbered from 0."""
    return [Incomplete(str(i), one.words, i + 1, one.gap, one.word) for i, one in enumerate(removed)]


def first_places(ranks: Ranks) -> BoolArray:
    """(sentences) whether the right answer is the first."""
    return np.array([rank == 0 for rank in ranks])


class Lists:
    """The insertions of some sentences as n-best lists, with the columns of all features, each extracted once."""

    def __init__(self, sentences: Sequence[Incomplete], inserting: Inserting, job: Job) -> None:
        self.sentences = sentences
        nbests = [insertions.nbest for insertions in inserting(list(sentences))]
        self.data = Dataset("insertions", nbests, [(sentence.complete or "",) for sentence in sentences])
        self.places = Dataset("places", nbests, [right_texts(*pair) for pair in zip(sentences, nbests, strict=True)])
        self.decoder = decoder_table(nbests)
        self.all = job.extraction().table(nbests, self.decoder)

    def table(self, labels: set[str], kept: set[str]) -> FeatureTable:
        """The features of the lists that `kept` names, and the extracted features with these labels."""
        own = len(self.decoder.names)
        keep = [name in kept for name in self.decoder.names]
        keep += [name.partition(".")[0] in labels for name in self.all.names[own:]]
        names = tuple(name for name, wanted in zip(self.all.names, keep, strict=True) if wanted)
        return FeatureTable.dense(names, self.all.values[:, np.array(keep)], self.all.offsets)

    def sentence_ranks(self, scores: FloatArray) -> Ranks:
        """The rank of the complete sentence in each list."""
        return [
            next((rank for rank, row in enumerate(order) if nbest[row].text == sentence.complete), None)
            for sentence, nbest, _, order in self._ordered(scores)
        ]

    def gap_ranks(self, scores: FloatArray) -> Ranks:
        """The rank of the right gap in each list; the score of a gap is ln of the sum of exp of its insertions."""
        ranks: Ranks = []
        for sentence, nbest, values, order in self._ordered(scores):
            sums: dict[int, float] = {}
            for row in order:
                gap = gap_of(sentence, nbest[row].text)
                sums[gap] = float(np.logaddexp(sums.get(gap, -np.inf), values[row]))
            right = sums.get(gap_of(sentence, sentence.complete or ""))
            ranks.append(None if right is None else sum(value > right for value in sums.values()))
        return ranks

    def _ordered(self, scores: FloatArray) -> Iterator[tuple[Incomplete, NBestList, FloatArray, list[int]]]:
        values = np.split(scores, self.all.offsets[1:-1])
        for sentence, nbest, row in zip(self.sentences, self.data.lists, values, strict=True):
            yield sentence, nbest, row, np.argsort(-row, kind="stable").tolist()


def gap_of(sentence: Incomplete, text: str) -> int:
    """The first gap at which a word may have been inserted: one that is inserted beside its equal has two."""
    after = text.split()
    return next((i for i, word in enumerate(sentence.words) if after[i] != word), len(sentence.words)) - 1


def right_texts(sentence: Incomplete, nbest: NBestList) -> tuple[str, ...]:
    """The insertions in the right gap, all of which are right where only the place is asked for."""
    gap = gap_of(sentence, sentence.complete or "")
    return tuple(text for text in nbest.texts if gap_of(sentence, text) == gap) or ("",)


def tuned_scores(
    job: Job, pair: tuple[Lists, Lists], labels: set[str], kept: set[str], *, places: bool = False
) -> FloatArray:
    """The weighted sums of all hypotheses of the second lists, with weights tuned on the first ones.

    The weights are tuned for the expected number of complete sentences or, with `places`, of right gaps.
    """
    tuning, test = pair
    table, data = tuning.table(labels, kept), tuning.places if places else tuning.data
    problem = problem_of(data.lists, data.references, table, job.measures[0], job.config.tuning)
    tuned = job.tuner.tune(problem, start_of(job, data.lists, table), np.random.default_rng(1))
    return test.table(labels, kept).scores(tuned.weights)


def location_ranks(model: Path, sentences: Sequence[Incomplete], method: Method) -> Ranks:
    """The rank of the right gap by a method."""
    located = Locating(model, method, 0)(list(sentences))
    gaps = ([place.gap for place in places] for places in located)
    return [found.index(one.gap or 0) for one, found in zip(sentences, gaps, strict=True)]


def filling_ranks(filling: Filling, sentences: Sequence[Incomplete]) -> Ranks:
    """The rank of the right word among the first ten."""
    filled = filling.fill(sentences, [sentence.gap or 0 for sentence in sentences], TOPS[-1])
    words = ([candidate.word for candidate in candidates] for candidates in filled)
    return [
        found.index(one.word or "") if one.word in found else None for one, found in zip(sentences, words, strict=True)
    ]


def print_shares(title: str, shares: dict[str, FloatArray]) -> None:
    """A table of shares in per cent."""
    rows = tuple((name, *(f"{100 * value:.2f}" for value in values)) for name, values in shares.items())
    print(markdown_table(Table(title, (title, *(f"top {top}" for top in TOPS)), rows)))


@experiment("missing_words_table", __doc__)
@click.argument("test_file", type=FILE, metavar="TEST")
@click.argument("training", type=FILE, nargs=-1, required=True, metavar="TRAINING...")
@click.option(
    "--feature",
    "added",
    multiple=True,
    metavar="NAME=FEATURE",
    help="Also rerank fillings by this feature (repeatable).",
)
@click.option("--min-count", default=2, help="Treat rarer words as unknown in both models.")
@click.option("--window", default=4, help="The window of location.")
@click.option("--order", default=4, help="The order of the n-gram model.")
@click.option("--prune", default="0", help="The cut-offs of the n-gram model, as of `rerank train ngram`.")
@click.option("--most", default=5000, help="The number of sentences of the test text.")
@click.option("--tuned", default=1000, help="The number of sentences kept out to tune weights on.")
@click.option("--words", default=10, help="The number of words that fill a gap in the lists.")
@click.option("--listed", default=1000, help="The number of test sentences whose fillings are reranked by features.")
@click.option("--seed", default=7, help="The seed of the removed words.")
def main(
    test_file: Path, training: tuple[Path, ...], added: tuple[str, ...], min_count: int, window: int, order: int, prune: str,
    most: int, tuned: int, words: int, listed: int, seed: int,
) -> None:  # fmt: skip
    """Train both models, and print the tables."""
    features = named_values(added, "NAME=FEATURE")
    with open_text(test_file) as lines:
        test = incomplete(remove_words(islice((tuple(line.split()) for line in lines), most), seed))
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        model, ngram = Path(folder) / "text.mw", Path(folder) / "text.ngram"
        kept_out = KeptOut(tuned, [])
        say("training the model of missing words")
        trained = train_missing_words(kept_out.without(training), Settings(min_count, None, window), jobs=2)
        write_model(trained, model)
        say("training the n-gram model")
        settings = NgramSettings(order, prune=parse_prune(prune), min_count=min_count)
        train_ngram(kept_out.without(training), settings, jobs=2).ngrams.save(ngram)
        tuning = incomplete(remove_words(kept_out.sentences, seed))
        known = sum((sentence.word or "") in trained.vocabulary for sentence in test) / max(len(test), 1)
        mixture = ", ".join(f"{weight:.3f}" for weight in trained.mixture)
        size = f"{trained.settings['words']:,} words of training text, {trained.candidates:,} of them distinct"
        print(
            f"{len(test):,} sentences; {100 * known:.1f} % of the removed words are known; {size}; mixture {mixture}\n"
        )
        for method, location in trained.locations.items():
            print(
                f"{method}: {location.function}, {location.constant:g}, weights {np.round(location.weights, 3).tolist()}"
            )
        print()

        contexts, substitutes = ContextFilling(model, None), SubstituteFilling(ngram)
        specs = {"n-gram": f"ngram-lm,model={ngram}", **features}
        tables = [{**plugin_table(spec), "label": label} for label, spec in specs.items()]
        job = Job.of(
            Config(metric=[{"use": "accuracy"}], feature=tables, tuner={"use": "expected-risk"}), load_plugins(BUILTIN)
        )
        only_ngram = job.without(set(job.labels) - {"n-gram"})

        say("locating")
        places: dict[str, Ranks] = {method: location_ranks(model, test, method) for method in METHODS}
        everywhere = Inserting(Locating(model, "odds", 0), contexts, 0, words)
        lists = Lists(tuning, everywhere, only_ngram), Lists(test, everywhere, only_ngram)
        combined: dict[str, set[str]] = {"odds, contexts": set(), "odds, contexts, n-gram": {"n-gram"}}
        for name, labels in combined.items():
            scores = tuned_scores(only_ngram, lists, labels, {"location-odds", "filling"}, places=True)
            places[name] = lists[1].gap_ranks(scores)
        shares = {"chance": chance([len(sentence.words) - 1 for sentence in test])}
        print_shares("place", shares | {name: top_accuracies(ranks) for name, ranks in places.items()})
        test_of = mcnemar(first_places(places["odds, contexts, n-gram"]), first_places(places["odds"]))
        print(
            f"The n-gram score against odds alone: {test_of.first_only} against {test_of.second_only}, p = {test_of.p_value:.2g}\n"
        )

        say("filling")
        fillings = {"five contexts": filling_ranks(contexts, test), "substitutes": filling_ranks(substitutes, test)}
        print_shares("word", {name: top_accuracies(ranks) for name, ranks in fillings.items()})
        whole = {
            name: lists[1].sentence_ranks(tuned_scores(only_ngram, lists, labels, {"location-odds", "filling"}))
            for name, labels in combined.items()
        }
        print_shares("sentence", {name: top_accuracies(ranks) for name, ranks in whole.items()})

        say("reranking")
        at_gaps = Inserting(Locating(model, "odds", 1), substitutes, 1, words, at_known_gaps=True)
        pair = Lists(tuning, at_gaps, job), Lists(test[:listed], at_gaps, job)
        systems: dict[str, set[str]] = {"n-gram": {"n-gram"}}
        systems |= {f"n-gram + {name}": {"n-gram", name} for name in features}
        if len(features) > 1:
            systems["n-gram + all"] = {"n-gram", *features}
        ranked = {
            name: pair[1].sentence_ranks(tuned_scores(job, pair, labels, {"filling"}))
            for name, labels in systems.items()
        }
        rows = []
        base = first_places(ranked["n-gram"])
        for name, ranks in ranked.items():
            values = top_accuracies(ranks)
            against = mcnemar(first_places(ranks), base)
            counts = f"{against.first_only}, {against.second_only}, {against.p_value:.2g}"
            rows.append((name, *(f"{100 * value:.2f}" for value in values), "" if name == "n-gram" else counts))
        header = ("reranked word", *(f"top {top}" for top in TOPS), "only this, only that, p")
        print(markdown_table(Table("reranked word", header, tuple(rows))))
    print(f"{time.process_time() - started:.0f} s of CPU in this process")


if __name__ == "__main__":
    main()
