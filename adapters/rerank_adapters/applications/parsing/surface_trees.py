"""`rerank trees surface`: the trees of a treebank over the tokens that text has, contractions joined.

The words of a multiword token (`6-7 im`, which is `in dem`) become one word, which stands where they stood. It takes
the lemma, the tags, the features, the head and the relation of its word nearest the root (the first one, of several),
and the dependents of all its words. The result is a tree: along the heads, the least depth of a token's words
decreases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from rerank_adapters.cli.options import SummaryLine, output_option
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins import open_atomic, open_text
from rerank_plugins.core.dependency_tree import ConlluSentence, read_conllu_lines

ID, FORM, HEAD, ENHANCED = 0, 1, 6, 8  # columns


@click.command("surface")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--every", type=click.IntRange(2), metavar="N", help="Write only every Nth tree, to test models on.")
@click.option("--except-every", type=click.IntRange(2), metavar="N", help="Write the other trees, to train them on.")
@output_option("Write the trees to this file.")
def command(paths: tuple[str, ...], every: int | None, except_every: int | None, output: Path) -> None:
    """Write the trees of a treebank over the tokens of text.

    FILEs are CoNLL-U, compressed or not. Treebanks split contractions into words: German `im` is `in dem`, French `du`
    is `de le`. Text has the contractions, and so have n-best lists. Here the words of each multiword token become one
    word with the form of the token, the head, relation, tags and features of its word nearest the root, and the
    dependents of all its words.

    \b
    rerank trees surface gsd.conllu.xz pud.conllu.xz -o german.conllu
    rerank train dependency-parser german.conllu --language de -o german.biaffine
    rerank trees surface gsd.conllu.xz --except-every 5 -o train.conllu
    rerank trees surface gsd.conllu.xz --every 5 -o dev.conllu
    """  # noqa: D301
    summary_line = SummaryLine()
    if every and except_every:
        raise click.UsageError("give either --every or --except-every, not both")
    read = written = 0
    with open_atomic(output) as out, CountingBar("trees") as bar:
        for path in paths:
            with open_text(path) as lines:
                for sentence in surface_sentences(lines, path):
                    read += 1
                    if (every and read % every) or (except_every and not read % except_every):
                        continue
                    out.writelines(f"{line}\n" for line in [*sentence, ""])
                    written += 1
                    bar.add(1)
    summary_line.wrote(counted(written, "tree"), output)


def surface_sentences(lines: Iterable[str], path: str) -> Iterator[list[str]]:
    """The lines of each sentence of a CoNLL-U file, over surface tokens, with its comments and without empty nodes.

    Raises FormatError as `read_conllu` does.
    """
    for sentence in read_conllu_lines(lines, path):
        yield _joined(sentence)


def _joined(sentence: ConlluSentence) -> list[str]:
    """The lines of the sentence over surface tokens."""
    heads, tokens = sentence.tree.heads, dict(_tokens(sentence.others))
    depths = depths_of(heads)
    new, tops, word = [0] * len(heads), [], 0
    while word < len(heads):
        last, form = tokens.get(word + 1, (word + 1, ""))
        words = range(word, min(last, len(heads)))
        top = min(words, key=lambda each: depths[each])
        tops.append((top, form))
        for each in words:
            new[each] = len(tops)
        word = words.stop
    result = [line for line in sentence.others if line.startswith("#")]
    for number, (top, form) in enumerate(tops, 1):
        columns, head = [*sentence.rows[top][1]], heads[top]
        columns[ID], columns[HEAD] = str(number), str(new[head] if head >= 0 else 0)
        columns[FORM] = form or columns[FORM]
        columns[ENHANCED:] = ["_"] * len(columns[ENHANCED:])
        result.append("\t".join(columns))
    return result


def _tokens(lines: Iterable[str]) -> Iterator[tuple[int, tuple[int, str]]]:
    """The multiword tokens among the lines: the number of the first word, that of the last one, and the form."""
    for line in lines:
        columns = line.split("\t")
        start, _, end = columns[ID].partition("-")
        if start.isdecimal() and end.isdecimal():
            yield int(start), (int(end), columns[FORM])


def depths_of(heads: Sequence[int]) -> list[int]:
    """The number of arcs between each word and the root symbol.

    >>> depths_of((1, -1, 1, 2))
    [2, 1, 2, 3]
    """
    depths = [0] * len(heads)
    for word in range(len(heads)):
        path = []
        node = word
        while node >= 0 and not depths[node]:
            path.append(node)
            node = heads[node]
        for number, each in enumerate(reversed(path), 1 + (depths[node] if node >= 0 else 0)):
            depths[each] = number
    return depths
