"""Print perplexities of syntactic language models and a 5-gram model trained on the same trees (the paper's Table 2).

Every model of a training set has one vocabulary, and unknown words as the same signatures. Perplexities are per word and
end of sentence; those of models of trees sum over the k best parses by the grammar, so they are upper bounds, but for
PCFG-LA (the grammar's own inside probability; `--latent` must have been trained on the first training set alone).

GRAMMAR is a file of `rerank train grammar`; training sets are files of brackets, tests files of brackets or of text, a
tokenised sentence a line. Files in brackets end in .ptb, .mrg or .brackets.

\b
    rerank train grammar gum-train.ptb --language en -o gum.pcfg
    rerank parse texts.txt -p pcfg,model=gum.pcfg -o texts.ptb
    python -m tests.experiments.treelet_perplexity gum.pcfg --latent gum.pcfg -k 50 --longest 40 --most 250 \\
        --training treebank=gum-train.ptb --training "and texts=gum-train.ptb,texts.ptb" \\
        --test "GUM dev=gum-dev.ptb" --test novel=novel-dev.txt
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from rerank_adapters.applications.training.tree_source import CONSTITUENTS
from rerank_adapters.formats.compressed import open_text
from rerank_plugins import RerankError
from rerank_plugins.arrays import FloatArray
from rerank_plugins.models.backoff.text_scoring import score_text
from rerank_plugins.models.headlex import training as headlex
from rerank_plugins.models.headlex.model import Settings as HeadlexSettings
from rerank_plugins.models.ngram.training import NgramSettings
from rerank_plugins.models.ngram.training import train as train_ngrams
from rerank_plugins.models.pcfg.model_file import read_grammar
from rerank_plugins.models.pcfg.parsing import ChartParser, Decoding
from rerank_plugins.models.treelet import ORDERS, Settings
from rerank_plugins.models.treelet.collecting import TreeletCollector
from rerank_plugins.models.treelet.training import train
from rerank_plugins.models.vocabulary.closed import ClosedVocabulary, close_vocabulary
from rerank_plugins.models.vocabulary.signatures import UnknownWords
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.penn import normal_text
from rerank_plugins.trees.treelet_transforms import transform
from tests.experiments.experiment import FILE, counted, experiment, named_values, say
from tests.pcfg_sentences import inside_all

NAMES = {"pcfg": "PCFG", "treelet-trans": "TREELET-TRANS", "treelet-rule": "TREELET-RULE", "treelet": "TREELET"}
Words = tuple[str, ...]
Totals = tuple[FloatArray, FloatArray]


class Parsed(NamedTuple):
    """The best trees of each sentence, as the parser gives them and transformed."""

    as_parsed: list[list[Tree]]
    transformed: list[list[Tree]]


Parses = Mapping[str, Parsed]


def read_sentences(path: Path, longest: int, most: int) -> list[Words]:
    """Sentences of brackets or text, of up to `longest` words."""
    with open_text(path) as lines:
        if CONSTITUENTS.is_treebank(path):
            found = [tree.words() for tree in CONSTITUENTS.read(lines, str(path))]
        else:
            found = [tuple(normal_text(line).split()) for line in lines]
    return [words for words in found if 0 < len(words) <= longest][:most]


def read_trees(paths: Sequence[Path]) -> list[Tree]:
    """The trees of all files."""
    trees: list[Tree] = []
    for path in paths:
        with open_text(path) as lines:
            trees += CONSTITUENTS.read(lines, str(path))
    return trees


def perplexity(totals: FloatArray, sentences: Sequence[Words]) -> float:
    """From ln p of each sentence; `</s>` counts as a word."""
    return float(np.exp(-totals.sum() / sum(len(words) + 1 for words in sentences)))


def closed_lines(vocabulary: ClosedVocabulary, tokens: np.ndarray, sentences: Sequence[Words]) -> list[str]:
    """The sentences in the words of the vocabulary."""
    ends = np.cumsum([len(words) for words in sentences])
    names = vocabulary.words
    return [" ".join(names[i] for i in row.tolist()) for row in np.split(tokens, ends[:-1])]


def ngram_totals(trees: Sequence[Tree], tests: Mapping[str, Sequence[Words]], order: int) -> dict[str, FloatArray]:
    """Sentences by an n-gram model of the same closed text."""
    sentences = [tree.words() for tree in trees]
    vocabulary, tokens = close_vocabulary(sentences, UnknownWords())
    lines = closed_lines(vocabulary, tokens, sentences)
    ngrams = train_ngrams([("", lines)], NgramSettings(order), jobs=1).ngrams
    found = {}
    for name, test in tests.items():
        closed = [line.split() for line in closed_lines(vocabulary, vocabulary.encode(test), test)]
        scores = score_text(ngrams.tables, ngrams.vocabulary.encode(closed))[0]
        starts = np.cumsum([0, *(len(words) + 1 for words in test[:-1])])
        found[name] = np.add.reduceat(scores, starts)
    return found


def tree_totals(variant: str, trees: Sequence[Tree], changed: Sequence[Tree], tests: Parses) -> dict[str, Totals]:
    """Ln p of the sentences of each test by their first parse, and by all, of one model of trees."""
    if variant == "headlex":
        collapsed = headlex.train(headlex.collect(trees), HeadlexSettings(), jobs=1)
        return {
            name: (collapsed.score_sentences(first(found.as_parsed)), collapsed.score_sentences(found.as_parsed))
            for name, found in tests.items()
        }
    settings = Settings(variant)  # type: ignore[arg-type]
    collector = TreeletCollector()
    collector.add(changed if settings.transformed else trees)
    model = train(collector, settings, jobs=1)
    totals = {}
    for name, found in tests.items():
        asked = found.transformed if settings.transformed else found.as_parsed
        best, all_ = (model.score_sentences(each, settings.transformed) for each in (first(asked), asked))
        totals[name] = best, all_
    return totals


def first(parses: Sequence[Sequence[Tree]]) -> list[Sequence[Tree]]:
    """Of each sentence the best parse alone."""
    return [trees[:1] for trees in parses]


def parsed(parser: ChartParser, test: Sequence[Words], k: int) -> tuple[list[Words], Parsed]:
    """The sentences that have trees, and these."""
    found = [parser.parse(words, Decoding("mbr", k=k)) for words in counted(test, "sentences parsed")]
    kept = [i for i, trees in enumerate(found) if trees]
    as_parsed = [[each.tree for each in found[i]] for i in kept]
    return [test[i] for i in kept], Parsed(as_parsed, [list(map(transform, trees)) for trees in as_parsed])


@experiment("treelet_perplexity", __doc__)
@click.argument("grammar", type=FILE)
@click.option("--latent", type=FILE, help="A grammar for PCFG-LA, of the first training set.")
@click.option(
    "--training", multiple=True, required=True, metavar="NAME=FILE[,FILE]…", help="A training set (repeatable)."
)
@click.option("--test", "asked", multiple=True, required=True, metavar="NAME=FILE", help="A test set (repeatable).")
@click.option("-k", default=1000, help="Parses of a sentence that are summed over.")
@click.option("--longest", default=30, help="Words of the longest test sentence.")
@click.option("--most", default=100, help="Sentences of a test set, from the first.")
def main(
    grammar: Path, latent: Path | None, training: Sequence[str], asked: Sequence[str], k: int, longest: int, most: int
) -> None:
    """Parse the tests, train, score, print."""
    files = {
        name: [Path(file) for file in found.split(",")] for name, found in named_values(training, "NAME=FILE").items()
    }
    missing = [path for found in files.values() for path in found if not path.is_file()]
    if missing:
        raise RerankError(f"{missing[0]}: no such file, expected trees in brackets (--training)")
    sentences = {
        name: read_sentences(Path(file), longest, most) for name, file in named_values(asked, "NAME=FILE").items()
    }
    parser = ChartParser(read_grammar(grammar))
    tests: dict[str, list[Words]] = {}
    parses: dict[str, Parsed] = {}
    for name, test in sentences.items():
        tests[name], parses[name] = parsed(parser, test, k)
        if not tests[name]:
            raise RerankError(f"{name}: none of {len(test)} sentences of up to {longest} words has a parse")
        print(f"{name}: {len(tests[name])} sentences of {len(test)}, {sum(map(len, tests[name]))} words")
    print("\n| training | model |" + "".join(f" {name}, 1 parse | {k} parses |" for name in tests))
    print("| --- | --- |" + " ---: |" * 2 * len(tests), flush=True)
    for number, (name, paths) in enumerate(files.items()):
        trees = read_trees(paths)
        changed = list(map(transform, trees))
        row = f"| {name}: {len(trees):,} trees, {sum(len(tree.words()) for tree in trees):,} words |"
        for variant in [*ORDERS, "headlex"]:
            started = time.process_time()
            totals = tree_totals(variant, trees, changed, parses)
            values = [f"{perplexity(found, tests[test]):.1f}" for test, both in totals.items() for found in both]
            print(row, NAMES.get(variant, "HEADLEX"), "|", " | ".join(values), "|", flush=True)
            say(f"{time.process_time() - started:.0f} s")
        if latent and number == 0:
            own = read_grammar(latent)
            exact = {test: perplexity(inside_all(own, words), words) for test, words in tests.items()}
            print(row, "PCFG-LA |", " | ".join(f"| {value:.1f}" for value in exact.values()), "|")
        exact = {test: perplexity(found, tests[test]) for test, found in ngram_totals(trees, tests, 5).items()}
        print(row, "5-gram |", " | ".join(f"| {value:.1f}" for value in exact.values()), "|", flush=True)


if __name__ == "__main__":
    main()
