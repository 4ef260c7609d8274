"""The tables of Wu & Schuler (2011) on GUM: parsing with and without concepts, perplexity, speed against length.

    python -m tests.experiments.svs_table ../shared/data parsing [--rows baseline 1000hw-10 …] [--seeds 1 2 3] [--every 1]
    python -m tests.experiments.svs_table ../shared/data perplexity [--concepts 1 5]
    python -m tests.experiments.svs_table ../shared/data speed [--concepts 10]

Models are trained on GUM train (`--bank craft`: CRAFT's) and the trees of `--more FILE=WEIGHT …`, each of which counts
as often as the weight says, tested on dev (sentences of up to 40 words, labelled brackets by EVALB's conventions);
`--tagged FILE=WEIGHT …` are words for the lexicon of parsers, as `rerank train svs` takes them. With `--threshold 0`, the
default, nothing is pruned, as in the paper. Means and deviations are over random beginnings of EM.
A row is a name:
`baseline` (one concept: the plain grammar), `lex-10` (10 headwords as concepts), `50hw-10` (50 headwords in 10 clusters),
`embedded` (the model that is shipped) and `latent` (the grammar with latent states that is).
"""

import argparse
import lzma
import re
import time
from collections import Counter
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_adapters.tasks.grammar_training import read_tagged
from rerank_plugins.models.pcfg.embedded import read_or_embedded
from rerank_plugins.models.pcfg.forest import plant
from rerank_plugins.models.pcfg.parsing import ChartParser, Decoding
from rerank_plugins.models.pcfg.tagged_words import with_own_words
from rerank_plugins.models.pcfg.training import KEPT
from rerank_plugins.models.pcfg.treebank_grammar import grammar_of_counts, productions
from rerank_plugins.models.signatures import UnknownWords
from rerank_plugins.models.svs import lexicalised
from rerank_plugins.models.svs.annotation import named
from rerank_plugins.models.svs.clustering import Clustering, cluster
from rerank_plugins.models.svs.estimation import categories, clustered_lexicon, model_of
from rerank_plugins.models.svs.model_file import EMBEDDED, read_model
from rerank_plugins.models.svs.observed import observe
from rerank_plugins.models.svs.parsing import SvsParser
from rerank_plugins.models.svs.states import chains, state_trees
from rerank_plugins.models.svs.training import SvsSettings
from rerank_plugins.trees.cleaning import CRAFT_LABELS, clean
from rerank_plugins.trees.constituency import Tree, read_trees
from rerank_plugins.trees.parseval import Parseval
from tests.bench.svs_scalar import scalar_log_probability

