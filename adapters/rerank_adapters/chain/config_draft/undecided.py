"""Decides which files are lists where any text could be one: plain lines, lines with ids, outputs of systems.

A file of lists has a text beside it with a line for each of its segments: the references. Where no file is so, texts
with as many lines as the references, and their words, are the outputs of systems, which are combined: each is a file of
lists with one hypothesis for each segment. Otherwise a text that has n times as many lines as another, with its words
in every n-th line, has n hypotheses for each segment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.chain.config_draft.lists import Lists, Reader
from rerank_adapters.chain.config_draft.roles import REFERENCE, parts
from rerank_adapters.chain.config_draft.texts import SAME, shared_words
from rerank_adapters.formats.guessing import guess
from rerank_adapters.formats.reference_forms import distinct_ids
from rerank_adapters.formats.references import read_lines
from rerank_adapters.text import whole_words
from rerank_plugins import FormatError

ONE_A_LINE: tuple[str, dict[str, Any]] = ("plain", {"n": 1})
LONGEST = 1000  # hypotheses of a segment


def decide(files: Sequence[Path], reader: Reader, texts: Collection[Path]) -> list[Lists]:
    """The files of lists among `files`; those in `texts` are known to be texts. Empty where nothing speaks for any."""
    lines = {path: read_lines(path) for path in files}
    candidates = [path for path in files if path not in texts]
    one_a_line = reader.name == "plain" and reader.table.get("n") == 1
    if reader.name and not one_a_line:
        read = [reader.tried(path) for path in candidates]
        return _with_references([one for one in read if one], lines) or [one for one in read if one]
    if not one_a_line:
        read = [reader.tried(path, "espnet") for path in candidates if _shown(lines[path], path) == "espnet"]
        grouped = [one for one in read if one]
        if lists := _with_references(grouped, lines):
            return lists
        if grouped and len(files) == len(grouped):
            return grouped
    return _systems(candidates, lines, reader, texts) or ([] if one_a_line else _blocks(lines, reader))


def _shown(lines: Sequence[str], path: Path) -> str:
    try:
        return guess([f"{line}\n" for line in lines], str(path)).name
    except FormatError:
        return ""


def _with_references(lists: Sequence[Lists], lines: Mapping[Path, Sequence[str]]) -> list[Lists]:
    """The lists that have a text with a line for each segment, which then is no lists itself; the longest go first."""
    chosen: list[Lists] = []
    references: set[Path] = set()
    for one in sorted(lists, key=lambda one: -len(lines[one.path])):
        own = {path for path in lines if path != one.path and len(lines[path]) == len(one.nbests)}
        if own and one.path not in references:
            chosen.append(one)
            references |= own
    return [one for one in lists if one in chosen]


def _systems(
    candidates: Sequence[Path], lines: Mapping[Path, Sequence[str]], reader: Reader, texts: Collection[Path]
) -> list[Lists]:
    """The outputs of two or more systems for each text of references, by their names or as the user says."""
    references = [path for path in lines if path in texts or parts(path.name) & REFERENCE]
    systems: list[Lists] = []
    for reference in references:
        own = [
            path for path in candidates
            if path not in references and len(lines[path]) == len(lines[reference])
            and shared_words(whole_words(lines[path]), whole_words(lines[reference])) >= SAME
        ]  # fmt: skip
        known = {one.path for one in systems}
        if len(own) > 1:
            format_, options = ("espnet", {}) if _have_ids([lines[path] for path in (reference, *own)]) else ONE_A_LINE
            systems += [reader.read(path, format_, **options) for path in own if path not in known]
    return systems


def _have_ids(files: Sequence[Sequence[str]]) -> bool:
    """Whether lines are `utterance words`, with the same utterances in all files."""
    ids = [distinct_ids(lines, "kaldi") for lines in files]
    return ids[0] is not None and all(other is not None and set(other) == set(ids[0]) for other in ids)


def _blocks(lines: Mapping[Path, Sequence[str]], reader: Reader) -> list[Lists]:
    """Files of n lines for each segment, where n follows from the lines of other files, and is the same for all."""
    sizes = {
        path: len(lines[path]) // len(lines[other])
        for path in lines for other in lines
        if lines[other] and len(lines[path]) % len(lines[other]) == 0
        and 1 < (n := len(lines[path]) // len(lines[other])) <= LONGEST
        and shared_words(whole_words(lines[path][::n]), whole_words(lines[other])) >= SAME
    }  # fmt: skip
    if len(set(sizes.values())) != 1:
        return []
    return [reader.read(path, "plain", n=n) for path, n in sizes.items()]
