"""Guesses the format of n-best lists from the first lines of a file, or from its name in layouts of several files.

A guess is made only where the lines have a sign that no other format has; a text that could be several things is an
error that names the candidates. `moses` stands for every list with `|||` that shows no sign of another dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from rerank_adapters.formats.columnar import ENDINGS as TABLE_ENDINGS
from rerank_adapters.formats.columnar import kind_of, open_lines
from rerank_adapters.formats.delimited import BAR
from rerank_adapters.formats.list_files import lists_in
from rerank_adapters.formats.named_formats import format_named
from rerank_adapters.formats.no_text import begins_json, check_text
from rerank_adapters.formats.srilm import PAUSES
from rerank_plugins import FormatError, NBestFormat
from rerank_plugins.core.json_and_toml import read_json

MAX_LINES = 40  # the lines that are examined
MAX_FILES = 5  # the files of a folder that are examined
PER_UTTERANCE = ("srilm", "whisper", "alternatives")  # formats with a file for each utterance, in a folder
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
JOINED = re.compile(rf"\S*[^\s=]=(?:{NUMBER})(?:\s|$)")  # name=value, as cdec, Joshua and Travatar write
KALDI_KEY = re.compile(r"(\S+)-([1-9][0-9]{0,8})(?:\s.*)?")
KALDI_ARC = re.compile(rf"\d+\s+\d+\s+\S+(?:\s+\S+)?\s+{NUMBER},{NUMBER}(?:,\S*)?|\d+\s+\d+\s+\S+(?:\s+\S+)?")
SRILM = re.compile(rf"{NUMBER}\s+{NUMBER}\s+(\d{{1,9}})(?:\s+(.*))?")
NEMO = re.compile(rf"[^\t]*\t{NUMBER}")
ICEFALL = re.compile(r"\S+:\t(?:ref|hyp)=.*")
FAIRSEQ = re.compile(r"[STHDP]-\S+\t.*")
SLF = re.compile(r"(?:V|VERSION|U|UTTERANCE|base|lmscale)=.*|(?:N|NODES)=\d+\s+(?:L|LINKS)=\d+.*")
PIPELINE_TEXTS = ("translation_text", "generated_text", "summary_text")
CANDIDATES = (
    "plain,n=N (N lines for each segment)",
    "kaldi (utt-1 words)",
    "espnet (utterance words)",
    "nemo,beam=N (text<TAB>score)",
    "moses (id ||| text ||| features)",
    "rows,id=COLUMN,text=COLUMN (CSV or TSV whose first line names the columns)",
)
JSON_WANTED = (
    'expected an object with "hyps", a list of texts (docs/formats.md has other JSON), or a hypothesis in each, whose'
    " keys --format rows,id=KEY,text=KEY names"
)
DELIMITED = ("moses", "cdec", "joshua", "travatar", "marian")
LIKE_TEXT = ("kaldi", "kaldi-lattice", "espnet")  # whose lines may as well be those of a text


@dataclass(frozen=True)
class Guess:
    """A format: its registered name, its description in messages, and whether the sign may be there by chance."""

    name: str
    title: str
    uncertain: bool = False


MOSES = Guess("moses", "Moses n-best")
ONE_EACH = Guess("rows", "the rows of a table with a hypothesis for each segment", uncertain=True)


def guess(lines: Sequence[str], path: str) -> Guess:
    """The format of a file that begins with these lines. Raises FormatError, with candidates, where it is not clear."""
    head = [line.rstrip("\r\n") for line in lines[:MAX_LINES]]
    filled = [line for line in head if line.strip()]
    if not filled:
        raise FormatError("the file holds no n-best list", path=path)
    reading: Guess | str | None = _named(filled, path) or (_json(filled) if filled[0].lstrip()[:1] in "{[" else None)
    reading = reading or (_table(filled) if kind_of(path) else None) or _by_lines(head, filled)
    if reading is None:
        message = f"the first line, {_short(filled[0])!r}, does not show the format of these lists"
        if filled[0].lstrip().startswith("{") or begins_json(filled[0]):
            raise FormatError(f"{message}: {JSON_WANTED}", path=path, line=1)
        raise FormatError(f"{message}; name it with --format: {'; '.join(CANDIDATES)}", path=path, line=1)
    if isinstance(reading, str):
        raise FormatError(reading, path=path, line=1)
    return reading


def shows_no_lists(path: str) -> bool:
    """Whether the first lines of a file show no format of lists, as those of a plain text do.

    Raises FormatError for lines that are not text either.
    """
    with open_lines(path) as lines:
        head = list(islice(lines, MAX_LINES))
    if any(line.strip() for line in head):
        try:
            guess(head, path)
        except FormatError:
            check_text(head, path)
        else:
            return False
    return True


def unmistakable(lines: Sequence[str], path: str) -> Guess | None:
    """The format of lists that these lines show, where they can be no text; otherwise None."""
    filled = [line for line in lines[:MAX_LINES] if line.strip()]
    try:
        shown = guess(lines, path)
    except FormatError:
        return None
    if shown.name in DELIMITED:
        return shown if all(line.count(BAR) > 1 for line in filled) else None
    if shown.name == "srilm" and not filled[0].startswith("NBestList"):
        return None
    return None if shown.name in LIKE_TEXT or shown == ONE_EACH else shown


def shown_name(path: str) -> str | None:
    """The name of the format that the first lines of a file show; None where they show none, or perhaps by chance."""
    if not Path(path).is_file():
        return None
    try:
        with open_lines(path) as lines:
            shown = guess(list(islice(lines, MAX_LINES)), path)
    except FormatError:
        return None
    return None if shown.uncertain else shown.name


def format_of(guess: Guess, id_key: str = "") -> NBestFormat:
    """The format of a guess; `id_key` is the option of this name of formats in JSON."""
    return format_named(guess.name, **({"id_key": id_key} if id_key else {}))


def guess_folder(folder: str) -> Guess:
    """The format of a folder of lists. Raises FormatError, with candidates, where it is not clear."""
    path = Path(folder)
    if next(path.glob("**/1best_recog"), None) is not None:
        return Guess("espnet", "the n-best folders of ESPnet")
    files = [file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
    endings = {file.name.removesuffix(".gz").rpartition(".")[2] for file in files}
    if endings & {"lat", "slf"}:
        return Guess("htk-slf", "HTK lattices")
    if files and all(file.suffix in TABLE_ENDINGS for file in files):
        return Guess("rows", "the rows of tables")
    records = [file for file in files if file.suffix in (".json", ".jsonl")]
    lists = records or (lists_in(folder) if files else [])
    guesses = {_of_utterance(file) for file in lists[:MAX_FILES]}
    if len(lists) > 1 and len(guesses) == 1 and (of_all := guesses.pop()) is not None:
        return of_all
    advice = "; for a file per utterance name it with --format: srilm, htk-slf, whisper, alternatives"
    raise FormatError(f"is a folder, expected a file{advice * bool(files)}", path=folder)


def _of_utterance(path: Path) -> Guess | None:
    """The format of a file that holds the list of one utterance, in a format with a file for each; None for others."""
    try:
        with open_lines(path) as lines:
            head = list(islice(lines, MAX_LINES))
        reading = guess(head, str(path))
    except FormatError:
        return None
    if reading.name not in PER_UTTERANCE:
        return None
    filled = [line for line in head if line.strip()]
    return None if reading.name != "srilm" and len(filled) > 1 and _is_json(filled[0]) else reading


def _is_json(line: str) -> bool:
    try:
        read_json(line)
    except ValueError:
        return False
    return True


def _short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:57]}…"


def _named(filled: Sequence[str], path: str) -> Guess | None:
    """A guess by a header, or by the folder of the file."""
    if re.fullmatch(r"[1-9][0-9]*best_recog", Path(path).parent.name):
        return Guess("espnet", "the n-best folders of ESPnet")
    if filled[0].startswith("NBestList"):
        return Guess("srilm", f"SRILM {filled[0].strip()}")
    if SLF.fullmatch(next((line for line in filled if not line.startswith("#")), "")):
        return Guess("htk-slf", "an HTK lattice")
    if len(filled) > 1 and _names_columns(filled[0]):
        return Guess("rows", "the rows of a table")
    return None


def _names_columns(line: str) -> bool:
    """Whether the line names the columns of a table of hypotheses: an id and a text among them."""
    names = {name.strip().strip('"') for name in re.split(r"[\t,;]", line.removeprefix("\ufeff"))}
    return "text" in names and not names.isdisjoint(("id", "segment_id"))


def _by_lines(head: Sequence[str], filled: Sequence[str]) -> Guess | str | None:
    """A guess by the form of the lines; a text is an error message."""
    if any(BAR in line for line in filled) and not any(FAIRSEQ.fullmatch(line) for line in filled):
        if all(re.fullmatch(rf"{NUMBER} \|\|\| .*", line) and line.count(BAR) == 1 for line in filled):
            if any(re.match(r"\d+ ", one) and one.split()[0] == other.split()[0] for one, other in pairwise(filled)):
                return "reads as id ||| text; wanted a third column, which may be empty: id ||| text |||"
            return "reads as score ||| text; name the number of lines of each segment, --format plain,n=N,prefix=true"
        return _dialect([line.split(BAR) for line in filled if BAR in line])
    if any(re.match(r"sentence1:", line) for line in filled) or filled[0].startswith(("STAT: ", "### ")):
        return Guess("julius", "the output of Julius")
    if any(FAIRSEQ.fullmatch(line) for line in filled):
        return Guess("fairseq", "the output of fairseq")
    if re.fullmatch(r"wav \S+", filled[0]) and re.match(rf"candidate {NUMBER}", [*filled, ""][1]):
        return Guess("wenet", "the n-best output of WeNet")
    if all(ICEFALL.fullmatch(line) or re.match(r"\S+:\ttimestamp_", line) for line in filled):
        return Guess("icefall", "a recognition file of icefall")
    if len(filled) > 1 and len(filled[0].split()) == 1 and KALDI_ARC.fullmatch(filled[1].strip()):
        return Guess("kaldi-lattice", "Kaldi lattices")
    keys = [KALDI_KEY.fullmatch(line) for line in filled]
    if all(keys) and any(key is not None and key[2] == "1" for key in keys) and _has_ranks(filled):
        return Guess("kaldi", "Kaldi text n-best")
    if all(_is_srilm(line) for line in filled):
        return Guess("srilm", "an SRILM n-best list with acoustic and LM scores")
    if all(NEMO.fullmatch(line) for line in filled):
        return "reads as text<TAB>score; name the number of lines for each utterance with --format nemo,beam=N"
    ids = [line.split(maxsplit=1)[0] for line in filled]
    runs = [a for a, b in pairwise(ids) if a != b]
    if len(set(ids)) < len(ids) and len(set(runs)) == len(runs) and all(re.search(r"\d", id_) for id_ in ids):
        return Guess("espnet", "lines of `utterance words`, best first", uncertain=True)
    if "" in [line.strip() for line in head[1:-1]]:
        wanted = "wanted as many lines for each segment, --format plain,n=N, or its id before each, id ||| text |||"
        return f"reads as groups of lines between blank lines; {wanted}"
    return None


def _has_ranks(filled: Sequence[str]) -> bool:
    """Whether the keys of an utterance have ranks that begin with 1, and the ids are not ranks by chance."""
    ranks: dict[str, set[int]] = {}
    for line in filled:
        stem, _, rank = line.split(maxsplit=1)[0].rpartition("-")
        ranks.setdefault(stem, set()).add(int(rank))
    return all(1 in numbers for numbers in list(ranks.values())[:-1]) and 1 in next(iter(ranks.values()))


def _is_srilm(line: str) -> bool:
    """Whether the third number is that of the words, with or without pauses and the ends of the sentence."""
    match = SRILM.fullmatch(line.strip())
    if match is None:
        return False
    words = (match[2] or "").split()
    return sum(word not in PAUSES for word in words) - 2 <= int(match[1]) <= len(words) + 2


def _dialect(rows: Sequence[Sequence[str]]) -> Guess:
    """The dialect of a list with `|||`; Moses's, which reads most of them, where there is no sign of another."""
    width = len(rows[0])
    number = [re.fullmatch(NUMBER, column.strip()) is not None for column in rows[0]]
    joined = [bool(column.strip()) and _all_joined(column) for column in rows[0]]
    if width >= 4 and number[2] and not number[3] and (joined[3] or not rows[0][3].strip()):
        return Guess("travatar", "Travatar n-best")
    if width >= 5 and number[-1] and re.match(r"\s*F0=", rows[0][-2]):
        return Guess("marian", "Marian n-best")
    if joined[2:3] == [True] and not rows[0][2].strip().startswith("F0="):
        names = {tuple(field.partition("=")[0] for field in row[2].split()) for row in rows if len(row) > 2}
        if re.search(r"(?:^|\s)(?:tm_\w+_\d+|lm_\d+|OOVPenalty)=", rows[0][2]):
            return Guess("joshua", "Joshua n-best")
        if len(names) > 1:
            return Guess("cdec", "cdec k-best")
    return MOSES


