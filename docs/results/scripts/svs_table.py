"""Print the tables of Wu & Schuler (2011): parsing with and without concepts, perplexity, speed (docs/results/svs.md).

The models are trained on GUM train (with `--bank craft`, on CRAFT's) and on the trees of `--more`, weighted as stated.
They are tested on the sentences of up to 40 words of the development set, by labelled brackets with EVALB's
conventions. With `--threshold 0`, the default, nothing is pruned, as in the paper. Means and standard deviations are
over random initialisations of EM.

A row of the table `parsing` is named `baseline` (one concept, the plain grammar), `50hw-10` (50 headwords in 10
clusters), `embedded` (the embedded model) or `latent` (the embedded grammar with latent states).

DATA is a folder with treebank_gum/gum-train.ptb and gum-dev.ptb, or treebank_craft/craft-train.ptb.xz and
craft-dev.ptb.xz.

\b
    python -m docs.results.scripts.svs_table DATA parsing --rows baseline,1000hw-10 --seeds 1,2,3
    python -m docs.results.scripts.svs_table DATA perplexity --concepts 1,5
    python -m docs.results.scripts.svs_table DATA speed --concepts 10 --sentences 4
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import click
import numpy as np

from docs.results.scripts.closed_trees import with_words
from docs.results.scripts.experiment import FOLDER, Listed, counted, experiment, file_of, say, weighted_files
from docs.results.scripts.texts import CRAFT_DEV, CRAFT_TRAIN, GUM_DEV, GUM_TRAIN, Words, cleaned_trees
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import Tagged, tagged_words, with_unknown
from rerank_plugins.constituency.model_file import read_or_embedded
from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.constituency.training import KEPT
from rerank_plugins.constituency.treebank_files import read_tagged
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, grammar_of_counts, productions
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.trees.parseval import Parseval
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.svs.clustering import Clustering, cluster
from rerank_plugins.svs.model import EMBEDDED, SvsModel, read_model
from rerank_plugins.svs.observed_trees import Observed, observe
from rerank_plugins.svs.parsing import SvsParser
from rerank_plugins.svs.states import StateForest, named, state_forest
from rerank_plugins.svs.training import (
    SvsSettings,
    categories,
    model_of,
    vector_lexicon,
)

SHORT = 40
BANKS = {"gum": (GUM_TRAIN, GUM_DEV), "craft": (CRAFT_TRAIN, CRAFT_DEV)}
ROWS = (
    "baseline",
    "50hw-10",
    "1000hw-1",
    "1000hw-5",
    "1000hw-10",
    "1000hw-15",
    "1000hw-20",
    "latent",
)
VOCABULARY = 20_000
NUMBER = re.compile(r"[-+]?[\d.,:/]*\d[\d.,:/]*%?")
LENGTHS = (5, 10, 15, 20, 25, 30, 35, 40)
FITTED = 20  # the shortest length in words at which time is fitted as a power of the length
Decoder = Literal["vector", "mbr"]
Parts = Sequence[tuple[list[Tree], float]]
Parse = Callable[[Words], Tree | None]


class Options(NamedTuple):
    """The options of the command line."""

    data: Path
    bank: str
    more: dict[Path, float]
    tagged: dict[Path, float]
    rows: tuple[str, ...]
    decoders: tuple[Decoder, ...]
    seeds: tuple[int, ...]
    concepts: tuple[int, ...]
    headwords: int
    threshold: float
    every: int
    sentences: int

    @property
    def training(self) -> Path:
        """The training treebank."""
        return file_of(self.data, BANKS[self.bank][0])

    @property
    def dev(self) -> Path:
        """The test treebank."""
        return file_of(self.data, BANKS[self.bank][1])


class Treebank:
    """Weighted treebanks, whose states are computed once, and the models trained on them."""

    def __init__(self, parts: Parts, settings: SvsSettings, tagged: Tagged | None = None) -> None:
        self.parts, self.settings, self.tagged = parts, settings, tagged
        self.trees = [tree for trees, _ in parts for tree in trees]
        self.weights = [weight for trees, weight in parts for _ in trees]
        self.observed: dict[int, Observed] = {}

    @cached_property
    def states(self) -> StateForest:
        """The trees with the states of their symbols."""
        settings, weights = self.settings, np.array(self.weights)
        return state_forest(self.trees, named(settings.annotations), settings.rare, settings.unknown, lambda _: weights)

    @property
    def forest(self) -> EncodedTrees:
        """The trees with their states, as arrays."""
        return self.states.forest

    @cached_property
    def grammar(self) -> Grammar:
        """The plain grammar, whose lexicon all models share."""
        forest, tagged = self.forest, None
        if self.tagged:
            own = [tagged_words(trees, weight) for trees, weight in self.parts]
            tagged = with_unknown(self.tagged, own, forest.words)
        counts, names = productions(forest), categories(forest.labels)
        return grammar_of_counts(forest.labels, *names, forest, counts, self.settings.smoothing, {}, tagged)

    def model(self, headwords: int, clustering: Clustering) -> SvsModel:
        """A model with clusters of headwords as concepts."""
        if headwords not in self.observed:
            self.observed[headwords] = observe(self.forest, headwords)
        seen = self.observed[headwords]
        parameters, expected = cluster(seen, clustering)
        words = vector_lexicon(seen, parameters, self.grammar.lexicon)
        return model_of(seen, parameters, expected, words, self.states.chains, {})


def read_training(options: Options) -> list[tuple[list[Tree], float]]:
    """The training treebanks with their weights."""
    weights = {options.training: 1.0} | options.more
    return [(cleaned_trees(path, CRAFT_LABELS, KEPT), weight) for path, weight in weights.items()]


def read_bank(options: Options, settings: SvsSettings) -> Treebank:
    """The training treebanks and the tagged words."""
    return Treebank(read_training(options), settings, read_tagged(options.tagged, lambda line: None))


def short_dev(options: Options) -> list[Tree]:
    """The test trees of up to 40 words."""
    return [tree for tree in cleaned_trees(options.dev, CRAFT_LABELS) if len(tree.words()) <= SHORT]


def parseval(parse: Parse, trees: Sequence[Tree]) -> FloatArray:
    """(4): labelled recall, precision, F1 and exact matches, in per cent."""
    brackets = Parseval()
    for tree in counted(trees, "sentences parsed"):
        brackets.add(tree, parse(tree.words()))
    percent = brackets.percent()
    return np.array([percent[name] for name in ("LR", "LP", "F1", "exact")])


def latent_parses() -> Parse:
    """A function that parses with the embedded grammar with latent states."""
    parser = ChartParser(read_or_embedded(None))
    return lambda words: parser.parse(words, Decoding("mbr"))[0].tree


def vector_parses(model: SvsModel, decoder: Decoder, threshold: float) -> Parse:
    """A function that parses with a model with concepts."""
    parser = SvsParser(model, threshold, decoder)

    def parse(words: Words) -> Tree | None:
        derivation = parser.parse(words)
        return derivation.tree() if derivation else None

    return parse


def models_of(row: str, bank: Treebank, clustering: Clustering, seeds: Sequence[int]) -> Iterator[SvsModel]:
    """Train and yield the models of a row."""
    if row == "baseline":
        yield bank.model(0, replace(clustering, concepts=1))
        return
    headwords, concepts = map(int, row.split("hw-"))
    for seed in seeds if concepts > 1 else seeds[:1]:
        yield bank.model(headwords, replace(clustering, concepts=concepts, seed=seed))


def row_name(text: str) -> str:
    """The text, which must be the name of a row. Raises ValueError where it is not."""
    if text in ("baseline", "latent", "embedded") or re.fullmatch(r"\d+hw-\d+", text):
        return text
    raise ValueError(text)


def parsing(options: Options, settings: SvsSettings) -> None:
    """Print Table 1."""
    bank = read_bank(options, settings)
    trees = short_dev(options)[:: options.every]
    print(f"{len(trees)} sentences of up to {SHORT} words, threshold {options.threshold:g}")
    print("| model | decoder | LR | LP | F1 | exact | models |")
    print("|---|---|---:|---:|---:|---:|---:|", flush=True)
    for row in options.rows:
        say(row)
        scores: dict[str, list[FloatArray]] = {}
        if row == "latent":
            scores["mbr"] = [parseval(latent_parses(), trees)]
        else:
            embedded = row == "embedded"
            for model in (
                [read_model(EMBEDDED)] if embedded else models_of(row, bank, settings.clustering, options.seeds)
            ):
                for decoder in options.decoders:
                    parses = vector_parses(model, decoder, options.threshold)
                    scores.setdefault(decoder, []).append(parseval(parses, trees))
        for name, values in scores.items():
            mean = np.mean(values, axis=0)
            deviation = f" ± {np.std(values, axis=0, ddof=1)[2]:.2f}" if len(values) > 1 else ""
            cells = f"{mean[0]:.2f} | {mean[1]:.2f} | {mean[2]:.2f}{deviation} | {mean[3]:.1f} | {len(values)}"
            print(f"| {row} | {name} | {cells} |", flush=True)


def with_closed_vocabulary(trees: Sequence[Tree], known: Container[str]) -> list[Tree]:
    """The trees with numbers replaced by `num` and words outside the vocabulary by `unk`."""
    return [with_words(tree, [closed_form(word, known) for word in tree.words()]) for tree in trees]


def closed_form(word: str, known: Container[str]) -> str:
    """The form of a word in the closed vocabulary."""
    if NUMBER.fullmatch(word):
        return "num"
    return word if word in known else "unk"


def perplexity(options: Options, settings: SvsSettings) -> None:
    """Print Table 2. Words that occur once are left out of the vocabulary too, so that `unk` occurs in any case."""
    read = read_training(options)
    counts = Counter(word for trees, _ in read for tree in trees for word in tree.words() if not NUMBER.fullmatch(word))
    known = {word for word, count in counts.most_common(VOCABULARY) if count > 1}
    kept = UnknownWords(first=0, rate=0.0)  # no further words become unknown
    train = [(with_closed_vocabulary(trees, known), weight) for trees, weight in read]
    bank = Treebank(train, replace(settings, unknown=kept))
    dev = [tree.words() for tree in with_closed_vocabulary(short_dev(options), known)][:: options.every]
    print(f"{len(known) + 2} words, {len(dev)} sentences of {sum(map(len, dev))} words")
    print("| concepts | perplexity per word | without a tree |")
    print("|---:|---:|---:|", flush=True)
    for concepts in options.concepts:
        results = []
        for seed in options.seeds if concepts > 1 else options.seeds[:1]:
            say(f"{concepts} concepts, initialisation {seed}")
            clustering = replace(settings.clustering, concepts=concepts, seed=seed)
            parser = SvsParser(bank.model(options.headwords, clustering))
            logps = np.array([parser.log_probability(words) for words in counted(dev, "sentences scored")])
            derived = np.isfinite(logps)
            size = sum(len(words) for words, has_tree in zip(dev, derived, strict=True) if has_tree)
            results.append((float(np.exp(-logps[derived].sum() / size)), int((~derived).sum())))
        values = np.array(results)
        deviation = f" ± {values[:, 0].std(ddof=1):.1f}" if len(values) > 1 else ""
        print(f"| {concepts} | {values[:, 0].mean():.1f}{deviation} | {values[:, 1].max():.0f} |", flush=True)


def seconds(action: Callable[[Words], object], sentences: Sequence[Words]) -> float:
    """CPU seconds per sentence."""
    started = time.process_time()
    for sentence in sentences:
        action(sentence)
    return (time.process_time() - started) / len(sentences)


def speed(options: Options, settings: SvsSettings) -> None:
    """Print Figure 3, the seconds per sentence."""
    bank = read_bank(options, settings)
    dev = [tree.words() for tree in cleaned_trees(options.dev, CRAFT_LABELS)]
    by_length = {length: [words for words in dev if len(words) == length][: options.sentences] for length in LENGTHS}
    by_length = {length: sentences for length, sentences in by_length.items() if sentences}
    for concepts in options.concepts:
        model = bank.model(1000, replace(settings.clustering, concepts=concepts))
        print(f"{concepts} concepts: seconds per sentence")
        speed_of(model, options.threshold or 1e-4, by_length)


def speed_of(model: SvsModel, threshold: float, by_length: Mapping[int, Sequence[Words]]) -> None:
    """Print the rows of one model, and the power of the length with which each column grows."""
    exact, pruned = SvsParser(model, 0.0), SvsParser(model, threshold)

    def vectors(words: Words) -> None:
        exact.chart.forget()
        exact.parse(words)

    actions: dict[str, Callable[[Words], object]] = {
        "pruned": pruned.parse,
        "vectors": vectors,
    }
    print(f"| words | {' | '.join(actions)} |")
    print("|---:" * (len(actions) + 1) + "|", flush=True)
    rows = []
    for length, sentences in by_length.items():
        for action in actions.values():
            action(sentences[0])  # allocates the chart
        rows.append([length, *(seconds(action, sentences) for action in actions.values())])
        print("| " + " | ".join(f"{value:.2g}" for value in rows[-1]) + " |", flush=True)
    table = np.log(np.array([row for row in rows if row[0] >= FITTED]))
    if len(table) > 1:
        powers = [np.polyfit(table[:, 0], column, 1)[0] for column in table[:, 1:].T]
        print("| power | " + " | ".join(f"{power:.1f}" for power in powers) + " |")


TABLES = {"parsing": parsing, "perplexity": perplexity, "speed": speed}


@experiment("svs_table", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("table", type=click.Choice(list(TABLES)))
@click.option("--bank", type=click.Choice(list(BANKS)), default="gum", help="Train and test on this treebank.")
@click.option("--more", multiple=True, metavar="FILE=WEIGHT", help="Train on these trees too (repeatable).")
@click.option("--tagged", multiple=True, metavar="FILE=WEIGHT",
              help="Add tagged words to the lexicon, from CoNLL-U or trees, as in `rerank train svs` (repeatable).")  # fmt: skip
@click.option("--rare", default=SvsSettings.rare, help="Replace symbols of lower counts by less annotated ones.")
@click.option("--rows", type=Listed(row_name), default=",".join(ROWS), help="The rows of the table of parsing.")
@click.option(
    "--decoders", type=Listed(str, ("vector", "mbr")), default="vector,mbr", help="The methods that choose trees."
)
@click.option("--seeds", type=Listed(int), default="1,2,3", help="Seeds of the random initialisations.")
@click.option("--concepts", type=Listed(int), default="1,5", help="The numbers of concepts in the other tables.")
@click.option("--headwords", default=1000, help="The number of headwords in the models of the table of perplexity.")
@click.option("--iterations", default=Clustering().iterations, help="The number of iterations of EM.")
@click.option("--rule-prior", default=Clustering().rule_prior, help="The pseudo-counts of rules.")
@click.option("--restarts", default=1, help="The number of random initialisations, of which the likeliest is kept.")
@click.option("--threshold", default=0.0, help="Prune constituents of lower probability; with 0, prune none.")
@click.option("--every", default=1, help="Test only every n-th sentence.")
@click.option("--sentences", default=5, help="The number of sentences of each length in the table of speed.")
def main(
    table: str, rare: int, iterations: int, rule_prior: float, restarts: int,
    more: tuple[str, ...], tagged: tuple[str, ...], **others: Any,
) -> None:  # fmt: skip
    """Train and test the models and print the table."""
    options = Options(more=weighted_files(more), tagged=weighted_files(tagged), **others)
    clustering = Clustering(iterations=iterations, restarts=restarts, rule_prior=rule_prior)
    TABLES[table](options, SvsSettings("en", rare=rare, clustering=clustering))


if __name__ == "__main__":
    main()
