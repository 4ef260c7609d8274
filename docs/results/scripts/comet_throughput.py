r"""Print how many pairs of hypotheses a COMET estimator scores per second of CPU time, as MBR decoding needs them.

LISTS is a file of n-best lists. The estimator has random weights, since the time depends on the sizes alone, and a
tokenizer that is trained on the lists. The loop scores one pair at a time and reads its three texts anew. One thread is
used if OMP_NUM_THREADS=1.

\b
    OMP_NUM_THREADS=1 python -m docs.results.scripts.comet_throughput tune.nbest --source tune.de
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment
from docs.results.scripts.neural_throughput import PIECES, timed, tokenizer_of
from rerank_adapters.api import read_nbest
from rerank_plugins.neural.comet_checkpoint import softmax
from rerank_plugins.neural.comet_estimator import CometEstimator
from rerank_plugins.neural.comet_settings import CometSettings

TOKENS = 4096


def estimator_of(texts: list[str], layers: int, width: int) -> CometEstimator:
    """An estimator with reference, with the widths of the regression in the proportions of the published ones."""
    import torch
    import transformers

    tokenizer = tokenizer_of(texts, ends=True)
    tokenizer.pad_token = "</s>"
    config = transformers.XLMRobertaConfig(
        vocab_size=PIECES, hidden_size=width, num_hidden_layers=layers, num_attention_heads=max(1, width // 64),
        intermediate_size=4 * width,
    )  # fmt: skip
    hidden = (3 * width, width)
    settings = CometSettings(
        class_identifier="regression_metric", encoder_model="XLM-RoBERTa", pretrained_model="random", layer_norm=False,
        pool="avg", hidden_sizes=hidden, activations="Tanh",
    )  # fmt: skip
    regression = torch.nn.Sequential(
        torch.nn.Linear(6 * width, hidden[0]), torch.nn.Tanh(), torch.nn.Linear(*hidden), torch.nn.Tanh(),
        torch.nn.Linear(width, 1),
    )  # fmt: skip
    encoder = transformers.AutoModel.from_config(config).eval()
    return CometEstimator(settings, tokenizer, encoder, softmax(np.zeros(layers + 1)), regression, 500)


def at_once(estimator: CometEstimator, lists: Sequence[tuple[str, list[str]]]) -> list[float]:
    """The scores of all pairs of each list of a source and its distinct hypotheses."""
    estimator.forget()
    values = list[float]()
    for source, texts in lists:
        rows = [(one, source, other) for one in texts for other in texts]
        values += estimator.scores(*zip(*rows, strict=True), TOKENS).tolist()
    return values


def loop(estimator: CometEstimator, lists: Sequence[tuple[str, list[str]]]) -> list[float]:
    """The same, with one call for each pair, after which nothing is remembered."""
    values = list[float]()
    for source, texts in lists:
        for one in texts:
            for other in texts:
                estimator.forget()
                values += estimator.scores([one], [source], [other], TOKENS).tolist()
    return values


@experiment("comet_throughput", __doc__)
@click.argument("lists", type=FILE)
@click.option("--source", required=True, type=FILE, help="The source sentences of all lists.")
@click.option("--number", default=1, help="Lists to score.")
@click.option("--most", default=20, help="Hypotheses of each list to compare with each other.")
@click.option("--layers", default=6, help="Layers of the encoder.")
@click.option("--width", default=384, help="Width of the encoder.")
def main(lists: Path, source: Path, number: int, most: int, layers: int, width: int) -> None:
    """Time the scores of all pairs of hypotheses of the first LISTS of a file."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    nbests = read_nbest([lists], source=source)[:number]
    chosen = [(nbest.source or "", list(dict.fromkeys(nbest.texts))[:most]) for nbest in nbests]
    estimator = estimator_of([text for own, texts in chosen for text in (own, *texts)], layers, width)
    print("| way | pairs | texts read | pairs/s | times the loop |\n|---|---|---|---|---|")
    timings: dict[str, tuple[float, list[float]]] = {}
    for way, function in (("loop", loop), ("each text once", at_once)):
        at_once(estimator, chosen[:1])  # warm
        before = estimator.read
        timings[way] = timed(partial(function, estimator, chosen), 1)
        seconds, values = timings[way]
        read, ratio = estimator.read - before, timings["loop"][0] / seconds
        print(f"| {way} | {len(values)} | {read} | {len(values) / seconds:.1f} | {ratio:.1f} |")
    np.testing.assert_allclose(timings["each text once"][1], timings["loop"][1], atol=1e-4)


if __name__ == "__main__":
    main()
