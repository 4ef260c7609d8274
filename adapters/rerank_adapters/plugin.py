"""The commands of `rerank`, by heading of the help; they are registered by the hook that plugins use for theirs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rerank_plugins.core.hookspecs import hookimpl

if TYPE_CHECKING:
    from rerank_adapters.commands.lazy_group import GroupWithHeadings

GROUP = ""  # in place of a summary, which the module of a group has
COMMANDS = {  # by heading, name -> module, and the first line of the command's docstring
    "The chain": {
        "init": ("commands.init", "Write a commented config for the FILES of a job."),
        "prepare": ("commands.prepare", "Train the models that CONFIG describes."),
        "run": ("commands.run", "Extract, tune, rerank and evaluate by a CONFIG."),
        "check": ("commands.check", "Check a CONFIG, or n-best lists alone, before any long work."),
        "extract": ("commands.extract", "Extract the features of n-best lists into a feature table."),
        "tune": ("commands.tune", "Tune weights for the first metric (BLEU by default)."),
        "cross-validate": ("commands.cross_validate", "Compare tuners by k-fold cross-validation on the tuning set."),
        "apply": ("commands.apply", "Rerank n-best lists, and write the new 1-best of each."),
        "evaluate": ("commands.evaluate", "Compare systems by metrics, with two significance tests."),
    },
    "Language models": {
        "train": ("applications.training", GROUP),
        "svs": ("applications.svs", GROUP),
        "score": ("applications.language_models.score", "Score sentences: log probabilities and perplexity."),
        "surprisal": ("applications.language_models.surprisal", "Measure the surprisal of each word of a TEXT."),
        "mix": ("applications.language_models.mix", "Fit the weights of a mixture of language models by EM."),
        "sample": ("applications.language_models.sample", "Draw sentences at random from a language model."),
    },
    "Applications": {
        "similarity": ("applications.similarity", GROUP),
        "acceptability": ("applications.acceptability", GROUP),
        "negatives": ("applications.negatives", GROUP),
        "ablate": ("commands.ablate", "Measure what each family of features contributes."),
        "explain": ("commands.explain", "Explain why a hypothesis of a segment beats another."),
        "complete": ("applications.completion", "Answer QUESTIONS: choose the word for the blank."),
        "mbr": ("applications.mbr", "Choose the sample of highest expected utility in each list."),
        "consensus": ("applications.speech.consensus", "Find the words of highest posterior in n-best lists."),
        "rover": ("applications.speech.rover", "Combine the outputs of several systems by voting."),
        "sweep": ("applications.speech.sweep", "Sweep weights over a grid: LM weight, word penalty."),
        "align": ("applications.alignment", "Align the words of sentence pairs."),
        "substitutes": ("applications.substitutes", "Find the most probable substitutes of words."),
        "ground": ("applications.referential", "Show what the words of a TEXT refer to."),
        "parse": ("applications.parsing.parse", "Parse a TEXT, or the hypotheses of n-best lists."),
        "project-trees": ("applications.parsing.project_trees", "Project trees to the source side of sentence pairs."),
        "surface-trees": (
            "applications.parsing.surface_trees",
            "Write the trees of a treebank over the tokens of text.",
        ),
        "remove-word": ("applications.restoration.incomplete", "Remove an inner word from each sentence of a TEXT."),
        "locate": ("applications.restoration.locate", "Locate the missing word of each sentence of a TEXT."),
        "fill": ("applications.restoration.fill", "Fill the blank of each sentence of a TEXT."),
        "restore": ("applications.restoration.restore", "Restore the missing word of each sentence of a TEXT."),
        "edit-distance": (
            "applications.restoration.edit_distance",
            "Score restored sentences by their mean edit distance.",
        ),
        "serve": ("applications.serving.serve", "Serve reranking over HTTP, with models loaded once."),
    },
    "Tools": {
        "merge": ("commands.merge", "Merge n-best lists, or combine those of different decoders."),
        "weights": ("commands.weights", "Convert weights, so that tuned ones go back into a decoder."),
        "text": ("commands.text", "Apply text pipeline STEPS, in order, to each line."),
        "plugins": ("commands.plugins", "List all plugins (features, metrics, …) and their options."),
        "cache": ("commands.cache", "Show how much room the cache takes, or clear it."),
        "table": ("applications.tables", GROUP),
        "new-plugin": ("applications.new_plugin", "Write a package for a feature of your own."),
    },
}


@hookimpl
def register_commands(cli: GroupWithHeadings) -> None:
    """Register the commands: groups at once, so that plugins can add to them, the others lazily."""
    for heading, commands in COMMANDS.items():
        for name, (module, summary) in commands.items():
            if summary == GROUP:
                cli.add_group(heading, import_module(f"{__package__}.{module}").command)
            else:
                cli.add_lazy_command(heading, name, f"{__package__}.{module}", summary)
