"""Reads lists that are spread over files: ESPnet's folders of ranks, Kaldi's archives of costs, numbers beside text.

ESPnet2 (espnet2/bin/asr_inference.py, ESPnet 202308) has a folder for each rank. Give the one that holds these, or one
above it: the parts `output.1`, `output.2` … of a job are read in the order of their numbers.

    logdir/output.1/1best_recog/text     utt-07 so it is
    logdir/output.1/1best_recog/score    utt-07 tensor(-3.2718)       or a number alone
    logdir/output.1/2best_recog/…

Kaldi (`lattice-to-nbest`, `nbest-to-linear` and `int2sym.pl`, Kaldi 5.5) has the rank in each key.

    utt-07-1 so it is        words_text, or any other name: key `utterance-rank`, words
    utt-07-1 5203.4          ac_cost, lm_cost … beside it: key, cost

Plain text has one hypothesis a line, `n` lines for each segment, and numbers in files beside it. Files may be
compressed, each in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.formats.columns import BAR, BLANK, FeatureCell
from rerank_adapters.formats.items import Item, Reader
from rerank_adapters.formats.list_files import COMPRESSED
from rerank_plugins import FormatError, open_text, option
from rerank_plugins.core.nbest import NO_SPARSE
from rerank_plugins.kit.files.text import STANDARD, finite_value

RANKED = re.compile(r"([1-9][0-9]*)best_recog")
TENSOR = re.compile(r"tensor\(([^,()]+).*\)")
COSTS = ("ac_cost", "lm_cost", "graph_cost", "acwt", "lmwt.nolm", "lmwt.lmonly", "lmwt.withlm", "graphwt")  # Kaldi's
KEY = re.compile(r"(.+)-([1-9][0-9]{0,8})")


def beside(path: str | Path) -> Path | None:
    """The file of that name, or a compressed one; None where there is neither."""
    return next((Path(f"{path}{ending}") for ending in ("", *COMPRESSED) if Path(f"{path}{ending}").is_file()), None)


# --- folders of ranks


@dataclass(frozen=True)
class Ranked(Reader):
    """Folders called by their rank, each with a file of texts and perhaps one of totals, by the id of the utterance.

    The files have the utterances in one order. They are read in step, so that only a list is in memory. A file with
    lines `utterance words` is read, too: the lines of one utterance that follow each other are a list, best first.
    """

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield a hypothesis for each line; the text of one of the folders stands for all. Raises FormatError."""
        folder = Path(path).parent
        if RANKED.fullmatch(folder.name) and beside(folder.parent / "1best_recog" / "text"):
            yield from _of_ranks(folder.parent)
            return
        for number, line in enumerate(lines, 1):
            utterance, text = _keyed(line, path, number)
            yield Item(utterance, number, text)

    def folder_items(self, folder: str) -> Iterator[Item]:
        """Yield the hypotheses of all parts of a decoding. Raises FormatError with the file and its line."""
        parts = {path.parent for path in Path(folder).rglob("*best_recog") if RANKED.fullmatch(path.name)}
        if not parts:
            raise FormatError("the folder holds no 1best_recog/text", path=folder)
        for part in sorted(parts, key=_numbered):
            yield from _of_ranks(part)


def _numbered(path: Path) -> list[tuple[int, str]]:
    """A key under which output.2 comes before output.10."""
    return [(int(piece), "") if piece.isdigit() else (0, piece) for piece in re.split(r"([0-9]+)", str(path))]


def _keyed(line: str, path: str, number: int) -> tuple[str, str]:
    """The key of a line and the rest. Raises FormatError for an empty line."""
    fields = line.split(maxsplit=1)
    if not fields:
        raise FormatError("found an empty line, expected an utterance and its words", path=path, line=number)
    return fields[0], fields[1].rstrip() if len(fields) > 1 else ""


class _KeyedFile:
    """A file of lines `key rest`, of which the next one is looked at; its key is "" behind the last one."""

    def __init__(self, path: Path, files: ExitStack) -> None:
        self.path = str(path)
        self.line = 0
        self.key = self.rest = ""
        self._lines = files.enter_context(open_text(path))
        self.advance()

    def advance(self) -> None:
        """Go on to the next line."""
        line = next(self._lines, None)
        self.line += 1
        self.key, self.rest = ("", "") if line is None else _keyed(line, self.path, self.line)


