"""Reads files of questions.

They have one of two formats, distinguished by the header line:

    id<TAB>question<TAB>a<TAB>b<TAB>c<TAB>d<TAB>e<TAB>answer     one file; the last column is optional
    id,question,a),b),c),d),e)                                  CSV with quotes, as in the Microsoft Research challenge
    id,answer                                                   (Zweig & Burges 2011), and a file of its answers

The blank is a run of three or more underscores. An answer is an option's letter. All questions of a file have the same
number of options, from 2 to 26. Reading takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from string import ascii_lowercase

from rerank_adapters.formats.table_rows import table_rows
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.kit.files.text import display_name, open_text

BLANK = re.compile(r"_{3,}")


@dataclass(frozen=True)
class Question:
    """A sentence with one blank and its options; `answer` is the position of the right one, None where unknown."""

    id: str
    sentence: str
    options: tuple[str, ...]
    answer: int | None = None
    line: int = 0

    def completions(self) -> list[str]:
        """The sentence with each option in the blank.

        >>> Question("1", "the _____ barks", ("dog", "cat")).completions()
        ['the dog barks', 'the cat barks']
        """
        before, after = BLANK.split(self.sentence)
        return [before + option + after for option in self.options]

    def nbest(self) -> NBestList:
        """The completions as an n-best list, in the order of the options."""
        return NBestList(self.id, tuple(map(Hypothesis, self.completions())), line=self.line)


def read_questions(path: str | Path, answers: str | Path | None = None) -> list[Question]:
    """The questions of a file; `answers` names a file with their answers.

    Raises FormatError, with path and line, for a malformed header or row, a sentence that does not have exactly one
    blank, a duplicate id, an answer that is not an option's letter, and a question without an answer in `answers`.
    """
    name = display_name(path)
    with open_text(path) as lines:
        rows = _rows(lines, name)
        _, header = next(rows, (0, [""]))
        letters = [column.strip().removesuffix(")").lower() for column in header[2:]]
        answered = letters[-1:] == ["answer"]
        size = len(letters) - answered
        expected = list(ascii_lowercase[:size])
        if [cell.lower() for cell in header[:2]] != ["id", "question"] or letters[:size] != expected or size < 2:
            wanted = "wanted the columns id, question, a, b, … and optionally answer (tab-separated or CSV)"
            raise FormatError(f"not a file of questions: {wanted}", path=name, line=1)
        questions: dict[str, Question] = {}
        for line, cells in rows:
            if len(cells) != len(header):
                raise FormatError(f"{len(cells)} columns, but the header has {len(header)}", path=name, line=line)
            id_, sentence = cells[0].strip(), cells[1].strip()
            if id_ in questions:
                raise FormatError(f"question {id_} is on line {questions[id_].line} too", path=name, line=line)
            if (blanks := len(BLANK.findall(sentence))) != 1:
                raise FormatError(f"{blanks} blanks in the sentence, wanted one (_____)", path=name, line=line)
            options = tuple(cell.strip() for cell in cells[2 : 2 + size])
            right = _position(cells[-1], size, name, line) if answered else None
            questions[id_] = Question(id_, sentence, options, right, line)
    if not questions:
        raise FormatError("no question after the header", path=name)
    in_order = list(questions.values())
    return in_order if answers is None else with_answers(in_order, read_answers(answers, size), display_name(answers))


def read_answers(path: str | Path, options: int) -> dict[str, int]:
    """The position of the chosen option by question id, from a file with the columns id and answer (CSV or tabs)."""
    name = display_name(path)
    answers: dict[str, int] = {}
    with open_text(path) as lines:
        rows = _rows(lines, name)
        _, header = next(rows, (0, [""]))
        if [cell.strip().lower() for cell in header] != ["id", "answer"]:
            raise FormatError("not a file of answers: wanted the columns id and answer", path=name, line=1)
        for line, cells in rows:
            if len(cells) != 2:
                raise FormatError(f"{len(cells)} columns, wanted id and answer", path=name, line=line)
            if cells[0].strip() in answers:
                raise FormatError(f"question {cells[0].strip()} has an answer already", path=name, line=line)
            answers[cells[0].strip()] = _position(cells[1], options, name, line)
    return answers


def with_answers(questions: Sequence[Question], answers: dict[str, int], name: str) -> list[Question]:
    """The questions with these answers. Raises FormatError, naming the file, for a question without an answer."""
    for question in questions:
        if question.id not in answers:
            raise FormatError(f"no answer to question {question.id}", path=name)
    return [Question(q.id, q.sentence, q.options, answers[q.id], q.line) for q in questions]


def answer_lines(questions: Sequence[Question], choices: Iterable[int]) -> Iterator[str]:
    """The lines of a tab-separated file of answers, as `read_answers` reads it."""
    yield "id\tanswer\n"
    for question, choice in zip(questions, choices, strict=True):
        yield f"{question.id}\t{ascii_lowercase[choice]}\n"


def _rows(lines: Iterable[str], name: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty: tab-separated without quoting if the first line has a tab, otherwise CSV."""
    stream = iter(lines)
    first = next(stream, "")
    return table_rows(chain([first], stream), name, commas="\t" not in first)


def _position(answer: str, options: int, name: str, line: int) -> int:
    letter = answer.strip().removesuffix(")").lower()
    if len(letter) != 1 or letter not in ascii_lowercase[:options]:
        wanted = f"a letter from a to {ascii_lowercase[options - 1]}"
        raise FormatError(f"the answer is {answer.strip()!r}, wanted {wanted}", path=name, line=line)
    return ascii_lowercase.index(letter)
