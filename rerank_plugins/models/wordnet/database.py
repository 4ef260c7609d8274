"""The files of WordNet's database (the manual pages wndb(5WN) and morph(7WN)).

    data.POS     offset lex_filenum ss_type w_cnt word lex_id … p_cnt [symbol offset pos source/target] … | gloss
    index.POS    lemma pos synset_cnt p_cnt [symbol …] sense_cnt tagsense_cnt offset …
    POS.exc      inflected_form base_form …

with POS one of noun, verb, adj and adv; lines that begin with a blank are the licence. A synset is known by its offset,
the place of its line in data.POS. Of the pointers, hypernyms are read: `@`, and `@i` of instances (a city is one).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rerank_plugins.arrays import LongArray
from rerank_plugins.errors import ConfigError, FormatError

PARTS = ("noun", "verb", "adj", "adv")
HYPERNYMS = ("@", "@i")
LETTERS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}


@dataclass(frozen=True, eq=False)
class Database:
    """Synsets by number, those of a part of speech together.

    `part` (S) indexes PARTS; the hypernyms of s are `hypernyms[starts[s] : starts[s + 1]]`; `senses[p]` has the synsets
    of each lemma of a part of speech, most frequent first, and `exceptions[p]` the lemmas of irregular forms.
    """

    part: LongArray
    starts: LongArray
    hypernyms: LongArray
    senses: tuple[Mapping[str, tuple[int, ...]], ...]
    exceptions: tuple[Mapping[str, tuple[str, ...]], ...]


def wordnet_folder(given: Path | None = None) -> Path | None:
    """The folder of the database: the one given, or where WordNet's own tools look: WNSEARCHDIR, then WNHOME/dict.

    None where nothing is said. Raises ConfigError for a folder, given or named by a variable, without the nouns.
    """
    home, found = os.environ.get("WNHOME"), os.environ.get("WNSEARCHDIR")
    folder = given or (Path(found) if found else Path(home) / "dict" if home else None)
    if folder is None:
        return None
    for place in (folder, folder / "dict"):
        if (place / "index.noun").is_file():
            return place
    raise ConfigError(f"{folder}: no WordNet database: wanted data.noun, index.noun and so on")


def read_database(folder: Path) -> Database:
    """All parts of speech that the folder has. Raises FormatError, with file and line, where a line is not as above."""
    parts: list[int] = []
    hypernyms: list[list[int]] = []
    pointers: list[tuple[int, str, str, int]] = []  # number of the synset, part and offset pointed at, line
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
            where = f"{folder / f'data.{PARTS[parts[synset]]}'}"
            raise FormatError(f"hypernym {offset} is not in data.{name}", path=where, line=line)
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
    """Number and fields of each line, less gloss and licence; none where there is no such file."""
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
    """Part of speech and offset of each."""
    try:
        at = 4 + 2 * int(fields[3], 16)
        count = int(fields[at])
        found = [fields[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(count)]
        for symbol, offset, letter, _ in found:
            if symbol in HYPERNYMS:
                yield LETTERS[letter], offset
    except (IndexError, ValueError, KeyError):
        raise FormatError(
            "not a line of a WordNet data file: wanted offset, file, type, words, pointers", path=str(path), line=line
        ) from None


def _senses(path: Path, number: Mapping[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Lemmas with their synsets."""
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
