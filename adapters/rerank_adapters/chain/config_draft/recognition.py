"""Recognises files: n-best lists, text of one line a segment, scores, decoder weights, or an n-gram language model."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rerank_adapters.chain.config_draft.lists import Lists, Reader
from rerank_adapters.chain.config_draft.roles import ROLES, role_of
from rerank_adapters.chain.config_draft.undecided import decide
from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.formats.guessing import MAX_LINES, NUMBER, Guess, guess, guess_folder
from rerank_adapters.formats.kaldi import COSTS
from rerank_adapters.formats.list_files import stem
from rerank_adapters.formats.record_texts import shows_table
from rerank_plugins import FormatError
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.model_file import is_model_file
from rerank_plugins.ngram.arpa_files import is_kenlm_binary

ANY_TEXT = ("plain", "espnet")  # formats in which almost any text can be read
SCORES = re.compile(rf"\s*{NUMBER}(?:\s+{NUMBER})*\s*")
WEIGHT = re.compile(rf"\S+=\s*{NUMBER}(?:\s+{NUMBER})*")


@dataclass
class Recognised:
    """The files by what they are; `of_folders` are those that nobody named, since they are in a folder, which may hold
    anything, and `unused` those of them that are nothing of this.
    """

    lists: list[Lists] = field(default_factory=list)
    texts: list[Path] = field(default_factory=list)
    scores: list[Path] = field(default_factory=list)
    weights: list[Path] = field(default_factory=list)
    language_models: list[Path] = field(default_factory=list)
    of_folders: set[Path] = field(default_factory=set)
    unused: list[Path] = field(default_factory=list)


def recognise(
    paths: Sequence[Path], registry: Registry, format_: str | None = None, texts: Collection[Path] = ()
) -> Recognised:
    """Sort files by what they are, and read the lists; `format_` is the format of the lists where it is known.

    `texts` are known to be texts. A folder that is no n-best lists stands for its files, but for configs; the files
    beside the lists of a folder count too. A file that could be lists or a text counts as a text if other files are
    lists, and else is judged by the numbers of lines. Raises FormatError for lists that break their format, and if no
    file holds n-best lists.
    """
    recognised, undecided, reader = Recognised(), list[Path](), Reader(registry, format_)
    kinds = {
        "scores": recognised.scores, "weights": recognised.weights, "language model": recognised.language_models
    }  # fmt: skip
    reason: FormatError | None = None
    keyed: list[Path] = []
    for path in _files(paths, reader, recognised.of_folders):
        if path.is_dir():
            recognised.lists.append(reader.read(path, reader.name or guess_folder(str(path)).name))
            continue
        try:
            kind, head = _kind(path)
        except FormatError:
            if path not in recognised.of_folders:
                raise
            recognised.unused.append(path)
            continue
        if path in texts:
            recognised.texts.append(path)
        elif kind == "weights" and path.suffix == ".toml" and path in recognised.of_folders:
            recognised.unused.append(path)  # probably a config
        elif kind:
            kinds[kind].append(path)
        else:
            try:
                shown = guess(head, str(path))
            except FormatError as error:
                shown, reason = None, reason or error
            if (reader.name or (shown.name if shown else "")) == "kaldi":
                keyed.append(path)
            elif reader.name in ANY_TEXT or (shown is not None and (shown.uncertain or _has_texts(path, shown))):
                undecided.append(path)
            elif shown is not None:
                recognised.lists.append(reader.read(path, reader.name or shown.name))
            elif reader.name and (tried := reader.tried(path)):
                recognised.lists.append(tried)
            else:
                recognised.texts.append(path)
    _sort_keyed(keyed, recognised, reader)
    if recognised.lists:
        recognised.texts += undecided
    else:
        recognised.lists = decide([*undecided, *recognised.texts], reader, texts)
        chosen = {one.path for one in recognised.lists}
        recognised.texts = [path for path in (*recognised.texts, *undecided) if path not in chosen]
    if not recognised.lists:
        reason = reason or FormatError("holds no n-best lists", path=str(paths[0]))
        if len(recognised.texts) > 1:
            advice = "if the files are outputs of systems, name the references with -r"
            raise FormatError(f"{reason.message}; {advice}", path=reason.path, line=reason.line)
        raise reason
    return recognised


def _sort_keyed(keyed: Sequence[Path], recognised: Recognised, reader: Reader) -> None:
    """Sort files of keys that end in ranks, as Kaldi's: lists, archives of costs beside them, and texts.

    The ids of utterances may end in numbers, too. A file whose keys are the ids of lists is a text. Raises FormatError
    for any other file that cannot be read as lists.
    """
    failed: dict[Path, FormatError] = {}
    lists: list[Lists] = []
    for path in keyed:
        if all(map(SCORES.fullmatch, _keys_and_values(path)[1])):
            if path.name not in COSTS:
                recognised.unused.append(path)
            continue
        try:
            lists.append(reader.read(path, "kaldi"))
        except FormatError as error:
            failed[path] = error
    for path in [*failed, *(one.path for one in lists)]:
        own = set(_keys_and_values(path)[0])
        if any(own <= set(one.ids) for one in (*recognised.lists, *lists) if one.path != path):
            recognised.texts.append(path)
        elif path in failed:
            raise failed[path]
    recognised.lists += [one for one in lists if one.path not in recognised.texts]


def _keys_and_values(path: Path) -> tuple[list[str], list[str]]:
    with open_lines(path) as lines:
        pairs = [(*line.split(maxsplit=1), "", "")[:2] for line in lines if line.strip()]
    return [key for key, _ in pairs], [value.strip() for _, value in pairs]


def _files(paths: Iterable[Path], reader: Reader, of_folders: set[Path]) -> list[Path]:
    """The paths, with the files of a folder in its place or, where it is n-best lists, the other files after it.

    `of_folders` takes up the files of folders.
    """
    files = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inner = _files((child for child in sorted(path.iterdir()) if child.name[0] != "."), reader, of_folders)
        if (lists := _lists_of_folder(path, reader)) is not None:
            files.append(path)
            utterances = {nbest.segment_id for nbest in lists.nbests}
            inner = [file for file in inner if not file.is_dir() and stem(str(file)) not in utterances]
            inner = [file for file in inner if not re.fullmatch(r"[1-9][0-9]*best_recog", file.parent.name)]
        of_folders.update(inner)
        files += inner
    return files


def _lists_of_folder(folder: Path, reader: Reader) -> Lists | None:
    """The lists that a folder is; None for one whose files are lists of several sets, or other files."""
    names = [child.name for child in folder.iterdir()]
    if {*ROLES} <= {role_of(name) for name in names}:
        return None
    if reader.name:
        return reader.tried(folder) if reader.reads_folders else None
    try:
        guessed = guess_folder(str(folder))
    except FormatError:
        return None
    return reader.read(folder, guessed.name)


def _has_texts(path: Path, shown: Guess) -> bool:
    """Whether a table has one text for each id, as references have it."""
    if shown.name != "rows":
        return False
    with open_lines(path) as lines:
        return shows_table([line.rstrip("\r\n") for line in lines], "reference")


def _kind(path: Path) -> tuple[str, list[str]]:
    """What a file is that is neither lists nor a text, or an empty text; and its first lines.

    Raises FormatError for a file that cannot be read, and for a model of this program.
    """
    if is_model_file(path):
        raise FormatError("is a model file of this program: give it to the feature that uses it", path=str(path))
    binary = is_kenlm_binary(path)
    with open_lines(path) as lines:
        head = [] if binary else list(islice(lines, MAX_LINES))
    if binary or [line.strip() for line in head[:3] if line.strip()][:1] == ["\\data\\"]:
        return "language model", head
    if path.suffix in (".ini", ".toml") or (head and all(WEIGHT.fullmatch(line.strip()) for line in head)):
        return "weights", head
    return "scores" if head and all(map(SCORES.fullmatch, head)) else "", head
