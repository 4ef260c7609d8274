"""`train`: trains a model from Python, as `rerank train NAME` and a [[model]] table of a config do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.chain.loading import all_plugins
from rerank_adapters.chain.training.model_tables import training_of
from rerank_adapters.config import Config, Model


def train(
    name: str,
    data: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    report: Callable[[str], object] = lambda line: None,
    **options: Any,
) -> Path:
    r"""Train a model with the trainer `name` on files, write it to `output`, and return this path, which `load` takes.

    `options` are those of `rerank train NAME`, with `_` for `-`; several values are a list. `report` gets the lines
    that the command prints, such as the sizes of the model and held-out perplexities.

    Raises ConfigError for an unknown trainer or option, a wrong value or a missing file, FormatError for data that
    cannot be read.

    >>> from rerank_adapters import load, train
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "news.en").write_text("the dog barks\nthe cat sleeps\n")
    >>> bigrams = load(train("ngram", folder / "news.en", folder / "news.ngram", order=2, text="none"))
    >>> bool(bigrams.totals("the cat barks") > bigrams.totals("barks cat the"))
    True
    """
    inputs = [str(data)] if isinstance(data, str | Path) else [str(path) for path in data]
    given = {key: _plain(value) for key, value in options.items()}
    model = Model(train=name, inputs=inputs, output=Path(output), options=given)
    training = training_of(Config(), model, all_plugins(), f"train({name!r})")
    training.make_room()
    training.run(report)
    return training.output


def _plain(value: Any) -> Any:
    """An option's value as a config has it."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
