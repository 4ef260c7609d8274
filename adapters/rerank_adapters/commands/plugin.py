"""Registers the commands of the chain, one module each, by the hook that plugins use for their commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rerank_plugins.core.hookspecs import hookimpl

if TYPE_CHECKING:
    from rerank_adapters.commands.lazy_group import GroupWithHeadings

COMMANDS = {  # by heading of the help, module by module: the first line of the command's docstring
    "The chain": {
        "init": "Write a commented config for the FILES of a job.",
        "prepare": "Train the models that CONFIG describes.",
        "run": "Extract, tune, rerank and evaluate by a CONFIG.",
        "check": "Check a CONFIG, or n-best lists alone, before any long work.",
        "extract": "Extract the features of n-best lists into a feature table.",
        "tune": "Tune weights for the first metric (BLEU by default).",
        "cross_validate": "Compare tuners by k-fold cross-validation on the tuning set.",
        "apply": "Rerank n-best lists, and write the new 1-best of each.",
        "evaluate": "Compare systems by metrics, with two significance tests.",
    },
    "Tools": {
        "merge": "Merge n-best lists, or combine those of different decoders.",
        "weights": "Convert weights, so that tuned ones go back into a decoder.",
        "text": "Apply text pipeline STEPS, in order, to each line.",
        "plugins": "List all plugins (features, metrics, …) and their options.",
        "cache": "Show how much room the cache takes, or clear it.",
    },
}
ORDER = tuple(module for modules in COMMANDS.values() for module in modules)


@hookimpl
def register_commands(cli: GroupWithHeadings) -> None:
    """Register the commands of the chain and the tools around it, lazily."""
    for heading, modules in COMMANDS.items():
        for module, summary in modules.items():
            cli.add_lazy_command(heading, module.replace("_", "-"), f"{__package__}.{module}", summary)
