"""Reads the files of WordNet's database (the manual pages wndb(5WN) and morph(7WN)).

    data.POS     offset lex_filenum ss_type w_cnt word lex_id … p_cnt [symbol offset pos source/target] … | gloss
    index.POS    lemma pos synset_cnt p_cnt [symbol …] sense_cnt tagsense_cnt offset …
    POS.exc      inflected_form base_form …

where POS is noun, verb, adj or adv; lines that begin with a blank contain the licence. A synset is identified by its
offset, the position of its line in data.POS. The only pointers read are hypernyms: `@`, and `@i` from an instance (such
as a particular city) to its class.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.errors import ConfigError, FormatError

PARTS = ("noun", "verb", "adj", "adv")
HYPERNYMS = ("@", "@i")
LETTERS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}


@dataclass(frozen=True, eq=False)
class Database:
    """The synsets, numbered by part of speech, with their hypernyms and lemmas.

    `part` (S) indexes PARTS; the hypernyms of s are `hypernyms[starts[s] : starts[s + 1]]`. For part of speech p,
    `senses[p]` maps each lemma to its synsets, most frequent first; `exceptions[p]` irregular forms to their lemmas.
    """

    part: LongArray
    starts: LongArray
    hypernyms: LongArray
    senses: tuple[Mapping[str, tuple[int, ...]], ...]
    exceptions: tuple[Mapping[str, tuple[str, ...]], ...]


def wordnet_folder(explicit: Path | None = None) -> Path | None:
    """The folder of the database: the argument, or where WordNet's own tools look: WNSEARCHDIR, then WNHOME/dict.

    None if none of them is set. Raises ConfigError if the folder contains no index.noun, in itself or in its `dict`.
    """
    home, search_folder = os.environ.get("WNHOME"), os.environ.get("WNSEARCHDIR")
    folder = explicit or (Path(search_folder) if search_folder else Path(home) / "dict" if home else None)
    if folder is None:
        return None
    for place in (folder, folder / "dict"):
        if (place / "index.noun").is_file():
            return place
    raise ConfigError(f"{folder}: no WordNet database: wanted data.noun, index.noun and so on")


def read_database(folder: Path) -> Database:
    """Read all parts of speech in the folder. Raises FormatError, with file and line, for a malformed line."""
    parts: list[int] = []
    hypernyms: list[list[int]] = []
    pointers: list[tuple[int, str, str, int]] = []  # synset, part and offset of its hypernym, line
    number: list[dict[str, int]] = []
    for part, name in enumerate(PARTS):
        number.append({})
        for line, fields in _lines(folder / f"data.{name}"):
            synset = number[part][fields[0]] = len(parts)
            parts.append(part)
            hypernyms.append([])
            pointers += [(synset, p, offset, line) for p, offset in _hypernyms(fields, folder / f"data.{name}", line)]
    for synset, name, offset, line in pointers:
        target = number[PARTS.index(name)].get(offset)
        if target is None:
            data_file = f"{folder / f'data.{PARTS[parts[synset]]}'}"
            raise FormatError(f"hypernym {offset} is not in data.{name}", path=data_file, line=line)
        hypernyms[synset].append(target)
    return Database(
        np.array(parts, np.int64),
        np.cumsum([0, *map(len, hypernyms)], dtype=np.int64),
        np.array([target for targets in hypernyms for target in targets], np.int64),
        tuple(dict(_senses(folder / f"index.{name}", number[part])) for part, name in enumerate(PARTS)),
        tuple(
            {fields[0]: tuple(fields[1:]) for _, fields in _lines(folder / f"{name}.exc") if len(fields) > 1}
            for name in PARTS
        ),
    )


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number and fields of each line, without gloss and licence; nothing if the file does not exist."""
    if not path.is_file():
        return
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.startswith(" ") and (fields := line.partition("|")[0].split()):
                    yield number, fields
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read ({error})", path=str(path)) from None


def _hypernyms(fields: list[str], path: Path, line: int) -> Iterator[tuple[str, str]]:
    """The part of speech and offset of each hypernym in a line of data.POS."""
    try:
        at = 4 + 2 * int(fields[3], 16)
        count = int(fields[at])
        if count > len(fields):
            raise ValueError(count)
        pointers = [fields[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(count)]
        for symbol, offset, letter, _ in pointers:
            if symbol in HYPERNYMS:
                yield LETTERS[letter], offset
    except (IndexError, ValueError, KeyError):
        raise FormatError(
            "not a line of a WordNet data file: wanted offset, file, type, words, pointers", path=str(path), line=line
        ) from None


def _senses(path: Path, number: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The lemmas of an index file with their synsets; `number` maps offsets to synsets."""
    for line, fields in _lines(path):
        try:
            senses = int(fields[2])
            offsets = fields[6 + int(fields[3]) :]
            if len(offsets) != senses:
                raise ValueError(offsets)
            yield fields[0], tuple(number[offset] for offset in offsets)
        except (IndexError, ValueError):
            wanted = "wanted lemma, part of speech, counts, pointers, offsets"
            raise FormatError(f"not a line of a WordNet index: {wanted}", path=str(path), line=line) from None
        except KeyError as error:
            name = path.name.replace("index", "data")
            raise FormatError(f"synset {error.args[0]} is not in {name}", path=str(path), line=line) from None
