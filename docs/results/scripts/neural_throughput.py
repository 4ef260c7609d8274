r"""Print how many hypotheses per second of CPU time neural models score, and how many a loop over hypotheses does.

LISTS is a file of n-best lists. The models have random weights, since the time depends on the sizes alone, and a
tokenizer of 8,000 pairs of bytes that is trained on the lists. The loop calls the model for one hypothesis, or one
masked copy of one, at a time. The time to open the model, found by scoring one hypothesis, is subtracted. One thread is
used if OMP_NUM_THREADS=1.

\b
    OMP_NUM_THREADS=1 python -m docs.results.scripts.neural_throughput tune.nbest --source tune.de
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment
from rerank_adapters.api import read_nbest
from rerank_plugins import NBestList
from rerank_plugins.neural.language_models import CausalLanguageModel, MaskedLanguageModel
from rerank_plugins.neural.translation_feature import NeuralTranslationFeature

KINDS = {"causal": "CausalLM", "masked": "MaskedLM", "translation": "Seq2SeqLM"}
SHARES = {"causal": 1, "masked": 10, "translation": 2}  # the loop over masked copies is slow: it gets a tenth
PIECES = 8000


def configs(layers: int, width: int) -> dict[str, Any]:
    """The configs of a GPT-2, a BERT and a T5 of the same sizes."""
    import transformers

    heads, ends = max(1, width // 64), {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    inner = {"hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
    return {
        "causal": transformers.GPT2Config(vocab_size=PIECES, n_embd=width, n_layer=layers, n_head=heads, **ends),
        "masked": transformers.BertConfig(vocab_size=PIECES, intermediate_size=4 * width, **inner),
        "translation": transformers.T5Config(
            vocab_size=PIECES,
            d_model=width,
            d_ff=4 * width,
            num_layers=layers,
            num_heads=heads,
            decoder_start_token_id=0,
        ),
    }


def tokenizer_of(texts: Sequence[str], *, ends: bool) -> Any:
    """A tokenizer trained on the texts; where it `ends`, each text gets an end."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["</s>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=PIECES, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    if ends:
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", mask_token="<mask>")


def loop(kind: str, model: Any, tokenizer: Any, nbests: Sequence[NBestList]) -> list[float]:
    """The score of each hypothesis, with one call for each hypothesis or masked copy."""
    import torch

    with torch.inference_mode():
        return [_one(kind, model, tokenizer, nbest.source or "", text) for nbest in nbests for text in nbest.texts]


def _one(kind: str, model: Any, tokenizer: Any, source: str, text: str) -> float:
    import torch

    ids = tokenizer(text)["input_ids"]
    if kind == "masked":
        return sum(
            float(_logs(model, [*ids[:at], tokenizer.mask_token_id, *ids[at + 1 :]])[at, ids[at]])
            for at in range(len(ids) - 1)
        )
    if kind == "causal":
        logs, wanted = _logs(model, [0, *ids]), [*ids, 0]
    else:
        more = torch.tensor([[0, *ids[:-1]]])
        logs, wanted = _logs(model, tokenizer(source)["input_ids"], decoder_input_ids=more), ids
    return float(logs[torch.arange(len(wanted)), torch.tensor(wanted)].sum())


def _logs(model: Any, ids: list[int], **more: Any) -> Any:
    import torch

    return torch.log_softmax(model(input_ids=torch.tensor([ids]), **more).logits[0], 1)


def ours(kind: str, folder: Path, nbests: Sequence[NBestList], **options: Any) -> list[float]:
    """The score of each hypothesis by the plugins."""
    if kind == "translation":
        arrays = NeuralTranslationFeature(folder, **options).extract_all(nbests)
        return [float(value) for value in np.concatenate(arrays)[:, 0]]
    lm = (CausalLanguageModel if kind == "causal" else MaskedLanguageModel)(folder, **options)
    return [float(value) for value in lm.totals([text.split() for nbest in nbests for text in nbest.texts])]


def timed(function: Callable[[], list[float]], repeats: int) -> tuple[float, list[float]]:
    """The least CPU seconds of some calls, and the values."""
    best, values = math.inf, list[float]()
    for _ in range(repeats):
        started = time.process_time()
        values = function()
        best = min(best, time.process_time() - started)
    return best, values


@experiment("neural_throughput", __doc__)
@click.argument("lists", type=FILE)
@click.option("--source", required=True, type=FILE, help="The source sentences of all lists.")
@click.option("--number", default=8, help="Lists to score.")
@click.option("--layers", default=6, help="Layers of each model.")
@click.option("--width", default=384, help="Width of each model.")
@click.option("--repeats", default=1, help="Take the best time of so many.")
def main(lists: Path, source: Path, number: int, layers: int, width: int, repeats: int) -> None:
    """Time the plugins against a loop on the first LISTS of a file."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    nbests = read_nbest([lists], source=source)[:number]
    texts = [text for nbest in nbests for text in nbest.texts]
    print("| model | way | hypotheses | hypotheses/s | times the loop |\n|---|---|---|---|---|")
    for kind, config in configs(layers, width).items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            model = getattr(transformers, f"AutoModelFor{KINDS[kind]}").from_config(config).eval()
            tokenizer = tokenizer_of(texts, ends=kind != "causal")
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            chosen = nbests[: max(1, number // SHARES[kind])]
            rows = sum(map(len, chosen))
            slow, wanted = timed(partial(loop, kind, model, tokenizer, chosen), repeats)
            print(f"| {kind} | loop | {rows} | {rows / slow:.1f} | 1 |")
            ways: dict[str, dict[str, Any]] = {"batches": {}}
            if kind == "causal":
                ways = {"batches": {"share_prefixes": False}, "shared prefixes": {}}
            for way, options in ways.items():
                opening, _ = timed(partial(ours, kind, folder, [chosen[0].select([0])], **options), repeats)
                seconds, values = timed(partial(ours, kind, folder, chosen, **options), repeats)
                np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=1e-3)
                seconds = max(1e-3, seconds - opening)
                print(f"| {kind} | {way} | {rows} | {rows / seconds:.1f} | {slow / seconds:.1f} |")


if __name__ == "__main__":
    main()