def _of_ranks(folder: Path) -> Iterator[Item]:
    """The hypotheses in the folders 1best_recog, 2best_recog and so on, utterance by utterance.

    Raises FormatError for a rank that is missing, and for an utterance of one rank that the rank before it lacks or has
    at another place.
    """
    numbers = sorted(int(match[1]) for path in folder.iterdir() if (match := RANKED.fullmatch(path.name)))
    if numbers != list(range(1, len(numbers) + 1)):
        found = ", ".join(f"{number}best_recog" for number in numbers)
        raise FormatError(f"found {found}: expected every rank from 1 on", path=str(folder))
    with ExitStack() as files:
        folders = [folder / f"{number}best_recog" for number in numbers]
        texts, scores = ([_ranked_file(rank, name, files) for rank in folders] for name in ("text", "score"))
        for rank, text, score in zip(folders, texts, scores, strict=True):
            if text is None:
                raise FormatError("there is no such file", path=str(rank / "text"))
            if (score is None) != (scores[0] is None):
                lacks = rank if score is None else folders[0]
                raise FormatError("the score file is missing, but other ranks have one", path=str(lacks / "score"))
        ranks = [(text, score) for text, score in zip(texts, scores, strict=True) if text is not None]
        first = ranks[0][0]
        while utterance := first.key:
            for text, score in ranks:
                if text.key != utterance:
                    break  # the beam of this utterance ended with fewer hypotheses
                total = None if score is None else _total(score, utterance)
                yield Item(utterance, text.line, text.rest, total, path=text.path)
                text.advance()
        for text, score in ranks:
            for file in (text, score):
                if file is not None and file.key:
                    message = f"utterance {file.key!r} is not in the rank before it, or in another order"
                    raise FormatError(message, path=file.path, line=file.line)


def _ranked_file(folder: Path, name: str, files: ExitStack) -> _KeyedFile | None:
    path = beside(folder / name)
    return None if path is None else _KeyedFile(path, files)


def _total(score: _KeyedFile, utterance: str) -> float:
    """The number of an utterance, which must be the next one of the file of scores."""
    if score.key != utterance:
        found = f"found {score.key!r}, expected one" if score.key else "no score"
        raise FormatError(f"{found} for utterance {utterance!r}", path=score.path, line=score.line)
    tensor = TENSOR.fullmatch(score.rest)
    total = finite_value(tensor[1] if tensor else score.rest, f"the score of {utterance!r}", score.path, score.line)
    score.advance()
    return total


# --- archives of costs beside a text


