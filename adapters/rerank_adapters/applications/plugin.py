"""The applications of the pipeline, one package each, with its commands, tasks, file formats and reports.

Applications import the pipeline and what lies below it, never each other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rerank_plugins.core.hookspecs import hookimpl

if TYPE_CHECKING:
    from rerank_adapters.commands.lazy_group import GroupWithHeadings

LANGUAGE_MODELS, APPLICATIONS, TOOLS = "Language models", "Applications", "Tools"
GROUPS = {  # room of a group of commands -> heading of the help
    "training": LANGUAGE_MODELS,
    "svs": LANGUAGE_MODELS,
    "similarity": APPLICATIONS,
    "acceptability": APPLICATIONS,
    "negatives": APPLICATIONS,
    "tables": TOOLS,
}
COMMANDS = {  # name -> heading, module, and the first line of the command's docstring
    "score": (
        *(LANGUAGE_MODELS, "language_models.score_command"),
        "Score sentences: log probabilities and perplexity.",
    ),
    "surprisal": (
        *(LANGUAGE_MODELS, "language_models.surprisal_command"),
        "Measure the surprisal of each word of a TEXT.",
    ),
    "mix": (
        *(LANGUAGE_MODELS, "language_models.mix_command"),
        "Fit the weights of a mixture of language models by EM.",
    ),
    "sample": (
        *(LANGUAGE_MODELS, "language_models.sample_command"),
        "Draw sentences at random from a language model.",
    ),
    "ablate": (
        *(APPLICATIONS, "analysis.ablate_command"),
        "Measure what each family of features contributes.",
    ),
    "explain": (
        *(APPLICATIONS, "analysis.explain_command"),
        "Explain why a hypothesis of a segment beats another.",
    ),
    "complete": (
        *(APPLICATIONS, "completion.command"),
        "Answer QUESTIONS: choose the word for the blank.",
    ),
    "consensus": (
        *(APPLICATIONS, "speech.consensus_command"),
        "Find the words of highest posterior in n-best lists.",
    ),
    "rover": (
        *(APPLICATIONS, "speech.rover_command"),
        "Combine the outputs of several systems by voting.",
    ),
    "sweep": (
        *(APPLICATIONS, "speech.sweep_command"),
        "Sweep weights over a grid: LM weight, word penalty.",
    ),
    "align": (
        *(APPLICATIONS, "alignment.align_command"),
        "Align the words of sentence pairs.",
    ),
    "substitutes": (
        *(APPLICATIONS, "substitutes.command"),
        "Find the most probable substitutes of words.",
    ),
    "ground": (
        *(APPLICATIONS, "referential.ground_command"),
        "Show what the words of a TEXT refer to.",
    ),
    "parse": (
        *(APPLICATIONS, "parsing.command"),
        "Parse a TEXT, or the hypotheses of n-best lists.",
    ),
    "project-trees": (
        *(APPLICATIONS, "parsing.projection_command"),
        "Project trees to the source side of sentence pairs.",
    ),
    "remove-word": (
        *(APPLICATIONS, "restoration.remove_command"),
        "Remove an inner word from each sentence of a TEXT.",
    ),
    "locate": (
        *(APPLICATIONS, "restoration.locate_command"),
        "Locate the missing word of each sentence of a TEXT.",
    ),
    "fill": (
        *(APPLICATIONS, "restoration.fill_command"),
        "Fill the blank of each sentence of a TEXT.",
    ),
    "restore": (
        *(APPLICATIONS, "restoration.restore_command"),
        "Restore the missing word of each sentence of a TEXT.",
    ),
    "edit-distance": (
        *(APPLICATIONS, "restoration.edit_distance_command"),
        "Score restored sentences by their mean edit distance.",
    ),
    "serve": (
        *(APPLICATIONS, "serving.command"),
        "Serve reranking over HTTP, with models loaded once.",
    ),
    "new-plugin": (
        *(TOOLS, "new_plugin.command"),
        "Write a package for a feature of your own.",
    ),
}


@hookimpl
def register_commands(cli: GroupWithHeadings) -> None:
    """Register the commands of the applications: groups at once, so that plugins can add to them, the others lazily."""
    for room, heading in GROUPS.items():
        cli.add_group(heading, import_module(f"{__package__}.{room}.command").command)
    for name, (heading, module, summary) in COMMANDS.items():
        cli.add_lazy_command(heading, name, f"{__package__}.{module}", summary)
