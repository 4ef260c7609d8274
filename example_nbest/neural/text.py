"""Text as pieces: pairs of sentences, the SentencePiece model of their pieces, and batches of about equal length."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from example_nbest.neural.model import END, LONGEST, PADDING, START, UNKNOWN
from rerank_plugins import open_text

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

Direction = Literal["forward", "reverse", "lm"]
Pair = tuple[str, str]  # what the model reads, and what it predicts


def read_pairs(files: Iterable[Path], direction: Direction) -> list[Pair]:
    """The training pairs of files with lines `source ||| target`.

    `forward` predicts the target from the source, `reverse` the source from the target, and `lm` the target from
    nothing; there a line may also be plain text.
    """
    pairs = []
    for file in files:
        with open_text(file) as lines:
            for number, line in enumerate(lines, 1):
                source, bar, target = line.strip().rpartition(" ||| ")
                if not bar and direction != "lm":
                    raise SystemExit(f"{file}:{number}: {line.strip()!r} is no pair, expected: source ||| target")
                pairs.append({"forward": (source, target), "reverse": (target, source), "lm": ("", target)}[direction])
    return pairs


def learn_pieces(file: Path, sentences: Iterable[str], size: int) -> None:
    """Write a unigram SentencePiece model (Kudo 2018) of at most `size` pieces; the text stays as it is."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        character_coverage=1.0,
        normalization_rule_name="identity",
        pad_id=PADDING,
        unk_id=UNKNOWN,
        bos_id=START,
        eos_id=END,
        num_threads=1,
        minloglevel=2,
    )
    write_whole(file, model.getvalue())


def write_whole(file: Path, content: bytes) -> None:
    """Write a file under a temporary name and rename it, so that an interrupted program leaves the old file or this."""
    temporary = file.with_suffix(".new")
    temporary.write_bytes(content)
    temporary.replace(file)


def open_pieces(folder: Path) -> SentencePieceProcessor:
    """The pieces of the model in a folder."""
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_file=str(folder / "pieces.model"))


def encoded(pieces: SentencePieceProcessor, texts: Sequence[str]) -> list[list[int]]:
    """The pieces of each text and its end; what exceeds the longest sentence is cut off."""
    return [[*ids[: LONGEST - 1], END] for ids in pieces.encode(list(texts))]


def batches(lengths: Sequence[int], tokens: int, generator: np.random.Generator | None = None) -> Iterator[list[int]]:
    """The numbers of the items in batches of about equal length, with items × longest ≤ `tokens` or a single item.

    With a generator, items of equal length and then the batches are in random order.
    """
    order = np.arange(len(lengths)) if generator is None else generator.permutation(len(lengths))
    order = order[np.argsort(np.asarray(lengths)[order], kind="stable")]
    groups: list[list[int]] = [[]]
    for item in order.tolist():
        if groups[-1] and (len(groups[-1]) + 1) * lengths[item] > tokens:
            groups.append([])
        groups[-1].append(item)
    yield from groups if generator is None else (groups[at] for at in generator.permutation(len(groups)))
