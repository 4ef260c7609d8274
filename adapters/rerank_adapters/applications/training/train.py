"""`train`: trains a model from Python, as `rerank train NAME` and a [[model]] table of a config do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.applications.training.model_tables import training_of
from rerank_adapters.job.config import Config, Model
from rerank_adapters.job.models import all_plugins, table_of_name
from rerank_adapters.job.specs import Names, Spec
from rerank_plugins import Trainer
from rerank_plugins.core.plugins import Registry


def train(
    name: str | Mapping[str, Any] | Trainer,
    data: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    report: Callable[[str], object] = lambda line: None,
    **options: Any,
) -> Path:
    r"""Train a model with the trainer `name` on files, write it to `output`, and return this path, which `load` takes.

    `options` are those of `rerank train NAME`, with `_` for `-`; several values are a list. Some may be given with the
    name, as `load` takes it: "ngram,order=2", a table with `use`, or a trainer that `load` has made. `report` gets the
    lines that the command prints, such as the sizes of the model and held-out perplexities.

    Raises ConfigError for an unknown trainer or option, a wrong value or a missing file, FormatError for data that
    cannot be read, TypeError for another object.

    >>> from rerank_adapters import load, train
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "news.en").write_text("the dog barks\nthe cat sleeps\n")
    >>> bigrams = load(train("ngram", folder / "news.en", folder / "news.ngram", order=2, text="none"))
    >>> bool(bigrams.totals("the cat barks") > bigrams.totals("barks cat the"))
    True
    """
    inputs = [str(data)] if isinstance(data, str | Path) else [str(path) for path in data]
    registry = all_plugins()
    table = _table(name, registry)
    of_name = table.pop("use")
    given = {key: _value_of_config(value) for key, value in (table | options).items()}
    model = Model(train=of_name, inputs=inputs, output=Path(output), options=given)
    training = training_of(Config(), model, registry, f"train({of_name!r})")
    training.prepare_output()
    training.run(report)
    return training.output


def _table(trainer: object, registry: Registry) -> dict[str, Any]:
    """The name of a trainer under `use`, and its options. Raises TypeError for any other object."""
    if isinstance(trainer, str | Mapping):
        return table_of_name(trainer)
    spec = Spec.of("trainer", trainer, Names(registry)) if isinstance(trainer, Trainer) else None
    if spec is None or spec.is_object:
        raise TypeError(f"wanted a trainer by its name or as an object of a registered class, found {trainer!r:.60}")
    return spec.table()


def _value_of_config(value: Any) -> Any:
    """The value of an option in the form of a config."""
    if isinstance(value, list | tuple):
        return [_value_of_config(item) for item in value]
    return str(value) if isinstance(value, Path) else value
