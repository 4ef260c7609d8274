"""`rerank train joint-lm`: trains a neural network joint model on sentence pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import Closing, counted, size_text
from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.translation.joint_model.model import JointModel
    from rerank_plugins.translation.joint_model.training import Epoch, Settings


@click.command("joint-lm")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@click.option("-a", "--alignment", required=True, type=click.Path(dir_okay=False, path_type=Path), metavar="MODEL",
              help="Model from `rerank train word-alignment`, best of the same pairs.")  # fmt: skip
@model_output()
@click.option("--window", type=click.IntRange(0), default=5, show_default=True,
              help="Number of source words seen on either side of the affiliated one.")  # fmt: skip
@click.option("--history", type=click.IntRange(0), default=4, show_default=True,
              help="Number of target words seen before the predicted one.")  # fmt: skip
@click.option("--embedding", type=click.IntRange(1), default=96, show_default=True,
              help="Size of the vector of a word.")  # fmt: skip
@click.option("--hidden", type=click.IntRange(1), default=256, show_default=True, help="Size of the hidden layer.")
@click.option("--epochs", type=click.IntRange(1), default=6, show_default=True, help="Passes over the words.")
@click.option("--dropout", type=click.FloatRange(0, 1, max_open=True), default=0.2, show_default=True,
              help="Proportion of the hidden layer that is left out for each word.")  # fmt: skip
@click.option("--source-count", type=click.IntRange(1), default=2, show_default=True,
              help="Leave out source words that occur less often than this.")  # fmt: skip
@click.option("--target-count", type=click.IntRange(1), default=2, show_default=True,
              help="Leave out target words that occur less often than this.")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Do not convert the source to lower case.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of weights, order, samples and dropout.")
def command(
    texts: tuple[str, ...], alignment: Path, output: Path, window: int, history: int, embedding: int, hidden: int,
    epochs: int, dropout: float, source_count: int, target_count: int, keep_case: bool, seed: int,
) -> None:  # fmt: skip
    """Train a neural network joint model (Devlin et al. 2014) on tokenised sentence pairs.

    SOURCE and TARGET have a sentence on each line, and the same number of lines; or SOURCE alone has lines `source |||
    target`. A network with one hidden layer predicts each target word from the target words before it and from the
    source words about the one that the word alignment model links it to. The feature `joint-lm` reads the model. After
    each pass the perplexity of held-out pairs is printed.

    \b
    rerank train word-alignment train.de-en.xz -o de-en.align
    rerank train joint-lm train.de-en.xz -a de-en.align -o de-en.joint
    """  # noqa: D301
    from rerank_plugins.translation.joint_model.training import Settings

    closing = Closing()
    settings = Settings(
        window=window, history=history, source_count=source_count, target_count=target_count, embedding=embedding,
        hidden=hidden, epochs=epochs, dropout=dropout, lowercase=not keep_case, seed=seed,
    )  # fmt: skip
    model, size = train_joint_lm(texts, alignment, output, settings)
    say(
        f"{counted(model.settings['pairs'], 'sentence pair')}, {len(model.numbering.source_words):,} source and "
        f"{len(model.numbering.target_words):,} target words"
    )
    closing.wrote(f"the model ({size_text(size)})", output)


def train_joint_lm(texts: Sequence[str], alignment: Path, output: Path, settings: Settings) -> tuple[JointModel, int]:
    """Train a model on files and write it; return it with the size of its file in bytes.

    Raises FormatError for files that cannot be read or do not fit together, ModelError for an unusable alignment model
    and where too few pairs are left.
    """
    from rerank_adapters.formats.sentence_pairs import read_pairs
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import display_name
    from rerank_plugins.translation.alignment.model_file import read_model
    from rerank_plugins.translation.joint_model.model_file import write_model
    from rerank_plugins.translation.joint_model.training import train

    aligner = read_model(alignment)
    with StatusLine() as stages:
        model = train(read_pairs(texts), aligner, settings, report=_say_epoch, progress=stages)
        model = replace(model, settings={**model.settings, "texts": [display_name(text) for text in texts]})
        return model, write_model(model, output)


def _say_epoch(epoch: Epoch) -> None:
    say(f"epoch {epoch.number}: perplexity {epoch.training:.3f} in training, {epoch.held_out:.3f} held out")
