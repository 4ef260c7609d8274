"""Ln p of pieces at chosen places of a batch, without the logits of all others.

The last layer of a model, hidden size × vocabulary, is a large part of the work and most of the memory: for a masked
model, it is needed at one place of each row. A hook therefore hands it the chosen places alone. A model whose last
layer is not a module of its own computes all logits, with the same result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rerank_plugins import FloatArray


def ln_p(model: Any, inputs: Mapping[str, Any], rows: Any, columns: Any, which: Any, targets: Any) -> FloatArray:
    """(n) ln p of the pieces `targets`, each by the distribution at place `which` of the chosen (rows, columns).

    `inputs` are the model's arguments, arrays or tensors; `rows` and `columns` (places), `which` and `targets` (n) are
    integers.
    """
    import torch

    device = model.device
    rows, columns, which, targets = (
        torch.as_tensor(np.asarray(array, np.int64), device=device) for array in (rows, columns, which, targets)
    )
    head = model.get_output_embeddings()

    def choose(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return (arguments[0][rows, columns], *arguments[1:])

    hook = head.register_forward_pre_hook(choose) if isinstance(head, torch.nn.Module) else None
    try:
        with torch.inference_mode():
            tensors = {
                name: torch.as_tensor(value, device=device) if isinstance(value, np.ndarray) else value
                for name, value in inputs.items()
            }
            logits = model(**tensors).logits
            logits = logits[rows, columns] if logits.dim() == 3 and hook is None else logits.reshape(len(rows), -1)
            logits = logits if logits.dtype == torch.float64 else logits.float()
            values = logits[which, targets] - torch.logsumexp(logits, 1)[which]
            return np.asarray(values.double().cpu().numpy(), np.float64)
    finally:
        if hook is not None:
            hook.remove()
