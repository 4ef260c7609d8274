"""The Transformer (Vaswani et al. 2017), with layer normalisation before each sublayer (Xiong et al. 2020).

With encoder layers it is a translation model, without them a language model: the same decoder without attention to a
source. Source and target share one table of embeddings, which is the output layer too (Press and Wolf 2017).

What is left out: learnt positions, and everything that only models of more than some ten million parameters need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

PADDING, UNKNOWN, START, END = range(4)  # the pieces that are no text
LONGEST = 256  # pieces of a sentence, with its start or its end
Memory = list[tuple[Tensor, Tensor]]  # the keys and the values of each layer: (batch, heads, length, width / heads)


@dataclass(frozen=True)
class Shape:
    """The sizes of a model; `encoder` and `decoder` are numbers of layers, `inner` the width inside a feed-forward."""

    pieces: int
    width: int = 256
    inner: int = 768
    heads: int = 4
    encoder: int = 3
    decoder: int = 2
    dropout: float = 0.1


class Attention(nn.Module):
    """Attention of some heads: the queries are of one sequence, the keys and values of the same or of another."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.output = nn.Linear(width, width), nn.Linear(width, width)

    def split(self, values: Tensor) -> Tensor:
        """(batch, length, width) → (batch, heads, length, width / heads)."""
        return values.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def memory(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and the values of (batch, length, width) states."""
        return self.split(self.key(states)), self.split(self.value(states))

    def forward(
        self, states: Tensor, memory: tuple[Tensor, Tensor], mask: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """(batch, length, width): for each state the mean of the values, weighted by its attention to the keys.

        The mask is true where a query may attend to a key; with `causal`, to those up to its own position.
        """
        query = self.split(self.query(states))
        mixed = functional.scaled_dot_product_attention(query, *memory, attn_mask=mask, is_causal=causal)
        return self.output(mixed.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    """Attention to the own sequence, then to the source if the layer has it, then a feed-forward network."""

    def __init__(self, shape: Shape, reads_source: bool) -> None:
        super().__init__()
        self.own_norm, self.own = nn.LayerNorm(shape.width), Attention(shape.width, shape.heads)
        if reads_source:
            self.source_norm, self.source = nn.LayerNorm(shape.width), Attention(shape.width, shape.heads)
        self.inner_norm = nn.LayerNorm(shape.width)
        self.inner = nn.Sequential(nn.Linear(shape.width, shape.inner), nn.ReLU(), nn.Linear(shape.inner, shape.width))
        self.dropout = nn.Dropout(shape.dropout)

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None,
        causal: bool = False,
        past: tuple[Tensor, Tensor] | None = None,
        source: tuple[Tensor, Tensor] | None = None,
        source_mask: Tensor | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """The new states, and the keys and values of this and all past positions."""
        normed = self.own_norm(states)
        memory = self.own.memory(normed)
        if past is not None:
            memory = torch.cat([past[0], memory[0]], 2), torch.cat([past[1], memory[1]], 2)
        states = states + self.dropout(self.own(normed, memory, mask, causal))
        if source is not None:
            states = states + self.dropout(self.source(self.source_norm(states), source, source_mask))
        return states + self.dropout(self.inner(self.inner_norm(states))), memory


class Transformer(nn.Module):
    """A translation model, or a language model where the shape has no encoder layers."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.pieces, shape.width)
        self.encoder = nn.ModuleList(Layer(shape, False) for _ in range(shape.encoder))
        self.decoder = nn.ModuleList(Layer(shape, shape.encoder > 0) for _ in range(shape.decoder))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(shape.width), nn.LayerNorm(shape.width)
        self.dropout = nn.Dropout(shape.dropout)
        self.register_buffer("positions", sinusoids(LONGEST, shape.width), persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)
        nn.init.normal_(self.embedding.weight, std=shape.width**-0.5)

    def embedded(self, pieces: Tensor, first: int = 0) -> Tensor:
        """(batch, length, width) embeddings of pieces, the first of which stands at the position `first`."""
        scaled = self.embedding(pieces) * math.sqrt(self.shape.width)
        return self.dropout(scaled + self.positions[first : first + pieces.shape[1]])

    def encode(self, source: Tensor) -> tuple[Memory, Tensor | None]:
        """What the decoder's layers read of (batch, length) source pieces, and the mask of those that are no padding.

        Without encoder layers, nothing and no mask.
        """
        if not self.encoder:
            return [], None
        mask = (source != PADDING)[:, None, None]
        states = self.embedded(source)
        for layer in self.encoder:
            states, _ = layer(states, mask)
        states = self.encoder_norm(states)
        return [layer.source.memory(states) for layer in self.decoder], mask

    def decode(
        self, target: Tensor, source: Memory, source_mask: Tensor | None, past: Memory | None = None
    ) -> tuple[Tensor, Memory]:
        """(batch, length, width) states of target pieces, from which the next pieces are predicted, and their memory.

        Padding may only follow a target. With the memory of past positions, the target is one piece that follows them.
        """
        states = self.embedded(target, past[0][0].shape[2] if past else 0)
        memories = []
        for number, layer in enumerate(self.decoder):
            states, memory = layer(
                states,
                None,
                causal=past is None,
                past=past[number] if past else None,
                source=source[number] if source else None,
                source_mask=source_mask,
            )
            memories.append(memory)
        return self.decoder_norm(states), memories

    def logits(self, states: Tensor) -> Tensor:
        """(…, pieces) scores of each piece as the next; their softmax are the probabilities."""
        return functional.linear(states, self.embedding.weight).float()


def sinusoids(length: int, width: int) -> Tensor:
    """(length, width) sines and cosines of the positions at geometrically falling frequencies."""
    frequencies = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(length)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def padded(rows: list[list[int]]) -> Tensor:
    """(rows, longest) pieces, padded on the right."""
    longest = max(map(len, rows), default=0)
    return torch.tensor([row + [PADDING] * (longest - len(row)) for row in rows], dtype=torch.long)