def _all_joined(column: str) -> bool:
    return all(JOINED.fullmatch(field) for field in column.split())


def _json(filled: Sequence[str]) -> Guess | None:
    """A guess by the keys of JSON; where the first lines are only the beginning of a document, by their spelling."""
    try:
        record: Any = read_json(filled[0])
    except ValueError:
        text = "\n".join(filled)
        try:
            record = read_json(text)
        except ValueError:
            return _json_keys(lambda key: f'"{key}"' in text)
    if _two_rows(filled):
        return Guess("rows", "the rows of a table, as JSON lines")
    keys = _keys(record, 4)
    return _json_keys(lambda key: key in keys)


def _table(filled: Sequence[str]) -> Guess | None:
    """A guess by the columns of a table: a text and an id in the first row, which may be all of its segment."""
    row = read_json(filled[0])
    named = isinstance(row.get("text"), str) and any(row.get(key) is not None for key in ("id", "segment_id"))
    return ONE_EACH if named else None


def _two_rows(filled: Sequence[str]) -> bool:
    """Whether the first two lines are objects of plain values, with a text each, of one segment."""
    if len(filled) < 2 or not (_is_json(filled[0]) and _is_json(filled[1])):
        return False
    first, second = read_json(filled[0]), read_json(filled[1])
    if not all(isinstance(row, dict) and isinstance(row.get("text"), str) for row in (first, second)):
        return False
    if any(isinstance(value, dict | list) for value in (*first.values(), *second.values())):
        return False
    return any(key in first and first[key] == second.get(key) for key in ("id", "segment_id"))


