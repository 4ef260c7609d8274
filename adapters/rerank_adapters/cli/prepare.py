"""`rerank prepare`: trains the models of a config, each by the command that it names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli.options import FILE, SummaryLine
from rerank_adapters.runtime.progress import counted

if TYPE_CHECKING:
    from rerank_adapters.applications.training.training import Training


@click.command("prepare")
@click.argument("config", type=FILE)
@click.option("--only", "names", multiple=True, metavar="FILE",
              help="Train only the model whose output has this file name. Repeatable.")  # fmt: skip
@click.option("--force", is_flag=True, help="Train all models, even those whose inputs have not changed.")
@click.pass_context
def command(ctx: click.Context, config: Path, names: tuple[str, ...], force: bool) -> None:
    """Train the models that CONFIG describes.

    Each [[model]] of the config names a trainer (`rerank train NAME`), the files that it reads, the model file that it
    writes, and its options. A model is trained again only if its inputs, its options or the version of this program
    have changed, or if its file has. An interrupted preparation continues where it stopped.

    \b
    rerank prepare configs/tatoeba-de-en.toml
    rerank run configs/tatoeba-de-en.toml
    """  # noqa: D301
    from rerank_adapters.applications.training.model_tables import chosen_models, training_of
    from rerank_adapters.job.config import read_config
    from rerank_adapters.run.workdir import Workdir
    from rerank_plugins.core.loader import with_files

    summary_line = SummaryLine()
    settings = read_config(config)
    models = chosen_models(settings, config, names)
    registry = with_files(ctx.obj, [settings.path(path) for path in settings.plugins])
    trainings = [training_of(settings, model, registry) for model in models]  # wrong options are said before any work
    for training in trainings:
        training.prepare_output()
    trained = 0
    for model, training in zip(models, trainings, strict=True):
        output = training.output
        folder = Workdir(output.parent, partial(click.echo, err=True), force)
        folder.make(output.name, [output.name], training.identity, partial(_train, model.train, training))
        if folder.stages[0].unchanged:
            click.echo(f"{output}: unchanged, so not trained again", err=True)
        else:
            trained += 1
    summary_line.report(f"trained {counted(trained, 'model')} of {len(models)}")


def _train(name: str, training: Training, output: Path) -> None:
    click.echo(f"{output}: rerank train {name}", err=True)
    SummaryLine().wrote(training.run(partial(click.echo, err=True)), output)
