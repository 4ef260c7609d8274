"""Minimal pairs: two sentences, of which one should be preferred.

Two forms, told apart by the first line:

    {"sentence_good": …, "sentence_bad": …, "field": …, "linguistics_term": …, "UID": …}
        JSON lines, as BLiMP has them (Warstadt et al. 2020)
    good<TAB>bad[<TAB>phenomenon]
        tab-separated; a first line that begins with `good<TAB>bad` names the columns, of which there may be more

What a pair is an example of is kept by name (`groups`): the other columns, or BLiMP's `field`, `linguistics_term`
(called `phenomenon` here) and `UID` (`paradigm`). The two sentences may be equal (BLiMP has such a pair):
then nothing can prefer one. Linear.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rerank_adapters.formats.compressed import display_name, open_text
from rerank_plugins.errors import FormatError
from rerank_plugins.nbest import Hypothesis, NBestList

BLIMP = {"linguistics_term": "phenomenon", "field": "field", "UID": "paradigm"}
PLAIN = ("good", "bad", "phenomenon")


@dataclass(frozen=True)
class Pair:
    """A sentence and a worse one; `groups` names what the pair is an example of; `line` is where it stands."""

    good: str
    bad: str
    groups: Mapping[str, str] = field(default_factory=dict)
    line: int = 0

    def nbest(self) -> NBestList:
        """The pair as an n-best list, the good sentence first; its id is the line."""
        return NBestList(str(self.line), (Hypothesis(self.good), Hypothesis(self.bad)), line=self.line)


def read_pairs(path: str | Path) -> list[Pair]:
    """The pairs of a file. Raises FormatError, with path and line, for a row of another form, an empty sentence, and
    a file without pairs.
    """
    name = display_name(path)
    with open_text(path) as lines:
        pairs = list(parse_pairs(lines, name))
    if not pairs:
        raise FormatError("no pairs: wanted good<TAB>bad[<TAB>phenomenon], or JSON lines as BLiMP has", path=name)
    return pairs


def parse_pairs(lines: Iterable[str], name: str) -> Iterator[Pair]:
    """The pairs of lines, streaming; errors name the file `name`."""
    numbered = ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, 1) if line.strip())
    columns: Sequence[str] = ()
    for number, line in numbered:
        if line.startswith("{"):
            cells = _blimp(line, name, number)
        elif not columns and is_header(line):
            columns = line.split("\t")
            continue
        else:
            columns = columns or PLAIN[: line.count("\t") + 1]
            cells = _row(line, columns, name, number)
        good, bad = cells.pop("good").strip(), cells.pop("bad").strip()
        if not good or not bad:
            raise FormatError("an empty sentence, wanted a pair of sentences", path=name, line=number)
        yield Pair(good, bad, cells, number)


def is_header(line: str) -> bool:
    """Whether a line names the columns of a file of pairs."""
    return line.rstrip("\r\n").split("\t")[:2] == ["good", "bad"]


def pair_lines(pairs: Iterable[Pair], columns: Sequence[str] = ("phenomenon",)) -> Iterator[str]:
    """A file of pairs with a header, that `read_pairs` reads; `columns` are the groups to write, empty where absent."""
    yield "\t".join(("good", "bad", *columns)) + "\n"
    for pair in pairs:
        yield "\t".join((pair.good, pair.bad, *(pair.groups.get(column, "") for column in columns))) + "\n"


def _blimp(line: str, name: str, number: int) -> dict[str, str]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise FormatError(f"no JSON: {error.msg} at character {error.pos}", path=name, line=number) from None
    cells = {}
    for key, ours in (("sentence_good", "good"), ("sentence_bad", "bad")):
        if not isinstance(found.get(key), str):
            wanted = f"{key!r} is {found[key]!r}, wanted a sentence" if key in found else f"no {key!r}"
            raise FormatError(f"{wanted} (keys found: {', '.join(found)})", path=name, line=number)
        cells[ours] = found[key]
    return cells | {ours: str(found[key]) for key, ours in BLIMP.items() if key in found}


def _row(line: str, columns: Sequence[str], name: str, number: int) -> dict[str, str]:
    cells = line.split("\t")
    if len(columns) < 2:
        raise FormatError("no tab, wanted good<TAB>bad[<TAB>phenomenon] or JSON lines", path=name, line=number)
    if len(cells) != len(columns):
        wanted = f"{len(cells)} columns, wanted {len(columns)}: {', '.join(columns)}"
        raise FormatError(wanted, path=name, line=number)
    return dict(zip(columns, cells, strict=True))
