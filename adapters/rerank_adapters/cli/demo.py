"""`rerank demo`: writes the example's lists with their config, for those who have no checkout."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli.options import FILE, SummaryLine

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

RUN_TIME = "one to two minutes on two cores"
CONFIG, LISTS = "mt.toml", "example_nbest/mt"
NAMES = ("tune.nbest", "tune.en", "tune.de", "test.nbest", "test.en", "test.de")


@click.command("demo")
@click.argument("folder", type=FILE)
def command(folder: Path) -> None:
    """Write the example's lists and their config to a FOLDER.

    These are 100 segments for tuning and 100 for testing, with up to 100 hypotheses each, of a small phrase-based
    decoder from German into English, and mt.toml, which reranks them with all embedded models. Nothing is overwritten.

    \b
    rerank demo example
    rerank run example/mt.toml
    """  # noqa: D301
    from rerank_adapters.runtime.progress import FIRST_USE
    from rerank_plugins import ConfigError, open_atomic

    summary_line = SummaryLine()
    config, lists = _example()
    texts = {name: (lists / name).read_bytes().decode() for name in NAMES}
    texts[CONFIG] = config.read_bytes().decode().replace(f"../{LISTS}/", "")
    for name in texts:
        if (folder / name).exists():
            raise ConfigError(f"{folder / name}: exists already; wanted a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with open_atomic(folder / name) as file:
            file.write(text)
    summary_line.wrote(f"{CONFIG} and {len(NAMES)} files of lists and texts", folder)
    click.echo(f"next: rerank run {quote(str(folder / CONFIG))} ({RUN_TIME}; {FIRST_USE})", err=True)


def _example() -> tuple[Traversable, Traversable]:
    """The config and the folder of the lists: in the installed package, or in the checkout that is installed."""
    installed = files("rerank_adapters") / "example"
    if installed.is_dir():
        return installed / CONFIG, installed
    checkout = Path(__file__).parents[3]
    return checkout / "configs" / CONFIG, checkout / LISTS
