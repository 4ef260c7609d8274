"""Opens a COMET estimator from the files that unbabel-comet publishes, without unbabel-comet; nothing is downloaded.

A folder has `hparams.yaml` and `checkpoints/model.ckpt`. The checkpoint holds all weights, the encoder's included,
but neither the encoder's configuration nor its tokenizer, which are read from the folder of a transformers model.
Weights are loaded as data alone, so that a checkpoint cannot run code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, ModelError
from rerank_plugins.neural.comet_estimator import CometEstimator
from rerank_plugins.neural.comet_settings import CometSettings, read_settings
from rerank_plugins.neural.opening import Dtype, imported, moved, one_line

MODEL = "folder of the estimator, with hparams.yaml and checkpoints/model.ckpt"
ENCODER = (
    "folder with config.json and the tokenizer of the encoder that hparams.yaml names; default: `encoder` in `model`"
)
TYPES = {
    "BERT": "bert",
    "MiniLM": "bert",
    "RemBERT": "rembert",
    "XLM-RoBERTa": "xlm-roberta",
    "XLM-RoBERTa-XL": "xlm-roberta-xl",
}
INPUTS = {"regression_metric": 6, "referenceless_regression_metric": 4, "unified_metric": 1}  # embeddings that f reads
UNREAD = 4  # positions of an encoder that no text reaches: as many fewer pieces of a text are read
OF_TRAINING = ("hidden2tag.", "sentloss.", "wordloss.", "train_", "val_")  # weights that no score depends on
MIXTURE, REGRESSION, OF_ENCODER = "layerwise_attention.", "estimator.ff.", "encoder.model."


def open_estimator(folder: Path, encoder: Path | None, device: str, dtype: Dtype) -> CometEstimator:
    """The estimator in a folder, which is opened once in a process as long as its files are the same.

    Raises ModelError or FormatError in one line for what is missing, damaged or unknown, and where transformers is not
    installed; ConfigError for a device that is not there.
    """
    settings = read_settings(folder / "hparams.yaml")
    places = (folder / "checkpoints" / "model.ckpt", folder / "model.ckpt")
    checkpoint = next((place for place in places if place.is_file()), None)
    if checkpoint is None:
        raise ModelError(f"{places[0]}: there is no such file")
    base = encoder if encoder is not None else folder / "encoder"
    if not (base / "config.json").is_file():
        wanted = f"the folder of {settings.pretrained}, of which its configuration and tokenizer suffice"
        raise ModelError(f"{base}: no config.json; set 'encoder' to {wanted}")
    facts = checkpoint.stat()
    return _opened(settings, checkpoint, base, device, dtype, (facts.st_mtime_ns, facts.st_size))


@lru_cache(maxsize=2)
def _opened(
    settings: CometSettings, checkpoint: Path, base: Path, device: str, dtype: Dtype, _version: tuple[int, int]
) -> CometEstimator:
    torch, transformers = imported(checkpoint)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(base, local_files_only=True)
        config = transformers.AutoConfig.from_pretrained(base, local_files_only=True)
        encoder = transformers.AutoModel.from_config(config)
    except Exception as error:  # transformers, tokenizers and json raise many kinds
        raise ModelError(f"{base}: not an encoder that transformers can read: {one_line(error)}") from error
    if config.model_type != TYPES[settings.encoder]:
        raise ModelError(f"{base}: an encoder of the type {config.model_type}, wanted {TYPES[settings.encoder]}")
    weights = _weights(torch, checkpoint)
    _load_encoder(encoder, weights, checkpoint)
    mixture = _mixture(settings, weights, checkpoint, config.num_hidden_layers + 1)
    wide = torch.float64 if dtype == "float64" else torch.float32
    regression = _regression(torch, settings, weights, checkpoint, config.hidden_size)
    encoder = moved(encoder, device, getattr(torch, dtype))
    regression = [moved(layer, device, wide) for layer in regression]
    return CometEstimator(settings, tokenizer, encoder, mixture, regression, config.max_position_embeddings - UNREAD)


def _weights(torch: Any, checkpoint: Path) -> dict[str, Any]:
    """The tensors of a checkpoint by name. Raises ModelError for a file that holds anything else, and unknown names."""
    try:
        contents = torch.load(checkpoint, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zipfile and torch raise many kinds
        raise ModelError(f"{checkpoint}: cannot be loaded as weights alone: {one_line(error)}") from None
    state = contents.get("state_dict") if isinstance(contents, Mapping) else None
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise ModelError(f"{checkpoint}: found no tensors under the key state_dict")
    known = (MIXTURE, REGRESSION, OF_ENCODER, *OF_TRAINING)
    if unknown := [name for name in state if not str(name).startswith(known)]:
        raise ModelError(f"{checkpoint}: the weight {unknown[0]} is of no known part of an estimator")
    return dict(state)


def _load_encoder(encoder: Any, weights: Mapping[str, Any], checkpoint: Path) -> None:
    own = {name.removeprefix(OF_ENCODER): value for name, value in weights.items() if name.startswith(OF_ENCODER)}
    try:
        missing, surplus = encoder.load_state_dict(own, strict=False)
    except RuntimeError as error:
        raise ModelError(f"{checkpoint}: not the weights of this encoder: {one_line(error)}") from None
    for names, wrong in ((missing, "there is no weight"), (surplus, "the encoder has no weight")):
        if counted := [name for name in names if not name.startswith("pooler.") and "position_ids" not in name]:
            raise ModelError(f"{checkpoint}: {wrong} {OF_ENCODER}{counted[0]}")


def _mixture(settings: CometSettings, weights: Mapping[str, Any], checkpoint: Path, layers: int) -> FloatArray:
    """(layers) the weights of the layers times their factor; empty where one layer is read."""
    if settings.layer is not None:
        if settings.layer >= layers:
            raise ModelError(f"{checkpoint}: hparams.yaml names the layer {settings.layer} of {layers}")
        return np.zeros(0)
    names = [f"{MIXTURE}scalar_parameters.{number}" for number in range(layers)]
    values = np.array([_tensor(weights, name, (1,), checkpoint).item() for name in names], np.float64)
    if f"{MIXTURE}scalar_parameters.{layers}" in weights:
        raise ModelError(f"{checkpoint}: there are more weights of layers than the encoder's {layers}")
    factor = _tensor(weights, f"{MIXTURE}gamma", (1,), checkpoint).item()
    shares = sparsemax(values) if settings.sparse else softmax(values)
    return np.asarray(factor * shares, np.float64)


def softmax(values: FloatArray) -> FloatArray:
    """(n) exp of the values, as shares of their sum."""
    shares: FloatArray = np.exp(values - values.max())
    shares /= shares.sum()
    return shares


def sparsemax(values: FloatArray) -> FloatArray:
    """(n) the point of the simplex that is nearest to the values (Martins and Astudillo 2016, algorithm 1)."""
    falling = np.sort(values)[::-1]
    sums, number = np.cumsum(falling), np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(1 + number * falling > sums)[-1]) + 1
    return np.asarray(np.maximum(values - (sums[kept - 1] - 1) / kept, 0.0), np.float64)


def _regression(
    torch: Any, settings: CometSettings, weights: Mapping[str, Any], checkpoint: Path, width: int
) -> list[Any]:
    """The layers of the regression: each linear one, its activation and, in the checkpoint's numbering, a dropout."""
    widths = [INPUTS[settings.kind] * width, *settings.hidden_sizes, 1]
    layers = list[Any]()
    for number, (into, out) in enumerate(pairwise(widths)):
        layer = torch.nn.Linear(into, out)
        for name, shape in (("weight", (out, into)), ("bias", (out,))):
            value = _tensor(weights, f"{REGRESSION}{3 * number}.{name}", shape, checkpoint)
            setattr(layer, name, torch.nn.Parameter(value.clone(), requires_grad=False))
        last = number == len(settings.hidden_sizes)
        activation = settings.final_activation if last else settings.activation
        layers += [layer, *([getattr(torch.nn, activation)()] if activation else [])]
    surplus = [name for name in weights if name.startswith(f"{REGRESSION}{3 * len(widths) - 3}.")]
    if surplus:
        raise ModelError(f"{checkpoint}: the weight {surplus[0]} is of a layer that hparams.yaml does not name")
    return layers


def _tensor(weights: Mapping[str, Any], name: str, shape: tuple[int, ...], checkpoint: Path) -> Any:
    value = weights.get(name)
    if value is None:
        raise ModelError(f"{checkpoint}: there is no weight {name}")
    if tuple(value.shape) != shape:
        raise ModelError(f"{checkpoint}: the weight {name} has the shape {tuple(value.shape)}, wanted {shape}")
    return value
