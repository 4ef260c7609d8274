"""Writes an explanation as lines of text, two hypotheses above or beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING

from rerank_adapters.report.tables import groups_that_fit
from rerank_adapters.report.words import marked
from rerank_plugins import Parse
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree

if TYPE_CHECKING:
    from rerank_adapters.report.explanation import Explanation, FeatureLead, Parses, Side, WordScores

NAME_WIDTH = 26  # columns of the name of a feature
NUMBER_WIDTH = 10  # columns of a weight, a value, or the part of a feature
BAR_WIDTH = 5  # columns of the longest bar, on each side of its middle
LABEL_WIDTH = 14  # columns before the words of a sentence


def explanation_lines(explanation: Explanation, features: int, width: int) -> Iterator[str]:
    """The explanation on lines of at most `width` columns where words allow it, with so many features."""
    yield from _sentences(explanation, width)
    yield ""
    yield from _contributions(explanation, features, width)
    if explanation.words:
        yield ""
        yield from _words(explanation, width)
    for parses in explanation.parses:
        for kind in (_dependencies, _constituents):
            lines = list(kind(parses, (width - 3) // 2))
            if lines:
                yield ""
                yield from lines


def _sentences(explanation: Explanation, width: int) -> Iterator[str]:
    first, second = explanation.first, explanation.second
    yield f"Segment {explanation.segment_id}: A, {first.name}, against B, {second.name}"
    lines = [("source", explanation.source)] if explanation.source is not None else []
    lines += [("reference", reference) for reference in explanation.references]
    for letter, side in (("A", first), ("B", second)):
        lines += [(letter, side.text), ("", _places(side, explanation.hypotheses))]
    lines.append(("B to A", marked(second.text, first.text)))
    for label, text in lines:
        for number, line in enumerate(wrap(text or "", max(width - 12, 20), break_on_hyphens=False) or [""]):
            yield f"  {label if number == 0 else '':<10}{line}".rstrip()


def _places(side: Side, hypotheses: int) -> str:
    metrics = "".join(f", {name} {score:.2f}" for name, score in side.metrics.items())
    places = f"rank {side.rank} of {hypotheses}, after reranking {side.new_rank}"
    return f"({places}; score {side.score:.4g}{metrics})"


def _contributions(explanation: Explanation, count: int, width: int) -> Iterator[str]:
    rows = explanation.contributions
    lead = sum(row.lead for row in rows)
    yield f"A leads by {lead:+.4g}: weight × (value of A − value of B)"
    if explanation.decision == "mbr":
        yield "  (of the model score; MBR chooses by the expected metric)"
    heads = ("weight", "A", "B", "adds")
    numbers = "".join(f"{head:>{NUMBER_WIDTH}}" for head in heads)
    yield f"  {'feature':<{NAME_WIDTH}}{numbers} {'B':<{BAR_WIDTH}}|{'A':>{BAR_WIDTH}}"
    longest = max((abs(row.lead) for row in rows), default=0.0) or 1.0
    for row in rows[:count]:
        cells = "".join(f"{_number(value):>{NUMBER_WIDTH}}" for value in (row.weight, row.first, row.second))
        cells += f"{_number(row.lead, '+'):>{NUMBER_WIDTH}}"
        yield f"  {_cut(row.feature, NAME_WIDTH):<{NAME_WIDTH}}{cells} {_bar(row.lead / longest)}".rstrip()
    others = rows[count:]
    if others:
        rest = f"{len(others)} other features"
        adds = _number(sum(row.lead for row in others), "+")
        yield f"  {rest:<{NAME_WIDTH}}{'':{3 * NUMBER_WIDTH}}{adds:>{NUMBER_WIDTH}}"
    families = _families(rows)
    if len(families) < len(rows):
        sums = "by family: " + ", ".join(f"{name} {value:+.4g}" for name, value in families if value)
        yield from wrap(sums, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _number(value: float, sign: str = "-") -> str:
    """The value in four digits, or in three where a blank before it would otherwise find no room in its column."""
    written = f"{value:{sign}.4g}"
    return written if len(written) < NUMBER_WIDTH else f"{value:{sign}.3g}"


def _families(rows: Sequence[FeatureLead]) -> list[tuple[str, float]]:
    ordered = sorted(rows, key=lambda row: row.family)
    sums = [(name, sum(row.lead for row in group)) for name, group in groupby(ordered, lambda row: row.family)]
    return sorted(sums, key=lambda pair: -abs(pair[1]))


def _bar(part: float) -> str:
    """A bar to the right for A, to the left for B; 1 is the longest."""
    cells = "█" * round(abs(part) * BAR_WIDTH)
    return f"{'':{BAR_WIDTH}}|{cells}" if part > 0 else f"{cells:>{BAR_WIDTH}}|"


def _words(explanation: Explanation, width: int) -> Iterator[str]:
    yield "Scores of words (natural logs; * marks words that the other one lacks)"
    for letter, of_side in (("A", "first"), ("B", "second")):
        other = "second" if of_side == "first" else "first"
        tokens = [tuple(word for word, _ in getattr(row, of_side) if word != "</s>") for row in explanation.words]
        for words in dict.fromkeys(tokens):
            rows = [row for row, own in zip(explanation.words, tokens, strict=True) if own == words]
            others = [word for word, _ in getattr(rows[0], other) if word != "</s>"]
            yield from _word_block(letter, words, _lacking(words, others), rows, of_side, width)


def _word_block(
    letter: str, words: Sequence[str], new: set[int], rows: Sequence[WordScores], of_side: str, width: int
) -> Iterator[str]:
    """The words of one sentence, and a line of scores below them for each model; wrapped to the width."""
    heads = ["sum", *(f"*{word}" if i in new else word for i, word in enumerate(words)), "</s>"]
    columns = []
    for row in rows:
        values = [f"{value:.2f}" for _, value in getattr(row, of_side)]
        values += [""] * (len(words) + 1 - len(values))
        columns.append([f"{sum(value for _, value in getattr(row, of_side)):.2f}", *values])
    widths = [max(map(len, cells)) + 2 for cells in zip(heads, *columns, strict=True)]
    labels = [letter, *(_cut(", ".join(row.labels), LABEL_WIDTH) for row in rows)]
    for group in groups_that_fit(widths, width - LABEL_WIDTH - 2):
        for label, cells in zip(labels, (heads, *columns), strict=True):
            yield f"  {label:<{LABEL_WIDTH}}{''.join(f'{cells[i]:>{widths[i]}}' for i in group)}".rstrip()


def _lacking(words: Sequence[str], others: Sequence[str]) -> set[int]:
    """The positions of the words that a difference of both sentences does not find in the other one."""
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    kept = {i for block in blocks for i in range(block.a, block.a + block.size)}
    return set(range(len(words))) - kept


def _dependencies(parses: Parses, width: int) -> Iterator[str]:
    """Words with relations and heads, in lines that put the same words of both sentences side by side."""
    first, second = parses.first.dependencies, parses.second.dependencies
    if first is None and second is None:
        return
    yield f"Dependencies ({parses.label}; * marks differences)"
    yield f"  {'A':<{width - 2}} * B"
    left, right = _arcs(first, width - 2), _arcs(second, width - 2)
    matcher = SequenceMatcher(None, [arc[0] for arc in left], [arc[0] for arc in right], autojunk=False)
    for _, i, j, k, m in matcher.get_opcodes():
        for a, b in zip_longest(left[i:j], right[k:m], fillvalue=("", "", "")):
            mark = " " if a[:2] == b[:2] else "*"
            yield f"  {a[2]:<{width - 2}} {mark} {b[2]}".rstrip()


def _arcs(tree: DependencyTree | None, width: int) -> list[tuple[str, str, str]]:
    """Each word, its relation and head, and a line with all three."""
    if tree is None:
        return [("", "", "(no tree)")]
    word_width = min(max(map(len, tree.words), default=0), width // 2 - 4)
    lines = []
    for word, head, relation in zip(tree.words, tree.heads, tree.relations, strict=True):
        above = tree.words[head] if head >= 0 else "-"
        line = _cut(f"{_cut(word, word_width):<{word_width}} {relation:<9} {above}", width)
        lines.append((word, f"{relation} {above}", line))
    return lines


def _constituents(parses: Parses, width: int) -> Iterator[str]:
    """The best trees of both sentences side by side, as outlines."""
    if parses.first.tree is None and parses.second.tree is None:
        return
    yield f"Constituents ({parses.label})"
    yield f"  {'A':<{width}} B"
    left, right = (_tree_lines(parse, width - 2) for parse in (parses.first, parses.second))
    for a, b in zip_longest(left, right, fillvalue=""):
        yield f"  {a:<{width}} {b}".rstrip()


def _tree_lines(parse: Parse, width: int) -> list[str]:
    if parse.tree is None:
        return ["(no tree)"]
    ln_p = f"ln p {parse.constituents[0].log_probability:.2f}"
    return [ln_p, *(_cut(line, width) for line in outline(parse.tree, width))]


def outline(tree: Tree, width: int, indent: int = 0) -> list[str]:
    """The tree on lines: a phrase that fits on one is in brackets, of others the children follow, indented.

    A phrase and the phrase that is its only child stand on one line: `ROOT S` is a ROOT over an S.
    """
    written = " " * indent + str(tree)
    if len(written) <= width or tree.is_preterminal:
        return [written]
    labels = [tree.label]
    while len(tree.subtrees) == 1 and not tree.subtrees[0].is_preterminal:
        tree = tree.subtrees[0]
        labels.append(tree.label)
    return [" " * indent + " ".join(labels), *(line for c in tree.subtrees for line in outline(c, width, indent + 1))]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
