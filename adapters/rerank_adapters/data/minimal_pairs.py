"""Reads and writes minimal pairs: two sentences of which one should be preferred.

The first line of a file shows which of two forms the file has:

    {"sentence_good": …, "sentence_bad": …, "field": …, "linguistics_term": …, "UID": …}
        JSON lines, the form of BLiMP (Warstadt et al. 2020)
    good<TAB>bad[<TAB>phenomenon]
        tab-separated values; a first line with two of the names in GOOD and BAD is a header and may name more columns

The other columns, or BLiMP's `field`, `linguistics_term` (called `phenomenon` here) and `UID` (`paradigm`), tell
the phenomenon of a pair and are kept by name (`groups`). The two sentences may be equal, as in one pair of BLiMP;
then no model can prefer one of them. Reading takes linear time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rerank_plugins import FormatError, Hypothesis, NBestList, open_text
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.kit.files.text import display_name

BLIMP = {"linguistics_term": "phenomenon", "field": "field", "UID": "paradigm"}
PLAIN = ("good", "bad", "phenomenon")
GOOD = ("good", "sentence_good", "good_sentence", "acceptable", "grammatical", "correct")
BAD = ("bad", "sentence_bad", "bad_sentence", "unacceptable", "ungrammatical", "incorrect")


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
