"""Training a grammar from files of bracketed trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rerank_adapters.formats.compressed import open_text
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.models.pcfg.grammar import Grammar
from rerank_plugins.models.pcfg.split_merge import EmStep
from rerank_plugins.models.pcfg.tagged_words import Tagged, tagged_words
from rerank_plugins.models.pcfg.training import GrammarSettings, train_grammar
from rerank_plugins.parsers.pcfg_parser import PcfgParser
from rerank_plugins.trees.cleaning import CRAFT_LABELS, clean
from rerank_plugins.trees.constituency import Tree, read_trees
from rerank_plugins.trees.parseval import Parseval
from rerank_plugins.trees.penn import normal_form


def read_treebank(path: Path) -> list[Tree]:
    """The trees of a file, compressed or not. Raises FormatError."""
    with open_text(path) as lines:
        return list(read_trees(lines, str(path)))


def read_treebanks(paths: Iterable[Path], report: Callable[[str], None]) -> list[list[Tree]]:
    """The trees of files; `report` gets a line for each. Raises FormatError, also for a file without trees."""
    treebanks = []
    for path in paths:
        treebanks.append(read_treebank(path))
        if not treebanks[-1]:
            raise FormatError("no trees in it", path=str(path))
        report(f"{path}: {len(treebanks[-1]):,} trees")
    return treebanks


def conllu_tags(lines: Iterable[str], path: str) -> Iterator[tuple[str, str]]:
    """Words in normal form (trees/penn.py) and the treebank's own tags (XPOS, column 5) of CoNLL-U.

    Raises FormatError for lines too short.
    """
    for number, line in enumerate(lines, 1):
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) < 5 and columns[0] and not line.startswith("#"):
            wanted = f"expected 10 tab-separated CoNLL-U columns (at least 5), found {len(columns)}"
            raise FormatError(wanted, path=path, line=number)
        if columns[0].isdecimal():
            yield normal_form(columns[1]), columns[4]


def read_tagged(weights: Mapping[Path, float], report: Callable[[str], None]) -> Tagged:
    """How often each word has each tag in files: CoNLL-U where the name says so, else bracketed trees.

    A file's words count as often as its weight says. Raises FormatError.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for path, weight in weights.items():
        if ".conllu" in path.suffixes[-2:]:
            with open_text(path) as lines:
                found = Counter(conllu_tags(lines, str(path)))
            found = Counter({pair: weight * count for pair, count in found.items()})
        else:
            trees = (clean(tree, CRAFT_LABELS) for tree in read_treebank(path))
            found = tagged_words([tree for tree in trees if tree], weight)
        report(f"{path}: {len(found):,} words with a tag")
        counts.update(found)
    return counts


def parse_weights(given: Sequence[str], paths: Sequence[Path]) -> dict[Path, float]:
    """`FILE=WEIGHT` as weights of the files, 1 where nothing is said.

    Raises ConfigError for a weight that is no positive number and for a file that is not among the paths.
    """
    weights = dict.fromkeys(paths, 1.0)
    for each in given:
        name, _, value = each.rpartition("=")
        try:
            weight = float(value)
        except ValueError:
            weight = -1.0
        if Path(name) not in weights or not 0 < weight < float("inf"):
            raise ConfigError(f"--weight {each}: expected one of the files and a positive number, as {paths[0]}=0.3")
        weights[Path(name)] = weight
    return weights


def train(
    weights: Mapping[Path, float],
    settings: GrammarSettings,
    report: Callable[[str], None] = lambda line: None,
    tagged: Tagged | None = None,
) -> Grammar:
    """The grammar of treebanks by their weights; `report` gets a line for the trees and one per phase of training.

    `tagged` words are added to its lexicon.

    Raises FormatError, also for a file without trees.
    """
    treebanks = read_treebanks(weights, report)
    schedule = settings.schedule
    iterations = {"split": schedule.after_split, "merge": schedule.after_merge, "smooth": schedule.smoothing}

    def after(step: EmStep) -> None:
        if step.iteration + 1 == iterations[step.phase]:
            report(
                f"round {step.round} of {schedule.rounds}, {step.phase}: ln p of the trees {step.log_likelihood:,.0f}"
            )

    return train_grammar(treebanks, list(weights.values()), settings, after, tagged)


def held_out(model: Path, path: Path) -> Parseval:
    """How well a grammar parses the words of other trees. Raises FormatError."""

    def parsed(sentences: Sequence[tuple[str, ...]]) -> list[Tree | None]:
        return [parse.tree for parse in PcfgParser(model=model).parse(sentences)]

    return parses_of_treebank(path, parsed)


def parses_of_treebank(path: Path, parsed: Callable[[Sequence[tuple[str, ...]]], list[Tree | None]]) -> Parseval:
    """The scores of the parses of a treebank's sentences. Raises FormatError."""
    trees = [tree for tree in (clean(tree, CRAFT_LABELS) for tree in read_treebank(path)) if tree]
    found = Parseval()
    for tree, parse in zip(trees, parsed([tree.words() for tree in trees]), strict=True):
        found.add(tree, parse)
    return found
