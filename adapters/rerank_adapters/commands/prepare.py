"""`rerank prepare`: trains the models of a config, each by the command that it names."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.commands.closing import Closing
from rerank_adapters.runtime.progress import counted
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry, suggestion

if TYPE_CHECKING:
    from rerank_adapters.config import Config, Model


@click.command("prepare")
@click.argument("config", type=Path)
@click.option("--only", "names", multiple=True, metavar="FILE",
              help="Train only the model whose output has this file name. Repeatable.")  # fmt: skip
@click.option("--force", is_flag=True, help="Train all models, even those whose inputs have not changed.")
@click.pass_context
def command(ctx: click.Context, config: Path, names: tuple[str, ...], force: bool) -> None:
    """Train the models that CONFIG describes.

    Each [[model]] of the config names a command `rerank train NAME`, the files that it reads, the model file that it
    writes, and its options. A model is trained again only if its inputs, its options or the version of this program
    have changed, or if its file has. An interrupted preparation continues where it stopped.

    \b
    rerank prepare configs/tatoeba-de-en.toml
    rerank run configs/tatoeba-de-en.toml
    """  # noqa: D301
    from rerank_adapters.chain.models import chosen_models, inputs_of_model
    from rerank_adapters.chain.steps import Step, Steps
    from rerank_adapters.config import read_config
    from rerank_plugins.core.loader import with_files

    closing = Closing()
    settings = read_config(config)
    models = chosen_models(settings, config, names)
    registry = with_files(ctx.obj, [settings.path(path) for path in settings.plugins])
    calls = [
        _call(ctx, registry, settings, model) for model in models
    ]  # all wrong options are reported before any work
    trained = 0
    for model, call in zip(models, calls, strict=True):
        output, inputs = settings.path(model.output), partial(inputs_of_model, settings, model)
        step = Step("", output.name, inputs, [output], partial(_train, output, *call))
        if Steps(output.parent, force).do(step, partial(click.echo, err=True)):
            trained += 1
        else:
            click.echo(f"{output}: unchanged, so not trained again", err=True)
    closing.report(f"trained {counted(trained, 'model')} of {len(models)}")


def _train(output: Path, trainer: click.Command, context: click.Context) -> None:
    click.echo(f"{output}: rerank train {context.info_name}", err=True)
    with context:
        trainer.invoke(context)


def _call(ctx: click.Context, registry: Registry, config: Config, model: Model) -> tuple[click.Command, click.Context]:
    """The command that trains the model, and its context with the parsed options. Raises ConfigError."""
    from rerank_adapters.chain.models import arguments_of

    where = f"[[model]] {model.output.name}"
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)  # it is the program
    group: Any = root.command.get_command(root, "train")
    group_context = click.Context(group, parent=root, info_name="train", obj=registry)
    trainer = group.get_command(group_context, model.train)
    if trainer is None:
        known = suggestion(model.train, group.list_commands(group_context))
        raise ConfigError(f"{where}: train: no model named {model.train!r} to train{known}")
    try:
        arguments = arguments_of(config, model)
        config.path(model.output).parent.mkdir(parents=True, exist_ok=True)
        return trainer, trainer.make_context(model.train, arguments, parent=group_context)
    except click.ClickException as error:
        raise ConfigError(
            f"{where}: {error.format_message().rstrip('.')}; see `rerank train {model.train} --help`"
        ) from None
