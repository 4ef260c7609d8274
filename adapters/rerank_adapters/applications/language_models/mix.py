"""`rerank lm mix`: a mixture of language models, with weights fitted to held-out text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.applications.language_models.scoring import Totals, score_lines
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.job.models import language_model_of
from rerank_adapters.job.specs import Names, Spec
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins import ConfigError, FloatArray, LanguageModel
from rerank_plugins.kit.files.text import open_atomic, open_text
from rerank_plugins.kit.language_models import with_words
from rerank_plugins.ngram.mixture import fit_weights, mixed

MIXTURE = "mixture"  # the name of the result in its config

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


def name_models(given: Sequence[str | Path], names: Names) -> dict[str, Spec]:
    """Give each model a name, under which the config table of the model stands in the result.

    Models of files are called lm1, lm2, …; the others keep the names by which they were given, unless that is the name
    of the mixture. Raises ConfigError for a file without a model, and for a model of the config that is given twice.
    """
    if twice := next((one for one in given if one in names.own_models and given.count(one) > 1), None):
        raise ConfigError(f"the language model {twice!r} is given twice, wanted models that differ (-M LM, repeated)")
    specs: dict[str, Spec] = {}
    files = 0
    for one in given:
        spec = language_model_of(one, names)
        files += (is_file := not spec.name and Path(one).is_file())
        others = {MIXTURE} if spec.name else {MIXTURE, *names.own_models}
        specs[_new_name(f"lm{files}" if is_file else spec.label, {*specs, *others})] = spec
    return specs


def _new_name(name: str, taken: Collection[str]) -> str:
    """The name, or where it is taken the name with the first number that makes it new."""
    number, wanted = 2, name
    while wanted in taken:
        wanted, number = f"{name}-{number}", number + 1
    return wanted


def held_out_scores(models: Sequence[LanguageModel], lines: Sequence[str]) -> tuple[FloatArray, list[Totals]]:
    """The ln p of all words and `</s>`s by each model (words, models), and each model's sums."""
    columns, totals = [], []
    with CountingBar("sentences scored", len(models) * len(lines)) as bar:
        for model in models:
            sums, values = Totals(), [np.zeros(0)]
            for scored in bar.over(score_lines(model, lines)):
                sums.add(scored.totals)
                values.append(scored.ln_p)
            columns.append(np.concatenate(values))
            totals.append(sums)
    return np.stack(columns, axis=1), totals


def mix(models: dict[str, LanguageModel], lines: Sequence[str]) -> FloatArray:
    """Fit the weights to held-out text by EM, and report the perplexity of each model and of the mixture on stderr.

    Returns the weights (models), which sum to one. Raises ConfigError for an empty text.
    """
    ln_p, totals = held_out_scores(list(models.values()), lines)
    if len(ln_p) == 0:
        raise ConfigError("the held-out text is empty: there is nothing to fit weights to")
    rounds: list[float] = []
    weights = fit_weights(ln_p, report=lambda _, mean: rounds.append(mean))
    for (name, sums), weight in zip(zip(models, totals, strict=True), weights, strict=True):
        click.echo(f"{name}: weight {weight:.4f}; {sums.summary()}", err=True)
    perplexity = float(np.exp(-mixed(ln_p, weights).mean()))
    click.echo(f"mixture: perplexity {perplexity:.2f} with OOVs, after {len(rounds)} rounds of EM", err=True)
    return weights


def mixture_config(models: Mapping[str, Spec], weights: FloatArray) -> str:
    """The tables of the models, by name, and of their mixture, as TOML for a config file."""
    import tomli_w

    mixture = {"use": "mixture", "models": list(models), "weights": [round(float(w), 6) for w in weights]}
    tables = {name: spec.table() for name, spec in models.items()}
    return tomli_w.dumps({"language_model": {**tables, MIXTURE: mixture}})


@click.command("mix")
@click.argument("held_out", type=click.Path(), metavar="HELD_OUT")
@options.language_model_option(multiple=True)
@options.output_option("Where to write the config of the mixture.")
@options.job_options("config")
def command(job: Job, held_out: str, models: tuple[str | Path, ...], output: Path) -> None:
    """Fit the weights of a mixture of language models by EM.

    The weights of language models of any kind are fitted to the HELD_OUT text. The command writes the tables of a
    config file in which the mixture is the language model `mixture`, for features and other commands to use.

    \b
    rerank lm mix dev.en -M news.ngram -M novels.arpa -o mixture.toml
    rerank lm score test.en -c mixture.toml -M mixture
    """  # noqa: D301
    summary_line = SummaryLine()
    specs = name_models(models, job.names)
    named = {name: with_words(spec.make(), f"language model {name}") for name, spec in specs.items()}
    if len(named) < 2:
        found = counted(len(named), "language model")
        raise ConfigError(f"found {found}, wanted two or more to mix (-M LM, repeated)")
    with open_text(held_out) as lines:
        weights = mix(named, list(lines))
    with open_atomic(output) as out:
        out.write(mixture_config(specs, weights))
    summary_line.wrote("the config of the mixture", output)
