"""Reads sentences that lack one word, in either of two forms, which the first line shows.

    incomplete<TAB>position<TAB>word     the output of `rerank words remove`, with the right answers
    he went ____ the house               plain text, a sentence a line; a run of three or more underscores is the gap

A position counts from 1 and is that of the missing word in the complete sentence. A gap is counted as in
`missing_words`: gap g is between the words g and g + 1 (from 0), so that the missing word has position g + 2. A
sentence of one word has no gap. Files are read and written in a stream.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rerank_adapters.data.given_texts import Text, blocks_of, texts_of
from rerank_adapters.text import TextPipeline
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.words import split_words
from rerank_plugins.kit.files.text import display_name, open_text

COLUMNS = ("incomplete", "position", "word")
BLANK = re.compile(r"_{3,}")
TEXTS_OF_BLOCK = 100  # texts that are tokenised at a time
MAX_DIGITS = 9  # of a position


@dataclass(frozen=True)
class Incomplete:
    """A sentence without one of its words; `gap` is where it is missing and `word` the word, None where unknown.

    `id` is the number of the sentence, from 0; `line` is its line in the file, from 1.
    """

    id: str
    words: tuple[str, ...]
    line: int
    gap: int | None = None
    word: str | None = None

    def restored(self, gap: int, word: str) -> str:
        """The sentence with a word in a gap."""
        return " ".join((*self.words[: gap + 1], word, *self.words[gap + 1 :]))

    @property
    def complete(self) -> str | None:
        """The sentence with its word, if that is known."""
        return None if self.gap is None or self.word is None else self.restored(self.gap, self.word)


def read_incomplete(
    texts: Iterable[Text] | Path, text: TextPipeline | None = None, *, gaps: bool = False
) -> Iterator[Incomplete]:
    """Yield the sentences of a file (`-` is stdin), or a caller's texts after the text steps; see `parse_incomplete`.

    Raises TypeError for a text in the place of several, and FormatError for a file that cannot be read.
    """
    if isinstance(texts, Path):
        with open_text(texts) as lines:
            yield from parse_incomplete(lines, display_name(texts), gaps=gaps)
        return
    blocks = blocks_of(texts_of(texts), text or TextPipeline(()), TEXTS_OF_BLOCK)
    for number, words in enumerate((words for block in blocks for words in block), 1):
        yield _of_words(words, number, "texts", gaps)


def parse_incomplete(lines: Iterable[str], name: str, *, gaps: bool = False) -> Iterator[Incomplete]:
    """Yield the sentences of the lines of a file; with `gaps`, all must record where the word is missing.

    Raises FormatError, with the file and line, for a line of another form, for an empty line, for a position or a blank
    that is not inside a sentence, and for a missing or a second blank.
    """
    stream = iter(lines)
    first = next(stream, None)
    if first is None:
        return
    if first.rstrip("\r\n").split("\t") == list(COLUMNS):
        yield from (_of_columns(line.rstrip("\r\n").split("\t"), number, name) for number, line in enumerate(stream, 2))
    else:
        lines = chain([first], stream)
        yield from (_of_words(split_words(line), number, name, gaps) for number, line in enumerate(lines, 1))


def incomplete_lines(sentences: Iterable[Incomplete]) -> Iterator[str]:
    """The lines of a file of sentences whose missing words are known, header first."""
    yield "\t".join(COLUMNS) + "\n"
    for sentence in sentences:
        assert sentence.gap is not None
        yield f"{' '.join(sentence.words)}\t{sentence.gap + 2}\t{sentence.word}\n"


def _of_columns(cells: Sequence[str], line: int, name: str) -> Incomplete:
    if len(cells) != len(COLUMNS):
        wanted = f"{len(cells)} columns, wanted {len(COLUMNS)}: {', '.join(COLUMNS)}"
        raise FormatError(wanted, path=name, line=line)
    words, position, word = tuple(split_words(cells[0])), cells[1], split_words(cells[2])
    _check_not_empty(words, line, name)
    if len(words) == 1:
        raise FormatError("a sentence of one word cannot lack an inner word", path=name, line=line)
    if not position.isdecimal() or len(position) > MAX_DIGITS or not 2 <= int(position) <= len(words):
        raise FormatError(f"position {position!r:.40}, wanted a number from 2 to {len(words)}", path=name, line=line)
    if len(word) != 1:
        raise FormatError(f"the missing word is {cells[2]!r}, wanted one word", path=name, line=line)
    return Incomplete(str(line - 2), words, line, int(position) - 2, word[0])


def _of_words(words: Sequence[str], line: int, name: str, gaps: bool) -> Incomplete:
    _check_not_empty(words, line, name)
    blanks = [place for place, word in enumerate(words) if BLANK.fullmatch(word)]
    if not blanks and not gaps:
        return Incomplete(str(line - 1), tuple(words), line)
    if len(blanks) != 1:
        found = f"{len(blanks)} blanks" if blanks else "no blank"
        raise FormatError(f"{found} in the sentence, wanted one (____)", path=name, line=line)
    (place,) = blanks
    if place in (0, len(words) - 1):
        where = "first" if place == 0 else "last"
        raise FormatError(f"the blank is the {where} word, wanted it between two words", path=name, line=line)
    return Incomplete(str(line - 1), (*words[:place], *words[place + 1 :]), line, place - 1)


def _check_not_empty(words: Sequence[str], line: int, name: str) -> None:
    if not words:
        raise FormatError("an empty line, wanted a sentence that lacks a word", path=name, line=line)
