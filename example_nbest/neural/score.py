"""Scores lists: `python -m example_nbest.neural.score FOLDER LISTS --direction reverse --source SRC -o SCORES`.

SCORES gets ln p of each hypothesis, a line each in the order of the lists, as the feature `column` reads it: given its
source (`forward`), of the source given the hypothesis (`reverse`), or of the hypothesis alone (`lm`). With
`--sentences` LISTS is text, a sentence a line, to be scored by a language model.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from example_nbest.neural.model import Transformer
from example_nbest.neural.text import Direction, Pair, batches, encoded, open_pieces
from example_nbest.neural.train import Example, load_model, predictions
from rerank_plugins import FloatArray, open_atomic, open_text


@torch.no_grad()
def forced_scores(model: Transformer, examples: list[Example], tokens: int = 1024) -> FloatArray:
    """(examples) ln p of the pieces of each target and its end, given the source; equal examples are scored once.

    `tokens` bounds the source and target pieces of a batch.
    """
    keys = [(tuple(source), tuple(target)) for source, target in examples]
    distinct = list(dict.fromkeys(keys))
    scores = dict.fromkeys(distinct, 0.0)
    for batch in batches([len(source) + len(target) for source, target in distinct], tokens):
        rows = [distinct[item] for item in batch]
        logits, target = predictions(model, [(list(source), list(target)) for source, target in rows])
        values = -functional.cross_entropy(logits, target, reduction="none").double()
        ends = np.cumsum([len(target) for _, target in rows])
        sums = np.diff(np.append(0.0, values.cumsum(0).cpu().numpy()[ends - 1]))
        scores.update(zip(rows, sums.tolist(), strict=True))
    return np.array([scores[key] for key in keys])


def read_hypotheses(file: Path) -> list[tuple[int, str]]:
    """The number of the segment and the text of each hypothesis in lists in Moses' format."""
    with open_text(file) as lines:
        fields = [line.split(" ||| ") for line in lines]
    return [(int(field[0]), field[1].strip()) for field in fields]


def conditioned(hypotheses: Iterable[tuple[int, str]], sources: list[str], direction: Direction) -> list[Pair]:
    """For each hypothesis what the model reads, and what it predicts."""
    if direction == "lm":
        return [("", text) for _, text in hypotheses]
    if direction == "reverse":
        return [(text, sources[number]) for number, text in hypotheses]
    return [(sources[number], text) for number, text in hypotheses]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="of the model")
    parser.add_argument("lists", type=Path, help="in Moses' format")
    parser.add_argument("-o", "--out", type=Path, required=True, help="the scores; .gz or .xz compresses them")
    parser.add_argument("--direction", choices=["forward", "reverse", "lm"], default="forward")
    parser.add_argument("--source", type=Path, help="a sentence a line; not for a language model")
    parser.add_argument("--sentences", action="store_true", help="the lists are text, a sentence a line")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if options.direction != "lm" and (options.sentences or not options.source):
        parser.error(f"--direction {options.direction} needs lists and --source")
    sources = []
    if options.source:
        with open_text(options.source) as lines:
            sources = [line.strip() for line in lines]
    if options.sentences:
        with open_text(options.lists) as lines:
            hypotheses = [(0, line.strip()) for line in lines]
    else:
        hypotheses = read_hypotheses(options.lists)
    model, pieces = load_model(options.folder, options.device), open_pieces(options.folder)
    if not (model.encoder or options.direction == "lm"):
        parser.error(f"{options.folder} holds a language model: --direction lm")
    pairs = conditioned(hypotheses, sources, options.direction)
    read, predicted = (encoded(pieces, texts) for texts in zip(*pairs, strict=True))
    scores = forced_scores(model, list(zip(read, predicted, strict=True)))
    with open_atomic(options.out) as out:
        out.writelines(f"{score:.4f}\n" for score in scores)


if __name__ == "__main__":
    main()
