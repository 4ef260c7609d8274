"""A stand-in for llama-cpp-python: the part of its API that is used, over a made-up model with a small vocabulary.

Tokens are bytes and some words. The logits after some tokens are a hash of all of them, so that order and every earlier
token matter, and evaluation goes on from `n_tokens`, as in llama-cpp-python.
"""

import hashlib
from collections.abc import Sequence
from types import ModuleType

import numpy as np

WORDS = [b" the", b" cat", b" sat", b"The", b" old", b" man", b"the"]
PIECES = [b"<s>", *(bytes([byte]) for byte in range(256)), *WORDS]


def logits_after(tokens: Sequence[int]):
    """(vocabulary) logits of what follows."""
    seed = hashlib.sha256(np.array(tokens, np.int64).tobytes()).digest()
    return np.random.default_rng(int.from_bytes(seed[:8], "big")).normal(size=len(PIECES)).astype(np.float32) * 3


class Llama:
    """A model; class attributes are its faults."""

    begins = True  # whether texts begin with a special token
    space = b""  # what the tokenizer puts before a text
    recurrent = False  # whether evaluation cannot go back
    fault = ""

    def __init__(
        self, model_path: str, n_ctx: int, n_batch: int, *, logits_all: bool, verbose: bool, **_: object
    ) -> None:
        if self.fault == "file":
            raise ValueError(f"Failed to load model\nfrom file: {model_path}")
        assert logits_all
        assert not verbose
        self.batch, self.n_tokens = n_batch, 0
        self.tokens = list[int]()
        self.state = list[int]()
        self.scores = np.zeros((n_ctx, len(PIECES)), np.float32)

    def reset(self) -> None:
        self.n_tokens = 0
        self.state = []

    def tokenize(self, text: bytes, add_bos: bool = True) -> list[int]:
        text, tokens = self.space + text, [0] if add_bos and self.begins else []
        while text:
            piece = max((one for one in PIECES[1:] if text.startswith(one)), key=len)
            tokens.append(PIECES.index(piece, 1))
            text = text[len(piece) :]
        return tokens

    def detokenize(self, tokens: list[int]) -> bytes:
        if self.fault == "spelling":
            return b"x"
        return b"".join(PIECES[token] for token in tokens if token)

    def eval(self, tokens: Sequence[int]) -> None:
        assert self.n_tokens + len(tokens) <= len(self.scores)
        if not self.recurrent:
            self.state = self.state[: self.n_tokens]
        for token in tokens:
            self.state.append(token)
            self.scores[self.n_tokens] = 0.0 if self.fault == "order" else logits_after(self.state)
            self.n_tokens += 1


def module(**faults: object) -> ModuleType:
    """The module `llama_cpp` with such a model."""
    made = ModuleType("llama_cpp")
    made.Llama = type("Llama", (Llama,), faults)  # type: ignore[attr-defined]
    return made
