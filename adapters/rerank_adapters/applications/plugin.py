"""Registers the applications: a module or a package each, with commands, tasks, file formats and reports.

Applications import the pipeline and what lies below it, never each other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rerank_plugins.core.hookspecs import hookimpl

if TYPE_CHECKING:
    from rerank_adapters.commands.lazy_group import GroupWithHeadings

LANGUAGE_MODELS, APPLICATIONS, TOOLS = "Language models", "Applications", "Tools"
GROUPS = {  # module of a group of commands -> heading of the help
    "training": LANGUAGE_MODELS,
    "svs": LANGUAGE_MODELS,
    "similarity": APPLICATIONS,
    "acceptability": APPLICATIONS,
    "negatives": APPLICATIONS,
    "tables": TOOLS,
}
COMMANDS = {  # by heading, name -> module, and the first line of the command's docstring
    LANGUAGE_MODELS: {
        "score": ("language_models.score", "Score sentences: log probabilities and perplexity."),
        "surprisal": ("language_models.surprisal", "Measure the surprisal of each word of a TEXT."),
        "mix": ("language_models.mix", "Fit the weights of a mixture of language models by EM."),
        "sample": ("language_models.sample", "Draw sentences at random from a language model."),
    },
    APPLICATIONS: {
        "ablate": ("analysis.ablate", "Measure what each family of features contributes."),
        "explain": ("analysis.explain", "Explain why a hypothesis of a segment beats another."),
        "complete": ("completion", "Answer QUESTIONS: choose the word for the blank."),
        "consensus": ("speech.consensus", "Find the words of highest posterior in n-best lists."),
        "rover": ("speech.rover", "Combine the outputs of several systems by voting."),
        "sweep": ("speech.sweep", "Sweep weights over a grid: LM weight, word penalty."),
        "align": ("alignment", "Align the words of sentence pairs."),
        "substitutes": ("substitutes", "Find the most probable substitutes of words."),
        "ground": ("referential", "Show what the words of a TEXT refer to."),
        "parse": ("parsing.parse", "Parse a TEXT, or the hypotheses of n-best lists."),
        "project-trees": ("parsing.project_trees", "Project trees to the source side of sentence pairs."),
        "surface-trees": ("parsing.surface_trees", "Write the trees of a treebank over the tokens of text."),
        "remove-word": ("restoration.incomplete", "Remove an inner word from each sentence of a TEXT."),
        "locate": ("restoration.locate", "Locate the missing word of each sentence of a TEXT."),
        "fill": ("restoration.fill", "Fill the blank of each sentence of a TEXT."),
        "restore": ("restoration.restore", "Restore the missing word of each sentence of a TEXT."),
        "edit-distance": ("restoration.edit_distance", "Score restored sentences by their mean edit distance."),
        "serve": ("serving.serve", "Serve reranking over HTTP, with models loaded once."),
    },
    TOOLS: {"new-plugin": ("new_plugin", "Write a package for a feature of your own.")},
}


@hookimpl
def register_commands(cli: GroupWithHeadings) -> None:
    """Register the commands of the applications: groups at once, so that plugins can add to them, the others lazily."""
    for room, heading in GROUPS.items():
        cli.add_group(heading, import_module(f"{__package__}.{room}").command)
    for heading, commands in COMMANDS.items():
        for name, (module, summary) in commands.items():
            cli.add_lazy_command(heading, name, f"{__package__}.{module}", summary)
