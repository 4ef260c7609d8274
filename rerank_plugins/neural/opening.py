"""Opens a transformers model and its tokenizer from a local folder; nothing is ever downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, NamedTuple

from rerank_plugins import ConfigError, ModelError

Dtype = Literal["float32", "float64", "bfloat16", "float16"]
ENGINES = ("torch", "transformers", "tokenizers")  # distributions whose versions the values depend on
TOKENS = 4096
DEVICE = "where to compute, as torch names it: cpu, cuda, cuda:1, mps"
DTYPE = "type of the weights; bfloat16 halves the memory of a GPU and gives two to three digits"
BATCH = "tokens of a batch; the memory for logits is about 8 bytes × tokens × vocabulary"
BATCH_READ = "tokens that the encoder reads in a batch"
UNLIMITED = 1_000_000  # pieces: tokenizers without a limit of their own name a huge number


class Opened(NamedTuple):
    """A model in evaluation mode on its device, its fast tokenizer, and the most pieces that it reads at once."""

    model: Any
    tokenizer: Any
    limit: int


def open_model(kind: Literal["CausalLM", "MaskedLM", "Seq2SeqLM"], folder: Path, device: str, dtype: Dtype) -> Opened:
    """The model of that kind in a folder written by `save_pretrained`.

    Raises ModelError in one line if transformers is not installed, and for a folder that is missing, damaged, without a
    fast tokenizer, or of another kind of model, whose missing weights would be random; ConfigError for a device that is
    not there.
    """
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: no config.json, wanted the folder of a transformers model")
    torch, transformers = imported(folder)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, loading = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(
            folder, local_files_only=True, output_loading_info=True, dtype=getattr(torch, dtype)
        )
    except Exception as error:  # transformers, tokenizers, safetensors and json raise many kinds
        raise ModelError(f"{folder}: not a {kind} model that transformers can read: {one_line(error)}") from error
    if missing := sorted(loading["missing_keys"]):
        raise ModelError(f"{folder}: no weights for {missing[0]}, so it is not a {kind} model")
    if not tokenizer.is_fast:
        raise ModelError(f"{folder}: its tokenizer is not a fast one, which alone says where in the text a piece is")
    model = moved(model, device)
    config = model.config.get_text_config()
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "sliding_window")]
    return Opened(model, tokenizer, min(*(limit or UNLIMITED for limit in limits), tokenizer.model_max_length))


def imported(path: Path) -> tuple[Any, Any]:
    """Import torch and transformers, and silence the latter. Raises ModelError where one of them is not installed."""
    try:
        import torch
        import transformers
    except ImportError as error:
        wanted = "pip install 'rerank-plugins[neural]'"
        raise ModelError(f"{path}: reading it needs {error.name}, which is not installed: {wanted}") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return torch, transformers


def moved(module: Any, device: str, dtype: Any = None) -> Any:
    """The module in evaluation mode on a device. Raises ConfigError for one that is not there."""
    import torch

    try:
        return module.to(device=torch.device(device), dtype=dtype).eval()
    except (RuntimeError, AssertionError) as error:  # torch raises the second where it was built without CUDA
        raise ConfigError(f"device = {device!r} cannot be used: {one_line(error)}") from None


def one_line(error: Exception) -> str:
    """The start of an error's message in one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__
