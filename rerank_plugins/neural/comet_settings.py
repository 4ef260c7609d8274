"""The settings of a COMET estimator, as unbabel-comet writes them: the file `hparams.yaml` beside the checkpoint.

The fields have the names of the file's keys; keys that no score depends on are not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from rerank_plugins import FormatError, ModelError

Activation = Annotated[
    Literal["Tanh", "Sigmoid", "ReLU", "GELU", "LeakyReLU", "ELU", "Identity"],
    BeforeValidator(lambda name: name.title() if name in ("tanh", "sigmoid") else name),
]


class CometSettings(BaseModel, frozen=True):
    """What a score depends on besides the weights.

    `class_identifier`      what the estimator reads: source, hypothesis and reference; source and hypothesis; or the
                            hypothesis and the source as one text, as CometKiwi does
    `encoder_model`         the family of the encoder, and `pretrained_model` the model that was trained further
    `layer`                 the layer whose embeddings are pooled, from 0, or the mixture of all; for CometKiwi, the
                            file's key is `sent_layer`
    `layer_transformation`  how the weights of the mixture are computed from its parameters; the last one is a softmax
                            as well, since unbabel-comet used one by mistake
    `layer_norm`            whether layers are normalised before they are mixed
    `pool`                  the mean or the maximum of a sentence's embeddings, or that of its first piece
    `hidden_sizes`          the widths of the hidden layers of the regression
    `activations`           follows each of them, and `final_activation` the last layer
    """

    class_identifier: Literal["regression_metric", "referenceless_regression_metric", "unified_metric"]
    encoder_model: Literal["BERT", "XLM-RoBERTa", "MiniLM", "XLM-RoBERTa-XL", "RemBERT"]
    pretrained_model: str
    layer: Literal["mix"] | Annotated[int, Field(ge=0)] = "mix"
    layer_transformation: Literal["softmax", "sparsemax", "sparsemax_patch"] = "softmax"
    layer_norm: bool = True
    pool: Literal["avg", "cls", "max"]
    hidden_sizes: Annotated[tuple[Annotated[int, Field(gt=0, lt=1 << 20)], ...], Field(min_length=1)]
    activations: Activation
    final_activation: Activation | None = None
    input_segments: tuple[str, ...] = ("mt", "src", "ref")

    @model_validator(mode="before")
    @classmethod
    def _with_unified_keys(cls, keys: Any) -> Any:
        if isinstance(keys, dict) and keys.get("class_identifier") == "unified_metric":
            return {"layer_transformation": "sparsemax", **keys, "layer": keys.get("sent_layer", "mix"), "pool": "cls"}
        return keys

    @model_validator(mode="after")
    def _reads_hypothesis_and_source(self) -> Self:
        if self.is_unified and "src" not in self.input_segments:
            raise ValueError(f"input_segments: found {', '.join(self.input_segments)}, wanted src among them")
        if self.is_unified and self.encoder_model not in ("XLM-RoBERTa", "XLM-RoBERTa-XL"):
            raise ValueError(f"encoder_model: found {self.encoder_model!r}, wanted XLM-RoBERTa or XLM-RoBERTa-XL")
        return self

    @property
    def is_unified(self) -> bool:
        """Whether hypothesis and source are read as one text."""
        return self.class_identifier == "unified_metric"

    @property
    def reads_reference(self) -> bool:
        """Whether a score needs a reference."""
        return self.class_identifier == "regression_metric"


def read_settings(path: Path) -> CometSettings:
    """The settings in a file.

    Raises FormatError, with the key, for what is missing, unknown or another estimator, and ModelError where PyYAML is
    not installed.
    """
    try:
        import yaml
    except ImportError:
        wanted = "pip install 'rerank-plugins[neural]'"
        raise ModelError(f"{path}: reading it needs PyYAML, which is not installed: {wanted}") from None
    try:
        return CometSettings.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=str(path)) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f"{first['loc'][0]}: " if first["loc"] else ""
        found = "" if first["type"] in ("missing", "value_error") else f", found {first['input']!r:.60}"
        message = first["msg"].removeprefix("Value error, ")
        raise FormatError(f"{where}{message}{found}", path=str(path)) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # also text that is not UTF-8, and dates
        raise FormatError(f"not YAML: {' '.join(str(error).split())[:200]}", path=str(path)) from None
