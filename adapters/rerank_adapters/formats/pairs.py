"""Reads minimal pairs, scores of pairs of a hypothesis and a reference, and parallel sentences.

A minimal pair is two sentences of which one should be preferred. The first line of its file shows which of two forms
the file has:

    {"sentence_good": …, "sentence_bad": …, "field": …, "linguistics_term": …, "UID": …}
        JSON lines, the form of BLiMP (Warstadt et al. 2020)
    good<TAB>bad[<TAB>phenomenon]
        tab-separated values; a first line with two of the names in GOOD and BAD is a header and may name more columns

The other columns, or BLiMP's `field`, `linguistics_term` (called `phenomenon` here) and `UID` (`paradigm`), tell
the phenomenon of a pair and are kept by name (`groups`). The two sentences may be equal, as in one pair of BLiMP;
then no model can prefer one of them. Reading takes linear time.

A line of scores is `hypothesis TAB reference TAB score`. Columns between the reference and the score, such as the
source sentence that `rerank table pairs` writes, are not read. A line of scores that need no reference is `hypothesis
TAB score`. Runs of white space in texts count as one space. A pair, or a hypothesis without reference, may come several
times, as with several sources; its score is then the mean.

Parallel sentences are two files, line by line, or one file of lines `source ||| target`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestList, open_text
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.kit.files.text import display_name, finite_value

ScoredPairs = dict[str | None, dict[str, float]]  # reference, or None where scores need none -> hypothesis -> score
BLIMP = {"linguistics_term": "phenomenon", "field": "field", "UID": "paradigm"}
PLAIN = ("good", "bad", "phenomenon")
GOOD = ("good", "sentence_good", "good_sentence", "acceptable", "grammatical", "correct")
BAD = ("bad", "sentence_bad", "bad_sentence", "unacceptable", "ungrammatical", "incorrect")


def read_sentence_pairs(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs (source, target) of one file or two, compressed or not.

    Raises ConfigError for another number of files, FormatError for files of different lengths, with both, and for a
    line that has not exactly two parts.
    """
    if len(paths) == 1:
        yield from _of_one(paths[0])
    elif len(paths) == 2:
        yield from _of_two(paths[0], paths[1])
    else:
        raise ConfigError(f"{len(paths)} files of sentence pairs: wanted SOURCE and TARGET, or one file with both")


def _of_one(path: str) -> Iterator[tuple[str, str]]:
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            parts = line.split("|||")
            if len(parts) != 2:
                message = f"found {len(parts)} parts, expected source ||| target (or give two files)"
                raise FormatError(message, path=display_name(path), line=number)
            yield parts[0], parts[1]


def _of_two(source: str, target: str) -> Iterator[tuple[str, str]]:
    with open_text(source) as sources, open_text(target) as targets:
        number = 0
        for number, (left, right) in enumerate(zip_longest(sources, targets), 1):
            if left is None or right is None:
                longer, lines = (target, targets) if left is None else (source, sources)
                total = number + sum(1 for _ in lines)
                shorter = source if left is None else target
                raise FormatError(
                    f"{number - 1:,} lines, but {total:,} in {display_name(longer)}; expected a line for each sentence "
                    "pair in both",
                    path=display_name(shorter),
                )
            yield left, right


def plain_text(text: str) -> str:
    """The text with single spaces, as pairs are looked up."""
    return " ".join(text.split())


def read_scored_pairs(path: str | Path) -> ScoredPairs:
    """The scores by reference and hypothesis; the reference is None in a file whose lines have two columns.

    Raises FormatError, with the line, for fewer than two columns, for lines with and without references in one file and
    for a score that is no finite number, and for an empty file.
    """
    name = display_name(path)
    scores: ScoredPairs = {}
    times: dict[tuple[str, str | None], int] = {}  # of the pairs that come more than once
    with open_text(path) as lines:
        for at, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            alone = len(columns) == 2
            if len(columns) < 2 or (scores and alone != (None in scores)):
                wanted = "`hypothesis TAB score`" if None in scores else "`hypothesis TAB reference TAB score`"
                either = " or `hypothesis TAB score`" if not scores else ""
                message = f"found {len(columns)} tab-separated columns, wanted {wanted}{either}"
                raise FormatError(message, path=name, line=at)
            hypothesis, reference = plain_text(columns[0]), None if alone else plain_text(columns[1])
            score = finite_value(columns[-1], "the score", name, at)
            known = scores.setdefault(reference, {})
            if hypothesis in known:
                number = times[hypothesis, reference] = times.get((hypothesis, reference), 1) + 1
                score = known[hypothesis] + (score - known[hypothesis]) / number  # the running mean
            known[hypothesis] = score
    if not scores:
        raise FormatError("the file is empty, wanted `hypothesis TAB reference TAB score` on each line", path=name)
    return scores


