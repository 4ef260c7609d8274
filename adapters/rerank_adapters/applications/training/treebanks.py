"""Reads and weighs files of bracketed trees, trains grammars on them, and tests parsers on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rerank_adapters.applications.training.grammar_options import GrammarFlags
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.model_file import write_grammar
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.constituency.split_merge import EmStep
from rerank_plugins.constituency.tagged_words import Tagged, tagged_words
from rerank_plugins.constituency.training import GrammarSettings, train_grammar
from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.parseval import Parseval
from rerank_plugins.kit.trees.spoken_trees import spoken_tree, spoken_word
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean, remove_empty

Words = tuple[str, ...]
Report = Callable[[str], None]
BLOCK = 16  # held-out sentences that are parsed between two steps of the bar


def read_treebank(path: Path) -> list[Tree]:
    """The trees of a file, compressed or not. Raises FormatError."""
    with open_text(path) as lines:
        return list(read_trees(lines, str(path)))


def treebank(path: Path, report: Report, *, spoken: bool = False) -> Iterator[Tree]:
    """Yield the trees of a file; then `report` gets a line. Raises FormatError, also for a file without trees.

    With `spoken`, the trees have no case and no punctuation (kit/trees/spoken_trees.py).
    """
    number = 0
    with open_text(path) as lines:
        for tree in read_trees(lines, str(path)):
            nonempty = remove_empty(tree) if spoken else tree
            kept = nonempty and spoken_tree(nonempty) if spoken else tree
            if kept is not None:
                number += 1
                yield kept
    if not number:
        raise FormatError("the file holds no trees", path=str(path))
    report(f"{path}: {number:,} trees")


def read_treebanks(paths: Iterable[Path], report: Report, *, spoken: bool = False) -> list[list[Tree]]:
    """The trees of each file, as `treebank` yields them."""
    return [list(treebank(path, report, spoken=spoken)) for path in paths]


def conllu_tags(lines: Iterable[str], path: str) -> Iterator[tuple[str, str]]:
    """Words of CoNLL-U in normal form (core/brackets_and_quotes.py), each with the treebank's own tag (XPOS, column 5).

    Raises FormatError for a line of fewer than 5 columns.
    """
    for number, line in enumerate(lines, 1):
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) < 5 and columns[0] and not line.startswith("#"):
            wanted = f"expected 10 tab-separated CoNLL-U columns (at least 5), found {len(columns)}"
            raise FormatError(wanted, path=path, line=number)
        if columns[0].isdecimal():
            yield normal_form(columns[1]), columns[4]


def read_tagged(weights: Mapping[Path, float], report: Report, *, spoken: bool = False) -> Tagged:
    """How often each word occurs with each tag in files: CoNLL-U where the name ends so, else bracketed trees.

    The counts of each file are multiplied by its weight. With `spoken`, the words have no case and no punctuation.
    Raises FormatError.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for path, weight in weights.items():
        if ".conllu" in path.suffixes[-2:]:
            with open_text(path) as lines:
                unweighted = Counter(conllu_tags(lines, str(path)))
            tagged = Counter({pair: weight * count for pair, count in unweighted.items()})
        else:
            trees = (clean(tree, CRAFT_LABELS) for tree in read_treebank(path))
            tagged = tagged_words([tree for tree in trees if tree], weight)
        report(f"{path}: {len(tagged):,} distinct pairs of a word and a tag")
        counts.update(tagged)
    if not spoken:
        return counts
    words: Counter[tuple[str, str]] = Counter()
    for (written, tag), count in counts.items():
        if word := spoken_word(written):
            words[word, tag] += count
    return words


def parse_weights(options: Sequence[str], paths: Sequence[Path]) -> dict[Path, float]:
    """The weight of each file: 1, unless an option `FILE=WEIGHT` says otherwise.

    Raises ConfigError for a weight that is not a positive number and for a file that is not among the paths.
    """
    weights = dict.fromkeys(paths, 1.0)
    for option in options:
        name, _, value = option.rpartition("=")
        try:
            weight = float(value)
        except ValueError:
            weight = -1.0
        if Path(name) not in weights or not 0 < weight < float("inf"):
            raise ConfigError(f"--weight {option}: expected one of the files and a positive number, as {paths[0]}=0.3")
        weights[Path(name)] = weight
    return weights


