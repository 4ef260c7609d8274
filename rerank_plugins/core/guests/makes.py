"""Makes the object of a plugin: errors of its constructor name it, and it must implement the interface of its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rerank_plugins.core.contracts import type_of
from rerank_plugins.core.errors import PluginError
from rerank_plugins.core.interfaces import FeatureExtractor, Parser, SentenceModel
from rerank_plugins.core.metrics_and_tuners import Metric, NBestFormat, Tuner
from rerank_plugins.core.owners import PASSED_ON, is_ours, remember, said
from rerank_plugins.core.trainer import Trainer

if TYPE_CHECKING:
    from rerank_plugins.core.registry import Entry

INTERFACES: Mapping[str, type] = {
    "feature": FeatureExtractor,
    "language_model": SentenceModel,
    "parser": Parser,
    "metric": Metric,
    "tuner": Tuner,
    "format": NBestFormat,
    "trainer": Trainer,
}


def make(entry: Entry, options: Mapping[str, Any]) -> Any:
    """The object of an entry with these options.

    Raises ValueError where the constructor does, for options that contradict each other, and PluginError for any other
    error of a guest's constructor, and for an object that does not implement the interface.
    """
    if isinstance(entry.factory, type) and is_ours(entry.factory):
        return entry.factory(**options)
    who = f"{entry.kind.replace('_', ' ')} {entry.name!r} of {entry.owner}"
    plugin = _made(entry.factory, options, who)
    wanted = INTERFACES[entry.kind]
    if not isinstance(plugin, wanted):
        raise PluginError(f"{who}: the factory made {type_of(plugin)}, wanted a {wanted.__name__}")
    if not is_ours(type(plugin)):
        remember(type(plugin), f"{entry.kind.replace('_', ' ')} {entry.name!r}", entry.owner)
    if isinstance(plugin, FeatureExtractor) and plugin.scope not in ("text", "list"):
        raise PluginError(f"{who}: scope is {plugin.scope!r}, wanted 'text' or 'list'")
    return plugin


def _made(factory: Callable[..., Any], options: Mapping[str, Any], who: str) -> Any:
    try:
        return factory(**options)
    except (*PASSED_ON, ValueError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who}: its constructor raised {said(error)}") from error