@dataclass(frozen=True)
class Pair:
    """A good sentence and a worse one, with the names of its phenomenon by kind (`groups`) and its line in the file."""

    good: str
    bad: str
    groups: Mapping[str, str] = field(default_factory=dict)
    line: int = 0

    def nbest(self) -> NBestList:
        """The pair as an n-best list, with the good sentence first and the number of the line as its id."""
        return NBestList(str(self.line), (Hypothesis(self.good), Hypothesis(self.bad)), line=self.line)


def read_pairs(path: str | Path) -> list[Pair]:
    """The pairs of a file. Raises FormatError, with path and line, for a line of another form, for an empty sentence,
    and for a file without pairs.
    """
    name = display_name(path)
    with open_text(path) as lines:
        pairs = list(parse_pairs(lines, name))
    if not pairs:
        raise FormatError("no pairs: wanted good<TAB>bad[<TAB>phenomenon], or JSON lines in BLiMP's form", path=name)
    return pairs


def parse_pairs(lines: Iterable[str], name: str) -> Iterator[Pair]:
    """Yield the pairs of the lines as they are read; error messages call the file `name`."""
    numbered = ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, 1) if line.strip())
    columns: Sequence[str] | None = None  # none of JSON lines
    for place, (number, line) in enumerate(numbered):
        if place == 0 and not _is_record(line):
            header = header_columns(line)
            columns = header or PLAIN[: line.count("\t") + 1]
            if header:
                continue
        cells = _blimp(line, name, number) if columns is None else _row(line, columns, name, number)
        good, bad = cells.pop("good").strip(), cells.pop("bad").strip()
        if not good or not bad:
            raise FormatError("an empty sentence, wanted a pair of sentences", path=name, line=number)
        yield Pair(good, bad, cells, number)


def holds_pairs(line: str) -> bool:
    """Whether the first line of a file shows that it holds pairs: JSON, or a header that names the columns."""
    return _is_record(line) or header_columns(line) is not None


def header_columns(line: str) -> list[str] | None:
    r"""The columns that the header of a file of pairs names, `good` and `bad` among them; None for any other line.

    >>> header_columns("UID\tSentence_good\tsentence_bad"), header_columns("It rains.\tIt rain.")
    (['paradigm', 'good', 'bad'], None)
    """
    names = line.rstrip("\r\n").split("\t")
    columns = [
        "good" if name.strip().lower() in GOOD else "bad" if name.strip().lower() in BAD else BLIMP.get(name, name)
        for name in names
    ]
    return columns if columns.count("good") == columns.count("bad") == 1 else None


def _is_record(line: str) -> bool:
    """Whether a line is JSON, which has no tab, and not two sentences, of which the first begins with a brace."""
    return line.startswith("{") and "\t" not in line


def pair_lines(pairs: Iterable[Pair], columns: Sequence[str] = ("phenomenon",)) -> Iterator[str]:
    """The lines of a file of pairs with a header; `columns` are the groups to write, empty where a pair lacks one."""
    yield "\t".join(("good", "bad", *columns)) + "\n"
    for pair in pairs:
        yield "\t".join((pair.good, pair.bad, *(pair.groups.get(column, "") for column in columns))) + "\n"


def _blimp(line: str, name: str, number: int) -> dict[str, str]:
    try:
        record = read_json(line)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg} at character {error.pos}", path=name, line=number) from None
    if not isinstance(record, dict):
        raise FormatError(f"{line!r:.60} is not a JSON object, wanted one on each line", path=name, line=number)
    cells = {}
    for key, column in (("sentence_good", "good"), ("sentence_bad", "bad")):
        if not isinstance(record.get(key), str):
            wanted = f"{key!r} is {record[key]!r}, wanted a sentence" if key in record else f"no {key!r}"
            raise FormatError(f"{wanted} (keys found: {', '.join(record)})", path=name, line=number)
        cells[column] = record[key]
    return cells | {group: str(record[key]) for key, group in BLIMP.items() if key in record}


def _row(line: str, columns: Sequence[str], name: str, number: int) -> dict[str, str]:
    cells = line.split("\t")
    if len(columns) < 2:
        raise FormatError("no tab, wanted good<TAB>bad[<TAB>phenomenon] or JSON lines", path=name, line=number)
    if len(cells) != len(columns):
        wanted = f"{len(cells)} columns, wanted {len(columns)}: {', '.join(columns)}"
        raise FormatError(wanted, path=name, line=number)
    return dict(zip(columns, cells, strict=True))
