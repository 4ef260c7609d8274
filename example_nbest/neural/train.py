"""Trains a model: `python -m example_nbest.neural.train FOLDER FILES --direction reverse --steps 10000`.

The folder gets `pieces.model`, `model.pt` (sizes and weights), `checkpoint.pt` (what an interrupted run needs besides)
and `losses.tsv`. The same command continues a run that was interrupted, to the same losses: the order of the batches
and the dropout of a step follow from the seed and the number of the step. Another number of steps may be given then,
since the learning rate is constant until the last fifth of the steps, in which it falls to zero (Hu et al. 2024).
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from example_nbest.neural.model import START, Shape, Transformer, padded
from example_nbest.neural.text import batches, encoded, learn_pieces, open_pieces, read_pairs, write_whole

HELD_OUT = 200  # every 200th pair is held out
FALLING = 0.2  # of the steps, in which the learning rate falls
Example = tuple[list[int], list[int]]  # the pieces of source and target, each with its end


def save(folder: Path, name: str, values: dict[str, Any]) -> None:
    """Write values as a file of torch."""
    content = io.BytesIO()
    torch.save(values, content)
    write_whole(folder / name, content.getvalue())


def load_model(folder: Path, device: str = "cpu") -> Transformer:
    """The model of a folder, ready to be used."""
    stored = torch.load(folder / "model.pt", map_location=device, weights_only=True)
    model = Transformer(Shape(**stored["shape"])).to(device)
    model.load_state_dict(stored["weights"])
    return model.eval()


def predictions(model: Transformer, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
    """(predicted, vocabulary) logits of all pieces of the targets, one after another, and (predicted) these pieces."""
    device = model.embedding.weight.device
    source = padded([source for source, _ in examples]).to(device)
    target = padded([target for _, target in examples]).to(device)
    read = torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], 1)
    states, _ = model.decode(read, *model.encode(source))
    lengths = torch.tensor([len(target) for _, target in examples], device=device)
    predicted = torch.arange(target.shape[1], device=device) < lengths[:, None]
    return model.logits(states[predicted]), target[predicted]


def schedule(step: int, steps: int, warm_up: int) -> float:
    """The share of the learning rate at a step, from 0: linear warm-up, constant, linear fall to zero."""
    return min(1.0, (step + 1) / warm_up, (steps - step) / (FALLING * steps))


def batch_of_each_step(lengths: Sequence[int], tokens: int, seed: int) -> Iterator[tuple[int, list[int]]]:
    """The epoch and the numbers of the examples of each step, without end."""
    epoch = 0
    while True:
        for batch in batches(lengths, tokens, np.random.default_rng([seed, epoch])):
            yield epoch, batch
        epoch += 1


@torch.no_grad()
def held_out_loss(model: Transformer, examples: Sequence[Example], tokens: int) -> float:
    """−ln p per piece of the held-out targets."""
    model.eval()
    total, count = 0.0, 0
    for batch in batches([len(source) + len(target) for source, target in examples], tokens):
        logits, target = predictions(model, [examples[item] for item in batch])
        total += functional.cross_entropy(logits, target, reduction="sum").item()
        count += len(target)
    model.train()
    return total / max(1, count)


def train(
    folder: Path,
    examples: Sequence[Example],
    shape: Shape,
    *,
    steps: int,
    rate: float = 2e-3,
    warm_up: int = 400,
    tokens: int = 4096,
    smoothing: float = 0.1,
    seed: int = 1,
    every: int = 500,
    device: str = "cpu",
    bfloat16: bool = False,
    stop: int | None = None,
) -> Transformer:
    """Train a model, or continue from the checkpoint of the folder; `stop` ends at that step, as an interrupt would.

    `tokens` bounds the source and target pieces of a batch, `every` is the number of steps between checkpoints.
    """
    held_out, seen = examples[::HELD_OUT], [example for at, example in enumerate(examples) if at % HELD_OUT]
    torch.manual_seed(seed)
    model = Transformer(shape).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    first, log = 0, "step\tepoch\tloss\theld out\tseconds\n"
    if (folder / "checkpoint.pt").exists():
        checkpoint = torch.load(folder / "checkpoint.pt", map_location=device, weights_only=True)
        model.load_state_dict(checkpoint["weights"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        first, log = checkpoint["step"], checkpoint["log"]
    number_type = torch.autocast(device, torch.bfloat16) if bfloat16 else nullcontext()
    began, loss_sum = time.monotonic(), 0.0
    lengths = [len(source) + len(target) for source, target in seen]
    for step, (epoch, batch) in enumerate(batch_of_each_step(lengths, tokens, seed)):
        if step >= min(steps, stop or steps):
            break
        if step < first:
            continue
        torch.manual_seed(seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = rate * schedule(step, steps, warm_up)
        with number_type:
            logits, target = predictions(model, [seen[item] for item in batch])
        loss = functional.cross_entropy(logits, target, label_smoothing=smoothing)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss_sum += loss.item()
        if (step + 1) % every == 0 or step + 1 == steps:
            means = loss_sum / ((step % every) + 1), held_out_loss(model, held_out, tokens)
            log += f"{step + 1}\t{epoch}\t{means[0]:.4f}\t{means[1]:.4f}\t{time.monotonic() - began:.0f}\n"
            loss_sum = 0.0
            print(log.splitlines()[-1], flush=True)
            values = {"shape": asdict(shape), "weights": model.state_dict()}
            save(folder, "model.pt", values)
            write_whole(folder / "losses.tsv", log.encode())
            save(folder, "checkpoint.pt", values | {"optimizer": optimizer.state_dict(), "step": step + 1, "log": log})
    return model.eval()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="of the model")
    parser.add_argument("files", type=Path, nargs="+", help="lines `source ||| target`")
    parser.add_argument("--direction", choices=["forward", "reverse", "lm"], default="forward")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--pieces", type=int, default=6_000, help="at most, of both languages")
    for name in ("width", "inner", "heads", "encoder", "decoder"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Shape, name))
    parser.add_argument("--tokens", type=int, default=4096, help="source and target pieces of a batch")
    parser.add_argument("--rate", type=float, default=2e-3, help="highest learning rate")
    parser.add_argument("--smoothing", type=float, default=0.1, help="of labels, over all pieces; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=500, help="steps between checkpoints")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bfloat16", action="store_true", help="matrix products of 16 bits")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pairs = read_pairs(options.files, options.direction)
    if not (options.folder / "pieces.model").exists():
        learn_pieces(options.folder / "pieces.model", (text for pair in pairs for text in pair if text), options.pieces)
    pieces = open_pieces(options.folder)
    shape = Shape(
        len(pieces),
        options.width,
        options.inner,
        options.heads,
        0 if options.direction == "lm" else options.encoder,
        options.decoder,
    )
    sources, targets = (encoded(pieces, texts) for texts in zip(*pairs, strict=True))
    print(f"{len(pairs):,} pairs, {sum(map(len, targets)):,} target pieces", flush=True)
    names = ("steps", "rate", "tokens", "smoothing", "seed", "every", "device", "bfloat16")
    train(
        options.folder,
        list(zip(sources, targets, strict=True)),
        shape,
        **{name: getattr(options, name) for name in names},
    )


if __name__ == "__main__":
    main()
