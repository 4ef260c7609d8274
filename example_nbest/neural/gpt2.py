"""Writes a language model as a GPT-2 of transformers: `python -m example_nbest.neural.gpt2 FOLDER OUT`.

The decoder without a source is a GPT-2 (Radford et al. 2019) with rectified linear units, sinusoids in the place of
learnt positions, and input embeddings that are √width times those of the output. So whatever reads such folders scores
with the model: `neural-causal`, say.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from example_nbest.neural.model import END, LONGEST, PADDING, START, UNKNOWN, Transformer
from example_nbest.neural.text import open_pieces
from example_nbest.neural.train import load_model

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor


def gpt2_weights(model: Transformer) -> dict[str, Tensor]:
    """The weights of a language model by the names that GPT-2 has for them; its matrices are transposed."""
    own = model.state_dict()
    weights = {
        "transformer.wte.weight": own["embedding.weight"] * math.sqrt(model.shape.width),
        "transformer.wpe.weight": model.positions,
        "lm_head.weight": own["embedding.weight"],
    }
    names = {"own_norm": "ln_1", "own.output": "attn.c_proj", "inner_norm": "ln_2", "inner.0": "mlp.c_fc"}
    names |= {"inner.2": "mlp.c_proj"}
    for kind in ("weight", "bias"):
        weights[f"transformer.ln_f.{kind}"] = own[f"decoder_norm.{kind}"]
        for layer in range(model.shape.decoder):
            ours, theirs = f"decoder.{layer}", f"transformer.h.{layer}"
            parts = [own[f"{ours}.own.{part}.{kind}"] for part in ("query", "key", "value")]
            weights[f"{theirs}.attn.c_attn.{kind}"] = torch.cat(parts).t()
            for name, other in names.items():
                weights[f"{theirs}.{other}.{kind}"] = own[f"{ours}.{name}.{kind}"].t()
    return {name: values.contiguous() for name, values in weights.items()}


def fast_tokenizer(pieces: SentencePieceProcessor) -> Any:
    """A tokenizer of transformers with the same pieces."""
    import tokenizers
    import transformers

    vocabulary = [(pieces.id_to_piece(piece), pieces.get_score(piece)) for piece in range(len(pieces))]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, unk_id=UNKNOWN))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    names = {"pad": PADDING, "unk": UNKNOWN, "bos": START, "eos": END}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=LONGEST,
        **{f"{name}_token": vocabulary[piece][0] for name, piece in names.items()},
    )


def write_gpt2(model: Transformer, pieces: SentencePieceProcessor, folder: Path) -> None:
    """Write a language model and its tokenizer, as `save_pretrained` does."""
    import transformers

    shape = model.shape
    if shape.encoder:
        raise SystemExit("a translation model, wanted one of --direction lm")
    config = transformers.GPT2Config(
        vocab_size=shape.pieces,
        n_positions=LONGEST,
        n_embd=shape.width,
        n_inner=shape.inner,
        n_layer=shape.decoder,
        n_head=shape.heads,
        activation_function="relu",
        tie_word_embeddings=False,
        bos_token_id=START,
        eos_token_id=END,
        pad_token_id=PADDING,
    )
    theirs = transformers.GPT2LMHeadModel(config)
    theirs.load_state_dict(gpt2_weights(model))
    theirs.save_pretrained(folder)
    fast_tokenizer(pieces).save_pretrained(folder)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="of a language model")
    parser.add_argument("out", type=Path, help="the folder for transformers")
    options = parser.parse_args()
    write_gpt2(load_model(options.folder), open_pieces(options.folder), options.out)


if __name__ == "__main__":
    main()
