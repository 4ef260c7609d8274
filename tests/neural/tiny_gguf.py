"""A tiny Llama with random weights as a GGUF file, with bytes and some words as tokens."""

from pathlib import Path

import numpy as np

WORDS = ["▁the", "▁cat", "▁sat", "▁", "e", "a", "t", "h", "c", "s", "▁a", "at"]
WIDTH, HEADS, INNER, LAYERS, EPSILON = 64, 4, 128, 2, 1e-5


def write_gguf(path: Path, *, space: bool) -> None:
    """Write the model; its tokenizer puts a space before each text if `space`."""
    from gguf import GGUFWriter, TokenType

    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *WORDS]
    types = [TokenType.UNKNOWN, *[TokenType.CONTROL] * 2, *[TokenType.BYTE] * 256, *[TokenType.NORMAL] * len(WORDS)]
    scores = [0.0] * 259 + [-float(at) if len(word) > 1 else -50.0 for at, word in enumerate(WORDS)]
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(512)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores(scores)
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(space)
    draw = np.random.default_rng(0)
    square = (WIDTH, WIDTH)
    shapes = {"token_embd": (len(tokens), WIDTH), "output": (len(tokens), WIDTH), "output_norm": (WIDTH,)}
    for layer in range(LAYERS):
        own = {"attn_norm": (WIDTH,), "attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square,
               "ffn_norm": (WIDTH,), "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH),
               "ffn_down": (WIDTH, INNER)}  # fmt: skip
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in own.items()}
    for name, shape in shapes.items():
        values = draw.normal(size=shape) * 0.3 if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
