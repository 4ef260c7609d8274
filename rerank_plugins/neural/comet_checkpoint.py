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
UNUSED = ("encoder.model.pooler.", "encoder.model.embeddings.position_ids")
MIXTURE, REGRESSION, ENCODER_MODEL = "layerwise_attention.", "estimator.ff.", "encoder.model."


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
        wanted = f"the folder of {settings.pretrained_model}, of which its configuration and tokenizer suffice"
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
    if config.model_type != (wanted := TYPES[settings.encoder_model]):
        raise ModelError(f"{base}: an encoder of the type {config.model_type}, wanted {wanted}")
    encoder.pooler = None
    layers = config.num_hidden_layers + 1
    if settings.layer != "mix" and settings.layer >= layers:
        raise ModelError(f"{checkpoint}: hparams.yaml names the layer {settings.layer} of {layers}")
    mixture, regression = _mixture(torch, layers), _regression(torch, settings, config.hidden_size)
    parts = {ENCODER_MODEL: encoder, REGRESSION: regression}
    _load(parts | {MIXTURE: mixture} if settings.layer == "mix" else parts, _weights(torch, checkpoint), checkpoint)
    parameters = np.array([parameter.item() for parameter in mixture.scalar_parameters], np.float64)
    shares = (sparsemax if settings.layer_transformation == "sparsemax" else softmax)(parameters)
    encoder = moved(encoder, device, getattr(torch, dtype))
    regression = moved(regression, device, torch.float64 if dtype == "float64" else torch.float32)
    limit = config.max_position_embeddings - UNREAD
    return CometEstimator(settings, tokenizer, encoder, mixture.gamma.item() * shares, regression, limit)


def _mixture(torch: Any, layers: int) -> Any:
    """The parameters of the mixture of layers and their factor, under the checkpoint's names."""
    module = torch.nn.Module()
    module.scalar_parameters = torch.nn.ParameterList([torch.zeros(1) for _ in range(layers)])
    module.gamma = torch.nn.Parameter(torch.zeros(1))
    return module


def _regression(torch: Any, settings: CometSettings, width: int) -> Any:
    """The layers of the regression; the checkpoint's numbers of weights count the dropout after hidden layers."""
    layers = list[Any]()
    widths = [INPUTS[settings.class_identifier] * width, *settings.hidden_sizes]
    for into, out in pairwise(widths):
        layers += [torch.nn.Linear(into, out), getattr(torch.nn, settings.activations)(), torch.nn.Dropout()]
    layers.append(torch.nn.Linear(widths[-1], 1))
    if settings.final_activation is not None:
        layers.append(getattr(torch.nn, settings.final_activation)())
    return torch.nn.Sequential(*layers)


def _weights(torch: Any, checkpoint: Path) -> dict[str, Any]:
    """The tensors of a checkpoint by name. Raises ModelError for a file that holds anything else, and unknown names."""
    try:
        contents = torch.load(checkpoint, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zipfile and torch raise many kinds
        raise ModelError(f"{checkpoint}: cannot be loaded as weights alone: {one_line(error)}") from None
    state = contents.get("state_dict") if isinstance(contents, Mapping) else None
    if not isinstance(state, Mapping) or not all(isinstance(value, torch.Tensor) for value in state.values()):
        raise ModelError(f"{checkpoint}: found no tensors under the key state_dict")
    known = (MIXTURE, REGRESSION, ENCODER_MODEL, *OF_TRAINING)
    if unknown := [name for name in state if not str(name).startswith(known)]:
        raise ModelError(f"{checkpoint}: the weight {unknown[0]} is of no known part of an estimator")
    return {name: value for name, value in state.items() if not name.startswith(UNUSED)}


def _load(parts: Mapping[str, Any], weights: Mapping[str, Any], checkpoint: Path) -> None:
    """Load the weights into the modules by the beginnings of their names. Raises ModelError where one does not fit."""
    for beginning, module in parts.items():
        own = {name.removeprefix(beginning): value for name, value in weights.items() if name.startswith(beginning)}
        try:
            module.load_state_dict(own)
        except RuntimeError as error:
            wrong = f"not the weights {beginning}* of this estimator: {one_line(error)}"
            raise ModelError(f"{checkpoint}: {wrong}") from None


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
