"""Perplexity of syntactic language models and a 5-gram model trained on the same trees: the paper's table 2.

    rerank train grammar gum-train.ptb --language en -o gum.pcfg
    rerank parse texts.txt -p pcfg,model=gum.pcfg -o texts.ptb
    python tests/experiments/treelet_perplexity.py --grammar gum.pcfg --latent gum.pcfg \
        --training treebank gum-train.ptb --training "and texts" gum-train.ptb texts.ptb \
        --test "GUM dev" gum-dev.ptb --test novel novel-dev.txt

Every model of a training set has one vocabulary, and unknown words as the same signatures. Perplexities are per word
and end of sentence; those of models of trees sum over the k best parses by the grammar, so they are upper bounds, but
for PCFG-LA (the grammar's own inside probability; `--latent` must have been trained on the first training set alone).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rerank_adapters.formats.compressed import open_text
from rerank_adapters.tasks.tree_source import CONSTITUENTS
from rerank_plugins.models.backoff.text_scoring import score_text
from rerank_plugins.models.closed_vocabulary import ClosedVocabulary, close_vocabulary
from rerank_plugins.models.headlex import training as headlex
from rerank_plugins.models.headlex.model import Settings as HeadlexSettings
from rerank_plugins.models.ngram_training import NgramSettings
from rerank_plugins.models.ngram_training import train as train_ngrams
from rerank_plugins.models.pcfg.inside import inside_all
from rerank_plugins.models.pcfg.model_file import read_grammar
from rerank_plugins.models.pcfg.parsing import ChartParser, Decoding
from rerank_plugins.models.signatures import UnknownWords
from rerank_plugins.models.treelet import ORDERS, Settings
from rerank_plugins.models.treelet.collecting import TreeletCollector
from rerank_plugins.models.treelet.training import train
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.treelet_transforms import transform

NAMES = {"pcfg": "PCFG", "treelet-trans": "TREELET-TRANS", "treelet-rule": "TREELET-RULE", "treelet": "TREELET"}
Words = tuple[str, ...]


def read_sentences(path: Path, longest: int, most: int) -> list[Words]:
    """Sentences of brackets or text, of up to `longest` words."""
    with open_text(path) as lines:
        if CONSTITUENTS.is_treebank(path):
            found = [tree.words() for tree in CONSTITUENTS.read(lines, str(path))]
        else:
            found = [tuple(line.replace("-LRB-", "(").replace("-RRB-", ")").split()) for line in lines]
    return [words for words in found if 0 < len(words) <= longest][:most]


def read_trees(paths: Sequence[str]) -> list[Tree]:
    """The trees of all files."""
    trees: list[Tree] = []
    for path in paths:
        with open_text(path) as lines:
            trees += CONSTITUENTS.read(lines, path)
    return trees


def perplexity(totals: np.ndarray, sentences: Sequence[Words]) -> float:
    return float(np.exp(-totals.sum() / sum(len(words) + 1 for words in sentences)))


def closed_lines(vocabulary: ClosedVocabulary, tokens: np.ndarray, sentences: Sequence[Words]) -> list[str]:
    """The sentences in the words of the vocabulary."""
    ends = np.cumsum([len(words) for words in sentences])
    names = vocabulary.words
    return [" ".join(names[i] for i in row.tolist()) for row in np.split(tokens, ends[:-1])]


def ngram_totals(trees: Sequence[Tree], tests: dict[str, list[Words]], order: int) -> dict[str, np.ndarray]:
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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--grammar", type=Path, required=True, help="what test sentences are parsed with")
    options.add_argument("--latent", type=Path, help="grammar for PCFG-LA, of the first training set")
    options.add_argument("--training", nargs="+", action="append", required=True, metavar="NAME FILE")
    options.add_argument("--test", nargs=2, action="append", required=True, metavar=("NAME", "FILE"))
    options.add_argument("-k", type=int, default=100)
    options.add_argument("--longest", type=int, default=60, help="words of a test sentence")
    options.add_argument("--most", type=int, default=1000, help="sentences of a test set")
    given = options.parse_args()
    tests = {name: read_sentences(Path(path), given.longest, given.most) for name, path in given.test}
    parser = ChartParser(read_grammar(given.grammar))
    parses = {}
    for name, test in tests.items():
        found = parser.parse_all(test, Decoding("mbr", k=given.k))
        kept = [i for i, trees in enumerate(found) if trees]
        tests[name] = [test[i] for i in kept]
        parses[name] = [[each.tree for each in found[i]] for i in kept]
        print(f"{name}: {len(kept)} sentences of {len(test)}, {sum(map(len, tests[name]))} words")
    changed_parses = {name: [list(map(transform, trees)) for trees in each] for name, each in parses.items()}
    print("\n| training | model |" + "".join(f" {name}, 1 parse | {given.k} parses |" for name in tests))
    print("| --- | --- |" + " ---: |" * 2 * len(tests))
    for number, (name, *files) in enumerate(given.training):
        trees = read_trees(files)
        changed = list(map(transform, trees))
        size = f"{name}: {len(trees):,} trees, {sum(len(tree.words()) for tree in trees):,} words"
        for variant in [*ORDERS, "headlex"]:
            started = time.process_time()
            if variant == "headlex":
                model = headlex.train(headlex.collect(trees), HeadlexSettings(), jobs=1)
            else:
                settings = Settings(variant)
                collector = TreeletCollector()
                collector.add(changed if settings.transformed else trees)
                model = train(collector, settings, jobs=1)
            cells = []
            for test, words in tests.items():
                given_trees = changed_parses[test] if variant.startswith("treelet") else parses[test]
                for best in ([each[:1] for each in given_trees], given_trees):
                    if variant.startswith("treelet"):
                        totals = model.score_sentences(best, transformed=True)
                    else:
                        totals = model.score_sentences(best)
                    cells.append(f"{perplexity(totals, words):.1f}")
            seconds = time.process_time() - started
            print(
                f"| {size} | {NAMES.get(variant, 'HEADLEX')} | {' | '.join(cells)} |", f"({seconds:.0f} s)", flush=True
            )
        if given.latent and number == 0:
            grammar = read_grammar(given.latent)
            values = {test: perplexity(inside_all(grammar, words), words) for test, words in tests.items()}
            print(f"| {size} | PCFG-LA | " + " | ".join(f"| {value:.1f}" for value in values.values()) + " |")
        values = {test: perplexity(found, tests[test]) for test, found in ngram_totals(trees, tests, 5).items()}
        print(f"| {size} | 5-gram | " + " | ".join(f"| {value:.1f}" for value in values.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
