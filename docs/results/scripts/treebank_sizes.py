"""Print what the models of a language are worth by the number of trees that they learn from (docs/languages.md).

Of EWT and GUM together (English), evenly spaced dependency trees train a parser, with the word vectors of one text for
all sizes, and, as phrases, a grammar, a grammar for the HHMM (binarised to the left) and a treelet model; their words
train trigrams. Measured are the development sets of both treebanks. The first table has UAS and LAS of the parser and
of the grammar's parses, tags predicted, and F1 of these. The second has perplexities per word, ends of sentences
included; that of the treelets is over the ten best parses of the grammar, an upper bound. All its models have read, and
predict, words that occur at least twice in the smallest set; other words are signatures. With --lists, those lists
are reranked by the models of the first table, as in converted_trees.

DATA is a folder with treebank_{ewt,gum}/{ewt,gum}-{train,dev}.conllu.xz.

\b
    python -m docs.results.scripts.treebank_sizes DATA --text textbooks.txt.xz
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np

from docs.results.scripts.closed_trees import with_words
from docs.results.scripts.converted_trees import bleu_table, perplexity, trained
from docs.results.scripts.experiment import FILE, FOLDER, Listed, experiment, file_of, say
from docs.results.scripts.small_treebank import read
from docs.results.scripts.texts import SHORT, ngram_model
from rerank_plugins import DependencyTree, SentenceModel, Tree
from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.constituency.treebank_files import read_treebank
from rerank_plugins.core.dependency_tree import write_conllu
from rerank_plugins.dependency.biaffine.network import Sizes
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.biaffine.parsing import parse_all
from rerank_plugins.dependency.biaffine.training import Schedule, train
from rerank_plugins.dependency.biaffine.word_vectors import word_vectors
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.dependency_constituents import to_dependencies
from rerank_plugins.kit.trees.parseval import Attachment, Parseval
from rerank_plugins.kit.vocabulary.signatures import closed
from rerank_plugins.treelet.language_model import TreeletLanguageModel

FILES = ("treebank_ewt/ewt-{}.conllu.xz", "treebank_gum/gum-{}.conllu.xz")
SIZES = (1_000, 5_000, 15_000)
PARSING, PERPLEXITY = TABLES = ("parsing", "perplexity")
HEADS = {
    PARSING: "| trees | words | epochs | parser: UAS | LAS | grammar: F1 | UAS | LAS |",
    PERPLEXITY: "| trees | grammar | HHMM | treelets | trigrams |",
}


def evenly(trees: Sequence[DependencyTree], number: int) -> list[DependencyTree]:
    """So many of the trees, evenly spaced, or all."""
    return [trees[place] for place in np.linspace(0, len(trees) - 1, min(number, len(trees))).round().astype(int)]


def converted(trees: Sequence[DependencyTree], file: Path) -> list[Tree]:
    """The trees as constituents, by way of a file."""
    file.write_text("".join(map(write_conllu, trees)), encoding="utf-8")
    return read_treebank(file)


def frequent(trees: Iterable[Tree]) -> set[str]:
    """The words that occur at least twice."""
    return {word for word, count in Counter(word for tree in trees for word in tree.words()).items() if count > 1}


def attachment(parser: BiaffineModel, gold: Sequence[DependencyTree]) -> str:
    """The cells UAS and LAS of a parser."""
    scores = Attachment()
    for tree, parse in zip(gold, parse_all(parser, [tree.words for tree in gold]), strict=True):
        scores.add(tree, parse)
    return f"{scores.percent()['UAS']:.1f} | {scores.percent()['LAS']:.1f}"


def parses(parser: PcfgParser, gold: Sequence[Tree]) -> str:
    """The cells F1, UAS and LAS of a grammar, the latter against the projective trees."""
    brackets, heads = Parseval(), Attachment()
    for tree, parse in zip(gold, parser.parse([tree.words() for tree in gold]), strict=True):
        brackets.add(tree, parse.tree)
        heads.add(to_dependencies(tree), to_dependencies(parse.tree) if parse.tree else None)
    return f"{brackets.percent()['F1']:.1f} | {heads.percent()['UAS']:.1f} | {heads.percent()['LAS']:.1f}"


def perplexities(trees: Sequence[Tree], gold: Sequence[Tree], splits: int, name: str, folder: Path) -> str:
    """The cells of a grammar, the HHMM, treelets and trigrams that learn from these trees, over signatures as words."""
    files, words = trained(name, list(trees), splits, folder), [tree.words() for tree in gold]
    models: tuple[SentenceModel, ...] = (
        PcfgLanguageModel(model=files["pcfg"], unknown_types=1),
        HhmmLanguageModel(model=files["hhmm"], unknown_types=1),
        TreeletLanguageModel(model=files["treelet"], parser=PcfgParser(files["pcfg"], k=10), unknown_types=1),
        ngram_model([tree.words() for tree in trees], 3, folder / f"{name}.ngram"),
    )
    return " | ".join(f"{perplexity(model, words):.1f}" for model in models)


@experiment("treebank_sizes", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--text", required=True, type=FILE, help="Text for word vectors, a tokenised sentence in each line.")
@click.option("--sizes", type=Listed(int), default=",".join(map(str, SIZES)), help="Numbers of trees, rising.")
@click.option("--epochs", type=int, help="Passes of the parser over the trees.  [default: that of the trainer]")
@click.option("--splits", default=2, help="Rounds of latent splitting.")
@click.option("--sentences", default=300, help="Measure the grammars on this many sentences of up to 40 words.")
@click.option("--tables", type=Listed(str, TABLES), default=",".join(TABLES), help="Print these tables.")
@click.option("--lists", type=FOLDER, help="Rerank {tune,test}.nbest of this folder, with .de and .en.")
@click.option("--most", default=100, help="Rerank this many lists of each set.")
def main(
    data: Path, text: Path, sizes: tuple[int, ...], epochs: int | None, splits: int, sentences: int,
    tables: tuple[str, ...], lists: Path | None, most: int,
) -> None:  # fmt: skip
    """Train and measure the models of each size and print the tables."""
    trees, gold = (
        [tree for name in FILES for tree in read(file_of(data, name.format(part)))] for part in ("train", "dev")
    )
    with open_text(text) as lines:
        vectors = word_vectors((line.split() for line in lines), Sizes().vector, np.random.default_rng(0))
    rows: dict[str, list[str]] = {table: [] for table in tables}
    models, vocabulary = {}, set[str]()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        some = converted(evenly([tree for tree in gold if len(tree.words) <= SHORT], sentences), place / "gold.conllu")
        for size in sizes:
            part, name = evenly(trees, size), f"{size}-trees"
            phrases = converted(part, place / f"{name}.conllu")
            if PARSING in tables:
                say(f"{name}: parser")
                words = sum(len(tree.words) for tree in part)
                schedule = Schedule.of_treebank(words, epochs)
                parser = train([part], vectors, "en", np.random.default_rng(1), None, schedule)
                models[name] = trained(name, phrases, splits, place)
                cells = attachment(parser, gold), parses(PcfgParser(models[name]["pcfg"]), some)
                rows[PARSING].append(" | ".join([f"{len(part):,} | {words:,} | {schedule.epochs}", *cells]))
            if PERPLEXITY in tables:
                vocabulary = vocabulary or frequent(phrases)
                learnt, measured = (
                    [with_words(tree, closed(tree.words(), vocabulary)) for tree in bank] for bank in (phrases, some)
                )
                cell = perplexities(learnt, measured, splits, f"{name}, signatures", place)
                rows[PERPLEXITY].append(f"{len(part):,} | {cell}")
        for table, lines_of_table in rows.items():
            print(f"\n{HEADS[table]}\n|{' ---: |' * (HEADS[table].count('|') - 1)}")
            print(*(f"| {row} |" for row in lines_of_table), sep="\n", flush=True)
        if lists and models:
            bleu_table(lists, models, most)


if __name__ == "__main__":
    main()