def _json_keys(has: Callable[[str], bool]) -> Guess | None:
    if has("hyps") or (has("input") and has("output")):
        return Guess("hyporadise", "JSON lines of HyPoradise")
    if (
        (has("choices") and (has("message") or has("text")))
        or (has("candidates") and has("parts"))
        or (has("outputs") and (has("cumulative_logprob") or has("token_ids")))
    ):
        return Guess("completions", "the responses of a language model")
    if has("NBest") or (has("alternatives") and (has("transcript") or has("text"))):
        return Guess("alternatives", "the alternatives of a speech service or of Vosk")
    if has("avg_logprob") or has("no_speech_prob"):
        return Guess("whisper", "Whisper's JSON")
    if has("translations") or (has("sentence_id") and has("translation")):
        return Guess("sockeye", "Sockeye's JSON")
    if has("sequences") or any(has(key) for key in PIPELINE_TEXTS):
        return Guess("transformers", "the output of transformers")
    if has("hypotheses"):
        return Guess("ctranslate2", "CTranslate2's JSON")
    return None


def _keys(value: Any, depth: int) -> set[str]:
    """The keys of the objects in a JSON value, down to a depth; of an array the first elements are examined."""
    if depth == 0:
        return set()
    if isinstance(value, dict):
        return set(value).union(*(_keys(inner, depth - 1) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(_keys(inner, depth) for inner in value[:3]))
    return set()
