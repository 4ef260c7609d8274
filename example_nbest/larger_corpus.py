"""Makes a folder like mt/ from a larger corpus: `python example_nbest/larger_corpus.py CORPUS FOLDER [PAIRS]`.

CORPUS holds train.de-en.xz (a pair a line, `German ||| English`), and tune.src, tune.ref, test.src, test.ref, a
sentence a line; all tokenised. FOLDER gets text, phrase table (only what tune and test can use) and language model, by
the same code as mt/. PAIRS: how many pairs are read, at even distances, by default all. With --reverse the models
translate from English into German, and the .ref files are the source. 167,000 pairs of 8 words take 80 seconds.
"""

from __future__ import annotations

import argparse
import lzma
from pathlib import Path

import make


def main(corpus: Path, folder: Path, count: int | None = None, *, reverse: bool = False) -> None:
    """Write text and models into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = read_pairs(corpus)
    if count:
        pairs = pairs[:: max(1, len(pairs) // count)][:count]
    for column, language in enumerate(("de", "en")):
        make.save(folder / f"train.{language}", (pair[column] for pair in pairs))
    for part in ("tune", "test"):
        for kind, language in (("src", "de"), ("ref", "en")):
            make.save(
                folder / f"{part}.{language}", (corpus / f"{part}.{kind}").read_text(encoding="utf-8").splitlines()
            )
    make.train(folder, reverse=reverse)


def read_pairs(corpus: Path) -> list[list[str]]:
    """The training pairs of a corpus."""
    with lzma.open(corpus / "train.de-en.xz", "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split(" ||| ") for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("pairs", type=int, nargs="?", help="how many pairs are read (default: all)")
    parser.add_argument("--reverse", action="store_true", help="from English into German")
    given = parser.parse_args()
    main(given.corpus, given.folder, given.pairs, reverse=given.reverse)
