"""Tiny transformers models with random weights and tokenizers of their own, as `save_pretrained` writes them."""

from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path

import pytest

from rerank_adapters.job.specs import Names, Spec
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.testing import SENTENCES

TEXTS = [*SENTENCES, "the cat sat on the mat .", "the cat sat down", "Wörds ! the cat"]
SIZES = {"vocab_size": 300, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}
MISSING = [name for name in ("torch", "transformers") if not find_spec(name)]
REASON = f"{' and '.join(MISSING)} not installed: it comes with the extra `neural`"
needs_transformers = pytest.mark.skipif(bool(MISSING), reason=REASON)


def build(kind_of_plugin: str, use: str, **options):
    return Spec.read(
        kind_of_plugin, {"use": use, "dtype": "float64", **options}, Names(load_plugins(installed=False))
    ).make()


def write_models(folder: Path, names: Collection[str] = ("gpt2", "qwen", "bert", "t5", "bart")) -> Path:
    """Write folders `gpt2`, `qwen`, `bert`, `t5` and `bart` of models in float32."""
    import transformers

    transformers.set_seed(7)
    small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    configs = {
        "gpt2": transformers.GPT2Config(**SIZES, n_positions=48, n_embd=16, n_layer=2, n_head=2),
        "qwen": transformers.Qwen2Config(**SIZES, **small, num_key_value_heads=2, max_position_embeddings=64),
        "bert": transformers.BertConfig(vocab_size=300, **small, max_position_embeddings=64),
        "t5": transformers.T5Config(vocab_size=300, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
                                    decoder_start_token_id=1),
        "bart": transformers.BartConfig(**SIZES, d_model=16, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=24,
                                        decoder_ffn_dim=24, encoder_attention_heads=2, decoder_attention_heads=2,
                                        max_position_embeddings=64, decoder_start_token_id=0),
    }  # fmt: skip
    kinds = {"bert": "MaskedLM", "t5": "Seq2SeqLM", "bart": "Seq2SeqLM"}
    for name in names:
        config = configs[name]
        model = getattr(transformers, f"AutoModelFor{kinds.get(name, 'CausalLM')}").from_config(config)
        for parameter in model.parameters():  # the scores of the usual small weights hardly depend on the input
            parameter.data *= 8 if parameter.dim() > 1 else 1
        model.save_pretrained(folder / name)
        (word_piece() if name == "bert" else byte_pairs(ends=name in kinds)).save_pretrained(folder / name)
    return folder


def byte_pairs(*, ends: bool):
    """A tokenizer of pairs of bytes, as that of GPT-2; where it `ends`, it adds `</s>` to each text."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        TEXTS, trainers.BpeTrainer(vocab_size=300, special_tokens=["</s>", "<pad>"], initial_alphabet=alphabet)
    )
    if ends:
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>")


def word_piece():
    """A tokenizer of BERT's kind, which lower-cases and knows an unknown piece."""
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(TEXTS[:3], trainers.WordPieceTrainer(vocab_size=60, special_tokens=special))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **dict(zip(names, special, strict=True)))
