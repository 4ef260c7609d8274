"""Print perplexities of syntactic language models and a 5-gram model of the same trees (the paper's Table 2).

All models of a training set have the same vocabulary, with the same signatures of unknown words. Perplexities are per
word, with the end of a sentence counted as a word. Those of tree models sum over the k best parses by the grammar and
are therefore upper bounds; that of PCFG-LA is exact (the inside probability by the grammar of `--latent`, which must
have been trained on the first training set only).

GRAMMAR is a file made by `rerank train grammar`. Training sets are files of brackets; test sets are files of brackets
or of text with one tokenised sentence per line. The names of files of brackets end in .ptb, .mrg or .brackets.

\b
    rerank train grammar gum-train.ptb --language en -o gum.pcfg
    rerank trees parse texts.txt --text none -p pcfg,model=gum.pcfg -o texts.ptb
    python -m docs.results.scripts.treelet_perplexity gum.pcfg --latent gum.pcfg -k 50 --longest 40 --most 250 \\
        --training treebank=gum-train.ptb --training "and texts=gum-train.ptb,texts.ptb" \\
        --test "GUM dev=gum-dev.ptb" --test novel=novel-dev.txt
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FILE, counted, experiment, named_values, say
from rerank_adapters.applications.training.tree_source import CONSTITUENTS, TREES_OF_BLOCK
from rerank_plugins import RerankError
from rerank_plugins.constituency.model_file import read_grammar
from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.kit.backoff.scoring import score_text
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.vocabulary.signatures import UnknownWords
from rerank_plugins.ngram.training import NgramSettings
from rerank_plugins.ngram.training import train as train_ngrams
from rerank_plugins.treelet import headlex
from rerank_plugins.treelet.corpus import Corpus, TransformedCollector, TreeletCollector
from rerank_plugins.treelet.headlex import Settings as HeadlexSettings
from rerank_plugins.treelet.model import ORDERS, Settings
from rerank_plugins.treelet.training import train_on
from tests.constituency.pcfg_sentences import inside_all

NAMES = {"pcfg": "PCFG", "treelet-trans": "TREELET-TRANS", "treelet-rule": "TREELET-RULE", "treelet": "TREELET"}
Words = tuple[str, ...]
Totals = tuple[FloatArray, FloatArray]


Parses = Mapping[str, list[list[Tree]]]


def read_sentences(path: Path, longest: int, most: int) -> list[Words]:
    """The first `most` sentences of up to `longest` words of a file of brackets or of text."""
    with open_text(path) as lines:
        if CONSTITUENTS.is_treebank(path):
            sentences = [tree.words() for tree in CONSTITUENTS.read(lines, str(path))]
        else:
            sentences = [tuple(normal_text(line).split()) for line in lines]
    return [words for words in sentences if 0 < len(words) <= longest][:most]


class Training(NamedTuple):
    """A training set as numbers, with its trees as parsed and transformed."""

    as_parsed: Corpus
    transformed: Corpus

    @classmethod
    def read(cls, paths: Sequence[Path]) -> Training:
        """The trees of all files, which are read once and never all in memory as objects."""
        collectors = TreeletCollector(), TransformedCollector()
        for path in paths:
            with open_text(path) as lines:
                stream = CONSTITUENTS.read(lines, str(path))
                while trees := list(islice(stream, TREES_OF_BLOCK)):
                    for collector in collectors:
                        collector.add(trees)
        as_parsed, transformed = (collector.finish(UnknownWords(), min_count=1) for collector in collectors)
        return cls(as_parsed, transformed)

    def lines(self) -> Iterator[str]:
        """The sentences, with words of the closed vocabulary."""
        names = self.as_parsed.vocabulary.words
        for trees in self.as_parsed.blocks():
            ends = np.cumsum(trees.word >= 0)[trees.offsets[1:] - 1]
            for tokens in np.split(trees.word[trees.word >= 0], ends[:-1]):
                yield " ".join([names[token] for token in tokens.tolist()])


def perplexity(totals: FloatArray, sentences: Sequence[Words]) -> float:
    """The perplexity by the ln p of each sentence, with `</s>` counted as a word."""
    return float(np.exp(-totals.sum() / sum(len(words) + 1 for words in sentences)))


def ngram_totals(training: Training, tests: Mapping[str, Sequence[Words]], order: int) -> dict[str, FloatArray]:
    """The ln p of the sentences of each test by an n-gram model of the same closed text."""
    ngrams = train_ngrams([("", training.lines())], NgramSettings(order), jobs=1).ngrams
    vocabulary, totals = training.as_parsed.vocabulary, {}
    for name, test in tests.items():
        ends = np.cumsum([len(words) for words in test])[:-1]
        texts = [[vocabulary.words[i] for i in row.tolist()] for row in np.split(vocabulary.encode(test), ends)]
        scores = score_text(ngrams.tables, ngrams.vocabulary.encode(texts))[0]
        starts = np.cumsum([0, *(len(words) + 1 for words in test[:-1])])
        totals[name] = np.add.reduceat(scores, starts)
    return totals


def closed(corpus: Corpus) -> Corpus:
    """The corpus whose signatures are words like others, one type each, so that all models have the same events."""
    return replace(corpus, vocabulary=corpus.vocabulary.stated(1))


def tree_totals(variant: str, training: Training, tests: Parses) -> dict[str, Totals]:
    """The ln p of the sentences of each test by a tree model, with the first parse only and with all parses."""
    if variant == "headlex":
        collapsed = headlex.train_on(closed(training.as_parsed), HeadlexSettings(), jobs=1)
        return {
            name: (collapsed.score_sentences(first(test)), collapsed.score_sentences(test))
            for name, test in tests.items()
        }
    settings = Settings(variant)  # type: ignore[arg-type]
    corpus = training.transformed if settings.transformed else training.as_parsed
    model = train_on(closed(corpus), settings, jobs=1)
    return {name: (model.score_sentences(first(test)), model.score_sentences(test)) for name, test in tests.items()}


def first(parses: Sequence[Sequence[Tree]]) -> list[Sequence[Tree]]:
    """Only the best parse of each sentence."""
    return [trees[:1] for trees in parses]


def parsed(parser: ChartParser, test: Sequence[Words], k: int) -> tuple[list[Words], list[list[Tree]]]:
    """The sentences that have parses, and their trees."""
    derivations = [parser.parse(words, Decoding("mbr", k=k)) for words in counted(test, "sentences parsed")]
    kept = [i for i, best in enumerate(derivations) if best]
    return [test[i] for i in kept], [[scored.tree for scored in derivations[i]] for i in kept]


@experiment("treelet_perplexity", __doc__)
@click.argument("grammar", type=FILE)
@click.option("--latent", type=FILE, help="The grammar of PCFG-LA, trained on the first training set.")
@click.option(
    "--training", multiple=True, required=True, metavar="NAME=FILE[,FILE]…", help="Train on this set (repeatable)."
)
@click.option(
    "--test", "test_sets", multiple=True, required=True, metavar="NAME=FILE", help="Test on this set (repeatable)."
)
@click.option("-k", default=1000, help="Sum over this many parses of a sentence.")
@click.option("--longest", default=30, help="Leave out test sentences of more words.")
@click.option("--most", default=100, help="Take this many sentences of each test set.")
def main(
    grammar: Path,
    latent: Path | None,
    training: Sequence[str],
    test_sets: Sequence[str],
    k: int,
    longest: int,
    most: int,
) -> None:
    """Parse the test sets, train and score the models and print the table."""
    files = {
        name: [Path(file) for file in value.split(",")] for name, value in named_values(training, "NAME=FILE").items()
    }
    missing = [path for paths in files.values() for path in paths if not path.is_file()]
    if missing:
        raise RerankError(f"{missing[0]}: no such file, expected trees in brackets (--training)")
    sentences = {
        name: read_sentences(Path(file), longest, most) for name, file in named_values(test_sets, "NAME=FILE").items()
    }
    parser = ChartParser(read_grammar(grammar))
    tests: dict[str, list[Words]] = {}
    parses: dict[str, list[list[Tree]]] = {}
    for name, test in sentences.items():
        tests[name], parses[name] = parsed(parser, test, k)
        if not tests[name]:
            raise RerankError(f"{name}: none of {len(test)} sentences of up to {longest} words has a parse")
        print(f"{name}: {len(tests[name])} sentences of {len(test)}, {sum(map(len, tests[name]))} words")
    print("\n| training | model |" + "".join(f" {name}, 1 parse | {k} parses |" for name in tests))
    print("| --- | --- |" + " ---: |" * 2 * len(tests), flush=True)
    for number, (name, paths) in enumerate(files.items()):
        trees = Training.read(paths)
        row = f"| {name}: {len(trees.as_parsed.lengths):,} trees, {len(trees.as_parsed.tokens):,} words |"
        for variant in [*ORDERS, "headlex"]:
            started = time.process_time()
            totals = tree_totals(variant, trees, parses)
            values = [f"{perplexity(ln_p, tests[test]):.1f}" for test, both in totals.items() for ln_p in both]
            print(row, NAMES.get(variant, "HEADLEX"), "|", " | ".join(values), "|", flush=True)
            say(f"{time.process_time() - started:.0f} s")
        if latent and number == 0:
            own = read_grammar(latent)
            exact = {test: perplexity(inside_all(own, words), words) for test, words in tests.items()}
            print(row, "PCFG-LA |", " | ".join(f"| {value:.1f}" for value in exact.values()), "|")
        exact = {test: perplexity(ln_p, tests[test]) for test, ln_p in ngram_totals(trees, tests, 5).items()}
        print(row, "5-gram |", " | ".join(f"| {value:.1f}" for value in exact.values()), "|", flush=True)


if __name__ == "__main__":
    main()