@dataclass(frozen=True)
class KeyedRanks(Reader):
    """Lines with the key `utterance-rank`; archives of costs beside the file, by the same keys, are features.

    A feature is the negation of a cost, so that higher is better, in natural logarithms, without any scale; its name is
    that of the archive.
    """

    costs: tuple[str, ...] = option((), doc="names of the archives of costs beside the file; default: Kaldi's names")
    words: Path | None = option(None, doc="symbol table (words.txt), where the words are integers")

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield the hypotheses of each utterance by rank. Raises FormatError with the path and the line."""
        costs = self._read_costs(path)
        symbols = read_symbols(self.words) if self.words is not None else None
        utterance = ""
        ranks: dict[int, Item] = {}
        for number, line in enumerate(lines, 1):
            key, words = (*line.split(maxsplit=1), "", "")[:2]
            match = KEY.fullmatch(key)
            if match is None:
                found = f"the key {key!r}" if key else "an empty line"
                wanted = "expected a key that ends in a rank: utt-1, utt-2, …"
                raise FormatError(f"found {found}, {wanted}", path=path, line=number)
            if match[1] != utterance:
                yield from (ranks[rank] for rank in sorted(ranks))
                utterance, ranks = match[1], {}
            if int(match[2]) in ranks:
                raise FormatError(f"the key {key!r} occurs twice", path=path, line=number)
            if lacks := next((name for name, values in costs.items() if key not in values), None):
                raise FormatError(f"no cost for {key!r} in {Path(path).parent / lacks}", path=path, line=number)
            text = words.strip() if symbols is None else spelt(words.split(), symbols, path, number)
            features = [values[key] for values in costs.values()]
            ranks[int(match[2])] = Item(utterance, number, text, None, tuple(costs), features)
        yield from (ranks[rank] for rank in sorted(ranks))

    def _read_costs(self, path: str) -> dict[str, Mapping[str, float]]:
        """By name, the negated costs of each archive."""
        folder = Path(path).parent
        usual = () if path in (STANDARD, "<stdin>") else COSTS
        archives: dict[str, Mapping[str, float]] = {}
        for name in self.costs or usual:
            file = folder / name if self.costs else beside(folder / name)
            if file is not None and file.name != Path(path).name:
                with open_text(file) as lines:
                    archives[name] = read_costs(lines, str(file))
        return archives


def read_costs(lines: Iterable[str], path: str) -> dict[str, float]:
    """The negated cost of each key of a file of lines `key cost`. Raises FormatError for a key that occurs twice."""
    values: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise FormatError(f"found {len(fields)} columns, expected a key and a number", path=path, line=number)
        if fields[0] in values:
            raise FormatError(f"the key {fields[0]!r} occurs twice", path=path, line=number)
        values[fields[0]] = -finite_value(fields[1], f"the value of {fields[0]!r}", path, number)
    return values


def read_symbols(path: Path) -> dict[str, str]:
    """The word of each integer, which is kept as a text. Raises FormatError for a line of another form."""
    symbols: dict[str, str] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            fields = line.split()
            if len(fields) != 2 or not fields[1].isdigit():
                raise FormatError("expected a word and an integer", path=str(path), line=number)
            symbols[fields[1]] = fields[0]
    return symbols


def spelt(integers: Iterable[str], symbols: Mapping[str, str], path: str, line: int) -> str:
    """The words that the integers mean. Raises FormatError for one that is not in the table."""
    words = []
    for integer in integers:
        if integer not in symbols:
            raise FormatError(f"{integer!r} is not in the symbol table", path=path, line=line)
        words.append(symbols[integer])
    return " ".join(words)


# --- numbers beside plain text


@dataclass(frozen=True)
class PlainText(Reader):
    """A hypothesis a line, `n` lines for each segment, as scripts of fairseq and transformers, and mbrs write.

    An empty line is an empty hypothesis. Totals may stand in a file beside the lists, one number a line, and features
    in another one, `name= value name= value` a line, with a line for each line of the lists.
    """

    n: int = option(0, doc="number of hypotheses of each segment (required)")
    prefix: bool = option(False, doc="whether each line begins with its total, `-0.41 ||| text`, as CTranslate2 has it")
    scores: str = option("", doc="ending of the file with a total on each line; default: .scores, if there is one")
    features: str = option("", doc="ending of the file with `name= value` on each line; default: .features, if any")

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield a hypothesis for each line; the id is the number of the segment. Raises FormatError."""
        if self.n < 1:
            wanted = "the number of lines for each segment is not known: name it, --format plain,n=100"
            raise FormatError(wanted, path=path)
        with ExitStack() as files:
            totals = _Beside(path, self.scores, ".scores", files)
            features = _Beside(path, self.features, ".features", files)
            cell = FeatureCell(lambda label: False, features.path)
            number, blank_ends = 0, self.n > 1  # whether all lists so far end with a blank line
            for number, line in enumerate(lines, 1):
                text, total, field = line.strip(BLANK), totals.line(number), features.line(number)
                if self.prefix:
                    total, bar, text = (part.strip(BLANK) for part in line.partition(BAR))
                    if not bar:
                        raise FormatError(f"found {line.strip()!r}, expected score {BAR} text", path=path, line=number)
                score = None if total is None else finite_value(total, "the total score", totals.path or path, number)
                names, values, sparse = ((), (), NO_SPARSE) if field is None else cell.read(field, number)
                id_, last = str((number - 1) // self.n), number % self.n == 0
                yield Item(id_, number, text, score, names, values, sparse, last=last, path=features.path)
                blank_ends = blank_ends and not (last and line.strip())
            if number % self.n:
                message = f"the file has {number} lines, expected a multiple of the {self.n} lines of a segment"
                raise FormatError(message, path=path, line=number)
            if blank_ends and number > self.n:
                message = f"a blank line ends each list, and counts as a hypothesis: wanted {self.n - 1} lines for each"
                raise FormatError(f"{message}, without blank lines between them", path=path, line=self.n)
            totals.finish()
            features.finish()


class _Beside:
    """A file with a line for each line of the lists; without an ending of its own it need not exist."""

    def __init__(self, lists: str, ending: str, usual: str, files: ExitStack) -> None:
        plain = next((lists.removesuffix(own) for own in COMPRESSED if lists.endswith(own)), lists)
        found = beside(lists + (ending or usual)) or beside(plain + (ending or usual))
        found = found or (Path(lists + ending) if ending else None)
        self.path = "" if found is None else str(found)
        self._lines = None if found is None else files.enter_context(open_text(found))

    def line(self, number: int) -> str | None:
        """The next line, None where there is no such file. Raises FormatError where the file ends too early."""
        if self._lines is None:
            return None
        line = next(self._lines, None)
        if line is None:
            raise FormatError(f"ends before line {number} of the lists", path=self.path, line=number)
        return line.strip()

    def finish(self) -> None:
        """Raise FormatError where the file has more lines than the lists."""
        if self._lines is not None and (line := next(self._lines, None)) is not None and line.strip():
            raise FormatError("has more lines than the lists", path=self.path)
