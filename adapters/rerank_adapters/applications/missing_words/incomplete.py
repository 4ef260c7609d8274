"""Files of sentences that lack one word, in any of three forms, which the first line shows; `rerank words remove`.

    incomplete<TAB>position<TAB>word     what `rerank words remove` writes, with the right answers
    "id","sentence"                      CSV of the billion-word imputation task, whose submissions have the same form
    he went ____ the house               plain text, a sentence a line; a run of three or more underscores is the gap

A position counts from 1 and is that of the missing word in the complete sentence. A gap is counted as in
`missing_words`: gap g is between the words g and g + 1 (from 0), so that the missing word has position g + 2. Files are
read and written in a stream.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TextIO

import click
import numpy as np

from rerank_adapters.commands.options import output_file, output_option, seed_option
from rerank_adapters.commands.summary_line import SummaryLine
from rerank_adapters.given_texts import Text, blocks_of, checked_texts
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_adapters.text import TextPipeline
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, open_atomic, open_text

HEADER = ("id", "sentence")
HEADER_LINE = '"id","sentence"\n'
COLUMNS = ("incomplete", "position", "word")
BLANK = re.compile(r"_{3,}")
TEXTS_AT_A_TIME = 100  # texts that are tokenised at a time


def is_header(line: str) -> bool:
    """Whether a line is the header of such a file."""
    return [cell.strip().strip('"').lower() for cell in line.split(",")] == list(HEADER)


def parse_rows(lines: Iterable[str], name: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line number, id, sentence) of the rows after the header. Raises FormatError, with the file and line.

    An id that comes again, a row that is not CSV or has other columns, and a first line that is no header are errors.
    """
    reader = csv.reader(lines, strict=True)
    seen: set[str] = set()
    try:
        if tuple(cell.strip().lower() for cell in next(reader, [])) != HEADER:
            raise FormatError('not a file of the imputation task: wanted the header "id","sentence"', path=name, line=1)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(HEADER):
                raise FormatError(f"{len(cells)} columns, wanted id and sentence", path=name, line=reader.line_num)
            if cells[0] in seen:
                raise FormatError(f"sentence {cells[0]} comes again", path=name, line=reader.line_num)
            seen.add(cells[0])
            yield reader.line_num, cells[0], cells[1]
    except csv.Error as error:
        raise FormatError(f"not CSV: {error}", path=name, line=reader.line_num) from None


