"""`rerank tools new-plugin`: a package for a feature of one's own.

The files come from `plugin_template`, in which `$name`, `$module` and `$Class` are replaced.
"""

from __future__ import annotations

import keyword
import os
import re
import secrets
import shutil
import sys
from collections.abc import Collection
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from rerank_adapters.commands.summary_line import SummaryLine
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry

SUFFIX = ".template"  # so that no tool takes a template for a file of the project
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def check_name(name: str, taken: Collection[str]) -> None:
    """Raise ConfigError for a name that is no name of a plugin, is taken, or is that of a module of another package."""
    if not NAME.fullmatch(name):
        raise ConfigError(f"the name {name!r} will not do: wanted lower-case words joined by hyphens, as my-feature")
    if name in taken:
        raise ConfigError(f"the name {name!r} is taken: there is a feature or a command of `rerank train` called so")
    module = module_of(name)
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or find_spec(module) is not None:
        raise ConfigError(f"the name {name!r} is taken: Python has a module {module!r} already")


def module_of(name: str) -> str:
    """The name of the module: `my-feature` has `my_feature`."""
    return name.replace("-", "_")


def write_package(name: str, folder: Path) -> list[Path]:
    """Write the package to `folder`, which appears when it is complete; return its files, relative to it.

    Raises ConfigError where there is something at `folder` already or it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder}: is there already, and not empty; nothing was written")
    words = {"name": name, "module": module_of(name), "Class": "".join(map(str.capitalize, name.split("-")))}
    texts = dict(_filled(files(__package__) / "plugin_template", Path(), words))
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
    try:
        for path, text in texts.items():
            (temporary / path).parent.mkdir(parents=True, exist_ok=True)
            (temporary / path).write_text(text, encoding="utf-8")
        os.replace(temporary, folder)  # an empty folder gives way
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written ({error.strerror})") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return sorted(texts)


def _filled(folder: Traversable, path: Path, words: dict[str, str]) -> list[tuple[Path, str]]:
    """The files under a folder of the template, by their paths in the package."""
    filled = []
    for entry in folder.iterdir():
        if entry.is_dir():
            filled += _filled(entry, path / entry.name.replace("module", words["module"]), words)
        elif entry.name.endswith(SUFFIX):
            name = entry.name.removesuffix(SUFFIX).replace("module", words["module"])
            filled.append((path / name, Template(entry.read_text(encoding="utf-8")).substitute(words)))
    return filled


@click.command("new-plugin")
@click.argument("name")
@click.option("-o", "--output", type=Path, metavar="FOLDER", help="Write the package here.", show_default="./NAME")
@click.pass_context
def command(context: click.Context, name: str, output: Path | None) -> None:
    """Write a package for a feature of your own.

    The package installs and works as it is: a feature, its model file, the command that trains it, and tests with the
    contract checks. Replace what it computes. NAME is the name of the feature.

    \b
    rerank tools new-plugin word-rarity
    cd word-rarity && pip install -e '.[test]'
    python -m pytest
    rerank plugins word-rarity
    """  # noqa: D301
    from rerank_adapters.commands.lazy_group import GroupWithHeadings

    summary_line = SummaryLine()
    registry: Registry = context.obj
    root = context.find_root().command
    train = root.get_command(context, "train") if isinstance(root, GroupWithHeadings) else None
    trained = train.list_commands(context) if isinstance(train, click.Group) else []
    check_name(name, {*registry.known("feature"), *trained})
    folder = output or Path(name)
    for path in write_package(name, folder):
        click.echo(str(folder / path))
    summary_line.wrote(f"the plugin {name}", folder)