def weigh_files(
    inputs: Sequence[Path], tagged: Sequence[Path], options: Sequence[str], report: Report, *, spoken: bool = False
) -> tuple[dict[Path, float], Tagged]:
    """The weight of each treebank, and the weighted counts of the tagged words. Raises ConfigError, FormatError."""
    weights = parse_weights(options, [*inputs, *tagged])
    counts = read_tagged({path: weights[path] for path in tagged}, report, spoken=spoken)
    return {path: weights[path] for path in inputs}, counts


def train_and_write(flags: GrammarFlags, settings: GrammarSettings, report: Report) -> tuple[Grammar, int]:
    """Train a grammar on the files of the flags and write it; return it with the size of its file in bytes.

    Raises ConfigError, FormatError, OSError.
    """
    weights, tagged = weigh_files(flags.inputs, flags.tagged, flags.weights, report, spoken=flags.spoken)
    with StatusLine() as stages:
        grammar = train(weights, settings, report, stages, tagged, spoken=flags.spoken)
    return grammar, write_grammar(grammar, flags.output, compact=flags.compact)


def train(
    weights: Mapping[Path, float],
    settings: GrammarSettings,
    report: Report = lambda line: None,
    progress: Report = lambda stage: None,
    tagged: Tagged | None = None,
    *,
    spoken: bool = False,
) -> Grammar:
    """A grammar of treebanks, each with its weight; `tagged` words are added to its lexicon.

    With `spoken`, the trees lose case and punctuation; the `tagged` words have lost them already.

    `report` gets a line for each file and each phase of training, `progress` one for each iteration of EM. Raises
    FormatError, also for a file without trees.
    """
    treebanks = [treebank(path, report, spoken=spoken) for path in weights]
    schedule = settings.schedule
    iterations = {"split": schedule.after_split, "merge": schedule.after_merge}
    iterations |= {"whole": schedule.whole, "smooth": schedule.smoothing}

    def after(step: EmStep) -> None:
        phase = f"round {step.round} of {schedule.rounds}, {step.phase}"
        progress(f"{phase}: iteration {step.iteration + 1} of {iterations[step.phase]}")
        if step.iteration + 1 == iterations[step.phase] and step.phase == "smooth":
            report(f"{phase}: ln p of the trees {step.log_likelihood:,.0f}")

    return train_grammar(treebanks, list(weights.values()), settings, after, tagged)


def grammar_summary(grammar: Grammar) -> str:
    """The numbers of symbols, rules and words, in a line."""
    return (
        f"{grammar.size:,} symbols of {len(grammar.bases)} bases, {len(grammar.binary):,} binary and "
        f"{len(grammar.unary):,} unary rules, {len(grammar.lexicon.words):,} words"
    )


def parse_held_out(model: Path, path: Path) -> Parseval:
    """How well a grammar parses the words of held-out trees. Raises FormatError, ModelError."""
    parser = PcfgParser(model=model)
    return evaluate_on_treebank(path, lambda sentences: [parse.tree for parse in parser.parse(sentences)])


def evaluate_on_treebank(path: Path, parse: Callable[[Sequence[Words]], list[Tree | None]]) -> Parseval:
    """The scores of the parses of a treebank's sentences. Raises FormatError."""
    trees = [tree for tree in (clean(tree, CRAFT_LABELS) for tree in read_treebank(path)) if tree]
    scores = Parseval()
    with CountingBar("held-out sentences", len(trees)) as bar:
        for start in range(0, len(trees), BLOCK):
            block = trees[start : start + BLOCK]
            for gold, parsed in zip(block, parse([tree.words() for tree in block]), strict=True):
                scores.add(gold, parsed)
            bar.add(len(block))
    return scores
