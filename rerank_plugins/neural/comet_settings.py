"""The settings of a COMET estimator, as unbabel-comet writes them: the file `hparams.yaml` beside the checkpoint.

The file has one `key: value` a line, and lists whose items stand on the lines below. Of YAML, no more is read: what has
another form counts for keys that a score does not depend on, and is an error for the others.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from rerank_plugins import FormatError

Kind = Literal["regression_metric", "referenceless_regression_metric", "unified_metric"]
Value = str | list[str] | None

KINDS: tuple[Kind, ...] = ("regression_metric", "referenceless_regression_metric", "unified_metric")
ENCODERS = ("BERT", "XLM-RoBERTa", "MiniLM", "XLM-RoBERTa-XL", "RemBERT")
JOINING = ("XLM-RoBERTa", "XLM-RoBERTa-XL")  # those that read two texts as one here
ACTIVATIONS = ("Tanh", "Sigmoid", "ReLU", "GELU", "LeakyReLU", "ELU", "Identity")
MIXTURES = ("softmax", "sparsemax", "sparsemax_patch")  # the last is a softmax: unbabel-comet used one by mistake
POOLS = ("avg", "cls", "max")
LINE = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_]*):(?: +(?P<value>.*))?")
OTHER = "\0"  # the value of a key that stands in another form


class CometSettings(NamedTuple):
    """What a score depends on besides the weights.

    `kind`              what the estimator reads: source, hypothesis and reference; source and hypothesis; or the
                        hypothesis and the source as one text, as CometKiwi does
    `encoder`           the family of the encoder, and `pretrained` the name of the model that was trained further
    `layer`             the layer whose embeddings are pooled, from 0; None: the mixture of all
    `sparse`            whether the weights of the mixture are a sparsemax of its parameters, and not a softmax
    `normalised`        whether layers are normalised before they are mixed
    `pool`              the mean or the maximum of a sentence's embeddings, or that of its first piece
    `hidden_sizes`      the widths of the hidden layers of the regression
    `activation`        follows each of them, and `final_activation` the last layer
    """

    kind: Kind
    encoder: str
    pretrained: str
    layer: int | None
    sparse: bool
    normalised: bool
    pool: str
    hidden_sizes: tuple[int, ...]
    activation: str
    final_activation: str | None

    @property
    def reads_reference(self) -> bool:
        """Whether a score needs a reference."""
        return self.kind == "regression_metric"


def read_settings(path: Path) -> CometSettings:
    """The settings in a file. Raises FormatError, with the key, for what is missing, unknown or another estimator."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not text in UTF-8"
        raise FormatError(f"cannot be read: {why}", path=str(path)) from None
    return _Keys(path, _flat(path, text)).settings()


def _flat(path: Path, text: str) -> dict[str, Value]:
    """The values by key: texts, lists of texts, None for null, OTHER for what is neither."""
    values: dict[str, Value] = {}
    key = ""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.rstrip()
        if not bare or bare.lstrip().startswith("#") or bare in ("---", "..."):
            continue
        item = bare.lstrip()
        if found := LINE.fullmatch(bare):
            key = found["key"]
            if key in values:
                raise FormatError(f"the key {key} a second time", path=str(path), line=number)
            values[key] = _value(found["value"] or "")
        elif key and item.startswith("- ") and isinstance(values[key], list | None):
            values[key] = [*(values[key] or []), str(_value(item[2:]))]
        elif key and (line[0] in " -" or values[key] == OTHER):
            values[key] = OTHER
        else:
            raise FormatError(f"found {bare[:40]!r}, wanted `key: value`", path=str(path), line=number)
    return values


def _value(text: str) -> Value:
    text = text.strip()
    if text[:1] == "[" and text[-1:] == "]":
        return [str(_value(item)) for item in text[1:-1].split(",") if item.strip()]
    if text[:1] in ("'", '"') and len(text) > 1 and text[-1] == text[0]:
        return text[1:-1]
    if text[:1] in ("!", "&", "*", "{", "[", "|", ">"):
        return OTHER
    return None if text in ("", "null", "~", "Null", "NULL") else text


class _Keys:
    """The keys of a file, each with what is wanted of it."""

    def __init__(self, path: Path, values: dict[str, Value]) -> None:
        self.path, self.values = path, values

    def settings(self) -> CometSettings:
        kind = self.one("class_identifier", KINDS)
        unified = kind == "unified_metric"
        if unified and "src" not in self.texts("input_segments", ["mt", "src", "ref"]):
            raise self.error("input_segments", "src among them")
        layer = self.text("sent_layer" if unified else "layer", "mix")
        if layer != "mix" and not layer.isdecimal():
            raise self.error("sent_layer" if unified else "layer", "mix or a number")
        final = self.values.get("final_activation")
        return CometSettings(
            kind=next(one for one in KINDS if one == kind),
            encoder=self.one("encoder_model", JOINING if unified else ENCODERS),
            pretrained=self.text("pretrained_model"),
            layer=None if layer == "mix" else int(layer),
            sparse=self.one("layer_transformation", MIXTURES, "sparsemax" if unified else "softmax") == "sparsemax",
            normalised=self.one("layer_norm", ("true", "false"), "true") == "true",
            pool="cls" if unified else self.one("pool", POOLS),
            hidden_sizes=self.sizes("hidden_sizes"),
            activation=self.one("activations", ACTIVATIONS),
            final_activation=None if final is None else self.one("final_activation", ACTIVATIONS),
        )

    def text(self, key: str, default: str | None = None) -> str:
        """The text of a key; the default where it is not there. Raises FormatError for what is no text."""
        value = self.values.get(key, default)
        if not isinstance(value, str) or value == OTHER:
            raise self.error(key, "a text")
        return value

    def one(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of the allowed texts, whatever its case."""
        value = self.text(key, default)
        known = next((one for one in allowed if one.lower() == value.lower()), None)
        if known is None:
            raise self.error(key, " or ".join([", ".join(allowed[:-1]), allowed[-1]]))
        return known

    def texts(self, key: str, default: list[str]) -> list[str]:
        """The texts of a list."""
        value = self.values.get(key, default)
        if not isinstance(value, list):
            raise self.error(key, "a list")
        return value

    def sizes(self, key: str) -> tuple[int, ...]:
        """The positive integers of a list."""
        items = self.texts(key, [])
        if not items or not all(item.isdecimal() and 0 < int(item) < 1 << 20 for item in items):
            raise self.error(key, "a list of widths")
        return tuple(map(int, items))

    def error(self, key: str, wanted: str) -> FormatError:
        """The error for the value of a key."""
        value = self.values.get(key)
        shown = "another form" if value == OTHER else repr(value)[:60]
        found = f"found {shown}" if key in self.values else "is missing"
        return FormatError(f"{key}: {found}, wanted {wanted}", path=str(self.path))
