"""Makes the command `rerank train NAME` of the registered trainer NAME.

Its options are the fields of the trainer, and common ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine, plugin_names
from rerank_plugins import ConfigError, PluginError
from rerank_plugins.core.plugins import Entry, Option, Registry, make
from rerank_plugins.core.trainer import Trainer, common_uses, parses

ENDS = ("ge", "gt", "le", "lt")  # of intervals of numbers, as pydantic names them
ARGUMENTS = {"text": "TEXT...", "pairs": "SOURCE [TARGET]"}  # by the `reads` of a trainer; others read FILEs
PLAIN: dict[Any, click.ParamType[Any]] = {
    str: click.STRING,
    int: click.INT,
    float: click.FLOAT,
    Path: click.Path(path_type=Path),
}

treebank_output = click.option(
    "-o",
    "--output",
    type=options.model_file,
    required=True,
    metavar="TREEBANK",
    help="Write the treebank to this file.",
)


def trainer_command(entry: Entry) -> click.Command:
    """The command of a trainer. Raises PluginError for an option whose type the command line does not have."""
    factory = cast("type[Trainer]", entry.factory)
    metavar = ARGUMENTS.get(factory.reads, "FILE...")
    parameters: list[click.Parameter] = [
        click.Argument(["paths"], nargs=-1, required=True, metavar=metavar),
        *(_parameter(entry, option) for option in entry.options()),
    ]
    command = click.Command(entry.name, params=parameters, help=inspect.getdoc(factory))

    @click.pass_obj
    def train(registry: Registry, /, paths: tuple[str, ...], output: Path, **values: Any) -> None:
        from rerank_adapters.applications.training.common_options import CommonOptions
        from rerank_adapters.applications.training.training import Training
        from rerank_adapters.job.config import Config, read_config
        from rerank_adapters.job.job import Job

        summary_line = SummaryLine()
        own = {option.name: values.pop(option.name) for option in entry.options()}
        if "steps" in values:
            values["steps"] = options.text_steps(values["steps"], ())
        config = read_config(file) if (file := values.pop("config", None)) else Config()
        if parses(factory):
            values |= {key: getattr(config, key) for key in ("seed", "jobs") if values.get(key) is None}
        names = Job.of(config, registry).names
        training = Training(_made(entry, own), paths, output, CommonOptions(**values), names)
        summary_line.wrote(training.run(partial(click.echo, err=True)), output)

    command.callback = train
    for decorate in _common_options(factory):
        decorate(command)
    return command


def _made(entry: Entry, own: dict[str, Any]) -> Trainer:
    """The trainer with its options. Raises ConfigError where they contradict each other."""
    try:
        return cast(Trainer, make(entry, own))
    except ValueError as error:
        raise ConfigError(f"{entry.name}: {error}") from error


def _common_options(trainer: type[Trainer]) -> list[Callable[[click.Command], click.Command]]:
    """The options that the trainer uses, in the order of the help; each is added to the end of a command's."""
    uses, has_trees = common_uses(trainer), parses(trainer)
    language = "the parser's, if its embedded model knows the words" if has_trees else "none"
    required = treebank_output if trainer.writes_treebank else options.model_output
    of_use: dict[str, Callable[[click.Command], click.Command]] = {
        "output": options.output_option("Where to write the file.") if trainer.to_stdout else required,
        "language": click.option(
            "--language", default="", metavar="CODE",
            help="Record this language in the model: its code, such as en.",
            show_default=language,
        ),
        "text": click.option(
            "--text", "steps", multiple=True, metavar="STEP",
            help="Apply this step to the text, for instance penn-tokenize, or several joined by `+`. Repeatable.",
            show_default="none",
        ),
        "parser": click.option(
            "-p", "--parser", metavar="PARSER", shell_complete=plugin_names("parser"),
            help=f"The parser for text, which the model records: {options.PLUGIN_HELP}. Name it for treebanks that"
                 " it parsed, too.",
            show_default=f"{trainer.default_parser}, of the config's language",
        ),
        "held-out": click.option(
            "--held-out", multiple=True, metavar="FILE",
            help="Report how well the model predicts this file. Repeatable.",
        ),
        "cluster": options.scheduler_option,
        "seed": click.option(
            "--seed", type=click.IntRange(0), default=None if has_trees else 1,
            help="The seed of everything that is random.",
            show_default="that of the config, or 1" if has_trees else True,
        ),
        "config": options.config_option,
        "jobs": click.option(
            "-j", "--jobs", type=click.IntRange(1),
            help=f"Number of {'processes and ' if has_trees else ''}threads.",
            show_default="2" if has_trees else "all cores",
        ),
    }  # fmt: skip
    return [add for use, add in of_use.items() if use == "output" or use in uses]


def _parameter(entry: Entry, option: Option) -> click.Option:
    """The option of a field."""
    told, name = option.metadata, f"--{option.name.replace('_', '-')}"
    names = [*([f"-{told['short']}"] if told.get("short") else []), name, option.name]
    if option.type is bool:
        return click.Option(names, is_flag=True, default=False, help=option.doc)
    type_, multiple = _click_type(entry, option)
    told_help, _, told_default = option.doc.partition(" Default: ")  # in words, where the default is computed
    default = {} if option.required else {"default": option.default}
    return click.Option(
        names, type=type_, multiple=multiple, required=option.required, help=told_help,
        **default,
        show_default=told_default.rstrip(".") or bool(not option.required and option.default not in (None, "", ())),
        metavar=told.get("metavar") or None,
    )  # fmt: skip


def _click_type(entry: Entry, option: Option) -> tuple[Any, bool]:
    """The type of an option's values on the command line, and whether there are several."""
    if option.metadata.get("writes"):
        return options.output_file, False
    type_, multiple = option.type, False
    if get_origin(type_) in (Union, UnionType):
        type_ = next(each for each in get_args(type_) if each is not NoneType)
    if get_origin(type_) is tuple:
        type_, multiple = get_args(type_)[0], True
    type_, *constraints = get_args(type_) if get_origin(type_) is Annotated else (type_,)
    if get_origin(type_) is Literal:
        return click.Choice(get_args(type_)), multiple
    if type_ not in PLAIN:
        raise PluginError(f"trainer {entry.name!r}: the command line has no option of the type {option.type_name}")
    checks = [check for constraint in constraints for check in constraint.metadata]
    if ends := {end: getattr(check, end) for check in checks for end in ENDS if hasattr(check, end)}:
        kind: Any = click.IntRange if type_ is int else click.FloatRange
        least, most = ends.get("ge", ends.get("gt")), ends.get("le", ends.get("lt"))
        return kind(least, most, min_open="gt" in ends, max_open="lt" in ends), multiple
    return PLAIN[type_], multiple
