"""Translates: `python -m example_nbest.neural.decode FOLDER SOURCE --beam 50 -o LISTS`, or `--samples 50` for samples.

Lists are in Moses' format, with the features NMT (ln p of the hypothesis) and Pieces, and NMT / (Pieces + 1) as score:
the order that fairseq gives a beam with `--lenpen 1`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from example_nbest.neural.model import END, START, Memory, Transformer, padded
from example_nbest.neural.text import encoded, open_pieces
from example_nbest.neural.train import load_model
from rerank_plugins import open_atomic, open_text

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


class Decoded(NamedTuple):
    """The pieces of a hypothesis without its end, and ln p of the pieces and the end."""

    pieces: list[int]
    log_p: float

    @property
    def score(self) -> float:
        """Ln p per piece, the end among them."""
        return self.log_p / (len(self.pieces) + 1)


class Prefixes:
    """Hypotheses of one source that grow by a piece at a time: the model's memory of them, and ln p of what follows."""

    def __init__(self, model: Transformer, source: list[int], number: int = 1) -> None:
        self.model = model
        memory, self.mask = model.encode(padded([source]).to(model.embedding.weight.device))
        self.source = _repeated(memory, number)
        self.past: Memory | None = None

    def follow(self, rows: Tensor, last: Tensor) -> Tensor:
        """(hypotheses, pieces) ln p of the next piece; hypothesis i is the earlier `rows[i]` with `last[i]` added."""
        if self.past is not None:
            self.past = [(keys[rows], values[rows]) for keys, values in self.past]
            self.source = [(keys[rows], values[rows]) for keys, values in self.source]
        states, self.past = self.model.decode(last[:, None], self.source, self.mask, self.past)
        return self.model.logits(states[:, -1]).log_softmax(-1)


def _repeated(memory: Memory, number: int) -> Memory:
    return [(keys.expand(number, -1, -1, -1), values.expand(number, -1, -1, -1)) for keys, values in memory]


@torch.no_grad()
def beam_search(model: Transformer, source: list[int], beam: int, longest: int) -> list[Decoded]:
    """At most `beam` hypotheses of at most `longest` pieces, the best score first.

    A hypothesis is finished where its end is among the `beam` best continuations of all prefixes; the search ends with
    `beam` finished ones, or at the longest. As in fairseq, finished hypotheses take no place from prefixes.
    """
    prefixes = Prefixes(model, source)
    device = model.embedding.weight.device
    rows, last = torch.zeros(1, dtype=torch.long, device=device), torch.tensor([START], device=device)
    log_p, live, finished = torch.zeros(1, device=device), list[list[int]]([[]]), list[Decoded]()
    while len(finished) < beam and live:
        following = log_p[:, None] + prefixes.follow(rows, last)
        if len(live[0]) == longest:
            following[:, :END] = following[:, END + 1 :] = -math.inf
        best, places = following.flatten().topk(min(2 * beam, following.numel()))  # half of them do not end
        origins, pieces = places // following.shape[1], places % following.shape[1]
        kept = []
        for rank, (value, origin, piece) in enumerate(
            zip(best.tolist(), origins.tolist(), pieces.tolist(), strict=True)
        ):
            if value == -math.inf or len(kept) == beam:
                break
            if piece != END:
                kept.append(rank)
            elif rank < beam and len(finished) < beam:
                finished.append(Decoded(live[origin], value))
        rows, last, log_p = origins[kept], pieces[kept], best[kept]
        live = [[*live[origin], piece] for origin, piece in zip(rows.tolist(), last.tolist(), strict=True)]
    return sorted(finished, key=lambda decoded: -decoded.score)


@torch.no_grad()
def samples(
    model: Transformer, source: list[int], number: int, longest: int, generator: torch.Generator
) -> list[Decoded]:
    """Hypotheses drawn from the model's distribution, in the order of drawing; the longest end where they are."""
    prefixes = Prefixes(model, source, number)
    device = model.embedding.weight.device
    rows, last = torch.arange(number, device=device), torch.full((number,), START, device=device)
    drawn, log_p, ended = [list[int]() for _ in range(number)], [0.0] * number, [False] * number
    while not all(ended):
        following = prefixes.follow(rows, last)
        last = torch.multinomial(following.exp().cpu(), 1, generator=generator)[:, 0].to(device)
        if len(drawn[ended.index(False)]) == longest:
            last = torch.full_like(last, END)
        for row, (piece, value) in enumerate(zip(last.tolist(), following[rows, last].tolist(), strict=True)):
            if ended[row]:
                continue
            log_p[row] += value
            ended[row] = piece == END
            if piece != END:
                drawn[row].append(piece)
    return [Decoded(pieces, value) for pieces, value in zip(drawn, log_p, strict=True)]


def moses_lines(
    number: int, decoded: Iterable[Decoded], pieces: SentencePieceProcessor, distinct: bool
) -> Iterator[str]:
    """The lines of a list; if `distinct`, each text once, in its best segmentation."""
    texts = set()
    for one in decoded:
        text = pieces.decode(one.pieces)
        if not (distinct and text in texts):
            yield f"{number} ||| {text} ||| NMT= {one.log_p:.4f} Pieces= {len(one.pieces)} ||| {one.score:.5f}\n"
        texts.add(text)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="of the model")
    parser.add_argument("source", type=Path, help="a sentence a line")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the lists; .gz or .xz compresses them")
    parser.add_argument("--beam", type=int, default=50)
    parser.add_argument("--samples", type=int, help="draw as many hypotheses instead of searching")
    parser.add_argument("--seed", type=int, default=1, help="of the samples")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    model, pieces = load_model(options.folder, options.device), open_pieces(options.folder)
    generator = torch.Generator().manual_seed(options.seed)
    with open_text(options.source) as lines, open_atomic(options.out) as out:
        for number, source in enumerate(encoded(pieces, [line.strip() for line in lines])):
            longest = 2 * len(source) + 10
            decoded = (
                samples(model, source, options.samples, longest, generator)
                if options.samples
                else beam_search(model, source, options.beam, longest)
            )
            out.writelines(moses_lines(number, decoded, pieces, distinct=not options.samples))


if __name__ == "__main__":
    main()