def row_lines(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The lines of a file of (id, sentence) rows, header first."""
    yield HEADER_LINE
    for id_, sentence in rows:
        yield row_line(id_, sentence)


def row_line(id_: str, sentence: str) -> str:
    r"""A row as a line, with its end; an id that is a number is not quoted.

    >>> row_line("1", 'he said " no')
    '1,"he said "" no"\n'
    """
    return f"{id_ if id_.isdigit() else _quoted(id_)},{_quoted(sentence)}\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True)
class Incomplete:
    """A sentence without one of its words; `gap` is where it is missing and `word` the word, None where unknown.

    `id` is that of the file or the number of the sentence, from 0; `line` is its line in the file, from 1.
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


def parse_incomplete(lines: Iterable[str], name: str, *, gaps: bool = False) -> Iterator[Incomplete]:
    """Yield the sentences of a file in any of the forms; with `gaps`, all must record where the word is missing.

    Raises FormatError, with the file and line, for a line of another form, for an empty line and a sentence of one
    word, for a position or a blank that is not inside a sentence, and for a missing or a second blank.
    """
    stream = iter(lines)
    first = next(stream, "")
    stream = chain([first] if first else [], stream)
    if first.rstrip("\r\n").split("\t") == list(COLUMNS):
        yield from _tabs(stream, name)
    elif is_header(first):
        if gaps:
            raise FormatError("the sentences of the imputation task do not record where a word is missing", path=name)
        for number, (line, id_, sentence) in enumerate(parse_rows(stream, name)):
            yield Incomplete(id_ or str(number), _checked(sentence.split(), name, line), line)
    else:
        yield from (incomplete_of(line.split(), number, name, gaps=gaps) for number, line in enumerate(stream, 1))


def incomplete_texts(texts: Iterable[Text] | Path, text: TextPipeline, *, gaps: bool = False) -> Iterator[Incomplete]:
    """Yield the texts of a caller after the text steps, or those of a file in any of the forms; see `parse_incomplete`.

    Raises TypeError for a text in the place of several.
    """
    if isinstance(texts, Path):
        with open_text(texts) as lines:
            yield from parse_incomplete(lines, display_name(texts), gaps=gaps)
        return
    sentences = (words for block in blocks_of(checked_texts(texts), text, TEXTS_AT_A_TIME) for words in block)
    for number, words in enumerate(sentences, 1):
        yield incomplete_of(words, number, "texts", gaps=gaps)


def incomplete_lines(sentences: Iterable[Incomplete]) -> Iterator[str]:
    """The lines of a file of sentences whose missing words are known, header first."""
    yield "\t".join(COLUMNS) + "\n"
    for sentence in sentences:
        assert sentence.gap is not None
        yield f"{' '.join(sentence.words)}\t{sentence.gap + 2}\t{sentence.word}\n"


def _tabs(lines: Iterator[str], name: str) -> Iterator[Incomplete]:
    next(lines)
    for number, line in enumerate(lines):
        cells, at = line.rstrip("\r\n").split("\t"), number + 2
        if len(cells) != len(COLUMNS):
            wanted = f"{len(cells)} columns, wanted {len(COLUMNS)}: {', '.join(COLUMNS)}"
            raise FormatError(wanted, path=name, line=at)
        words = _checked(cells[0].split(), name, at)
        if not cells[1].isdecimal() or len(cells[1]) > 9 or not 2 <= int(cells[1]) <= len(words):
            raise FormatError(f"position {cells[1]!r:.40}, wanted a number from 2 to {len(words)}", path=name, line=at)
        if len(cells[2].split()) != 1:
            raise FormatError(f"the missing word is {cells[2]!r}, wanted one word", path=name, line=at)
        yield Incomplete(str(number), words, at, int(cells[1]) - 2, cells[2].strip())


def incomplete_of(words: Sequence[str], number: int, name: str, *, gaps: bool = False) -> Incomplete:
    """The sentence of these words, one of which may be a blank; `number` is its line in the file `name`, from 1.

    Raises FormatError as `parse_incomplete` does.
    """
    blanks = [place for place, word in enumerate(words) if BLANK.fullmatch(word)]
    if not blanks:
        if gaps and words:
            raise FormatError("no blank in the sentence, wanted one (____)", path=name, line=number)
        return Incomplete(str(number - 1), _checked(words, name, number), number)
    if len(blanks) > 1:
        raise FormatError(f"{len(blanks)} blanks in the sentence, wanted one (____)", path=name, line=number)
    (place,) = blanks
    if place in (0, len(words) - 1):
        where = "first" if place == 0 else "last"
        raise FormatError(f"the blank is the {where} word, wanted it between two words", path=name, line=number)
    return Incomplete(str(number - 1), (*words[:place], *words[place + 1 :]), number, place - 1)


def _checked(words: Sequence[str], name: str, line: int) -> tuple[str, ...]:
    if not words:
        raise FormatError("an empty line, wanted a sentence that lacks a word", path=name, line=line)
    if len(words) == 1:
        raise FormatError("a sentence of one word cannot lack an inner word", path=name, line=line)
    return tuple(words)


@click.command("remove")
@click.argument("text", default="-")
@click.option("--as", "form", type=click.Choice(["tsv", "text", "imputation"]), default="tsv", show_default=True,
              help="Write the incomplete sentences with the positions and the words that are missing (tsv), the "
                   "only sentences (text), or the CSV of the billion-word imputation task.")  # fmt: skip
@click.option("--complete", type=output_file, metavar="FILE",
              help="Also write the complete sentences, one per line, or as CSV for imputation.")  # fmt: skip
@output_option("Write the incomplete sentences to this file.")
@seed_option
def command(text: str, form: str, complete: Path | None, output: Path, seed: int | None) -> None:
    """Remove an inner word from each sentence of a TEXT.

    TEXT has one tokenised sentence per line. The word is chosen at random, but is neither the first nor the last;
    sentences of fewer than three words are left out. `rerank words locate`, `rerank words fill` and `rerank words
    restore` read the output and, in the form tsv, report how often they are right.

    \b
    rerank words remove novel.txt -o novel.incomplete --complete novel.ref
    rerank words restore novel.incomplete -M news.mw --accuracy
    """  # noqa: D301
    from rerank_plugins.missing_words.tuning import remove_inner_word

    summary_line = SummaryLine()
    rng = np.random.default_rng(1 if seed is None else seed)
    written = 0

    def removed(lines: Iterator[str]) -> Iterator[Incomplete]:
        nonlocal written
        for line in lines:
            without = remove_inner_word(line.split(), rng)
            if without is not None:
                yield Incomplete(str(written), without.words, written + 1, without.gap, without.word)
                written += 1

    with ExitStack() as files:
        lines = files.enter_context(open_text(text))
        out = files.enter_context(open_atomic(output))
        bar = files.enter_context(CountingBar("sentences"))
        sentences = removed(bar.over(lines))
        if complete is not None:
            sentences = _also_written(sentences, files.enter_context(open_atomic(complete)), form)
        if form == "tsv":
            out.writelines(incomplete_lines(sentences))
        elif form == "text":
            out.writelines(" ".join(sentence.words) + "\n" for sentence in sentences)
        else:
            out.writelines(row_lines((_number(sentence), " ".join(sentence.words)) for sentence in sentences))
    left_out = bar.done - written
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    if complete is not None:
        summary_line.wrote(counted(written, "complete sentence"), complete)
    summary_line.wrote(f"{counted(written, 'incomplete sentence')}{rest}", output)


def _number(sentence: Incomplete) -> str:
    return str(int(sentence.id) + 1)  # the ids of the imputation task begin with 1


def _also_written(sentences: Iterator[Incomplete], out: TextIO, form: str) -> Iterator[Incomplete]:
    """Yield the sentences, each after its complete form was written."""
    if form == "imputation":
        out.write(HEADER_LINE)
    for sentence in sentences:
        complete = sentence.complete or ""
        out.write(row_line(_number(sentence), complete) if form == "imputation" else f"{complete}\n")
        yield sentence
