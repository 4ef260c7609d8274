"""`rerank trees project`: trees for a language without a treebank, projected through word alignments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.chain.parse_pool import ParseCounts, parse_in_order
from rerank_adapters.commands import options
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.formats.pairs import read_sentence_pairs
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins import FormatError
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu, write_conllu
from rerank_plugins.kit.files.cached_parser import CachedParser
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text
from rerank_plugins.translation.projection_through_links import Projected, project

if TYPE_CHECKING:
    from rerank_adapters.chain.job import Job
    from rerank_plugins.translation.alignment.model import WordAlignmentModel

LONGEST = 40  # words on a side: longer pairs are left out
Words = tuple[str, ...]
Wanted = tuple[Words, bool]  # a sentence of the target side, and whether its tree is wanted
TargetTrees = Callable[[Iterable[Wanted]], Iterator[DependencyTree | None]]


@dataclass
class ProjectionCounts:
    """How many pairs were read, how many of them have a tree of the target side, and how many projected trees are kept.

    `words` are those of the trees that are kept, `density` is the sum of their densities.
    """

    pairs: int = 0
    with_tree: int = 0
    kept: int = 0
    words: int = 0
    density: float = 0.0


def project_trees(
    model: WordAlignmentModel, texts: Sequence[str], target_trees: TargetTrees, output: Path, least: float
) -> ProjectionCounts:
    """Write the projected trees of the source sides of sentence pairs whose density is `least` or more.

    `target_trees` gives the tree of each target side that is wanted, or None. Pairs with more than LONGEST words on a
    side, or with none, are left out. Raises FormatError, ConfigError.
    """
    counts = ProjectionCounts()
    with ExitStack() as files:
        out = files.enter_context(open_atomic(output))
        bar = files.enter_context(CountingBar("sentence pairs"))
        pairs, targets = tee(
            (tuple(source.split()), tuple(target.split())) for source, target in read_sentence_pairs(texts)
        )
        trees = target_trees((target, _fits(source, target)) for source, target in targets)
        for number, ((source, target), tree) in enumerate(zip(pairs, trees, strict=True), 1):
            bar.add(1)
            counts.pairs += 1
            usable = tree is not None and _fits(source, target)
            projected = _projected(model, source, tree) if tree is not None and usable else None
            counts.with_tree += usable
            if projected is not None and projected.density >= least:
                counts.kept += 1
                counts.words += len(source)
                counts.density += projected.density
                comments = {"sent_id": str(number), "text": " ".join(source), "density": f"{projected.density:.3f}"}
                out.write(write_conllu(projected.tree, comments))
    return counts


def _fits(source: Words, target: Words) -> bool:
    return min(len(source), len(target)) >= 1 and max(len(source), len(target)) <= LONGEST


def _projected(model: WordAlignmentModel, source: Words, tree: DependencyTree) -> Projected | None:
    source_words, target_words = (model.words_of(" ".join(words)) for words in (source, tree.words))
    aligned = model.align(source_words, [target_words], ln_p=False)
    return project(source, tree, aligned.forward.tolist(), aligned.backward[0].tolist())


def parsed_trees(parser: CachedParser, jobs: int) -> TargetTrees:
    """A source of trees that parses the sentences that are wanted."""

    def trees(sentences: Iterable[Wanted]) -> Iterator[DependencyTree | None]:
        texts = (words if wanted else () for words, wanted in sentences)
        for words, parse in parse_in_order(parser, texts, jobs, ParseCounts()):
            yield parse.dependencies if words else None

    return trees


def read_trees(path: str) -> TargetTrees:
    """A source of trees that reads those of a CoNLL-U file, which has them in the order of the sentences.

    Sentences whose words are not those of the next tree have none, as a parser leaves some sentences out. Raises
    FormatError where a tree is of none of the sentences that are left.
    """

    def trees(sentences: Iterable[Wanted]) -> Iterator[DependencyTree | None]:
        with open_text(path) as lines:
            waiting = enumerate(read_conllu(lines, path), 1)
            number, tree = next(waiting, (0, None))
            for words, _ in sentences:
                if tree is not None and tree.words == words:
                    yield tree
                    number, tree = next(waiting, (0, None))
                else:
                    yield None
            if tree is not None:
                text = " ".join(tree.words)
                problem = f"tree {number} is of no target sentence, in the order of the pairs: {text[:60]!r}"
                raise FormatError(problem, path=display_name(path))

    return trees


@click.command("project")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@click.option("--alignment", type=Path, required=True, metavar="MODEL",
              help="The word alignment model of `rerank train word-alignment`.")  # fmt: skip
@click.option("-p", "--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help=f"Parse the target side: {options.PLUGIN_HELP}.")  # fmt: skip
@click.option("--trees", metavar="FILE",
              help="Take the trees of the target side from this CoNLL-U file instead, in the order of the "
                   "sentences.")  # fmt: skip
@click.option("--density", type=click.FloatRange(0, 1), default=0.8, show_default=True,
              help="Keep trees in which at least this proportion of the words has a one-to-one link.")  # fmt: skip
@options.output_option("Where to write the trees, as CoNLL-U.")
@options.job_options("jobs")
def command(
    job: Job, texts: tuple[str, ...], alignment: Path, parser: str, trees: str | None, density: float, output: Path
) -> None:
    """Project trees to the source side of sentence pairs.

    The pairs are the lines of the files SOURCE and TARGET, or those of a single file, `source ||| target`. The target
    side is parsed, and its heads, relations and tags are carried over through word alignments (Hwa et al. 2005). Words
    without a counterpart are attached to a neighbour; `--density` leaves out trees with too many of them. The trees
    that are left train a parser of the source language.

    \b
    rerank train word-alignment train.de train.en -o de-en.align
    rerank trees project train.de train.en --alignment de-en.align \\
        -o train.de.conllu.xz
    rerank train dependency-parser train.de.conllu.xz --language de -o german.npz
    """  # noqa: D301
    from rerank_plugins.translation.alignment.model import read_model

    closing = SummaryLine()
    target_trees = read_trees(trees) if trees else parsed_trees(job.models.parser(parser), job.config.jobs)
    counts = project_trees(read_model(alignment), texts, target_trees, output, density)
    click.echo(
        f"{counted(counts.pairs, 'pair')}, {counts.with_tree:,} with a tree of up to {LONGEST} words on both sides; "
        f"mean density of the trees kept {counts.density / max(1, counts.kept):.2f}",
        err=True,
    )
    closing.wrote(f"{counted(counts.kept, 'tree')} of {counted(counts.words, 'word')}", output)
