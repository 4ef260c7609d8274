"""CoNLL-U over surface tokens: the words of a multiword token (`6-7 im`, which is `in dem`) become one word.

Treebanks split contractions into syntactic words; text that nobody has analysed has the contractions. A model that is
trained on both needs one of the two forms. Here the token stands where its words stood. It takes the lemma, the tags,
the features, the head and the relation of its word nearest the root (the first one, of several), and the dependents of
all its words. The result is a tree: along the heads, the least depth of a token's words decreases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rerank_plugins.core.dependency_tree import read_conllu

ID, FORM, HEAD, ENHANCED = 0, 1, 6, 8  # columns
Row = list[str]


@dataclass
class _Sentence:
    """The lines of a sentence; `tokens` maps the first word of a multiword token to its last word and its form."""

    comments: list[str] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)
    tokens: dict[int, tuple[int, str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def surface_sentences(lines: Iterable[str], path: str) -> Iterator[list[str]]:
    """The lines of each sentence of a CoNLL-U file, over surface tokens, with its comments and without empty nodes.

    Raises FormatError as `read_conllu` does.
    """
    sentence = _Sentence()
    first = 1
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if text.strip():
            _add(sentence, text)
            continue
        if sentence.words:
            yield _joined(sentence, path, first)
        sentence, first = _Sentence(), number + 1
    if sentence.words:
        yield _joined(sentence, path, first)


def _add(sentence: _Sentence, line: str) -> None:
    if line.startswith("#"):
        sentence.comments.append(line)
        return
    sentence.lines.append(line)
    columns = line.split("\t")
    start, _, end = columns[ID].partition("-")
    if end and start.isdecimal() and end.isdecimal() and len(columns) > FORM:
        sentence.tokens[int(start)] = int(end), columns[FORM]
    elif "." not in columns[ID]:
        sentence.words.append(columns)


def _joined(sentence: _Sentence, path: str, first: int) -> list[str]:
    """The lines of the sentence, whose tree is checked; `first` is the number of its first line in the file."""
    padding = [""] * (first - 1)
    comments = ["#"] * len(sentence.comments)
    (tree,) = read_conllu([*padding, *comments, *sentence.lines], path)
    depths = depths_of(tree.heads)
    new, rows, word = [0] * len(tree.heads), [], 0
    while word < len(tree.heads):
        last, form = sentence.tokens.get(word + 1, (word + 1, ""))
        words = range(word, min(last, len(tree.heads)))
        top = min(words, key=lambda each: depths[each])
        rows.append((tree.heads[top], [*sentence.words[top]], form))
        for each in words:
            new[each] = len(rows)
        word = words.stop
    result = list(sentence.comments)
    for number, (head, columns, form) in enumerate(rows, 1):
        columns[ID], columns[HEAD] = str(number), str(new[head] if head >= 0 else 0)
        columns[FORM] = form or columns[FORM]
        columns[ENHANCED:] = ["_"] * len(columns[ENHANCED:])
        result.append("\t".join(columns))
    return result


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
