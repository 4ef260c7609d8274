"""`rerank mix`: fits the weights of a mixture of language models to held-out text."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing
from rerank_adapters.commands.options import PLUGIN_HELP, JobFlags, job_flags, output_option
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins.core.registry import Registry


@click.command("mix")
@click.argument("held_out", metavar="HELD_OUT")
@click.option("-m", "--model", "files", multiple=True, type=Path, metavar="FILE",
              help="Model file, ARPA file or KenLM binary. Repeatable.")  # fmt: skip
@click.option("--lm", "specs", multiple=True, metavar="LM", shell_complete=plugin_names("language_model"),
              help=f"Language model: its name in the config, or {PLUGIN_HELP}. Repeatable.")  # fmt: skip
@output_option("Where to write the config of the mixture.")
@job_flags("config")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, held_out: str, files: tuple[Path, ...], specs: tuple[str, ...], output: Path
) -> None:  # fmt: skip
    """Fit the weights of a mixture of language models by EM.

    Mix language models of any kind, with weights that EM fits to the HELD_OUT text.

    The command writes the tables of a config file in which the mixture is the language model `mixture`, for features
    and other commands to use.

    \b
    rerank mix dev.en -m news.ngram -m novels.arpa -o mixture.toml
    rerank score test.en -c mixture.toml --lm mixture
    """  # noqa: D301
    from rerank_adapters.applications.language_models.mixing import mix, mixture_config, name_models
    from rerank_adapters.chain.job import Job
    from rerank_plugins.kit.files.text import open_atomic, open_text

    closing = Closing()
    job, models = name_models(Job.create(flags.settings, registry), files, specs)
    with open_text(held_out) as lines:
        weights = mix(models, list(lines))
    with open_atomic(output) as out:
        out.write(mixture_config(job, models, weights))
    closing.wrote("the config of the mixture", output)
