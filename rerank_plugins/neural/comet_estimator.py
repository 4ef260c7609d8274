"""The scores of a COMET estimator (Rei et al. 2020), whose encoder reads each distinct text once.

A sentence embedding e(x) is pooled from the pieces' embeddings, a mixture of the encoder's layers. The regression reads
the embeddings of the hypothesis h, the reference r and the source s,

    score(s, h, r) = f([e(h); e(r); e(h) * e(r); |e(h) - e(r)|; e(h) * e(s); |e(h) - e(s)|])
    score(s, h)    = f([e(h); e(s); e(h) * e(s); |e(h) - e(s)|])

and the unified estimator (Rei et al. 2022, CometKiwi) reads the first embedding of hypothesis and source as one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.kit.remembered import Remembered
from rerank_plugins.neural.batches import batches, padded
from rerank_plugins.neural.comet_settings import CometSettings

ROWS = 1 << 11  # scores that the regression computes at a time, which bounds the memory
ROOM = 2  # pieces that two texts as one may have beyond the limit of one text
REMEMBERED = 80_000_000  # bytes of embeddings that are kept: 20,000 at a width of 1,024


class CometEstimator:
    """An estimator in evaluation mode: tokenizer, encoder, mixture of layers and regression (`comet_checkpoint`).

    `mixture` (layers) are the weights of the layers times their common factor, and `regression` is f. At most `limit`
    pieces of a text are read. `read` counts the texts that the encoder has read.
    """

    def __init__(
        self, settings: CometSettings, tokenizer: Any, encoder: Any, mixture: FloatArray, regression: Any, limit: int
    ) -> None:
        self.settings, self.tokenizer, self.encoder, self.mixture = settings, tokenizer, encoder, mixture
        self.regression, self.limit = regression, limit
        self.read = 0
        self.forget()

    def forget(self) -> None:
        """Forget all embeddings, so that texts are read again."""
        self._known: Remembered[str, Any] = Remembered(REMEMBERED)

    def scores(
        self, hypotheses: Sequence[str], sources: Sequence[str], references: Sequence[str] | None, tokens: int
    ) -> FloatArray:
        """(n) the scores of hypotheses, each with its source and its reference; equal ones are computed once.

        An estimator that reads no references takes None for them, or does not read them. At most `tokens` are read in
        a batch.
        """
        import torch

        texts = (hypotheses, sources, references) if self.settings.reads_reference else (hypotheses, sources)
        numbers: dict[tuple[str, ...], int] = {}
        which = [numbers.setdefault(row, len(numbers)) for row in zip(*texts, strict=True)]
        if not which:
            return np.zeros(0)
        with torch.inference_mode():
            values = (self._unified if self.settings.is_unified else self._regressed)(list(numbers), tokens)
        return values[which]

    def _regressed(self, rows: Sequence[tuple[str, ...]], tokens: int) -> FloatArray:
        """(n) the scores of rows of a hypothesis, its source and, where it is read, its reference."""
        import torch

        texts = list(dict.fromkeys(text for row in rows for text in row))
        places = {text: place for place, text in enumerate(texts)}
        embeddings = self._embeddings(texts, tokens)
        scores = np.zeros(len(rows))
        for start in range(0, len(rows), ROWS):
            some = slice(start, start + ROWS)
            h, s, *r = (embeddings[[places[text] for text in column]] for column in zip(*rows[some], strict=True))
            first = [h, r[0], h * r[0], (h - r[0]).abs()] if r else [h, s]
            scores[some] = self._outputs(torch.cat([*first, h * s, (h - s).abs()], 1))
        return scores

    def _unified(self, rows: Sequence[tuple[str, ...]], tokens: int) -> FloatArray:
        """(n) the scores of rows of a hypothesis and its source, which are read as one text.

        The source stands after two separators, and is cut at the end where both are longer than can be read.
        """
        hypotheses, sources = (self._pieces(column) for column in zip(*rows, strict=True))
        end = self.tokenizer.sep_token_id
        joined = [[*h, end, *s[1:]][: self.limit + ROOM] for h, s in zip(hypotheses, sources, strict=True)]
        scores = np.zeros(len(joined))
        for batch in batches(list(map(len, joined)), tokens):
            mixed, _ = self._read([joined[number] for number in batch])
            scores[batch] = self._outputs(mixed[:, 0])
        return scores

    def _outputs(self, embeddings: Any) -> FloatArray:
        """(n) f of the rows (n, width)."""
        return np.asarray(self.regression(embeddings).reshape(-1).double().cpu().numpy(), np.float64)

    def _embeddings(self, texts: Sequence[str], tokens: int) -> Any:
        """(texts, width) the sentence embeddings of distinct texts, which are read where they are not known yet."""
        import torch

        self._known.make_room()
        new = [text for text in texts if text not in self._known]
        pieces = self._pieces(new)
        for batch in batches(list(map(len, pieces)), tokens):
            pooled = _pooled(self.settings.pool, *self._read([pieces[number] for number in batch]))
            for number, embedding in zip(batch, pooled.unbind(0), strict=True):
                self._known.keep(new[number], embedding, embedding.nbytes)
        return torch.stack([self._known[text] for text in texts])

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of texts, with the special ones around them; at most `limit`."""
        if not texts:
            return []
        coded = self.tokenizer(list(texts), truncation=True, max_length=self.limit)["input_ids"]
        return [list(ids) for ids in coded]

    def _read(self, rows: Sequence[list[int]]) -> tuple[Any, Any]:
        """(rows, longest, width) the mixed embeddings of pieces, and (rows, longest) which pieces are there."""
        import torch

        self.read += len(rows)
        device, dtype = self.encoder.device, next(self.regression.parameters()).dtype
        ids = torch.as_tensor(padded(rows, self.tokenizer.pad_token_id), device=device)
        lengths = torch.as_tensor([len(row) for row in rows], device=device)
        mask = torch.arange(ids.shape[1], device=device)[None] < lengths[:, None]
        layers = self.encoder(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states
        if self.settings.layer != "mix":
            return layers[self.settings.layer].to(dtype), mask
        total: Any = 0.0
        for weight, layer in zip(self.mixture.tolist(), layers, strict=True):
            if weight:  # a sparsemax leaves out layers
                layer = layer.to(dtype)
                total = total + weight * (_normalised(layer, mask) if self.settings.layer_norm else layer)
        return total, mask


def _normalised(layer: Any, mask: Any) -> Any:
    """The layer with mean 0 and variance 1 over all values of a sentence; padding counts for neither."""
    there = mask[..., None].to(layer.dtype)
    number = there.sum((1, 2), keepdim=True) * layer.shape[-1]
    mean = (layer * there).sum((1, 2), keepdim=True) / number
    variance = (((layer - mean) * there) ** 2).sum((1, 2), keepdim=True) / number
    return (layer - mean) / (variance + 1e-12).sqrt()


def _pooled(pool: str, embeddings: Any, mask: Any) -> Any:
    """(rows, width) the sentence embeddings of the pieces' (rows, longest, width)."""
    if pool == "cls":
        return embeddings[:, 0]
    there = mask[..., None]
    if pool == "max":
        return embeddings.masked_fill(~there, float("-inf")).amax(1)
    return embeddings.masked_fill(~there, 0.0).sum(1) / there.sum(1)
