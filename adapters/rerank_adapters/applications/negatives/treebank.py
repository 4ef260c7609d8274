"""`rerank negatives treebank`: pairs of the sentences of a treebank, of any language, and the same with an error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import numpy as np

from rerank_adapters.applications.negatives.broken_trees import KINDS, Grammar, Sentence, TreeBreaker
from rerank_adapters.applications.negatives.written_pairs import write_pairs
from rerank_adapters.cli.options import SummaryLine, output_option
from rerank_adapters.data.minimal_pairs import Pair
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError
from rerank_plugins.core.dependency_tree import read_conllu_lines
from rerank_plugins.kit.files.text import open_text

LEMMA, FEATURES = 2, 5  # columns of CoNLL-U
COLUMNS = ("phenomenon", "rule")


def read_sentences(lines: Iterable[str], path: str) -> Iterator[Sentence]:
    """The sentences of a CoNLL-U file with their lemmas and features. Raises FormatError as `read_conllu` does."""
    for tree, rows, _ in read_conllu_lines(lines, path):
        features = [dict(pair.split("=", 1) for pair in row[FEATURES].split("|") if "=" in pair) for _, row in rows]
        yield Sentence(tree, [row[LEMMA] for _, row in rows], features)


def broken_pairs(
    sentences: Iterable[Sentence], breaker: TreeBreaker, longest: int, rng: np.random.Generator
) -> Iterator[Pair]:
    """Pair each sentence of 2 to `longest` words with the same after a rule was broken, where one applies, lazily.

    The groups of a pair are the phenomenon and the rule.
    """
    for line, sentence in enumerate(sentences, 1):
        broken = breaker.broken(sentence, rng) if 1 < len(sentence.lemmas) <= longest else None
        if broken is not None:
            groups = dict(zip(COLUMNS, (broken.phenomenon, broken.rule), strict=True))
            yield Pair(" ".join(sentence.tree.words), " ".join(broken.words), groups, line)


@click.command("treebank")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="GOLD...")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)),
              help="Break rules of this kind. Repeatable.",
              show_default="all kinds")  # fmt: skip
@click.option(
    "--max-pairs", "each", type=click.IntRange(1), metavar="N", help="Make at most this many pairs by each rule."
)
@click.option("--max-length", "longest", type=click.IntRange(2), default=20, show_default=True, metavar="N",
              help="Leave out sentences of more words.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The seed of the random choices.")
@output_option("Write the pairs to this file.")
def command(
    paths: tuple[str, ...], kinds: tuple[str, ...], each: int | None, longest: int, seed: int, output: Path
) -> None:
    """Make minimal pairs of the sentences of treebanks (CoNLL-U with lemmas and features), of any language.

    The columns of the output are the sentence, the sentence with an error, the phenomenon (agreement, case or order)
    and the rule. The forms of words and the order of dependents are those that the treebanks show; the errors are
    forms with other features, and dependents on the other side of their heads. Of several rules that apply to a
    sentence, the one with the fewest pairs so far is chosen. A sentence with an error may be acceptable by chance.

    \b
    rerank trees surface gsd.conllu.xz -o german.conllu
    rerank negatives treebank german.conllu > pairs.tsv
    rerank acceptability pairs pairs.tsv -M own.ngram --by phenomenon
    """  # noqa: D301
    summary_line = SummaryLine()
    sentences = []
    for path in paths:
        with open_text(path) as lines:
            sentences += list(read_sentences(lines, path))
    breaker = TreeBreaker(Grammar.of(sentences), kinds or tuple(KINDS), each)

    def pairs() -> Iterator[Pair]:
        yield from broken_pairs(sentences, breaker, longest, np.random.default_rng(seed))
        if not breaker.counts:  # before the file has its name
            raise ConfigError(
                f"{', '.join(paths)}: no rule applies to any sentence: agreement and case need lemmas and features "
                f"(columns 3 and 6), order many trees"
            )

    written = write_pairs(pairs(), len(sentences), COLUMNS, output)
    summary_line.wrote(f"{counted(written, 'pair')} by {counted(len(breaker.counts), 'rule')}", output)
