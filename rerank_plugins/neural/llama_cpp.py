"""The language model `llama-cpp`: ln p of given text by a GGUF model in this process, through llama-cpp-python.

Texts are read in sorted order, so that what a text shares with the one before, such as the prompt and the source, is
read once. A model that cannot go back to a shared beginning (a recurrent one) reads each text from its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rerank_plugins import FloatArray, ModelError, option
from rerank_plugins.neural.given_text import GivenText
from rerank_plugins.neural.given_text_checks import MORE, PROBE, SAME, check_given
from rerank_plugins.neural.opening import one_line
from rerank_plugins.neural.prompted import END, PROMPT, PromptedLanguageModel

ADVICE = "this version of llama-cpp-python does not give ln p of given text"


@dataclass(frozen=True)
class LlamaCppLanguageModel(PromptedLanguageModel):
    """Ln p of the words of a hypothesis by a GGUF model in this process (llama-cpp-python).

    An empty hypothesis has the score of its end alone. The model is checked when it is opened.
    """

    engines: ClassVar[tuple[str, ...]] = ("llama-cpp-python",)
    one_process: ClassVar[bool] = True

    model: Path = option(doc="file of the model (.gguf)")
    prompt: str = option("\\n", doc=PROMPT)
    end: str = option("\\n", doc=END)
    context: int = option(
        512, doc="tokens of the longest text with its prompt; memory: 4 bytes × context × vocabulary", within="[128, ]",
        changes_results=False,
    )  # fmt: skip
    gpu_layers: int = option(0, doc="layers to compute on the GPU; -1: all", within="[-1, ]", changes_results=False)
    threads: int = option(1, doc="threads of the processor", within="[1, ]", changes_results=False)

    @property
    def where(self) -> str:
        """The file."""
        return str(self.model)

    def given(self, texts: Sequence[str]) -> list[GivenText]:
        """The tokens of texts with their ln p. Raises ModelError for what cannot be opened, and for long texts."""
        return self._opened.given(texts)

    @cached_property
    def _opened(self) -> LlamaCpp:
        opened = LlamaCpp(self.model, self._llama(), shares=False)
        check_given(self.where, ADVICE, opened.given)
        opened.shares = opened.can_share()
        return opened

    def _llama(self) -> Any:
        if not self.model.is_file():
            raise ModelError(f"{self.model}: there is no such file")
        try:
            import llama_cpp
        except ImportError as error:
            wanted = "pip install llama-cpp-python, which compiles llama.cpp"
            raise ModelError(f"{self.model}: reading it needs {error.name}, which is not installed: {wanted}") from None
        try:
            return llama_cpp.Llama(
                model_path=str(self.model), n_ctx=self.context, n_batch=min(512, self.context), logits_all=True,
                n_gpu_layers=self.gpu_layers, n_threads=self.threads, n_threads_batch=self.threads, verbose=False,
            )  # fmt: skip
        except (ValueError, RuntimeError, OSError, AssertionError) as error:
            raise ModelError(f"{self.model}: llama.cpp cannot read it: {one_line(error)}") from None


class LlamaCpp:
    """A model that is open; if it `shares`, it reads the beginning that a text has in common with the last one once.

    `read` counts the tokens that it has read.
    """

    def __init__(self, file: Path, llama: Any, *, shares: bool) -> None:
        self.file, self.llama, self.shares = file, llama, shares
        self.read = 0

    def can_share(self) -> bool:
        """Whether the values are the same if a shared beginning is read once."""
        texts = [f"\n{PROBE}\n", f"\n{PROBE}{MORE}\n", f"\n{MORE}\n"]
        alone = LlamaCpp(self.file, self.llama, shares=False).given(texts)
        try:
            shared = LlamaCpp(self.file, self.llama, shares=True).given(texts)
        except RuntimeError:
            return False
        pairs = zip(alone, shared, strict=True)
        return all(np.allclose(one.ln_p, other.ln_p, atol=SAME, equal_nan=True) for one, other in pairs)

    def given(self, texts: Sequence[str]) -> list[GivenText]:
        """The tokens of texts with their ln p. Raises ModelError for a text that is too long for the context."""
        tokens = [list(self.llama.tokenize(text.encode(), add_bos=True)) for text in texts]
        scored: dict[int, GivenText] = {}
        before, scores = list[int](), np.zeros(0)
        self.llama.reset()
        for number in sorted(range(len(texts)), key=tokens.__getitem__):
            own = tokens[number]
            if len(own) > (context := len(self.llama.scores)):  # the library may round its own limit up
                raise ModelError(f"{self.file}: a text of {len(own)} tokens, wanted at most {context}: set 'context'")
            scores = self._scores(own, _shared(before, own), scores)
            scored[number] = GivenText(self._ends(own, texts[number]), scores.tolist())
            before = own
        return [scored[number] for number in range(len(texts))]

    def _scores(self, own: Sequence[int], shared: int, before: FloatArray) -> FloatArray:
        """(tokens) ln p of a text's tokens; the first `shared` are those of the text with the values `before`."""
        if shared == len(own):
            return before[:shared]
        if not self.shares:
            shared = 0
        if not shared:
            self.llama.reset()
        self.llama.n_tokens = shared  # what follows is forgotten
        self.llama.eval(own[shared:])
        self.read += len(own) - shared
        first = max(shared, 1)
        rows = np.asarray(self.llama.scores[first - 1 : len(own) - 1], np.float64)
        highest = rows.max(axis=1, initial=0.0)
        totals = highest + np.log(np.exp(rows - highest[:, None]).sum(axis=1))
        values = rows[np.arange(len(rows)), np.asarray(own[first:], np.int64)] - totals
        return np.concatenate([before[:shared] if shared else [np.nan], values])

    def _ends(self, tokens: Sequence[int], text: str) -> list[int]:
        """The place in the text after each token; a token that begins a character ends after it.

        Some tokenizers put a space before the text. Raises ModelError for tokens that do not spell the text.
        """
        spelt = [self.llama.detokenize([token]) for token in tokens]
        wanted = text.encode()
        if not b"".join(spelt).endswith(wanted):
            raise ModelError(f"{self.file}: {len(tokens)} tokens do not spell the text {text[:40]!r}")
        lengths = np.cumsum([len(part) for part in spelt])
        begun = np.cumsum([0, *(byte & 0xC0 != 0x80 for byte in wanted)])
        places: list[int] = begun[np.maximum(0, lengths - lengths[-1] + len(wanted))].tolist()
        return places


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of tokens with which both begin."""
    shortest = min(len(one), len(other))
    return next((at for at in range(shortest) if one[at] != other[at]), shortest)
