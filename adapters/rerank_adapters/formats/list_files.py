"""The files of lists: the name of an utterance that has a file of its own, and the files of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from rerank_plugins import FormatError
from rerank_plugins.kit.files.text import STANDARD

COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
AUDIO = (".wav", ".flac", ".mp3", ".m4a", ".mp4", ".ogg", ".opus", ".sph", ".webm", ".mfc")


def stem(path: str) -> str:
    """The name of a file without its folder and ending, the id of an utterance that has a file of its own.

    The endings of compression and of audio files do not count.

    >>> stem("lists/utt.07.nbest.gz"), stem("utt-07.wav.json")
    ('utt.07', 'utt-07')
    """
    if path in (STANDARD, "<stdin>"):
        return "0"
    name = Path(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    name = Path(name).stem
    return Path(name).stem if name.endswith(AUDIO) else name


def files_in(folder: str, endings: Collection[str] = ()) -> list[Path]:
    """The files of a folder in the order of their names, but no hidden ones; with `endings` only those that end so.

    A compressed file counts by the ending before that of the compression. Raises FormatError where there is none.
    """

    def ending(path: Path) -> str:
        return Path(path.name.removesuffix(path.suffix)).suffix if path.suffix in COMPRESSED else path.suffix

    files = [path for path in sorted(Path(folder).iterdir()) if path.is_file() and not path.name.startswith(".")]
    chosen = [path for path in files if not endings or ending(path) in endings]
    if not chosen:
        wanted = f" that ends in {' or '.join(endings)}" if endings else ""
        raise FormatError(f"the folder has no file{wanted}", path=folder)
    return chosen


def lists_in(folder: str) -> list[Path]:
    """The files of a folder with one list each: those with the most frequent ending, if most files have it, else all.

    So a text of references or a table of speakers may lie beside the lists. Raises FormatError where there is no file.
    """
    files = files_in(folder)
    ending, number = Counter(path.suffix for path in files).most_common(1)[0]
    return [path for path in files if path.suffix == ending] if 2 * number > len(files) else files
