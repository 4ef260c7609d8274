"""Whose plugin a class is, and the errors of plugins of others, which name the plugin and its owner in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

from rerank_plugins.core.columns import one_line
from rerank_plugins.core.errors import PluginError, RerankError

OURS = ("rerank_plugins", "rerank_adapters")  # packages whose classes are not checked
PASSED_ON = (RerankError, MemoryError, BrokenPipeError)  # errors that have lines of their own

_names: dict[str, dict[str, str]] = {}  # by class, the owners of its entries by what each entry is called
_owners: dict[str, str] = {}  # by the module of a class


class ContractError(PluginError):
    """A plugin has failed, or has returned what its contract forbids."""


def is_ours(made: Any) -> bool:
    """Whether a class or function is the project's own."""
    return made.__module__.partition(".")[0] in OURS


def class_name(kind: type) -> str:
    """The name of a class with that of its module."""
    return f"{kind.__module__}.{kind.__qualname__}"


def remember(kind: type, name: str, owner: str) -> None:
    """Let errors about the objects of a class name its entry, such as "metric 'own'", and the owner of that."""
    _names.setdefault(class_name(kind), {})[name] = owner
    _owners.setdefault(kind.__module__, owner)


def described(plugin: object) -> str:
    """What errors call a plugin, as `metric 'own' of own_metrics (own-metrics)`.

    One whose class was not registered in this process, as in a worker, is called by the name of its class.
    """
    kind = type(plugin)
    if not (known := _names.get(class_name(kind))):
        return f"plugin {class_name(kind)}"
    return f"{' or '.join(known)} of {next(iter(known.values()))}"


def owner_of(kind: type) -> str:
    """The owner of a registered class after a space, as ` of own_metrics (own-metrics)`; empty for other classes."""
    known = _names.get(class_name(kind))
    return f" of {next(iter(known.values()))}" if known else ""


def culprit(error: BaseException) -> str:
    """The registered plugin of others whose code has raised an error; empty where there is none."""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    return next((f"plugin {_owners[module]}" for module in reversed(modules) if module in _owners), "")


def said(error: BaseException) -> str:
    """The type and the text of an error, in one line."""
    if isinstance(error, SystemExit):
        return f"SystemExit: {error.code}: it called sys.exit(); it should raise an error instead"
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


@contextmanager
def calling(plugin: object, method: str) -> Iterator[None]:
    """In the block, code of a plugin of others runs: an error without a line of its own becomes a ContractError.

    In a method of the project, that is an error of the plugin that the method has called.
    """
    try:
        yield
    except PASSED_ON:
        raise
    except (Exception, SystemExit) as error:
        who = culprit(error) if is_ours(type(plugin)) else described(plugin)
        if not who:
            raise
        raise ContractError(f"{who}: {method}: {said(error)}") from error


def fault(plugin: object, method: str, found: str, wanted: str, where: str = "") -> ContractError:
    """The error of what a method of a plugin has given, and of what is wanted."""
    return ContractError(
        f"{described(plugin)}: {method}{f', {where}' if where else ''}: found {found}, wanted {wanted}"
    )


def shown(value: object) -> str:
    """A value as errors quote it, cut where it is long; a value whose `repr` fails is shown by its type."""
    try:
        return one_line(value)
    except Exception:  # a class of a plugin may define it
        return f"a {type(value).__name__}"


def type_of(value: object) -> str:
    """What a value is, for errors: its type or, of an array, the type of its elements and its shape."""
    if type(value).__name__ == "ndarray":  # of NumPy, which is not loaded for it
        array: Any = value
        return f"an array of {array.dtype} of shape {array.shape}"
    return "None" if value is None else f"the {type(value).__name__} {shown(value)}"