SHORT = 40
BANKS = {
    "gum": ("treebank_gum/gum-train.ptb", "treebank_gum/gum-dev.ptb"),
    "craft": ("treebank_craft/craft-train.ptb.xz", "treebank_craft/craft-dev.ptb.xz"),
}
ROWS = (
    "baseline",
    "lex-10",
    "lex-50",
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
FITTED = 20  # words from which on time is fitted as a power of the length


class Treebank:
    """Treebanks as they are read, each with its weight, states of their trees found once; models of them."""

    def __init__(self, parts, settings, tagged=None):
        self.parts, self.settings, self.tagged = parts, settings, tagged
        self.trees = [tree for trees, _ in parts for tree in trees]
        self.weights = [weight for trees, weight in parts for _ in trees]
        self.observed = {}

    @cached_property
    def states(self):
        return state_trees(self.trees, named(self.settings.annotations), self.settings.rare, self.weights)

    @cached_property
    def forest(self):
        return plant([state.tree for state in self.states], self.settings.unknown, self.weights)

    @cached_property
    def grammar(self):
        forest, tagged = self.forest, None
        if self.tagged:
            tagged = with_own_words(self.tagged, *zip(*self.parts, strict=True), forest.words)
        counts, names = productions(forest), categories(forest.labels)
        return grammar_of_counts(forest.labels, *names, forest.words, counts, self.settings.smoothing, {}, tagged)

    def model(self, headwords, clustering=None):
        """Clusters, or without `clustering` the headwords themselves."""
        if headwords not in self.observed:
            self.observed[headwords] = observe(self.forest, headwords)
        seen = self.observed[headwords]
        if clustering is None:
            parameters, expected = lexicalised.count(seen)
            words = lexicalised.headword_lexicon(seen, self.grammar.lexicon)
        else:
            parameters, expected = cluster(seen, clustering)
            words = clustered_lexicon(seen, parameters, self.grammar.lexicon)
        return model_of(seen, parameters, expected, words, chains(self.states), {})


def read(path, keep=()):
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        return [tree for tree in (clean(tree, CRAFT_LABELS, keep) for tree in read_trees(lines, str(path))) if tree]


def read_training(given):
    """Treebanks to learn from, each with how often its trees count."""
    weights = {given.data / BANKS[given.bank][0]: 1.0} | weighted(given.more)
    return [(read(path, KEPT), weight) for path, weight in weights.items()]


def weighted(arguments):
    return {Path(name): float(weight) for name, _, weight in (each.rpartition("=") for each in arguments)}


def read_bank(given, settings):
    return Treebank(read_training(given), settings, read_tagged(weighted(given.tagged), lambda line: None))


def short(trees):
    return [tree for tree in trees if len(tree.words()) <= SHORT]


def parseval(parse, trees):
    found = Parseval()
    for tree in trees:
        found.add(tree, parse(tree.words()))
    percent = found.percent()
    return np.array([percent[name] for name in ("LR", "LP", "F1", "exact")])


def latent_parses():
    parser = ChartParser(read_or_embedded(None))
    return lambda words: parser.parse(words, Decoding("mbr"))[0].tree


def vector_parses(model, decoder, threshold):
    parser = SvsParser(model, threshold, decoder)

    def parse(words):
        found = parser.parse(words)
        return found and found.tree()

    return parse


def models_of(row, bank, clustering, seeds):
    """The models of a row, made one by one."""
    if row == "baseline":
        yield bank.model(0, replace(clustering, concepts=1))
        return
    if row.startswith("lex-"):
        yield bank.model(int(row[4:]))
        return
    headwords, concepts = map(int, row.split("hw-"))
    for seed in seeds if concepts > 1 else seeds[:1]:
        yield bank.model(headwords, replace(clustering, concepts=concepts, seed=seed))


def parsing(given, settings):
    bank = read_bank(given, settings)
    trees = short(read(given.data / BANKS[given.bank][1]))[:: given.every]
    print(f"{len(trees)} sentences of up to {SHORT} words, threshold {given.threshold:g}")
    print("| model | decoder | LR | LP | F1 | exact | models |")
    print("|---|---|---:|---:|---:|---:|---:|", flush=True)
    for row in given.rows:
        if row == "latent":
            scores = {"mbr": [parseval(latent_parses(), trees)]}
        elif row == "embedded":
            model = read_model(EMBEDDED)
            parses = {decoder: vector_parses(model, decoder, given.threshold) for decoder in given.decoders}
            scores = {decoder: [parseval(parse, trees)] for decoder, parse in parses.items()}
        else:
            scores = {decoder: [] for decoder in given.decoders}
            for model in models_of(row, bank, settings.clustering, given.seeds):
                for decoder, found in scores.items():
                    found.append(parseval(vector_parses(model, decoder, given.threshold), trees))
        for decoder, found in scores.items():
            mean, deviation = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) if len(found) > 1 else None
            f1 = f"{mean[2]:.2f}" + (f" ± {deviation[2]:.2f}" if deviation is not None else "")
            print(
                f"| {row} | {decoder} | {mean[0]:.2f} | {mean[1]:.2f} | {f1} | {mean[3]:.1f} | {len(found)} |",
                flush=True,
            )


def with_closed_vocabulary(trees, known):
    """Numbers are `num`, words outside the vocabulary `unk`."""
    return [
        tree.fold(lambda tag: Tree(tag.label, (closed_form(tag.word, known),)), lambda node, below: Tree(node.label, tuple(below)))
        for tree in trees
    ]  # fmt: skip


def closed_form(word, known):
    if NUMBER.fullmatch(word):
        return "num"
    return word if word in known else "unk"


