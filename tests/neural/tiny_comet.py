"""Tiny COMET estimators in the layout that unbabel-comet publishes, whose weights depend on nothing but their names.

No more is imported than an environment with unbabel-comet has, which computes the scores of `comet_reference`.
"""

import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np

HYPOTHESES = ["the cat sat on the mat .", "a dog", "", "the cat sat down", "Wörds ! the cat", "the cat " * 40]
REFERENCES = ["the cat sat on a mat .", "the dog ran"]
SOURCES = ["die Katze saß auf der Matte .", "der Hund lief", "das ist ein Satz", "Wörter ! " * 30]
SIZES = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
WIDTHS = {"regression_metric": 96, "referenceless_regression_metric": 64, "unified_metric": 16}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
VARIANTS = [
    {},
    {"layer_norm": True, "layer_transformation": "softmax"},
    {"layer": 2},
    {"layer": 0, "pool": "max"},
    {"pool": "cls"},
]


def hparams(kind: str, **changed: object) -> dict[str, object]:
    """The keys of hparams.yaml."""
    keys: dict[str, object] = {
        "nr_frozen_epochs": 0.3,
        "encoder_model": "XLM-RoBERTa",
        "pretrained_model": "xlm-roberta-large",
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "train_data": ["data/1.csv", "data/2.csv"],
        "class_identifier": kind,
        "hidden_sizes": [12, 6],
        "activations": "Tanh",
        "final_activation": None,
    }
    own: dict[str, object] = {"pool": "avg", "layer": "mix"}
    if kind == "unified_metric":
        own = {"input_segments": ["mt", "src"], "sent_layer": "mix", "word_level_training": False}
    return {**keys, **own, **changed}


def as_yaml(keys: dict[str, object]) -> str:
    """Keys as unbabel-comet writes them."""
    lines = []
    for key, value in keys.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"- {item}" for item in value)]
        else:
            shown = str(value).lower() if isinstance(value, bool) else value
            lines.append(f"{key}: {'null' if value is None else shown}")
    return "\n".join(lines) + "\n"


def drawn(name: str, shape: tuple[int, ...], scale: float):
    """A tensor of normal numbers that depend on the name."""
    import torch

    draw = np.random.default_rng(zlib.crc32(name.encode()))
    return torch.tensor((draw.normal(size=shape) * scale).astype(np.float32))


def write_comet(folder: Path, kind: str, **changed: object) -> dict[str, object]:
    """Write an estimator and the folder `encoder` of its encoder; return the keys of hparams.yaml."""
    import torch
    import transformers

    keys = hparams(kind, **changed)
    unigrams().save_pretrained(folder / "encoder")
    config = transformers.XLMRobertaConfig(
        vocab_size=200, pad_token_id=1, bos_token_id=0, eos_token_id=2, max_position_embeddings=66,
        type_vocab_size=1, **SIZES,
    )  # fmt: skip
    config.save_pretrained(folder / "encoder")
    encoder = transformers.AutoModel.from_config(config, add_pooling_layer=False)
    state = {}
    for name, value in encoder.state_dict().items():
        of_norm = name.endswith("LayerNorm.weight")
        new = drawn(name, tuple(value.shape), 0.15) + of_norm if value.is_floating_point() else value
        state[f"encoder.model.{name}"] = new
    for number in range(SIZES["num_hidden_layers"] + 1):
        name = f"layerwise_attention.scalar_parameters.{number}"
        state[name] = drawn(name, (1,), 0.5)
    state["layerwise_attention.gamma"] = torch.tensor([1.3])
    for number, (into, out) in enumerate(pairwise([WIDTHS[kind], 12, 6, 1])):
        name = f"estimator.ff.{3 * number}"
        state[f"{name}.weight"] = drawn(f"{name}.weight", (out, into), into**-0.5)
        state[f"{name}.bias"] = drawn(f"{name}.bias", (out,), 0.1)
    for name in ("pooler.dense.bias", "embeddings.position_ids"):  # older checkpoints have these, which change no score
        state[f"encoder.model.{name}"] = torch.zeros(SIZES["hidden_size"])
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    found = {"state_dict": state, "epoch": 1, "pytorch-lightning_version": "2.6.0"}
    torch.save(found, folder / "checkpoints" / "model.ckpt")
    (folder / "hparams.yaml").write_text(as_yaml(keys), encoding="utf-8")
    return keys


def unigrams():
    """A tokenizer of XLM-RoBERTa's kind, with single characters and some words as pieces."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    texts = " ".join([*HYPOTHESES, *REFERENCES, *SOURCES])
    words = sorted({f"▁{word}" for word in texts.split()})[::2]
    pieces = [*SPECIAL, *words, *sorted({*texts, "▁"} - {" "})]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0 - 2.0 * (len(piece) == 1)) for piece in pieces], 3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = ("bos_token", "pad_token", "eos_token", "unk_token", "mask_token", "cls_token", "sep_token")
    own = dict(zip(names, [*SPECIAL, "<s>", "</s>"], strict=True))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **own)
