"""`rerank tools new-plugin`: a package for a feature of one's own, which is the example's plugin under a new name."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Collection
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli.options import FILE, SummaryLine
from rerank_plugins import ConfigError, open_atomic
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.standard_streams import data_stream

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
EXAMPLE = "type-token-ratio"  # the name of the plugin that is copied
FILES = ("README.md", "pyproject.toml", "type_token_ratio.py")


def check_name(name: str, taken: Collection[str]) -> None:
    """Raise ConfigError for a name that is no name of a plugin, is taken, or is that of a module of another package."""
    if not NAME.fullmatch(name):
        raise ConfigError(f"the name {name!r} will not do: wanted lower-case words joined by hyphens, as my-feature")
    if name in taken:
        raise ConfigError(f"the name {name!r} is taken: there is a feature called so")
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or find_spec(module) is not None:
        raise ConfigError(f"the name {name!r} is taken: Python has a module {module!r} already")


def write_package(name: str, folder: Path) -> list[Path]:
    """Write the package to `folder`; return its files, relative to it.

    Raises ConfigError where there is something at `folder` already or it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder}: is there already, and not empty; nothing was written")
    example = _example()
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in FILES:
            path = Path(_renamed(file, name))
            with open_atomic(folder / path) as out:
                out.write(_renamed((example / file).read_text(encoding="utf-8"), name))
            written.append(path)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from None
    return written


def _renamed(text: str, name: str) -> str:
    """The text of the example with another name, as a name of a plugin, of a module and of a class."""
    for spelling in (str, lambda words: words.replace("-", "_"), lambda words: words.title().replace("-", "")):
        text = text.replace(spelling(EXAMPLE), spelling(name))
    return text


def _example() -> Traversable:
    """The folder of the example's plugin: in the installed package, or in the checkout that is installed."""
    installed = files("rerank_adapters") / "example" / "plugin"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "example_nbest" / "plugin"


@click.command("new-plugin")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FOLDER",
    help="Write the package here.",
    show_default="./NAME",
)
@click.pass_obj
def command(registry: Registry, name: str, output: Path | None) -> None:
    """Write a package for a feature of your own.

    The package installs and works as it is: a feature with an option. Replace its computation. NAME is the name of the
    feature.

    \b
    rerank tools new-plugin word-rarity
    pip install ./word-rarity
    rerank plugins word-rarity
    """  # noqa: D301
    summary_line = SummaryLine()
    check_name(name, registry.known("feature"))
    folder = output or Path(name)
    for path in write_package(name, folder):
        click.echo(str(folder / path), data_stream())
    summary_line.wrote(f"the plugin {name}", folder)