def perplexity(given, settings):
    """Table 2. Where there are fewer than 20,000 words, those that occur once are left out too: `unk` must occur."""
    train = read_training(given)
    counts = Counter(
        word for trees, _ in train for tree in trees for word in tree.words() if not NUMBER.fullmatch(word)
    )
    known = {word for word, count in counts.most_common(VOCABULARY) if count > 1}
    kept = UnknownWords(first=0, rate=0.0)  # nothing more becomes unknown
    train = [(with_closed_vocabulary(trees, known), weight) for trees, weight in train]
    bank = Treebank(train, replace(settings, unknown=kept))
    dev = [tree.words() for tree in with_closed_vocabulary(short(read(given.data / BANKS[given.bank][1])), known)]
    dev = dev[:: given.every]
    print(f"{len(known) + 2} words, {len(dev)} sentences of {sum(map(len, dev))} words")
    print("| concepts | perplexity a word | without a tree |")
    print("|---:|---:|---:|", flush=True)
    for concepts in given.concepts:
        found = []
        for seed in given.seeds if concepts > 1 else given.seeds[:1]:
            parser = SvsParser(bank.model(given.headwords, replace(settings.clustering, concepts=concepts, seed=seed)))
            logps = np.array([parser.log_probability(words) for words in dev])
            derived = np.isfinite(logps)
            words = sum(len(words) for words, there in zip(dev, derived, strict=True) if there)
            found.append((float(np.exp(-logps[derived].sum() / words)), int((~derived).sum())))
        values = np.array(found)
        deviation = f" ± {values[:, 0].std(ddof=1):.1f}" if len(values) > 1 else ""
        print(f"| {concepts} | {values[:, 0].mean():.1f}{deviation} | {values[:, 1].max():.0f} |", flush=True)


def seconds(action, sentences):
    started = time.process_time()
    for sentence in sentences:
        action(sentence)
    return (time.process_time() - started) / len(sentences)


def speed(given, settings):
    """Figure 3: seconds a sentence."""
    bank = read_bank(given, settings)
    dev = [tree.words() for tree in read(given.data / BANKS[given.bank][1])]
    by_length = {length: [words for words in dev if len(words) == length][: given.sentences] for length in LENGTHS}
    for concepts in given.concepts:
        model = bank.model(1000, replace(settings.clustering, concepts=concepts))
        print(f"{concepts} concepts: seconds a sentence")
        speed_of(model, given.threshold or 1e-4, by_length)


def speed_of(model, threshold, by_length):
    exact, pruned = SvsParser(model, 0.0), SvsParser(model, threshold)

    def vectors(words):
        exact.chart.forget()
        exact.parse(words)

    actions = {
        "pruned": pruned.parse,
        "vectors": vectors,
        "sums for each rule": lambda words: scalar_log_probability(exact.rules, exact.numbers(words), False),
        "expanded rules": lambda words: scalar_log_probability(exact.rules, exact.numbers(words), True),
    }
    print(f"| words | {' | '.join(actions)} |")
    print("|---:" * (len(actions) + 1) + "|", flush=True)
    rows = []
    for length, sentences in by_length.items():
        for action in actions.values():
            action(sentences[0])  # room for the chart is made
        rows.append([length, *(seconds(action, sentences) for action in actions.values())])
        print("| " + " | ".join(f"{value:.2g}" for value in rows[-1]) + " |", flush=True)
    table = np.log(np.array([row for row in rows if row[0] >= FITTED]))
    powers = [np.polyfit(table[:, 0], column, 1)[0] for column in table[:, 1:].T]
    print("| power | " + " | ".join(f"{power:.1f}" for power in powers) + " |")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path)
    arguments.add_argument("table", choices=["parsing", "perplexity", "speed"])
    arguments.add_argument("--bank", choices=list(BANKS), default="gum")
    arguments.add_argument("--more", nargs="+", default=[], metavar="FILE=WEIGHT", help="further trees to learn from")
    arguments.add_argument("--tagged", nargs="+", default=[], metavar="FILE=WEIGHT", help="tagged words, of parsers")
    arguments.add_argument("--rare", type=float, default=SvsSettings.rare)
    arguments.add_argument("--rows", nargs="+", default=list(ROWS))
    arguments.add_argument("--decoders", nargs="+", default=["vector", "mbr"])
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    arguments.add_argument("--concepts", nargs="+", type=int, default=[1, 5])
    arguments.add_argument("--headwords", type=int, default=1000, help="of the perplexities")
    arguments.add_argument("--iterations", type=int, default=Clustering().iterations)
    arguments.add_argument("--rule-prior", type=float, default=Clustering().rule_prior)
    arguments.add_argument("--restarts", type=int, default=1)
    arguments.add_argument("--threshold", type=float, default=0.0)
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--sentences", type=int, default=5, help="for each length")
    given = arguments.parse_args()
    settings = SvsSettings("en", rare=given.rare)
    em = replace(settings.clustering, iterations=given.iterations, restarts=given.restarts, rule_prior=given.rule_prior)
    settings = replace(settings, clustering=em)
    {"parsing": parsing, "perplexity": perplexity, "speed": speed}[given.table](given, settings)


if __name__ == "__main__":
    main()
