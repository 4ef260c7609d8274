"""Write the files of the second pass over ESPnet's lists of LibriSpeech, for `rerank run configs/espnet.toml`.

LISTS is a folder with archives of n-best folders (dev_other.tar.xz, test_clean.tar.xz) and books_read.tsv, which names
the books that the recordings read. TEXTS is a folder with novels.txt.xz and novels-more.txt.xz and the line ranges of
their books (NAME.index.tsv). FOLDER gets the lists and references of half the speakers of dev_other (tune), of the other
half (other) and of test_clean (clean), in lower case, and the text of all other books as a recogniser would write it:
all sentences (text.gz), and every eighth for the models of trees, which parse it (some.gz).

\b
    python -m docs.results.scripts.espnet_job LISTS TEXTS work/espnet-lists
"""

from __future__ import annotations

import csv
import gzip
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

import click

from docs.results.scripts.experiment import FOLDER, experiment, file_of, say
from docs.results.scripts.spoken_text import as_spoken
from rerank_adapters import NBestList, read_nbest
from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.writing import open_lists
from rerank_plugins.kit.files.text import open_text

PARSED = 8  # every sentence of this number is parsed


@experiment("espnet_job", __doc__)
@click.argument("lists", type=FOLDER)
@click.argument("texts", type=FOLDER)
@click.argument("folder", type=click.Path(path_type=Path))
def main(lists: Path, texts: Path, folder: Path) -> None:
    """Write the three sets and the text."""
    folder.mkdir(parents=True, exist_ok=True)
    archives = {name: file_of(lists, f"{name}.tar.xz") for name in ("dev_other", "test_clean")}
    read = books(file_of(lists, "books_read.tsv"))
    nbests, references = in_lower_case(archives["dev_other"])
    speakers = sorted({speaker_of(nbest) for nbest in nbests})
    tuning = set(speakers[::2])
    for name, some in (
        ("tune", [nbest for nbest in nbests if speaker_of(nbest) in tuning]),
        ("other", [nbest for nbest in nbests if speaker_of(nbest) not in tuning]),
    ):
        write_set(folder, name, some, references)
    write_set(folder, "clean", *in_lower_case(archives["test_clean"]))
    lines = 0
    with _writing(folder / "text.gz") as out, _writing(folder / "some.gz") as parsed:
        for name in ("novels", "novels-more"):
            for line in as_spoken(unread_lines(texts, name, read)):
                out.write(line + "\n")
                if lines % PARSED == 0:
                    parsed.write(line + "\n")
                lines += 1
    print(f"wrote {lines:,} sentences of unread books to {folder / 'text.gz'}")


def _writing(path: Path) -> TextIO:
    return gzip.open(path, "wt", encoding="utf-8", compresslevel=1)


def books(path: Path) -> set[str]:
    """The names of the books in the second column."""
    with path.open(encoding="utf-8", newline="") as rows:
        return {row["book"] for row in csv.DictReader(rows, delimiter="\t")}


def unread_lines(texts: Path, name: str, read: set[str]) -> Iterator[str]:
    """The lines of the books of a text that are not among those read."""
    with file_of(texts, f"{name}.index.tsv").open(encoding="utf-8", newline="") as rows:
        spans = [(int(r["first_line"]), int(r["last_line"]), r["file"]) for r in csv.DictReader(rows, delimiter="\t")]
    left_out = sorted((first, last) for first, last, book in spans if book in read)
    say(f"{name}: {len(left_out)} of {len(spans)} books are left out")
    skipped = iter(left_out)
    first, last = next(skipped, (0, -1))
    with open_text(file_of(texts, f"{name}.txt.xz")) as lines:
        for at, line in enumerate(lines, 1):
            if last != -1 and at > last:
                first, last = next(skipped, (0, -1))
            if not first <= at <= last:
                yield line


def in_lower_case(archive: Path) -> tuple[list[NBestList], dict[str, str]]:
    """The lists of an archive with its recogniser's scores, and the references by utterance."""
    with TemporaryDirectory() as folder, tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
        (root,) = Path(folder).iterdir()
        lists = [
            NBestList.from_texts(
                [text.lower() for text in nbest.texts],
                scores=[float(hypothesis.score or 0.0) for hypothesis in nbest],
                segment_id=nbest.segment_id,
            )
            for nbest in read_nbest(root / "logdir")
        ]
        lines = (root / "ref.text").read_text(encoding="utf-8").splitlines()
    return lists, {utterance: text.lower() for utterance, _, text in (line.partition(" ") for line in lines)}


def speaker_of(nbest: NBestList) -> str:
    """The reader, the first number of an utterance."""
    return nbest.segment_id.partition("-")[0]


def write_set(folder: Path, name: str, nbests: list[NBestList], references: dict[str, str]) -> None:
    """Write the lists in the format of Moses, and the references as Kaldi does."""
    with open_lists(folder / f"{name}.nbest.gz", FORMATS["moses"]()) as out:
        for nbest in nbests:
            out.write(nbest)
    text = "".join(f"{nbest.segment_id} {references[nbest.segment_id]}\n" for nbest in nbests)
    (folder / f"{name}.ref").write_text(text, encoding="utf-8")
    print(f"wrote {len(nbests):,} utterances to {folder / name}.nbest.gz")


if __name__ == "__main__":
    main()
