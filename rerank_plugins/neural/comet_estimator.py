"""The scores of a COMET estimator (Rei et al. 2020), whose encoder reads each distinct text once.

A sentence embedding e(x) is pooled from the pieces' embeddings, a mixture of the encoder's layers. The regression reads
the embeddings of the hypothesis h, the reference r and the source s,

    score(s, h, r) = f([e(h); e(r); e(h) * e(r); |e(h) - e(r)|; e(h) * e(s); |e(h) - e(s)|])
    score(s, h)    = f([e(h); e(s); e(h) * e(s); |e(h) - e(s)|])

and the unified estimator (Rei et al. 2022, CometKiwi) reads the first embedding of hypothesis and source as one text.
The first layer of f is linear, hence a sum of a part of (h, s), a part of r and a part of (h, r): of n hypotheses that
are compared with each other, only the last is computed n² times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.neural.batches import batches, padded
from rerank_plugins.neural.comet_settings import CometSettings

PAIRS = 1 << 14  # pairs scored at a time, which bounds the memory
ROOM = 2  # pieces that two texts as one may have beyond the limit of one text
REMEMBERED = 20_000  # embeddings that are kept: 80 MB at a width of 1,024


class Asked(NamedTuple):
    """What scores are wanted: distinct texts, and the numbers (3, n) of the hypothesis, source and reference of each.

    `references` may be empty where the estimator reads none; their numbers then mean nothing.
    """

    hypotheses: Sequence[str]
    sources: Sequence[str]
    references: Sequence[str]
    rows: LongArray


class CometEstimator:
    """An estimator in evaluation mode: tokenizer, encoder, mixture of layers and regression (`comet_checkpoint`).

    `mixture` (layers) are the weights of the layers times their common factor, and `regression` the layers of f. At
    most `tokens` are read in a batch, and at most `limit` pieces of a text. `read` counts the texts that the encoder
    has read.
    """

    def __init__(
        self, settings: CometSettings, tokenizer: Any, encoder: Any, mixture: FloatArray, regression: Any, limit: int
    ) -> None:
        self.settings, self.tokenizer, self.encoder, self.mixture = settings, tokenizer, encoder, mixture
        self.regression, self.limit = regression, limit
        self.read = 0
        self._known: dict[str, Any] = {}

    def scores(self, asked: Asked, tokens: int) -> FloatArray:
        """(n) the scores; of those without a reference, each pair of a hypothesis and its source is scored once."""
        if not asked.rows.shape[1]:
            return np.zeros(0)
        if self.settings.kind == "regression_metric":
            return self._regressed(asked, asked.rows, tokens)
        pairs, which = np.unique(asked.rows[:2], axis=1, return_inverse=True)
        score = self._unified if self.settings.kind == "unified_metric" else self._regressed
        return score(asked, pairs, tokens)[which.reshape(-1)]

    def forget(self) -> None:
        """Forget all embeddings, so that texts are read again."""
        self._known.clear()

    def _regressed(self, asked: Asked, rows: LongArray, tokens: int) -> FloatArray:
        """(n) scores by sentence embeddings of the texts with the numbers `rows` (2 or 3, n)."""
        import torch

        known = self._embeddings([text for texts in asked[: len(rows)] for text in texts], tokens)
        h, s, *more = (torch.stack([known[text] for text in texts]) for texts in asked[: len(rows)])
        first, *rest = self.regression
        blocks = [block.T for block in first.weight.split(h.shape[1], dim=1)]
        own, which = np.unique(rows[:2], axis=1, return_inverse=True)
        which = which.reshape(-1)
        with torch.inference_mode():
            of_h, of_s = h[own[0]], s[own[1]]
            product, difference = of_h * of_s, (of_h - of_s).abs()
            if more:
                base = of_h @ blocks[0] + product @ blocks[4] + difference @ blocks[5] + first.bias
                of_r = more[0] @ blocks[1]
            else:
                base = of_h @ blocks[0] + of_s @ blocks[1] + product @ blocks[2] + difference @ blocks[3] + first.bias
            scores = []
            for start in range(0, rows.shape[1], PAIRS):
                some = rows[:, start : start + PAIRS]
                value = base[which[start : start + PAIRS]]
                if more:
                    one, other = h[some[0]], more[0][some[2]]
                    value = value + of_r[some[2]] + (one * other) @ blocks[2] + (one - other).abs() @ blocks[3]
                scores.append(_through(rest, value))
        return np.concatenate(scores)

    def _embeddings(self, texts: Iterable[str], tokens: int) -> dict[str, Any]:
        """The sentence embedding (width) of each distinct text, read by the encoder where it is not known yet."""
        distinct = dict.fromkeys(texts)
        known = {text: self._known[text] for text in distinct if text in self._known}
        new = [text for text in distinct if text not in known]
        pieces = self._pieces(new)
        for batch in batches(list(map(len, pieces)), tokens):
            layers, mask = self._read([pieces[number] for number in batch])
            pooled = _pooled(self.settings.pool, self._mixed(layers, mask), mask)
            known |= dict(zip((new[number] for number in batch), pooled.unbind(0), strict=True))
        self._known |= {text: known[text] for text in new[-REMEMBERED:]}
        for text in list(self._known)[: max(0, len(self._known) - REMEMBERED)]:
            del self._known[text]
        return known

    def _unified(self, asked: Asked, rows: LongArray, tokens: int) -> FloatArray:
        """(n) scores of hypotheses and sources with the numbers `rows` (2, n), each pair read as one text."""
        import torch

        hypotheses, sources = self._pieces(asked.hypotheses), self._pieces(asked.sources)
        joined = [self._joined(hypotheses[one], sources[other]) for one, other in rows.T.tolist()]
        values = np.zeros(len(joined))
        for batch in batches(list(map(len, joined)), tokens):
            layers, mask = self._read([joined[number] for number in batch])
            with torch.inference_mode():
                values[batch] = _through(self.regression, self._mixed(layers, mask)[:, 0])
        return values

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of texts, with the special ones around them; at most `limit`."""
        if not texts:
            return []
        coded = self.tokenizer(list(texts), truncation=True, max_length=self.limit)["input_ids"]
        return [list(ids) for ids in coded]

    def _joined(self, hypothesis: list[int], source: list[int]) -> list[int]:
        """Both texts as one, the source after two separators, cut at the end where it is longer than can be read."""
        end = self.tokenizer.sep_token_id
        return [*hypothesis, end, *source[1:]][: self.limit + ROOM]

    def _read(self, rows: Sequence[list[int]]) -> tuple[Any, Any]:
        """The layers (rows, longest, width) of the encoder, and (rows, longest) which pieces are there."""
        import torch

        self.read += len(rows)
        device = self.encoder.device
        ids = torch.as_tensor(padded(rows, self.tokenizer.pad_token_id), device=device)
        lengths = torch.as_tensor([len(row) for row in rows], device=device)
        mask = torch.arange(ids.shape[1], device=device)[None] < lengths[:, None]
        with torch.inference_mode():
            encoded = self.encoder(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True)
        return encoded.hidden_states, mask

    def _mixed(self, layers: Sequence[Any], mask: Any) -> Any:
        """(rows, longest, width) the mixture of the layers, or the one that the settings name."""
        import torch

        dtype = self.regression[0].weight.dtype
        with torch.inference_mode():
            if self.settings.layer is not None:
                return layers[self.settings.layer].to(dtype)
            total: Any = 0.0
            for weight, layer in zip(self.mixture.tolist(), layers, strict=True):
                if weight:  # a sparsemax leaves out layers
                    layer = layer.to(dtype)
                    total = total + weight * (_normalised(layer, mask) if self.settings.normalised else layer)
            return total


def _through(layers: Sequence[Any], value: Any) -> FloatArray:
    """(n) the outputs of the last layers for (n, width)."""
    for layer in layers:
        value = layer(value)
    return np.asarray(value.reshape(-1).double().cpu().numpy(), np.float64)


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
