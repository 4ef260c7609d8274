"""Ln p(target | source) by an encoder–decoder model; the encoder reads each distinct source of a batch once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, ModelError
from rerank_plugins.neural.batches import batches, padded
from rerank_plugins.neural.logits import ln_p
from rerank_plugins.neural.opening import Opened


def translation_scores(
    opened: Opened, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], of: Sequence[int], tokens: int
) -> list[FloatArray]:
    """(pieces) ln p of each target's pieces given those before and its source, the one with the number in `of`.

    Sources and targets contain the special pieces that the model was trained with. The tokens of a batch, sources and
    targets together, are at most `tokens`. Raises ModelError for a text that is longer than the model's limit.
    """
    longest = max(map(len, (*sources, *targets)), default=0)
    if longest > opened.limit:
        raise ModelError(f"a text of {longest} pieces, wanted at most the {opened.limit} that the model reads")
    scores = [np.zeros(0)] * len(targets)
    lengths = [max(len(target), len(sources[source])) for target, source in zip(targets, of, strict=True)]
    for batch in batches(lengths, max(1, tokens // 2)):
        values = _scored(opened.model, sources, [targets[number] for number in batch], [of[number] for number in batch])
        for number, value in zip(batch, values, strict=True):
            scores[number] = value
    return scores


def _scored(
    model: Any, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], of: Sequence[int]
) -> list[FloatArray]:
    import torch

    distinct, rows_of = np.unique(of, return_inverse=True)
    read = [sources[number] for number in distinct]
    ids = padded(read, 0)
    mask = torch.as_tensor((np.arange(ids.shape[1]) < [[len(s)] for s in read]).astype(np.int64), device=model.device)
    with torch.inference_mode():
        encoded = model.get_encoder()(
            input_ids=torch.as_tensor(ids, device=model.device), attention_mask=mask, return_dict=True
        )
        row_of = torch.as_tensor(rows_of, device=model.device)
        encoded.last_hidden_state = encoded.last_hidden_state[row_of]
    begin = _first(model)
    inputs = {
        "encoder_outputs": encoded,
        "attention_mask": mask[row_of],
        "decoder_input_ids": padded([[begin, *target[:-1]] for target in targets], 0),
        "use_cache": False,
    }
    lengths = [len(target) for target in targets]
    rows = np.repeat(np.arange(len(targets)), lengths)
    columns = np.concatenate([np.arange(length) for length in lengths])
    values = ln_p(model, inputs, rows, columns, np.arange(len(rows)), np.concatenate(list(map(np.asarray, targets))))
    return np.split(values, np.cumsum(lengths)[:-1])


def _first(model: Any) -> int:
    """The piece that the decoder reads before the first; in old configs it stands with the settings of generation."""
    for settings in (model.config, model.generation_config):
        for name in ("decoder_start_token_id", "bos_token_id"):
            if (piece := getattr(settings, name, None)) is not None:
                return int(piece)
    raise ModelError("the model's config has no decoder_start_token_id")
