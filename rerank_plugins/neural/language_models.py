"""Language models by transformers models: causal, and masked (whose sums are pseudo-log-likelihoods)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rerank_plugins import FloatArray, LanguageModel, ModelError, PickledFields, SentenceModel, option
from rerank_plugins.neural.causal import causal_scores, is_causal, reads_trees
from rerank_plugins.neural.masked import masked_scores
from rerank_plugins.neural.opening import BATCH, DEVICE, DTYPE, ENGINES, TOKENS, Dtype, Opened, open_model
from rerank_plugins.neural.pieces import Pieces, of_distinct, split, word_sums


@dataclass(frozen=True)
class CausalLanguageModel(PickledFields, LanguageModel):
    """A causal transformers model (GPT-2, OPT, Pythia, Qwen, …): ln p of words from left to right."""

    engines: ClassVar[tuple[str, ...]] = ENGINES
    one_process: ClassVar[bool] = True

    model: Path = option(doc="folder of the model, with its tokenizer")
    device: str = option("cpu", doc=DEVICE, changes_results=False)
    dtype: Dtype = option("float32", doc=DTYPE)
    batch_tokens: int = option(TOKENS, doc=BATCH, changes_results=False)
    end: bool = option(True, doc="score the end of the sentence as well; if not, its ln p is 0")
    share_prefixes: bool = option(True, doc="read beginnings that hypotheses share once, where the model allows it")

    @cached_property
    def _opened(self) -> Opened:
        opened = open_model("CausalLM", self.model, self.device, self.dtype)
        if not is_causal(opened, *self._around(opened)):
            raise ModelError(f"{self.model}: a model that sees the words after, wanted a causal one")
        return opened

    @cached_property
    def _ends(self) -> tuple[int, int]:
        return self._around(self._opened)

    def _around(self, opened: Opened) -> tuple[int, int]:
        """The piece before a sentence, and the one after it; for GPT-2 both are `<|endoftext|>`."""
        tokenizer = opened.tokenizer
        end = tokenizer.eos_token_id if tokenizer.eos_token_id is not None else tokenizer.sep_token_id
        start = next((p for p in (tokenizer.bos_token_id, tokenizer.cls_token_id, end) if p is not None), None)
        if start is None or end is None:
            raise ModelError(f"{self.model}: the tokenizer has no piece for the end of a text (eos_token)")
        return start, end

    @cached_property
    def _shares(self) -> bool:
        return self.share_prefixes and reads_trees(self._opened, *self._ends)

    def score(self, sentences: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Ln p of each word, the sum over its pieces, and of the end of the sentence last."""
        return of_distinct([tuple(words) for words in sentences], self._distinct)

    def _distinct(self, sentences: Sequence[Sequence[str]]) -> list[FloatArray]:
        pieces = split(self._opened.tokenizer, sentences, special=False)
        scores = causal_scores(
            self._opened, [piece.ids for piece in pieces], *self._ends, self.batch_tokens, share=self._shares
        )
        for values in scores:
            values[-1] *= self.end
        return [
            word_sums(values, [*piece.words, len(words)], len(words))
            for values, piece, words in zip(scores, pieces, sentences, strict=True)
        ]

    def __contains__(self, word: str) -> bool:
        return _knows(self._opened.tokenizer, word)


@dataclass(frozen=True)
class MaskedLanguageModel(PickledFields, SentenceModel):
    """A masked transformers model (BERT, RoBERTa, …): each word given all others, whose sum is no probability.

    The sum is the pseudo-log-likelihood of Salazar et al. (2020); the score of `</s>` is 0. It ranks sentences, but is
    not a distribution over them.
    """

    engines: ClassVar[tuple[str, ...]] = ENGINES
    one_process: ClassVar[bool] = True

    model: Path = option(doc="folder of the model, with its tokenizer")
    device: str = option("cpu", doc=DEVICE, changes_results=False)
    dtype: Dtype = option("float32", doc=DTYPE)
    batch_tokens: int = option(TOKENS, doc="tokens of a batch", changes_results=False)
    whole_words: bool = option(False, doc="mask the later pieces of the same word too (Kauf and Ivanova 2023)")

    @cached_property
    def _opened(self) -> Opened:
        opened = open_model("MaskedLM", self.model, self.device, self.dtype)
        if opened.tokenizer.mask_token_id is None:
            raise ModelError(f"{self.model}: the tokenizer has no mask_token")
        return opened

    @cached_property
    def _around(self) -> tuple[list[int], list[int]]:
        """The special pieces that the tokenizer puts before a sentence and after it."""
        tokenizer = self._opened.tokenizer
        mask = tokenizer.mask_token_id
        ids = tokenizer(tokenizer.mask_token, add_special_tokens=True)["input_ids"]
        return ids[: ids.index(mask)], ids[ids.index(mask) + 1 :]

    def totals(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n) the pseudo-log-likelihood of each sentence."""
        return np.array([values.sum() for values in self.word_values(sentences)], np.float64)

    def word_values(self, sentences: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Ln p of each word given the others, the sum over its pieces; 0 for the end of the sentence."""
        return of_distinct([tuple(words) for words in sentences], self._distinct)

    def _distinct(self, sentences: Sequence[Sequence[str]]) -> list[FloatArray]:
        pieces: list[Pieces] = split(self._opened.tokenizer, sentences, special=False)
        scores = masked_scores(self._opened, pieces, *self._around, self.batch_tokens, whole_words=self.whole_words)
        return [
            word_sums(values, piece.words, len(words))
            for values, piece, words in zip(scores, pieces, sentences, strict=True)
        ]

    def __contains__(self, word: str) -> bool:
        return _knows(self._opened.tokenizer, word)


def _knows(tokenizer: Any, word: str) -> bool:
    """Whether a word has no unknown piece."""
    return tokenizer.unk_token_id not in tokenizer(word, add_special_tokens=False)["input_ids"]
