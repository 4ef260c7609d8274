"""The commands of `rerank`, by heading of the help; they are registered by the hook that plugins use for theirs.

The verbs of the chain are at the top, and all other commands in groups by task. The summary of a command is the first
line of its docstring, so that no help of a group imports the modules of its commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from rerank_adapters.commands.lazy_group import LazyGroup
from rerank_plugins.core.hookspecs import hookimpl

if TYPE_CHECKING:
    from rerank_adapters.commands.lazy_group import GroupWithHeadings


class OwnGroup(NamedTuple):
    """A group that a module of its own defines, as its `command`."""

    module: str
    summary: str


@dataclass(frozen=True)
class Task:
    """A group of commands for a task: its help, and for each command the module and the summary."""

    help: str
    commands: dict[str, tuple[str, str]]

    def group(self, name: str) -> LazyGroup:
        """The group, whose commands are imported when they are used."""
        modules = {command: f"{__package__}.{module}" for command, (module, _) in self.commands.items()}
        summaries = {command: summary for command, (_, summary) in self.commands.items()}
        return LazyGroup(name, help=self.help, modules=modules, summaries=summaries)


LISTS = Task(
    """Merge and convert n-best lists, and decide without tuning.

    The commands read lists in all formats. `mbr` chooses by expected utility.

    \b
    rerank lists merge baseline.nbest other.nbest -o both.nbest
    rerank lists mbr samples.nbest -m chrf -o samples.mbr
    """,
    {
        "merge": ("commands.merge", "Merge n-best lists, or combine the lists of different decoders."),
        "mbr": ("applications.mbr", "Choose the sample of highest expected utility in each list."),
    },
)
LM = Task(
    """Score text by language models, mix them, and look into them.

    A language model is a file, or the name of a plugin (`rerank plugins --kind language_model`).

    \b
    rerank lm score novel.txt -M news.arpa
    rerank lm surprisal novel.txt > surprisal.tsv
    """,
    {
        "score": ("applications.language_models.score", "Score sentences: log probabilities and perplexity."),
        "surprisal": ("applications.language_models.surprisal", "Measure the surprisal of each word of a TEXT."),
        "mix": ("applications.language_models.mix", "Fit the weights of a mixture of language models by EM."),
        "sample": ("applications.language_models.sample", "Draw sentences at random from a language model."),
        "ground": ("applications.referential", "Show what the words of a TEXT refer to."),
        "clusters": ("applications.svs", "Show the concepts of a category, and their most probable headwords."),
    },
)
TREES = Task(
    """Parse text and n-best lists, and make treebanks.

    Trees are written as CoNLL-U (dependencies) or in brackets (constituents).

    \b
    rerank trees parse novel.txt -o novel.conllu
    rerank trees parse --evaluate gold.conllu -p biaffine
    """,
    {
        "parse": ("applications.parsing.parse", "Parse a TEXT, or the hypotheses of n-best lists."),
        "surface": ("applications.parsing.surface_trees", "Write the trees of a treebank over the tokens of text."),
    },
)
WORDS = Task(
    """Substitute, complete and restore words.

    `remove`, `locate`, `fill` and `restore` treat sentences that lack a word; `complete` answers questions of a blank
    and its choices.

    \b
    rerank words substitutes novel.txt -M news.arpa
    rerank words restore incomplete.txt -M news.missing > restored.txt
    """,
    {
        "substitutes": ("applications.substitutes", "Find the most probable substitutes of words."),
        "complete": ("applications.completion", "Answer QUESTIONS: choose the word for the blank."),
        "remove": ("applications.missing_words.remove", "Remove an inner word from each sentence of a TEXT."),
        "locate": ("applications.missing_words.locate", "Locate the missing word of each sentence of a TEXT."),
        "fill": ("applications.missing_words.fill", "Fill the blank of each sentence of a TEXT."),
        "restore": ("applications.missing_words.restore", "Restore the missing word of each sentence of a TEXT."),
    },
)
TOOLS = Task(
    """Prepare text, convert weights, clear the cache.

    \b
    rerank tools text undo-bpe detokenize:en < system.bpe > system.txt
    rerank tools cache --prune 2GB
    """,
    {
        "text": ("commands.text", "Apply text pipeline STEPS, in order, to each line."),
        "weights": ("commands.weights", "Convert weights, so that tuned ones go back into a decoder."),
        "cache": ("commands.cache", "Show how much room the cache takes, or clear it."),
        "new-plugin": ("applications.new_plugin", "Write a package for a feature of your own."),
    },
)
COMMANDS: dict[str, dict[str, Task | OwnGroup | tuple[str, str]]] = {  # by heading, name -> module and summary
    "The chain": {
        "init": ("commands.init", "Write a commented config for the FILES of a job."),
        "demo": ("commands.demo", "Write the example's lists and their config to a FOLDER."),
        "check": ("commands.check", "Check a CONFIG, or only n-best lists, before any long work."),
        "prepare": ("commands.prepare", "Train the models that CONFIG describes."),
        "run": ("commands.run", "Extract, tune, rerank and evaluate by a CONFIG."),
        "extract": ("commands.extract", "Extract the features of n-best lists into a feature table."),
        "tune": ("commands.tune", "Tune weights for the first metric (BLEU by default)."),
        "apply": ("commands.apply", "Rerank n-best lists, and write the new 1-best of each."),
        "evaluate": ("commands.evaluate", "Compare systems by metrics, with two significance tests."),
        "cross-validate": ("commands.cross_validate", "Compare tuners by k-fold cross-validation on the tuning set."),
        "ablate": ("commands.ablate", "Measure what each family of features contributes."),
        "explain": ("commands.explain", "Explain why a hypothesis of a segment beats another."),
        "serve": ("applications.serving.serve", "Serve reranking over HTTP, with models loaded once."),
        "plugins": ("commands.plugins", "List all plugins (features, metrics, …) and their options."),
    },
    "Groups by task": {
        "train": OwnGroup("applications.training.commands", "Train a model from text, treebanks or sentence pairs."),
        "lists": LISTS,
        "table": OwnGroup("applications.tables", "Show and join feature tables, or write pairs of texts."),
        "lm": LM,
        "trees": TREES,
        "words": WORDS,
        "similarity": OwnGroup("applications.similarity", "Score how alike in meaning two sentences are."),
        "acceptability": OwnGroup("applications.acceptability", "Judge whether sentences are acceptable."),
        "negatives": OwnGroup("applications.negatives", "Make unacceptable sentences from good text."),
        "tools": TOOLS,
    },
}


@hookimpl
def register_commands(cli: GroupWithHeadings) -> None:
    """Register the commands, which are imported when they are used: groups at once where plugins may add to them."""
    for heading, commands in COMMANDS.items():
        for name, command in commands.items():
            if isinstance(command, Task):
                cli.add_group(heading, command.group(name))
                continue
            module, summary = command
            if cli.has_guests and isinstance(command, OwnGroup):
                cli.add_group(heading, import_module(f"{__package__}.{module}").command)
            else:
                cli.add_lazy_command(heading, name, f"{__package__}.{module}", summary)
