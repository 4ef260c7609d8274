"""Makes everything in mt/ again from text/, grammar/ and mt/moses.ini: `python example_nbest/make.py [FOLDER]`.

The same bytes each time. Steps: corpus, alignment, phrase table, language model, n-best lists of two decoders.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

from decoder.alignment import align
from decoder.beam import Decoder
from decoder.kneser_ney import estimate as estimate_ngrams
from decoder.kneser_ney import write_arpa
from decoder.language_model import LanguageModel
from decoder.nbest import moses_lines, nbest
from decoder.phrase_table import estimate, phrases_of, read, write
from decoder.symmetrise import grow_diag_final_and
from decoder.weights import Weights
from grammar.generate import sentences

HERE = Path(__file__).parent
SEED, GENERATED, LONGEST = 20, 800, 20
N, N_MONOTONE = 50, 10


def main(folder: Path) -> None:
    """Write all files into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {name: _read_pairs(name) for name in ("train", "tune", "test")}
    seen = {text for name in ("tune", "test") for pair in parts[name] for text in pair}
    corpus = [(source, target) for source, target in parts["train"]]
    corpus += islice(_unseen(seen), GENERATED)
    save(folder / "train.de", (source for source, _ in corpus))
    save(folder / "train.en", (target for _, target in corpus))
    for name in ("tune", "test"):
        for column, suffix in enumerate(("de", "en", "en.ref2")[: len(parts[name][0])]):
            save(folder / f"{name}.{suffix}", (row[column] for row in parts[name]))
    train(folder)
    for name, monotone, n in (("tune", False, N), ("test", False, N), ("test.monotone", True, N_MONOTONE)):
        sources = (row[0] for row in parts[name.partition(".")[0]])
        save(folder / f"{name}.nbest", decode(folder, sources, n, monotone=monotone), end="")


def train(folder: Path, *, reverse: bool = False) -> None:
    """Phrase table (only what tune and test can use) and language model from train.de and train.en.

    `reverse`: from English into German.
    """
    f, e = ("en", "de") if reverse else ("de", "en")
    source, target, tune, test = (
        _load(folder / name) for name in (f"train.{f}", f"train.{e}", f"tune.{f}", f"test.{f}")
    )
    target_of = align(list(zip(target, source, strict=True)))
    source_of = align(list(zip(source, target, strict=True)))
    links = [grow_diag_final_and(*both) for both in zip(target_of, source_of, strict=True)]
    table = estimate(list(zip(source, target, links, strict=True)), phrases_of([*tune, *test]))
    save(folder / "phrase-table.txt", write(table), end="")
    save(folder / "lm.arpa", write_arpa(estimate_ngrams(target, order=3)), end="")


def decode(folder: Path, sources: Iterable[str], n: int, *, monotone: bool = False) -> Iterator[str]:
    """Lines of the n-best lists of the sources, by the models of that folder."""
    with (
        (folder / "phrase-table.txt").open(encoding="utf-8") as table,
        (folder / "lm.arpa").open(encoding="utf-8") as model,
    ):
        weights = Weights.read((HERE / "mt/moses.ini").read_text().splitlines())
        decoder = Decoder(read(table), LanguageModel(model), weights)
    if monotone:
        decoder = replace(decoder, distortion_limit=0)
    for segment, source in enumerate(sources):
        yield from moses_lines(segment, nbest(decoder.search(source.split()), weights, n))


def _unseen(seen: set[str]) -> Iterator[tuple[str, str]]:
    """Generated sentences, each once, none that equals a sentence of the other parts in either language."""
    for pair in sentences(Random(SEED)):
        if not seen & set(pair) and len(pair[0].split()) <= LONGEST:
            seen.add(pair[0])
            yield pair


def _read_pairs(name: str) -> list[list[str]]:
    return [line.split(" ||| ") for line in (HERE / f"text/{name}.txt").read_text(encoding="utf-8").splitlines()]


def _load(path: Path) -> list[Sequence[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


def save(path: Path, lines: Iterable[str], end: str = "\n") -> None:
    """Whole or not at all: to a temporary file first."""
    unfinished = path.with_name(path.name + ".new")
    with unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + end for line in lines)
    unfinished.replace(path)


if __name__ == "__main__":
    gc.disable()  # lattices have millions of arcs and no cycles
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "mt")
