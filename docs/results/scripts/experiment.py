"""The common part of all experiments: they are commands with one-line errors that report their progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins import RerankError

PACKAGE = "docs.results.scripts"
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
Item = TypeVar("Item")


class Experiment(click.Command):
    """A command that ends with one line on stderr and exit code 2 where its data or its options are wrong."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """Run the command; after an error the process ends here."""
        extra.pop("standalone_mode", None)
        try:
            return super().main(args, f"python -m {PACKAGE}.{self.name}", standalone_mode=False, **extra)
        except click.ClickException as error:
            message = f"{error.format_message().rstrip('.')}; see --help"
        except RerankError as error:
            message = str(error)
        except ModuleNotFoundError as error:
            message = f"needs the package {error.name}: install 'rerank-plugins[all]'"
        except OSError as error:
            message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except (KeyboardInterrupt, click.Abort):
            print(f"{self.name}: interrupted", file=sys.stderr)
            sys.exit(130)
        print(f"{self.name}:", " ".join(message.split()), file=sys.stderr)
        sys.exit(2)


def experiment(name: str, explanation: str | None) -> Callable[[Callable[..., Any]], Experiment]:
    """Turn a function into the command of the module `name` with this help (`__name__` may be `__main__`)."""
    settings = {"max_content_width": 110, "show_default": True, "help_option_names": ["-h", "--help"]}
    return click.command(name, cls=Experiment, help=explanation, context_settings=settings)


class Listed(click.ParamType[Any] if TYPE_CHECKING else click.ParamType):  # type: ignore[misc]
    """A list of values of one type, separated by commas: `1,2,3`."""

    def __init__(self, kind: Callable[[str], Any], known: Iterable[str] = ()) -> None:
        self.kind, self.known = kind, tuple(known)
        self.name = "a,b,…"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The values as a tuple; a default that already is a tuple is kept."""
        if not isinstance(value, str):
            return tuple(value)
        try:
            values = tuple(self.kind(part.strip()) for part in value.split(",") if part.strip())
        except ValueError:
            self.fail(
                f"found {value!r}, expected values of the kind {self.kind.__name__} separated by commas", param, ctx
            )
        unknown = [part for part in values if self.known and part not in self.known]
        if unknown:
            self.fail(f"unknown {unknown[0]!r}, expected some of {', '.join(self.known)}", param, ctx)
        return values


def file_of(folder: Path, name: str) -> Path:
    """The file `name` in a data folder. Raises RerankError where it is missing."""
    path = folder / name
    if not path.is_file():
        raise RerankError(f"{path}: no such file, expected {name} in the data folder {folder}")
    return path


def named_values(options: Iterable[str], what: str) -> dict[str, str]:
    """The arguments `NAME=VALUE` as a mapping. Raises RerankError for an argument without `=`."""
    values = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not (name and equals):
            raise RerankError(f"found {option!r}, expected {what}")
        values[name] = value
    return values


def weighted_files(options: Iterable[str]) -> dict[Path, float]:
    """The arguments `FILE=WEIGHT` as a mapping. Raises RerankError where a weight is not a number."""
    weights = {}
    for option in options:
        name, _, weight = option.rpartition("=")
        try:
            weights[Path(name)] = float(weight)
        except ValueError:
            raise RerankError(f"found {option!r}, expected FILE=WEIGHT with a number as weight") from None
    return weights


def say(text: str) -> None:
    """Print a line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def counted(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Yield the items while a progress bar counts them on a terminal."""
    with CountingBar(what) as bar:
        for item in items:
            yield item
            bar.add(1)
